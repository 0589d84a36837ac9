package tip

import (
	"cmp"
	"slices"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market"
)

// Rules of policy tip with their parameters.
type Rules struct {
	// Tiers are what the tiers of an ask multiply the median tip by.
	Tiers market.Tiers
}

var _ market.Rules = Rules{}

// LaneBasefee implements market.Rules. As under fifo, the lane has no basefee of its own: the chain's is reported, and
// is not charged in addition.
func (Rules) LaneBasefee(cycleBasefee math.LegacyDec, _ market.Last) math.LegacyDec {
	return cycleBasefee
}

// Bid is what an ask comes to at these prices. Its max fee bounds the whole price of a cycle, the chain's basefee
// included.
func (r Rules) Bid(prices market.Prices, ask market.Ask) market.Bid {
	if ask.Kind == market.Stated {
		return ask.Stated
	}
	return market.Estimate(prices, ask.Kind, r.Tiers)
}

// Effective is the tip per cycle that the ask pays: what its max fee leaves above the chain's basefee, and at most
// what it states. It is false if the ask is priced out, because its max fee is below the basefee, or cells or its spend cap
// price it out. Invariant: the basefee and the tip together never exceed the max fee, nor the tip the spend cap.
func (r Rules) Effective(prices market.Prices, ask market.Ask) (math.LegacyDec, bool) {
	if ask.Kind == market.CellPricedOut {
		return math.LegacyZeroDec(), false
	}
	bid := r.Bid(prices, ask)
	remaining := ask.SpendCap.Lower(bid.MaxFee.Sub(prices.Cycle))
	if remaining.IsNegative() {
		return math.LegacyZeroDec(), false
	}
	return math.LegacyMinDec(bid.MaxPriority, remaining), true
}

// Price implements market.Rules: the chain's basefees and the tip.
func (r Rules) Price(prices market.Prices, candidate market.Candidate) (market.Price, bool) {
	tip, ok := r.Effective(prices, candidate.Ask)
	return prices.Price(math.LegacyZeroDec(), tip), ok
}

// Order implements market.Rules: by effective tip, then by weight, both descending, then by (due, seq). Candidates
// that are unfunded or priced out are left out. A weight decides only between equal tips; its main effect is through
// the slices.
func (r Rules) Order(prices market.Prices, candidates []market.Candidate) []int {
	tips := make([]math.LegacyDec, len(candidates))
	order := make([]int, 0, len(candidates))
	for i := range candidates {
		var ok bool
		if tips[i], ok = r.Effective(prices, candidates[i].Ask); ok && !candidates[i].Unfunded {
			order = append(order, i)
		}
	}
	// Tips are compared as integers of the 18th decimal. The comparison only reads them, so that it needs no copies.
	slices.SortFunc(order, func(i, j int) int {
		a, b := &candidates[i], &candidates[j]
		return cmp.Or(
			tips[j].BigIntMut().Cmp(tips[i].BigIntMut()), cmp.Compare(b.Weight, a.Weight),
			cmp.Compare(a.Due, b.Due), cmp.Compare(a.Seq, b.Seq),
		)
	})
	return order
}
