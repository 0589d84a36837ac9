package score_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/policies/score"
	"github.com/cosmos-timers/timers/x/timers/testutil/policytest"
)

// Rule: 7-checked-whatever
func TestParams_AreWithinTheirBounds(t *testing.T) {
	require.NoError(t, (*score.Params)(nil).Defaults().Validate())
	policytest.RequireBounds(t, score.DefaultParams, map[string]policytest.Bound[score.Params]{
		"score.w_age":  {Dec: func(p *score.Params) *decimal.Dec { return &p.WAge }, Min: "0", Max: "1000000"},
		"score.w_bid":  {Dec: func(p *score.Params) *decimal.Dec { return &p.WBid }, Min: "0", Max: "1000000"},
		"score.w_fifo": {Dec: func(p *score.Params) *decimal.Dec { return &p.WFifo }, Min: "0", Max: "1000000"},
	})
}

func TestSame_LooksAtEveryWeight(t *testing.T) {
	a := score.DefaultParams()
	require.True(t, a.Same(&a))
	for _, change := range []func(*score.Params){
		func(p *score.Params) { p.WAge = decimal.Of(math.LegacyNewDec(7)) },
		func(p *score.Params) { p.WBid = decimal.Of(math.LegacyNewDec(7)) },
		func(p *score.Params) { p.WFifo = decimal.Of(math.LegacyNewDec(7)) },
		func(p *score.Params) { p.WAge = decimal.Of(math.LegacyDec{}) },
	} {
		b := score.DefaultParams()
		change(&b)
		require.False(t, a.Same(&b))
		require.False(t, b.Same(&a))
		require.True(t, b.Same(&b))
	}
}
