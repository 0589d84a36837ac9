package timers

import (
	"context"

	"cosmossdk.io/core/address"
	"cosmossdk.io/core/appmodule"
	"cosmossdk.io/core/store"
	"cosmossdk.io/depinject"
	"cosmossdk.io/depinject/appconfig"
	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos/cosmos-sdk/codec"
	"github.com/cosmos/cosmos-sdk/runtime"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	govtypes "github.com/cosmos/cosmos-sdk/x/gov/types"

	"github.com/cosmos-timers/timers/x/timers/actors"
	"github.com/cosmos-timers/timers/x/timers/client/metrics"
	"github.com/cosmos-timers/timers/x/timers/fees"
	"github.com/cosmos-timers/timers/x/timers/keeper"
	modulev1 "github.com/cosmos-timers/timers/x/timers/module/v1"
	"github.com/cosmos-timers/timers/x/timers/types"
	"github.com/cosmos-timers/timers/x/timers/watch"
)

var _ depinject.OnePerModuleType = AppModule{}

func init() {
	appconfig.RegisterModule(&modulev1.Module{},
		appconfig.Provide(ProvideModule, ProvideWatcher), appconfig.Invoke(InvokeRegisterActors))
}

// StakingKeeper is what depinject takes of x/staking.
type StakingKeeper interface {
	keeper.BondDenomKeeper
	fees.StakingKeeper
}

// ModuleInputs are what depinject gives to ProvideModule. What is optional may be absent from the container.
type ModuleInputs struct {
	depinject.In

	Config   *modulev1.Module
	Codec    codec.Codec
	Key      *storetypes.KVStoreKey
	Accounts AccountKeeper
	Bank     types.BankKeeper
	Messages actors.MessageRouter
	Watcher  *watch.Watcher
	Options  []KeeperOption

	// Staking gives the fee denom. Together with Distribution it shares tips with the proposer's delegators, unless there is
	// a collector of the chain's own.
	Staking      StakingKeeper           `optional:"true"`
	Distribution fees.DistributionKeeper `optional:"true"`
	Tips         types.TipCollector      `optional:"true"`
	Feegrant     types.FeegrantKeeper    `optional:"true"`
	Basefees     types.BasefeeSource     `optional:"true"`
}

// ModuleOutputs are what the container has of the module.
type ModuleOutputs struct {
	depinject.Out

	Keeper   *keeper.Keeper
	Router   *actors.Router
	Handlers *actors.ModuleRuntime
	Module   appmodule.AppModule
}

// KeeperOption is an option of the keeper that a module or the app itself provides; there may be many.
type KeeperOption struct{ Option keeper.Option }

// IsManyPerContainerType implements depinject.ManyPerContainerType.
func (KeeperOption) IsManyPerContainerType() {}

// ActorRuntime serves actors that are neither accounts nor Go modules, and is asked before those. A module provides it;
// there may be many.
type ActorRuntime struct{ Runtime types.Runtime }

// IsManyPerContainerType implements depinject.ManyPerContainerType.
func (ActorRuntime) IsManyPerContainerType() {}

// GoHandler is a function that timers of a Go module call. The module provides it; there may be many.
type GoHandler struct {
	// Module is the name whose address owns the timers, Handler that of the function: types.DefaultHandler for timers that
	// name none.
	Module, Handler string
	Call            func(ctx context.Context, delivery types.Delivery) error
}

// IsManyPerContainerType implements depinject.ManyPerContainerType.
func (GoHandler) IsManyPerContainerType() {}

// ProvideModule wires the module by depinject, as New does by hand.
func ProvideModule(in ModuleInputs) (ModuleOutputs, error) {
	authority := authtypes.NewModuleAddress(govtypes.ModuleName)
	if in.Config.Authority != "" {
		authority = authtypes.NewModuleAddressOrBech32Address(in.Config.Authority)
	}
	text, err := in.Accounts.AddressCodec().BytesToString(authority)
	if err != nil {
		return ModuleOutputs{}, err
	}
	t := New(in.Codec, runtime.NewKVStoreService(in.Key), in.Accounts, in.Bank, in.Staking, in.Messages, text, in.options()...)
	return ModuleOutputs{Keeper: t.Keeper, Router: t.Router, Handlers: t.Handlers, Module: t.Module}, nil
}

// options are those of the optional inputs, then those that modules provide.
func (in *ModuleInputs) options() []keeper.Option {
	opts := []keeper.Option{keeper.WithFeeDenom(in.Config.FeeDenom), keeper.WithWatcher(in.Watcher)}
	switch {
	case in.Tips != nil:
		opts = append(opts, keeper.WithTipCollector(in.Tips))
	case in.Staking != nil && in.Distribution != nil:
		opts = append(opts, keeper.WithTipCollector(fees.NewProposerTips(in.Bank, in.Staking, in.Distribution)))
	}
	if in.Feegrant != nil {
		opts = append(opts, keeper.WithFeegrant(in.Feegrant))
	}
	if in.Basefees != nil {
		opts = append(opts, keeper.WithBasefeeSource(in.Basefees))
	}
	for _, o := range in.Options {
		opts = append(opts, o.Option)
	}
	return opts
}

// ProvideWatcher makes the watcher, with which other modules make their stores watchable (docs/extend/options.md). It needs no keeper,
// so that modules that timers depend on can use it.
func ProvideWatcher(key *storetypes.KVStoreKey) *watch.Watcher { return watch.New(key) }

// InvokeRegisterActors completes the router when all keepers exist: a module that has a handler needs the timers' keeper too.
func InvokeRegisterActors(router *actors.Router, modules *actors.ModuleRuntime, runtimes []ActorRuntime, handlers []GoHandler) {
	if router == nil || modules == nil {
		return
	}
	all := make([]types.Runtime, len(runtimes))
	for i := range runtimes {
		all[i] = runtimes[i].Runtime
	}
	router.Prepend(all...)
	for _, h := range handlers {
		modules.Register(h.Module, h.Handler, h.Call)
	}
}

// AccountKeeper is what New needs of x/auth.
type AccountKeeper interface {
	types.AccountKeeper
	actors.Accounts
	AddressCodec() address.Codec
}

// Timers is the module as New wires it. Router and Handlers are complete before the app loads its state.
type Timers struct {
	Keeper *keeper.Keeper
	// Router asks who serves an actor: Go modules, then accounts. Other runtimes are put before them (Router.Prepend).
	Router *actors.Router
	// Handlers are the functions that timers of Go modules call.
	Handlers *actors.ModuleRuntime
	Module   AppModule
}

// New wires the module by hand, with safe defaults (x/timers/docs/extend/wiring.md). Accounts and Go modules own timers; who owns a
// timer pays for it; tips go to the fee collector; prices are the config's; no store can be watched; the fee denom is x/staking's
// bond denom; metrics go to Prometheus's default registry. Options change that. A chain without x/staking passes nil for it, and
// keeper.WithFeeDenom. The authority is the bech32 address that may send the Sys messages, usually x/gov's account.
//
// It panics as keeper.NewKeeper does if the wiring is wrong, and if the module's account is none of the bank's blocked addresses.
func New(
	cdc codec.Codec, service store.KVStoreService, accounts AccountKeeper, bank types.BankKeeper,
	staking keeper.BondDenomKeeper, messages actors.MessageRouter, authority string, opts ...keeper.Option,
) *Timers {
	if account := accounts.GetModuleAddress(types.ModuleName); account != nil && !bank.BlockedAddr(account) {
		panic("x/timers: anybody may send coins to the module's account, whose balance is that of locked bids: " +
			"name it among the bank's blocked addresses (with depinject, in blocked_module_accounts_override if that is stated)")
	}
	handlers := actors.NewModuleRuntime()
	// A module's address may have an account too, so that modules come first.
	router := actors.NewRouter(handlers, actors.NewAccountRuntime(cdc, accounts, messages))
	all := append([]keeper.Option{keeper.WithBondDenom(staking), keeper.WithReporter(metrics.Default())}, opts...)
	k := keeper.NewKeeper(cdc, service, accounts.AddressCodec(), accounts, bank, router, authority, all...)
	return &Timers{Keeper: k, Router: router, Handlers: handlers, Module: NewAppModule(cdc, k)}
}
