package market_test

import (
	"cmp"
	"fmt"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/testutil/policytest"
)

func TestLockedBid(t *testing.T) {
	require.Equal(t, "0", market.Candidate{}.LockedBid().String(), "no bid is 0, not nil")
	require.Equal(t, "7", market.Candidate{Locked: math.NewInt(7)}.LockedBid().String())
}

// TestAStatedTipIsWithinTheFee: the tip is cut off at the whole fee.
func TestAStatedTipIsWithinTheFee(t *testing.T) {
	for name, c := range map[string]struct{ fee, tip, want string }{
		"below the fee": {"3", "2", "2"},
		"the whole fee": {"3", "3", "3"},
		"above the fee": {"3", "3.000000000000000001", "3"},
		"no fee":        {"0", "1", "0"},
		"nothing":       {"0", "0", "0"},
	} {
		ask := market.StatedAsk(dec(c.fee), dec(c.tip))
		require.Equal(t, market.Stated, ask.Kind, name)
		policytest.RequireDec(t, dec(c.fee), ask.Stated.MaxFee, name)
		policytest.RequireDec(t, dec(c.want), ask.Stated.MaxPriority, name)
	}
}

// Rule: 1.1-truncate, 1.8-default-bid, 1.8-tier
func TestEstimates(t *testing.T) {
	for name, c := range map[string]struct {
		kind             market.Kind
		lane, p50        string
		wantFee, wantTip string
	}{
		"nothing stated":                   {market.Estimated, "1", "0.3", "2", "0.3"},
		"nothing stated, the tip unbound":  {market.Estimated, "0.001", "90", "0.002", "90"},
		"economy":                          {market.Economy, "1", "0.5", "2.4", "0.4"},
		"standard":                         {market.Standard, "1", "0.5", "2.5", "0.5"},
		"fast":                             {market.Fast, "1", "0.5", "2.75", "0.75"},
		"urgent":                           {market.Urgent, "1", "0.5", "3.25", "1.25"},
		"a product of 19 decimals":         {market.Economy, "0", "0.000000000000000009", "0", "0"},
		"a product that is truncated":      {market.Economy, "1", "0.000000000000000009", "2.000000000000000007", "0.000000000000000007"},
		"urgent at the bound":              {market.Urgent, "0.001", "0.004", "0.012", "0.01"},
		"urgent beyond the bound":          {market.Urgent, "0.001", "50", "0.012", "0.01"},
		"urgent where the lane costs none": {market.Urgent, "0", "50", "0", "0"},
	} {
		bid := market.Estimate(market.Prices{Lane: dec(c.lane), P50: dec(c.p50)}, c.kind, policytest.Tiers())
		policytest.RequireDec(t, dec(c.wantFee), bid.MaxFee, "max fee: "+name)
		policytest.RequireDec(t, dec(c.wantTip), bid.MaxPriority, "max priority: "+name)
	}
}

// estimateProperty: no estimate is negative, a higher tier never bids less, and what is handed in stays as it is.
func estimateProperty(t *rapid.T) {
	prices := market.Prices{Lane: policytest.DrawPrice(t, "lane"), P50: policytest.DrawPrice(t, "p50")}
	tiers := policytest.Tiers()
	before := fmt.Sprint(prices, tiers)
	var last market.Bid
	for kind := market.Economy; kind <= market.Urgent; kind++ {
		bid := market.Estimate(prices, kind, tiers)
		require.False(t, bid.MaxPriority.IsNegative())
		require.True(t, bid.MaxFee.Sub(bid.MaxPriority).Equal(prices.Lane.MulInt64(2)), "the headroom is twice the lane's fee")
		require.True(t, bid.MaxPriority.LTE(prices.Lane.MulInt64(10)), "the bound of a tier's tip")
		if kind > market.Economy {
			require.True(t, bid.MaxPriority.GTE(last.MaxPriority), "tier %d bids less than the one below", kind)
		}
		last = bid
	}
	require.Equal(t, before, fmt.Sprint(prices, tiers))
}

// Rule: 1.8-tier
func TestHigherTiersBidNoLess(t *testing.T) { rapid.Check(t, estimateProperty) }

func FuzzHigherTiersBidNoLess(f *testing.F) { f.Fuzz(rapid.MakeFuzz(estimateProperty)) }

func TestABoundMayBeNegative(t *testing.T) {
	unit := math.LegacySmallestDec()
	require.True(t, market.NewRank(unit.Neg(), 16, 0, 0).Negative())
	require.False(t, market.NewRank(math.LegacyZeroDec(), 16, 0, 0).Negative())
	require.Positive(t, market.NewRank(unit.Neg(), 32, 0, 0).Compare(market.NewRank(math.LegacyZeroDec(), 16, 9, 9)))
	// A rank keeps no hold of the decimal that it was made from.
	tip := dec("3")
	market.NewRank(tip, 32, 0, 0)
	require.Equal(t, dec("3"), tip)
}

// rankedTip is what a rank is made from.
type rankedTip struct {
	tip      math.LegacyDec
	weight   uint32
	due, seq uint64
}

func drawRanked(t *rapid.T, near ...math.LegacyDec) rankedTip {
	return rankedTip{
		policytest.DrawPrice(t, "tip", near...), rapid.OneOf(rapid.Uint32Range(14, 18), rapid.Uint32Max(1<<16-1)).Draw(t, "weight"),
		rapid.Uint64Max(2).Draw(t, "due"), rapid.Uint64Max(2).Draw(t, "seq"),
	}
}

// compareProperty: ranks compare as fractions do, tip × weight ÷ 16 first, and the order is antisymmetric and
// transitive.
func compareProperty(t *rapid.T) {
	first := drawRanked(t)
	tips := []rankedTip{first, drawRanked(t, first.tip), drawRanked(t, first.tip)}
	ranks := make([]market.Rank, len(tips))
	for i, r := range tips {
		ranks[i] = market.NewRank(r.tip, r.weight, r.due, r.seq)
	}
	worth := func(r rankedTip) *big.Rat {
		return new(big.Rat).Mul(policytest.Rat(r.tip), big.NewRat(int64(r.weight), 16))
	}
	for i, a := range tips {
		for j, b := range tips {
			want := cmp.Or(worth(b).Cmp(worth(a)), cmp.Compare(b.weight, a.weight), cmp.Compare(a.due, b.due), cmp.Compare(a.seq, b.seq))
			require.Equal(t, want, ranks[i].Compare(ranks[j]))
			require.Equal(t, -want, ranks[j].Compare(ranks[i]))
			for k := range tips {
				if want <= 0 && ranks[j].Compare(ranks[k]) <= 0 {
					require.LessOrEqual(t, ranks[i].Compare(ranks[k]), 0)
				}
			}
		}
	}
}

func TestRanksCompareAsFractions(t *testing.T) { rapid.Check(t, compareProperty) }

func FuzzRanksCompareAsFractions(f *testing.F) { f.Fuzz(rapid.MakeFuzz(compareProperty)) }

func leastPrices() market.Prices {
	return market.Prices{
		Height: 9, Cycle: dec("0.002"), Cell: dec("0.03"), Lane: dec("7"), P50: dec("5"),
		Capacity: market.Capacity{Cycles: 1_000_000, Cells: 1_000_000},
	}
}

// TestLeast: the least price has the lane basefee at its floor, and neither tip nor bid, whatever the prices of the block.
//
// Rule: 5.2-unfunded
func TestLeast(t *testing.T) {
	prices := leastPrices()
	tipped := market.EIP1559{
		Basefee:    market.Basefee{Capacity: 1_000_000, Target: dec("0.5"), MaxChange: dec("0.125"), Min: dec("0.004"), Max: dec("1000")},
		Multiplier: dec("0.5"), Tiers: policytest.Tiers(),
	}
	for name, c := range map[string]struct {
		rules market.Rules
		want  string
	}{
		"fifo": {market.FIFO{}, "1100"},
		// 100,000 × 0.004 × 0.5 more.
		"eip1559": {tipped, "1300"},
	} {
		least := market.Least(c.rules, prices)
		require.Equal(t, c.want, least.Cost(100_000, 30_000).String(), name)
	}
}
