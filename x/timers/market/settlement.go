package market

import "cosmossdk.io/math"

// Price is what one fire pays, in fee denom (x/timers/README.md, "5.2 Settlement"). Invariant: no part is negative.
type Price struct {
	// Capacity is the measure of sizes.
	Capacity Capacity
	// Cycle and Cell are the chain's basefees per cycle and per cell. Burned.
	Cycle, Cell math.LegacyDec
	// Lane is the lane's fee per unit of size. Burned.
	Lane math.LegacyDec
	// Priority per unit of size goes to the block's proposer.
	Priority math.LegacyDec
	// LumpSum goes to the block's proposer for the fire as such, whatever the fire uses; nil stands for 0.
	LumpSum math.Int
}

// Settlement is the division of a pre-charge. Invariant: Burned + Tip = Charged, Charged + Refund = pre-charge, and
// none is negative. So no fire creates or loses coins.
type Settlement struct {
	// Charged is the price of the fire, and what can't be given back. Of that, Tip goes to the block's proposer and Burned is
	// removed from the supply. Refund goes back to the payer.
	Charged, Tip, Burned, Refund math.Int
	// LaneBurned is the part of Burned that is the lane's fee, rounded down.
	LaneBurned math.Int
}

// WithoutRefund is the settlement of a fire whose payer can't be given anything back: the refund is burned.
func (s Settlement) WithoutRefund() Settlement {
	s.Charged, s.Burned, s.Refund = s.Charged.Add(s.Refund), s.Burned.Add(s.Refund), math.ZeroInt()
	return s
}

// paysLumpSum tells whether there is a lump sum.
func (p Price) paysLumpSum() bool { return !p.LumpSum.IsNil() && !p.LumpSum.IsZero() }

// Cost is ceil(cycles × cycle basefee + cells × cell basefee + size × (lane fee + priority)) + lump sum. It is rounded
// up a single time, at the end, in favour of the chain, so that a charge is never below its formula. The products are
// exact: a decimal times an integer loses nothing.
func (p Price) Cost(cycles, cells uint64) math.Int {
	size := p.Capacity.Size(cycles, cells)
	cost, ok := p.ceil(cycles, cells, size)
	if !ok {
		cost = p.decimalCost(cycles, cells, size)
	}
	if p.paysLumpSum() {
		return cost.Add(p.LumpSum)
	}
	return cost
}

// decimalCost is ceil in decimals, of any size.
func (p Price) decimalCost(cycles, cells, size uint64) math.Int {
	perCycle := p.Cycle.MulInt(math.NewIntFromUint64(cycles))
	perCell := p.Cell.MulInt(math.NewIntFromUint64(cells))
	perSize := p.Lane.Add(p.Priority).MulInt(math.NewIntFromUint64(size))
	return perCycle.Add(perCell).Add(perSize).Ceil().TruncateInt()
}

// Settle divides the pre-charge of a fire that used cycles and cells. Both must be within what was pre-charged for;
// then the refund is not negative. The tip is rounded down and the charge up. The difference, less than two units,
// is burned, so that no party gains by rounding.
func (p Price) Settle(preCharge math.Int, cycles, cells uint64) Settlement {
	size := p.Capacity.Size(cycles, cells)
	s := Settlement{Charged: p.Cost(cycles, cells), Tip: floor(p.Priority, size), LaneBurned: floor(p.Lane, size)}
	if p.paysLumpSum() {
		s.Tip = s.Tip.Add(p.LumpSum)
	}
	s.Burned, s.Refund = s.Charged, preCharge.Sub(s.Charged)
	if !s.Tip.IsZero() {
		s.Burned = s.Charged.Sub(s.Tip)
	}
	return s
}
