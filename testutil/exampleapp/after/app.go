// Package app is a small chain, wired by hand. It comes twice: in the directory before as a chain of the SDK's own modules
// alone, in the directory after with one module more. A page of the documentation is the difference.
package app

import (
	"encoding/json"
	"io"

	abci "github.com/cometbft/cometbft/abci/types"
	cmtproto "github.com/cometbft/cometbft/proto/tendermint/types"
	dbm "github.com/cosmos/cosmos-db"
	"github.com/spf13/cast"

	"cosmossdk.io/log"
	storetypes "cosmossdk.io/store/types"
	"cosmossdk.io/x/feegrant"
	feegrantkeeper "cosmossdk.io/x/feegrant/keeper"
	feegrantmodule "cosmossdk.io/x/feegrant/module"
	"cosmossdk.io/x/upgrade"
	upgradekeeper "cosmossdk.io/x/upgrade/keeper"
	upgradetypes "cosmossdk.io/x/upgrade/types"

	"github.com/cosmos/cosmos-sdk/baseapp"
	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/client/flags"
	"github.com/cosmos/cosmos-sdk/codec"
	"github.com/cosmos/cosmos-sdk/codec/address"
	"github.com/cosmos/cosmos-sdk/codec/testutil"
	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	"github.com/cosmos/cosmos-sdk/runtime"
	servertypes "github.com/cosmos/cosmos-sdk/server/types"
	"github.com/cosmos/cosmos-sdk/std"
	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/types/module"
	"github.com/cosmos/cosmos-sdk/x/auth"
	"github.com/cosmos/cosmos-sdk/x/auth/ante"
	authkeeper "github.com/cosmos/cosmos-sdk/x/auth/keeper"
	authsims "github.com/cosmos/cosmos-sdk/x/auth/simulation"
	authtx "github.com/cosmos/cosmos-sdk/x/auth/tx"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	"github.com/cosmos/cosmos-sdk/x/auth/vesting"
	vestingtypes "github.com/cosmos/cosmos-sdk/x/auth/vesting/types"
	"github.com/cosmos/cosmos-sdk/x/bank"
	bankkeeper "github.com/cosmos/cosmos-sdk/x/bank/keeper"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"
	"github.com/cosmos/cosmos-sdk/x/consensus"
	consensuskeeper "github.com/cosmos/cosmos-sdk/x/consensus/keeper"
	consensustypes "github.com/cosmos/cosmos-sdk/x/consensus/types"
	distr "github.com/cosmos/cosmos-sdk/x/distribution"
	distrkeeper "github.com/cosmos/cosmos-sdk/x/distribution/keeper"
	distrtypes "github.com/cosmos/cosmos-sdk/x/distribution/types"
	"github.com/cosmos/cosmos-sdk/x/genutil"
	genutiltypes "github.com/cosmos/cosmos-sdk/x/genutil/types"
	"github.com/cosmos/cosmos-sdk/x/gov"
	govkeeper "github.com/cosmos/cosmos-sdk/x/gov/keeper"
	govtypes "github.com/cosmos/cosmos-sdk/x/gov/types"
	govv1beta1 "github.com/cosmos/cosmos-sdk/x/gov/types/v1beta1"
	"github.com/cosmos/cosmos-sdk/x/mint"
	mintkeeper "github.com/cosmos/cosmos-sdk/x/mint/keeper"
	minttypes "github.com/cosmos/cosmos-sdk/x/mint/types"
	"github.com/cosmos/cosmos-sdk/x/staking"
	stakingkeeper "github.com/cosmos/cosmos-sdk/x/staking/keeper"
	stakingtypes "github.com/cosmos/cosmos-sdk/x/staking/types"

	"github.com/cosmos-timers/timers/x/timers"
	"github.com/cosmos-timers/timers/x/timers/client/restart"
	timerstypes "github.com/cosmos-timers/timers/x/timers/types"
)

// maccPerms are the module accounts and what each may do with coins.
var maccPerms = map[string][]string{
	authtypes.FeeCollectorName:     nil,
	distrtypes.ModuleName:          nil,
	minttypes.ModuleName:           {authtypes.Minter},
	stakingtypes.BondedPoolName:    {authtypes.Burner, authtypes.Staking},
	stakingtypes.NotBondedPoolName: {authtypes.Burner, authtypes.Staking},
	govtypes.ModuleName:            {authtypes.Burner},
	timerstypes.ModuleName:         {authtypes.Burner},
}

// BlockedAddresses may not receive coins from people: the module accounts but gov's, for its deposits.
func BlockedAddresses() map[string]bool {
	blocked := map[string]bool{}
	for name := range maccPerms {
		blocked[authtypes.NewModuleAddress(name).String()] = name != govtypes.ModuleName
	}
	return blocked
}

// App is the chain.
type App struct {
	*baseapp.BaseApp

	codec    codec.Codec
	amino    *codec.LegacyAmino
	txConfig client.TxConfig
	keys     map[string]*storetypes.KVStoreKey

	AccountKeeper   authkeeper.AccountKeeper
	BankKeeper      bankkeeper.BaseKeeper
	StakingKeeper   *stakingkeeper.Keeper
	MintKeeper      mintkeeper.Keeper
	DistrKeeper     distrkeeper.Keeper
	FeeGrantKeeper  feegrantkeeper.Keeper
	GovKeeper       *govkeeper.Keeper
	UpgradeKeeper   *upgradekeeper.Keeper
	ConsensusKeeper consensuskeeper.Keeper
	Timers          *timers.Timers

	ModuleManager *module.Manager
	configurator  module.Configurator
	simulation    *module.SimulationManager
}

// New wires the chain and, if asked to, loads its latest state.
func New(
	logger log.Logger, db dbm.DB, traceStore io.Writer, loadLatest bool,
	appOpts servertypes.AppOptions, baseAppOptions ...func(*baseapp.BaseApp),
) *App {
	registry := testutil.CodecOptions{
		AccAddressPrefix: sdk.GetConfig().GetBech32AccountAddrPrefix(),
		ValAddressPrefix: sdk.GetConfig().GetBech32ValidatorAddrPrefix(),
	}.NewInterfaceRegistry()
	cdc, amino := codec.NewProtoCodec(registry), codec.NewLegacyAmino()
	std.RegisterInterfaces(registry)
	std.RegisterLegacyAminoCodec(amino)
	txConfig := authtx.NewTxConfig(cdc, authtx.DefaultSignModes)

	keys := storetypes.NewKVStoreKeys(
		authtypes.StoreKey, banktypes.StoreKey, stakingtypes.StoreKey, minttypes.StoreKey, distrtypes.StoreKey,
		feegrant.StoreKey, govtypes.StoreKey, upgradetypes.StoreKey, consensustypes.StoreKey,
		timerstypes.StoreKey,
	)
	base := baseapp.NewBaseApp("example", logger, db, txConfig.TxDecoder(), baseAppOptions...)
	base.SetCommitMultiStoreTracer(traceStore)
	base.SetInterfaceRegistry(registry)
	base.SetTxEncoder(txConfig.TxEncoder())
	app := &App{BaseApp: base, codec: cdc, amino: amino, txConfig: txConfig, keys: keys}

	app.wireKeepers(appOpts)
	app.wireModules(registry)
	app.wireUpgrades()
	app.wireAnte()
	app.MountKVStores(keys)
	app.SetInitChainer(app.InitChainer)
	app.SetPreBlocker(func(ctx sdk.Context, _ *abci.RequestFinalizeBlock) (*sdk.ResponsePreBlock, error) {
		return app.ModuleManager.PreBlock(ctx)
	})
	app.SetBeginBlocker(app.BeginBlocker)
	app.SetEndBlocker(app.EndBlocker)
	if loadLatest {
		if err := app.LoadLatestVersion(); err != nil {
			panic(err)
		}
	}
	return app
}

func (app *App) wireKeepers(appOpts servertypes.AppOptions) {
	cdc, keys := app.codec, app.keys
	authority := authtypes.NewModuleAddress(govtypes.ModuleName).String()
	prefix := sdk.GetConfig().GetBech32AccountAddrPrefix()
	validators := address.NewBech32Codec(sdk.GetConfig().GetBech32ValidatorAddrPrefix())
	consensusAddresses := address.NewBech32Codec(sdk.GetConfig().GetBech32ConsensusAddrPrefix())

	app.ConsensusKeeper = consensuskeeper.NewKeeper(
		cdc, runtime.NewKVStoreService(keys[consensustypes.StoreKey]), authority, runtime.EventService{})
	app.SetParamStore(app.ConsensusKeeper.ParamsStore)
	app.AccountKeeper = authkeeper.NewAccountKeeper(
		cdc, runtime.NewKVStoreService(keys[authtypes.StoreKey]), authtypes.ProtoBaseAccount, maccPerms,
		address.NewBech32Codec(prefix), prefix, authority)
	app.BankKeeper = bankkeeper.NewBaseKeeper(
		cdc, runtime.NewKVStoreService(keys[banktypes.StoreKey]), app.AccountKeeper, BlockedAddresses(), authority, app.Logger())
	app.StakingKeeper = stakingkeeper.NewKeeper(
		cdc, runtime.NewKVStoreService(keys[stakingtypes.StoreKey]), app.AccountKeeper, app.BankKeeper, authority,
		validators, consensusAddresses)
	app.MintKeeper = mintkeeper.NewKeeper(
		cdc, runtime.NewKVStoreService(keys[minttypes.StoreKey]), app.StakingKeeper, app.AccountKeeper, app.BankKeeper,
		authtypes.FeeCollectorName, authority)
	app.DistrKeeper = distrkeeper.NewKeeper(
		cdc, runtime.NewKVStoreService(keys[distrtypes.StoreKey]), app.AccountKeeper, app.BankKeeper, app.StakingKeeper,
		authtypes.FeeCollectorName, authority)
	app.StakingKeeper.SetHooks(app.DistrKeeper.Hooks())
	app.FeeGrantKeeper = feegrantkeeper.NewKeeper(
		cdc, runtime.NewKVStoreService(keys[feegrant.StoreKey]), app.AccountKeeper).SetBankKeeper(app.BankKeeper)
	app.UpgradeKeeper = upgradekeeper.NewKeeper(
		nil, runtime.NewKVStoreService(keys[upgradetypes.StoreKey]), cdc, cast.ToString(appOpts.Get(flags.FlagHome)), app.BaseApp, authority)
	app.GovKeeper = govkeeper.NewKeeper(
		cdc, runtime.NewKVStoreService(keys[govtypes.StoreKey]), app.AccountKeeper, app.BankKeeper, app.StakingKeeper,
		app.DistrKeeper, app.MsgServiceRouter(), govtypes.DefaultConfig(), authority)
	app.GovKeeper.SetLegacyRouter(govv1beta1.NewRouter().AddRoute(govtypes.RouterKey, govv1beta1.ProposalHandler))
	app.Timers = timers.New(
		cdc, runtime.NewKVStoreService(keys[timerstypes.StoreKey]), app.AccountKeeper, app.BankKeeper, app.StakingKeeper,
		app.MsgServiceRouter(), authority)
}

func (app *App) wireModules(registry codectypes.InterfaceRegistry) {
	cdc := app.codec
	app.ModuleManager = module.NewManager(
		genutil.NewAppModule(app.AccountKeeper, app.StakingKeeper, app, app.txConfig),
		auth.NewAppModule(cdc, app.AccountKeeper, authsims.RandomGenesisAccounts, nil),
		vesting.NewAppModule(app.AccountKeeper, app.BankKeeper),
		bank.NewAppModule(cdc, app.BankKeeper, app.AccountKeeper, nil),
		feegrantmodule.NewAppModule(cdc, app.AccountKeeper, app.BankKeeper, app.FeeGrantKeeper, registry),
		gov.NewAppModule(cdc, app.GovKeeper, app.AccountKeeper, app.BankKeeper, nil),
		mint.NewAppModule(cdc, app.MintKeeper, app.AccountKeeper, nil, nil),
		distr.NewAppModule(cdc, app.DistrKeeper, app.AccountKeeper, app.BankKeeper, app.StakingKeeper, nil),
		staking.NewAppModule(cdc, app.StakingKeeper, app.AccountKeeper, app.BankKeeper, nil),
		upgrade.NewAppModule(app.UpgradeKeeper, app.AccountKeeper.AddressCodec()),
		consensus.NewAppModule(cdc, app.ConsensusKeeper),
		app.Timers.Module,
	)
	basics := module.NewBasicManagerFromManager(app.ModuleManager, map[string]module.AppModuleBasic{
		genutiltypes.ModuleName: genutil.NewAppModuleBasic(genutiltypes.DefaultMessageValidator),
	})
	basics.RegisterLegacyAminoCodec(app.amino)
	basics.RegisterInterfaces(registry)

	app.ModuleManager.SetOrderPreBlockers(upgradetypes.ModuleName, authtypes.ModuleName)
	app.ModuleManager.SetOrderBeginBlockers(
		timerstypes.ModuleName,
		minttypes.ModuleName, distrtypes.ModuleName, stakingtypes.ModuleName, genutiltypes.ModuleName,
	)
	app.ModuleManager.SetOrderEndBlockers(
		govtypes.ModuleName, stakingtypes.ModuleName, genutiltypes.ModuleName, feegrant.ModuleName,
		timerstypes.ModuleName,
	)
	genesisOrder := []string{
		consensustypes.ModuleName, authtypes.ModuleName, vestingtypes.ModuleName, banktypes.ModuleName, distrtypes.ModuleName,
		stakingtypes.ModuleName, govtypes.ModuleName, minttypes.ModuleName, feegrant.ModuleName, upgradetypes.ModuleName,
		timerstypes.ModuleName,
		genutiltypes.ModuleName,
	}
	app.ModuleManager.SetOrderInitGenesis(genesisOrder...)
	app.ModuleManager.SetOrderExportGenesis(genesisOrder...)
	app.configurator = module.NewConfigurator(cdc, app.MsgServiceRouter(), app.GRPCQueryRouter())
	if err := app.ModuleManager.RegisterServices(app.configurator); err != nil {
		panic(err)
	}
	app.simulation = module.NewSimulationManagerFromAppModules(app.ModuleManager.Modules, map[string]module.AppModuleSimulation{
		authtypes.ModuleName: auth.NewAppModule(cdc, app.AccountKeeper, authsims.RandomGenesisAccounts, nil),
	})
	app.simulation.RegisterStoreDecoders()
}

func (app *App) wireAnte() {
	handler, err := ante.NewAnteHandler(ante.HandlerOptions{
		AccountKeeper: app.AccountKeeper, BankKeeper: app.BankKeeper, FeegrantKeeper: app.FeeGrantKeeper,
		SignModeHandler: app.txConfig.SignModeHandler(), SigGasConsumer: ante.DefaultSigVerificationGasConsumer,
	})
	if err != nil {
		panic(err)
	}
	handler = restart.Ante(app, handler)
	app.SetAnteHandler(handler)
}

// InitChainer starts the chain from a genesis.
func (app *App) InitChainer(ctx sdk.Context, req *abci.RequestInitChain) (*abci.ResponseInitChain, error) {
	var state map[string]json.RawMessage
	if err := json.Unmarshal(req.AppStateBytes, &state); err != nil {
		return nil, err
	}
	if err := app.UpgradeKeeper.SetModuleVersionMap(ctx, app.ModuleManager.GetVersionMap()); err != nil {
		return nil, err
	}
	return app.ModuleManager.InitGenesis(ctx, app.codec, state)
}

// BeginBlocker runs the modules' work at the beginning of a block.
func (app *App) BeginBlocker(ctx sdk.Context) (sdk.BeginBlock, error) {
	return app.ModuleManager.BeginBlock(ctx)
}

// EndBlocker runs the modules' work at the end of a block.
func (app *App) EndBlocker(ctx sdk.Context) (sdk.EndBlock, error) {
	return app.ModuleManager.EndBlock(ctx)
}

// ExportAppStateAndValidators exports the state, to continue from the next height, or from the first one of a new chain.
func (app *App) ExportAppStateAndValidators(
	forZeroHeight bool, _, modules []string,
) (servertypes.ExportedApp, error) {
	ctx := app.NewContextLegacy(true, cmtproto.Header{Height: app.LastBlockHeight()})
	height := app.LastBlockHeight() + 1
	if forZeroHeight {
		height = 0
	}
	state, err := app.ModuleManager.ExportGenesisForModules(ctx, app.codec, modules)
	if err != nil {
		return servertypes.ExportedApp{}, err
	}
	raw, err := json.Marshal(state)
	if err != nil {
		return servertypes.ExportedApp{}, err
	}
	validators, err := staking.WriteValidators(ctx, app.StakingKeeper)
	return servertypes.ExportedApp{
		AppState: raw, Validators: validators, Height: height, ConsensusParams: app.GetConsensusParams(ctx),
	}, err
}

// LoadHeight loads the state of a height.
func (app *App) LoadHeight(height int64) error { return app.LoadVersion(height) }

// AppCodec returns the codec.
func (app *App) AppCodec() codec.Codec { return app.codec }

// LegacyAmino returns the amino codec.
func (app *App) LegacyAmino() *codec.LegacyAmino { return app.amino }

// TxConfig returns how transactions are built and signed.
func (app *App) TxConfig() client.TxConfig { return app.txConfig }

// Accounts returns the accounts' keeper.
func (app *App) Accounts() authkeeper.AccountKeeper { return app.AccountKeeper }

// DefaultGenesis returns an empty chain.
func (app *App) DefaultGenesis() map[string]json.RawMessage {
	return module.NewBasicManagerFromManager(app.ModuleManager, nil).DefaultGenesis(app.codec)
}

// GetBaseApp returns the application below the modules.
func (app *App) GetBaseApp() *baseapp.BaseApp { return app.BaseApp }

// GetStoreKeys returns the keys of the stores.
func (app *App) GetStoreKeys() []storetypes.StoreKey {
	keys := make([]storetypes.StoreKey, 0, len(app.keys))
	for _, key := range app.keys {
		keys = append(keys, key)
	}
	return keys
}

// SimulationManager returns the manager of simulations.
func (app *App) SimulationManager() *module.SimulationManager { return app.simulation }
