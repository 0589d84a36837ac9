// Package subscriptions is an example of a Go module that uses timers: it charges its subscribers every so many blocks.
// x/timers/docs/extend/modules.md explains it. A real module would have messages, queries and a genesis of its own; this one
// has what concerns timers.
package subscriptions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	corestore "cosmossdk.io/core/store"

	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"

	"github.com/cosmos-timers/timers/x/timers/actors"
	timerskeeper "github.com/cosmos-timers/timers/x/timers/keeper"
	timerstypes "github.com/cosmos-timers/timers/x/timers/types"
)

const (
	// ModuleName names the module, and so the address that owns its timers.
	ModuleName = "subscriptions"
	// StoreKey of its store.
	StoreKey = ModuleName
	// chargeGas is the gas limit of one payment, with room: what a fire does not use is refunded.
	chargeGas = 200_000
)

// Address owns the module's timers. It holds no coins.
var Address = authtypes.NewModuleAddress(ModuleName)

// TimersKeeper is what the module needs of x/timers; its keeper is one.
type TimersKeeper interface {
	Schedule(ctx context.Context, req timerskeeper.ScheduleRequest) (timerstypes.Timer, error)
	Cancel(ctx context.Context, actor sdk.AccAddress, id []byte) error
	Resume(ctx context.Context, actor sdk.AccAddress, id []byte) (timerstypes.Timer, error)
}

// BankKeeper is what it needs of x/bank.
type BankKeeper interface {
	SendCoins(ctx context.Context, from, to sdk.AccAddress, amount sdk.Coins) error
	BlockedAddr(address sdk.AccAddress) bool
}

// Subscription is an account's promise to pay another every so many blocks.
type Subscription struct {
	Subscriber sdk.AccAddress `json:"subscriber"`
	Payee      sdk.AccAddress `json:"payee"`
	Price      sdk.Coin       `json:"price"`
	Every      uint64         `json:"every"`
	// Paid is how often it was paid, TimerID the timer of the next payment.
	Paid    uint64 `json:"paid"`
	TimerID []byte `json:"timer_id"`
}

// Keeper of the module.
type Keeper struct {
	store  corestore.KVStoreService
	bank   BankKeeper
	timers TimersKeeper
}

// NewKeeper returns the module's keeper. Register makes its handler known.
func NewKeeper(store corestore.KVStoreService, bank BankKeeper, timers TimersKeeper) Keeper {
	return Keeper{store, bank, timers}
}

// Register tells the chain's router which function the module's timers call.
func (k Keeper) Register(modules *actors.ModuleRuntime) {
	modules.Register(ModuleName, timerstypes.DefaultHandler, k.charge)
}

var (
	errNotSubscribed = errors.New("there is no such subscription")
	errSubscribed    = errors.New("the account subscribes already")
)

// Subscribe makes a subscription, whose first payment is so many blocks away. The payee pays for its timers: it has
// granted the module a fee allowance.
func (k Keeper) Subscribe(ctx context.Context, subscriber, payee sdk.AccAddress, price sdk.Coin, every uint64) error {
	if k.bank.BlockedAddr(payee) {
		return fmt.Errorf("%s can't be paid", payee)
	}
	switch _, err := k.Get(ctx, subscriber); {
	case err == nil:
		return fmt.Errorf("%w: %s", errSubscribed, subscriber)
	case !errors.Is(err, errNotSubscribed):
		return err
	}
	return k.scheduleNext(ctx, Subscription{Subscriber: subscriber, Payee: payee, Price: price, Every: every})
}

// scheduleNext schedules the next payment and keeps the subscription.
func (k Keeper) scheduleNext(ctx context.Context, s Subscription) error {
	timer, err := k.timers.Schedule(ctx, timerskeeper.ScheduleRequest{
		Actor: Address,
		Spec: timerstypes.TimerSpec{
			Trigger:    timerstypes.Trigger{Height: uint64(sdk.UnwrapSDKContext(ctx).BlockHeight()) + s.Every},
			Call:       timerstypes.TimerCall{Payload: s.Subscriber},
			FeePayer:   s.Payee.String(),
			GasLimit:   chargeGas,
			OnUnfunded: timerstypes.OnUnfundedSuspend,
		},
	})
	if err != nil {
		return err
	}
	s.TimerID = timer.Id
	return k.set(ctx, s)
}

// charge is what the module's timers call: one payment, and the timer of the next. A subscriber who can't pay leaves.
func (k Keeper) charge(ctx context.Context, delivery timerstypes.Delivery) error {
	s, err := k.Get(ctx, delivery.Payload)
	if err != nil {
		return err
	}
	branch, commit := sdk.UnwrapSDKContext(ctx).CacheContext()
	if err := k.bank.SendCoins(branch, s.Subscriber, s.Payee, sdk.NewCoins(s.Price)); err != nil {
		return k.remove(ctx, s.Subscriber)
	}
	commit()
	s.Paid++
	return k.scheduleNext(ctx, s)
}

// Unsubscribe ends a subscription: its timer never fires. It has none if its last fire failed or governance cancelled
// it.
func (k Keeper) Unsubscribe(ctx context.Context, subscriber sdk.AccAddress) error {
	s, err := k.Get(ctx, subscriber)
	if err != nil {
		return err
	}
	if err := k.timers.Cancel(ctx, Address, s.TimerID); err != nil && !errors.Is(err, timerstypes.ErrTimerNotFound) {
		return err
	}
	return k.remove(ctx, subscriber)
}

// Resume continues with a subscription whose timer was put on hold, since the payee could not pay for it, or is gone.
func (k Keeper) Resume(ctx context.Context, subscriber sdk.AccAddress) error {
	s, err := k.Get(ctx, subscriber)
	if err != nil {
		return err
	}
	if _, err = k.timers.Resume(ctx, Address, s.TimerID); errors.Is(err, timerstypes.ErrTimerNotFound) {
		return k.scheduleNext(ctx, s)
	}
	return err
}

// Get returns an account's subscription.
func (k Keeper) Get(ctx context.Context, subscriber sdk.AccAddress) (s Subscription, err error) {
	bz, err := k.store.OpenKVStore(ctx).Get(subscriber)
	if err != nil {
		return s, err
	}
	if bz == nil {
		return s, fmt.Errorf("%w: %s", errNotSubscribed, subscriber)
	}
	return s, json.Unmarshal(bz, &s)
}

func (k Keeper) set(ctx context.Context, s Subscription) error {
	bz, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return k.store.OpenKVStore(ctx).Set(s.Subscriber, bz)
}

func (k Keeper) remove(ctx context.Context, subscriber sdk.AccAddress) error {
	return k.store.OpenKVStore(ctx).Delete(subscriber)
}
