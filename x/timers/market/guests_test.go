//go:build !noguests

package market_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/market/auction"
	"github.com/cosmos-timers/timers/x/timers/market/score"
	"github.com/cosmos-timers/timers/x/timers/market/tip"
	"github.com/cosmos-timers/timers/x/timers/testutil/policytest"
)

// TestLeast_OfGuests: under a policy without a lane basefee the least price is the chain's.
//
// Rule: 5.2-unfunded
func TestLeast_OfGuests(t *testing.T) {
	for name, rules := range map[string]market.Rules{
		"score":   score.Rules{Age: dec("1"), Bid: dec("1"), Rank: dec("0")},
		"auction": auction.Rules{Lambda: dec("0.05")},
		"tip":     tip.Rules{Tiers: policytest.Tiers()},
	} {
		require.Equal(t, "1100", market.Least(rules, leastPrices()).Cost(100_000, 30_000).String(), name)
	}
}
