package tip_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/market/tip"
	"github.com/cosmos-timers/timers/x/timers/testutil/policytest"
)

func defaultTip() tip.Rules { return tip.Rules{Tiers: policytest.Tiers()} }

func tipPrices(cycle, p50 string) market.Prices {
	return market.Prices{Cycle: policytest.Dec(cycle), Cell: policytest.Dec("0.03"), Lane: policytest.Dec(cycle), P50: policytest.Dec(p50)}
}

// Rule: 1.7-tip, 1.8-which-bids, 1.8-tip-is-smaller
func TestTipPays(t *testing.T) {
	p := defaultTip()
	policytest.RequireDec(t, policytest.Dec("7"), p.LaneBasefee(policytest.Dec("7"), market.Last{Basefee: policytest.Dec("3"), Use: market.Use{Size: 2_000_000}}), "the chain's, whatever the use")
	for name, c := range map[string]struct {
		ask       market.Ask
		cycle     string
		p50, want string // want is empty if it is priced out
	}{
		"the whole max tip":             {market.StatedAsk(policytest.Dec("3"), policytest.Dec("0.5")), "1", "0", "0.5"},
		"what the max fee leaves":       {market.StatedAsk(policytest.Dec("1.2"), policytest.Dec("0.5")), "1", "0", "0.2"},
		"a max fee that is just enough": {market.StatedAsk(policytest.Dec("1"), policytest.Dec("0.5")), "1", "9", "0"},
		"a unit less":                   {market.StatedAsk(policytest.Dec("0.999999999999999999"), policytest.Dec("0.5")), "1", "9", ""},
		"nothing stated":                {market.Ask{}, "1", "0.3", "0.3"},
		"nothing stated, dear times":    {market.Ask{}, "1", "5", "1"},
		"fast":                          {market.Ask{Kind: market.Fast}, "1", "5", "7.5"},
		"fast, a chain that is free":    {market.Ask{Kind: market.Fast}, "0", "5", "0"},
	} {
		price, willing := p.Price(tipPrices(c.cycle, c.p50), market.Candidate{Ask: c.ask})
		require.Equal(t, c.want != "", willing, name)
		if willing {
			policytest.RequireDec(t, policytest.Dec(c.want), price.Priority, name)
			policytest.RequireDec(t, policytest.Dec(c.cycle), price.Cycle, "%s: the lane's is not charged beside it", name)
			policytest.RequireDec(t, policytest.Dec("0.03"), price.Cell, name)
		}
	}
}

// TestTipOrderMatchesTheModel: repeatedly take the best of what is left.
//
// Rule: 1.7-tip
func TestTipOrderMatchesTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := defaultTip()
		prices := market.Prices{Cycle: policytest.DrawPrice(t, "cycle"), P50: policytest.DrawPrice(t, "p50")}
		prices.Lane = prices.Cycle
		candidates := make([]market.Candidate, rapid.IntRange(0, 30).Draw(t, "candidates"))
		for i := range candidates {
			ask := market.Ask{Kind: market.Kind(rapid.IntRange(0, 4).Draw(t, "kind"))}
			if rapid.Bool().Draw(t, "stated") {
				ask = market.StatedAsk(policytest.DrawPrice(t, "fee", prices.Cycle), policytest.DrawPrice(t, "tip", prices.P50))
			}
			candidates[i] = market.Candidate{
				Due: rapid.Uint64Range(0, 3).Draw(t, "due"), Seq: uint64(i * 7 % 31), Ask: ask,
				Weight: rapid.Uint32Range(0, 3).Draw(t, "weight"), Unfunded: rapid.IntRange(0, 9).Draw(t, "unfunded") == 0,
			}
		}
		better := func(a, b market.Candidate) bool {
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
