package lane

import "cosmossdk.io/math"

// Response is how the lane basefee follows the lane's use: BASEFEE_RESPONSE.
type Response int

const (
	// Clip changes the basefee by (u − target) ÷ target, cut off at the largest change either way.
	Clip Response = iota
	// Linear scales the same deviation, so that only a full or an empty lane moves the basefee by the largest change.
	Linear
)

// Basefee is the rule by which the lane basefee follows the use of the lane (SPEC §6).
type Basefee struct {
	// Capacity is LANE_TIMER_CYCLES.
	Capacity uint64
	// Target is the use at which the basefee stays, as a fraction of Capacity, above 0 and below 1.
	Target math.LegacyDec
	// MaxChange is the largest change in a block, as a fraction of the basefee, above 0 and at most 1.
	MaxChange math.LegacyDec
	// Min and Max bound the basefee: MIN_LANE_BASEFEE, and what keeps arithmetic in range.
	Min, Max math.LegacyDec
	Response Response
}

// Next is the lane basefee of a block, from that of the block before and the cycles that its fires used. Products and
// quotients truncate; so that they can't make it stick, a use off the target moves it by one unit of the last decimal at
// least, as long as it is within its bounds.
func (b Basefee) Next(last math.LegacyDec, used uint64) math.LegacyDec {
	used = min(used, b.Capacity)
	next := last.MulTruncate(math.LegacyOneDec().Add(b.change(used)))
	if next.Equal(last) {
		next = next.Add(b.direction(used))
	}
	return math.LegacyMinDec(math.LegacyMaxDec(next, b.Min), b.Max)
}

// change is the relative change of the basefee.
func (b Basefee) change(used uint64) math.LegacyDec {
	use := math.LegacyNewDecFromInt(math.NewIntFromUint64(used)).QuoTruncate(math.LegacyNewDecFromInt(math.NewIntFromUint64(b.Capacity)))
	deviation := use.Sub(b.Target)
	if b.Response == Clip {
		return clip(deviation.QuoTruncate(b.Target), b.MaxChange)
	}
	room := b.Target
	if deviation.IsPositive() {
		room = math.LegacyOneDec().Sub(b.Target)
	}
	// The quotient first: a full or an empty lane makes it exactly ±1.
	return deviation.QuoTruncate(room).MulTruncate(b.MaxChange)
}

// direction is one unit of the last decimal towards where the use pulls, reckoned without rounding; none at the target.
func (b Basefee) direction(used uint64) math.LegacyDec {
	at := b.Target.MulInt(math.NewIntFromUint64(b.Capacity))
	actual := math.LegacyNewDecFromInt(math.NewIntFromUint64(used))
	switch {
	case actual.GT(at):
		return math.LegacySmallestDec()
	case actual.LT(at):
		return math.LegacySmallestDec().Neg()
	default:
		return math.LegacyZeroDec()
	}
}

// clip cuts a value off at ±bound.
func clip(value, bound math.LegacyDec) math.LegacyDec {
	return math.LegacyMinDec(math.LegacyMaxDec(value, bound.Neg()), bound)
}
