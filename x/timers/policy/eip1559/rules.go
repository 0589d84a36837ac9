// Package eip1559 holds the rules of policy eip1559. The lane has a basefee of its own, which rises while the lane is full
// and falls while it is empty. Every fire pays it in addition to the chain's basefees, and pays a tip to the proposer. Timers
// fire by effective priority: the tip per cycle times the fairness weight of the actor. A timer whose max fee is below the
// lane's fee is priced out: it stays ready, and fires when the basefee has fallen (x/timers/docs/market.md).
package eip1559

import (
	"slices"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/lane"
	"github.com/cosmos-timers/timers/x/timers/policy"
)

// Rules of policy eip1559 with their parameters.
type Rules struct {
	Basefee lane.Basefee
	// Multiplier is the part of the lane basefee that a fire pays: LANE_FEE_MULTIPLIER.
	Multiplier math.LegacyDec
	Tiers      policy.Tiers
}

var _ policy.Rules = Rules{}

// LaneBasefee implements policy.Rules. It follows the lane's own use; the chain's basefee has no influence on it.
func (r Rules) LaneBasefee(_ math.LegacyDec, last policy.Last) math.LegacyDec {
	return r.Basefee.Next(last.Basefee, last.Cycles)
}

// Fee is what a fire pays per cycle for the lane, rounded down in favour of the payer.
func (r Rules) Fee(prices policy.Prices) math.LegacyDec { return prices.Lane.MulTruncate(r.Multiplier) }

// Bid is what an ask comes to at these prices.
func (r Rules) Bid(prices policy.Prices, ask policy.Ask) policy.Bid {
	if ask.Kind == policy.Stated {
		return ask.Stated
	}
	return policy.Estimate(prices, ask.Kind, r.Tiers)
}

// Priority is the tip per cycle that the ask pays: what its max fee leaves above the lane's fee, and at most what it states.
// It is false if the ask is priced out, because its max fee is below the lane's fee or it is withheld. Invariant: the lane's
// fee and the tip together never exceed the max fee.
func (r Rules) Priority(prices policy.Prices, ask policy.Ask) (math.LegacyDec, bool) {
	if ask.Kind == policy.Withheld {
		return math.LegacyZeroDec(), false
	}
	bid := r.Bid(prices, ask)
	left := bid.MaxFee.Sub(r.Fee(prices))
	if left.IsNegative() {
		return math.LegacyZeroDec(), false
	}
	return math.LegacyMinDec(bid.MaxPriority, left), true
}

// Price implements policy.Rules: the chain's basefees, the lane's fee, which is burned with them, and the tip.
func (r Rules) Price(prices policy.Prices, candidate policy.Candidate) (lane.Price, bool) {
	priority, ok := r.Priority(prices, candidate.Ask)
	return lane.Price{Basefee: prices.Cycle.Add(r.Fee(prices)), Priority: priority, Cell: prices.Cell}, ok
}

// Rank is the place of the candidate among others. It is false if the candidate is priced out.
func (r Rules) Rank(prices policy.Prices, candidate policy.Candidate) (policy.Rank, bool) {
	priority, ok := r.Priority(prices, candidate.Ask)
	return policy.NewRank(priority, candidate.Weight, candidate.Due, candidate.Seq), ok
}

// Order implements policy.Rules: by rank. Candidates that are priced out are left out.
func (r Rules) Order(prices policy.Prices, candidates []policy.Candidate) []int {
	ranks := make([]policy.Rank, len(candidates))
	order := make([]int, 0, len(candidates))
	for i := range candidates {
		var ok bool
		if ranks[i], ok = r.Rank(prices, candidates[i]); ok {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(i, j int) int { return ranks[i].Compare(ranks[j]) })
	return order
}
