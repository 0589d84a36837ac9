package market

import "cosmossdk.io/math"

// SpendCap is what a timer's max_charge leaves above the chain's prices: the most that the lane's fee, the tip and a lump sum
// may come to. The zero value is no bound.
type SpendCap struct {
	// PerFire is for the fire as a whole, nil if unknown. PerSize is for each unit of its size, rounded down and at most the
	// largest price; nil for no bound. Invariant: PerSize is Exhausted exactly where PerFire is negative.
	PerFire, PerSize math.LegacyDec
}

// largestPrice bounds the prices of the module.
var largestPrice = math.LegacyNewDec(1_000_000_000_000_000_000)

// SpendCapOf is the spend cap of a fire at most at maxCharge, with these limits in cycles and cells. A pre-charge is within
// maxCharge exactly if the lane's fee and the tip per unit of size are within PerSize, and a lump sum alone is within
// PerFire: the pre-charge is rounded up to a whole number, which maxCharge is.
func SpendCapOf(maxCharge math.Int, prices Prices, gasLimit, cellLimit uint64) SpendCap {
	left := math.LegacyNewDecFromInt(maxCharge).
		Sub(prices.Cycle.MulInt(math.NewIntFromUint64(gasLimit))).
		Sub(prices.Cell.MulInt(math.NewIntFromUint64(cellLimit)))
	if left.IsNegative() {
		return SpendCap{PerFire: left, PerSize: math.LegacyOneDec().Neg()}
	}
	size := math.LegacyNewDecFromInt(math.NewIntFromUint64(max(1, prices.Capacity.Size(gasLimit, cellLimit))))
	return SpendCap{PerFire: left, PerSize: math.LegacyMinDec(left.QuoTruncate(size), largestPrice)}
}

// Unbounded reports that there is no max_charge.
func (c SpendCap) Unbounded() bool { return c.PerSize.IsNil() }

// Exhausted reports that the chain's prices alone exceed the max_charge.
func (c SpendCap) Exhausted() bool { return !c.Unbounded() && c.PerSize.IsNegative() }

// Lower is the lesser of a price per unit of size and the spend cap.
func (c SpendCap) Lower(price math.LegacyDec) math.LegacyDec {
	if c.Unbounded() {
		return price
	}
	return math.LegacyMinDec(price, c.PerSize)
}

// Covers reports whether a fire that pays nothing per unit of size may pay this lump sum; nil stands for 0.
func (c SpendCap) Covers(lumpSum math.Int) bool {
	switch {
	case c.Unbounded():
		return true
	case lumpSum.IsNil():
		return !c.PerFire.IsNegative()
	default:
		return c.PerFire.GTE(math.LegacyNewDecFromInt(lumpSum))
	}
}
