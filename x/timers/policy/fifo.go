package policy

import (
	"cmp"
	"slices"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/lane"
)

// FIFO fires by (due, seq). Stated prices are kept but not used; the lane basefee is reported equal to the chain's cycle
// basefee and not charged beside it.
type FIFO struct{}

var _ Policy = FIFO{}

// LaneBasefee implements Policy.
func (FIFO) LaneBasefee(cycleBasefee math.LegacyDec, _ Last) math.LegacyDec { return cycleBasefee }

// Order implements Policy.
func (FIFO) Order(_ Prices, candidates []Candidate) []int {
	order := make([]int, len(candidates))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		a, b := candidates[i], candidates[j]
		return cmp.Or(cmp.Compare(a.Due, b.Due), cmp.Compare(a.Seq, b.Seq))
	})
	return order
}

// Price implements Policy.
func (FIFO) Price(prices Prices, _ Candidate) (lane.Price, bool) {
	return lane.Price{Basefee: prices.Cycle, Priority: math.LegacyZeroDec(), Cell: prices.Cell}, true
}

// Weighs implements Policy.
func (FIFO) Weighs() bool { return false }

// Indexed implements Policy: the queue itself is the order.
func (FIFO) Indexed() bool { return false }
