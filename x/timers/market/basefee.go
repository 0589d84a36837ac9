package market

import "cosmossdk.io/math"

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
// (x/timers/docs/market.md). Above the target it rises, so that demand falls; below it falls.
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
