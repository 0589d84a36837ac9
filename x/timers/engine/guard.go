package engine

import (
	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/recurrence"
	"github.com/cosmos-timers/timers/x/timers/report"
	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// guard runs the module's work on one timer in a sandbox of its own, and reports whether it succeeded. An unexpected
// error affects that timer alone. It is quarantined: kept, reported, and not tried again until the authority releases
// or cancels it.
func (e *Engine) guard(ctx sdk.Context, b *block, timer *types.Timer, fn func(sdk.Context) error) (done bool) {
	cause := e.undoing(ctx, b, timer, fn)
	if cause == nil {
		return true
	}
	b.tryUnpaid()
	b.contest.Quarantined++
	ctx.Logger().Error("a timer is quarantined", "module", types.ModuleName, "id", timer.IDHex(), "err", cause)
	err := e.undoing(ctx, b, timer, func(ctx sdk.Context) error { return e.putOnHold(ctx, b, timer, types.Quarantined, cause) })
	if err != nil {
		// The place where it is stored is broken, so that it can't be moved. It stays there, and the block continues.
		ctx.Logger().Error("a timer can't be quarantined", "module", types.ModuleName, "id", timer.IDHex(), "err", err)
	}
	return false
}

// undoing runs the module's work on one timer in a sandbox of its own. If it fails, what it has changed of the timer is
// undone with its writes.
func (e *Engine) undoing(ctx sdk.Context, b *block, timer *types.Timer, fn func(sdk.Context) error) error {
	before := *timer
	err := sandbox.Run(ctx, fn)
	if err != nil {
		*timer = before
	}
	return err
}

// putOnHold moves a timer out of the queue and emits TimerHeld with the reason.
func (e *Engine) putOnHold(ctx sdk.Context, b *block, timer *types.Timer, reason types.HoldReason, cause error) error {
	if err := e.Records.PutOnHold(ctx, timer, reason); err != nil {
		return err
	}
	event := &types.TimerHeld{Id: timer.IDHex(), Actor: e.Addresses.Text(timer.Actor), Reason: reason, Name: timer.Spec.Name}
	if cause != nil {
		event.Codespace, event.Code = types.CodeOf(cause)
	}
	if err := report.Emit(ctx, event); err != nil {
		return err
	}
	b.totals.noteHeld(ctx, timer, reason)
	return nil
}

// release returns a timer that was on hold to the queue, before the block reads what is due there. What may not fire any more has
// passed, for which nobody is charged.
func (e *Engine) release(ctx sdk.Context, b *block, timer *types.Timer) {
	reason := timer.HoldReason
	if e.guard(ctx, b, timer, func(ctx sdk.Context) error {
		if err := e.releaseAt(ctx, timer, b.Height, nil); err != nil || timer.HoldReason != types.NotOnHold {
			return err
		}
		o := recurrence.Of(timer, b.contest.Now)
		if o.Open || o.Over || o.Passed.Count == 0 {
			return nil
		}
		b.Overhead.Consume(market.Lapse, 1)
		_, err := e.goOn(ctx, b, timer, recurrence.Event{Outcome: recurrence.LapsedFree, Occurrence: o}, math.ZeroInt())
		return err
	}) {
		b.totals.released = append(b.totals.released, reason)
	}
}

// expire removes an expired timer, and reports whether it did.
func (e *Engine) expire(ctx sdk.Context, b *block, timer *types.Timer) bool {
	done := e.guard(ctx, b, timer, func(ctx sdk.Context) error {
		if err := e.remove(ctx, b, timer); err != nil {
			return err
		}
		expired := &types.TimerExpired{
			Id: timer.IDHex(), Actor: e.Addresses.Text(timer.Actor), ExpiresAt: timer.ExpiresAt, ExpiresTime: timer.ExpiresTime, Name: timer.Spec.Name,
		}
		if timer.Recurs() {
			expired.Missing = timer.Left()
		}
		return report.Emit(ctx, expired)
	})
	if done {
		b.totals.expired++
		report.LogTimer(ctx.Logger(), timer, "a timer expired", "expires_at", timer.ExpiresAt)
	}
	return done
}

// takeOut takes a timer out of the queue for which the contest has charged the budgets: one that has expired leaves.
func (e *Engine) takeOut(ctx sdk.Context, b *block, t *types.Timer, why types.HoldReason, price *market.Price) {
	switch {
	case t.ExpiredAt(b.contest.Now):
		e.expire(ctx, b, t)
	case price != nil:
		e.lacksFunds(ctx, b, t, price.Cost(t.GasLimit, t.CellLimit))
	default:
		e.guard(ctx, b, t, func(ctx sdk.Context) error { return e.putOnHold(ctx, b, t, why, nil) })
	}
}

// scheduledByAdmin reports whether who scheduled a timer of its actor is still the admin of that. A timer of which this can't be
// found out is quarantined.
func (e *Engine) scheduledByAdmin(ctx sdk.Context, b *block, timer *types.Timer) (isAdmin, known bool) {
	b.Overhead.Consume(market.LookAtAdmin, 1)
	known = e.guard(ctx, b, timer, func(ctx sdk.Context) error {
		isAdmin = types.IsAdmin(ctx, e.Router, timer.Actor, timer.Scheduler)
		return nil
	})
	return isAdmin, known
}

// disown takes a timer out of the contest whose scheduler is the admin no more. It leaves uncharged, for one removal of the GC
// lane. If that has nothing left, the timer is put on hold, so that a crowd of such timers keeps no one out and no later block
// tries them.
func (e *Engine) disown(ctx sdk.Context, b *block, timer *types.Timer) {
	b.contest.Left++
	b.tryUnpaid()
	if b.contest.GC.TakeFor(timer) {
		e.removeNotAdmins(ctx, b, timer)
		return
	}
	e.guard(ctx, b, timer, func(ctx sdk.Context) error { return e.putOnHold(ctx, b, timer, types.NotAdmin, nil) })
}

// removeNotAdmins removes a timer whose scheduler is the admin no more, for which the GC lane has been charged.
func (e *Engine) removeNotAdmins(ctx sdk.Context, b *block, timer *types.Timer) {
	done := e.guard(ctx, b, timer, func(ctx sdk.Context) error {
		if err := e.remove(ctx, b, timer); err != nil {
			return err
		}
		return report.Emit(ctx, &types.TimerCancelledNotAdmin{
			Id: timer.IDHex(), Actor: e.Addresses.Text(timer.Actor), Scheduler: e.Addresses.Text(timer.Scheduler), Name: timer.Spec.Name,
		})
	})
	if done {
		b.totals.notAdmin++
		report.LogTimer(ctx.Logger(), timer, "a timer left whose scheduler is the admin no more")
	}
}
