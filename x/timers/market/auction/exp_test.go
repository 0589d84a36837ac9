package auction_test

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market/auction"
	"github.com/cosmos-timers/timers/x/timers/testutil/policytest"
)

func TestExpAgreesWithItsVectors(t *testing.T) {
	for _, v := range policytest.ReadVectors[struct{ X, Exp math.LegacyDec }](t, "exp.json") {
		require.Equal(t, v.Exp.String(), auction.Exp(v.X).String(), "e^%s", v.X)
	}
}

func drawExponent(t *rapid.T) math.LegacyDec {
	most := rapid.SampledFrom([]int64{1, 1_000, 1e18 - 1}).Draw(t, "of")
	whole := rapid.Int64Range(0, 128).Draw(t, "whole")
	return math.LegacyNewDec(whole).Add(math.LegacyNewDecWithPrec(rapid.Int64Range(0, most).Draw(t, "rest"), math.LegacyPrecision))
}

// TestExpIsMonotone: it does not fall as its argument grows by any step, and is constant above MaxExponent.
func TestExpIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawExponent(t)
		y := x.Add(rapid.OneOf(rapid.Just(math.LegacySmallestDec()), rapid.Custom(drawExponent)).Draw(t, "step"))
		require.True(t, auction.Exp(x).LTE(auction.Exp(y)), "e^%s is %s, e^%s is %s", x, auction.Exp(x), y, auction.Exp(y))
	})
	largest := auction.Exp(math.LegacyNewDec(auction.MaxExponent))
	require.Equal(t, largest.String(), auction.Exp(policytest.Dec("1000000000000000000")).String())
	// Beyond the largest bid, whatever the gas limits.
	require.Equal(t, 1, largest.TruncateInt().BigInt().Cmp(new(big.Int).Lsh(big.NewInt(1), 96+50)))
}

// TestExpIsAccurate against the series in fractions, summed up until what is left is below 10^-40: never above e^x,
// less than 1.001 units of the 18th decimal below it.
func TestExpIsAccurate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawExponent(t)
		if x.GT(math.LegacyNewDec(auction.MaxExponent)) {
			return
		}
		least, most := seriesBounds(x)
		got := new(big.Rat).SetFrac(auction.Exp(x).BigInt(), math.LegacyOneDec().BigInt())
		require.LessOrEqual(t, got.Cmp(most), 0)
		off := new(big.Rat).Quo(big.NewRat(1_001, 1_000), big.NewRat(1e18, 1))
		require.Positive(t, off.Add(got, off).Cmp(least))
	})
}

// seriesBounds are fractions below and above e^x, 10^-40 apart or less.
func seriesBounds(x math.LegacyDec) (least, most *big.Rat) {
	// Numbers of 10^-200: terms are rounded down, and so is their sum, by less than 10^-190 in all.
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(200), nil)
	fixed := new(big.Int).Mul(x.BigInt(), new(big.Int).Quo(scale, math.LegacyOneDec().BigInt()))
	term, sum := new(big.Int).Set(scale), new(big.Int).Set(scale)
	for k := int64(1); term.Sign() > 0; k++ {
		term.Mul(term, fixed).Quo(term, scale).Quo(term, big.NewInt(k))
		sum.Add(sum, term)
	}
	least = new(big.Rat).SetFrac(sum, scale)
	gap := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(40), nil))
	return least, new(big.Rat).Add(least, gap)
}
