// Package keeper holds the engine of x/timers: what its messages do, and what the end of each block does.
//
// host.go is the API by which the message server and other modules schedule; endblock.go is the ten steps that fire;
// settle.go is the money; schema.go is the state.
package keeper

import (
	"context"
	"fmt"

	"cosmossdk.io/collections"
	"cosmossdk.io/core/address"
	"cosmossdk.io/core/store"
	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos/cosmos-sdk/codec"
	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"

	"github.com/cosmos-timers/timers/x/timers/calendar"
	"github.com/cosmos-timers/timers/x/timers/types"
	"github.com/cosmos-timers/timers/x/timers/watch"
)

// Keeper is the module's engine. There is one instance in a chain, passed by pointer.
type Keeper struct {
	cdc       codec.Codec
	addresses address.Codec
	accounts  types.AccountKeeper
	bank      types.BankKeeper
	router    types.Router
	authority string

	feegrant types.FeegrantKeeper
	tips     types.TipCollector
	basefees types.BasefeeSource
	watcher  *watch.Watcher

	state    *state
	calendar calendar.Flat[types.Timer]
	address  sdk.AccAddress
}

// Option replaces a part that has a safe default.
type Option func(*Keeper)

// WithFeegrant lets accounts pay for others' timers by fee allowance. Without it only the actor itself can pay.
func WithFeegrant(feegrant types.FeegrantKeeper) Option {
	return func(k *Keeper) { k.feegrant = feegrant }
}

// WithTipCollector sets who receives the tips. Without it they go to the fee collector.
func WithTipCollector(tips types.TipCollector) Option {
	return func(k *Keeper) { k.tips = tips }
}

// WithBasefeeSource plugs in the chain's fee market. Without it CYCLE_BASEFEE and CELL_BASEFEE of the config hold.
func WithBasefeeSource(source types.BasefeeSource) Option {
	return func(k *Keeper) { k.basefees = source }
}

// WithWatcher lets timers watch the stores that the watcher wraps. Without it a watch trigger is refused.
func WithWatcher(watcher *watch.Watcher) Option {
	return func(k *Keeper) { k.watcher = watcher }
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
	st, err := newState(cdc, service)
	if err != nil {
		panic(fmt.Errorf("x/timers: schema: %w", err))
	}
	k := &Keeper{
		cdc: cdc, addresses: addresses, accounts: accounts, bank: bank, router: router, authority: authority,
		tips: feeCollectorTips{bank}, basefees: configBasefees{},
		state: st, calendar: calendar.NewFlat[types.Timer](queueStore{st.queue}), address: moduleAddress,
	}
	for _, opt := range opts {
		opt(k)
	}
	k.bank, k.tips = mutedBank{k.bank}, mutedTips{k.tips}
	return k
}

// Authority returns the address that may send the Sys messages.
func (k *Keeper) Authority() string { return k.authority }

// Config returns the config in force in this block (SPEC §4: one config is in force throughout a block). Reading it costs no
// gas, beyond what SCHEDULE_CYCLES and its like charge: a schedule must not get dearer, nor a handler fail that fitted its
// limit, because a new version of the module has more parameters.
func (k *Keeper) Config(ctx context.Context) (types.TimerConfig, error) {
	return k.state.config.Get(sdk.UnwrapSDKContext(ctx).WithGasMeter(storetypes.NewInfiniteGasMeter()))
}

// Schema is that of the module's store.
func (k *Keeper) Schema() collections.Schema { return k.state.schema }

// configBasefees is the built-in fee market: two parameters.
type configBasefees struct{}

func (configBasefees) Basefees(_ context.Context, c *types.TimerConfig) (cycle, cell math.LegacyDec, err error) {
	return c.CycleBasefee, c.CellBasefee, nil
}

// feeCollectorTips gives tips to the fee collector, which x/distribution shares out.
type feeCollectorTips struct{ bank types.BankKeeper }

func (f feeCollectorTips) PayTips(ctx context.Context, from string, tips sdk.Coins) error {
	return f.bank.SendCoinsFromModuleToModule(ctx, from, authtypes.FeeCollectorName, tips)
}
