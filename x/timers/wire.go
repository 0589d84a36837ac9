package timers

import (
	"cosmossdk.io/core/address"
	"cosmossdk.io/core/store"

	"github.com/cosmos/cosmos-sdk/codec"

	"github.com/cosmos-timers/timers/x/timers/actors"
	"github.com/cosmos-timers/timers/x/timers/client/metrics"
	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/types"
)

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

// New wires the module by hand, with safe defaults (x/timers/docs/wiring.md). Accounts and Go modules own timers; who owns a
// timer pays for it; tips go to the fee collector; prices are the config's; no store can be watched; the fee denom is x/staking's
// bond denom; metrics go to Prometheus's default registry. Options change that. A chain without x/staking passes nil for it, and keeper.WithFeeDenom. The authority is the
// bech32 address that may send the Sys messages, usually x/gov's account.
//
// It panics as keeper.NewKeeper does if the wiring is wrong.
func New(
	cdc codec.Codec, service store.KVStoreService, accounts AccountKeeper, bank types.BankKeeper,
	staking keeper.BondDenomKeeper, messages actors.MessageRouter, authority string, opts ...keeper.Option,
) *Timers {
	handlers := actors.NewModuleRuntime()
	// A module's address may have an account too, so that modules come first.
	router := actors.NewRouter(handlers, actors.NewAccountRuntime(cdc, accounts, messages))
	all := append([]keeper.Option{keeper.WithBondDenom(staking), keeper.WithReporter(metrics.Default())}, opts...)
	k := keeper.NewKeeper(cdc, service, accounts.AddressCodec(), accounts, bank, router, authority, all...)
	return &Timers{Keeper: k, Router: router, Handlers: handlers, Module: NewAppModule(cdc, k)}
}
