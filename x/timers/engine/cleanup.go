package engine

import (
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// cleanUp removes expired timers in queue order while the GC lane lasts. What it can't clear today it clears later: expired is
// still expired.
func (e *Engine) cleanUp(ctx sdk.Context, b *block) error {
	for len(b.GC.Expired) > 0 && b.GC.Take() {
		timer := b.GC.Expired[0]
		b.GC.Expired = b.GC.Expired[1:]
		if !e.expire(ctx, b, &timer) && timer.SetAside == types.NotSetAside && b.GC.Unswept == nil {
			// It could not even be set aside: the head of the queue stays before it.
			key := state.KeyOf(timer.Due, timer.Seq)
			b.GC.Unswept = &key
		}
	}
	b.State.Head = b.firstRemaining()
	return nil
}

// expire removes an expired timer, and reports whether it did.
func (e *Engine) expire(ctx sdk.Context, b *block, timer *types.Timer) bool {
	done := e.guard(ctx, b, timer, func(ctx sdk.Context) error {
		if err := e.Records.Remove(ctx, timer); err != nil {
			return err
		}
		return types.Emit(ctx, &types.TimerExpired{Id: timer.IDHex(), Actor: e.Addresses.Text(timer.Actor), ExpiresAt: timer.ExpiresAt})
	})
	if done {
		b.expired++
	}
	return done
}

// firstRemaining is the new head of the queue: the first expired timer that stays, or the first live one.
func (b *block) firstRemaining() types.QueueKey {
	first := state.CalendarKey(b.State.Live)
	for i := range b.GC.Expired {
		if t := &b.GC.Expired[i]; t.SetAside == types.NotSetAside {
			if key := state.KeyOf(t.Due, t.Seq); key.Compare(first) < 0 {
				first = key
			}
			break
		}
	}
	if b.GC.Unswept != nil && b.GC.Unswept.Compare(first) < 0 {
		first = *b.GC.Unswept
	}
	return state.QueueKey(first)
}

// sweepSetAside looks at SWEEP_PER_BLOCK timers that are set aside, in rounds: one that has expired leaves, one that the
// config can run again goes back to the queue.
func (e *Engine) sweepSetAside(ctx sdk.Context, b *block) error {
	limit := int(b.Config.SweepPerBlock)
	timers, err := e.Records.SetAsideFrom(ctx, b.State.Aside, limit)
	if err != nil {
		return err
	}
	b.State.Aside = 0
	if len(timers) == limit {
		b.State.Aside = timers[limit-1].Seq + 1
	}
	for i := range timers {
		t := &timers[i]
		switch {
		case t.ExpiredAt(b.Height):
			b.GC.Meet(*t)
		case t.SetAside == types.Unrunnable && e.Policies.Runnable(&b.Config, b.Height, t.GasLimit):
			e.guard(ctx, b, t, func(ctx sdk.Context) error { return e.Release(ctx, t) })
		}
	}
	return nil
}

// Release puts a timer that was set aside back and says so.
func (e *Engine) Release(ctx sdk.Context, t *types.Timer) error {
	reason := t.SetAside
	if err := e.Records.Release(ctx, t, types.HeightOf(ctx)); err != nil {
		return err
	}
	return types.Emit(ctx, &types.TimerReleased{Id: t.IDHex(), Actor: e.Addresses.Text(t.Actor), Reason: reason, Due: t.Due})
}

// guard runs what the module does for one timer in a sandbox of its own, and reports whether it was done. An unexpected error
// concerns that timer alone: it is quarantined, that is kept, reported, and not tried again until the authority releases or
// cancels it.
func (e *Engine) guard(ctx sdk.Context, b *block, timer *types.Timer, fn func(sdk.Context) error) (done bool) {
	before, changes := *timer, *b.Changes
	cause := sandbox.Run(ctx, fn)
	if cause == nil {
		return true
	}
	*timer, *b.Changes = before, changes
	ctx.Logger().Error("a timer is quarantined", "module", types.ModuleName, "id", timer.IDHex(), "err", cause)
	err := sandbox.Run(ctx, func(ctx sdk.Context) error { return e.setAside(ctx, b, timer, types.Quarantined, cause) })
	if err != nil {
		// Not even that can be done, since what is broken is where it is stored: it stays there, and others go on.
		*timer, *b.Changes = before, changes
		ctx.Logger().Error("a timer can't be quarantined", "module", types.ModuleName, "id", timer.IDHex(), "err", err)
	}
	return false
}

// setAside moves a timer out of the queue and says why.
func (e *Engine) setAside(ctx sdk.Context, b *block, timer *types.Timer, reason types.SetAsideReason, cause error) error {
	if err := e.Records.PutAside(ctx, timer, reason); err != nil {
		return err
	}
	event := &types.TimerSetAside{Id: timer.IDHex(), Actor: e.Addresses.Text(timer.Actor), Reason: reason}
	if cause != nil {
		event.Codespace, event.Code = types.CodeOf(cause)
	}
	if err := types.Emit(ctx, event); err != nil {
		return err
	}
	b.setAside++
	return nil
}
