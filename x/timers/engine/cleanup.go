package engine

import (
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/overhead"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// cleanUp removes expired timers in queue order while the GC lane lasts, and after them those that were set aside for lack
// of funds, or since their scheduler is the admin no more. The others are removed in later blocks; meanwhile they can't fire.
func (e *Engine) cleanUp(ctx sdk.Context, b *block) error {
	for len(b.GC.Expired) > 0 && b.GC.TakeFor(&b.GC.Expired[0]) {
		timer := b.GC.Expired[0]
		b.GC.Expired = b.GC.Expired[1:]
		if !timer.ExpiredAt(b.Now()) && timer.SetAside == types.Unfunded {
			e.removeUnfunded(ctx, b, &timer)
			continue
		}
		if !timer.ExpiredAt(b.Now()) && timer.SetAside == types.NotAdmin {
			e.removeNotAdmins(ctx, b, &timer)
			continue
		}
		if !e.expire(ctx, b, &timer) && timer.SetAside == types.NotSetAside && b.GC.Unswept == nil {
			// It could not even be set aside, and stays in the queue. So the head of the queue stays before it.
			key := state.KeyOf(timer.Due, timer.Seq)
			b.GC.Unswept = &key
		}
	}
	b.State.HeadCursor = b.firstRemaining()
	return nil
}

// sweepSetAside examines timers that are set aside while the overhead lasts, in rounds over all of them. It returns those to the
// queue that the config can run again, whose payers can cover them, or that can fire at the prices of the block. It hands out
// those that are to be removed.
func (e *Engine) sweepSetAside(ctx sdk.Context, b *block) (leaving []types.Timer, err error) {
	limit := b.Overhead.Left(overhead.VisitHeld)
	timers, err := e.Records.SetAsideFrom(ctx, b.State.AsideCursor, limit)
	if err != nil {
		return nil, err
	}
	b.Overhead.Consume(overhead.VisitHeld, len(timers))
	b.State.AsideCursor = 0
	if len(timers) == limit {
		b.State.AsideCursor = timers[limit-1].Seq + 1
	}
	for i := range timers {
		t := &timers[i]
		switch {
		case t.ExpiredAt(b.Now()), t.SetAside == types.NotAdmin:
			leaving = append(leaving, *t)
		case t.SetAside == types.Unrunnable && e.Policies.Runnable(&b.Config, b.Height, t):
			e.release(ctx, b, t)
		case t.SetAside == types.Unfunded && !b.Config.LanePaused:
			if e.sweepUnfunded(ctx, b, t) {
				leaving = append(leaving, *t)
			}
		case t.SetAside == types.PricedOut && !b.Config.LanePaused:
			e.sweepPricedOut(ctx, b, t)
		}
	}
	return leaving, nil
}
