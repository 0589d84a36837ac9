package policy

import (
	"cmp"
	"slices"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/lane"
)

// Tip fires by effective tip, what a fire pays per cycle beside the chain's basefee. Ties go by a weight per actor that
// follows what its fires of earlier epochs were (Weighing), and the lane is shared out among actors by the same weights
// (Slices). There is no lane basefee: it is reported equal to the chain's cycle basefee, as under fifo, and not charged
// beside it.
type Tip struct {
	// Capacity is LANE_TIMER_CYCLES.
	Capacity uint64
	Tiers    Tiers
}

var (
	_ Policy = Tip{}
	_ Slicer = Tip{}
)

// LaneBasefee implements Policy.
func (Tip) LaneBasefee(cycleBasefee math.LegacyDec, _ Last) math.LegacyDec { return cycleBasefee }

// Bid is what an ask comes to at these prices. The fee that it bounds is the whole price of a cycle.
func (p Tip) Bid(prices Prices, ask Ask) Bid {
	if ask.Kind == Stated {
		return ask.Static
	}
	return estimate(prices, ask.Kind, p.Tiers)
}

// Effective is the tip per cycle that the ask pays: what its max fee leaves beside the chain's basefee, and no more than it
// states. False if its max fee is below the basefee, or it is withheld: it is priced out.
func (p Tip) Effective(prices Prices, ask Ask) (math.LegacyDec, bool) {
	if ask.Kind == Withheld {
		return math.LegacyZeroDec(), false
	}
	bid := p.Bid(prices, ask)
	left := bid.MaxFee.Sub(prices.Cycle)
	if left.IsNegative() {
		return math.LegacyZeroDec(), false
	}
	return math.LegacyMinDec(bid.MaxPriority, left), true
}

// Price implements Policy.
func (p Tip) Price(prices Prices, candidate Candidate) (lane.Price, bool) {
	tip, ok := p.Effective(prices, candidate.Ask)
	return lane.Price{Basefee: prices.Cycle, Priority: tip, Cell: prices.Cell}, ok
}

// Order implements Policy: by effective tip, then by weight, both descending, then by (due, seq). Unfunded candidates and
// those priced out are left out.
func (p Tip) Order(prices Prices, candidates []Candidate) []int {
	tips := make([]math.LegacyDec, len(candidates))
	order := make([]int, 0, len(candidates))
	for i := range candidates {
		var ok bool
		if tips[i], ok = p.Effective(prices, candidates[i].Ask); ok && !candidates[i].Unfunded {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(i, j int) int {
		a, b := &candidates[i], &candidates[j]
		return cmp.Or(
			tips[j].BigIntMut().Cmp(tips[i].BigIntMut()), cmp.Compare(b.Weight, a.Weight),
			cmp.Compare(a.Due, b.Due), cmp.Compare(a.Seq, b.Seq),
		)
	})
	return order
}

// Slices implements Slicer.
func (p Tip) Slices(candidates []Candidate, order []int) Slices {
	return NewSlices(p.Capacity, candidates, order)
}

// Weighs implements Policy: the fairness window has no say. The weights of tip are its own.
func (Tip) Weighs() bool { return false }

// Indexed implements Policy.
func (Tip) Indexed() bool { return false }
