package policy_test

import (
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/policy"
)

func requireDec(t require.TestingT, want, got math.LegacyDec, about ...any) {
	require.Equal(t, want.String(), got.String(), about...)
}

func defaultTip() policy.Tip { return policy.Tip{Capacity: 2_000_000, Tiers: defaultTiers()} }

func tipPrices(cycle, p50 string) policy.Prices {
	return policy.Prices{Cycle: dec(cycle), Cell: dec("0.03"), Lane: dec(cycle), P50: dec(p50)}
}

func TestTipPays(t *testing.T) {
	p := defaultTip()
	requireDec(t, dec("7"), p.LaneBasefee(dec("7"), policy.Last{Basefee: dec("3"), Cycles: 2_000_000}), "the chain's, whatever the use")
	require.False(t, p.Weighs())
	require.False(t, p.Indexed())
	for name, c := range map[string]struct {
		ask       policy.Ask
		cycle     string
		p50, want string // want is empty if it is priced out
	}{
		"the whole max tip":             {policy.StatedAsk(dec("3"), dec("0.5")), "1", "0", "0.5"},
		"what the max fee leaves":       {policy.StatedAsk(dec("1.2"), dec("0.5")), "1", "0", "0.2"},
		"a max fee that is just enough": {policy.StatedAsk(dec("1"), dec("0.5")), "1", "9", "0"},
		"a unit less":                   {policy.StatedAsk(dec("0.999999999999999999"), dec("0.5")), "1", "9", ""},
		"nothing stated":                {policy.Ask{}, "1", "0.3", "0.3"},
		"nothing stated, dear times":    {policy.Ask{}, "1", "5", "1"},
		"fast":                          {policy.Ask{Kind: policy.Fast}, "1", "5", "7.5"},
		"fast, a chain that is free":    {policy.Ask{Kind: policy.Fast}, "0", "5", "0"},
	} {
		price, willing := p.Price(tipPrices(c.cycle, c.p50), policy.Candidate{Ask: c.ask})
		require.Equal(t, c.want != "", willing, name)
		if willing {
			requireDec(t, dec(c.want), price.Priority, name)
			requireDec(t, dec(c.cycle), price.Basefee, "%s: the lane's is not charged beside it", name)
			requireDec(t, dec("0.03"), price.Cell, name)
		}
	}
}

// TestTipOrdersLikeTheDumbModel: repeatedly take the best of what is left.
func TestTipOrdersLikeTheDumbModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := defaultTip()
		prices := policy.Prices{Cycle: drawPrice(t, "cycle"), P50: drawPrice(t, "p50")}
		prices.Lane = prices.Cycle
		candidates := make([]policy.Candidate, rapid.IntRange(0, 30).Draw(t, "candidates"))
		for i := range candidates {
			ask := policy.Ask{Kind: policy.Kind(rapid.IntRange(0, 4).Draw(t, "kind"))}
			if rapid.Bool().Draw(t, "stated") {
				ask = policy.StatedAsk(drawPrice(t, "fee", prices.Cycle), drawPrice(t, "tip", prices.P50))
			}
			candidates[i] = policy.Candidate{
				Due: rapid.Uint64Range(0, 3).Draw(t, "due"), Seq: uint64(i * 7 % 31), Ask: ask,
				Weight: rapid.Uint32Range(0, 3).Draw(t, "weight"), Unfunded: rapid.IntRange(0, 9).Draw(t, "unfunded") == 0,
			}
		}
		better := func(a, b policy.Candidate) bool {
			tipA, _ := p.Effective(prices, a.Ask)
			tipB, _ := p.Effective(prices, b.Ask)
			switch {
			case !tipA.Equal(tipB):
				return tipA.GT(tipB)
			case a.Weight != b.Weight:
				return a.Weight > b.Weight
			case a.Due != b.Due:
				return a.Due < b.Due
			default:
				return a.Seq < b.Seq
			}
		}
		var want []int
		left := map[int]bool{}
		for i, c := range candidates {
			bid := p.Bid(prices, c.Ask)
			left[i] = !c.Unfunded && bid.MaxFee.GTE(prices.Cycle)
		}
		for range candidates {
			best := -1
			for i := range candidates {
				if left[i] && (best < 0 || better(candidates[i], candidates[best])) {
					best = i
				}
			}
			if best < 0 {
				break
			}
			left[best] = false
			want = append(want, best)
		}
		require.Equal(t, len(want), len(p.Order(prices, candidates)))
		if len(want) > 0 {
			require.Equal(t, want, p.Order(prices, candidates))
		}
	})
}

func TestSlicesAreInProportionToWeights(t *testing.T) {
	candidates := []policy.Candidate{
		{Actor: "a", Weight: 500_000},
		{Actor: "b", Weight: 250_000},
		{Actor: "a", Weight: 500_000},
		{Actor: "c", Weight: 250_000},
		{Actor: "not in order", Weight: 1_000_000},
	}
	s := policy.NewSlices(1_000_000, candidates, []int{2, 1, 0, 3})
	require.True(t, s.Admits("a", 1<<40), "the first fire always is")
	s.Spend("a", 100_000)
	require.True(t, s.Admits("a", 400_000))
	require.False(t, s.Admits("a", 400_001))
	s.Spend("b", 250_000)
	require.False(t, s.Admits("b", 1))
	require.True(t, s.Admits("c", 1<<40))
	require.True(t, s.Admits("stranger", 1<<40), "who has no slice is not held to one")
	s.Spend("stranger", 5)
	var none policy.Slices
	none.Spend("a", 5)
	require.True(t, none.Admits("a", 1<<40))
	require.Empty(t, policy.NewSlices(1_000_000, candidates, nil))
	weightless := policy.NewSlices(1_000_000, []policy.Candidate{{Actor: "a"}}, []int{0})
	weightless.Spend("a", 0)
	require.False(t, weightless.Admits("a", 1))
}

// TestSlicesSumUpToTheLane: no more than the lane, and no less than it but for what rounding loses; each is exact.
func TestSlicesSumUpToTheLane(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity := rapid.Uint64Range(1, 1<<50).Draw(t, "capacity")
		weights := map[string]uint32{}
		var candidates []policy.Candidate
		var order []int
		for i := range rapid.IntRange(1, 40).Draw(t, "candidates") {
			actor := fmt.Sprint(rapid.IntRange(0, 9).Draw(t, "actor"))
			if _, known := weights[actor]; !known {
				weights[actor] = rapid.Uint32Range(1, policy.WeightUnits).Draw(t, "weight")
			}
			candidates = append(candidates, policy.Candidate{Actor: actor, Weight: weights[actor]})
			order = append(order, i)
		}
		total := new(big.Int)
		for _, weight := range weights {
			total.Add(total, big.NewInt(int64(weight)))
		}
		s := policy.NewSlices(capacity, candidates, order)
		sum := uint64(0)
		for actor, weight := range weights {
			want := new(big.Int).Mul(new(big.Int).SetUint64(capacity), big.NewInt(int64(weight)))
			want.Quo(want, total)
			s.Spend(actor, 0)
			require.True(t, s.Admits(actor, want.Uint64()))
			require.False(t, s.Admits(actor, want.Uint64()+1))
			sum += want.Uint64()
		}
		require.LessOrEqual(t, sum, capacity)
		require.Greater(t, sum+uint64(len(weights)), capacity)
	})
}

func defaultWeighing() policy.Weighing {
	return policy.Weighing{
		Decay: dec("0.2"), Min: dec("0.1"), Max: dec("1"), Neutral: dec("0.5"), Floor: dec("0.75"), Inactivity: dec("0.2"),
		Shares:     policy.Shares{Tip: dec("0.4"), Outcome: dec("0.3"), Lateness: dec("0.1"), Budget: dec("0.2")},
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

func drawWeighing(t *rapid.T) policy.Weighing {
	w := defaultWeighing()
	w.Decay, w.Inactivity = fraction(t, "decay"), fraction(t, "inactivity")
	w.Min = between(t, "min", dec("0.001"), dec("1"))
	w.Max = between(t, "max", w.Min, dec("1"))
	w.Neutral, w.Floor = between(t, "neutral", w.Min, w.Max), between(t, "floor", w.Min, w.Max)
	parts := []math.LegacyDec{fraction(t, "a"), fraction(t, "b"), fraction(t, "c")}
	slices.SortFunc(parts, func(a, b math.LegacyDec) int { return a.BigInt().Cmp(b.BigInt()) })
	w.Shares = policy.Shares{
		Tip: parts[0], Outcome: parts[1].Sub(parts[0]), Lateness: parts[2].Sub(parts[1]), Budget: dec("1").Sub(parts[2]),
	}
	w.LateBlocks, w.StarvationBlocks = rapid.Uint64Range(1, 200).Draw(t, "late"), rapid.Uint64Range(1, 200).Draw(t, "starvation")
	return w
}

// drawObserved draws the fires of some blocks, and notes them.
func drawObserved(t *rapid.T, w policy.Weighing) policy.Observed {
	o := policy.NothingObserved()
	for range rapid.IntRange(0, 4).Draw(t, "blocks") {
		for range rapid.IntRange(1, 4).Draw(t, "fires") {
			w.Fire(&o, policy.Fire{
				Tip: drawPrice(t, "tip"), P50: drawPrice(t, "p50"), Success: rapid.Bool().Draw(t, "success"),
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
		w := drawWeighing(t)
		h := policy.History{Weight: between(t, "weight", dec("0"), dec("1")), Epoch: 1}
		for range 6 {
			h.Observed = drawObserved(t, w)
			score := w.Score(h.Observed)
			require.False(t, score.IsNegative())
			require.True(t, score.LTE(dec("1")))
			next := w.WeightIn(h, h.Epoch+1)
			if h.Observed.Starved {
				require.True(t, next.GTE(w.Floor))
			}
			epoch := h.Epoch + rapid.Uint64Range(0, 70).Draw(t, "epochs")
			h.Weight, h.Epoch = w.WeightIn(h, epoch), epoch
			require.True(t, h.Weight.GTE(w.Min) && h.Weight.LTE(w.Max), "%s", h.Weight)
			require.LessOrEqual(t, policy.Units(h.Weight), uint32(policy.WeightUnits))
		}
	})
}

// TestScoresGrowWithEachPart: a better fire never makes the score less.
func TestScoresGrowWithEachPart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWeighing(t)
		base := drawObserved(t, w)
		base.Fires, base.Blocks = base.Fires+1, base.Blocks+1
		score := func(fire policy.Fire, cycles, unfunded uint64) math.LegacyDec {
			o := base
			o.Fires, o.Blocks = o.Fires-1, o.Blocks-1
			w.Fire(&o, fire)
			w.EndBlock(&o, cycles, 100)
			o.Unfunded += unfunded
			return w.Score(o)
		}
		fire := policy.Fire{Tip: drawPrice(t, "tip"), P50: drawPrice(t, "p50"), Late: rapid.Uint64Range(0, 300).Draw(t, "late")}
		cycles := rapid.Uint64Range(1, 120).Draw(t, "cycles")
		was := score(fire, cycles, 1)
		dearer, done, later := fire, fire, fire
		dearer.Tip = fire.Tip.Add(drawPrice(t, "more"))
		done.Success = true
		later.Late += rapid.Uint64Range(0, 100).Draw(t, "later")
		require.True(t, score(dearer, cycles, 1).GTE(was), "tip")
		require.True(t, score(done, cycles, 1).GTE(was), "outcome")
		require.True(t, score(later, cycles, 1).GTE(was), "lateness")
		require.True(t, score(fire, cycles-1, 1).GTE(was), "budget")
		require.True(t, score(fire, cycles, 0).GTE(was), "deferral for want of funds")
	})
}

// TestInactivityBringsBackToNeutral: from above and from below, never past it, and all the way after ForgottenAfter epochs.
func TestInactivityBringsBackToNeutral(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWeighing(t)
		h := policy.History{Weight: between(t, "weight", w.Min, w.Max), Epoch: 9, Observed: drawObserved(t, w)}
		before := w.WeightIn(h, 10)
		for idle := uint64(1); idle <= policy.ForgottenAfter; idle++ {
			now := w.WeightIn(h, 10+idle)
			require.True(t, now.Sub(w.Neutral).Abs().LTE(before.Sub(w.Neutral).Abs()))
			require.False(t, now.Sub(w.Neutral).Mul(before.Sub(w.Neutral)).IsNegative(), "past it")
			before = now
		}
		requireDec(t, w.Neutral, before)
		requireDec(t, w.Neutral, w.WeightIn(h, 1<<40))
	})
}

func TestAnExampleOfAWeight(t *testing.T) {
	w := defaultWeighing()
	o := policy.NothingObserved()
	// Two fires in one block: the usual tip and success, three times it and failure; 50 and 250 blocks late; half the lane.
	w.Fire(&o, policy.Fire{Tip: dec("2"), P50: dec("2"), Success: true, Late: 50})
	w.Fire(&o, policy.Fire{Tip: dec("6"), P50: dec("2"), Late: 250})
	w.EndBlock(&o, 1_000_000, 2_000_000)
	o.Unfunded = 1
	// 0.4 × (0.5 + 0.75) ÷ 2 + 0.3 × (1 + 0.5) ÷ 3 + 0.1 × (0.5 + 1) ÷ 2 + 0.2 × (1 − 0.5)
	requireDec(t, dec("0.575"), w.Score(o))
	h := policy.History{Weight: dec("0.5"), Epoch: 3, Observed: o}
	requireDec(t, dec("0.5"), w.WeightIn(h, 3), "fixed within the epoch")
	requireDec(t, dec("0.515"), w.WeightIn(h, 4), "0.8 × 0.5 + 0.2 × 0.575")
	requireDec(t, dec("0.512"), w.WeightIn(h, 5), "a fifth of the way back")
	h.Observed.Starved = true
	requireDec(t, dec("0.75"), w.WeightIn(h, 4))
	require.Equal(t, uint32(515_000), policy.Units(dec("0.515")))

	nothing := policy.NothingObserved()
	nothing.Unfunded = 2
	requireDec(t, dec("0"), w.Score(nothing))
	requireDec(t, dec("0.4"), w.WeightIn(policy.History{Weight: dec("0.5"), Epoch: 3, Observed: nothing}, 4))
}

func TestWhoIsStarved(t *testing.T) {
	w := defaultWeighing()
	require.False(t, w.Starved(10, 0, 29))
	require.True(t, w.Starved(10, 0, 30))
	require.False(t, w.Starved(10, 11, 30), "something of its own fired meanwhile")
	require.True(t, w.Starved(10, 11, 31))
	require.False(t, w.Starved(100, 0, 30), "not due yet")
}

// TestWeightsAgreeWithTheVectors: score and weight' of an epoch, and the weights of those that follow without any fire.
func TestWeightsAgreeWithTheVectors(t *testing.T) {
	for _, v := range readVectors[struct {
		Name                     string
		Decay, Inactivity        math.LegacyDec
		Min, Max, Neutral, Floor math.LegacyDec
		Shares                   []math.LegacyDec
		LateBlocks               uint64 `json:"late_blocks"`
		Capacity                 uint64
		Blocks                   []struct {
			Fires  []policy.Fire
			Cycles uint64
		}
		Weight   math.LegacyDec
		Unfunded uint64
		Starved  bool
		Score    math.LegacyDec
		Weights  []math.LegacyDec
	}](t, "tip_weights.json") {
		t.Run(v.Name, func(t *testing.T) {
			w := policy.Weighing{
				Decay: v.Decay, Inactivity: v.Inactivity, Min: v.Min, Max: v.Max, Neutral: v.Neutral, Floor: v.Floor,
				Shares:     policy.Shares{Tip: v.Shares[0], Outcome: v.Shares[1], Lateness: v.Shares[2], Budget: v.Shares[3]},
				LateBlocks: v.LateBlocks, StarvationBlocks: 1,
			}
			o := policy.NothingObserved()
			for _, block := range v.Blocks {
				for _, fire := range block.Fires {
					w.Fire(&o, fire)
				}
				w.EndBlock(&o, block.Cycles, v.Capacity)
			}
			o.Unfunded, o.Starved = v.Unfunded, v.Starved
			requireDec(t, v.Score, w.Score(o))
			h := policy.History{Weight: v.Weight, Epoch: 7, Observed: o}
			require.Len(t, v.Weights, 6)
			for i, later := range []uint64{0, 1, 2, 10, 63, 64} {
				requireDec(t, v.Weights[i], w.WeightIn(h, 8+later), "%d epochs later", later)
			}
		})
	}
}
