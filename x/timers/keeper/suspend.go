package keeper

import (
	"context"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// This file holds the ways in which a timer waits for its owner: paused at the owner's will, or suspended for lack of
// funds (SPEC §8). Its time to live goes on.

// Pause sets one of the actor's timers aside until it is resumed or expires. It costs what Extend does.
func (k *Keeper) Pause(ctx context.Context, actor sdk.AccAddress, id []byte) error {
	timer, err := k.ownTimer(ctx, actor, id)
	if err != nil {
		return err
	}
	if timer.SetAside != types.NotSetAside && timer.SetAside != types.Watching {
		return types.ErrAlreadySetAside.Wrapf("timer %s is %s", timer.IDHex(), timer.SetAside.Word())
	}
	if err := k.putAside(ctx, &timer, types.Paused); err != nil {
		return err
	}
	return k.emit(ctx, &types.TimerSetAside{Id: timer.IDHex(), Actor: k.bech32(actor), Reason: types.Paused})
}

// Resume puts one of the actor's timers back that was paused or suspended, and returns the height at which it is due:
// its own, or the next one if that has passed. It costs what Extend does.
func (k *Keeper) Resume(ctx context.Context, actor sdk.AccAddress, id []byte) (uint64, error) {
	timer, err := k.ownTimer(ctx, actor, id)
	if err != nil {
		return 0, err
	}
	switch timer.SetAside {
	case types.Paused, types.Suspended:
		err := k.releaseTimer(sdk.UnwrapSDKContext(ctx), &timer)
		return timer.Due, err
	case types.NotSetAside:
		return 0, types.ErrNotSetAside.Wrapf("timer %s is due at height %d", timer.IDHex(), timer.Due)
	case types.Watching:
		return 0, types.ErrNotSetAside.Wrapf("timer %s waits for what it watches to change", timer.IDHex())
	case types.Quarantined:
		return 0, types.ErrQuarantined.Wrapf("timer %s: only the authority releases it", timer.IDHex())
	default:
		return 0, types.ErrUnrunnable.Wrapf("timer %s: its gas limit %d is outside what the config runs; it comes back by itself, "+
			"or after an update", timer.IDHex(), timer.GasLimit)
	}
}

// ownTimer charges for a change and returns the timer to change.
func (k *Keeper) ownTimer(ctx context.Context, actor sdk.AccAddress, id []byte) (types.Timer, error) {
	config, err := k.Config(ctx)
	if err != nil {
		return types.Timer{}, err
	}
	chargeScheduling(ctx, &config, nil)
	return k.liveTimer(ctx, actor, id)
}

// suspend sets a timer aside whose payer can't cover the pre-charge, and says what was missing.
func (k *Keeper) suspend(ctx sdk.Context, timer *types.Timer, required, available math.Int) error {
	if err := k.putAside(ctx, timer, types.Suspended); err != nil {
		return err
	}
	event := &types.TimerSetAside{
		Id: timer.IDHex(), Actor: k.bech32(timer.Actor), Reason: types.Suspended, Payer: k.bech32(timer.Payer()),
		Required: required.String(), Available: available.String(), AllowanceRefused: available.GTE(required),
	}
	event.Codespace, event.Code = codeOf(types.ErrInsufficientFunds)
	return k.emit(ctx, event)
}
