package agents_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/policies/agents"
	"github.com/cosmos-timers/timers/x/timers/testutil/policytest"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Rule: 7-bounds
func TestParams_AreWithinTheirBounds(t *testing.T) {
	require.NoError(t, (*agents.Params)(nil).Defaults().Validate())
	policytest.RequireBounds(t, agents.DefaultParams, map[string]policytest.Bound[agents.Params]{
		"agent.cycles_per_call": {
			Uint: func(p *agents.Params) *uint64 { return &p.CyclesPerCall }, Min: "10000", Max: "1125899906842624",
			AtEdge: func(p *agents.Params, _ decimal.Dec) { p.CyclesPerBlock = types.MaxUnits },
		},
		"agent.cycles_per_block": {Uint: func(p *agents.Params) *uint64 { return &p.CyclesPerBlock }, Min: "0", Max: "1125899906842624"},
	})
}

// TestParams_RefuseABlockWithoutRoomForACall: agents that are on can be called.
//
// Rule: 7-bounds
func TestParams_RefuseABlockWithoutRoomForACall(t *testing.T) {
	for perBlock, want := range map[uint64]string{
		0: "", 10_000: "", 10_001: "",
		1:     "agent.cycles_per_call (10000) must not exceed agent.cycles_per_block (1)",
		9_999: "agent.cycles_per_call (10000) must not exceed agent.cycles_per_block (9999)",
	} {
		p := agents.Params{CyclesPerCall: 10_000, CyclesPerBlock: perBlock}
		if want == "" {
			require.NoError(t, p.Validate(), "%d", perBlock)
			continue
		}
		require.ErrorIs(t, p.Validate(), types.ErrInvalidConfig)
		require.ErrorContains(t, p.Validate(), want)
	}
}
