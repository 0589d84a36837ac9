//go:build !noguests

package keeper_test

import (
	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/policies/agents"
	"github.com/cosmos-timers/timers/x/timers/policies/auction"
	"github.com/cosmos-timers/timers/x/timers/policies/score"
	"github.com/cosmos-timers/timers/x/timers/policies/tip"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// guestConfigs change a config so that a guest is in force, of those that call no agents.
func guestConfigs() []func(*types.TimerConfig) { return []func(*types.TimerConfig){inAuction, scored} }

// setAuction, setScore and setTip change parameters of those policies.
func setAuction(c *types.TimerConfig, change func(*auction.Params)) { types.ChangeParams(c, change) }

func setScore(c *types.TimerConfig, change func(*score.Params)) { types.ChangeParams(c, change) }

func setTip(c *types.TimerConfig, change func(*tip.Params)) { types.ChangeParams(c, change) }

// setAgents changes what a call of an agent may use, and all calls of a block.
func setAgents(c *types.TimerConfig, perCall, perBlock uint64) {
	types.ChangeParams(c, func(p *agents.Params) { p.CyclesPerCall, p.CyclesPerBlock = perCall, perBlock })
}

// defaultAgents are the default agents in a genesis.
func defaultAgents(g *types.GenesisState) (all []agents.ActorAgent) {
	for _, stated := range types.PoliciesOf[agents.DefaultAgents](g) {
		all = append(all, stated.Agents...)
	}
	return all
}

// auctionState is what policy auction carries, nil if nothing.
func auctionState(lane types.LaneState) *auction.State {
	return types.MessageOf[auction.State](lane.Policies)
}

// scoreEpoch is the number of the list of policy score.
func scoreEpoch(lane types.LaneState) uint64 {
	if state := types.MessageOf[score.State](lane.Policies); state != nil {
		return state.Epoch
	}
	return 0
}

// tipState is what policy tip carries.
func tipState(lane types.LaneState) tip.State {
	if state := types.MessageOf[tip.State](lane.Policies); state != nil {
		return *state
	}
	return tip.State{}
}

// tipWeights are the records of policy tip in a genesis.
func tipWeights(g *types.GenesisState) []tip.ActorWeight {
	return tip.WeightsIn(g)
}

// changeTip changes what a genesis has of policy tip.
func changeTip(g *types.GenesisState, change func(state *tip.State, weights *tip.Weights)) {
	state, weights := tipState(g.Lane), &tip.Weights{Weights: tipWeights(g)}
	g.Policies = nil
	change(&state, weights)
	g.Lane.SetPolicy(&state)
	g.AddPolicy(weights)
}

// auctionStanding is what the query Lane shows of policy auction.
func (f *fixture) auctionStanding() *auction.Standing {
	f.t.Helper()
	standing, ok := f.prices().OfPolicy.GetCachedValue().(*auction.Standing)
	require.True(f.t, ok)
	return standing
}
