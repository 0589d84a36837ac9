package market_test

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/testutil/policytest"
)

func dec(s string) math.LegacyDec { return math.LegacyMustNewDecFromStr(s) }

func rat(d math.LegacyDec) *big.Rat {
	return new(big.Rat).SetFrac(d.BigInt(), math.LegacyOneDec().BigInt())
}

// floor is the whole part of a fraction that is not negative.
func floor(r *big.Rat) *big.Int { return new(big.Int).Quo(r.Num(), r.Denom()) }

// drawMedian draws a median as smoothing leaves it: a number with decimals, and often none.
func drawMedian(t *rapid.T) math.LegacyDec {
	whole := rapid.OneOf(rapid.Uint64Max(20), rapid.Uint64()).Draw(t, "median")
	parts := rapid.OneOf(rapid.Just(uint64(0)), rapid.Uint64Max(3), rapid.Uint64Max(1e18-1)).Draw(t, "median parts")
	return math.LegacyNewDecFromInt(math.NewIntFromUint64(whole)).
		Add(math.LegacyNewDecFromIntWithPrec(math.NewIntFromUint64(parts), math.LegacyPrecision))
}

// weightProperty: the weight is the formula's in exact fractions, rounded down once; who fires more never weighs more.
func weightProperty(t *rapid.T) {
	b := market.WeightBounds{Min: rapid.OneOf(rapid.Just(uint32(16)), rapid.Uint32Max(64)).Draw(t, "min")}
	b.Max = b.Min + rapid.OneOf(rapid.Just(uint32(16)), rapid.Uint32Max(200)).Draw(t, "max beyond min")
	median := drawMedian(t)
	about := math.LegacyMaxDec(median, math.LegacyOneDec()).MulInt64(3).Ceil().TruncateInt()
	draw := []*rapid.Generator[uint64]{rapid.Uint64(), rapid.Uint64Max(10)}
	if about.IsUint64() {
		draw = append(draw, rapid.Uint64Max(about.Uint64()))
	}
	recent := rapid.OneOf(draw...).Draw(t, "recent")

	divisor := rat(median)
	if divisor.Cmp(big.NewRat(1, 1)) < 0 {
		divisor.SetInt64(1)
	}
	want := new(big.Rat).Quo(new(big.Rat).SetInt(new(big.Int).SetUint64(recent)), divisor)
	want.Sub(big.NewRat(int64(b.Max), market.OneWeight), want)
	for _, bound := range []struct {
		edge *big.Rat
		side int
	}{{big.NewRat(int64(b.Min), market.OneWeight), -1}, {big.NewRat(int64(b.Max), market.OneWeight), 1}} {
		if want.Cmp(bound.edge) == bound.side {
			want = bound.edge
		}
	}
	sixteenths := floor(new(big.Rat).Mul(want, big.NewRat(market.OneWeight, 1)))
	weight := b.Weight(recent, median)
	require.Equal(t, sixteenths.String(), new(big.Int).SetUint64(uint64(weight)).String())

	more := b.Weight(recent+rapid.Uint64Max(1<<64-1-recent).Draw(t, "more fires"), median)
	require.LessOrEqual(t, more, weight, "who fires more weighs more")
	higher := b.Weight(recent, median.Add(drawMedian(t)))
	require.GreaterOrEqual(t, higher, weight, "among busier ones it weighs less")
	require.Equal(t, b.Max, b.Weight(0, median), "who did not fire")
}

// Rule: 1.9-weight
func TestWeightIsTheFormulas(t *testing.T) { rapid.Check(t, weightProperty) }

func FuzzWeightIsTheFormulas(f *testing.F) { f.Fuzz(rapid.MakeFuzz(weightProperty)) }

func TestWeightsAgreeWithTheVectors(t *testing.T) {
	for _, v := range policytest.ReadVectors[struct {
		Name     string
		Recent   uint64
		Median   math.LegacyDec
		Min, Max uint32
		Weight   uint32
	}](t, "weights.json") {
		t.Run(v.Name, func(t *testing.T) {
			require.Equal(t, v.Weight, market.WeightBounds{Min: v.Min, Max: v.Max}.Weight(v.Recent, v.Median))
		})
	}
}

func TestWeightsInSixteenths(t *testing.T) {
	for weight, want := range map[string]uint32{
		"0": 0, "0.062499999999999999": 0, "0.0625": 1, "1": 16, "1.999999999999999999": 31, "2": 32, "4095.9375": 65_535,
	} {
		require.Equal(t, want, market.WeightInSixteenths(dec(weight)), weight)
	}
	b := market.WeightBounds{Min: 16, Max: 32}
	for name, c := range map[string]struct {
		recent uint64
		median string
		want   uint32
	}{
		"idle":                               {0, "5", 32},
		"idle among the idle":                {0, "0", 32},
		"a first fire among the idle":        {1, "0", 16},
		"half the median":                    {4, "8", 24},
		"a quarter of it":                    {2, "8", 28},
		"the median":                         {8, "8", 16},
		"twice the median":                   {16, "8", 16},
		"rounded down":                       {1, "3", 26},
		"a fire among very busy ones counts": {1, "1000000", 31},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, b.Weight(c.recent, dec(c.median))) })
	}
}

// smoothProperty: the smoothed median is α × median + (1 − α) × before but for the truncation of the products, and lies
// between the two.
func smoothProperty(t *rapid.T) {
	alpha := math.LegacyNewDecWithPrec(rapid.OneOf(rapid.Int64Range(1, 1e18), rapid.SampledFrom([]int64{1, 1e17, 5e17, 1e18})).Draw(t, "alpha"), math.LegacyPrecision)
	median, before := rapid.OneOf(rapid.Uint64Max(20), rapid.Uint64()).Draw(t, "now"), drawMedian(t)
	after := market.SmoothMedian(alpha, median, before)

	now := new(big.Rat).SetInt(new(big.Int).SetUint64(median))
	rest := new(big.Rat).Sub(big.NewRat(1, 1), rat(alpha))
	exact := new(big.Rat).Add(new(big.Rat).Mul(now, rat(alpha)), new(big.Rat).Mul(rat(before), rest))
	short := new(big.Rat).Sub(exact, rat(after))
	require.GreaterOrEqual(t, short.Sign(), 0, "above the formula")
	require.Negative(t, short.Cmp(rat(math.LegacySmallestDec())), "a unit or more below the formula")
	if alpha.Equal(math.LegacyOneDec()) {
		require.Zero(t, now.Cmp(rat(after)), "1 smooths nothing")
	}
	unit := math.LegacySmallestDec()
	decNow := math.LegacyNewDecFromInt(math.NewIntFromUint64(median))
	require.True(t, after.GTE(math.LegacyMinDec(decNow, before).Sub(unit)) && after.LTE(math.LegacyMaxDec(decNow, before)), "not between")
}

// Rule: 1.9-median
func TestSmoothingIsTheFormulas(t *testing.T) { rapid.Check(t, smoothProperty) }

func FuzzSmoothingIsTheFormulas(f *testing.F) { f.Fuzz(rapid.MakeFuzz(smoothProperty)) }

func TestSmoothingAgreesWithTheVectors(t *testing.T) {
	for _, v := range policytest.ReadVectors[struct {
		Name          string
		Alpha, Before math.LegacyDec
		Median        uint64
		After         math.LegacyDec
	}](t, "smoothing.json") {
		t.Run(v.Name, func(t *testing.T) {
			require.Equal(t, v.After.String(), market.SmoothMedian(v.Alpha, v.Median, v.Before).String())
		})
	}
}

func BenchmarkWeight(b *testing.B) {
	bounds, median := market.WeightBounds{Min: 16, Max: 32}, dec("7.25")
	for range b.N {
		bounds.Weight(5, median)
	}
}
