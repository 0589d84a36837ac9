package auction_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	rules "github.com/cosmos-timers/timers/x/timers/market/auction"
	"github.com/cosmos-timers/timers/x/timers/policies/auction"
	"github.com/cosmos-timers/timers/x/timers/testutil/policytest"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Rule: 7-checked-whatever
func TestParams_AreWithinTheirBounds(t *testing.T) {
	require.NoError(t, (*auction.Params)(nil).Defaults().Validate())
	// λ starts within its bounds, so that an edge is that of all three.
	all := func(p *auction.Params, edge decimal.Dec) { p.LambdaStart, p.LambdaMin, p.LambdaMax = edge, edge, edge }
	policytest.RequireBounds(t, auction.DefaultParams, map[string]policytest.Bound[auction.Params]{
		"auction.lambda_start":          {Dec: func(p *auction.Params) *decimal.Dec { return &p.LambdaStart }, Min: "0.0001", Max: "10", AtEdge: all},
		"auction.lambda_min":            {Dec: func(p *auction.Params) *decimal.Dec { return &p.LambdaMin }, Min: "0.0001", Max: "10", AtEdge: all},
		"auction.lambda_max":            {Dec: func(p *auction.Params) *decimal.Dec { return &p.LambdaMax }, Min: "0.0001", Max: "10", AtEdge: all},
		"auction.lambda_step":           {Dec: func(p *auction.Params) *decimal.Dec { return &p.LambdaStep }, Min: "0", Max: "0.5"},
		"auction.auction_window_blocks": {Uint: func(p *auction.Params) *uint64 { return &p.AuctionWindowBlocks }, Min: "1", Max: "1099511627776"},
	}, "payment_rule", "reserve_price")
}

func TestParams_RefuseUnknownPaymentRules(t *testing.T) {
	for _, value := range []int32{-1, 0, 3, 99} {
		p := auction.DefaultParams()
		p.PaymentRule = auction.PaymentRule(value)
		require.ErrorIs(t, p.Validate(), types.ErrInvalidConfig)
		require.ErrorContains(t, p.Validate(), fmt.Sprintf("auction.payment_rule %d is unknown; want PAYMENT_RULE_VCG or PAYMENT_RULE_FIRST_PRICE", value))
	}
}

func TestParams_RefuseReservePrices(t *testing.T) {
	largest := math.NewIntFromUint64(1).MulRaw(1 << 48).MulRaw(1 << 48).SubRaw(1)
	for _, price := range []math.Int{{}, math.NewInt(-1), largest.AddRaw(1)} {
		p := auction.DefaultParams()
		p.ReservePrice = decimal.IntOf(price)
		require.ErrorIs(t, p.Validate(), types.ErrInvalidConfig)
		require.ErrorContains(t, p.Validate(), "auction.reserve_price is "+price.String()+", want 0 to 2^96 - 1")
	}
	for _, price := range []math.Int{math.ZeroInt(), largest} {
		p := auction.DefaultParams()
		p.ReservePrice = decimal.IntOf(price)
		require.NoError(t, p.Validate())
	}
}

func TestParams_LambdaStartsWithinItsBounds(t *testing.T) {
	for _, start := range []string{"0.009999999999999999", "0.500000000000000001"} {
		p := auction.DefaultParams()
		p.LambdaStart = decimal.Of(math.LegacyMustNewDecFromStr(start))
		require.ErrorIs(t, p.Validate(), types.ErrInvalidConfig)
		require.ErrorContains(t, p.Validate(),
			"auction.lambda_start ("+start+") must be from auction.lambda_min (0.010000000000000000) to auction.lambda_max (0.500000000000000000)")
	}
}

// TestState_HoldsTheLargestBias: a genesis may hold the largest bias that the rules give, and nothing above it.
func TestState_HoldsTheLargestBias(t *testing.T) {
	state := auction.State{Lambda: math.LegacyZeroDec(), Deferral: math.LegacyZeroDec()}
	state.ValueDecay = rules.Exp(math.LegacyNewDec(rules.MaxExponent))
	require.NoError(t, state.Validate(nil))
	state.ValueDecay = state.ValueDecay.Add(math.LegacySmallestDec())
	require.ErrorContains(t, state.Validate(nil), "value_decay")
}
