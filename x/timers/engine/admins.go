package engine

import (
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/report"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// scheduledByAdmin reports whether who scheduled a timer of its actor is still the admin of that. A timer of which this can't be
// found out is quarantined.
func (e *Engine) scheduledByAdmin(ctx sdk.Context, b *block, timer *types.Timer) (isAdmin, known bool) {
	known = e.guard(ctx, b, timer, func(ctx sdk.Context) error {
		isAdmin = types.IsAdmin(ctx, e.Router, timer.Actor, timer.Scheduler)
		return nil
	})
	return isAdmin, known
}

// disown takes a timer out of the contest whose scheduler is the admin no more. It leaves uncharged, for one removal of the GC
// lane. If that has nothing left, the timer is put on hold, so that a crowd of such timers keeps no one out and no later block tries
// them.
func (e *Engine) disown(ctx sdk.Context, b *block, timer *types.Timer) {
	b.Left++
	if b.GC.TakeFor(timer) {
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
			Id: timer.IDHex(), Actor: e.Addresses.Text(timer.Actor), Scheduler: e.Addresses.Text(timer.Scheduler), Label: timer.Label,
		})
	})
	if done {
		b.notAdmin++
		report.LogTimer(ctx.Logger(), timer, "a timer left whose scheduler is the admin no more")
	}
}
