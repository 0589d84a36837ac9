package market

import (
	"cosmossdk.io/math"
)

// Candidate is what a policy may know of a ready timer. Each policy reads the fields that it needs, and ignores the
// others.
type Candidate struct {
	// Due is the height at which the timer became due this time, Seq its place in the order of insertion.
	// Invariant: no two timers share a Seq, so that (due, seq) breaks every tie.
	Due, Seq uint64
	// Size of the lane that its gas limit and its cell limit reserve, in cycles.
	Size uint64
	// Actor is the address that owns it, ID the timer's: bytes, as strings so that they compare.
	Actor, ID string
	// Ask is what its owner asked for when it was scheduled.
	Ask Ask
	// Weight of its actor. Under eip1559 it is the fairness weight, in sixteenths; under tip it is the weight of
	// package tip, in tip.WeightUnits; under other policies it is 0.
	Weight uint32
	// Unfunded is used by policy tip. It means that the payer could not cover the fire, and is not known to have
	// funds again.
	Unfunded bool
	// Locked is the bid in fee denom that the module's account holds for the timer; nil if there is none.
	Locked math.Int
	// Unit and Recent are used by policy score. The fires of all actors of a Unit count together; Recent is how
	// many there were in the fairness window.
	Unit   string
	Recent uint64
}

// LockedBid is the bid that the module's account holds for the timer, 0 if there is none.
func (c Candidate) LockedBid() math.Int {
	if c.Locked.IsNil() {
		return math.ZeroInt()
	}
	return c.Locked
}

// Prices are those of a block, in fee denom.
type Prices struct {
	// Height of the block.
	Height uint64
	// Capacity of the lane, by which sizes are measured.
	Capacity Capacity
	// Cycle and Cell are the chain's basefees, Lane is the lane's own, per unit of size.
	Cycle, Cell, Lane math.LegacyDec
	// P50 is the usual tip per unit of size.
	P50 math.LegacyDec
}

// Price is that of a fire which pays this fee and this tip per unit of size in addition to the chain's prices.
func (p Prices) Price(laneFee, priority math.LegacyDec) Price {
	return Price{Capacity: p.Capacity, Cycle: p.Cycle, Cell: p.Cell, Lane: laneFee, Priority: priority}
}

// Last is what the block before left of the lane's market.
type Last struct {
	// Basefee of the lane, and what its fires used of the lane.
	Basefee math.LegacyDec
	Use     Use
}

// Rules are the rules of one policy.
type Rules interface {
	// LaneBasefee is the lane basefee of a block, computed from the chain's cycle basefee and the block before.
	LaneBasefee(cycleBasefee math.LegacyDec, last Last) math.LegacyDec
	// Order puts the candidates that may fire at these prices into the order in which they are tried. It returns
	// indices into the slice, and leaves the slice as it is. Candidates that may not fire are left out.
	Order(prices Prices, candidates []Candidate) []int
	// Price is what a fire of the candidate pays. It is false if the prices exceed what the candidate is willing to
	// pay. It follows from the ask and the locked bid: nothing else of the candidate may be set.
	Price(prices Prices, candidate Candidate) (Price, bool)
}

// Least is the least that a fire ever pays per unit at the chain's prices: with the lane basefee at its floor, without a
// tip or a bid. A payer that can't cover a timer at this price can't cover it at any.
func Least(rules Rules, prices Prices) Price {
	prices.Lane = rules.LaneBasefee(prices.Cycle, Last{Basefee: math.LegacyZeroDec()})
	prices.P50 = math.LegacyZeroDec()
	price, _ := rules.Price(prices, Candidate{})
	return price
}
