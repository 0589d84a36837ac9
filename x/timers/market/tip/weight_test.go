package tip_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market/tip"
	"github.com/cosmos-timers/timers/x/timers/testutil/policytest"
)

func defaultWeights() tip.WeightRule {
	return tip.WeightRule{
		Decay: policytest.Dec("0.2"), Min: policytest.Dec("0.1"), Max: policytest.Dec("1"), Neutral: policytest.Dec("0.5"), Floor: policytest.Dec("0.75"), Inactivity: policytest.Dec("0.2"),
		Shares:     tip.Shares{Tip: policytest.Dec("0.4"), Outcome: policytest.Dec("0.3"), Lateness: policytest.Dec("0.1"), Budget: policytest.Dec("0.2")},
		LateBlocks: 100, StarvationBlocks: 20,
	}
}

func fraction(t *rapid.T, name string) math.LegacyDec {
	return math.LegacyNewDecWithPrec(rapid.Int64Range(0, 1e18).Draw(t, name), math.LegacyPrecision)
}

// between draws a decimal from low to high.
func between(t *rapid.T, name string, low, high math.LegacyDec) math.LegacyDec {
	return low.Add(high.Sub(low).MulTruncate(fraction(t, name)))
}

func drawWeights(t *rapid.T) tip.WeightRule {
	w := defaultWeights()
	w.Decay, w.Inactivity = fraction(t, "decay"), fraction(t, "inactivity")
	w.Min = between(t, "min", policytest.Dec("0.001"), policytest.Dec("1"))
	w.Max = between(t, "max", w.Min, policytest.Dec("1"))
	w.Neutral, w.Floor = between(t, "neutral", w.Min, w.Max), between(t, "floor", w.Min, w.Max)
	parts := []math.LegacyDec{fraction(t, "a"), fraction(t, "b"), fraction(t, "c")}
	slices.SortFunc(parts, func(a, b math.LegacyDec) int { return a.BigInt().Cmp(b.BigInt()) })
	w.Shares = tip.Shares{
		Tip: parts[0], Outcome: parts[1].Sub(parts[0]), Lateness: parts[2].Sub(parts[1]), Budget: policytest.Dec("1").Sub(parts[2]),
	}
	w.LateBlocks, w.StarvationBlocks = rapid.Uint64Range(1, 200).Draw(t, "late"), rapid.Uint64Range(1, 200).Draw(t, "starvation")
	return w
}

// drawStats draws the fires of some blocks, and notes them.
func drawStats(t *rapid.T, w tip.WeightRule) tip.EpochStats {
	o := tip.NoStats()
	for range rapid.IntRange(0, 4).Draw(t, "blocks") {
		for range rapid.IntRange(1, 4).Draw(t, "fires") {
			w.Fire(&o, tip.Fire{
				Tip: policytest.DrawPrice(t, "tip"), P50: policytest.DrawPrice(t, "p50"), Success: rapid.Bool().Draw(t, "success"),
				Late: rapid.Uint64Range(0, 300).Draw(t, "late"),
			})
		}
		w.EndBlock(&o, rapid.Uint64Range(0, 120).Draw(t, "cycles"), 100)
	}
	o.Unfunded = rapid.Uint64Range(0, 3).Draw(t, "unfunded")
	o.Starved = rapid.Bool().Draw(t, "starved")
	return o
}

// TestWeightsStayWithinTheirBounds: whatever happens, over many epochs; and the floor holds after a starvation.
func TestWeightsStayWithinTheirBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWeights(t)
		h := tip.History{Weight: between(t, "weight", policytest.Dec("0"), policytest.Dec("1")), Epoch: 1}
		for range 6 {
			h.Stats = drawStats(t, w)
			score := w.Score(h.Stats)
			require.False(t, score.IsNegative())
			require.True(t, score.LTE(policytest.Dec("1")))
			next := w.WeightIn(h, h.Epoch+1)
			if h.Stats.Starved {
				require.True(t, next.GTE(w.Floor))
			}
			epoch := h.Epoch + rapid.Uint64Range(0, 70).Draw(t, "epochs")
			h.Weight, h.Epoch = w.WeightIn(h, epoch), epoch
			require.True(t, h.Weight.GTE(w.Min) && h.Weight.LTE(w.Max), "%s", h.Weight)
			require.LessOrEqual(t, tip.Units(h.Weight), uint32(tip.WeightUnits))
		}
	})
}

// TestScoreIsMonotoneInEachPart: a better fire never makes the score less.
func TestScoreIsMonotoneInEachPart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWeights(t)
		base := drawStats(t, w)
		base.Fires, base.Blocks = base.Fires+1, base.Blocks+1
		score := func(fire tip.Fire, cycles, unfunded uint64) math.LegacyDec {
			o := base
			o.Fires, o.Blocks = o.Fires-1, o.Blocks-1
			w.Fire(&o, fire)
			w.EndBlock(&o, cycles, 100)
			o.Unfunded += unfunded
			return w.Score(o)
		}
		fire := tip.Fire{Tip: policytest.DrawPrice(t, "tip"), P50: policytest.DrawPrice(t, "p50"), Late: rapid.Uint64Range(0, 300).Draw(t, "late")}
		cycles := rapid.Uint64Range(1, 120).Draw(t, "cycles")
		was := score(fire, cycles, 1)
		pricier, done, later := fire, fire, fire
		pricier.Tip = fire.Tip.Add(policytest.DrawPrice(t, "more"))
		done.Success = true
		later.Late += rapid.Uint64Range(0, 100).Draw(t, "later")
		require.True(t, score(pricier, cycles, 1).GTE(was), "tip")
		require.True(t, score(done, cycles, 1).GTE(was), "outcome")
		require.True(t, score(later, cycles, 1).GTE(was), "lateness")
		require.True(t, score(fire, cycles-1, 1).GTE(was), "budget")
		require.True(t, score(fire, cycles, 0).GTE(was), "deferral for want of funds")
	})
}

// TestInactivityRestoresTheNeutralWeight: from above and from below, never past it, and all the way after
// ForgottenAfter epochs.
func TestInactivityRestoresTheNeutralWeight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWeights(t)
		h := tip.History{Weight: between(t, "weight", w.Min, w.Max), Epoch: 9, Stats: drawStats(t, w)}
		before := w.WeightIn(h, 10)
		for idle := uint64(1); idle <= tip.ForgottenAfter; idle++ {
			now := w.WeightIn(h, 10+idle)
			require.True(t, now.Sub(w.Neutral).Abs().LTE(before.Sub(w.Neutral).Abs()))
			require.False(t, now.Sub(w.Neutral).Mul(before.Sub(w.Neutral)).IsNegative(), "past it")
			before = now
		}
		policytest.RequireDec(t, w.Neutral, before)
		policytest.RequireDec(t, w.Neutral, w.WeightIn(h, 1<<40))
	})
}

func TestAnExampleOfAWeight(t *testing.T) {
	w := defaultWeights()
	o := tip.NoStats()
	// Two fires in one block: the usual tip and success, three times it and failure; 50 and 250 blocks late; half the
	// lane.
	w.Fire(&o, tip.Fire{Tip: policytest.Dec("2"), P50: policytest.Dec("2"), Success: true, Late: 50})
	w.Fire(&o, tip.Fire{Tip: policytest.Dec("6"), P50: policytest.Dec("2"), Late: 250})
	w.EndBlock(&o, 1_000_000, 2_000_000)
	o.Unfunded = 1
	// 0.4 × (0.5 + 0.75) ÷ 2 + 0.3 × (1 + 0.5) ÷ 3 + 0.1 × (0.5 + 1) ÷ 2 + 0.2 × (1 − 0.5)
	policytest.RequireDec(t, policytest.Dec("0.575"), w.Score(o))
	h := tip.History{Weight: policytest.Dec("0.5"), Epoch: 3, Stats: o}
	policytest.RequireDec(t, policytest.Dec("0.5"), w.WeightIn(h, 3), "fixed within the epoch")
	policytest.RequireDec(t, policytest.Dec("0.515"), w.WeightIn(h, 4), "0.8 × 0.5 + 0.2 × 0.575")
	policytest.RequireDec(t, policytest.Dec("0.512"), w.WeightIn(h, 5), "a fifth of the way back")
	h.Stats.Starved = true
	policytest.RequireDec(t, policytest.Dec("0.75"), w.WeightIn(h, 4))
	require.Equal(t, uint32(515_000), tip.Units(policytest.Dec("0.515")))

	nothing := tip.NoStats()
	nothing.Unfunded = 2
	policytest.RequireDec(t, policytest.Dec("0"), w.Score(nothing))
	policytest.RequireDec(t, policytest.Dec("0.4"), w.WeightIn(tip.History{Weight: policytest.Dec("0.5"), Epoch: 3, Stats: nothing}, 4))
}

func TestWhoIsStarved(t *testing.T) {
	w := defaultWeights()
	require.False(t, w.Starved(10, 0, 29))
	require.True(t, w.Starved(10, 0, 30))
	require.False(t, w.Starved(10, 11, 30), "something of its own fired meanwhile")
	require.True(t, w.Starved(10, 11, 31))
	require.False(t, w.Starved(100, 0, 30), "not due yet")
}

// TestWeightsAgreeWithTheVectors: score and weight' of an epoch, and the weights of those that follow without any fire.
func TestWeightsAgreeWithTheVectors(t *testing.T) {
	for _, v := range policytest.ReadVectors[struct {
		Name                     string
		Decay, Inactivity        math.LegacyDec
		Min, Max, Neutral, Floor math.LegacyDec
		Shares                   []math.LegacyDec
		LateBlocks               uint64 `json:"late_blocks"`
		Capacity                 uint64
		Blocks                   []struct {
			Fires  []tip.Fire
			Cycles uint64
		}
		Weight   math.LegacyDec
		Unfunded uint64
		Starved  bool
		Score    math.LegacyDec
		Weights  []math.LegacyDec
	}](t, "tip_weights.json") {
		t.Run(v.Name, func(t *testing.T) {
			w := tip.WeightRule{
				Decay: v.Decay, Inactivity: v.Inactivity, Min: v.Min, Max: v.Max, Neutral: v.Neutral, Floor: v.Floor,
				Shares:     tip.Shares{Tip: v.Shares[0], Outcome: v.Shares[1], Lateness: v.Shares[2], Budget: v.Shares[3]},
				LateBlocks: v.LateBlocks, StarvationBlocks: 1,
			}
			o := tip.NoStats()
			for _, block := range v.Blocks {
				for _, fire := range block.Fires {
					w.Fire(&o, fire)
				}
				w.EndBlock(&o, block.Cycles, v.Capacity)
			}
			o.Unfunded, o.Starved = v.Unfunded, v.Starved
			policytest.RequireDec(t, v.Score, w.Score(o))
			h := tip.History{Weight: v.Weight, Epoch: 7, Stats: o}
			require.Len(t, v.Weights, 6)
			for i, later := range []uint64{0, 1, 2, 10, 63, 64} {
				policytest.RequireDec(t, v.Weights[i], w.WeightIn(h, 8+later), "%d epochs later", later)
			}
		})
	}
}
