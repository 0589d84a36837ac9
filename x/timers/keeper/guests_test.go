//go:build !noguests

package keeper_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	minttypes "github.com/cosmos/cosmos-sdk/x/mint/types"

	"github.com/cosmos-timers/timers/x/timers/policies/agents"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// TestGuests_AreRefusedWhereNoneIsRegistered: timers fire under the module's own policies, governance can select either, and a
// config that selects a guest is refused with the policies that the chain has.
//
// Rule: 1.7-guests
func TestGuests_AreRefusedWhereNoneIsRegistered(t *testing.T) {
	f := newFixture(t, func(opts *lab.ChainOptions) { opts.NoGuests = true })
	for _, policy := range []types.Policy{types.PolicyFIFO, types.PolicyEIP1559} {
		f.setConfig(func(c *types.TimerConfig) { c.Policy = policy })
		f.NextBlock()
		id := f.schedule(robot, f.Height()+1, f.noop())
		require.Empty(t, f.firedIDs(f.NextBlock()))
		require.Equal(t, []string{id}, f.firedIDs(f.NextBlock()))
	}
	for _, guest := range []types.Policy{types.PolicyAuction, types.PolicyScore, types.PolicyTip} {
		config := f.config()
		config.Policy = guest
		_, _, err := f.Tx(f.replaces(config))
		require.ErrorIs(t, err, types.ErrInvalidConfig)
		require.ErrorContains(t, err, "policy "+guest.String()+" is unknown to this chain; available: [POLICY_FIFO POLICY_EIP1559]")
	}
	require.NoError(t, f.Check())
}

// TestGuests_AgentsAreRefusedWhereNoneIsRegistered: who names an agent learns that the chain has none, and a genesis loses neither
// an agent nor a bid that names one.
//
// Rule: 1.9-no-agents
func TestGuests_AgentsAreRefusedWhereNoneIsRegistered(t *testing.T) {
	const none = "this chain has no bidding agents"
	f := newFixture(t, withConfig(inMarket), func(opts *lab.ChainOptions) { opts.NoGuests = true })
	agent := f.agent("agent", answers(1_000, "1", "0.5", "0"))
	for _, msg := range []sdk.Msg{
		&types.MsgSetAgent{Sender: alice.String(), Agent: agent.String()},
		scheduleMsg(robot, 5, f.noop(), byAgent(agent)),
	} {
		_, _, err := f.Tx(msg)
		require.ErrorIs(t, err, types.ErrInvalidAgent)
		require.ErrorContains(t, err, none)
	}
	_, _, err := f.Tx(&types.MsgSetAgent{Sender: alice.String()})
	require.NoError(t, err)
	id := f.schedule(robot, f.Height()+1, f.noop())
	f.NextBlock()
	require.Equal(t, []string{id}, f.firedIDs(f.NextBlock()))
	require.Empty(t, f.lane().Policies)

	// An upgrade to a binary without agents keeps the state of their calls, which no one reads any more.
	had := newFixture(t, withConfig(inMarket), func(opts *lab.ChainOptions) { opts.NoGuests = true })
	carried := had.lane()
	carried.SetPolicy(&agents.State{Cycles: 9, Unasked: 2, Billed: math.NewInt(7)})
	require.NoError(t, had.Timers.Engine().Lane.Set(had.Ctx(), carried))
	had.NextBlock()
	require.NoError(t, had.Check())
	exported := had.export()
	require.Empty(t, exported.Lane.Policies)
	require.NoError(t, genesisError(t, had, exported, 0, true), "the export is a genesis of that binary")

	asked := newFixture(t, withConfig(inMarket))
	agent = asked.agent("agent", answers(1_000, "1", "0.5", "0"))
	asked.schedule(robot, asked.Height()+50, asked.noop(), byAgent(agent))
	asked.NextBlock()
	bidding := asked.export()
	bidding.Config.PolicyParams = nil
	err = genesisError(t, asked, bidding, 0, true)
	require.ErrorIs(t, err, types.ErrInvalidGenesis)
	require.ErrorContains(t, err, "timer 0: "+none)
	require.NoError(t, genesisError(t, asked, bidding, 0, false))

	bidding.Timers = nil
	bidding.AddPolicy(&agents.DefaultAgents{Agents: []agents.ActorAgent{{Actor: alice, Agent: agent}}})
	err = genesisError(t, asked, bidding, 0, true)
	require.ErrorIs(t, err, types.ErrInvalidGenesis)
	require.ErrorContains(t, err, "policies: this chain has registered nothing that keeps /timers.agent.v1.DefaultAgents")
}

// genesisError is the error with which a chain takes a genesis, of which the module's account holds so much.
func genesisError(t *testing.T, f *fixture, genesis *types.GenesisState, held int64, noGuests bool) error {
	t.Helper()
	chain, err := lab.NewChain(lab.ChainOptions{Balances: []lab.Balance{{Address: robot, Amount: math.OneInt()}}, NoGuests: noGuests})
	require.NoError(t, err)
	ctx, coins := chain.Ctx().WithBlockHeight(int64(f.Height())), f.coins(held)
	require.NoError(t, chain.Bank.MintCoins(ctx, minttypes.ModuleName, coins))
	require.NoError(t, chain.Bank.SendCoinsFromModuleToModule(ctx, minttypes.ModuleName, types.ModuleName, coins))
	return chain.Timers.InitGenesis(ctx, genesis)
}

// TestGuests_GenesisHoldsNothingOfOneThatIsMissing: what only a guest returns or keeps is refused where it is not registered, and
// not lost. What the module's account holds beyond what timers have locked is refused under every wiring.
//
// Rule: 7-foreign-params, 1.7-guests-genesis, 2.1-locked-bids-backed
func TestGuests_GenesisHoldsNothingOfOneThatIsMissing(t *testing.T) {
	f := newFixture(t, withConfig(inAuction))
	f.schedule(robot, 50, f.noop(), bidding(price("700")))
	f.NextBlock()
	locked := f.export()

	g := newFixture(t, withConfig(func(c *types.TimerConfig) { c.Policy = types.PolicyTip }))
	g.schedule(robot, g.Height()+1, g.noop())
	g.NextBlock()
	g.NextBlock()
	weighed := g.export()
	require.NotEmpty(t, tipWeights(weighed))

	for _, genesis := range []*types.GenesisState{locked, weighed} {
		genesis.Config.Policy = types.PolicyEIP1559
	}
	require.NoError(t, genesisError(t, f, locked, 700, false))
	err := genesisError(t, f, locked, 700, true)
	require.ErrorIs(t, err, types.ErrInvalidConfig)
	require.ErrorContains(t, err, "policy_params: this chain has registered nothing with the parameters /timers.agent.v1.Params")
	for _, genesis := range []*types.GenesisState{locked, weighed} {
		genesis.Config.PolicyParams = nil
	}
	err = genesisError(t, f, locked, 700, true)
	require.ErrorIs(t, err, types.ErrInvalidGenesis)
	require.ErrorContains(t, err, "policies: this chain has registered nothing that keeps /timers.auction.v1.State")
	locked.Lane.Policies = nil
	err = genesisError(t, f, locked, 700, true)
	require.ErrorIs(t, err, types.ErrInvalidGenesis)
	require.ErrorContains(t, err, "timers[0] has locked 700: this chain has registered no policy that returns it")

	require.NoError(t, genesisError(t, g, weighed, 0, false))
	err = genesisError(t, g, weighed, 0, true)
	require.ErrorIs(t, err, types.ErrInvalidGenesis)
	require.ErrorContains(t, err, "policies: this chain has registered nothing that keeps /timers.tip.v1.")

	require.NoError(t, genesisError(t, f, types.NewGenesis("stake"), 0, true))
	require.ErrorContains(t, genesisError(t, f, types.NewGenesis("stake"), 3, true), "holds 3stake, its timers have locked 0 (bid_locked): want as much")
}
