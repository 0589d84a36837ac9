package engine

import (
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// cleanUp removes expired timers in queue order while the GC lane lasts, and after them those that were on hold for lack
// of funds, or since their scheduler is the admin no more. The others are removed in later blocks; meanwhile they can't fire.
func (e *Engine) cleanUp(ctx sdk.Context, b *block) error {
	for len(b.GC.Expired) > 0 && b.GC.TakeFor(&b.GC.Expired[0]) {
		timer := b.GC.Expired[0]
		b.GC.Expired = b.GC.Expired[1:]
		if !timer.ExpiredAt(b.Now()) && timer.HoldReason == types.Unfunded {
			e.removeUnfunded(ctx, b, &timer)
			continue
		}
		if !timer.ExpiredAt(b.Now()) && timer.HoldReason == types.NotAdmin {
			e.removeNotAdmins(ctx, b, &timer)
			continue
		}
		if !e.expire(ctx, b, &timer) && timer.HoldReason == types.NotOnHold && b.GC.Unswept == nil {
			// It could not even be put on hold, and stays in the queue. So the head of the queue stays before it.
			key := state.KeyOf(timer.Due, timer.Seq)
			b.GC.Unswept = &key
		}
	}
	b.State.HeadCursor = b.firstRemaining()
	return nil
}

// scanOnHold examines timers that are on hold while the overhead lasts, in rounds over all of them. It returns those to the
// queue that the config can run again, whose payers can cover them, or that can fire at the prices of the block. It hands out
// those that are to be removed.
func (e *Engine) scanOnHold(ctx sdk.Context, b *block) (leaving []types.Timer, err error) {
	limit := b.Overhead.Left(market.VisitHeld)
	timers, err := e.Records.OnHoldFrom(ctx, b.State.HoldCursor, limit)
	if err != nil {
		return nil, err
	}
	b.Overhead.Consume(market.VisitHeld, len(timers))
	b.State.HoldCursor = 0
	if len(timers) == limit {
		b.State.HoldCursor = timers[limit-1].Seq + 1
	}
	for i := range timers {
		t := &timers[i]
		switch {
		case t.ExpiredAt(b.Now()), t.HoldReason == types.NotAdmin:
			leaving = append(leaving, *t)
		case t.HoldReason == types.Unrunnable && e.Policies.Runnable(&b.Config, b.Height, t):
			e.release(ctx, b, t)
		case t.HoldReason == types.Unfunded && !b.Config.LanePaused:
			if e.sweepUnfunded(ctx, b, t) {
				leaving = append(leaving, *t)
			}
		case t.HoldReason == types.PricedOut && !b.Config.LanePaused:
			e.sweepPricedOut(ctx, b, t)
		}
	}
	return leaving, nil
}
