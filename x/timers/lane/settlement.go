// Package lane holds the arithmetic of the timer lane: what a fire costs, what a block may spend. It is pure: decimals
// and integers in, decimals and integers out.
package lane

import "cosmossdk.io/math"

// Price is what one fire pays per unit, in fee denom (SPEC §5). All parts are non-negative.
type Price struct {
	// Basefee per cycle: the chain's, and the lane's beside it where the policy charges one. Burned.
	Basefee math.LegacyDec
	// Priority per cycle goes to the block's proposer.
	Priority math.LegacyDec
	// Cell is the basefee per cell. Burned.
	Cell math.LegacyDec
	// Once goes to the block's proposer for the fire as such, whatever it uses; nil for nothing.
	Once math.Int
}

// Settlement is how a pre-charge is shared out. Invariant: Burned + Tip + Refund = pre-charge, and none is negative.
type Settlement struct {
	Charged, Tip, Burned, Refund math.Int
}

// once is Once, 0 for nothing.
func (p Price) once() math.Int {
	if p.Once.IsNil() {
		return math.ZeroInt()
	}
	return p.Once
}

// Cost is ceil(cycles × p + cells × cell_basefee) + once: rounded up once, at the end, in favour of the chain, so that a charge
// is never below its formula. The products are exact: a decimal times an integer loses nothing.
func (p Price) Cost(cycles, cells uint64) math.Int {
	perCycle := p.Basefee.Add(p.Priority).MulInt(math.NewIntFromUint64(cycles))
	perCell := p.Cell.MulInt(math.NewIntFromUint64(cells))
	return perCycle.Add(perCell).Ceil().TruncateInt().Add(p.once())
}

// Settle shares out what was pre-charged for a fire that used cycles and cells, both within what was pre-charged for.
// The tip is rounded down, so that the rounding of the charge is burned and nobody gains by it.
func (p Price) Settle(preCharge math.Int, cycles, cells uint64) Settlement {
	charged := p.Cost(cycles, cells)
	tip := p.Priority.MulInt(math.NewIntFromUint64(cycles)).TruncateInt().Add(p.once())
	return Settlement{Charged: charged, Tip: tip, Burned: charged.Sub(tip), Refund: preCharge.Sub(charged)}
}
