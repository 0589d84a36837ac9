// Package fairness weighs actors by how much they fired lately (x/timers/README.md, "1.9 Fairness and agents"). An
// actor that fired less than others weighs more, up to weight_max for one that did not fire at all.
//
//   - Median keeps the median of the fires of all units, exactly, while they change one by one.
//   - Smooth averages it over blocks.
//   - Bounds.Weight is the weight that follows for one actor.
//
// A weight is counted in sixteenths. That is coarse on purpose: timers of equal weight can lie in one ordered list, and
// a weight seldom changes.
package fairness

import (
	"math/big"

	"cosmossdk.io/math"
)

// One is the weight 1 in sixteenths.
const One = 16

// Bounds are WEIGHT_MIN and WEIGHT_MAX in sixteenths.
type Bounds struct{ Min, Max uint32 }

// Sixteenths rounds a weight down to sixteenths.
func Sixteenths(weight math.LegacyDec) uint32 {
	return uint32(weight.MulInt64(One).TruncateInt64())
}

// Weight is clip(WEIGHT_MAX − recent ÷ max(1, median), WEIGHT_MIN, WEIGHT_MAX), rounded down to sixteenths. It is
// exact: the quotient is rounded once, up.
func (b Bounds) Weight(recent uint64, median math.LegacyDec) uint32 {
	median = math.LegacyMaxDec(median, math.LegacyOneDec())
	// loss = ceil(16 × recent ÷ median), both in units of the 18th decimal.
	loss := new(big.Int).SetUint64(recent)
	loss.Mul(loss, new(big.Int).Mul(big.NewInt(One), math.LegacyOneDec().BigInt()))
	divisor := median.BigInt()
	loss.Add(loss, new(big.Int).Sub(divisor, big.NewInt(1))).Quo(loss, divisor)
	if loss.Cmp(big.NewInt(int64(b.Max-b.Min))) >= 0 {
		return b.Min
	}
	return b.Max - uint32(loss.Uint64())
}

// Smooth is α × median + (1 − α) × before, where α is MEDIAN_SMOOTHING; 1 smooths nothing.
func Smooth(alpha math.LegacyDec, median uint64, before math.LegacyDec) math.LegacyDec {
	now := math.LegacyNewDecFromInt(math.NewIntFromUint64(median))
	if alpha.Equal(math.LegacyOneDec()) {
		return now
	}
	return now.MulTruncate(alpha).Add(before.MulTruncate(math.LegacyOneDec().Sub(alpha)))
}
