//go:build !noguests

package genesis_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"

	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/policies/agents"
	"github.com/cosmos-timers/timers/x/timers/policies/auction"
	"github.com/cosmos-timers/timers/x/timers/policies/guests"
	"github.com/cosmos-timers/timers/x/timers/policies/tip"
	"github.com/cosmos-timers/timers/x/timers/types"
)

func registerGuests(registry codectypes.InterfaceRegistry) {
	guests.RegisterInterfaces(registry)
	policies.RegisterInterfaces(registry, &agents.Registry{})
}

// addGuests adds to a genesis all that the guests keep.
func addGuests(g *types.GenesisState, actor []byte) {
	g.Lane.SetPolicy(&tip.State{Epoch: 3, Start: 2, EpochBlocks: 4, Oldest: 2})
	g.AddPolicy(&tip.Weights{Weights: []tip.ActorWeight{{Actor: actor, Weight: tip.Weight{
		Weight: math.LegacyNewDecWithPrec(5, 1), Epoch: 2, Fires: 2, Blocks: 1, Unfunded: 3, Tip: math.LegacyOneDec(),
		Outcome: math.LegacyOneDec(), Lateness: math.LegacySmallestDec(), Use: math.LegacySmallestDec(), Starved: true, LastFire: 2,
	}}}})
	g.Lane.SetPolicy(&agents.State{Cycles: 7, Unasked: 1, Billed: math.NewInt(3), Payer: actor, Turn: types.QueueKey{Due: 6, Seq: 1}})
	g.AddPolicy(&agents.DefaultAgents{Agents: []agents.ActorAgent{{Actor: actor, Agent: actor}}})
	g.Lane.SetPolicy(&auction.State{
		Lambda: math.LegacyNewDecWithPrec(5, 2), ValueDecay: math.LegacySmallestDec(), Deferral: math.LegacyOneDec(), Blocks: 4,
	})
}

// addGuestEpoch adds an epoch of policy tip to a genesis of height 1,000. It returns what it is after a move back.
func addGuestEpoch(g *types.GenesisState) func(t *testing.T, moved *types.GenesisState, first uint64) {
	g.Lane.SetPolicy(&tip.State{Epoch: 3, Start: 800, EpochBlocks: 100, Oldest: 2})
	return func(t *testing.T, moved *types.GenesisState, first uint64) {
		t.Helper()
		require.Equal(t, &tip.State{Epoch: 5, Start: first, EpochBlocks: 100, Oldest: 2}, types.MessageOf[tip.State](moved.Lane.Policies))
	}
}
