package market

import (
	"math/big"

	"cosmossdk.io/math"
)

// OneWeight is the weight 1 in sixteenths. A power of two keeps products with decimals of 18 places free of periodic
// fractions: 1 ÷ 16 has four places.
const OneWeight = 16

// WeightBounds are WEIGHT_MIN and WEIGHT_MAX in sixteenths. Invariant: Min ≤ Max.
type WeightBounds struct{ Min, Max uint32 }

// WeightInSixteenths rounds a weight down to sixteenths. The weight must not be negative and must be below 2^28; the config
// bounds it far below that.
func WeightInSixteenths(weight math.LegacyDec) uint32 {
	return uint32(weight.MulInt64(OneWeight).TruncateInt64())
}

// Weight is clip(WEIGHT_MAX − recent ÷ max(1, median), WEIGHT_MIN, WEIGHT_MAX), rounded down to sixteenths. recent is
// the number of fires of the actor's unit in the window.
//
// The quotient is the only value that is rounded: up, so that the difference is rounded down. The result is therefore
// that of exact arithmetic. It does not increase with recent. Invariant: it is from Min to Max.
func (b WeightBounds) Weight(recent uint64, median math.LegacyDec) uint32 {
	if recent == 0 {
		return b.Max
	}
	// A median below 1, possible after smoothing, would make one fire cost more than the weight 1.
	median = math.LegacyMaxDec(median, math.LegacyOneDec())
	// loss = ceil(16 × recent ÷ median), dividend and divisor in units of the 18th decimal. The dividend has up to 128
	// bits.
	loss := new(big.Int).SetUint64(recent)
	loss.Mul(loss, new(big.Int).Mul(big.NewInt(OneWeight), math.LegacyOneDec().BigInt()))
	divisor := median.BigInt()
	loss.Add(loss, new(big.Int).Sub(divisor, big.NewInt(1))).Quo(loss, divisor)
	// The comparison comes before the conversion, since a loss may exceed 32 bits.
	if loss.Cmp(big.NewInt(int64(b.Max-b.Min))) >= 0 {
		return b.Min
	}
	return b.Max - uint32(loss.Uint64())
}

// SmoothMedian is α × median + (1 − α) × before, where α is MEDIAN_SMOOTHING, above 0 and at most 1. At 1 it is the median
// itself. Both products truncate, which lowers the result by less than 2 units of the 18th decimal.
func SmoothMedian(alpha math.LegacyDec, median uint64, before math.LegacyDec) math.LegacyDec {
	now := math.LegacyNewDecFromInt(math.NewIntFromUint64(median))
	if alpha.Equal(math.LegacyOneDec()) {
		return now
	}
	return now.MulTruncate(alpha).Add(before.MulTruncate(math.LegacyOneDec().Sub(alpha)))
}
