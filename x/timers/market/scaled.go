package market

import (
	"math/bits"

	"cosmossdk.io/math"
)

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
