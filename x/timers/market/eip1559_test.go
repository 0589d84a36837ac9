package market_test

import (
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/testutil/policytest"
)

func defaultMarket() market.EIP1559 {
	return market.EIP1559{
		Basefee: market.Basefee{
			Capacity: 2_000_000, Target: policytest.Dec("0.5"), MaxChange: policytest.Dec("0.125"), Min: policytest.Dec("0.001"), Max: policytest.Dec(policytest.MaxPrice),
		},
		Multiplier: math.LegacyOneDec(), Tiers: policytest.Tiers(),
	}
}

// drawMarket draws a policy: multipliers of the lane's fee from 0 to 2, tiers up to the largest price.
func eip1559DrawMarket(t *rapid.T) market.EIP1559 {
	e := defaultMarket()
	e.Multiplier = rapid.OneOf(
		rapid.SampledFrom([]math.LegacyDec{policytest.Dec("0"), policytest.Dec("0.8"), policytest.Dec("1"), policytest.Dec("2"), policytest.Dec("1.999999999999999999")}),
		rapid.Custom(func(t *rapid.T) math.LegacyDec {
			return math.LegacyNewDecWithPrec(rapid.Int64Range(0, 2e18).Draw(t, "units"), math.LegacyPrecision)
		}),
	).Draw(t, "multiplier")
	if rapid.Bool().Draw(t, "other tiers") {
		e.Tiers = market.Tiers{
			Economy: policytest.DrawPrice(t, "economy"), Standard: policytest.DrawPrice(t, "standard"), Fast: policytest.DrawPrice(t, "fast"), Urgent: policytest.DrawPrice(t, "urgent"),
			TipCap: policytest.DrawPrice(t, "tip cap"),
		}
	}
	return e
}

func eip1559DrawPrices(t *rapid.T) market.Prices {
	return market.Prices{Cycle: policytest.DrawPrice(t, "cycle"), Cell: policytest.DrawPrice(t, "cell"), Lane: policytest.DrawPrice(t, "lane"), P50: policytest.DrawPrice(t, "p50")}
}

// drawAsk draws an ask of any kind; stated prices often lie about those of the lane.
func drawAsk(t *rapid.T, fee math.LegacyDec) market.Ask {
	kind := market.Kind(rapid.IntRange(int(market.Estimated), int(market.Stated)+4).Draw(t, "kind"))
	if kind < market.Stated {
		return market.Ask{Kind: kind}
	}
	maxFee := policytest.DrawPrice(t, "max fee", fee)
	return market.StatedAsk(maxFee, policytest.DrawPrice(t, "max priority", maxFee, math.LegacyMaxDec(math.LegacyZeroDec(), maxFee.Sub(fee))))
}

// drawAsking draws candidates as policytest does, with asks, and weights in the bounds that a config admits.
func drawAsking(t *rapid.T, fee math.LegacyDec) []market.Candidate {
	candidates := policytest.DrawCandidates(t)
	for i := range candidates {
		candidates[i].Ask = drawAsk(t, fee)
		candidates[i].Weight = rapid.OneOf(rapid.Uint32Range(16, 32), rapid.SampledFrom([]uint32{1, 16, 1<<16 - 1})).Draw(t, "weight")
	}
	return candidates
}

// The model computes in fractions, and truncates only where the chain does.

func modelFee(e market.EIP1559, prices market.Prices) *big.Rat {
	return policytest.Truncated(new(big.Rat).Mul(policytest.Rat(prices.Lane), policytest.Rat(e.Multiplier)))
}

func modelBid(e market.EIP1559, prices market.Prices, ask market.Ask) (fee, tip *big.Rat) {
	double := new(big.Rat).Add(policytest.Rat(prices.Lane), policytest.Rat(prices.Lane))
	switch ask.Kind {
	case market.Stated:
		return policytest.Rat(ask.Stated.MaxFee), policytest.Rat(ask.Stated.MaxPriority)
	case market.Estimated:
		return double, policytest.Rat(prices.P50)
	default:
	}
	multiplier := []math.LegacyDec{e.Tiers.Economy, e.Tiers.Standard, e.Tiers.Fast, e.Tiers.Urgent}[ask.Kind-market.Economy]
	tip = policytest.Truncated(new(big.Rat).Mul(policytest.Rat(prices.P50), policytest.Rat(multiplier)))
	if most := policytest.Truncated(new(big.Rat).Mul(policytest.Rat(prices.Lane), policytest.Rat(e.Tiers.TipCap))); tip.Cmp(most) > 0 {
		tip = most
	}
	return double.Add(double, tip), tip
}

// modelPriority is nil for an ask that is priced out.
func modelPriority(e market.EIP1559, prices market.Prices, ask market.Ask) *big.Rat {
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
	e, prices := eip1559DrawMarket(t), eip1559DrawPrices(t)
	require.Equal(t, modelFee(e, prices).String(), policytest.Rat(e.Fee(prices)).String(), "fee")
	ask := drawAsk(t, e.Fee(prices))
	before := fmt.Sprint(ask, prices, e)

	bid := e.Bid(prices, ask)
	wantFee, wantTip := modelBid(e, prices, ask)
	require.Equal(t, wantFee.String(), policytest.Rat(bid.MaxFee).String(), "max fee")
	require.Equal(t, wantTip.String(), policytest.Rat(bid.MaxPriority).String(), "max priority")

	priority, fires := e.Priority(prices, ask)
	price, priceFires := e.Price(prices, market.Candidate{Ask: ask})
	require.Equal(t, fires, priceFires)
	want := modelPriority(e, prices, ask)
	require.Equal(t, bid.MaxFee.GTE(e.Fee(prices)), fires, "priced out")
	require.Equal(t, want != nil, fires, "priced out, in fractions")
	if fires {
		require.Equal(t, want.String(), policytest.Rat(priority).String(), "priority")
		require.True(t, priority.Add(e.Fee(prices)).LTE(bid.MaxFee), "it pays more than its max fee")
	}
	require.False(t, priority.IsNegative())
	require.True(t, priority.LTE(bid.MaxPriority), "it tips more than it said")
	require.Equal(t, []string{prices.Cycle.String(), e.Fee(prices).String()}, []string{price.Cycle.String(), price.Lane.String()}, "basefees")
	require.Equal(t, priority.String(), price.Priority.String())
	require.Equal(t, prices.Cell.String(), price.Cell.String())
	require.Equal(t, before, fmt.Sprint(ask, prices, e), "what was handed in was changed")
	if ask.Kind != market.Stated {
		require.True(t, fires, "an ask without own prices is priced out at a multiplier of %s", e.Multiplier)
	}
}

// Rule: 1.7-eip1559, 1.8-static, 1.8-which-bids, 1.8-tip-is-smaller, 1.11-default-tip-bound
func TestBidsAreThoseOfTheModel(t *testing.T) { rapid.Check(t, bidProperty) }

func FuzzBidsAreThoseOfTheModel(f *testing.F) { f.Fuzz(rapid.MakeFuzz(bidProperty)) }

// modelOrder picks the first of what is left, again and again, by fractions.
func modelOrder(e market.EIP1559, prices market.Prices, candidates []market.Candidate) []uint64 {
	type place struct {
		effective *big.Rat
		market.Candidate
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

func orderOf(e market.EIP1559, prices market.Prices, candidates []market.Candidate) []uint64 {
	var seqs []uint64
	for _, i := range e.Order(prices, candidates) {
		seqs = append(seqs, candidates[i].Seq)
	}
	return seqs
}

// rankProperty: the order is that of the model, leaves out who is priced out and no one else, does not depend on how
// the candidates are handed in, and leaves them as they are.
func rankProperty(t *rapid.T) {
	e, prices := eip1559DrawMarket(t), eip1559DrawPrices(t)
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

// Rule: 1.7-eip1559
func TestEIP1559OrdersByEffectivePriority(t *testing.T) { rapid.Check(t, rankProperty) }

func FuzzEIP1559OrdersByEffectivePriority(f *testing.F) { f.Fuzz(rapid.MakeFuzz(rankProperty)) }

// TestRankIsMonotoneInTipAndWeight: all else being equal, a higher stated price or a larger weight never ranks later.
func TestRankIsMonotoneInTipAndWeight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e, prices := eip1559DrawMarket(t), eip1559DrawPrices(t)
		c := drawAsking(t, e.Fee(prices))
		if len(c) == 0 {
			return
		}
		better := c[0]
		better.Weight = min(better.Weight+rapid.Uint32Max(5).Draw(t, "more weight"), 1<<16-1)
		if better.Ask.Kind == market.Stated {
			better.Ask = market.StatedAsk(better.Ask.Stated.MaxFee.Add(policytest.DrawPrice(t, "more fee")), better.Ask.Stated.MaxPriority.Add(policytest.DrawPrice(t, "more tip")))
		}
		rank, fires := e.Rank(prices, c[0])
		betterRank, betterFires := e.Rank(prices, better)
		if fires {
			require.True(t, betterFires)
			require.LessOrEqual(t, betterRank.Compare(rank), 0)
		}
	})
}

// Rule: 1.7-eip1559
func TestEIP1559Ties(t *testing.T) {
	e, prices := defaultMarket(), market.Prices{Cycle: policytest.Dec("0.001"), Cell: policytest.Dec("0.03"), Lane: policytest.Dec("1"), P50: policytest.Dec("0")}
	stated := func(fee, tip string) market.Ask { return market.StatedAsk(policytest.Dec(fee), policytest.Dec(tip)) }
	for name, c := range map[string]struct {
		first, second market.Candidate
	}{
		"more tip":                        {market.Candidate{Ask: stated("9", "2"), Weight: 16, Due: 9, Seq: 2}, market.Candidate{Ask: stated("9", "1.9"), Weight: 16}},
		"less tip and more weight":        {market.Candidate{Ask: stated("9", "1"), Weight: 32, Due: 9, Seq: 2}, market.Candidate{Ask: stated("9", "1.9"), Weight: 16}},
		"a unit at equal weight":          {market.Candidate{Ask: stated("9", "1.000000000000000001"), Weight: 17, Due: 9, Seq: 2}, market.Candidate{Ask: stated("9", "1"), Weight: 17}},
		"an equal product, more weight":   {market.Candidate{Ask: stated("9", "1"), Weight: 32, Due: 9, Seq: 2}, market.Candidate{Ask: stated("9", "2"), Weight: 16}},
		"no tips, more weight":            {market.Candidate{Weight: 17, Due: 9, Seq: 2}, market.Candidate{Weight: 16}},
		"equal weight, due before":        {market.Candidate{Weight: 16, Due: 1, Seq: 2}, market.Candidate{Weight: 16, Due: 2, Seq: 1}},
		"due alike, inserted before":      {market.Candidate{Weight: 16, Due: 1, Seq: 1}, market.Candidate{Weight: 16, Due: 1, Seq: 2}},
		"a tip that the fee leaves whole": {market.Candidate{Ask: stated("3", "2"), Weight: 16}, market.Candidate{Ask: stated("2.9", "2"), Weight: 16}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, []int{0, 1}, e.Order(prices, []market.Candidate{c.first, c.second}))
			require.Equal(t, []int{1, 0}, e.Order(prices, []market.Candidate{c.second, c.first}))
		})
	}
}

// TestEIP1559FollowsTheLane: the basefee continues from the block before, whatever the chain's own is.
func TestEIP1559FollowsTheLane(t *testing.T) {
	e := defaultMarket()
	for used, want := range map[uint64]string{0: "0.875", 1_000_000: "1", 2_000_000: "1.125"} {
		require.Equal(t, policytest.Dec(want).String(), e.LaneBasefee(policytest.Dec("55"), market.Last{Basefee: policytest.Dec("1"), Use: market.Use{Size: used}}).String())
	}
}

func TestTheMarketAgreesWithTheVectors(t *testing.T) {
	for _, v := range policytest.ReadVectors[struct {
		Name       string
		Lane, P50  math.LegacyDec
		Multiplier math.LegacyDec
		Tiers      market.Tiers
		Candidates []struct {
			policytest.Ask
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
			e.Tiers.TipCap = policytest.Tiers().TipCap
			prices := market.Prices{Cycle: policytest.Dec("0"), Cell: policytest.Dec("0"), Lane: v.Lane, P50: v.P50}
			candidates := make([]market.Candidate, len(v.Candidates))
			for i, c := range v.Candidates {
				candidates[i] = market.Candidate{Ask: c.Policy(t), Weight: c.Weight, Due: c.Due, Seq: c.Seq}
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
	for _, v := range policytest.ReadVectors[struct {
		Name                    string
		Cycle, Cell, Lane, P50  math.LegacyDec
		Multiplier              math.LegacyDec
		Ask                     policytest.Ask
		GasLimit                uint64 `json:"gas_limit"`
		CellLimit               uint64 `json:"cell_limit"`
		LaneCycles              uint64 `json:"lane_cycles"`
		LaneCells               uint64 `json:"lane_cells"`
		Cycles, Cells           uint64
		Fires                   bool
		Basefee, Fee, Priority  math.LegacyDec
		Precharge, Charged, Tip math.Int
		Burned, Refund          math.Int
	}](t, "fires.json") {
		t.Run(v.Name, func(t *testing.T) {
			e := defaultMarket()
			e.Multiplier = v.Multiplier
			prices := market.Prices{
				Capacity: market.Capacity{Cycles: v.LaneCycles, Cells: v.LaneCells}, Cycle: v.Cycle, Cell: v.Cell, Lane: v.Lane, P50: v.P50,
			}
			price, fires := e.Price(prices, market.Candidate{Ask: v.Ask.Policy(t)})
			require.Equal(t, v.Fires, fires)
			require.Equal(t, v.Basefee.String(), price.Cycle.String())
			require.Equal(t, v.Fee.String(), price.Lane.String())
			require.Equal(t, v.Priority.String(), price.Priority.String())
			preCharge := price.Cost(v.GasLimit, v.CellLimit)
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
	prices := market.Prices{Cycle: policytest.Dec("0.001"), Cell: policytest.Dec("0.03"), Lane: policytest.Dec("0.01"), P50: policytest.Dec("0.002")}
	mixed, alike := make([]market.Candidate, 2_048), make([]market.Candidate, 2_048)
	for i := range mixed {
		scattered := uint64(i) * 2_654_435_761 % (1 << 32)
		mixed[i] = market.Candidate{Due: scattered % 50, Seq: uint64(i), Weight: uint32(16 + scattered%17), Ask: market.Ask{Kind: market.Kind(scattered % 5)}}
		if i%2 == 0 {
			mixed[i].Ask = market.StatedAsk(math.LegacyNewDecWithPrec(int64(scattered%40_000), 6), math.LegacyNewDecWithPrec(int64(scattered%9_000), 6))
		}
		alike[i] = market.Candidate{Due: scattered % 50, Seq: uint64(i), Weight: 32}
	}
	for name, candidates := range map[string][]market.Candidate{"mixed": mixed, "alike": alike} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				e.Order(prices, candidates)
			}
		})
	}
}

// TestTipsOfTiersDoNotGrowWithoutEnd: a market in which all are urgent pays ten times the basefee at most.
func TestTipsOfTiersDoNotGrowWithoutEnd(t *testing.T) {
	e, prices := defaultMarket(), market.Prices{Cycle: policytest.Dec("0.001"), Cell: policytest.Dec("0.03"), Lane: policytest.Dec("0.001"), P50: policytest.Dec("0.0001")}
	for range 100 {
		tip, ok := e.Priority(prices, market.Ask{Kind: market.Urgent})
		require.True(t, ok)
		prices.P50 = tip
	}
	require.Equal(t, "0.010000000000000000", prices.P50.String())
}
