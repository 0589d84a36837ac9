// Package lab is a chain outside a node: the real module on a real bank and a real IAVL store, without consensus and
// signatures. Tests and benchmarks drive it from Go; lab/replay runs scenario files on it.
package lab

import (
	"maps"
	"slices"
	"time"

	cmtproto "github.com/cometbft/cometbft/proto/tendermint/types"
	dbm "github.com/cosmos/cosmos-db"

	corestore "cosmossdk.io/core/store"
	errorsmod "cosmossdk.io/errors"
	"cosmossdk.io/log"
	"cosmossdk.io/math"
	"cosmossdk.io/store/metrics"
	"cosmossdk.io/store/rootmulti"
	storetypes "cosmossdk.io/store/types"
	"cosmossdk.io/x/feegrant"
	feegrantkeeper "cosmossdk.io/x/feegrant/keeper"
	feegrantmodule "cosmossdk.io/x/feegrant/module"

	"github.com/cosmos/cosmos-sdk/baseapp"
	"github.com/cosmos/cosmos-sdk/codec"
	"github.com/cosmos/cosmos-sdk/codec/address"
	"github.com/cosmos/cosmos-sdk/codec/testutil"
	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	"github.com/cosmos/cosmos-sdk/runtime"
	"github.com/cosmos/cosmos-sdk/std"
	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/types/module"
	"github.com/cosmos/cosmos-sdk/x/auth"
	authkeeper "github.com/cosmos/cosmos-sdk/x/auth/keeper"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	"github.com/cosmos/cosmos-sdk/x/authz"
	authzkeeper "github.com/cosmos/cosmos-sdk/x/authz/keeper"
	authzmodule "github.com/cosmos/cosmos-sdk/x/authz/module"
	"github.com/cosmos/cosmos-sdk/x/bank"
	bankkeeper "github.com/cosmos/cosmos-sdk/x/bank/keeper"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"
	govtypes "github.com/cosmos/cosmos-sdk/x/gov/types"
	minttypes "github.com/cosmos/cosmos-sdk/x/mint/types"

	"github.com/cosmos-timers/timers/x/timers"
	"github.com/cosmos-timers/timers/x/timers/actors"
	"github.com/cosmos-timers/timers/x/timers/fees"
	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/types"
	"github.com/cosmos-timers/timers/x/timers/watch"
)

// txGasLimit is the gas of one transaction in the lab.
const txGasLimit = 100_000_000

// ChainOptions describe a chain of the lab. What is left zero takes its default.
type ChainOptions struct {
	// Genesis of the module; its fee denom is that of the balances.
	Genesis *types.GenesisState
	// Balances in the fee denom, in the order in which the accounts are made.
	Balances []Balance
	// Runtimes serve actors before the module and account runtimes do.
	Runtimes []types.Runtime
	// Keeper options in addition to the fee allowances and the guests that every lab chain has.
	Keeper []keeper.Option
	// NoGuests leaves out the policies of package guests, and bidding agents.
	NoGuests bool
	// Stores mounted in addition to those of the modules, for a workload's own state.
	Stores []*storetypes.KVStoreKey
	// DB below the multistore; an empty one in memory by default. A chain that it already holds is continued from
	// Height.
	DB dbm.DB
	// CachedNodes is how many nodes of each tree are kept in memory; as many as in a node by default.
	CachedNodes int
	// Logger; silent by default.
	Logger log.Logger
	// Height of the genesis block, or of the last block of a chain that is continued: the first block that is opened is
	// the next one.
	Height int64
	// StartTime is the time of the block at Height, in seconds since 1970; one of 2023 by default.
	StartTime int64
	// Watch is called when the chain is wired, to make stores watchable in addition to the bank's.
	Watch func(*watch.Watcher)
	// DirectDebits lets fires debit their payers without transfers. PayerStores does so too, by the stores of x/bank and x/auth:
	// no index is written, and no plain account decoded.
	DirectDebits, PayerStores bool
	// Unwatched leaves every store as it is: nothing can be watched.
	Unwatched bool
	// NoHeadroom accepts configs that a chain refuses for want of headroom, so that few fires fill a lane.
	NoHeadroom bool
	// KVGas is what stores cost where it is not the SDK's prices.
	KVGas *storetypes.GasConfig
	// WrapStore wraps the store of the timers, to count operations or to let them fail.
	WrapStore func(corestore.KVStoreService) corestore.KVStoreService
}

// Balance is an account that the chain starts with.
type Balance struct {
	Address sdk.AccAddress
	Amount  math.Int
}

// Chain is a chain of the lab: auth, bank, feegrant, authz and timers on one commit multistore. It is used block by
// block: BeginBlock, any number of Tx, EndBlock.
type Chain struct {
	Codec    codec.Codec
	Accounts authkeeper.AccountKeeper
	Bank     bankkeeper.BaseKeeper
	Feegrant feegrantkeeper.Keeper
	Timers   *keeper.Keeper
	Modules  *actors.ModuleRuntime
	Messages *baseapp.MsgServiceRouter
	// Watcher of the chain: the bank's store can be watched.
	Watcher *watch.Watcher
	// Authority may send the Sys messages.
	Authority string
	FeeDenom  string

	// BlockSeconds is how long after the last block the next one begins; 1 at first. Headers hold whole seconds, and 0 repeats one.
	BlockSeconds int64

	store  *rootmulti.Store
	keys   map[string]*storetypes.KVStoreKey
	logger log.Logger
	events sdk.Events
	height int64
	time   time.Time
	ctx    sdk.Context
	kvGas  *storetypes.GasConfig
	// branch is what ctx writes to; a block is committed by writing it back.
	branch storetypes.CacheMultiStore
}

// NewChain starts a chain at height 0, committed, or continues the one that the database holds.
func NewChain(opts ChainOptions) (*Chain, error) {
	if opts.Genesis == nil {
		opts.Genesis = types.DefaultGenesis()
	}
	if opts.Genesis.Config.FeeDenom == "" {
		genesis := *opts.Genesis
		genesis.Config.FeeDenom = sdk.DefaultBondDenom
		opts.Genesis = &genesis
	}
	if opts.DB == nil {
		opts.DB = dbm.NewMemDB()
	}
	if opts.Logger == nil {
		opts.Logger = log.NewNopLogger()
	}
	registry := newRegistry()
	if opts.StartTime == 0 {
		opts.StartTime = genesisTime + opts.Height
	}
	c := &Chain{
		Codec: codec.NewProtoCodec(registry), logger: opts.Logger, height: opts.Height, BlockSeconds: 1,
		time: time.Unix(opts.StartTime, 0).UTC(), FeeDenom: opts.Genesis.Config.FeeDenom,
		Authority: authtypes.NewModuleAddress(govtypes.ModuleName).String(), kvGas: opts.KVGas,
	}
	keys := storetypes.NewKVStoreKeys(authtypes.StoreKey, banktypes.StoreKey, feegrant.StoreKey, authzkeeper.StoreKey, types.StoreKey)
	c.keys = keys
	c.store = rootmulti.NewStore(opts.DB, opts.Logger, metrics.NewNoOpMetrics())
	// Pruning in the background never ends: it would keep the store of every chain in memory, and wake up for each of them.
	c.store.SetIAVLSyncPruning(true)
	if opts.CachedNodes > 0 {
		c.store.SetIAVLCacheSize(opts.CachedNodes)
	}
	for _, key := range keys {
		c.store.MountStoreWithDB(key, storetypes.StoreTypeIAVL, nil)
	}
	for _, key := range opts.Stores {
		c.store.MountStoreWithDB(key, storetypes.StoreTypeIAVL, nil)
	}
	if err := c.store.LoadLatestVersion(); err != nil {
		return nil, err
	}
	c.Watcher = watch.New(keys[types.StoreKey])
	c.wire(keys, registry, opts)
	if c.store.LastCommitID().Version > 0 {
		c.startBlock()
		return c, nil
	}
	return c, c.initGenesis(opts)
}

// newRegistry knows the messages of a lab chain; addresses in them have the process's prefix.
func newRegistry() codectypes.InterfaceRegistry {
	config := sdk.GetConfig()
	registry := testutil.CodecOptions{
		AccAddressPrefix: config.GetBech32AccountAddrPrefix(), ValAddressPrefix: config.GetBech32ValidatorAddrPrefix(),
	}.NewInterfaceRegistry()
	std.RegisterInterfaces(registry)
	module.NewBasicManager(auth.AppModuleBasic{}, bank.AppModuleBasic{}, feegrantmodule.AppModuleBasic{}, authzmodule.AppModuleBasic{},
		timers.AppModule{}).RegisterInterfaces(registry)
	return registry
}

// wire makes the keepers and registers their messages.
func (c *Chain) wire(keys map[string]*storetypes.KVStoreKey, registry codectypes.InterfaceRegistry, opts ChainOptions) {
	service := func(name string) corestore.KVStoreService { return runtime.NewKVStoreService(keys[name]) }
	addresses := address.NewBech32Codec(sdk.GetConfig().GetBech32AccountAddrPrefix())
	c.Accounts = authkeeper.NewAccountKeeper(c.Codec, service(authtypes.StoreKey), authtypes.ProtoBaseAccount, map[string][]string{
		minttypes.ModuleName:       {authtypes.Minter},
		types.ModuleName:           {authtypes.Burner},
		govtypes.ModuleName:        {authtypes.Burner},
		authtypes.FeeCollectorName: nil,
	}, addresses, sdk.GetConfig().GetBech32AccountAddrPrefix(), c.Authority)
	bankStore := service(banktypes.StoreKey)
	if !opts.Unwatched {
		bankStore = c.Watcher.Service(bankStore, watch.Bank(addresses))
		opts.Keeper = append(opts.Keeper[:len(opts.Keeper):len(opts.Keeper)], keeper.WithWatcher(c.Watcher))
	}
	if opts.Watch != nil {
		opts.Watch(c.Watcher)
	}
	blocked := map[string]bool{authtypes.NewModuleAddress(types.ModuleName).String(): true}
	c.Bank = bankkeeper.NewBaseKeeper(c.Codec, bankStore, c.Accounts, blocked, c.Authority, c.logger)
	debits := opts.Keeper[:len(opts.Keeper):len(opts.Keeper)]
	switch {
	case opts.PayerStores:
		opts.Keeper = append(debits, keeper.WithBalances(fees.NewBankBalances(bankStore, c.Bank.Balances)),
			keeper.WithAccountStore(service(authtypes.StoreKey)))
	case opts.DirectDebits:
		opts.Keeper = append(debits, keeper.WithBalances(c.Bank.Balances))
	}
	c.Feegrant = feegrantkeeper.NewKeeper(c.Codec, service(feegrant.StoreKey), c.Accounts).SetBankKeeper(c.Bank)
	c.Messages = baseapp.NewMsgServiceRouter()
	c.Messages.SetInterfaceRegistry(registry)
	c.Modules = actors.NewModuleRuntime()
	runtimes := append(opts.Runtimes[:len(opts.Runtimes):len(opts.Runtimes)],
		c.Modules, actors.NewAccountRuntime(c.Codec, c.Accounts, c.Messages))
	if opts.NoHeadroom {
		opts.Keeper = append(opts.Keeper[:len(opts.Keeper):len(opts.Keeper)], keeper.WithoutHeadroom())
	}
	timersStore := service(types.StoreKey)
	if opts.WrapStore != nil {
		timersStore = opts.WrapStore(timersStore)
	}
	if !opts.NoGuests && guestPolicies != nil {
		opts.Keeper = append([]keeper.Option{keeper.WithPolicy(guestPolicies()...), keeper.WithAgents(guestAgents)}, opts.Keeper...)
	}
	c.Timers = keeper.NewKeeper(c.Codec, timersStore, addresses, c.Accounts, c.Bank,
		actors.NewRouter(runtimes...), c.Authority, append(opts.Keeper, keeper.WithFeegrant(c.Feegrant))...)

	configurator := module.NewConfigurator(c.Codec, c.Messages, baseapp.NewGRPCQueryRouter())
	banktypes.RegisterMsgServer(configurator.MsgServer(), bankkeeper.NewMsgServerImpl(c.Bank))
	feegrant.RegisterMsgServer(configurator.MsgServer(), feegrantkeeper.NewMsgServerImpl(c.Feegrant))
	authz.RegisterMsgServer(configurator.MsgServer(), authzkeeper.NewKeeper(service(authzkeeper.StoreKey), c.Codec, c.Messages, c.Accounts))
	timers.NewAppModule(c.Codec, c.Timers).RegisterServices(configurator)
}

// genesisTime is when a lab chain starts, in seconds since 1970.
const genesisTime = 1_700_000_000

func (c *Chain) initGenesis(opts ChainOptions) error {
	if err := sdk.ValidateDenom(c.FeeDenom); err != nil {
		return types.ErrInvalidGenesis.Wrapf("config.fee_denom: %.200v", err)
	}
	c.startBlock()
	if err := c.Accounts.Params.Set(c.ctx, authtypes.DefaultParams()); err != nil {
		return err
	}
	if err := c.Bank.SetParams(c.ctx, banktypes.DefaultParams()); err != nil {
		return err
	}
	if err := c.fundLocks(opts.Genesis); err != nil {
		return err
	}
	if err := c.initTimers(opts.Genesis); err != nil {
		return err
	}
	var noted types.GenesisState
	if err := c.Watcher.ExportGenesis(c.ctx, &noted); err != nil {
		return err
	}
	for _, balance := range opts.Balances {
		if err := c.Fund(balance); err != nil {
			return err
		}
	}
	// What the accounts begin with is no change.
	if err := c.Watcher.Forget(c.ctx); err != nil {
		return err
	}
	if err := c.Watcher.InitGenesis(c.ctx, &noted); err != nil {
		return err
	}
	c.commit()
	return nil
}

// initTimers starts the module. The chain's coins are minted as its accounts are funded: meanwhile one stands for them, since
// the module refuses a fee denom without supply.
func (c *Chain) initTimers(genesis *types.GenesisState) error {
	if c.Bank.GetSupply(c.ctx, c.FeeDenom).IsPositive() {
		return c.Timers.InitGenesis(c.ctx, genesis)
	}
	if err := c.Bank.Supply.Set(c.ctx, c.FeeDenom, math.OneInt()); err != nil {
		return err
	}
	if err := c.Timers.InitGenesis(c.ctx, genesis); err != nil {
		return err
	}
	return c.Bank.Supply.Remove(c.ctx, c.FeeDenom)
}

// fundLocks mints the bids that the genesis says are locked.
func (c *Chain) fundLocks(genesis *types.GenesisState) error {
	locked := math.ZeroInt()
	for i := range genesis.Timers {
		locked = locked.Add(genesis.Timers[i].Locked())
	}
	if locked.IsZero() {
		return nil
	}
	coins := sdk.NewCoins(sdk.NewCoin(c.FeeDenom, locked))
	if err := c.Bank.MintCoins(c.ctx, minttypes.ModuleName, coins); err != nil {
		return err
	}
	return c.Bank.SendCoinsFromModuleToModule(c.ctx, minttypes.ModuleName, types.ModuleName, coins)
}

// Fund makes the account exist and mints what it is given.
func (c *Chain) Fund(balance Balance) error {
	if !c.Accounts.HasAccount(c.ctx, balance.Address) {
		c.Accounts.SetAccount(c.ctx, c.Accounts.NewAccountWithAddress(c.ctx, balance.Address))
	}
	if !balance.Amount.IsPositive() {
		return nil
	}
	coins := sdk.NewCoins(sdk.NewCoin(c.FeeDenom, balance.Amount))
	if err := c.Bank.MintCoins(c.ctx, minttypes.ModuleName, coins); err != nil {
		return err
	}
	return c.Bank.SendCoinsFromModuleToAccount(c.ctx, minttypes.ModuleName, balance.Address, coins)
}

// Height of the block that is open, or of the last one.
func (c *Chain) Height() uint64 { return uint64(c.height) }

// Now is the time of the open block, in seconds since 1970.
func (c *Chain) Now() int64 { return c.time.Unix() }

// Ctx is the context of the block that is open, with an infinite gas meter; between blocks, of the last one.
func (c *Chain) Ctx() sdk.Context { return c.ctx }

// Committed is a context of the latest committed block, for queries beside the blocks that follow.
func (c *Chain) Committed() (sdk.Context, error) {
	state, err := c.store.CacheMultiStoreWithVersion(c.store.LastCommitID().Version)
	return c.ctx.WithMultiStore(state).WithEventManager(sdk.NewEventManager()).WithGasMeter(storetypes.NewInfiniteGasMeter()), err
}

// BeginBlock opens the next block.
func (c *Chain) BeginBlock() error {
	c.height++
	c.time = c.time.Add(time.Duration(c.BlockSeconds) * time.Second)
	c.startBlock()
	return c.Timers.BeginBlock(c.ctx)
}

func (c *Chain) startBlock() {
	header := cmtproto.Header{
		ChainID: "lab", Height: c.height, Time: c.time,
		AppHash: c.store.LastCommitID().Hash,
	}
	c.branch = c.store.CacheMultiStore()
	c.ctx = sdk.NewContext(c.branch, header, false, c.logger)
	if c.kvGas != nil {
		c.ctx = c.ctx.WithKVGasConfig(*c.kvGas)
	}
}

// Tx runs messages as one transaction: all or none of them, under a gas limit. It returns their results and the gas
// that was used. There are no signatures: a message is taken to be signed by whom it names.
func (c *Chain) Tx(msgs ...sdk.Msg) (results []*sdk.Result, gasUsed uint64, err error) {
	branch, commit := c.ctx.CacheContext()
	meter := storetypes.NewGasMeter(txGasLimit)
	branch = branch.WithGasMeter(meter)
	defer func() {
		gasUsed = meter.GasConsumed()
		if r := recover(); r != nil {
			err = errorsmod.Wrapf(errPanicked, "%v", r)
		}
	}()
	for _, msg := range msgs {
		handler := c.Messages.Handler(msg)
		if handler == nil {
			return nil, 0, errorsmod.Wrapf(ErrNoHandler, "%s", sdk.MsgTypeURL(msg))
		}
		result, err := handler(branch, msg)
		if err != nil {
			return nil, 0, err
		}
		results = append(results, result)
		for _, event := range result.GetEvents() {
			branch.EventManager().EmitEvent(event)
		}
	}
	commit()
	return results, 0, nil
}

var (
	errPanicked = errorsmod.Register("lab", 2, "transaction panicked")
	// ErrNoHandler is returned for a message that no module of the chain handles.
	ErrNoHandler = errorsmod.Register("lab", 3, "no handler for message")
)

// EndBlock runs the end of the block, commits it, and returns the events of the whole block.
func (c *Chain) EndBlock() (sdk.Events, error) {
	if err := c.Timers.EndBlock(c.ctx); err != nil {
		return nil, err
	}
	c.events = c.ctx.EventManager().Events()
	c.commit()
	return c.events, nil
}

// Events of the last block that ended, those of its transactions and of its end.
func (c *Chain) Events() sdk.Events { return c.events }

// commit writes the block and leaves a context of the committed state.
func (c *Chain) commit() {
	c.branch.Write()
	c.store.Commit()
	c.startBlock()
}

// WalkState passes what is stored to fn: the stores by name, their entries by key.
func (c *Chain) WalkState(fn func(store string, key, value []byte)) {
	for _, name := range slices.Sorted(maps.Keys(c.keys)) {
		entries := c.ctx.MultiStore().GetKVStore(c.keys[name]).Iterator(nil, nil)
		for ; entries.Valid(); entries.Next() {
			fn(name, entries.Key(), entries.Value())
		}
		_ = entries.Close()
	}
}

// AppHash of the last block.
func (c *Chain) AppHash() []byte { return c.store.LastCommitID().Hash }

// Prove answers a query of the store of a committed block, "/NAME/key", with a proof, as a node does.
func (c *Chain) Prove(path string, key []byte, height int64) (*storetypes.ResponseQuery, error) {
	answer, err := c.store.Query(&storetypes.RequestQuery{Path: path, Data: key, Height: height + c.behind(), Prove: true})
	if err != nil {
		return nil, err
	}
	answer.Height = height
	return answer, nil
}

// AppHashOf is the application hash after a committed block.
func (c *Chain) AppHashOf(height int64) ([]byte, error) {
	info, err := c.store.GetCommitInfo(height + c.behind())
	if err != nil {
		return nil, err
	}
	return info.Hash(), nil
}

// StoreKey is the key of a store of the chain.
func (c *Chain) StoreKey(name string) storetypes.StoreKey { return c.keys[name] }

// behind is how much the height of the last block is below the number of commits.
func (c *Chain) behind() int64 { return c.store.LastCommitID().Version - c.height }

// Check returns the first broken invariant of the module, if any.
func (c *Chain) Check() error { return c.Timers.CheckInvariants(c.ctx) }
