package market_test

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market"
)

// unscaledPrice draws the integer that stands for a price: small, at an edge of 64 bits, or one that does not fit.
func unscaledPrice(t *rapid.T) *big.Int {
	edge := new(big.Int).Lsh(big.NewInt(1), 64)
	return rapid.OneOf(
		rapid.Custom(func(t *rapid.T) *big.Int { return new(big.Int).SetUint64(rapid.Uint64().Draw(t, "unscaled")) }),
		rapid.Custom(func(t *rapid.T) *big.Int {
			return new(big.Int).Add(edge, big.NewInt(rapid.Int64Range(-3, 1).Draw(t, "off")))
		}),
		rapid.Just(big.NewInt(-1)),
	).Draw(t, "price")
}

// scaledProperty: a sum in 128 bits is that of integers without bounds. It is given up if a price does not fit 64 bits, or
// if the sum has more whole units than fit, and else never: what is given up costs a fire allocations.
func scaledProperty(t *rapid.T) {
	edge, one := new(big.Int).Lsh(big.NewInt(1), 64), big.NewInt(1e18)
	sum, fits := new(big.Int), true
	var prices []math.LegacyDec
	var units []uint64
	for range rapid.IntRange(0, 4).Draw(t, "products") {
		price := unscaledPrice(t)
		count := rapid.OneOf(rapid.Uint64(), rapid.Uint64Min(1<<64-3), rapid.Uint64Max(3)).Draw(t, "units")
		prices, units = append(prices, math.LegacyNewDecFromBigIntWithPrec(price, math.LegacyPrecision)), append(units, count)
		fits = fits && price.Sign() >= 0 && price.Cmp(edge) < 0
		sum.Add(sum, new(big.Int).Mul(price, new(big.Int).SetUint64(count)))
	}
	want, part := new(big.Int).QuoRem(sum, one, new(big.Int))
	fits = fits && want.Cmp(edge) < 0
	whole, rest, ok := market.SumScaled(prices, units)
	require.Equal(t, fits, ok)
	if fits {
		require.Equal(t, want.Uint64(), whole)
		require.Equal(t, part.Sign() > 0, rest)
	}
}

func TestScaledSumsAreExactWhereTheyFit(t *testing.T) { rapid.Check(t, scaledProperty) }

// TestScaledSumsAtTheEdge: one unit of the 18th decimal decides whether the sum fits, and a carry out of 128 bits is not
// lost.
func TestScaledSumsAtTheEdge(t *testing.T) {
	const most = 1<<64 - 1
	dec := func(unscaled uint64) math.LegacyDec {
		return math.LegacyNewDecFromBigIntWithPrec(new(big.Int).SetUint64(unscaled), math.LegacyPrecision)
	}
	one, largest := dec(1e18), dec(most)
	whole, rest, ok := market.SumScaled([]math.LegacyDec{one, dec(1e18 - 1)}, []uint64{most, 1})
	require.True(t, ok)
	require.True(t, rest)
	require.Equal(t, uint64(most), whole)
	_, _, ok = market.SumScaled([]math.LegacyDec{one, dec(1e18 - 1), dec(1)}, []uint64{most, 1, 1})
	require.False(t, ok, "2^64 whole units")
	_, _, ok = market.SumScaled([]math.LegacyDec{largest, largest}, []uint64{most, most})
	require.False(t, ok, "beyond 128 bits: what is left of the sum is large too")
	// (2^64 − 1)² + 2 (2^64 − 1) + 1 is 2^128, of which nothing is left.
	_, _, ok = market.SumScaled([]math.LegacyDec{largest, largest, largest, dec(1)}, []uint64{most, 1, 1, 1})
	require.False(t, ok, "2^128")
	_, _, ok = market.SumScaled([]math.LegacyDec{{}}, []uint64{1})
	require.False(t, ok, "no price")
}
