package market_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/testutil/policytest"
)

// market is the rule with the specification's defaults.
func basefeeWith(response market.Response) market.Basefee {
	return market.Basefee{
		Capacity: 2_000_000, Target: dec("0.5"), MaxChange: dec("0.125"),
		Min: dec("0.001"), Max: dec(maxPrice), Response: response,
	}
}

// drawFraction draws a decimal from one unit of the last decimal to 1, that and units of it more often than others.
func drawFraction(t *rapid.T, name string, most int64) math.LegacyDec {
	units := rapid.OneOf(
		rapid.Int64Range(1, most), rapid.SampledFrom([]int64{1, 2, most - 1, most}),
		rapid.SampledFrom([]int64{5e17, 125e15, 333_333_333_333_333_333}),
	)
	return math.LegacyNewDecWithPrec(min(units.Draw(t, name), most), math.LegacyPrecision)
}

// drawMarket draws any rule: bounds that are no bounds, bounds that meet, a target at either end, any largest change.
func drawBasefee(t *rapid.T) market.Basefee {
	low := drawPrice(t, "min")
	return market.Basefee{
		Capacity:  rapid.OneOf(rapid.Uint64Range(1, maxUnits), rapid.Uint64Range(1, 10), rapid.Just(uint64(2_000_000))).Draw(t, "capacity"),
		Target:    drawFraction(t, "target", 1e18-1),
		MaxChange: drawFraction(t, "max change", 1e18),
		Min:       low,
		Max:       math.LegacyMaxDec(low, rapid.OneOf(rapid.Just(dec(maxPrice)), rapid.Custom(func(t *rapid.T) math.LegacyDec { return drawPrice(t, "max") })).Draw(t, "max")),
		Response:  rapid.SampledFrom([]market.Response{market.Clip, market.Linear}).Draw(t, "response"),
	}
}

// drawUse draws cycles: any, none, all, more than there are, and those about the target.
func drawUse(t *rapid.T, name string, b market.Basefee) uint64 {
	target := b.Target.MulInt(math.NewIntFromUint64(b.Capacity)).TruncateInt().Uint64()
	return rapid.OneOf(
		rapid.Uint64Max(b.Capacity), rapid.SampledFrom([]uint64{0, b.Capacity, b.Capacity + 1, 1 << 63, 1<<64 - 1}),
		rapid.SampledFrom([]uint64{target - min(target, 1), target, target + 1}),
	).Draw(t, name)
}

// compareUse tells on which side of the target a use lies, in whole numbers: used × 10^18 against target × capacity.
func compareUse(b market.Basefee, used uint64) int {
	at := math.NewIntFromBigInt(b.Target.BigInt()).Mul(math.NewIntFromUint64(b.Capacity))
	is := math.NewIntFromUint64(min(used, b.Capacity)).Mul(math.NewIntFromBigInt(math.LegacyOneDec().BigInt()))
	switch {
	case is.GT(at):
		return 1
	case is.LT(at):
		return -1
	default:
		return 0
	}
}

// nextProperty holds one step, from any state, to what Basefee promises of it.
func nextProperty(t *rapid.T) {
	b, last := drawBasefee(t), drawPrice(t, "last")
	used := drawUse(t, "used", b)
	next := b.Next(last, market.Use{Size: used})
	if b.MaxFires = rapid.Uint32Max(5).Draw(t, "max fires"); b.MaxFires > 0 {
		// With a cap on fires the fuller of the two counts: one more measure never lowers the basefee.
		fires := rapid.Uint32Max(6).Draw(t, "fires")
		require.True(t, b.Next(last, market.Use{Size: used, Fires: fires}).GTE(next), "a cap on fires lowers it")
		require.Equal(t, next.String(), b.Next(last, market.Use{Size: used}).String(), "no fires, and a cap")
		full := b.Next(last, market.Use{Size: b.Capacity})
		require.Equal(t, full.String(), b.Next(last, market.Use{Size: used, Fires: b.MaxFires}).String(), "all fires")
	}
	b.MaxFires = 0
	require.True(t, next.GTE(b.Min) && next.LTE(b.Max), "%s is out of %s to %s", next, b.Min, b.Max)
	if last.LT(b.Min) || last.GT(b.Max) {
		return
	}

	switch side := compareUse(b, used); {
	case side == 0:
		require.Equal(t, last.String(), next.String(), "it moved at the target")
	case side > 0 && last.LT(b.Max):
		require.True(t, next.GT(last), "%s sticks at a use above the target", last)
	case side < 0 && last.GT(b.Min):
		require.True(t, next.LT(last), "%s sticks at a use below the target", last)
	default:
		require.Equal(t, last.String(), next.String(), "it left its bound, or went the wrong way")
	}
	most := last.Mul(b.MaxChange).Add(math.LegacySmallestDec())
	require.True(t, next.Sub(last).Abs().LTE(most), "from %s to %s is more than %s", last, next, b.MaxChange)

	more := b.Next(last, market.Use{Size: used + rapid.Uint64Max(1<<64-1-used).Draw(t, "more")})
	require.True(t, more.GTE(next), "more use makes it %s instead of %s", more, next)
	pricier := b.Next(math.LegacyMinDec(dec(maxPrice), last.Add(drawPrice(t, "pricier"))), market.Use{Size: used})
	require.True(t, pricier.GTE(next), "a pricier block before makes it %s instead of %s", pricier, next)
}

// Rule: 1.7-basefee-follows-use
func TestBasefeeFollowsTheUse(t *testing.T) { rapid.Check(t, nextProperty) }

func FuzzBasefeeFollowsTheUse(f *testing.F) { f.Fuzz(rapid.MakeFuzz(nextProperty)) }

// responseProperty: a full lane and an empty one move the basefee by the same under both responses, which is the largest
// change if the target lets clip reach it; between them both move it to the same side, and linear by no more wherever the
// whole deviation is worth more than the largest change.
func responseProperty(t *rapid.T) {
	b := drawBasefee(t)
	b.Min, b.Max = math.LegacyZeroDec(), dec(maxPrice)
	last := drawPrice(t, "last")
	one := math.LegacyOneDec()

	b.Response = market.Linear
	raised, lowered := last.MulTruncate(one.Add(b.MaxChange)), last.MulTruncate(one.Sub(b.MaxChange))
	if raised.GT(last) && raised.LT(b.Max) {
		require.Equal(t, raised.String(), b.Next(last, market.Use{Size: b.Capacity}).String(), "a full lane")
	}
	if lowered.LT(last) {
		require.Equal(t, lowered.String(), b.Next(last, market.Use{}).String(), "an empty lane")
	}

	used := drawUse(t, "used", b)
	linear := b.Next(last, market.Use{Size: used})
	b.Response = market.Clip
	clip := b.Next(last, market.Use{Size: used})
	require.Equal(t, clip.Sub(last).IsNegative(), linear.Sub(last).IsNegative(), "one falls")
	require.Equal(t, clip.Sub(last).IsPositive(), linear.Sub(last).IsPositive(), "one rises")
	// The slope of clip is 1 ÷ target; that of linear is max change ÷ room.
	if room := one.Sub(b.Target); b.MaxChange.LTE(room) && b.Target.LTE(room) {
		require.True(t, clip.Sub(last).Abs().GTE(linear.Sub(last).Abs()), "linear moves further than clip")
	}
}

// Rule: 1.7-basefee-follows-use
func TestBasefeeResponses(t *testing.T) { rapid.Check(t, responseProperty) }

func FuzzBasefeeResponses(f *testing.F) { f.Fuzz(rapid.MakeFuzz(responseProperty)) }

// convergenceProperty: the same use, block after block, takes the basefee to its bound on that side and leaves it there, in
// no more blocks than the exponential takes and the units of the last decimal that it goes one by one.
func convergenceProperty(t *rapid.T) {
	b := basefeeWith(rapid.SampledFrom([]market.Response{market.Clip, market.Linear}).Draw(t, "response"))
	b.Min = rapid.SampledFrom([]math.LegacyDec{math.LegacyZeroDec(), math.LegacySmallestDec(), b.Min, math.LegacyOneDec()}).Draw(t, "min")
	basefee := math.LegacyMaxDec(b.Min, drawPrice(t, "start"))
	used := rapid.OneOf(rapid.SampledFrom([]uint64{0, b.Capacity}), rapid.Uint64Max(b.Capacity/4),
		rapid.Uint64Range(b.Capacity-b.Capacity/4, b.Capacity)).Draw(t, "used")
	bound := b.Max
	if used < b.Capacity/2 {
		bound = b.Min
	}
	// Half the largest change a block at least: 120 doublings at 11 blocks each, and 16 units one by one.
	const blocks = 1_400
	for range blocks {
		basefee = b.Next(basefee, market.Use{Size: used})
	}
	require.Equal(t, bound.String(), basefee.String())
	require.Equal(t, bound.String(), b.Next(basefee, market.Use{Size: used}).String(), "it does not stay")
}

func TestBasefeeReachesItsBound(t *testing.T) { rapid.Check(t, convergenceProperty) }

func FuzzBasefeeReachesItsBound(f *testing.F) { f.Fuzz(rapid.MakeFuzz(convergenceProperty)) }

// Rule: 1.7-basefee-follows-use
func TestBasefeeStepByStep(t *testing.T) {
	for name, c := range map[string]struct {
		response market.Response
		last     string
		used     uint64
		want     string
	}{
		"a full lane":                             {market.Clip, "1", 2_000_000, "1.125"},
		"an empty lane":                           {market.Clip, "1", 0, "0.875"},
		"at the target":                           {market.Clip, "1.234567890123456789", 1_000_000, "1.234567890123456789"},
		"a little above, clip's whole deviation":  {market.Clip, "1", 1_100_000, "1.1"},
		"a little above, linear's part of it":     {market.Linear, "1", 1_100_000, "1.0125"},
		"a little below":                          {market.Linear, "1", 900_000, "0.9875"},
		"a quarter above is clip's most":          {market.Clip, "1", 1_250_000, "1.125"},
		"a quarter above is linear's quarter":     {market.Linear, "1", 1_250_000, "1.03125"},
		"one cycle above":                         {market.Clip, "1", 1_000_001, "1.000001"},
		"one cycle below":                         {market.Linear, "1", 999_999, "0.999999875"},
		"the floor under an empty lane":           {market.Clip, "0.001", 0, "0.001"},
		"close to the floor under an empty lane":  {market.Clip, "0.001000000000000001", 0, "0.001"},
		"below the floor, as when it was raised":  {market.Clip, "0.0001", 0, "0.001"},
		"from nothing":                            {market.Clip, "0", 2_000_000, "0.001"},
		"more than the lane holds is a full lane": {market.Clip, "1", 1 << 63, "1.125"},
		"at the top":                              {market.Clip, maxPrice, 2_000_000, maxPrice},
		"close to the top":                        {market.Linear, "999999999999999999.5", 2_000_000, maxPrice},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, dec(c.want).String(), basefeeWith(c.response).Next(dec(c.last), market.Use{Size: c.used}).String())
		})
	}
}

// TestBasefeeDoesNotStickAtTheLastDecimal: where the truncated product is what it was, one unit is what it moves by.
//
// Rule: 1.7-basefee-moves-by-one
func TestBasefeeDoesNotStickAtTheLastDecimal(t *testing.T) {
	b := basefeeWith(market.Clip)
	b.Min = math.LegacyZeroDec()
	unit := math.LegacySmallestDec()
	for _, units := range []int64{0, 1, 2, 7} {
		last := unit.MulInt64(units)
		require.Equal(t, unit.MulInt64(units+1).String(), b.Next(last, market.Use{Size: b.Capacity}).String())
		require.Equal(t, unit.MulInt64(max(units-1, 0)).String(), b.Next(last, market.Use{}).String())
	}
	// A third of the lane is more than the target and the same when it is truncated.
	b.Capacity, b.Target = 3, dec("0.333333333333333333")
	require.Equal(t, "7.000000000000000001", b.Next(dec("7"), market.Use{Size: 1}).String())
}

// basefeeVector is a case of testdata/vectors/basefee.json.
type basefeeVector struct {
	Name      string         `json:"name"`
	Response  string         `json:"response"`
	Capacity  uint64         `json:"capacity"`
	Target    math.LegacyDec `json:"target"`
	MaxChange math.LegacyDec `json:"max_change"`
	Min       math.LegacyDec `json:"min"`
	Max       math.LegacyDec `json:"max"`
	Last      math.LegacyDec `json:"last"`
	Used      uint64         `json:"used"`
	Fires     uint32         `json:"fires"`
	MaxFires  uint32         `json:"max_fires"`
	Next      math.LegacyDec `json:"next"`
}

// Rule: 1.7-basefee-follows-use
func TestBasefeeAgreesWithTheVectors(t *testing.T) {
	responses := map[string]market.Response{"clip": market.Clip, "linear": market.Linear}
	for _, v := range policytest.ReadVectors[basefeeVector](t, "basefee.json") {
		t.Run(v.Name, func(t *testing.T) {
			response, known := responses[v.Response]
			require.True(t, known, v.Response)
			b := market.Basefee{
				Capacity: v.Capacity, MaxFires: v.MaxFires, Target: v.Target, MaxChange: v.MaxChange, Min: v.Min, Max: v.Max, Response: response,
			}
			require.Equal(t, v.Next.String(), b.Next(v.Last, market.Use{Size: v.Used, Fires: v.Fires}).String())
		})
	}
}

func BenchmarkBasefee(b *testing.B) {
	for name, response := range map[string]market.Response{"clip": market.Clip, "linear": market.Linear} {
		b.Run(name, func(b *testing.B) {
			rule, last := basefeeWith(response), dec("0.0123")
			for range b.N {
				rule.Next(last, market.Use{Size: 1_234_567})
			}
		})
	}
}
