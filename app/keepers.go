package app

import (
	wasmkeeper "github.com/CosmWasm/wasmd/x/wasm/keeper"
	wasmtypes "github.com/CosmWasm/wasmd/x/wasm/types"
	icacontrollertypes "github.com/cosmos/ibc-go/v10/modules/apps/27-interchain-accounts/controller/types"
	icahosttypes "github.com/cosmos/ibc-go/v10/modules/apps/27-interchain-accounts/host/types"
	icatypes "github.com/cosmos/ibc-go/v10/modules/apps/27-interchain-accounts/types"
	transfertypes "github.com/cosmos/ibc-go/v10/modules/apps/transfer/types"
	ibcexported "github.com/cosmos/ibc-go/v10/modules/core/exported"
	"github.com/spf13/cast"

	corestore "cosmossdk.io/core/store"
	storetypes "cosmossdk.io/store/types"
	evidencekeeper "cosmossdk.io/x/evidence/keeper"
	evidencetypes "cosmossdk.io/x/evidence/types"
	"cosmossdk.io/x/feegrant"
	feegrantkeeper "cosmossdk.io/x/feegrant/keeper"
	upgradekeeper "cosmossdk.io/x/upgrade/keeper"
	upgradetypes "cosmossdk.io/x/upgrade/types"

	"github.com/cosmos/cosmos-sdk/client/flags"
	"github.com/cosmos/cosmos-sdk/codec/address"
	"github.com/cosmos/cosmos-sdk/runtime"
	"github.com/cosmos/cosmos-sdk/server"
	servertypes "github.com/cosmos/cosmos-sdk/server/types"
	sdk "github.com/cosmos/cosmos-sdk/types"
	authkeeper "github.com/cosmos/cosmos-sdk/x/auth/keeper"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	authzkeeper "github.com/cosmos/cosmos-sdk/x/authz/keeper"
	bankkeeper "github.com/cosmos/cosmos-sdk/x/bank/keeper"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"
	consensuskeeper "github.com/cosmos/cosmos-sdk/x/consensus/keeper"
	consensustypes "github.com/cosmos/cosmos-sdk/x/consensus/types"
	distributionkeeper "github.com/cosmos/cosmos-sdk/x/distribution/keeper"
	distributiontypes "github.com/cosmos/cosmos-sdk/x/distribution/types"
	govkeeper "github.com/cosmos/cosmos-sdk/x/gov/keeper"
	govtypes "github.com/cosmos/cosmos-sdk/x/gov/types"
	govv1beta1 "github.com/cosmos/cosmos-sdk/x/gov/types/v1beta1"
	"github.com/cosmos/cosmos-sdk/x/group"
	groupkeeper "github.com/cosmos/cosmos-sdk/x/group/keeper"
	mintkeeper "github.com/cosmos/cosmos-sdk/x/mint/keeper"
	minttypes "github.com/cosmos/cosmos-sdk/x/mint/types"
	slashingkeeper "github.com/cosmos/cosmos-sdk/x/slashing/keeper"
	slashingtypes "github.com/cosmos/cosmos-sdk/x/slashing/types"
	stakingkeeper "github.com/cosmos/cosmos-sdk/x/staking/keeper"
	stakingtypes "github.com/cosmos/cosmos-sdk/x/staking/types"

	"github.com/cosmos-timers/timers/wasmbinding"
	"github.com/cosmos-timers/timers/x/timers"
	"github.com/cosmos-timers/timers/x/timers/actors"
	"github.com/cosmos-timers/timers/x/timers/fees"
	timerskeeper "github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/policies/agents"
	"github.com/cosmos-timers/timers/x/timers/policies/guests"
	timerstypes "github.com/cosmos-timers/timers/x/timers/types"
	"github.com/cosmos-timers/timers/x/timers/watch"
)

// modulePermissions are the module accounts and what each may do with coins. Timers burns basefees.
var modulePermissions = map[string][]string{
	authtypes.FeeCollectorName:     nil,
	distributiontypes.ModuleName:   nil,
	minttypes.ModuleName:           {authtypes.Minter},
	stakingtypes.BondedPoolName:    {authtypes.Burner, authtypes.Staking},
	stakingtypes.NotBondedPoolName: {authtypes.Burner, authtypes.Staking},
	govtypes.ModuleName:            {authtypes.Burner},
	// Vouchers for coins of other chains are minted when they come and burned when they leave.
	transfertypes.ModuleName: {authtypes.Minter, authtypes.Burner},
	icatypes.ModuleName:      nil,
	wasmtypes.ModuleName:     {authtypes.Burner},
	timerstypes.ModuleName:   {authtypes.Burner},
}

// storeKeys names the stores of the modules.
func storeKeys() map[string]*storetypes.KVStoreKey {
	return storetypes.NewKVStoreKeys(
		authtypes.StoreKey, banktypes.StoreKey, stakingtypes.StoreKey, minttypes.StoreKey, distributiontypes.StoreKey,
		slashingtypes.StoreKey, govtypes.StoreKey, consensustypes.StoreKey, upgradetypes.StoreKey, feegrant.StoreKey,
		evidencetypes.StoreKey, authzkeeper.StoreKey, wasmtypes.StoreKey, timerstypes.StoreKey,
		group.StoreKey, ibcexported.StoreKey, transfertypes.StoreKey, icacontrollertypes.StoreKey, icahosttypes.StoreKey,
	)
}

// BlockedAddresses are the module accounts, which may not receive coins from people; gov may, for its deposits.
func BlockedAddresses() map[string]bool {
	blocked := make(map[string]bool, len(modulePermissions))
	for name := range modulePermissions {
		blocked[authtypes.NewModuleAddress(name).String()] = name != govtypes.ModuleName
	}
	return blocked
}

// Keepers are those of the chain's modules.
type Keepers struct {
	Accounts     authkeeper.AccountKeeper
	Bank         bankkeeper.BaseKeeper
	Staking      *stakingkeeper.Keeper
	Slashing     slashingkeeper.Keeper
	Mint         mintkeeper.Keeper
	Distribution distributionkeeper.Keeper
	Gov          govkeeper.Keeper
	Upgrade      *upgradekeeper.Keeper
	Evidence     evidencekeeper.Keeper
	Feegrant     feegrantkeeper.Keeper
	Authz        authzkeeper.Keeper
	Group        groupkeeper.Keeper
	Consensus    consensuskeeper.Keeper
	IBCKeepers
	Wasm   *wasmkeeper.Keeper
	Timers *timerskeeper.Keeper
	// TimerModules is where Go modules register handlers for their timers.
	TimerModules *actors.ModuleRuntime
}

func (app *App) store(name string) corestore.KVStoreService {
	return runtime.NewKVStoreService(app.keys[name])
}

// wireKeepers makes the keepers of the SDK's modules in order of their dependencies, then that of timers.
func (app *App) wireKeepers(appOpts servertypes.AppOptions) {
	cdc, router := app.encoding.Codec, app.MsgServiceRouter()
	authority := authtypes.NewModuleAddress(govtypes.ModuleName).String()
	config := sdk.GetConfig()
	accounts := address.NewBech32Codec(config.GetBech32AccountAddrPrefix())
	validators := address.NewBech32Codec(config.GetBech32ValidatorAddrPrefix())
	consensus := address.NewBech32Codec(config.GetBech32ConsensusAddrPrefix())

	k := &app.Keepers
	watcher := app.wireWatcher()
	k.Consensus = consensuskeeper.NewKeeper(cdc, app.store(consensustypes.StoreKey), authority, runtime.EventService{})
	app.SetParamStore(k.Consensus.ParamsStore)
	k.Accounts = authkeeper.NewAccountKeeper(cdc, app.store(authtypes.StoreKey), authtypes.ProtoBaseAccount,
		modulePermissions, accounts, Bech32Prefix, authority)
	bankStore := watcher.Service(app.store(banktypes.StoreKey), watch.Bank(accounts))
	k.Bank = bankkeeper.NewBaseKeeper(cdc, bankStore, k.Accounts, BlockedAddresses(), authority, app.Logger())
	k.Staking = stakingkeeper.NewKeeper(cdc, watcher.Service(app.store(stakingtypes.StoreKey), watch.Staking(accounts, validators)), k.Accounts, k.Bank, authority, validators, consensus)
	k.Mint = mintkeeper.NewKeeper(cdc, app.store(minttypes.StoreKey), k.Staking, k.Accounts, k.Bank, authtypes.FeeCollectorName, authority)
	k.Distribution = distributionkeeper.NewKeeper(cdc, app.store(distributiontypes.StoreKey), k.Accounts, k.Bank, k.Staking,
		authtypes.FeeCollectorName, authority)
	k.Slashing = slashingkeeper.NewKeeper(cdc, app.encoding.Amino, app.store(slashingtypes.StoreKey), k.Staking, authority)
	k.Staking.SetHooks(stakingtypes.NewMultiStakingHooks(k.Distribution.Hooks(), k.Slashing.Hooks()))
	k.Feegrant = feegrantkeeper.NewKeeper(cdc, app.store(feegrant.StoreKey), k.Accounts).SetBankKeeper(k.Bank)
	k.Authz = authzkeeper.NewKeeper(app.store(authzkeeper.StoreKey), cdc, router, k.Accounts)
	k.Group = groupkeeper.NewKeeper(app.keys[group.StoreKey], cdc, router, k.Accounts, group.DefaultConfig())
	k.Gov = *govkeeper.NewKeeper(cdc, app.store(govtypes.StoreKey), k.Accounts, k.Bank, k.Staking, k.Distribution, router,
		govtypes.DefaultConfig(), authority)
	// Proposals of the old form, texts alone, are still submitted by old tools.
	k.Gov.SetLegacyRouter(govv1beta1.NewRouter().AddRoute(govtypes.RouterKey, govv1beta1.ProposalHandler))
	k.Evidence = *evidencekeeper.NewKeeper(cdc, app.store(evidencetypes.StoreKey), k.Staking, k.Slashing, accounts, runtime.ProvideCometInfoService())
	k.Upgrade = upgradekeeper.NewKeeper(skippedUpgrades(appOpts), app.store(upgradetypes.StoreKey), cdc,
		cast.ToString(appOpts.Get(flags.FlagHome)), app.BaseApp, authority)
	app.wireIBCKeepers(authority)

	entryPoints := wasmbinding.NewEntryPoints()
	k.Wasm = app.newWasmKeeper(watcher.Service(app.store(wasmtypes.StoreKey), watch.Wasm(accounts)), appOpts, authority, entryPoints.Option())
	app.wireIBCRoutes()

	wired := timers.New(cdc, app.store(timerstypes.StoreKey), k.Accounts, k.Bank, k.Staking, router, authority,
		timerskeeper.WithFeeDenom(FeeDenom), timerskeeper.WithFeegrant(k.Feegrant), timerskeeper.WithWatcher(watcher),
		timerskeeper.WithBalances(fees.NewBankBalances(bankStore, k.Bank.Balances)), timerskeeper.WithAccountStore(app.store(authtypes.StoreKey)),
		timerskeeper.WithTipCollector(fees.NewProposerTips(k.Bank, k.Staking, k.Distribution)),
		timerskeeper.WithPolicy(guests.All()...), timerskeeper.WithAgents(agents.New))
	// A contract has an account too, so that contracts come first.
	wired.Router.Prepend(wasmbinding.Runtime(k.Wasm, actors.WithMessages(actors.NewMessages(cdc, router)), entryPoints.Check(k.Wasm)))
	k.Timers, k.TimerModules = wired.Keeper, wired.Handlers
}

func skippedUpgrades(appOpts servertypes.AppOptions) map[int64]bool {
	skipped := map[int64]bool{}
	for _, height := range cast.ToIntSlice(appOpts.Get(server.FlagUnsafeSkipUpgrades)) {
		skipped[int64(height)] = true
	}
	return skipped
}
