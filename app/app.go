// Package app is timerd's application: the modules of the Cosmos SDK that a proof-of-stake chain needs, and x/timers.
// It is wired by hand, so that one who wires the module into another chain sees every step: keepers.go, modules.go.
package app

import (
	"fmt"
	"io"
	"sync"

	abci "github.com/cometbft/cometbft/abci/types"
	dbm "github.com/cosmos/cosmos-db"

	autocliv1 "cosmossdk.io/api/cosmos/autocli/v1"
	reflectionv1 "cosmossdk.io/api/cosmos/reflection/v1"
	"cosmossdk.io/log"
	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos/cosmos-sdk/baseapp"
	"github.com/cosmos/cosmos-sdk/runtime"
	runtimeservices "github.com/cosmos/cosmos-sdk/runtime/services"
	servertypes "github.com/cosmos/cosmos-sdk/server/types"
	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/types/module"
	"github.com/cosmos/cosmos-sdk/version"
	"github.com/cosmos/cosmos-sdk/x/auth"
	authsims "github.com/cosmos/cosmos-sdk/x/auth/simulation"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"

	"github.com/cosmos-timers/timers/x/timers/genesis"
)

var (
	_ servertypes.Application = (*App)(nil)
	_ runtime.AppI            = (*App)(nil)
)

// App is the application.
type App struct {
	*baseapp.BaseApp
	Keepers
	Description

	keys         map[string]*storetypes.KVStoreKey
	configurator module.Configurator
	simulation   *module.SimulationManager

	closing sync.Once
}

// New wires the application and, if asked to, loads its latest state. It panics if the wiring is wrong or the state
// can't be read: there is no node without either.
func New(
	logger log.Logger, db dbm.DB, traceStore io.Writer, loadLatest bool,
	appOpts servertypes.AppOptions, baseAppOptions ...func(*baseapp.BaseApp),
) *App {
	encoding := newEncoding()
	base := baseapp.NewBaseApp(Name, logger, db, encoding.TxConfig.TxDecoder(), baseAppOptions...)
	base.SetCommitMultiStoreTracer(traceStore)
	base.SetVersion(version.Version)
	base.SetInterfaceRegistry(encoding.Registry)
	base.SetTxEncoder(encoding.TxConfig.TxEncoder())
	app := &App{BaseApp: base, Description: Description{encoding: encoding}, keys: storeKeys()}
	if err := app.wire(appOpts); err != nil {
		panic(fmt.Errorf("wiring the app: %w", err))
	}
	if loadLatest {
		if err := app.LoadLatestVersion(); err != nil {
			panic(fmt.Errorf("loading the latest state: %w", err))
		}
		if err := app.pinContracts(); err != nil {
			panic(fmt.Errorf("pinning contracts: %w", err))
		}
	}
	return app
}

func (app *App) wire(appOpts servertypes.AppOptions) error {
	if err := app.RegisterStreamingServices(appOpts, app.keys); err != nil {
		return err
	}
	app.wireKeepers(appOpts)
	if err := app.wireSigning(); err != nil {
		return err
	}
	if err := app.wireModules(); err != nil {
		return err
	}
	app.registerUpgrades()
	autocliv1.RegisterQueryServer(app.GRPCQueryRouter(), runtimeservices.NewAutoCLIQueryService(app.modules.Modules))
	reflection, err := runtimeservices.NewReflectionService()
	if err != nil {
		return err
	}
	reflectionv1.RegisterReflectionServiceServer(app.GRPCQueryRouter(), reflection)

	app.simulation = module.NewSimulationManagerFromAppModules(app.modules.Modules, map[string]module.AppModuleSimulation{
		authtypes.ModuleName: auth.NewAppModule(app.encoding.Codec, app.Accounts, authsims.RandomGenesisAccounts, nil),
	})
	app.simulation.RegisterStoreDecoders()

	if err := app.wireAnte(appOpts); err != nil {
		return err
	}
	if err := app.wireSnapshots(); err != nil {
		return err
	}
	app.MountKVStores(app.keys)
	app.SetInitChainer(app.InitChainer)
	app.SetPreBlocker(func(ctx sdk.Context, _ *abci.RequestFinalizeBlock) (*sdk.ResponsePreBlock, error) {
		return app.modules.PreBlock(ctx)
	})
	app.SetBeginBlocker(app.BeginBlocker)
	app.SetEndBlocker(app.EndBlocker)
	return nil
}

// InitChainer starts the chain from a genesis.
func (app *App) InitChainer(ctx sdk.Context, req *abci.RequestInitChain) (*abci.ResponseInitChain, error) {
	// The modules' parts are not copied: the state may be large.
	state, err := genesis.Fields(req.AppStateBytes)
	if err != nil {
		return nil, fmt.Errorf("app state: %w", err)
	}
	if err := app.Upgrade.SetModuleVersionMap(ctx, app.modules.GetVersionMap()); err != nil {
		return nil, err
	}
	return app.modules.InitGenesis(ctx, app.encoding.Codec, state)
}

// BeginBlocker runs the modules' work at the beginning of a block.
func (app *App) BeginBlocker(ctx sdk.Context) (sdk.BeginBlock, error) {
	return app.modules.BeginBlock(ctx)
}

// EndBlocker runs the modules' work at the end of a block, timers last.
func (app *App) EndBlocker(ctx sdk.Context) (sdk.EndBlock, error) { return app.modules.EndBlock(ctx) }

// Close closes what the application has open, once: the SDK's server closes it twice at a clean stop, which goleveldb answers
// with an error and pebbledb with a panic.
func (app *App) Close() (err error) {
	app.closing.Do(func() { err = app.BaseApp.Close() })
	return err
}

// LoadHeight loads the state of a height.
func (app *App) LoadHeight(height int64) error {
	if err := app.LoadVersion(height); err != nil {
		return err
	}
	return app.pinContracts()
}

// Modules returns the module manager.
func (app *App) Modules() *module.Manager { return app.modules }

// Configurator knows the modules' migrations, which handlers of upgrades run.
func (app *App) Configurator() module.Configurator { return app.configurator }

// StoreKey returns the key of a module's store.
func (app *App) StoreKey(name string) *storetypes.KVStoreKey { return app.keys[name] }

// GetBaseApp returns the application below the modules.
func (app *App) GetBaseApp() *baseapp.BaseApp { return app.BaseApp }

// SimulationManager returns the manager of simulations.
func (app *App) SimulationManager() *module.SimulationManager { return app.simulation }
