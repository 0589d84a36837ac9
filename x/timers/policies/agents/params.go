package agents

import (
	"github.com/cosmos-timers/timers/x/timers/types"
)

// DefaultParams returns the defaults of bidding agents.
func DefaultParams() Params {
	return Params{
		// Setting up a contract's query costs 60,000 gas unless its code is pinned; what remains is sixteen times what a
		// plain formula takes.
		CyclesPerCall: 150_000,
		// Ten of the longest calls, twenty of the usual ones, a hundred of pinned contracts: about as many as the default
		// lane can fire. Calls come on top of the lane's own cycles, so that this is below them.
		CyclesPerBlock: 1_500_000,
	}
}

// Defaults implements types.PolicyParams.
func (*Params) Defaults() types.PolicyParams {
	params := DefaultParams()
	return &params
}

// Validate implements types.PolicyParams: a block that asks agents has room for a call.
func (p *Params) Validate() error {
	check := types.CheckFor(types.ErrInvalidConfig)
	check.Uint("agent.cycles_per_call", p.CyclesPerCall, 2*types.AgentBaseCycles, types.MaxUnits)
	check.Uint("agent.cycles_per_block", p.CyclesPerBlock, 0, types.MaxUnits)
	if p.CyclesPerBlock > 0 {
		check.Ascend("agent.cycles_per_call", "agent.cycles_per_block", p.CyclesPerCall, p.CyclesPerBlock)
	}
	return check.Err()
}
