// Package policy decides in which order ready timers fire and what they pay (SPEC §6). Policies are pure: the same
// candidates and lane state in, the same order and prices out. The keeper and the simulator call the same code.
package policy

import (
	"cmp"
	"slices"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/lane"
)

// Candidate is what a policy may know of a ready timer.
type Candidate struct {
	// Due is the height at which it became due this time, Seq its place in the order of insertion.
	Due, Seq uint64
	// GasLimit in cycles.
	GasLimit uint64
}

// Prices are those of the chain in this block, in fee denom.
type Prices struct {
	// Cycle and Cell are the chain's basefees, Lane is the lane's own.
	Cycle, Cell, Lane math.LegacyDec
}

// Policy is one way of filling the lane.
type Policy interface {
	// LaneBasefee is the lane basefee of this block, from the chain's cycle basefee.
	LaneBasefee(cycleBasefee math.LegacyDec) math.LegacyDec
	// Order puts the candidates into the order in which they are tried, as indices into the slice.
	Order(candidates []Candidate) []int
	// Price is what a fire of the candidate pays.
	Price(prices Prices, candidate Candidate) lane.Price
}

// FIFO fires by (due, seq). Stated prices are kept but not used; the lane basefee is reported equal to the chain's cycle
// basefee and not charged beside it.
type FIFO struct{}

var _ Policy = FIFO{}

// LaneBasefee implements Policy.
func (FIFO) LaneBasefee(cycleBasefee math.LegacyDec) math.LegacyDec { return cycleBasefee }

// Order implements Policy.
func (FIFO) Order(candidates []Candidate) []int {
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
func (FIFO) Price(prices Prices, _ Candidate) lane.Price {
	return lane.Price{Basefee: prices.Cycle, Priority: math.LegacyZeroDec(), Cell: prices.Cell}
}
