package market

import (
	"math/bits"

	"cosmossdk.io/math"
)

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

// Keep is the settlement of a fire that costs so much more, or all that was taken if that is less: it is burned.
func (s Settlement) Keep(more math.Int) Settlement {
	more = math.MinInt(more, s.Refund)
	s.Charged, s.Burned, s.Refund = s.Charged.Add(more), s.Burned.Add(more), s.Refund.Sub(more)
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

// Response is how the lane basefee responds to the lane's use: BASEFEE_RESPONSE.
type Response int

const (
	// Clip changes the basefee by (u − target) ÷ target, cut off at the largest change either way.
	Clip Response = iota
	// Linear scales the same deviation, so that only a full or an empty lane moves the basefee by the largest
	// change.
	Linear
)

// Basefee is the rule by which the lane basefee follows the use of the lane under policy eip1559
// (x/timers/docs/use/market.md). Above the target it rises, so that demand falls; below it falls.
type Basefee struct {
	// Capacity of the lane in cycles: LANE_TIMER_CYCLES, above 0.
	Capacity uint64
	// MaxFires is MAX_FIRES_PER_BLOCK; 0 means no cap.
	MaxFires uint32
	// Target is the use at which the basefee stays, as a fraction of Capacity, above 0 and below 1.
	Target math.LegacyDec
	// MaxChange is the largest change in a block, as a fraction of the basefee, above 0 and at most 1.
	MaxChange math.LegacyDec
	// Min and Max bound the basefee. Min is MIN_LANE_BASEFEE, above 0; Max keeps arithmetic in range. Invariant:
	// Min ≤ Max.
	Min, Max math.LegacyDec
	Response Response
}

// Use is what the fires of a block took of the lane: the sum of their sizes, and how many they were. Where the number of
// fires is capped, the lane is as full as the fuller of the two.
type Use struct {
	Size  uint64
	Fires uint32
}

// Next is the lane basefee of a block, computed from the basefee of the previous block and the use of that block. A use
// above the capacity counts as the capacity. Products and quotients truncate.
//
// Truncation alone could keep a small basefee constant for ever. Therefore a use off the target moves it by at least
// one unit of the last decimal, within its bounds.
func (b Basefee) Next(last math.LegacyDec, used Use) math.LegacyDec {
	next := last.MulTruncate(math.LegacyOneDec().Add(b.change(used)))
	if next.Equal(last) {
		next = next.Add(b.direction(used))
	}
	return math.LegacyMinDec(math.LegacyMaxDec(next, b.Min), b.Max)
}

// change is the relative change of the basefee. Invariant: it is from −MaxChange to MaxChange.
func (b Basefee) change(used Use) math.LegacyDec {
	use := math.LegacyZeroDec()
	for _, of := range b.fractions(used) {
		use = math.LegacyMaxDec(use, of.part.QuoTruncate(of.whole))
	}
	deviation := use.Sub(b.Target)
	if b.Response == Clip {
		return clip(deviation.QuoTruncate(b.Target), b.MaxChange)
	}
	room := b.Target
	if deviation.IsPositive() {
		room = math.LegacyOneDec().Sub(b.Target)
	}
	// The quotient is computed first. For a full or an empty lane it is exactly ±1, and then the product is exact too:
	// the basefee moves by the whole MaxChange.
	return deviation.QuoTruncate(room).MulTruncate(b.MaxChange)
}

// direction is one unit of the last decimal, with the sign of the use's deviation from the target; 0 at the target.
// It compares without rounding, so that the smallest deviation has a direction.
func (b Basefee) direction(used Use) math.LegacyDec {
	below := true
	for _, of := range b.fractions(used) {
		at := b.Target.MulTruncate(of.whole)
		if of.part.GT(at) {
			return math.LegacySmallestDec()
		}
		below = below && of.part.LT(at)
	}
	if below {
		return math.LegacySmallestDec().Neg()
	}
	return math.LegacyZeroDec()
}

// fraction of the lane, in whole numbers.
type fraction struct{ part, whole math.LegacyDec }

// fractions of the lane that are used: by size, and by fires where they are capped. None exceeds 1.
func (b Basefee) fractions(used Use) []fraction {
	of := func(part, whole uint64) fraction {
		return fraction{
			math.LegacyNewDecFromInt(math.NewIntFromUint64(min(part, whole))), math.LegacyNewDecFromInt(math.NewIntFromUint64(whole)),
		}
	}
	fractions := []fraction{of(used.Size, b.Capacity)}
	if b.MaxFires > 0 {
		fractions = append(fractions, of(uint64(used.Fires), uint64(b.MaxFires)))
	}
	return fractions
}

// clip bounds a value to −bound to bound.
func clip(value, bound math.LegacyDec) math.LegacyDec {
	return math.LegacyMinDec(math.LegacyMaxDec(value, bound.Neg()), bound)
}

// Capacity is what the lane of one block holds: LANE_TIMER_CYCLES and LANE_TIMER_CELLS, both above 0. It is the measure by
// which cycles and cells are compared (x/timers/README.md, "1.1 Units").
type Capacity struct{ Cycles, Cells uint64 }

// Size is the share of the lane that a fire takes, in cycles: its cycles, or its cells in proportion to the lane's, if
// those are more. So a fire is measured by the resource of which it takes the larger share. The proportion is rounded
// down. It is bounded by the largest integer, which no lane holds.
func (c Capacity) Size(cycles, cells uint64) uint64 {
	high, low := bits.Mul64(cells, c.Cycles)
	if high >= c.Cells {
		return ^uint64(0)
	}
	inCycles, _ := bits.Div64(high, low, c.Cells)
	return max(cycles, inCycles)
}

// Budget is what a block's lane may spend, and what it has spent so far (x/timers/README.md, "1.6 Lane"). No sum here
// overflows: the config bounds every part far below 64 bits.
type Budget struct {
	// Capacity of the lane. Sizes are compared with its cycles.
	Capacity
	// MaxFires is MAX_FIRES_PER_BLOCK; 0 means no cap.
	MaxFires uint32

	// UsedSize is the sum of the sizes of this block's fires. Invariant: at most the capacity's cycles.
	UsedSize uint64
	// UsedCycles and UsedCells are what they used. Invariant: each is at most its capacity.
	UsedCycles, UsedCells uint64
	// Fires is how many there were.
	Fires uint32
}

// Fits reports whether a fire that may take up to size can be taken now. It counts the most that this fire may take,
// and what earlier fires actually took. So the lane is never exceeded, and what fires leave of their limits is used by
// others.
func (b *Budget) Fits(size uint64) bool {
	return size <= b.Cycles-b.UsedSize && (b.MaxFires == 0 || b.Fires < b.MaxFires)
}

// Spend books a fire that used so many cycles and cells. Their size must be at most what Fits counted for it. Then the
// invariants hold, and the subtractions of callers that compute what is left do not underflow.
func (b *Budget) Spend(cycles, cells uint64) {
	b.UsedSize += b.Size(cycles, cells)
	b.UsedCycles += cycles
	b.UsedCells += cells
	b.Fires++
}

// Cleanup is the budget of a block for removing timers (x/timers/README.md, "5.3 Cleanup"). It is independent of the
// lane's, so that fires cannot delay removals, nor removals fires.
type Cleanup struct {
	// MaxCycles is GC_CYCLES_PER_BLOCK, PerRemoval what a removal takes of it, above 0.
	MaxCycles, PerRemoval uint64
	// Cycles are what the removals of this block used so far. Invariant: at most MaxCycles.
	Cycles uint64
}

// Remaining is the number of single removals that still fit: the quotient is rounded down, and the rest of the budget is not
// carried over to the next block.
func (c *Cleanup) Remaining() uint64 { return (c.MaxCycles - c.Cycles) / c.PerRemoval }

// Take books a removal that counts as so many, 1 at least. It is false, and books nothing, if that does not fit. The first of a
// block always fits, and uses up the budget if it counts as more than that holds: otherwise it would never leave.
func (c *Cleanup) Take(removals uint64) bool {
	switch left := c.Remaining(); {
	case removals <= left:
		c.Cycles += removals * c.PerRemoval
	case c.Cycles == 0:
		c.Cycles = c.MaxCycles
	default:
		return false
	}
	return true
}

// FireWork is the work of a fire before its handler runs.
type FireWork struct {
	// PayloadBytes are read.
	PayloadBytes uint64
	// MessageBytes are decoded as messages and checked; 0 for a payload that the handler itself reads.
	MessageBytes uint64
	// PayerCycles are what the payer's account and allowance take.
	PayerCycles uint64
}

// Cycles that a fire counts for the work, in addition to those of its handler (x/timers/README.md, "1.1 Units"). No sum here
// overflows: payloads are at most 1 MiB.
func (w FireWork) Cycles() uint64 {
	return FireBaseCycles + PayloadCyclesPerByte*w.PayloadBytes + MessageCyclesPerByte*w.MessageBytes + w.PayerCycles
}

// AffordablePayload is the longest payload whose reading leaves a fire of gasLimit cycles anything for its handler; false if
// not even an empty one does.
func AffordablePayload(gasLimit, payerCycles uint64) (bytes uint64, ok bool) {
	spent := FireWork{PayerCycles: payerCycles}.Cycles()
	if spent >= gasLimit {
		return 0, false
	}
	return (gasLimit - spent - 1) / PayloadCyclesPerByte, true
}

// one is a decimal's 1 as the integer that stands for it.
const one = 1_000_000_000_000_000_000

// scaled is a sum of products of decimals and integers, in 128 bits. It is exact; what does not fit is marked, and is
// computed with decimals instead. Prices of less than 18 fee units, and the sums that come of them, fit.
type scaled struct {
	high, low uint64
	overflow  bool
}

// add adds the price times the units. A price that is negative or nil does not fit.
func (s *scaled) add(price math.LegacyDec, units uint64) {
	unscaled := price.BigIntMut()
	if unscaled == nil || !unscaled.IsUint64() {
		s.overflow = true
		return
	}
	high, low := bits.Mul64(unscaled.Uint64(), units)
	var carry uint64
	s.low, carry = bits.Add64(s.low, low, 0)
	s.high, carry = bits.Add64(s.high, high, carry)
	s.overflow = s.overflow || carry > 0
}

// whole is the sum in whole units, and whether a part of a unit is left; false if it does not fit.
func (s *scaled) whole() (units uint64, rest, ok bool) {
	if s.overflow || s.high >= one {
		return 0, false, false
	}
	units, part := bits.Div64(s.high, s.low, one)
	return units, part > 0, true
}

// floor is the product of a price and units, rounded down.
func floor(price math.LegacyDec, units uint64) math.Int {
	var sum scaled
	sum.add(price, units)
	if whole, _, ok := sum.whole(); ok {
		return math.NewIntFromUint64(whole)
	}
	return price.MulInt(math.NewIntFromUint64(units)).TruncateInt()
}

// ceil is the sum of a fire's products, rounded up once; false if it does not fit.
func (p Price) ceil(cycles, cells, size uint64) (math.Int, bool) {
	var sum scaled
	sum.add(p.Cycle, cycles)
	sum.add(p.Cell, cells)
	sum.add(p.Lane, size)
	sum.add(p.Priority, size)
	whole, rest, ok := sum.whole()
	if !ok {
		return math.Int{}, false
	}
	if rest && whole == ^uint64(0) {
		return math.NewIntFromUint64(whole).AddRaw(1), true
	}
	if rest {
		whole++
	}
	return math.NewIntFromUint64(whole), true
}
