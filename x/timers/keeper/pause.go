package keeper

import (
	"context"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/recurrence"
	"github.com/cosmos-timers/timers/x/timers/report"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// This file holds the states in which a timer waits for its owner: paused by the owner, or suspended or on hold for
// lack of funds. Its expiry height does not change.

// Pause puts one of the actor's timers on hold until it is resumed or expires (x/timers/README.md, "3.4 MsgPauseTimer and
// MsgResumeTimer"). Its time to live continues.
//
// It consumes schedule_cycles. Errors are ErrTimerNotFound, ErrTimerExpired, and ErrQuarantined. What is paused already stays so.
func (k *Keeper) Pause(ctx context.Context, actor sdk.AccAddress, id []byte) error {
	return k.pauseBy(ctx, own(actor, id))
}

func (k *Keeper) pauseBy(ctx context.Context, by changeBy) error {
	timer, err := k.ownTimer(ctx, by)
	if err != nil {
		return err
	}
	switch timer.HoldReason {
	case types.Paused:
		return nil
	case types.Quarantined:
		return types.ErrQuarantined.Wrapf("timer %s: only the authority releases it", timer.IDHex())
	}
	if err := k.engine.Records.PutOnHold(ctx, &timer, types.Paused); err != nil {
		return err
	}
	return report.Emit(ctx, &types.TimerHeld{Id: timer.IDHex(), Actor: k.text(by.actor), Reason: types.Paused, Name: timer.Spec.Name})
}

// Resume puts one of the actor's timers back that was paused, or on hold since its payer lacked funds, and returns it. It is due
// at its own height or time, or in the next block if that has passed (x/timers/README.md, "3.4 MsgPauseTimer and
// MsgResumeTimer").
//
// It consumes schedule_cycles, and LAPSE_CYCLES for each try that was prepaid and used, which is prepaid again. Errors are
// ErrTimerNotFound, ErrTimerExpired, ErrNotOnHold, ErrQuarantined for a timer that only the authority can release, and
// ErrUnrunnable for one that returns by itself.
func (k *Keeper) Resume(ctx context.Context, actor sdk.AccAddress, id []byte) (types.Timer, error) {
	return k.resumeBy(ctx, own(actor, id), types.ResumeNow)
}

func (k *Keeper) resumeBy(ctx context.Context, by changeBy, at types.ResumeAt) (types.Timer, error) {
	if _, known := types.ResumeAt_name[int32(at)]; !known {
		return types.Timer{}, types.ErrUnsupportedTimerType.Wrapf("at %d is unknown: want now or next", int32(at))
	}
	timer, err := k.ownTimer(ctx, by)
	if err != nil {
		return timer, err
	}
	switch timer.HoldReason {
	case types.Paused, types.Suspended, types.Unfunded, types.PricedOut, types.NotAdmin:
		restoreSkips(ctx, &timer)
		err := k.engine.Resume(sdk.UnwrapSDKContext(ctx), &timer, at)
		return timer, err
	case types.NotOnHold:
		return timer, types.ErrNotOnHold.Wrapf("timer %s is due at height %d", timer.IDHex(), timer.Due)
	case types.Timed:
		return timer, types.ErrNotOnHold.Wrapf("timer %s is due at %s", timer.IDHex(), types.TimeText(timer.DueTime))
	case types.Watching:
		return timer, types.ErrNotOnHold.Wrapf("timer %s waits for what it watches to change", timer.IDHex())
	case types.Quarantined:
		return timer, types.ErrQuarantined.Wrapf("timer %s: only the authority releases it", timer.IDHex())
	default:
		return timer, types.ErrUnrunnable.Wrapf("timer %s: its gas limit %d is outside what the config runs; it comes back by itself, "+
			"or after an update", timer.IDHex(), timer.GasLimit)
	}
}

// restoreSkips charges for the tries that were prepaid and used: LAPSE_CYCLES for each. The row of repetitions that passed without
// funds begins anew.
func restoreSkips(ctx context.Context, timer *types.Timer) {
	sdk.UnwrapSDKContext(ctx).GasMeter().ConsumeGas(market.LapseCycles*uint64(timer.Owed), "occurrences")
	timer.Skips, timer.Owed = 0, 0
}

// ownTimer charges for a change and returns the timer to change.
func (k *Keeper) ownTimer(ctx context.Context, by changeBy) (types.Timer, error) {
	config, err := k.Config(ctx)
	if err != nil {
		return types.Timer{}, err
	}
	chargeScheduling(ctx, &config, nil)
	return k.changeable(ctx, by)
}

// skipBy lets the next occurrences of a timer pass. It consumes schedule_cycles, and CALENDAR_CYCLES for each occurrence. Errors
// are ErrTimerNotFound, ErrTimerExpired, ErrInvalidSkip, ErrUnsupportedTimerType for a timer that has none, and
// ErrExpiresTooSoon if its life has not so many more and one after them.
func (k *Keeper) skipBy(ctx context.Context, by changeBy, count uint32, from uint64) (types.Timer, error) {
	if count == 0 || count > types.MaxSkipped {
		return types.Timer{}, types.ErrInvalidSkip.Wrapf("count is %d, want 1 to %d", count, types.MaxSkipped)
	}
	sdk.UnwrapSDKContext(ctx).GasMeter().ConsumeGas(market.CalendarCycles*uint64(count), "skip occurrences")
	timer, err := k.ownTimer(ctx, by)
	if err != nil {
		return timer, err
	}
	before, next, now := timer, timer, types.MomentOf(ctx)
	passed, err := recurrence.Skip(&next, uint64(count), from, openHeight(ctx), now)
	if err != nil {
		return timer, err
	}
	if err := k.engine.Records.Move(ctx, &timer, recurrence.To(&next)); err != nil {
		return timer, err
	}
	return timer, k.engine.NoteSkipped(ctx, &before, &timer, passed)
}

// runBy makes the next occurrence of a timer due in the next block. It consumes schedule_cycles. Errors are ErrTimerNotFound,
// ErrTimerExpired, ErrAlreadyOnHold for one on hold, ErrAlreadyDue, ErrUnsupportedTimerType for a timer that does not repeat, and
// ErrExpiresTooSoon.
func (k *Keeper) runBy(ctx context.Context, by changeBy) (types.Timer, error) {
	timer, err := k.ownTimer(ctx, by)
	if err != nil {
		return timer, err
	}
	now := types.MomentOf(ctx)
	switch {
	case timer.HoldReason != types.NotOnHold && timer.HoldReason != types.Timed:
		return timer, types.ErrAlreadyOnHold.Wrapf("timer %s is %s: resume it", timer.IDHex(), timer.HoldReason.Word())
	case timer.HoldReason == types.NotOnHold && timer.Due <= now.Height+1:
		return timer, types.ErrAlreadyDue.Wrapf("timer %s is due at height %d", timer.IDHex(), timer.Due)
	case timer.HoldReason == types.Timed && timer.DueTime <= now.Time:
		return timer, types.ErrAlreadyDue.Wrapf("timer %s is due in this block: since %s", timer.IDHex(), types.TimeText(timer.DueTime))
	}
	before, next := timer, timer
	passed, err := recurrence.Run(&next, now)
	if err != nil {
		return timer, err
	}
	if err := k.engine.Records.Move(ctx, &timer, recurrence.To(&next)); err != nil {
		return timer, err
	}
	if err := report.Emit(ctx, &types.TimerUpdated{
		Id: timer.IDHex(), Actor: k.text(timer.Actor), Seq: timer.Seq, Due: timer.Due, DueTime: timer.WaitsUntil(),
	}); err != nil {
		return timer, err
	}
	return timer, k.engine.NoteSkipped(ctx, &before, &timer, passed)
}
