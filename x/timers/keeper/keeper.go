package keeper

import (
	"context"
	"fmt"

	"cosmossdk.io/collections"
	"cosmossdk.io/core/address"
	"cosmossdk.io/core/store"

	"github.com/cosmos/cosmos-sdk/codec"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/engine"
	"github.com/cosmos-timers/timers/x/timers/fees"
	"github.com/cosmos-timers/timers/x/timers/genesis"
	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/report"
	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/triggers"
	"github.com/cosmos-timers/timers/x/timers/types"
	"github.com/cosmos-timers/timers/x/timers/watch"
)

// Keeper is the module as the rest of the chain sees it. There is one instance in a chain, passed by pointer.
type Keeper struct {
	engine   *engine.Engine
	service  store.KVStoreService
	schema   collections.Schema
	feeDenom feeDenom
	// components of the module's state, in the order of genesis.
	components []state.Component
}

// options are the parts of a module that have safe defaults.
type options struct {
	reporter report.Reporter
	balances fees.Balances
	accounts store.KVStoreService
	feegrant types.FeegrantKeeper
	tips     types.TipCollector
	basefees types.BasefeeSource
	watcher  *watch.Watcher
	policies []policies.Constructor
	agents   func(*policies.Parts) policies.Agents
	feeDenom feeDenom
	// authority: WithAuthority.
	authority func(sdk.Context) string
	// noHeadroom: WithoutHeadroom.
	noHeadroom bool
}

// Option replaces a part that has a safe default.
type Option func(*options)

// WithBalances lets fires debit their payers without transfers, which costs a third of the time; see fees.Balances for what
// it is given and for what chain it is not, and fees.NewBankBalances for a faster form. Without it the bank's SendCoins moves
// what fires are charged.
func WithBalances(balances fees.Balances) Option {
	return func(o *options) { o.balances = balances }
}

// WithAccountStore names the store of x/auth. With it the module sees from the bytes of a payer's account that it is a plain
// one, whose coins are not locked, and does not decode it.
func WithAccountStore(service store.KVStoreService) Option {
	return func(o *options) { o.accounts = service }
}

// WithFeegrant lets an account pay for timers of others to whom it granted a fee allowance (x/timers/README.md, "1.11
// Fee payer"). Without it only the actor itself can pay, which a module account never can.
func WithFeegrant(feegrant types.FeegrantKeeper) Option {
	return func(o *options) { o.feegrant = feegrant }
}

// WithTipCollector sets who receives the tips of a block, as a rule its proposer (fees.NewProposerTips). Without it
// they go to the fee collector; so they do in a block in which the collector fails.
func WithTipCollector(tips types.TipCollector) Option {
	return func(o *options) { o.tips = tips }
}

// WithBasefeeSource plugs in the chain's fee market, which is asked in each block. Without it cycle_basefee and
// cell_basefee of the config hold. In a block in which it fails its last good prices hold, and the config's if there are
// none (x/timers/README.md, "5.2 Settlement").
func WithBasefeeSource(source types.BasefeeSource) Option {
	return func(o *options) { o.basefees = source }
}

// WithWatcher lets timers watch the stores that the watcher wraps (x/timers/README.md, "1.10 Watch"). Without it a
// watch trigger is refused with types.ErrNotWatchable.
func WithWatcher(watcher *watch.Watcher) Option {
	return func(o *options) { o.watcher = watcher }
}

// WithReporter sets who is told what the end of each block does, as metrics of the node (client/metrics). Without it
// no one is.
func WithReporter(reporter report.Reporter) Option {
	return func(o *options) { o.reporter = reporter }
}

// WithPolicy adds policies to fifo and eip1559, which the config can select in any case: guests of the module
// (policies/guests), or the chain's own (docs/extend/policy.md).
func WithPolicy(bind ...policies.Constructor) Option {
	return func(o *options) { o.policies = append(o.policies, bind...) }
}

// WithAuthority lets the chain's consensus params name the authority, as they can from SDK 0.54 on. The function returns the
// bech32 address that they name, empty if they name none: then the one given to NewKeeper holds. The other of the two has no
// rights. It is asked when a message of the authority comes, once in a block for the reserved share, and by the params query;
// it must answer from state alone, so that all nodes agree. Without it the one given to NewKeeper holds.
func WithAuthority(named func(ctx sdk.Context) string) Option {
	return func(o *options) { o.authority = named }
}

// WithAgents lets timers name bidding agents (policies/agents.New): contracts and modules that price them. Without it a bid or a
// MsgSetAgent that names one is refused with types.ErrInvalidAgent.
func WithAgents(bind func(*policies.Parts) policies.Agents) Option {
	return func(o *options) { o.agents = bind }
}

// WithoutHeadroom accepts configs whose lane has no headroom (x/timers/README.md, "7.2 Lane"), as those of tests are, whose
// lanes hold a few fires. Under such a config a crowd keeps others out of the lane at a basefee that does not rise: a chain
// never sets it.
func WithoutHeadroom() Option {
	return func(o *options) { o.noHeadroom = true }
}

// NewKeeper wires the module. The authority is the bech32 address that may send the Sys messages, usually x/gov's
// account. It panics if the wiring is wrong: without the module's account, which needs the burner permission, or with a
// malformed authority.
func NewKeeper(
	cdc codec.Codec,
	service store.KVStoreService,
	addresses address.Codec,
	accounts types.AccountKeeper,
	bank types.BankKeeper,
	router types.Router,
	authority string,
	opts ...Option,
) *Keeper {
	if _, err := addresses.StringToBytes(authority); err != nil {
		panic(fmt.Errorf("x/timers: authority %q: %w", authority, err))
	}
	moduleAddress := accounts.GetModuleAddress(types.ModuleName)
	if moduleAddress == nil {
		panic("x/timers: the module's account is missing: give it the burner permission in maccPerms")
	}
	o := options{reporter: report.None{}}
	for _, opt := range opts {
		opt(&o)
	}
	payments := &fees.Fees{
		Accounts: accounts, AccountStore: o.accounts, Addresses: types.NewAddresses(addresses), Bank: bank, Balances: o.balances, Feegrant: o.feegrant,
		Tips: o.tips, Basefees: o.basefees, Account: moduleAddress,
	}
	payments.Defaults()
	k := &Keeper{feeDenom: o.feeDenom, service: service}
	k.wire(cdc, collections.NewSchemaBuilder(service), payments, router, &o)
	k.engine.Authority = engine.Authority{Wired: authority, Named: o.authority}
	return k
}

// wire makes the components of the state, the policies that use them and the engine over both.
func (k *Keeper) wire(cdc codec.Codec, sb *collections.SchemaBuilder, payments *fees.Fees, router types.Router, o *options) {
	configs, lane, owners := state.NewConfigs(cdc, sb), state.NewLane(cdc, sb), state.NewOwners(sb, k.service)
	records := state.NewRecords(sb, k.service, owners, lane)
	index := state.NewIndex(sb, k.service)
	tombstones := state.NewTombstones(cdc, sb)
	conditions := triggers.NewConditions(cdc, sb, records, tombstones, o.watcher)
	watches := triggers.NewWatches(cdc, sb, records, tombstones, o.watcher, conditions)
	fairness := state.NewFairness(cdc, sb, k.service, lane, router)
	receipts := state.NewReceipts(sb, lane)
	parts := &policies.Parts{
		Codec: cdc, Schema: sb, Store: k.service, Configs: configs, Lane: lane, Owners: owners, Records: records, Index: index,
		Fairness: fairness, Agents: policies.NoAgents{}, Fees: payments, Router: router, Addresses: payments.Addresses,
	}
	if o.agents != nil {
		parts.Agents = o.agents(parts)
	}
	k.engine = &engine.Engine{
		Parts: parts, Policies: policies.NewRegistry(parts, o.policies...), Triggers: triggers.NewKinds(watches), Watches: watches,
		Receipts: receipts, Reporter: o.reporter,
	}
	k.engine.Policies.Unchecked = o.noHeadroom
	k.components = []state.Component{configs, lane, records, index, parts.Agents, fairness, watches, conditions, receipts}
	for _, p := range k.engine.Policies.All() {
		k.components = append(k.components, p)
	}
	k.components = append(k.components, k.engine.Policies)
	schema, err := sb.Build()
	if err != nil {
		panic(fmt.Errorf("x/timers: schema: %w", err))
	}
	k.schema = schema
}

// Engine returns the engine that fires the timers. The query server runs its steps on a branch of state.
func (k *Keeper) Engine() *engine.Engine { return k.engine }

// Authority returns the bech32 address that may send the Sys messages now.
func (k *Keeper) Authority(ctx context.Context) string {
	return k.engine.Authority.In(sdk.UnwrapSDKContext(ctx))
}

// Config returns the config in force in this block: one config holds throughout a block. Reading it costs no gas.
func (k *Keeper) Config(ctx context.Context) (types.TimerConfig, error) {
	return k.engine.Configs.Get(ctx)
}

// Schema returns the schema of the module's store, for tools that decode state.
func (k *Keeper) Schema() collections.Schema { return k.schema }

// BeginBlock puts a config accepted in an earlier block in force (x/timers/README.md, "4. Begin Block"). It never
// returns an error: what fails is dropped, and the next block tries again.
func (k *Keeper) BeginBlock(ctx context.Context) error {
	k.engine.BeginBlock(sdk.UnwrapSDKContext(ctx))
	return nil
}

// EndBlock fires the timers that are due and fit the lane (x/timers/README.md, "5. End Block"). It never returns an
// error to the chain. A handler that calls it gets types.ErrReentered.
func (k *Keeper) EndBlock(ctx context.Context) error {
	if sandbox.IsWithinFire(ctx) {
		return types.ErrReentered
	}
	k.engine.EndBlock(sdk.UnwrapSDKContext(ctx))
	return nil
}

// CountTimers counts the live timers at the end of a block, and the ready ones among them. It reads the whole backlog:
// tests and the lab call it between blocks; no block does.
func (k *Keeper) CountTimers(ctx context.Context) (live, ready uint64, err error) {
	return k.engine.CountTimers(ctx)
}

// CountLive counts the live timers. It reads the directory of the owner index, not its entries: fit for a metric, and too
// much for a block.
func (k *Keeper) CountLive(ctx context.Context) (uint64, error) { return k.engine.Owners.Total(ctx) }

// CheckInvariants returns the first broken invariant of the module's state, if any (x/timers/README.md, "2.2
// Invariants"). It reads everything: tests, the lab and simulations call it between blocks; no block does.
func (k *Keeper) CheckInvariants(ctx context.Context) error {
	for _, c := range k.components {
		if err := c.CheckInvariants(ctx); err != nil {
			return fmt.Errorf("x/timers invariant: %w", err)
		}
	}
	return nil
}

// BondDenomKeeper names the denom that a chain bonds; the keeper of x/staking is one.
type BondDenomKeeper interface {
	BondDenom(ctx context.Context) (string, error)
}

// feeDenom is what a genesis without a fee denom charges.
type feeDenom struct {
	stated  string
	staking BondDenomKeeper
}

// WithFeeDenom states the fee denom of a chain that starts the module, or adds it in an upgrade. A genesis that states one
// wins over it; later nothing changes it.
func WithFeeDenom(denom string) Option {
	return func(o *options) { o.feeDenom.stated = denom }
}

// WithBondDenom takes the fee denom from x/staking when the module's state is initialized, unless the genesis or
// WithFeeDenom states another one. Staking must be initialized before.
func WithBondDenom(staking BondDenomKeeper) Option {
	return func(o *options) { o.feeDenom.staking = staking }
}

// DefaultGenesis returns an empty module. It charges what WithFeeDenom states; without that its fee denom is empty, and
// InitGenesis takes it from x/staking. The config has the parameters of every policy of the chain.
func (k *Keeper) DefaultGenesis() *types.GenesisState {
	g := types.NewGenesis(k.feeDenom.stated)
	g.Config = k.engine.Policies.Complete(g.Config)
	return g
}

// withFeeDenom returns the state with its fee denom filled in. Fires could not be charged in a denom that no one holds, so
// that one without supply is refused.
func (k *Keeper) withFeeDenom(ctx context.Context, head *types.GenesisState) (*types.GenesisState, error) {
	complete := *head
	denom := &complete.Config.FeeDenom
	if *denom == "" {
		*denom = k.feeDenom.stated
	}
	if *denom == "" && k.feeDenom.staking != nil {
		bonded, err := k.feeDenom.staking.BondDenom(ctx)
		if err != nil {
			return nil, err
		}
		*denom = bonded
	}
	if *denom == "" {
		return nil, types.ErrInvalidGenesis.Wrap("config.fee_denom is empty, and there is no bond denom: state one of them; " +
			"want x/staking before x/timers in the order of genesis")
	}
	if err := sdk.ValidateDenom(*denom); err != nil {
		return nil, types.ErrInvalidGenesis.Wrapf("config.fee_denom %.80q is no denom", *denom)
	}
	if !k.engine.Fees.Bank.GetSupply(ctx, *denom).IsPositive() {
		return nil, types.ErrInvalidGenesis.Wrapf("config.fee_denom %q has no supply: no one could pay; "+
			"want x/bank before x/timers in the order of genesis", *denom)
	}
	return &complete, nil
}

// InitGenesis validates a genesis state and writes it to an empty store. The module's account must hold the locked bids
// already, and the fee denom must have a supply, so that the genesis of x/bank comes first (x/timers/README.md, "2.1
// Genesis"). An empty fee denom is that of the chain (WithFeeDenom, WithBondDenom). If the state is of a later
// block than the chain begins with, its heights are moved back (genesis.Source, Rebase).
func (k *Keeper) InitGenesis(ctx context.Context, g *types.GenesisState) error {
	return k.InitGenesisFrom(ctx, genesis.FromState(g))
}

// InitGenesisFrom is InitGenesis for a state whose timers are read one at a time. They are validated as they come: after
// an error the store holds a part of the state.
func (k *Keeper) InitGenesisFrom(ctx context.Context, source genesis.Source) error {
	head, err := k.withFeeDenom(ctx, source.Head)
	if err != nil {
		return err
	}
	source.Head = head
	// The context of a chain's genesis has the height of its first block, or 0 for 1.
	source, back := source.Rebase(max(1, types.HeightOf(ctx)))
	if back > 0 {
		sdk.UnwrapSDKContext(ctx).Logger().Info("timers of a chain that goes back: all heights are moved", "blocks", back)
	}
	check, err := genesis.NewCheck(source.Head)
	if err != nil {
		return err
	}
	if err := k.CheckConfigs(source.Head); err != nil {
		return err
	}
	source.Head.Config = k.engine.Policies.Complete(source.Head.Config)
	if source.Head.NextConfig != nil {
		next := k.engine.Policies.Complete(*source.Head.NextConfig)
		source.Head.NextConfig = &next
	}
	// The account exists from the first block, so that the first pre-charge costs what every other does.
	k.engine.Fees.Accounts.GetModuleAccount(ctx, types.ModuleName)
	readings := []state.TimerReading{{Timer: check.Timer, Done: check.Done}}
	for _, c := range k.components {
		if err := c.InitGenesis(ctx, source.Head); err != nil {
			return err
		}
		if reader, ok := c.(state.TimerReader); ok {
			readings = append(readings, reader.ReadTimers(ctx, source.Head))
		}
	}
	read, err := readTimers(source, readings)
	if err != nil || read > checkedTimers {
		return err
	}
	if err := k.CheckInvariants(ctx); err != nil {
		return types.ErrInvalidGenesis.Wrapf("%s", err)
	}
	return nil
}

// checkedTimers is up to how many timers an import holds the invariants of the whole module too, as they are held at run
// time: that has every timer in memory, and takes some 35 µs a timer. Of a longer file each record is checked as it is
// read, by the same functions, and what its records add up to as the components derive it.
const checkedTimers = 10_000

// readTimers passes each timer to all readings, and counts them.
func readTimers(source genesis.Source, readings []state.TimerReading) (read int, err error) {
	err = source.Timers(func(i int, t *types.Timer) error {
		read++
		for _, reading := range readings {
			if err := reading.Timer(i, t); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return read, err
	}
	for _, reading := range readings {
		if reading.Done == nil {
			continue
		}
		if err := reading.Done(); err != nil {
			return read, err
		}
	}
	return read, nil
}

// ValidateGenesis checks that a genesis state does not contradict itself, and that its policies are of this chain.
// Errors are types.ErrInvalidGenesis and types.ErrInvalidConfig.
func (k *Keeper) ValidateGenesis(g *types.GenesisState) error {
	if err := genesis.Validate(g); err != nil {
		return err
	}
	return k.CheckConfigs(g)
}

// CheckConfigs checks that the policies of a genesis state are of this chain and accept its configs.
func (k *Keeper) CheckConfigs(g *types.GenesisState) error {
	if g.NextConfig != nil {
		if err := k.engine.CheckConfig(g.NextConfig); err != nil {
			return err
		}
	}
	return k.engine.CheckConfig(&g.Config)
}

// ExportGenesis returns the whole state, in an order that depends on nothing but it.
func (k *Keeper) ExportGenesis(ctx context.Context) (*types.GenesisState, error) {
	source, err := k.Export(ctx)
	if err != nil {
		return nil, err
	}
	return source.Collect()
}

// Export is ExportGenesis for a state of any size: the timers are read from the store when they are passed on. The store
// must not change meanwhile.
func (k *Keeper) Export(ctx context.Context) (genesis.Source, error) {
	head := &types.GenesisState{}
	for _, c := range k.components {
		if err := c.ExportGenesis(ctx, head); err != nil {
			return genesis.Source{}, err
		}
	}
	return genesis.Source{Head: head, Timers: func(fn func(int, *types.Timer) error) error {
		return k.engine.Records.ExportTimers(ctx, fn)
	}}, nil
}
