package market

import (
	"cmp"
	"slices"

	"cosmossdk.io/math"
)

// FIFO of policy fifo. They have no parameters. The zero value is ready for use; auction embeds it, since it charges
// cycles and cells alike.
type FIFO struct{}

var _ Rules = FIFO{}

// LaneBasefee implements Rules. The lane has no basefee of its own: it is reported equal to the chain's
// cycle basefee, so that clients can read one field under every policy, and it is not charged in addition.
func (FIFO) LaneBasefee(cycleBasefee math.LegacyDec, _ Last) math.LegacyDec {
	return cycleBasefee
}

// Order implements Rules: by (due, seq). No two candidates share a seq, so that the order is total. Candidates that
// are priced out are left out.
func (FIFO) Order(_ Prices, candidates []Candidate) []int {
	order := make([]int, 0, len(candidates))
	for i := range candidates {
		if !candidates[i].Ask.SpendCap.Exhausted() {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(i, j int) int {
		a, b := candidates[i], candidates[j]
		return cmp.Or(cmp.Compare(a.Due, b.Due), cmp.Compare(a.Seq, b.Seq))
	})
	return order
}

// Price implements Rules: the chain's basefees, without a tip. Bids are ignored, and so are the max fees in them.
// Only a spend cap prices a candidate out.
func (FIFO) Price(prices Prices, candidate Candidate) (Price, bool) {
	return prices.Price(math.LegacyZeroDec(), math.LegacyZeroDec()), !candidate.Ask.SpendCap.Exhausted()
}
