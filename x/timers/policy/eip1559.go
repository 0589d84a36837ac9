package policy

import (
	"cmp"
	"math/big"
	"slices"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/lane"
)

// EIP1559 fires by effective priority: the tip per cycle times the fairness weight of the actor. Every fire pays the lane's
// basefee beside the chain's; a timer whose max fee is below it is priced out and stays ready.
type EIP1559 struct {
	Basefee lane.Basefee
	// Multiplier is LANE_FEE_MULTIPLIER: what a fire pays of the lane basefee.
	Multiplier math.LegacyDec
	Tiers      Tiers
}

var _ Policy = EIP1559{}

// LaneBasefee implements Policy.
func (e EIP1559) LaneBasefee(_ math.LegacyDec, last Last) math.LegacyDec {
	return e.Basefee.Next(last.Basefee, last.Cycles)
}

// Fee is what a fire pays per cycle for the lane.
func (e EIP1559) Fee(prices Prices) math.LegacyDec { return prices.Lane.MulTruncate(e.Multiplier) }

// Bid is what an ask comes to at these prices.
func (e EIP1559) Bid(prices Prices, ask Ask) Bid {
	if ask.Kind == Stated {
		return ask.Static
	}
	return estimate(prices, ask.Kind, e.Tiers)
}

// Priority is the tip per cycle that the ask pays: what its fee leaves beside the lane's, and no more than it states.
// False if its fee is below the lane's, or it is withheld: it is priced out.
func (e EIP1559) Priority(prices Prices, ask Ask) (math.LegacyDec, bool) {
	if ask.Kind == Withheld {
		return math.LegacyZeroDec(), false
	}
	bid := e.Bid(prices, ask)
	left := bid.MaxFee.Sub(e.Fee(prices))
	if left.IsNegative() {
		return math.LegacyZeroDec(), false
	}
	return math.LegacyMinDec(bid.MaxPriority, left), true
}

// Price implements Policy.
func (e EIP1559) Price(prices Prices, candidate Candidate) (lane.Price, bool) {
	priority, ok := e.Priority(prices, candidate.Ask)
	return lane.Price{Basefee: prices.Cycle.Add(e.Fee(prices)), Priority: priority, Cell: prices.Cell}, ok
}

// Rank is the place of the candidate among others; false if it is priced out.
func (e EIP1559) Rank(prices Prices, candidate Candidate) (Rank, bool) {
	priority, ok := e.Priority(prices, candidate.Ask)
	return NewRank(priority, candidate.Weight, candidate.Due, candidate.Seq), ok
}

// Order implements Policy.
func (e EIP1559) Order(prices Prices, candidates []Candidate) []int {
	ranks := make([]Rank, len(candidates))
	order := make([]int, 0, len(candidates))
	for i := range candidates {
		var ok bool
		if ranks[i], ok = e.Rank(prices, candidates[i]); ok {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(i, j int) int { return ranks[i].Compare(ranks[j]) })
	return order
}

// Weighs implements Policy.
func (EIP1559) Weighs() bool { return true }

// Indexed implements Policy.
func (EIP1559) Indexed() bool { return true }

// Rank orders candidates: by effective priority, then by weight, both descending, then by (due, seq).
type Rank struct {
	// effective priority in units of the 18th decimal, in sixteenths: a product that loses nothing.
	effective *big.Int
	weight    uint32
	due, seq  uint64
}

// NewRank is the rank of a tip per cycle with a weight in sixteenths.
func NewRank(priority math.LegacyDec, weight uint32, due, seq uint64) Rank {
	effective := priority.BigInt()
	return Rank{effective: effective.Mul(effective, big.NewInt(int64(weight))), weight: weight, due: due, seq: seq}
}

// Negative tells whether the tip is: no candidate has such a rank, but a bound may.
func (r Rank) Negative() bool { return r.effective.Sign() < 0 }

// Compare is negative if r comes before other.
func (r Rank) Compare(other Rank) int {
	return cmp.Or(
		other.effective.Cmp(r.effective), cmp.Compare(other.weight, r.weight),
		cmp.Compare(r.due, other.due), cmp.Compare(r.seq, other.seq),
	)
}
