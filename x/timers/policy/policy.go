// Package policy decides in which order ready timers fire and what they pay (SPEC §6). Policies are pure: the same
// candidates and lane state in, the same order and prices out. The keeper and the simulator call the same code.
package policy

import (
	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/lane"
)

// Candidate is what a policy may know of a ready timer.
type Candidate struct {
	// Due is the height at which it became due this time, Seq its place in the order of insertion.
	Due, Seq uint64
	// GasLimit in cycles.
	GasLimit uint64
	// Actor is the address that owns it, ID the timer's: bytes, as strings so that they compare.
	Actor, ID string
	// Ask is what its owner asked for when it was scheduled.
	Ask Ask
	// Weight is its actor's fairness weight in sixteenths; 0 unless the policy weighs. Under tip it is its actor's weight of
	// that name, in WeightUnits.
	Weight uint32
	// Unfunded: under tip, its payer could not cover it and is not known to do so again.
	Unfunded bool
	// Locked is the bid in fee denom that the module's account holds for it; nil for none.
	Locked math.Int
	// Unit is whose fires count together with its actor's, Recent how many there were in the fairness window; known under
	// policy score.
	Unit   string
	Recent uint64
}

// Prices are those of a block, in fee denom.
type Prices struct {
	// Height of the block.
	Height uint64
	// Cycle and Cell are the chain's basefees, Lane is the lane's own.
	Cycle, Cell, Lane math.LegacyDec
	// P50 is the median tip per cycle that the fires of the block before paid.
	P50 math.LegacyDec
}

// Last is what the block before left of the lane's market.
type Last struct {
	// Basefee of the lane, and the cycles that its fires used.
	Basefee math.LegacyDec
	Cycles  uint64
}

// Policy is one way of filling the lane.
type Policy interface {
	// LaneBasefee is the lane basefee of a block, from the chain's cycle basefee and the block before.
	LaneBasefee(cycleBasefee math.LegacyDec, last Last) math.LegacyDec
	// Order puts the candidates that may fire at these prices into the order in which they are tried, as indices into the
	// slice.
	Order(prices Prices, candidates []Candidate) []int
	// Price is what a fire of the candidate pays; false if the prices are more than it is willing to pay.
	Price(prices Prices, candidate Candidate) (lane.Price, bool)
	// Weighs tells whether the order depends on fairness weights, so that fires are counted.
	Weighs() bool
	// Indexed tells whether the order follows from the ready index, so that in a storm all that was admitted competes. Under
	// a policy that has none, those in the window compete: the oldest.
	Indexed() bool
}
