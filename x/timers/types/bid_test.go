package types_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/types"
)

func staticBid(maxFee, maxPriority math.LegacyDec) *types.Bid {
	return &types.Bid{Static: &types.StaticBid{MaxFeePerCycle: decimal.Of(maxFee), MaxPriorityFeePerCycle: decimal.Of(maxPriority)}}
}

func TestBidsThatAreValid(t *testing.T) {
	zero := math.LegacyZeroDec()
	for name, bid := range map[string]*types.Bid{
		"none":                      nil,
		"empty":                     {},
		"static, free":              staticBid(zero, zero),
		"static, as dear as can be": staticBid(maxPrice, maxPrice),
		"static, a priority above the fee, to be clamped": staticBid(zero, maxPrice),
		"economy":               {Tier: types.TierEconomy},
		"standard":              {Tier: types.TierStandard},
		"fast":                  {Tier: types.TierFast},
		"urgent":                {Tier: types.TierUrgent},
		"the withdrawn integer": {Price: "17"},
		"nothing withdrawn":     {Price: "0"},
	} {
		require.NoError(t, bid.Validate(), name)
	}
}

func TestBidsThatAreRefused(t *testing.T) {
	zero := math.LegacyZeroDec()
	static := staticBid(zero, zero).Static
	for name, c := range map[string]struct {
		bid  *types.Bid
		want error
		text string
	}{
		"static and a tier":        {&types.Bid{Static: static, Tier: types.TierFast}, types.ErrInvalidBid, "state one of"},
		"static and an agent":      {&types.Bid{Static: static, Agent: "a"}, types.ErrInvalidBid, "state one of"},
		"static and a price":       {&types.Bid{Static: static, Price: "1"}, types.ErrInvalidBid, "state one of"},
		"a tier and an agent":      {&types.Bid{Tier: types.TierFast, Agent: "a"}, types.ErrInvalidBid, "state one of"},
		"a tier and a price":       {&types.Bid{Tier: types.TierFast, Price: "1"}, types.ErrInvalidBid, "state one of"},
		"an agent and a price":     {&types.Bid{Agent: "a", Price: "1"}, types.ErrInvalidBid, "state one of"},
		"all":                      {&types.Bid{Static: static, Tier: types.TierFast, Agent: "a", Price: "1"}, types.ErrInvalidBid, "state one of"},
		"an agent without an end":  {&types.Bid{Agent: strings.Repeat("a", 10_000)}, types.ErrInvalidBid, "agent is 10000 bytes long"},
		"a tier that is unknown":   {&types.Bid{Tier: 5}, types.ErrInvalidBid, "tier 5 is unknown"},
		"a tier below all":         {&types.Bid{Tier: -1}, types.ErrInvalidBid, "tier -1 is unknown"},
		"a negative price":         {&types.Bid{Price: "-1"}, types.ErrInvalidBid, "price"},
		"a price with a fraction":  {&types.Bid{Price: "1.5"}, types.ErrInvalidBid, "price"},
		"a price that is a word":   {&types.Bid{Price: "cheap"}, types.ErrInvalidBid, "price"},
		"a price without an end":   {&types.Bid{Price: strings.Repeat("9", 10_000)}, types.ErrInvalidBid, "price"},
		"a price of spaces":        {&types.Bid{Price: " "}, types.ErrInvalidBid, "price"},
		"static without any price": {&types.Bid{Static: &types.StaticBid{}}, types.ErrInvalidBid, "max_fee_per_cycle is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.bid.Validate()
			require.ErrorIs(t, err, c.want)
			require.ErrorContains(t, err, c.text)
			require.Less(t, len(err.Error()), 600, "the error repeats what was sent")
		})
	}
	for name, price := range badPrices() {
		require.ErrorIs(t, staticBid(price, zero).Validate(), types.ErrInvalidBid, name)
		require.ErrorContains(t, staticBid(price, zero).Validate(), "max_fee_per_cycle is ", name)
		require.ErrorIs(t, staticBid(zero, price).Validate(), types.ErrInvalidBid, name)
		require.ErrorContains(t, staticBid(zero, price).Validate(), "max_priority_fee_per_cycle is ", name)
	}
}
