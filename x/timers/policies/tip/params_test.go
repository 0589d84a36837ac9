package tip_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/policies/tip"
	"github.com/cosmos-timers/timers/x/timers/testutil/policytest"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Rule: 7-checked-whatever
func TestParams_AreWithinTheirBounds(t *testing.T) {
	require.NoError(t, (*tip.Params)(nil).Defaults().Validate())
	// Weights are bounded by the extremes, which are 0.1 and 1 by default.
	all := func(p *tip.Params, edge decimal.Dec) {
		p.WeightMin, p.WeightMax, p.WeightNeutral, p.StarvationFloor = edge, edge, edge, edge
	}
	policytest.RequireBounds(t, tip.DefaultParams, map[string]policytest.Bound[tip.Params]{
		"tip.epoch_blocks":      {Uint: func(p *tip.Params) *uint64 { return &p.EpochBlocks }, Min: "1", Max: "1048576"},
		"tip.starvation_blocks": {Uint: func(p *tip.Params) *uint64 { return &p.StarvationBlocks }, Min: "1", Max: "1048576"},
		"tip.late_blocks":       {Uint: func(p *tip.Params) *uint64 { return &p.LateBlocks }, Min: "1", Max: "1048576"},
		"tip.decay":             {Dec: func(p *tip.Params) *decimal.Dec { return &p.Decay }, Min: "0", Max: "1"},
		"tip.inactivity_decay":  {Dec: func(p *tip.Params) *decimal.Dec { return &p.InactivityDecay }, Min: "0", Max: "1"},
		"tip.weight_min":        {Dec: func(p *tip.Params) *decimal.Dec { return &p.WeightMin }, Min: "0.001", Max: "1", AtEdge: all},
		"tip.weight_max":        {Dec: func(p *tip.Params) *decimal.Dec { return &p.WeightMax }, Min: "0.001", Max: "1", AtEdge: all},
		"tip.weight_neutral":    {Dec: func(p *tip.Params) *decimal.Dec { return &p.WeightNeutral }, Min: "0.1", Max: "1"},
		"tip.starvation_floor":  {Dec: func(p *tip.Params) *decimal.Dec { return &p.StarvationFloor }, Min: "0.1", Max: "1"},
	}, "share_tip", "share_outcome", "share_lateness", "share_budget")
	upsideDown := tip.DefaultParams()
	upsideDown.WeightMax = decimal.Of(math.LegacyMustNewDecFromStr("0.05"))
	require.ErrorContains(t, upsideDown.Validate(), "tip.weight_min is 0.100000000000000000, want 0.001000000000000000 to 0.050000000000000000")
}

func TestParams_RefuseSharesThatAreNoWhole(t *testing.T) {
	shares := func(p *tip.Params, values ...string) {
		for i, share := range []*decimal.Dec{&p.ShareTip, &p.ShareOutcome, &p.ShareLateness, &p.ShareBudget} {
			*share = decimal.Of(math.LegacyMustNewDecFromStr(values[i]))
		}
	}
	for name, c := range map[string]struct {
		shares []string
		want   string
	}{
		"a unit too much":   {[]string{"0.4", "0.3", "0.1", "0.200000000000000001"}, "sum to 1.000000000000000001, want 1"},
		"a unit too little": {[]string{"0.4", "0.3", "0.1", "0.199999999999999999"}, "sum to 0.999999999999999999, want 1"},
		"negative":          {[]string{"-0.1", "0.6", "0.3", "0.2"}, "tip.share_tip is -0.100000000000000000, want 0"},
		"more than all":     {[]string{"0", "1.1", "0", "-0.1"}, "tip.share_outcome is 1.100000000000000000"},
	} {
		t.Run(name, func(t *testing.T) {
			p := tip.DefaultParams()
			shares(&p, c.shares...)
			require.ErrorIs(t, p.Validate(), types.ErrInvalidConfig)
			require.ErrorContains(t, p.Validate(), c.want)
		})
	}
	p := tip.DefaultParams()
	p.ShareBudget = decimal.Of(math.LegacyDec{})
	require.ErrorContains(t, p.Validate(), "tip.share_budget is missing")
	shares(&p, "1", "0", "0", "0")
	require.NoError(t, p.Validate())
}
