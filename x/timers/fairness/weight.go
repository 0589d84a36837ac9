// Package fairness weighs actors by their recent fires (x/timers/README.md, "1.9 Fairness and agents"). An actor
// without recent fires has the largest weight, WEIGHT_MAX. Each multiple of the median that an actor has fired lowers
// its weight by 1, down to WEIGHT_MIN.
//
//   - Median keeps the median of the fires of all units, exactly, while they change one by one.
//   - Smooth averages it over blocks.
//   - Bounds.Weight is the weight of one actor that follows from it.
//
// # Units
//
// Weights are integers in sixteenths. That is coarse on purpose. Timers of equal weight can be stored in one ordered
// list, so that few lists have to be read. And a fire seldom changes a weight, so that timers seldom change lists.
//
// # Median
//
// The median is taken over the units that fired in the window, not over all actors. An attacker can therefore not lower
// it with addresses that never fire. Median keeps it exact at a bounded number of store operations for each change.
// Smooth turns it into a moving average, so that one block with many fires of new units does not move all weights at
// once.
package fairness

import (
	"math/big"

	"cosmossdk.io/math"
)

// One is the weight 1 in sixteenths. A power of two keeps products with decimals of 18 places free of periodic
// fractions: 1 ÷ 16 has four places.
const One = 16

// Bounds are WEIGHT_MIN and WEIGHT_MAX in sixteenths. Invariant: Min ≤ Max.
type Bounds struct{ Min, Max uint32 }

// Sixteenths rounds a weight down to sixteenths. The weight must not be negative and must be below 2^28; the config
// bounds it far below that.
func Sixteenths(weight math.LegacyDec) uint32 {
	return uint32(weight.MulInt64(One).TruncateInt64())
}

// Weight is clip(WEIGHT_MAX − recent ÷ max(1, median), WEIGHT_MIN, WEIGHT_MAX), rounded down to sixteenths. recent is
// the number of fires of the actor's unit in the window.
//
// The quotient is the only value that is rounded: up, so that the difference is rounded down. The result is therefore
// that of exact arithmetic. It does not increase with recent. Invariant: it is from Min to Max.
func (b Bounds) Weight(recent uint64, median math.LegacyDec) uint32 {
	if recent == 0 {
		return b.Max
	}
	// A median below 1, possible after smoothing, would make one fire cost more than the weight 1.
	median = math.LegacyMaxDec(median, math.LegacyOneDec())
	// loss = ceil(16 × recent ÷ median), dividend and divisor in units of the 18th decimal. The dividend has up to 128
	// bits.
	loss := new(big.Int).SetUint64(recent)
	loss.Mul(loss, new(big.Int).Mul(big.NewInt(One), math.LegacyOneDec().BigInt()))
	divisor := median.BigInt()
	loss.Add(loss, new(big.Int).Sub(divisor, big.NewInt(1))).Quo(loss, divisor)
	// The comparison comes before the conversion, since a loss may exceed 32 bits.
	if loss.Cmp(big.NewInt(int64(b.Max-b.Min))) >= 0 {
		return b.Min
	}
	return b.Max - uint32(loss.Uint64())
}

// Smooth is α × median + (1 − α) × before, where α is MEDIAN_SMOOTHING, above 0 and at most 1. At 1 it is the median
// itself. Both products truncate, which lowers the result by less than 2 units of the 18th decimal.
func Smooth(alpha math.LegacyDec, median uint64, before math.LegacyDec) math.LegacyDec {
	now := math.LegacyNewDecFromInt(math.NewIntFromUint64(median))
	if alpha.Equal(math.LegacyOneDec()) {
		return now
	}
	return now.MulTruncate(alpha).Add(before.MulTruncate(math.LegacyOneDec().Sub(alpha)))
}
