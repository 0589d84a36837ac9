package app_test

import (
	"encoding/json"
	"testing"
	"time"

	abci "github.com/cometbft/cometbft/abci/types"
	dbm "github.com/cosmos/cosmos-db"
	"github.com/stretchr/testify/require"

	"cosmossdk.io/log"
	upgradetypes "cosmossdk.io/x/upgrade/types"

	"github.com/cosmos/cosmos-sdk/baseapp"
	simtestutil "github.com/cosmos/cosmos-sdk/testutil/sims"
	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"
	govtypes "github.com/cosmos/cosmos-sdk/x/gov/types"

	app "github.com/cosmos-timers/timers/testutil/exampleapp/after"
	before "github.com/cosmos-timers/timers/testutil/exampleapp/before"
	"github.com/cosmos-timers/timers/testutil/exampleapp/chain"
	"github.com/cosmos-timers/timers/x/timers/types"
)

type example = chain.Chain[*app.App]

var gov = authtypes.NewModuleAddress(govtypes.ModuleName).String()

func newApp(t *testing.T, db dbm.DB, home string) *app.App {
	t.Helper()
	return app.New(log.NewNopLogger(), db, nil, true, simtestutil.NewAppOptionsWithFlagHome(home),
		baseapp.SetChainID(chain.ID), baseapp.SetIAVLSyncPruning(true))
}

// change returns what changes the genesis of timers.
func change(t *testing.T, a *app.App, fn func(*types.GenesisState)) func(map[string]json.RawMessage) {
	t.Helper()
	return func(state map[string]json.RawMessage) {
		var genesis types.GenesisState
		a.AppCodec().MustUnmarshalJSON(state[types.ModuleName], &genesis)
		fn(&genesis)
		state[types.ModuleName] = a.AppCodec().MustMarshalJSON(&genesis)
	}
}

func start(t *testing.T) *example {
	t.Helper()
	a := newApp(t, dbm.NewMemDB(), t.TempDir())
	c := chain.Start(t, a, chain.Genesis(t, a, func(map[string]json.RawMessage) {}, "alice", "bob"), 0)
	c.Block()
	return c
}

func sendMsg(amount int64) *banktypes.MsgSend {
	return banktypes.NewMsgSend(chain.Address("alice"), chain.Address("bob"), sdk.NewCoins(sdk.NewInt64Coin(chain.Denom, amount)))
}

// timer of alice's that sends bob an amount.
func timer(t *testing.T, trigger types.Trigger, amount int64) *types.MsgScheduleTimer {
	t.Helper()
	payload, err := types.NewAccountPayload(sendMsg(amount))
	require.NoError(t, err)
	bz, err := payload.Marshal()
	require.NoError(t, err)
	return &types.MsgScheduleTimer{Sender: chain.Address("alice").String(), Spec: types.TimerSpec{Trigger: trigger, Call: types.TimerCall{Payload: bz}, GasLimit: 100_000}}
}

// fires runs a block and returns the results of its fires.
func fires(t *testing.T, c *example) []map[string]string {
	t.Helper()
	fired := chain.Events(c.Block(), "timers.v1.TimerFired")
	require.NoError(t, c.App.Timers.Keeper.CheckInvariants(c.Ctx()))
	for _, fire := range fired {
		require.Equal(t, "true", fire["success"], fire)
	}
	return fired
}

func TestATimerFires(t *testing.T) {
	c := start(t)
	c.Deliver("alice", timer(t, types.Trigger{Height: 4}, 5))
	require.Empty(t, fires(t, c))
	held := c.App.BankKeeper.GetBalance(c.Ctx(), chain.Address("bob"), chain.Denom)
	require.Len(t, fires(t, c), 1)
	require.Equal(t, held.AddAmount(sdk.NewInt64Coin(chain.Denom, 5).Amount),
		c.App.BankKeeper.GetBalance(c.Ctx(), chain.Address("bob"), chain.Denom))
}

// TestTheFeeDenomIsTheBondDenom: of x/staking, which is not the SDK's default; a genesis may state another one.
//
// Rule: 2.1-fee-denom
func TestTheFeeDenomIsTheBondDenom(t *testing.T) {
	c := start(t)
	config, err := c.App.Timers.Keeper.Config(c.Ctx())
	require.NoError(t, err)
	require.Equal(t, chain.Denom, config.FeeDenom)
	require.NotEqual(t, sdk.DefaultBondDenom, config.FeeDenom)
}

// TestAFeeDenomWithoutSupplyIsRefused: timers could never be paid for. So is a state that comes before those of the modules
// that know the denom.
//
// Rule: 2.1-other-modules-first, 2.1-fee-denom
func TestAFeeDenomWithoutSupplyIsRefused(t *testing.T) {
	try := func(fn func(*types.GenesisState), order ...string) (err error) {
		a := newApp(t, dbm.NewMemDB(), t.TempDir())
		if order != nil {
			a.ModuleManager.OrderInitGenesis = order
		}
		defer func() {
			if r := recover(); r != nil {
				err = r.(error)
			}
		}()
		_, err = chain.Try(t, a, chain.Genesis(t, a, change(t, a, fn), "alice", "bob"), 0)
		return err
	}
	err := try(func(g *types.GenesisState) { g.Config.FeeDenom = sdk.DefaultBondDenom })
	require.ErrorIs(t, err, types.ErrInvalidGenesis)
	require.ErrorContains(t, err, `fee_denom "stake" has no supply`)
	require.ErrorContains(t, err, "want x/bank before x/timers")

	err = try(func(*types.GenesisState) {}, authtypes.ModuleName, types.ModuleName)
	require.ErrorIs(t, err, types.ErrInvalidGenesis)
	require.ErrorContains(t, err, "want x/staking before x/timers")
	require.NoError(t, try(func(g *types.GenesisState) { g.Config.FeeDenom = chain.Denom }))
}

// TestAnUpgradeAddsTimers: a chain runs without timers, governance plans the upgrade, the old binary stops, and the new one
// continues with its data.
func TestAnUpgradeAddsTimers(t *testing.T) {
	db, home := dbm.NewMemDB(), t.TempDir()
	old := before.New(log.NewNopLogger(), db, nil, true, simtestutil.NewAppOptionsWithFlagHome(home), baseapp.SetChainID(chain.ID))
	c := chain.Start(t, old, chain.Genesis(t, old, func(map[string]json.RawMessage) {}, "alice", "bob"), 0)
	c.Block()
	plan := upgradetypes.Plan{Name: "timers", Height: 10}
	c.Pass("alice", 1, &upgradetypes.MsgSoftwareUpgrade{Authority: gov, Plan: plan})
	for old.LastBlockHeight() < plan.Height-1 {
		c.Block()
	}
	_, err := old.FinalizeBlock(c.Next())
	require.ErrorContains(t, err, `UPGRADE "timers" NEEDED`)

	next := chain.Resume(t, newApp(t, db, home), 0)
	require.EqualValues(t, plan.Height-1, next.App.LastBlockHeight())
	next.Block()
	config, err := next.App.Timers.Keeper.Config(next.Ctx())
	require.NoError(t, err)
	require.Equal(t, chain.Denom, config.FeeDenom)
	next.Deliver("alice", timer(t, types.Trigger{Height: 13}, 5))
	require.Empty(t, fires(t, next))
	require.Len(t, fires(t, next), 1)

	again := chain.Resume(t, newApp(t, db, home), 0)
	require.EqualValues(t, 13, again.App.LastBlockHeight(), "the binary that upgraded starts again")
	again.Deliver("alice", timer(t, types.Trigger{Height: 15}, 5))
	require.Len(t, fires(t, again), 1)
}

// TestMigrationsLeaveTheModuleAsItIs: the SDK's own check of a module's migrations.
//
// Rule: 2.5-consensus-version
func TestMigrationsLeaveTheModuleAsItIs(t *testing.T) {
	c := start(t)
	c.Deliver("alice", timer(t, types.Trigger{Height: 100}, 5))
	ctx := c.Ctx()
	exported, err := c.App.Timers.Keeper.ExportGenesis(ctx)
	require.NoError(t, err)
	versions := c.App.ModuleManager.GetVersionMap()
	require.EqualValues(t, 1, versions[types.ModuleName])
	migrated, err := c.App.Migrate(ctx, versions)
	require.NoError(t, err)
	require.Equal(t, versions, migrated)
	after, err := c.App.Timers.Keeper.ExportGenesis(ctx)
	require.NoError(t, err)
	require.Equal(t, exported, after)
}

// TestRestart_TakesTransactionsBeforeItsFirstBlock: the SDK forgets the header of its last block, refuses all signatures then, and
// takes any time for one that lies ages ahead.
func TestRestart_TakesTransactionsBeforeItsFirstBlock(t *testing.T) {
	db, home := dbm.NewMemDB(), t.TempDir()
	a := newApp(t, db, home)
	c := chain.Start(t, a, chain.Genesis(t, a, func(map[string]json.RawMessage) {}, "alice", "bob"), 0)
	c.Block()
	c.Block()
	at := c.Ctx().BlockTime().Add(time.Hour)
	tx := c.Sign("alice", timer(t, types.Trigger{Time: &at}, 5))
	require.NoError(t, a.Close())

	restarted := newApp(t, db, home)
	_, _, err := restarted.Simulate(tx)
	require.NoError(t, err)
	checked, err := restarted.CheckTx(&abci.RequestCheckTx{Tx: tx, Type: abci.CheckTxType_New})
	require.NoError(t, err)
	require.Zero(t, checked.Code, checked.Log)
	chain.Resume(t, restarted, 1).Block(tx)
}
