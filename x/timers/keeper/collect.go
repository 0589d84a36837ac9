package keeper

import (
	"cosmossdk.io/collections"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/calendar"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Collecting reads what is due, and bounds what it reads: the work of a block follows what it fires, not what waits.
//
// Two cursors in state say where to read. Before `live` lies nothing that can still fire, only expired timers that the
// clean-up has not reached: an outage's worth of expired timers is passed over once and then never stands in the way of
// live ones (SPEC §6). Before `head` lies nothing at all, so that no scan passes over what was deleted.

// collect sets ready and expired.
func (k *Keeper) collect(ctx sdk.Context, b *block) error {
	if err := k.collectWatches(ctx, b); err != nil {
		return err
	}
	if err := k.fileAnew(ctx, b); err != nil {
		return err
	}
	if err := k.collectLeftovers(ctx, b); err != nil {
		return err
	}
	if err := k.collectReady(ctx, b); err != nil {
		return err
	}
	return k.sweepSetAside(ctx, b)
}

// collectReady reads the window, or in a storm what the index needs.
func (k *Keeper) collectReady(ctx sdk.Context, b *block) error {
	storm, err := k.inStorm(ctx, b)
	if err != nil {
		return err
	}
	if storm {
		return k.collectStorm(ctx, b, calendar.Key{})
	}
	reached, complete, err := k.collectLive(ctx, b)
	if err != nil {
		return err
	}
	if !complete && b.ordersByIndex() {
		return k.collectStorm(ctx, b, reached)
	}
	if !complete {
		b.unread = &reached
	}
	if err := k.shareWindow(ctx, b, reached, complete); err != nil {
		return err
	}
	return k.sweepQueue(ctx, b, reached, complete)
}

// collectLeftovers reads expired timers that were passed over in earlier blocks, as many as this block can remove.
func (k *Keeper) collectLeftovers(ctx sdk.Context, b *block) error {
	head, live := calendarKey(b.state.Head), calendarKey(b.state.Live)
	if head.Compare(live) >= 0 {
		return nil
	}
	left := b.cleanup.Left()
	found, next, _, err := k.calendar.Page(ctx, head, b.height, func(e calendar.Entry[types.Timer]) calendar.Verdict {
		if e.Key.Compare(live) >= 0 || left == 0 {
			return calendar.Stop
		}
		left--
		return calendar.Take
	})
	if next.Compare(live) < 0 {
		b.unswept = &next
	}
	b.expired = appendTimers(b.expired, found)
	return err
}

// collectLive reads from the first timer that can fire: at most a page of those, which is CANDIDATE_WINDOW unless the queue
// is the policy's order, and on the way at most CANDIDATE_WINDOW expired ones. It moves the live cursor and returns how far it read, and whether that was all that is due.
func (k *Keeper) collectLive(ctx sdk.Context, b *block) (calendar.Key, bool, error) {
	liveLeft, expiredLeft := b.page, b.config.CandidateWindow
	found, next, complete, err := k.calendar.Page(ctx, calendarKey(b.state.Live), b.height,
		func(e calendar.Entry[types.Timer]) calendar.Verdict {
			left := &liveLeft
			if e.Value.ExpiredAt(b.height) {
				left = &expiredLeft
			}
			if *left == 0 {
				return calendar.Stop
			}
			*left--
			return calendar.Take
		})
	first := next
	for _, e := range found {
		if e.Value.ExpiredAt(b.height) {
			b.expired = append(b.expired, e.Value)
			continue
		}
		if len(b.ready) == 0 {
			first = e.Key
		}
		b.ready = append(b.ready, e.Value)
	}
	b.state.Live = queueKey(first)
	return next, complete, err
}

// sweepQueue looks for expired timers beyond what collectLive reached, SWEEP_PER_BLOCK entries a block, in rounds: in a
// storm, those that will never fire should not keep their places until the lane gets there.
func (k *Keeper) sweepQueue(ctx sdk.Context, b *block, reached calendar.Key, complete bool) error {
	if complete {
		b.state.Clean = types.QueueKey{}
		return nil
	}
	from := calendarKey(b.state.Clean)
	if from.Compare(reached) < 0 {
		from = reached
	}
	left := b.config.SweepPerBlock
	found, next, complete, err := k.calendar.Page(ctx, from, b.height, func(e calendar.Entry[types.Timer]) calendar.Verdict {
		switch {
		case left == 0:
			return calendar.Stop
		case e.Value.ExpiredAt(b.height):
			left--
			return calendar.Take
		default:
			left--
			return calendar.Pass
		}
	})
	b.expired = appendTimers(b.expired, found)
	b.state.Clean = queueKey(next)
	if complete {
		b.state.Clean = types.QueueKey{}
	}
	return err
}

// sweepSetAside looks at SWEEP_PER_BLOCK timers that are set aside, in rounds: one that has expired leaves, one that the
// config can run again goes back to the queue.
func (k *Keeper) sweepSetAside(ctx sdk.Context, b *block) error {
	limit := int(b.config.SweepPerBlock)
	timers := make([]types.Timer, 0, 8)
	ranger := new(collections.Range[uint64]).StartInclusive(b.state.Aside)
	err := k.state.setAside.Walk(ctx, ranger, func(_ uint64, t types.Timer) (bool, error) {
		timers = append(timers, t)
		return len(timers) == limit, nil
	})
	if err != nil {
		return err
	}
	b.state.Aside = 0
	if len(timers) == limit {
		b.state.Aside = timers[limit-1].Seq + 1
	}
	for i := range timers {
		t := &timers[i]
		switch {
		case t.ExpiredAt(b.height):
			b.expired = append(b.expired, *t)
		case t.SetAside == types.Unrunnable && b.config.Runnable(b.height, t.GasLimit):
			k.guard(ctx, b, t, func(ctx sdk.Context) error { return k.releaseTimer(ctx, t) })
		}
	}
	return nil
}

// releaseTimer puts a timer back into the queue and says so.
func (k *Keeper) releaseTimer(ctx sdk.Context, t *types.Timer) error {
	reason := t.SetAside
	if err := k.release(ctx, t, heightOf(ctx)); err != nil {
		return err
	}
	return k.emit(ctx, &types.TimerReleased{Id: t.IDHex(), Actor: k.bech32(t.Actor), Reason: reason, Due: t.Due})
}

func calendarKey(q types.QueueKey) calendar.Key { return calendar.Key{Due: q.Due, Seq: q.Seq} }

func queueKey(c calendar.Key) types.QueueKey { return types.QueueKey{Due: c.Due, Seq: c.Seq} }

func appendTimers(timers []types.Timer, entries []calendar.Entry[types.Timer]) []types.Timer {
	for _, e := range entries {
		timers = append(timers, e.Value)
	}
	return timers
}
