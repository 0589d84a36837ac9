// Package evmapp is a small chain with cosmos/evm and timers, wired by hand: for tests, which run it in memory, and for
// reading.
package evmapp

import (
	"encoding/json"
	"maps"

	abci "github.com/cometbft/cometbft/abci/types"
	dbm "github.com/cosmos/cosmos-db"
	evmante "github.com/cosmos/evm/ante"
	cosmosante "github.com/cosmos/evm/ante/cosmos"
	monoante "github.com/cosmos/evm/ante/evm"
	evmaddress "github.com/cosmos/evm/encoding/address"
	"github.com/cosmos/evm/x/erc20"
	erc20keeper "github.com/cosmos/evm/x/erc20/keeper"
	erc20types "github.com/cosmos/evm/x/erc20/types"
	"github.com/cosmos/evm/x/feemarket"
	feemarketkeeper "github.com/cosmos/evm/x/feemarket/keeper"
	feemarkettypes "github.com/cosmos/evm/x/feemarket/types"
	evm "github.com/cosmos/evm/x/vm"
	evmkeeper "github.com/cosmos/evm/x/vm/keeper"
	evmtypes "github.com/cosmos/evm/x/vm/types"
	transferkeeper "github.com/cosmos/ibc-go/v10/modules/apps/transfer/keeper"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/vm"

	"cosmossdk.io/log"
	storetypes "cosmossdk.io/store/types"
	"cosmossdk.io/x/feegrant"
	feegrantkeeper "cosmossdk.io/x/feegrant/keeper"
	feegrantmodule "cosmossdk.io/x/feegrant/module"

	"github.com/cosmos/cosmos-sdk/baseapp"
	"github.com/cosmos/cosmos-sdk/runtime"
	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/types/module"
	"github.com/cosmos/cosmos-sdk/x/auth"
	"github.com/cosmos/cosmos-sdk/x/auth/ante"
	authkeeper "github.com/cosmos/cosmos-sdk/x/auth/keeper"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	"github.com/cosmos/cosmos-sdk/x/bank"
	bankkeeper "github.com/cosmos/cosmos-sdk/x/bank/keeper"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"
	"github.com/cosmos/cosmos-sdk/x/consensus"
	consensuskeeper "github.com/cosmos/cosmos-sdk/x/consensus/keeper"
	consensustypes "github.com/cosmos/cosmos-sdk/x/consensus/types"
	distr "github.com/cosmos/cosmos-sdk/x/distribution"
	distrkeeper "github.com/cosmos/cosmos-sdk/x/distribution/keeper"
	distrtypes "github.com/cosmos/cosmos-sdk/x/distribution/types"
	govtypes "github.com/cosmos/cosmos-sdk/x/gov/types"
	"github.com/cosmos/cosmos-sdk/x/staking"
	stakingkeeper "github.com/cosmos/cosmos-sdk/x/staking/keeper"
	stakingtypes "github.com/cosmos/cosmos-sdk/x/staking/types"

	"github.com/cosmos-timers/timers/evmbinding"
	"github.com/cosmos-timers/timers/x/timers"
	"github.com/cosmos-timers/timers/x/timers/client/restart"
	"github.com/cosmos-timers/timers/x/timers/fees"
	timerskeeper "github.com/cosmos-timers/timers/x/timers/keeper"
	timerstypes "github.com/cosmos-timers/timers/x/timers/types"
	"github.com/cosmos-timers/timers/x/timers/watch"
)

const (
	// ID of the chain, and EVMChainID by which wallets know it.
	ID                = "evmapp"
	EVMChainID uint64 = 9_001
	// Denom of fees and of the EVM, with 18 decimals.
	Denom = "aexample"
)

var maccPerms = map[string][]string{
	authtypes.FeeCollectorName:     nil,
	distrtypes.ModuleName:          nil,
	stakingtypes.BondedPoolName:    {authtypes.Burner, authtypes.Staking},
	stakingtypes.NotBondedPoolName: {authtypes.Burner, authtypes.Staking},
	govtypes.ModuleName:            nil,
	feemarkettypes.ModuleName:      nil,
	erc20types.ModuleName:          {authtypes.Minter, authtypes.Burner},
	evmtypes.ModuleName:            {authtypes.Minter, authtypes.Burner},
	timerstypes.ModuleName:         {authtypes.Burner},
}

// blocked may not receive coins: module accounts but gov's, and the precompiles, whose coins could not be moved.
func blocked() map[string]bool {
	all := map[string]bool{}
	for _, precompile := range []common.Address{evmbinding.Address, evmbinding.PRNGAddress, evmbinding.HRC1215Address} {
		all[sdk.AccAddress(precompile.Bytes()).String()] = true
	}
	for name := range maccPerms {
		all[authtypes.NewModuleAddress(name).String()] = name != govtypes.ModuleName
	}
	return all
}

// App is the chain. Only one can live in a process: x/vm keeps its denom and its chain config in package variables.
type App struct {
	*baseapp.BaseApp

	*Description

	Accounts  authkeeper.AccountKeeper
	Bank      bankkeeper.BaseKeeper
	Staking   *stakingkeeper.Keeper
	Distr     distrkeeper.Keeper
	Feegrant  feegrantkeeper.Keeper
	Consensus consensuskeeper.Keeper
	FeeMarket feemarketkeeper.Keeper
	EVM       *evmkeeper.Keeper
	ERC20     erc20keeper.Keeper
	Timers    *timers.Timers

	// Before is called at the beginning of each block, if it is set: what Go code of a chain does, which is no
	// transaction.
	Before func(ctx sdk.Context) error

	keys    map[string]*storetypes.KVStoreKey
	slots   *evmbinding.Slots
	modules *module.Manager
	pending listeners
}

// New wires the chain on a database, and loads its latest state.
func New(logger log.Logger, db dbm.DB, options ...func(*baseapp.BaseApp)) *App {
	d := Describe()
	base := baseapp.NewBaseApp(ID, logger, db, d.txConfig.TxDecoder(), append(options, baseapp.SetChainID(ID))...)
	base.SetInterfaceRegistry(d.registry)
	base.SetTxEncoder(d.txConfig.TxEncoder())
	app := &App{BaseApp: base, Description: d}
	keys := storetypes.NewKVStoreKeys(
		authtypes.StoreKey, banktypes.StoreKey, stakingtypes.StoreKey, distrtypes.StoreKey, feegrant.StoreKey,
		consensustypes.StoreKey, feemarkettypes.StoreKey, evmtypes.StoreKey, erc20types.StoreKey, timerstypes.StoreKey,
		evmbinding.StoreKey,
	)
	transient := storetypes.NewTransientStoreKeys(feemarkettypes.TransientKey, evmtypes.TransientKey)
	app.keys = keys
	app.wireKeepers(keys, transient)
	app.wireModules()
	app.SetAnteHandler(restart.Ante(app, app.ante))
	app.MountKVStores(keys)
	app.MountTransientStores(transient)
	app.SetInitChainer(func(ctx sdk.Context, req *abci.RequestInitChain) (*abci.ResponseInitChain, error) {
		var state map[string]json.RawMessage
		if err := json.Unmarshal(req.AppStateBytes, &state); err != nil {
			return nil, err
		}
		return app.modules.InitGenesis(ctx, app.codec, state)
	})
	app.SetPreBlocker(func(ctx sdk.Context, _ *abci.RequestFinalizeBlock) (*sdk.ResponsePreBlock, error) {
		return app.modules.PreBlock(ctx)
	})
	app.SetBeginBlocker(app.BeginBlocker)
	app.SetEndBlocker(app.modules.EndBlock)
	if err := app.LoadLatestVersion(); err != nil {
		panic(err)
	}
	return app
}

// BeginBlocker is what each block begins with.
func (app *App) BeginBlocker(ctx sdk.Context) (sdk.BeginBlock, error) {
	if app.Before != nil {
		if err := app.Before(ctx); err != nil {
			return sdk.BeginBlock{}, err
		}
	}
	return app.modules.BeginBlock(ctx)
}

func (app *App) wireKeepers(keys map[string]*storetypes.KVStoreKey, transient map[string]*storetypes.TransientStoreKey) {
	cdc := app.codec
	authority := authtypes.NewModuleAddress(govtypes.ModuleName)
	sdkConfig := sdk.GetConfig()
	prefix := sdkConfig.GetBech32AccountAddrPrefix()
	addresses := evmaddress.NewEvmCodec(prefix)

	app.Consensus = consensuskeeper.NewKeeper(
		cdc, runtime.NewKVStoreService(keys[consensustypes.StoreKey]), authority.String(), runtime.EventService{})
	app.SetParamStore(app.Consensus.ParamsStore)
	app.Accounts = authkeeper.NewAccountKeeper(
		cdc, runtime.NewKVStoreService(keys[authtypes.StoreKey]), authtypes.ProtoBaseAccount, maccPerms,
		addresses, prefix, authority.String())

	watcher := watch.New(keys[timerstypes.StoreKey])
	slots := evmbinding.NewSlots(watcher, keys[evmtypes.StoreKey])
	seconds := evmbinding.NewSeconds(keys[evmbinding.StoreKey])
	bankStore := watcher.Service(runtime.NewKVStoreService(keys[banktypes.StoreKey]), watch.Bank(addresses))

	app.Bank = bankkeeper.NewBaseKeeper(cdc, bankStore, app.Accounts, blocked(), authority.String(), app.Logger())
	app.Staking = stakingkeeper.NewKeeper(
		cdc, runtime.NewKVStoreService(keys[stakingtypes.StoreKey]), app.Accounts, app.Bank, authority.String(),
		evmaddress.NewEvmCodec(sdkConfig.GetBech32ValidatorAddrPrefix()), evmaddress.NewEvmCodec(sdkConfig.GetBech32ConsensusAddrPrefix()))
	app.Distr = distrkeeper.NewKeeper(
		cdc, runtime.NewKVStoreService(keys[distrtypes.StoreKey]), app.Accounts, app.Bank, app.Staking,
		authtypes.FeeCollectorName, authority.String())
	app.Staking.SetHooks(app.Distr.Hooks())
	app.Feegrant = feegrantkeeper.NewKeeper(cdc, runtime.NewKVStoreService(keys[feegrant.StoreKey]), app.Accounts).SetBankKeeper(app.Bank)
	app.FeeMarket = feemarketkeeper.NewKeeper(cdc, authority, keys[feemarkettypes.StoreKey], transient[feemarkettypes.TransientKey])
	app.EVM = evmkeeper.NewKeeper(
		cdc, keys[evmtypes.StoreKey], transient[evmtypes.TransientKey], keys, authority,
		app.Accounts, app.Bank, app.Staking, &app.FeeMarket, app.Consensus, seconds.Facades(&app.ERC20), EVMChainID, "").
		WithStaticPrecompiles(maps.Clone(vm.PrecompiledContractsPrague))
	// The chain has no IBC: no coin of its own is a voucher, whose names x/erc20 would ask for.
	app.ERC20 = erc20keeper.NewKeeper(
		keys[erc20types.StoreKey], cdc, authority, app.Accounts, app.Bank, app.EVM, app.Staking, &transferkeeper.Keeper{})
	app.Timers = timers.New(
		cdc, runtime.NewKVStoreService(keys[timerstypes.StoreKey]), app.Accounts, app.Bank, nil, app.MsgServiceRouter(),
		authority.String(),
		timerskeeper.WithFeeDenom(Denom), timerskeeper.WithWatcher(watcher), timerskeeper.WithFeegrant(app.Feegrant),
		timerskeeper.WithBasefeeSource(fees.FromBaseFee(&app.FeeMarket)),
		timerskeeper.WithBalances(fees.NewBankBalances(bankStore, app.Bank.Balances)),
		timerskeeper.WithAccountStore(runtime.NewKVStoreService(keys[authtypes.StoreKey])))
	evmbinding.Wire(app.Timers, cdc, app.EVM, app.Accounts, app.Bank, app.MsgServiceRouter(), slots, seconds)
	app.slots = slots
}

func (app *App) wireModules() {
	cdc := app.codec
	app.modules = module.NewManager(
		auth.NewAppModule(cdc, app.Accounts, nil, nil),
		bank.NewAppModule(cdc, app.Bank, app.Accounts, nil),
		staking.NewAppModule(cdc, app.Staking, app.Accounts, app.Bank, nil),
		distr.NewAppModule(cdc, app.Distr, app.Accounts, app.Bank, app.Staking, nil),
		feegrantmodule.NewAppModule(cdc, app.Accounts, app.Bank, app.Feegrant, app.registry),
		consensus.NewAppModule(cdc, app.Consensus),
		feemarket.NewAppModule(app.FeeMarket),
		evm.NewAppModule(app.EVM, app.Accounts, app.Bank, app.Accounts.AddressCodec()),
		erc20.NewAppModule(app.ERC20, app.Accounts),
		app.Timers.Module,
	)

	app.modules.SetOrderPreBlockers(authtypes.ModuleName, evmtypes.ModuleName)
	app.modules.SetOrderBeginBlockers(
		timerstypes.ModuleName, feemarkettypes.ModuleName, evmtypes.ModuleName, distrtypes.ModuleName,
		stakingtypes.ModuleName)
	// Timers come after x/vm, whose end of block writes the bloom of the transactions, and before the fee market, which
	// counts them.
	app.modules.SetOrderEndBlockers(
		stakingtypes.ModuleName, feegrant.ModuleName, evmtypes.ModuleName, timerstypes.ModuleName, feemarkettypes.ModuleName)
	app.modules.SetOrderInitGenesis(
		consensustypes.ModuleName, authtypes.ModuleName, banktypes.ModuleName, distrtypes.ModuleName,
		stakingtypes.ModuleName, feegrant.ModuleName, feemarkettypes.ModuleName, evmtypes.ModuleName, erc20types.ModuleName,
		timerstypes.ModuleName)
	configurator := module.NewConfigurator(cdc, app.MsgServiceRouter(), app.GRPCQueryRouter())
	if err := app.modules.RegisterServices(app.slots.Configurator(configurator)); err != nil {
		panic(err)
	}
}

// ante checks Ethereum transactions as x/vm wants it, and others as the SDK does.
func (app *App) ante(ctx sdk.Context, tx sdk.Tx, simulate bool) (sdk.Context, error) {
	market := app.FeeMarket.GetParams(ctx)
	if extended, ok := tx.(ante.HasExtensionOptionsTx); ok && len(extended.GetExtensionOptions()) > 0 {
		params := app.EVM.GetParams(ctx)
		mono := monoante.NewEVMMonoDecorator(app.Accounts, app.FeeMarket, app.EVM, 0, &params, &market)
		return sdk.ChainAnteDecorators(mono, evmante.NewTxListenerDecorator(app.pending.call))(ctx, tx, simulate)
	}
	return sdk.ChainAnteDecorators(
		cosmosante.NewRejectMessagesDecorator(),
		ante.NewSetUpContextDecorator(),
		ante.NewExtensionOptionsDecorator(nil),
		ante.NewValidateBasicDecorator(),
		ante.NewTxTimeoutHeightDecorator(),
		ante.NewValidateMemoDecorator(app.Accounts),
		cosmosante.NewMinGasPriceDecorator(&market),
		ante.NewConsumeGasForTxSizeDecorator(app.Accounts),
		ante.NewDeductFeeDecorator(app.Accounts, app.Bank, app.Feegrant, monoante.NewDynamicFeeChecker(&market)),
		ante.NewSetPubKeyDecorator(app.Accounts),
		ante.NewValidateSigCountDecorator(app.Accounts),
		ante.NewSigGasConsumeDecorator(app.Accounts, evmante.SigVerificationGasConsumer),
		ante.NewSigVerificationDecorator(app.Accounts, app.txConfig.SignModeHandler()),
		ante.NewIncrementSequenceDecorator(app.Accounts),
	)(ctx, tx, simulate)
}
