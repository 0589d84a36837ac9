package eip1559

import (
	"slices"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/lane"
	"github.com/cosmos-timers/timers/x/timers/policy"
)

// Rules of policy eip1559 with their parameters.
type Rules struct {
	// Basefee is how the lane's basefee follows the lane's use.
	Basefee lane.Basefee
	// Multiplier is the part of the lane basefee that a fire pays: LANE_FEE_MULTIPLIER. Invariant: it is from 0 to
	// 2, so that the default bid's headroom covers the fee.
	Multiplier math.LegacyDec
	// Tiers are what the tiers of an ask multiply the median tip by.
	Tiers policy.Tiers
}

var _ policy.Rules = Rules{}

// LaneBasefee implements policy.Rules. It depends on the lane's own use, and not on the chain's basefee.
func (r Rules) LaneBasefee(_ math.LegacyDec, last policy.Last) math.LegacyDec {
	return r.Basefee.Next(last.Basefee, last.Use)
}

// Fee is what a fire pays per unit of size for the lane, rounded down in favour of the payer. At a Multiplier of 0 the fee is
// 0: then no ask except one that cells price out is priced out, and tips alone decide.
func (r Rules) Fee(prices policy.Prices) math.LegacyDec { return prices.Lane.MulTruncate(r.Multiplier) }

// Bid is what an ask comes to at these prices: the stated bid as it is, and the estimator's for the other kinds. An
// ask that cells price out has a bid as well; it is Priority that prices it out.
func (r Rules) Bid(prices policy.Prices, ask policy.Ask) policy.Bid {
	if ask.Kind == policy.Stated {
		return ask.Stated
	}
	return policy.Estimate(prices, ask.Kind, r.Tiers)
}

// Priority is the tip per unit of size that the ask pays: what its max fee leaves above the lane's fee, and at most what
// it states. It is false if the ask is priced out, because its max fee or its spend cap is below the lane's fee, or cells
// price it out. Invariant: the lane's fee and the tip together exceed neither the max fee nor the spend cap.
func (r Rules) Priority(prices policy.Prices, ask policy.Ask) (math.LegacyDec, bool) {
	return r.priority(prices, r.Fee(prices), ask)
}

// priority is Priority, given the lane's fee.
func (r Rules) priority(prices policy.Prices, fee math.LegacyDec, ask policy.Ask) (math.LegacyDec, bool) {
	if ask.Kind == policy.CellPricedOut {
		return math.LegacyZeroDec(), false
	}
	bid := r.Bid(prices, ask)
	remaining := ask.SpendCap.Lower(bid.MaxFee).Sub(fee)
	if remaining.IsNegative() {
		return math.LegacyZeroDec(), false
	}
	return math.LegacyMinDec(bid.MaxPriority, remaining), true
}

// Price implements policy.Rules: the chain's basefees, the lane's fee, which is burned with them, and the tip.
func (r Rules) Price(prices policy.Prices, candidate policy.Candidate) (lane.Price, bool) {
	fee := r.Fee(prices)
	priority, ok := r.priority(prices, fee, candidate.Ask)
	return prices.Price(fee, priority), ok
}

// Rank is the place of the candidate among others. It is false if the candidate is priced out. The size has no
// part in it: a large fire pays its tip for more of the lane, and a small one finds room more often.
func (r Rules) Rank(prices policy.Prices, candidate policy.Candidate) (policy.Rank, bool) {
	return r.rank(prices, r.Fee(prices), candidate)
}

func (r Rules) rank(prices policy.Prices, fee math.LegacyDec, candidate policy.Candidate) (policy.Rank, bool) {
	priority, ok := r.priority(prices, fee, candidate.Ask)
	return policy.NewRank(priority, candidate.Weight, candidate.Due, candidate.Seq), ok
}

// Order implements policy.Rules: by rank. Candidates that are priced out are left out. Ranks are computed once for each
// candidate, not for each comparison. It is used when a block can read all ready timers; Index serves overload.
func (r Rules) Order(prices policy.Prices, candidates []policy.Candidate) []int {
	ranks := make([]policy.Rank, len(candidates))
	order := make([]int, 0, len(candidates))
	fee := r.Fee(prices)
	for i := range candidates {
		var ok bool
		if ranks[i], ok = r.rank(prices, fee, candidates[i]); ok {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(i, j int) int { return ranks[i].Compare(ranks[j]) })
	return order
}
