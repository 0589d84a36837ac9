// Package keeper is what other modules and the app see of x/timers: the host API by which Go modules schedule, the message
// servers over it, and genesis.
//
// The engine that fires timers is in package engine, what is stored in package state, and the queries in package query.
package keeper

import (
	"context"
	"fmt"

	"cosmossdk.io/collections"
	"cosmossdk.io/core/address"
	"cosmossdk.io/core/store"

	"github.com/cosmos/cosmos-sdk/codec"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/agents"
	"github.com/cosmos-timers/timers/x/timers/engine"
	"github.com/cosmos-timers/timers/x/timers/fees"
	"github.com/cosmos-timers/timers/x/timers/genesis"
	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/policies/registry"
	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/triggers"
	"github.com/cosmos-timers/timers/x/timers/types"
	"github.com/cosmos-timers/timers/x/timers/watch"
)

// Keeper is the module as the rest of the chain sees it. There is one instance in a chain, passed by pointer.
type Keeper struct {
	engine    *engine.Engine
	schema    collections.Schema
	authority string
	// components of the module's state, in the order of genesis.
	components []state.Component
}

// options are the parts of a module that have safe defaults.
type options struct {
	feegrant types.FeegrantKeeper
	tips     types.TipCollector
	basefees types.BasefeeSource
	watcher  *watch.Watcher
	policies []registry.Constructor
}

// Option replaces a part that has a safe default.
type Option func(*options)

// WithFeegrant lets accounts pay for others' timers by fee allowance. Without it only the actor itself can pay.
func WithFeegrant(feegrant types.FeegrantKeeper) Option {
	return func(o *options) { o.feegrant = feegrant }
}

// WithTipCollector sets who receives the tips. Without it they go to the fee collector.
func WithTipCollector(tips types.TipCollector) Option {
	return func(o *options) { o.tips = tips }
}

// WithBasefeeSource plugs in the chain's fee market. Without it CYCLE_BASEFEE and CELL_BASEFEE of the config hold.
func WithBasefeeSource(source types.BasefeeSource) Option {
	return func(o *options) { o.basefees = source }
}

// WithWatcher lets timers watch the stores that the watcher wraps. Without it a watch trigger is refused.
func WithWatcher(watcher *watch.Watcher) Option {
	return func(o *options) { o.watcher = watcher }
}

// WithPolicy adds a policy of the chain's own to those that the config can select (docs/policy.md).
func WithPolicy(bind registry.Constructor) Option {
	return func(o *options) { o.policies = append(o.policies, bind) }
}

// NewKeeper wires the module. The authority is the bech32 address that may send the Sys messages, x/gov's account as a
// rule. It panics if the wiring is wrong: without the module's account, which needs the burner permission, or with a
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
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	purse := &fees.Fees{
		Accounts: accounts, Addresses: types.Addresses{Codec: addresses}, Bank: bank, Feegrant: o.feegrant,
		Tips: o.tips, Basefees: o.basefees, Account: moduleAddress,
	}
	purse.Defaults()
	k := &Keeper{authority: authority}
	k.wire(cdc, collections.NewSchemaBuilder(service), purse, router, &o)
	return k
}

// wire makes the components of the state, the policies that use them and the engine over both.
func (k *Keeper) wire(cdc codec.Codec, sb *collections.SchemaBuilder, purse *fees.Fees, router types.Router, o *options) {
	configs, lane, actors := state.NewConfigs(cdc, sb), state.NewLane(cdc, sb), state.NewActors(cdc, sb)
	records := state.NewRecords(cdc, sb, actors, lane)
	index := state.NewIndex(sb, records)
	records.Attend(index)
	watches := triggers.NewWatches(cdc, sb, records, o.watcher)
	fairness := state.NewFairness(cdc, sb, actors, lane, router)
	receipts := state.NewReceipts(cdc, sb)
	agentRegistry := agents.NewRegistry(actors, records, router, purse.Bank, purse.Addresses)
	parts := &policies.Parts{
		Codec: cdc, Schema: sb, Configs: configs, Lane: lane, Actors: actors, Records: records, Index: index,
		Fairness: fairness, Agents: agentRegistry, Fees: purse, Addresses: purse.Addresses,
	}
	k.engine = &engine.Engine{
		Parts: parts, Policies: registry.New(parts, o.policies...), Triggers: triggers.NewKinds(watches), Watches: watches,
		Receipts: receipts, Router: router,
	}
	k.components = []state.Component{configs, lane, records, index, agentRegistry, fairness, watches, receipts}
	for _, p := range k.engine.Policies.All() {
		k.components = append(k.components, p)
	}
	schema, err := sb.Build()
	if err != nil {
		panic(fmt.Errorf("x/timers: schema: %w", err))
	}
	k.schema = schema
}

// Engine fires the timers. Package query reads it.
func (k *Keeper) Engine() *engine.Engine { return k.engine }

// Authority returns the address that may send the Sys messages.
func (k *Keeper) Authority() string { return k.authority }

// Config returns the config in force in this block. Reading it costs no gas.
func (k *Keeper) Config(ctx context.Context) (types.TimerConfig, error) {
	return k.engine.Configs.Get(ctx)
}

// Schema is that of the module's store.
func (k *Keeper) Schema() collections.Schema { return k.schema }

// BeginBlock puts a config accepted in an earlier block in force. It never fails.
func (k *Keeper) BeginBlock(ctx context.Context) error {
	k.engine.BeginBlock(sdk.UnwrapSDKContext(ctx))
	return nil
}

// EndBlock fires the timers that are due and fit. It never fails, except that a handler that calls it gets an error.
func (k *Keeper) EndBlock(ctx context.Context) error {
	if sandbox.IsWithinFire(ctx) {
		return types.ErrReentered
	}
	k.engine.EndBlock(sdk.UnwrapSDKContext(ctx))
	return nil
}

// CountTimers counts the live timers at the end of a block, and those of them that are due and wait for the lane. It reads
// the whole backlog: tests and the lab call it between blocks; no block does.
func (k *Keeper) CountTimers(ctx context.Context) (live, ready uint64, err error) {
	return k.engine.CountTimers(ctx)
}

// InitGenesis writes the state of a new chain.
func (k *Keeper) InitGenesis(ctx context.Context, genesis *types.GenesisState) error {
	if err := k.ValidateGenesis(genesis); err != nil {
		return err
	}
	// The account exists from the first block, so that the first pre-charge costs what every other does.
	k.engine.Fees.Accounts.GetModuleAccount(ctx, types.ModuleName)
	for _, c := range k.components {
		if err := c.InitGenesis(ctx, genesis); err != nil {
			return err
		}
	}
	return nil
}

// ValidateGenesis checks that a genesis state does not contradict itself, and that its policies are of this chain.
func (k *Keeper) ValidateGenesis(g *types.GenesisState) error {
	if err := genesis.Validate(g); err != nil {
		return err
	}
	if g.NextConfig != nil {
		if err := k.engine.Policies.Validate(g.NextConfig); err != nil {
			return err
		}
	}
	return k.engine.Policies.Validate(&g.Config)
}

// ExportGenesis returns the whole state, in an order that depends on nothing but it.
func (k *Keeper) ExportGenesis(ctx context.Context) (*types.GenesisState, error) {
	genesis := &types.GenesisState{}
	for _, c := range k.components {
		if err := c.ExportGenesis(ctx, genesis); err != nil {
			return nil, err
		}
	}
	return genesis, nil
}

// CheckInvariants returns the first thing about the module's state that can't be, if any. It reads everything: tests, the
// lab and simulations call it between blocks; no block does.
func (k *Keeper) CheckInvariants(ctx context.Context) error {
	for _, c := range k.components {
		if err := c.CheckInvariants(ctx); err != nil {
			return fmt.Errorf("x/timers invariant: %w", err)
		}
	}
	return nil
}
