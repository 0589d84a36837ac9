package byconfig_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	abci "github.com/cometbft/cometbft/abci/types"
	dbm "github.com/cosmos/cosmos-db"
	"github.com/stretchr/testify/require"

	"cosmossdk.io/depinject"
	"cosmossdk.io/log"
	sdkmath "cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"
	"cosmossdk.io/x/feegrant"

	"github.com/cosmos/cosmos-sdk/baseapp"
	"github.com/cosmos/cosmos-sdk/runtime"
	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	bankkeeper "github.com/cosmos/cosmos-sdk/x/bank/keeper"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/testutil/exampleapp/byconfig"
	"github.com/cosmos-timers/timers/testutil/exampleapp/chain"
	"github.com/cosmos-timers/timers/testutil/subscriptions"
	"github.com/cosmos-timers/timers/x/timers"
	"github.com/cosmos-timers/timers/x/timers/fees"
	timerskeeper "github.com/cosmos-timers/timers/x/timers/keeper"
	timersmodulev1 "github.com/cosmos-timers/timers/x/timers/module/v1"
	"github.com/cosmos-timers/timers/x/timers/types"
)

type example = chain.Chain[*byconfig.App]

// start runs a chain wired by config, with what a test adds to the container.
func start(t *testing.T, module *timersmodulev1.Module, added ...depinject.Config) *example {
	t.Helper()
	config := depinject.Configs(append(added, byconfig.Config(module))...)
	app, err := byconfig.New(log.NewNopLogger(), dbm.NewMemDB(), config, baseapp.SetChainID(chain.ID))
	require.NoError(t, err)
	genesis := chain.Genesis(t, app, func(map[string]json.RawMessage) {}, "alice", "bob")
	c := chain.Start(t, app, genesis, 0)
	c.Block()
	return c
}

func sendTimer(t *testing.T, trigger types.Trigger) *types.MsgScheduleTimer {
	t.Helper()
	payload, err := types.NewAccountPayload(banktypes.NewMsgSend(chain.Address("alice"), chain.Address("bob"),
		sdk.NewCoins(sdk.NewInt64Coin(chain.Denom, 5))))
	require.NoError(t, err)
	bz, err := payload.Marshal()
	require.NoError(t, err)
	return &types.MsgScheduleTimer{Sender: chain.Address("alice").String(), Spec: types.TimerSpec{Trigger: trigger, Call: types.TimerCall{Payload: bz}, GasLimit: 100_000}}
}

func TestAccountsOwnTimers(t *testing.T) {
	c := start(t, &timersmodulev1.Module{})
	config, err := c.App.TimersKeeper.Config(c.Ctx())
	require.NoError(t, err)
	require.Equal(t, chain.Denom, config.FeeDenom, "the bond denom of x/staking")
	require.IsType(t, fees.ProposerTips{}, c.App.TimersKeeper.Engine().Fees.Tips)
	require.NotNil(t, c.App.TimersKeeper.Engine().Fees.Feegrant)

	c.Deliver("alice", sendTimer(t, types.Trigger{Height: 4}))
	c.Block()
	fired := chain.Events(c.Block(), "timers.v1.TimerFired")
	require.Len(t, fired, 1)
	require.Equal(t, "true", fired[0]["success"], fired[0])
	require.Equal(t, chain.Funds.AddRaw(5), c.App.BankKeeper.GetBalance(c.Ctx(), chain.Address("bob"), chain.Denom).Amount)
	require.NoError(t, c.App.TimersKeeper.CheckInvariants(c.Ctx()))
}

// TestBalancesCanBeWatched: the config wraps the store of x/bank.
func TestBalancesCanBeWatched(t *testing.T) {
	c := start(t, &timersmodulev1.Module{})
	key, err := c.App.TimersKeeper.Engine().Watches.Watcher().Parse("bank:balance:" + chain.Address("bob").String() + ":" + chain.Denom)
	require.NoError(t, err)
	c.Deliver("alice", sendTimer(t, types.Trigger{Watch: &types.WatchTrigger{Keys: []types.WatchKey{key}}}))
	require.Empty(t, chain.Events(c.Block(), "timers.v1.TimerFired"))
	send := banktypes.NewMsgSend(chain.Address("alice"), chain.Address("bob"), sdk.NewCoins(sdk.NewInt64Coin(chain.Denom, 1)))
	require.Len(t, chain.Events(c.Deliver("alice", send), "timers.v1.TimerFired"), 1)
}

// beats is a Go module that schedules its own next call. Depinject wants providers to be exported functions.
const beats = "beats"

var (
	beatOwner = authtypes.NewModuleAddress(beats)
	beatsAt   []uint64
)

func ProvideHandler(k *timerskeeper.Keeper) timers.GoHandler {
	return timers.GoHandler{Module: beats, Handler: types.DefaultHandler, Call: func(ctx context.Context, d types.Delivery) error {
		beatsAt = append(beatsAt, d.Height)
		return beat(ctx, k, d.Height+2)
	}}
}

func beat(ctx context.Context, k *timerskeeper.Keeper, height uint64) error {
	_, err := k.Schedule(ctx, timerskeeper.ScheduleRequest{
		Actor: beatOwner, Spec: types.TimerSpec{Trigger: types.Trigger{Height: height}, GasLimit: 100_000},
	})
	return err
}

// ProvideDirectDebits is an option that needs a keeper.
func ProvideDirectDebits(bank bankkeeper.BaseKeeper) timers.KeeperOption {
	return timers.KeeperOption{Option: timerskeeper.WithBalances(bank.Balances)}
}

// TestGoModulesOwnTimers: the handler of a module needs the timers' keeper, which needs the router that knows the handler.
func TestGoModulesOwnTimers(t *testing.T) {
	// The module's account is not among those that the chain blocks, so that it can pay.
	c := start(t, &timersmodulev1.Module{}, depinject.Provide(ProvideHandler, ProvideDirectDebits))
	require.NoError(t, c.App.BankKeeper.SendCoins(c.Ctx(), chain.Address("alice"), beatOwner,
		sdk.NewCoins(sdk.NewInt64Coin(chain.Denom, 1_000_000))))
	require.NoError(t, beat(c.Ctx(), c.App.TimersKeeper, 2))
	require.NotNil(t, c.App.TimersKeeper.Engine().Fees.Balances)
	for range 4 {
		c.Block()
	}
	require.Equal(t, []uint64{2, 4}, beatsAt)
}

// robots is a runtime that serves one address.
type robots struct{ types.Runtime }

var served int

func (robots) Serves(_ context.Context, actor sdk.AccAddress) bool {
	return chain.Address("alice").Equals(actor)
}

func (robots) Validate(context.Context, *types.TimerConfig, types.Call) error { return nil }

func (robots) Deliver(context.Context, *types.TimerConfig, types.Delivery) error {
	served++
	return nil
}

func (robots) Deployer(_ context.Context, actor sdk.AccAddress) sdk.AccAddress { return actor }

// Prices are a fee market, Tips a collector of the chain's own.
type Prices struct{}

func (Prices) Basefees(context.Context, *types.TimerConfig) (cycle, cell sdkmath.LegacyDec, err error) {
	return sdkmath.LegacyNewDecWithPrec(5, 3), sdkmath.LegacyNewDecWithPrec(7, 2), nil
}

type Tips struct{}

func (Tips) PayTips(context.Context, string, sdk.Coins) error { return nil }

func ProvideRuntime() timers.ActorRuntime { return timers.ActorRuntime{Runtime: robots{}} }

func ProvidePrices() (types.BasefeeSource, types.TipCollector) { return Prices{}, Tips{} }

// TestTheContainerReplacesDefaults: runtimes, the fee market, the collector of tips, authority and fee denom.
//
// Rule: 2.1-fee-denom, 3.7-authority
func TestTheContainerReplacesDefaults(t *testing.T) {
	c := start(t, &timersmodulev1.Module{Authority: "robots", FeeDenom: chain.Denom}, depinject.Provide(ProvideRuntime, ProvidePrices))
	require.Equal(t, authtypes.NewModuleAddress("robots").String(), c.App.TimersKeeper.Authority(c.Ctx()))
	require.IsType(t, Tips{}, c.App.TimersKeeper.Engine().Fees.Tips)
	require.Equal(t, chain.Denom, c.App.TimersKeeper.DefaultGenesis().Config.FeeDenom)
	c.Deliver("alice", sendTimer(t, types.Trigger{Height: 3}))
	fired := chain.Events(c.Block(), "timers.v1.TimerFired")
	require.Len(t, fired, 1)
	require.Equal(t, 1, served)
	genesis, err := c.App.TimersKeeper.ExportGenesis(c.Ctx())
	require.NoError(t, err)
	require.Equal(t, "0.005000000000000000", genesis.Lane.CycleBasefee.String())
}

// TestTheModuleOfTheDocumentationWorksHere: modules.md is written for timerd; its module runs on this chain as it is.
func TestTheModuleOfTheDocumentationWorksHere(t *testing.T) {
	key := storetypes.NewKVStoreKey(subscriptions.StoreKey)
	mount := func(base *baseapp.BaseApp) { base.MountStores(key) }
	app, err := byconfig.New(log.NewNopLogger(), dbm.NewMemDB(), byconfig.Config(&timersmodulev1.Module{}), baseapp.SetChainID(chain.ID), mount)
	require.NoError(t, err)
	keeper := subscriptions.NewKeeper(runtime.NewKVStoreService(key), app.BankKeeper, app.TimersKeeper)
	keeper.Register(app.TimerModules)
	c := chain.Start(t, app, chain.Genesis(t, app, func(map[string]json.RawMessage) {}, "alice", "bob"), 0)
	c.Block()

	allowance, err := feegrant.NewAllowedMsgAllowance(&feegrant.BasicAllowance{}, []string{"/timers.v1.MsgScheduleTimer"})
	require.NoError(t, err)
	grant, err := feegrant.NewMsgGrantAllowance(allowance, chain.Address("bob"), subscriptions.Address)
	require.NoError(t, err)
	c.Deliver("bob", grant)
	price := sdk.NewInt64Coin(chain.Denom, 700)
	require.NoError(t, keeper.Subscribe(c.Ctx(), chain.Address("alice"), chain.Address("bob"), price, 2))
	c.Block()
	held := c.App.BankKeeper.GetBalance(c.Ctx(), chain.Address("alice"), chain.Denom)
	fired := chain.Events(c.Block(), "timers.v1.TimerFired")
	require.Len(t, fired, 1)
	require.Equal(t, "true", fired[0]["success"], fired[0])
	require.Equal(t, held.Sub(price), c.App.BankKeeper.GetBalance(c.Ctx(), chain.Address("alice"), chain.Denom))
}

// TestRestart_TakesTransactionsBeforeItsFirstBlock: as the app that is wired by hand.
func TestRestart_TakesTransactionsBeforeItsFirstBlock(t *testing.T) {
	db := dbm.NewMemDB()
	open := func() *byconfig.App {
		app, err := byconfig.New(log.NewNopLogger(), db, byconfig.Config(&timersmodulev1.Module{}), baseapp.SetChainID(chain.ID))
		require.NoError(t, err)
		return app
	}
	app := open()
	c := chain.Start(t, app, chain.Genesis(t, app, func(map[string]json.RawMessage) {}, "alice", "bob"), 0)
	c.Block()
	c.Block()
	at := c.Ctx().BlockTime().Add(time.Hour)
	tx := c.Sign("alice", sendTimer(t, types.Trigger{Time: &at}))
	require.NoError(t, app.Close())

	restarted := open()
	_, _, err := restarted.Simulate(tx)
	require.NoError(t, err)
	checked, err := restarted.CheckTx(&abci.RequestCheckTx{Tx: tx, Type: abci.CheckTxType_New})
	require.NoError(t, err)
	require.Zero(t, checked.Code, checked.Log)
}
