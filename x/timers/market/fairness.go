package market

import (
	"context"
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

// MedianCounts is the store beneath a median. It is a histogram: for each number of fires, the number of units with so many
// fires. Its size is the number of different counts, not of units. Entries of zero units are absent.
type MedianCounts interface {
	// Get returns 0, and no error, for a number of fires that no unit has.
	Get(ctx context.Context, fires uint64) (units uint64, err error)
	// Set with zero units removes the entry.
	Set(ctx context.Context, fires, units uint64) error
	// Next and Prev return the nearest entry above and below. It is an error if there is none: Settle moves only in a
	// direction in which there are units.
	Next(ctx context.Context, fires uint64) (above uint64, err error)
	Prev(ctx context.Context, fires uint64) (below uint64, err error)
}

// Median is the median of the fires of all units with at least one. If their number is even, it is the lower of the two
// middle values. It is 0 if there are no such units.
//
// It stays exact while the counts change one by one. It holds a position in the histogram and the number of units below
// that position. A change of a count updates both; Settle then moves the position to the middle. A change costs a
// constant number of operations on MedianCounts, however many units there are.
//
// Invariant: Below is the number of units with fewer fires than Value. After Settle, also Below ≤ (Units − 1) ÷ 2 <
// Below + the units with exactly Value fires, which defines the median.
type Median struct {
	// Units with at least one fire in the window.
	Units uint64
	// Value is the median after Settle. Between Move and Settle it is the old median, even if no unit is left at it.
	Value uint64
	// Below is how many units have fewer fires than Value.
	Below uint64
}

// Move records that the fires of one unit changed from one number to another; 0 means none. It keeps Below and Units,
// and leaves Value to Settle, so that a block with many fires searches for the median once.
func (m *Median) Move(ctx context.Context, counts MedianCounts, from, to uint64) error {
	if from > 0 {
		units, err := counts.Get(ctx, from)
		if err != nil {
			return err
		}
		if err := counts.Set(ctx, from, units-1); err != nil {
			return err
		}
		m.Units--
		if from < m.Value {
			m.Below--
		}
	}
	if to == 0 {
		return nil
	}
	units, err := counts.Get(ctx, to)
	if err != nil {
		return err
	}
	m.Units++
	if to < m.Value {
		m.Below++
	}
	return counts.Set(ctx, to, units+1)
}

// Settle restores the median after any number of moves. Each step passes at least one unit, and each move puts at most
// one unit on the wrong side. So there are at most as many steps as moves, and one more if no unit is left at Value.
func (m *Median) Settle(ctx context.Context, counts MedianCounts) error {
	if m.Units == 0 {
		*m = Median{}
		return nil
	}
	// The number of units below the lower of the two middle ones.
	middle := (m.Units - 1) / 2
	for m.Below > middle {
		value, err := counts.Prev(ctx, m.Value)
		if err != nil {
			return err
		}
		units, err := counts.Get(ctx, value)
		if err != nil {
			return err
		}
		m.Value, m.Below = value, m.Below-units
	}
	// No unit need be left at Value: then the first step moves on to the next number of fires that some unit has.
	for {
		units, err := counts.Get(ctx, m.Value)
		if err != nil {
			return err
		}
		if m.Below+units > middle {
			return nil
		}
		m.Below += units
		if m.Value, err = counts.Next(ctx, m.Value); err != nil {
			return err
		}
	}
}
