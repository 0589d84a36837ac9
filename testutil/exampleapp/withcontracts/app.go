// Package withcontracts is the chain of package byconfig with x/wasm, whose contracts own timers. x/wasm does not support
// depinject, so that it is registered by hand, without IBC.
package withcontracts

import (
	"github.com/CosmWasm/wasmd/x/wasm"
	wasmkeeper "github.com/CosmWasm/wasmd/x/wasm/keeper"
	wasmtypes "github.com/CosmWasm/wasmd/x/wasm/types"
	cmtproto "github.com/cometbft/cometbft/proto/tendermint/types"
	dbm "github.com/cosmos/cosmos-db"

	"cosmossdk.io/depinject"
	"cosmossdk.io/log"
	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos/cosmos-sdk/baseapp"
	"github.com/cosmos/cosmos-sdk/runtime"
	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/x/auth/ante"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	distrkeeper "github.com/cosmos/cosmos-sdk/x/distribution/keeper"
	govtypes "github.com/cosmos/cosmos-sdk/x/gov/types"

	"github.com/cosmos-timers/timers/testutil/exampleapp/byconfig"
	"github.com/cosmos-timers/timers/wasmbinding"
	"github.com/cosmos-timers/timers/x/timers"
	"github.com/cosmos-timers/timers/x/timers/actors"
	"github.com/cosmos-timers/timers/x/timers/client/restart"
	timerskeeper "github.com/cosmos-timers/timers/x/timers/keeper"
	timersmodulev1 "github.com/cosmos-timers/timers/x/timers/module/v1"
	"github.com/cosmos-timers/timers/x/timers/policies/agents"
)

// App is the chain.
type App struct {
	*byconfig.App
	WasmKeeper wasmkeeper.Keeper
}

// ProvideAgents lets contracts price timers.
func ProvideAgents() timers.KeeperOption {
	return timers.KeeperOption{Option: timerskeeper.WithAgents(agents.New)}
}

// New makes the app and loads its latest state. The code of its contracts is stored below home, which one app at a time
// may use.
func New(logger log.Logger, db dbm.DB, home string, options ...func(*baseapp.BaseApp)) (*App, error) {
	config := depinject.Configs(byconfig.Config(&timersmodulev1.Module{}, wasmtypes.ModuleName), depinject.Provide(ProvideAgents))
	base, err := byconfig.Build(logger, db, config, options...)
	if err != nil {
		return nil, err
	}
	app := &App{App: base}
	if err := app.wireContracts(home); err != nil {
		return nil, err
	}
	if err := app.Load(true); err != nil {
		return nil, err
	}
	return app, app.WasmKeeper.InitializePinnedCodes(app.NewUncachedContext(true, cmtproto.Header{}))
}

func (app *App) wireContracts(home string) error {
	key, cdc := storetypes.NewKVStoreKey(wasmtypes.StoreKey), app.AppCodec()
	if err := app.RegisterStores(key); err != nil {
		return err
	}
	entryPoints := wasmbinding.NewEntryPoints()
	app.WasmKeeper = wasmkeeper.NewKeeper(
		cdc, runtime.NewKVStoreService(key), app.AccountKeeper, app.BankKeeper, app.StakingKeeper,
		distrkeeper.NewQuerier(app.DistrKeeper), nil, nil, nil, nil, app.MsgServiceRouter(), app.GRPCQueryRouter(), home,
		wasmtypes.DefaultNodeConfig(), wasmtypes.VMConfig{},
		append(wasmkeeper.BuiltInCapabilities(), wasmbinding.Capability),
		authtypes.NewModuleAddress(govtypes.ModuleName).String(),
		append(wasmbinding.Options(cdc, app.GRPCQueryRouter()), entryPoints.Option())...)
	app.TimerActors.Prepend(wasmbinding.Runtime(&app.WasmKeeper,
		actors.WithMessages(actors.NewMessages(cdc, app.MsgServiceRouter())), entryPoints.Check(&app.WasmKeeper)))
	app.wireAnte(key)
	if snapshots := app.SnapshotManager(); snapshots != nil {
		if err := snapshots.RegisterExtensions(wasmkeeper.NewWasmSnapshotter(app.CommitMultiStore(), &app.WasmKeeper)); err != nil {
			return err
		}
	}
	return app.RegisterModules(wasm.NewAppModule(
		cdc, &app.WasmKeeper, app.StakingKeeper, app.AccountKeeper, app.BankKeeper, app.MsgServiceRouter(), nil))
}

// wireAnte puts what x/wasm demands of a transaction around the SDK's own decorators.
func (app *App) wireAnte(key *storetypes.KVStoreKey) {
	app.SetAnteHandler(restart.Ante(app, sdk.ChainAnteDecorators(
		ante.NewSetUpContextDecorator(),
		wasmkeeper.NewLimitSimulationGasDecorator(wasmtypes.DefaultNodeConfig().SimulationGasLimit),
		wasmkeeper.NewCountTXDecorator(runtime.NewKVStoreService(key)),
		wasmkeeper.NewGasRegisterDecorator(app.WasmKeeper.GetGasRegister()),
		wasmkeeper.NewTxContractsDecorator(),
		ante.NewValidateBasicDecorator(),
		ante.NewConsumeGasForTxSizeDecorator(app.AccountKeeper),
		ante.NewDeductFeeDecorator(app.AccountKeeper, app.BankKeeper, nil, nil),
		ante.NewSetPubKeyDecorator(app.AccountKeeper),
		ante.NewSigGasConsumeDecorator(app.AccountKeeper, ante.DefaultSigVerificationGasConsumer),
		ante.NewSigVerificationDecorator(app.AccountKeeper, app.TxConfig().SignModeHandler()),
		ante.NewIncrementSequenceDecorator(app.AccountKeeper),
	)))
}
