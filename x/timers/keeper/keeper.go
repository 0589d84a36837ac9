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
	engine    *engine.Engine
	service   store.KVStoreService
	schema    collections.Schema
	authority string
	feeDenom  feeDenom
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
// (policies/guests), or the chain's own (docs/policy.md).
func WithPolicy(bind ...policies.Constructor) Option {
	return func(o *options) { o.policies = append(o.policies, bind...) }
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
	authorityAddress, err := addresses.StringToBytes(authority)
	if err != nil {
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
	k := &Keeper{authority: authority, feeDenom: o.feeDenom, service: service}
	k.wire(cdc, collections.NewSchemaBuilder(service), payments, router, &o)
	k.engine.Authority = authorityAddress
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

// Authority returns the address that may send the Sys messages.
func (k *Keeper) Authority() string { return k.authority }

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
