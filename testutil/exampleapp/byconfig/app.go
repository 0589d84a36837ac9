// Package byconfig is the small chain of the packages before and after, wired by depinject from an app config.
package byconfig

import (
	"encoding/json"
	"slices"

	dbm "github.com/cosmos/cosmos-db"

	runtimev1alpha1 "cosmossdk.io/api/cosmos/app/runtime/v1alpha1"
	appv1alpha1 "cosmossdk.io/api/cosmos/app/v1alpha1"
	authmodulev1 "cosmossdk.io/api/cosmos/auth/module/v1"
	bankmodulev1 "cosmossdk.io/api/cosmos/bank/module/v1"
	consensusmodulev1 "cosmossdk.io/api/cosmos/consensus/module/v1"
	distrmodulev1 "cosmossdk.io/api/cosmos/distribution/module/v1"
	feegrantmodulev1 "cosmossdk.io/api/cosmos/feegrant/module/v1"
	genutilmodulev1 "cosmossdk.io/api/cosmos/genutil/module/v1"
	govmodulev1 "cosmossdk.io/api/cosmos/gov/module/v1"
	mintmodulev1 "cosmossdk.io/api/cosmos/mint/module/v1"
	stakingmodulev1 "cosmossdk.io/api/cosmos/staking/module/v1"
	txconfigv1 "cosmossdk.io/api/cosmos/tx/config/v1"
	"cosmossdk.io/core/address"
	"cosmossdk.io/depinject"
	"cosmossdk.io/depinject/appconfig"
	"cosmossdk.io/log"
	"cosmossdk.io/x/feegrant"
	_ "cosmossdk.io/x/feegrant/module" // the module of the app config

	"github.com/cosmos/cosmos-sdk/baseapp"
	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/codec"
	"github.com/cosmos/cosmos-sdk/runtime"
	_ "github.com/cosmos/cosmos-sdk/x/auth" // the module of the app config
	authkeeper "github.com/cosmos/cosmos-sdk/x/auth/keeper"
	_ "github.com/cosmos/cosmos-sdk/x/auth/tx/config" // the entry of the app config
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	"github.com/cosmos/cosmos-sdk/x/bank"
	bankkeeper "github.com/cosmos/cosmos-sdk/x/bank/keeper"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"
	_ "github.com/cosmos/cosmos-sdk/x/consensus" // the module of the app config
	consensustypes "github.com/cosmos/cosmos-sdk/x/consensus/types"
	_ "github.com/cosmos/cosmos-sdk/x/distribution" // the module of the app config
	distrkeeper "github.com/cosmos/cosmos-sdk/x/distribution/keeper"
	distrtypes "github.com/cosmos/cosmos-sdk/x/distribution/types"
	"github.com/cosmos/cosmos-sdk/x/genutil"
	genutiltypes "github.com/cosmos/cosmos-sdk/x/genutil/types"
	_ "github.com/cosmos/cosmos-sdk/x/gov" // the module of the app config
	govtypes "github.com/cosmos/cosmos-sdk/x/gov/types"
	_ "github.com/cosmos/cosmos-sdk/x/mint" // the module of the app config
	minttypes "github.com/cosmos/cosmos-sdk/x/mint/types"
	_ "github.com/cosmos/cosmos-sdk/x/staking" // the module of the app config
	stakingkeeper "github.com/cosmos/cosmos-sdk/x/staking/keeper"
	stakingtypes "github.com/cosmos/cosmos-sdk/x/staking/types"

	_ "github.com/cosmos-timers/timers/x/timers" // the module of the app config
	"github.com/cosmos-timers/timers/x/timers/actors"
	"github.com/cosmos-timers/timers/x/timers/client/restart"
	timerskeeper "github.com/cosmos-timers/timers/x/timers/keeper"
	timersmodulev1 "github.com/cosmos-timers/timers/x/timers/module/v1"
	timerstypes "github.com/cosmos-timers/timers/x/timers/types"
	"github.com/cosmos-timers/timers/x/timers/watch"
)

// Prefix of the chain's addresses.
const Prefix = "cosmos"

// App is the chain.
type App struct {
	*runtime.App
	AccountKeeper authkeeper.AccountKeeper
	BankKeeper    bankkeeper.BaseKeeper
	StakingKeeper *stakingkeeper.Keeper
	DistrKeeper   distrkeeper.Keeper
	TimersKeeper  *timerskeeper.Keeper
	// TimerActors is where runtimes, and TimerModules where Go modules register, that depinject does not provide.
	TimerActors  *actors.Router
	TimerModules *actors.ModuleRuntime

	codec    codec.Codec
	txConfig client.TxConfig
}

// Config of the app. A test changes the module's entry, or adds its own providers when it makes the app. Modules that are
// registered by hand have their genesis before that of timers.
func Config(timers *timersmodulev1.Module, registered ...string) depinject.Config {
	genesisOrder := slices.Concat([]string{
		consensustypes.ModuleName, authtypes.ModuleName, banktypes.ModuleName, distrtypes.ModuleName,
		stakingtypes.ModuleName, govtypes.ModuleName, minttypes.ModuleName, feegrant.ModuleName,
	}, registered, []string{timerstypes.ModuleName, genutiltypes.ModuleName})
	return appconfig.Compose(&appv1alpha1.Config{Modules: []*appv1alpha1.ModuleConfig{
		{Name: runtime.ModuleName, Config: appconfig.WrapAny(&runtimev1alpha1.Module{
			AppName:     "example",
			PreBlockers: []string{authtypes.ModuleName},
			BeginBlockers: []string{
				timerstypes.ModuleName, minttypes.ModuleName, distrtypes.ModuleName, stakingtypes.ModuleName,
			},
			EndBlockers: []string{
				govtypes.ModuleName, stakingtypes.ModuleName, feegrant.ModuleName, timerstypes.ModuleName,
			},
			InitGenesis: genesisOrder, ExportGenesis: genesisOrder,
			OverrideStoreKeys: []*runtimev1alpha1.StoreKeyConfig{{ModuleName: authtypes.ModuleName, KvStoreKey: authtypes.StoreKey}},
		})},
		{Name: authtypes.ModuleName, Config: appconfig.WrapAny(&authmodulev1.Module{
			Bech32Prefix: Prefix,
			ModuleAccountPermissions: []*authmodulev1.ModuleAccountPermission{
				{Account: authtypes.FeeCollectorName},
				{Account: distrtypes.ModuleName},
				{Account: minttypes.ModuleName, Permissions: []string{authtypes.Minter}},
				{Account: stakingtypes.BondedPoolName, Permissions: []string{authtypes.Burner, authtypes.Staking}},
				{Account: stakingtypes.NotBondedPoolName, Permissions: []string{authtypes.Burner, authtypes.Staking}},
				{Account: govtypes.ModuleName, Permissions: []string{authtypes.Burner}},
				{Account: timerstypes.ModuleName, Permissions: []string{authtypes.Burner}},
			},
		})},
		{Name: banktypes.ModuleName, Config: appconfig.WrapAny(&bankmodulev1.Module{})},
		{Name: stakingtypes.ModuleName, Config: appconfig.WrapAny(&stakingmodulev1.Module{})},
		{Name: distrtypes.ModuleName, Config: appconfig.WrapAny(&distrmodulev1.Module{})},
		{Name: minttypes.ModuleName, Config: appconfig.WrapAny(&mintmodulev1.Module{})},
		{Name: feegrant.ModuleName, Config: appconfig.WrapAny(&feegrantmodulev1.Module{})},
		{Name: govtypes.ModuleName, Config: appconfig.WrapAny(&govmodulev1.Module{})},
		{Name: consensustypes.ModuleName, Config: appconfig.WrapAny(&consensusmodulev1.Module{})},
		{Name: genutiltypes.ModuleName, Config: appconfig.WrapAny(&genutilmodulev1.Module{})},
		{Name: "tx", Config: appconfig.WrapAny(&txconfigv1.Config{})},
		{Name: timerstypes.ModuleName, Config: appconfig.WrapAny(timers)},
	}})
}

// init puts ProvideBank in place of the module's own provider, so that timers can watch balances.
func init() {
	appconfig.RegisterModule(&bankmodulev1.Module{},
		appconfig.Provide(ProvideBank), appconfig.Invoke(bank.InvokeSetSendRestrictions))
}

// ProvideBank is the provider of x/bank on a store that can be watched.
func ProvideBank(in bank.ModuleInputs, watcher *watch.Watcher, addresses address.Codec) bank.ModuleOutputs {
	in.StoreService = watcher.Service(in.StoreService, watch.Bank(addresses))
	return bank.ProvideModule(in)
}

// New makes the app from its config and loads its latest state.
func New(logger log.Logger, db dbm.DB, config depinject.Config, options ...func(*baseapp.BaseApp)) (*App, error) {
	app, err := Build(logger, db, config, options...)
	if err != nil {
		return nil, err
	}
	app.SetAnteHandler(restart.Ante(app, app.AnteHandler()))
	return app, app.Load(true)
}

// Build makes the app from its config. What is wired by hand comes before its Load.
func Build(logger log.Logger, db dbm.DB, config depinject.Config, options ...func(*baseapp.BaseApp)) (*App, error) {
	app := &App{}
	var builder *runtime.AppBuilder
	if err := depinject.Inject(depinject.Configs(config, depinject.Supply(logger)), &builder, &app.codec, &app.txConfig,
		&app.AccountKeeper, &app.BankKeeper, &app.StakingKeeper, &app.DistrKeeper,
		&app.TimersKeeper, &app.TimerActors, &app.TimerModules); err != nil {
		return nil, err
	}
	app.App = builder.Build(db, nil, options...)
	return app, nil
}

// AppCodec returns the codec.
func (app *App) AppCodec() codec.Codec { return app.codec }

// TxConfig returns how transactions are built and signed.
func (app *App) TxConfig() client.TxConfig { return app.txConfig }

// Accounts returns the accounts' keeper.
func (app *App) Accounts() authkeeper.AccountKeeper { return app.AccountKeeper }

// DefaultGenesis returns an empty chain.
func (app *App) DefaultGenesis() map[string]json.RawMessage {
	genesis := app.App.DefaultGenesis()
	genesis[genutiltypes.ModuleName] = genutil.AppModuleBasic{}.DefaultGenesis(app.codec)
	return genesis
}
