package policy_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/lane"
	"github.com/cosmos-timers/timers/x/timers/policy"
)

// maxPrice is the largest price that a config and a bid admit.
const maxPrice = "1000000000000000000"

func dec(s string) math.LegacyDec { return math.LegacyMustNewDecFromStr(s) }

func defaultTiers() policy.Tiers {
	return policy.Tiers{Economy: dec("0.8"), Standard: dec("1"), Fast: dec("1.5"), Urgent: dec("2.5")}
}

func defaultMarket() policy.EIP1559 {
	return policy.EIP1559{
		Basefee: lane.Basefee{
			Capacity: 2_000_000, Target: dec("0.5"), MaxChange: dec("0.125"), Min: dec("0.001"), Max: dec(maxPrice),
		},
		Multiplier: math.LegacyOneDec(), Tiers: defaultTiers(),
	}
}

// drawPrice draws a price that a config admits, often one that is small, none, or one that was drawn before.
func drawPrice(t *rapid.T, name string, near ...math.LegacyDec) math.LegacyDec {
	most := dec(maxPrice)
	choices := []*rapid.Generator[math.LegacyDec]{
		rapid.Custom(func(t *rapid.T) math.LegacyDec {
			return math.LegacyNewDecWithPrec(rapid.Int64Range(0, 12).Draw(t, "units"), math.LegacyPrecision)
		}),
		rapid.Custom(func(t *rapid.T) math.LegacyDec {
			whole := math.NewIntFromUint64(rapid.Uint64Max(1e18).Draw(t, "whole"))
			parts := math.NewIntFromUint64(rapid.Uint64Max(1e18-1).Draw(t, "parts"))
			return math.LegacyMinDec(most, math.LegacyNewDecFromInt(whole).Add(math.LegacyNewDecFromIntWithPrec(parts, math.LegacyPrecision)))
		}),
		rapid.Custom(func(t *rapid.T) math.LegacyDec {
			return math.LegacyNewDecWithPrec(rapid.Int64Range(0, 40).Draw(t, "thousandths"), 3)
		}),
		rapid.Just(most),
	}
	for _, price := range near {
		choices = append(choices, rapid.Custom(func(t *rapid.T) math.LegacyDec {
			off := math.LegacyNewDecWithPrec(rapid.Int64Range(-2, 2).Draw(t, "off"), math.LegacyPrecision)
			return math.LegacyMinDec(most, math.LegacyMaxDec(math.LegacyZeroDec(), price.Add(off)))
		}))
	}
	return rapid.OneOf(choices...).Draw(t, name)
}

// drawMarket draws a policy: multipliers of the lane's fee from 0 to 2, tiers up to the largest price.
func drawMarket(t *rapid.T) policy.EIP1559 {
	e := defaultMarket()
	e.Multiplier = rapid.OneOf(
		rapid.SampledFrom([]math.LegacyDec{dec("0"), dec("0.8"), dec("1"), dec("2"), dec("1.999999999999999999")}),
		rapid.Custom(func(t *rapid.T) math.LegacyDec {
			return math.LegacyNewDecWithPrec(rapid.Int64Range(0, 2e18).Draw(t, "units"), math.LegacyPrecision)
		}),
	).Draw(t, "multiplier")
	if rapid.Bool().Draw(t, "other tiers") {
		e.Tiers = policy.Tiers{
			Economy: drawPrice(t, "economy"), Standard: drawPrice(t, "standard"), Fast: drawPrice(t, "fast"), Urgent: drawPrice(t, "urgent"),
		}
	}
	return e
}

func drawPrices(t *rapid.T) policy.Prices {
	return policy.Prices{Cycle: drawPrice(t, "cycle"), Cell: drawPrice(t, "cell"), Lane: drawPrice(t, "lane"), P50: drawPrice(t, "p50")}
}

// drawAsk draws an ask of any kind; stated prices often lie about those of the lane.
func drawAsk(t *rapid.T, fee math.LegacyDec) policy.Ask {
	kind := policy.Kind(rapid.IntRange(int(policy.Estimated), int(policy.Stated)+4).Draw(t, "kind"))
	if kind < policy.Stated {
		return policy.Ask{Kind: kind}
	}
	maxFee := drawPrice(t, "max fee", fee)
	return policy.StatedAsk(maxFee, drawPrice(t, "max priority", maxFee, math.LegacyMaxDec(math.LegacyZeroDec(), maxFee.Sub(fee))))
}

// drawAsking draws candidates as drawCandidates does, with asks, and weights in the bounds that a config admits.
func drawAsking(t *rapid.T, fee math.LegacyDec) []policy.Candidate {
	candidates := drawCandidates(t)
	for i := range candidates {
		candidates[i].Ask = drawAsk(t, fee)
		candidates[i].Weight = rapid.OneOf(rapid.Uint32Range(16, 32), rapid.SampledFrom([]uint32{1, 16, 1<<16 - 1})).Draw(t, "weight")
	}
	return candidates
}

// The model reckons in fractions, and truncates only where the chain does.

func rat(d math.LegacyDec) *big.Rat {
	return new(big.Rat).SetFrac(d.BigInt(), math.LegacyOneDec().BigInt())
}

// truncated cuts a fraction off at 18 decimals.
func truncated(r *big.Rat) *big.Rat {
	one := math.LegacyOneDec().BigInt()
	return new(big.Rat).SetFrac(new(big.Int).Quo(new(big.Int).Mul(r.Num(), one), r.Denom()), one)
}

func modelFee(e policy.EIP1559, prices policy.Prices) *big.Rat {
	return truncated(new(big.Rat).Mul(rat(prices.Lane), rat(e.Multiplier)))
}

func modelBid(e policy.EIP1559, prices policy.Prices, ask policy.Ask) (fee, tip *big.Rat) {
	double := new(big.Rat).Add(rat(prices.Lane), rat(prices.Lane))
	switch ask.Kind {
	case policy.Stated:
		return rat(ask.Static.MaxFee), rat(ask.Static.MaxPriority)
	case policy.Estimated:
		return double, rat(prices.P50)
	default:
	}
	multiplier := []math.LegacyDec{e.Tiers.Economy, e.Tiers.Standard, e.Tiers.Fast, e.Tiers.Urgent}[ask.Kind-policy.Economy]
	tip = truncated(new(big.Rat).Mul(rat(prices.P50), rat(multiplier)))
	if most := new(big.Rat).Mul(rat(prices.Lane), big.NewRat(1_000, 1)); tip.Cmp(most) > 0 {
		tip = most
	}
	return double.Add(double, tip), tip
}

// modelPriority is nil for an ask that is priced out.
func modelPriority(e policy.EIP1559, prices policy.Prices, ask policy.Ask) *big.Rat {
	maxFee, tip := modelBid(e, prices, ask)
	fee := modelFee(e, prices)
	if maxFee.Cmp(fee) < 0 {
		return nil
	}
	if left := new(big.Rat).Sub(maxFee, fee); left.Cmp(tip) < 0 {
		return left
	}
	return tip
}

// bidProperty: bids and tips are those of the model, never negative, and no tip takes a fire above its owner's max fee.
func bidProperty(t *rapid.T) {
	e, prices := drawMarket(t), drawPrices(t)
	require.Equal(t, modelFee(e, prices).String(), rat(e.Fee(prices)).String(), "fee")
	ask := drawAsk(t, e.Fee(prices))
	before := fmt.Sprint(ask, prices, e)

	bid := e.Bid(prices, ask)
	wantFee, wantTip := modelBid(e, prices, ask)
	require.Equal(t, wantFee.String(), rat(bid.MaxFee).String(), "max fee")
	require.Equal(t, wantTip.String(), rat(bid.MaxPriority).String(), "max priority")

	priority, fires := e.Priority(prices, ask)
	price, priceFires := e.Price(prices, policy.Candidate{Ask: ask})
	require.Equal(t, fires, priceFires)
	want := modelPriority(e, prices, ask)
	require.Equal(t, bid.MaxFee.GTE(e.Fee(prices)), fires, "priced out")
	require.Equal(t, want != nil, fires, "priced out, in fractions")
	if fires {
		require.Equal(t, want.String(), rat(priority).String(), "priority")
		require.True(t, priority.Add(e.Fee(prices)).LTE(bid.MaxFee), "it pays more than its max fee")
	}
	require.False(t, priority.IsNegative())
	require.True(t, priority.LTE(bid.MaxPriority), "it tips more than it said")
	require.Equal(t, prices.Cycle.Add(e.Fee(prices)).String(), price.Basefee.String(), "basefee")
	require.Equal(t, priority.String(), price.Priority.String())
	require.Equal(t, prices.Cell.String(), price.Cell.String())
	require.Equal(t, before, fmt.Sprint(ask, prices, e), "what was handed in was changed")
	if ask.Kind != policy.Stated {
		require.True(t, fires, "an ask without own prices is priced out at a multiplier of %s", e.Multiplier)
	}
}

func TestBidsAreThoseOfTheModel(t *testing.T) { rapid.Check(t, bidProperty) }

func FuzzBidsAreThoseOfTheModel(f *testing.F) { f.Fuzz(rapid.MakeFuzz(bidProperty)) }

// modelOrder picks the first of what is left, again and again, by fractions.
func modelOrder(e policy.EIP1559, prices policy.Prices, candidates []policy.Candidate) []uint64 {
	type place struct {
		effective *big.Rat
		policy.Candidate
	}
	var left []place
	for _, c := range candidates {
		if priority := modelPriority(e, prices, c.Ask); priority != nil {
			left = append(left, place{priority.Mul(priority, big.NewRat(int64(c.Weight), 16)), c})
		}
	}
	before := func(a, b place) bool {
		switch order := a.effective.Cmp(b.effective); {
		case order != 0:
			return order > 0
		case a.Weight != b.Weight:
			return a.Weight > b.Weight
		case a.Due != b.Due:
			return a.Due < b.Due
		}
		return a.Seq < b.Seq
	}
	var seqs []uint64
	for len(left) > 0 {
		first := 0
		for i := range left {
			if before(left[i], left[first]) {
				first = i
			}
		}
		seqs = append(seqs, left[first].Seq)
		left = slices.Delete(left, first, first+1)
	}
	return seqs
}

func orderOf(e policy.EIP1559, prices policy.Prices, candidates []policy.Candidate) []uint64 {
	var seqs []uint64
	for _, i := range e.Order(prices, candidates) {
		seqs = append(seqs, candidates[i].Seq)
	}
	return seqs
}

// rankProperty: the order is that of the model, leaves out who is priced out and nobody else, does not depend on how the
// candidates are handed in, and leaves them as they are.
func rankProperty(t *rapid.T) {
	e, prices := drawMarket(t), drawPrices(t)
	candidates := drawAsking(t, e.Fee(prices))
	before := fmt.Sprint(candidates)
	want := modelOrder(e, prices, candidates)
	require.Equal(t, want, orderOf(e, prices, candidates))
	require.Equal(t, before, fmt.Sprint(candidates), "the candidates were changed")
	if len(candidates) > 0 {
		require.Equal(t, want, orderOf(e, prices, rapid.Permutation(candidates).Draw(t, "handed in as")), "it depends on how they are handed in")
	}

	for i, a := range candidates {
		rank, fires := e.Rank(prices, a)
		require.Equal(t, slices.Contains(want, a.Seq), fires)
		require.False(t, rank.Negative())
		require.Zero(t, rank.Compare(rank))
		if i == 0 || !fires {
			continue
		}
		b := candidates[i-1]
		if other, otherFires := e.Rank(prices, b); otherFires {
			require.Equal(t, slices.Index(want, a.Seq) < slices.Index(want, b.Seq), rank.Compare(other) < 0)
			require.Equal(t, rank.Compare(other), -other.Compare(rank))
		}
	}
}

func TestEIP1559OrdersByEffectivePriority(t *testing.T) { rapid.Check(t, rankProperty) }

func FuzzEIP1559OrdersByEffectivePriority(f *testing.F) { f.Fuzz(rapid.MakeFuzz(rankProperty)) }

// TestTipsBuyPlaces: who states more, all else being equal, comes no later; who weighs more neither.
func TestTipsBuyPlaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e, prices := drawMarket(t), drawPrices(t)
		c := drawAsking(t, e.Fee(prices))
		if len(c) == 0 {
			return
		}
		better := c[0]
		better.Weight = min(better.Weight+rapid.Uint32Max(5).Draw(t, "more weight"), 1<<16-1)
		if better.Ask.Kind == policy.Stated {
			better.Ask = policy.StatedAsk(better.Ask.Static.MaxFee.Add(drawPrice(t, "more fee")), better.Ask.Static.MaxPriority.Add(drawPrice(t, "more tip")))
		}
		rank, fires := e.Rank(prices, c[0])
		betterRank, betterFires := e.Rank(prices, better)
		if fires {
			require.True(t, betterFires)
			require.LessOrEqual(t, betterRank.Compare(rank), 0)
		}
	})
}

func TestABoundMayBeNegative(t *testing.T) {
	unit := math.LegacySmallestDec()
	require.True(t, policy.NewRank(unit.Neg(), 16, 0, 0).Negative())
	require.False(t, policy.NewRank(math.LegacyZeroDec(), 16, 0, 0).Negative())
	require.Positive(t, policy.NewRank(unit.Neg(), 32, 0, 0).Compare(policy.NewRank(math.LegacyZeroDec(), 16, 9, 9)))
	// A rank keeps no hold of the decimal that it was made from.
	tip := dec("3")
	policy.NewRank(tip, 32, 0, 0)
	require.Equal(t, dec("3"), tip)
}

func TestEIP1559Ties(t *testing.T) {
	e, prices := defaultMarket(), policy.Prices{Cycle: dec("0.001"), Cell: dec("0.03"), Lane: dec("1"), P50: dec("0")}
	stated := func(fee, tip string) policy.Ask { return policy.StatedAsk(dec(fee), dec(tip)) }
	for name, c := range map[string]struct {
		first, second policy.Candidate
	}{
		"more tip":                        {policy.Candidate{Ask: stated("9", "2"), Weight: 16, Due: 9, Seq: 2}, policy.Candidate{Ask: stated("9", "1.9"), Weight: 16}},
		"less tip and more weight":        {policy.Candidate{Ask: stated("9", "1"), Weight: 32, Due: 9, Seq: 2}, policy.Candidate{Ask: stated("9", "1.9"), Weight: 16}},
		"a unit at equal weight":          {policy.Candidate{Ask: stated("9", "1.000000000000000001"), Weight: 17, Due: 9, Seq: 2}, policy.Candidate{Ask: stated("9", "1"), Weight: 17}},
		"an equal product, more weight":   {policy.Candidate{Ask: stated("9", "1"), Weight: 32, Due: 9, Seq: 2}, policy.Candidate{Ask: stated("9", "2"), Weight: 16}},
		"no tips, more weight":            {policy.Candidate{Weight: 17, Due: 9, Seq: 2}, policy.Candidate{Weight: 16}},
		"equal weight, due before":        {policy.Candidate{Weight: 16, Due: 1, Seq: 2}, policy.Candidate{Weight: 16, Due: 2, Seq: 1}},
		"due alike, inserted before":      {policy.Candidate{Weight: 16, Due: 1, Seq: 1}, policy.Candidate{Weight: 16, Due: 1, Seq: 2}},
		"a tip that the fee leaves whole": {policy.Candidate{Ask: stated("3", "2"), Weight: 16}, policy.Candidate{Ask: stated("2.9", "2"), Weight: 16}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, []int{0, 1}, e.Order(prices, []policy.Candidate{c.first, c.second}))
			require.Equal(t, []int{1, 0}, e.Order(prices, []policy.Candidate{c.second, c.first}))
		})
	}
}

// TestEIP1559FollowsTheLane: the basefee goes on from the block before, whatever the chain's own is.
func TestEIP1559FollowsTheLane(t *testing.T) {
	e := defaultMarket()
	require.True(t, e.Weighs())
	require.False(t, policy.FIFO{}.Weighs())
	for used, want := range map[uint64]string{0: "0.875", 1_000_000: "1", 2_000_000: "1.125"} {
		require.Equal(t, dec(want).String(), e.LaneBasefee(dec("55"), policy.Last{Basefee: dec("1"), Cycles: used}).String())
	}
}

// readVectors reads a file that scripts/vectors.py wrote.
func readVectors[T any](t *testing.T, name string) []T {
	t.Helper()
	file, err := os.ReadFile("../testdata/vectors/" + name)
	require.NoError(t, err)
	var vectors []T
	require.NoError(t, json.Unmarshal(file, &vectors))
	require.NotEmpty(t, vectors)
	return vectors
}

// vectorAsk is an ask as the vectors write it.
type vectorAsk struct {
	Kind        string         `json:"kind"`
	MaxFee      math.LegacyDec `json:"max_fee"`
	MaxPriority math.LegacyDec `json:"max_priority"`
}

func (v vectorAsk) ask(t *testing.T) policy.Ask {
	t.Helper()
	if v.Kind == "stated" {
		return policy.StatedAsk(v.MaxFee, v.MaxPriority)
	}
	kind := slices.Index([]string{"estimated", "economy", "standard", "fast", "urgent"}, v.Kind)
	require.GreaterOrEqual(t, kind, 0, v.Kind)
	return policy.Ask{Kind: policy.Kind(kind)}
}

func TestTheMarketAgreesWithTheVectors(t *testing.T) {
	for _, v := range readVectors[struct {
		Name       string
		Lane, P50  math.LegacyDec
		Multiplier math.LegacyDec
		Tiers      policy.Tiers
		Candidates []struct {
			vectorAsk
			Weight      uint32
			Due, Seq    uint64
			BidFee      math.LegacyDec  `json:"bid_fee"`
			BidPriority math.LegacyDec  `json:"bid_priority"`
			Tip         *math.LegacyDec `json:"tip"`
		}
		Order []int
	}](t, "market.json") {
		t.Run(v.Name, func(t *testing.T) {
			e := defaultMarket()
			e.Multiplier, e.Tiers = v.Multiplier, v.Tiers
			prices := policy.Prices{Cycle: dec("0"), Cell: dec("0"), Lane: v.Lane, P50: v.P50}
			candidates := make([]policy.Candidate, len(v.Candidates))
			for i, c := range v.Candidates {
				candidates[i] = policy.Candidate{Ask: c.ask(t), Weight: c.Weight, Due: c.Due, Seq: c.Seq}
				bid := e.Bid(prices, candidates[i].Ask)
				require.Equal(t, c.BidFee.String(), bid.MaxFee.String(), "max fee of %d", i)
				require.Equal(t, c.BidPriority.String(), bid.MaxPriority.String(), "max priority of %d", i)
				tip, fires := e.Priority(prices, candidates[i].Ask)
				require.Equal(t, c.Tip != nil, fires, "%d", i)
				if fires {
					require.Equal(t, c.Tip.String(), tip.String(), "tip of %d", i)
				}
			}
			require.Equal(t, v.Order, e.Order(prices, candidates))
		})
	}
}

func TestFiresAgreeWithTheVectors(t *testing.T) {
	for _, v := range readVectors[struct {
		Name                    string
		Cycle, Cell, Lane, P50  math.LegacyDec
		Multiplier              math.LegacyDec
		Ask                     vectorAsk
		GasLimit                uint64 `json:"gas_limit"`
		MaxCells                uint64 `json:"max_cells"`
		Cycles, Cells           uint64
		Fires                   bool
		Basefee, Priority       math.LegacyDec
		Precharge, Charged, Tip math.Int
		Burned, Refund          math.Int
	}](t, "fires.json") {
		t.Run(v.Name, func(t *testing.T) {
			e := defaultMarket()
			e.Multiplier = v.Multiplier
			prices := policy.Prices{Cycle: v.Cycle, Cell: v.Cell, Lane: v.Lane, P50: v.P50}
			price, fires := e.Price(prices, policy.Candidate{Ask: v.Ask.ask(t)})
			require.Equal(t, v.Fires, fires)
			require.Equal(t, v.Basefee.String(), price.Basefee.String())
			require.Equal(t, v.Priority.String(), price.Priority.String())
			preCharge := price.Cost(v.GasLimit, v.MaxCells)
			require.Equal(t, v.Precharge.String(), preCharge.String())
			s := price.Settle(preCharge, v.Cycles, v.Cells)
			require.Equal(t, []string{v.Charged.String(), v.Tip.String(), v.Burned.String(), v.Refund.String()},
				[]string{s.Charged.String(), s.Tip.String(), s.Burned.String(), s.Refund.String()})
		})
	}
}

// BenchmarkEIP1559Order orders a full window of bids of all kinds, and one where all tips are alike.
func BenchmarkEIP1559Order(b *testing.B) {
	e := defaultMarket()
	prices := policy.Prices{Cycle: dec("0.001"), Cell: dec("0.03"), Lane: dec("0.01"), P50: dec("0.002")}
	mixed, alike := make([]policy.Candidate, 2_048), make([]policy.Candidate, 2_048)
	for i := range mixed {
		scattered := uint64(i) * 2_654_435_761 % (1 << 32)
		mixed[i] = policy.Candidate{Due: scattered % 50, Seq: uint64(i), Weight: uint32(16 + scattered%17), Ask: policy.Ask{Kind: policy.Kind(scattered % 5)}}
		if i%2 == 0 {
			mixed[i].Ask = policy.StatedAsk(math.LegacyNewDecWithPrec(int64(scattered%40_000), 6), math.LegacyNewDecWithPrec(int64(scattered%9_000), 6))
		}
		alike[i] = policy.Candidate{Due: scattered % 50, Seq: uint64(i), Weight: 32}
	}
	for name, candidates := range map[string][]policy.Candidate{"mixed": mixed, "alike": alike} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				e.Order(prices, candidates)
			}
		})
	}
}

// TestTipsOfTiersDoNotGrowWithoutEnd: a market in which all are urgent pays a thousand times the basefee at most.
func TestTipsOfTiersDoNotGrowWithoutEnd(t *testing.T) {
	e, prices := defaultMarket(), policy.Prices{Cycle: dec("0.001"), Cell: dec("0.03"), Lane: dec("0.001"), P50: dec("0.0001")}
	for range 100 {
		tip, ok := e.Priority(prices, policy.Ask{Kind: policy.Urgent})
		require.True(t, ok)
		prices.P50 = tip
	}
	require.Equal(t, "1.000000000000000000", prices.P50.String())
}
