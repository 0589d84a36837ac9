package engine

import (
	"context"
	"errors"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/recurrence"
	"github.com/cosmos-timers/timers/x/timers/report"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// This file makes a timer due again after a fire: intervals, watches and retries.
//
// Before the handler runs, the state is written as if the fire had succeeded. A repeating timer is stored at its next
// due height, and any other is removed. So a handler that reads its own timer finds its next state, and can change it:
// it may cancel, pause or update it. The writes of a handler that fails are dropped. What a failure means for the timer
// is then decided on the record as it was before the handler ran.

// nextDue is the state of a timer before its handler runs: one of the two timers is set.
type nextDue struct {
	// rolled is stored where it is due again.
	rolled *types.Timer
	// detached has no record in the store, but its resources are still there, for a retry.
	detached *types.Timer
	// next is what comes next if its fire succeeds, or is guarded.
	next recurrence.Next
	// hit holds the changes that a watch timer delivers.
	hit types.WatchHit
	// generation is that of the block's session then.
	generation uint64
}

// due is the height at which the timer became due this time: for a watch, that of the change.
func (n *nextDue) due(t *types.Timer) uint64 {
	if n.hit.Changed > 0 {
		return min(n.hit.Changed, t.DueSince())
	}
	return t.DueSince()
}

// setNextDue moves a timer that fires to its next due height, or detaches it.
func (e *Engine) setNextDue(
	ctx context.Context, b *block, timer *types.Timer, occurrence recurrence.Occurrence, guarded bool,
) (n nextDue, err error) {
	if n.hit, err = e.Watches.TakeHit(ctx, timer); err != nil {
		return n, err
	}
	// It is funded, and its bid is settled after all fires of the block, so that its handler can't withdraw it.
	moved := *timer
	moved.UnfundedSince, moved.BidLocked = 0, ""
	event := recurrence.Event{Outcome: recurrence.Succeeded, Occurrence: occurrence}
	if guarded {
		event.Outcome = recurrence.Guarded
	}
	n.next = recurrence.After(&moved, event, &b.Config, b.contest.Now)
	if !n.next.Stays {
		n.detached = &moved
		return n, e.Records.RemoveRecord(ctx, &moved)
	}
	n.rolled = &moved
	err = e.Records.Move(ctx, &moved, recurrence.To(&n.next.Timer))
	n.generation = b.session.Generation()
	return n, err
}

// afterHandler is the record of a timer that was rolled, as its handler has left it.
func (e *Engine) afterHandler(ctx context.Context, b *block, timer *types.Timer, n nextDue) (types.Timer, error) {
	if b.session.Generation() == n.generation {
		return *n.rolled, nil
	}
	return e.Records.Lookup(ctx, timer.Actor, timer.Id)
}

// afterFire applies the result of a fire to the timer, and returns what came next, and the timer that remains; nil if it was
// removed.
func (e *Engine) afterFire(
	ctx context.Context, b *block, timer *types.Timer, o recurrence.Occurrence, n *nextDue, receipt *types.Receipt, short bool,
) (*types.Timer, error) {
	over := receipt.Success || receipt.Guarded
	if over && n.detached != nil {
		return nil, e.Records.ReleaseResources(ctx, n.detached)
	}
	if over {
		survivor, err := e.afterHandler(ctx, b, timer, *n)
		if errors.Is(err, types.ErrTimerNotFound) {
			// Its handler cancelled it.
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		survivor.LastOutcome = outcomeOf(receipt, b.Height)
		return &survivor, e.Records.Put(ctx, &survivor)
	}
	event := recurrence.Event{Outcome: recurrence.Failed, Occurrence: o, Codespace: receipt.Codespace, Code: receipt.Code}
	if short {
		event.Outcome = recurrence.ShortOfCoins
	}
	n.next = recurrence.After(timer, event, &b.Config, b.contest.Now)
	if n.next.Stays {
		n.next.Timer.LastOutcome = outcomeOf(receipt, b.Height)
	}
	return e.afterFailure(ctx, b, n)
}

// outcomeOf is what a timer keeps of a delivery.
func outcomeOf(r *types.Receipt, height uint64) *types.Outcome {
	return &types.Outcome{
		Success: r.Success, Codespace: r.Codespace, Code: r.Code, Height: height, Cycles: r.Cycles, Paid: r.Paid, Guarded: r.Guarded,
	}
}

// afterFailure stores a timer whose fire failed as what comes next says. What its handler wrote has been dropped.
func (e *Engine) afterFailure(ctx context.Context, b *block, n *nextDue) (*types.Timer, error) {
	next := &n.next
	survivor := n.rolled
	switch {
	case !next.Stays && survivor != nil:
		return nil, e.Records.Remove(ctx, survivor)
	case !next.Stays:
		return nil, e.Records.ReleaseResources(ctx, n.detached)
	case survivor == nil:
		survivor = n.detached
		if err := recurrence.To(&next.Timer)(survivor); err != nil {
			return nil, err
		}
		if err := e.putHit(ctx, survivor, n.hit); err != nil {
			return nil, err
		}
		if err := e.Records.RestoreRecord(ctx, survivor); err != nil {
			return nil, err
		}
	default:
		if err := e.putHit(ctx, &next.Timer, n.hit); err != nil {
			return nil, err
		}
		if err := e.Records.Move(ctx, survivor, recurrence.To(&next.Timer)); err != nil {
			return nil, err
		}
	}
	if !next.Suspended {
		return survivor, nil
	}
	return survivor, e.suspend(ctx, b, survivor, survivor.LastOutcome.Codespace, survivor.LastOutcome.Code)
}

// putHit gives a watch that is tried again what it delivers.
func (e *Engine) putHit(ctx context.Context, t *types.Timer, hit types.WatchHit) error {
	if !t.Tried {
		return nil
	}
	return e.Watches.PutHit(ctx, t, hit)
}

// suspend puts a timer on hold until its owner resumes it.
func (e *Engine) suspend(ctx context.Context, b *block, timer *types.Timer, codespace string, code uint32) error {
	if err := e.Records.PutOnHold(ctx, timer, types.Suspended); err != nil {
		return err
	}
	b.totals.noteHeld(sdk.UnwrapSDKContext(ctx), timer, types.Suspended)
	return report.Emit(ctx, &types.TimerHeld{
		Id: timer.IDHex(), Actor: e.Addresses.Text(timer.Actor), Reason: types.Suspended, Name: timer.Spec.Name,
		Codespace: codespace, Code: code,
	})
}

// This file moves timers whose time has come to the queue, and passes occurrences that may not fire any more.

// collectTimes makes timers due whose time has come, oldest first, while their share of the overhead lasts. If some are left,
// those whose time came since the previous block do not wait for them: half of the share for the newly due is theirs.
func (e *Engine) collectTimes(ctx sdk.Context, b *block) error {
	behind := b.Before.TimesBehind
	last, err := e.moveTimed(ctx, b, 0, b.contest.Now.Time, market.MoveTimed, b.Overhead.Left(market.MoveTimed))
	if err != nil {
		return err
	}
	b.State.TimesBehind = 0
	if last == nil {
		return nil
	}
	if from := max(behind+1, last.DueTime); behind > 0 && from <= b.contest.Now.Time {
		if _, err := e.moveTimed(ctx, b, from, b.contest.Now.Time, market.MoveNewlyDue, (b.Overhead.Left(market.MoveNewlyDue)+1)/2); err != nil {
			return err
		}
	}
	b.State.TimesBehind = b.contest.Now.Time
	return nil
}

// moveTimed moves at most limit timers to the queue whose times lie between two, and returns the first that is left.
func (e *Engine) moveTimed(
	ctx sdk.Context, b *block, from, until int64, work market.Work, limit int,
) (left *types.Timer, err error) {
	timers := make([]types.Timer, 0, 8)
	err = e.Records.Walk(ctx, state.ClassTimed.Between(uint64(max(0, from)), uint64(until)), func(t *types.Timer) (bool, error) {
		if len(timers) == limit {
			left = t
			return true, nil
		}
		timers = append(timers, *t)
		return false, nil
	})
	if err != nil {
		return nil, err
	}
	b.Overhead.Consume(work, len(timers))
	for i := range timers {
		e.guard(ctx, b, &timers[i], func(ctx sdk.Context) error {
			return e.Records.Move(ctx, &timers[i], func(t *types.Timer) error {
				t.HoldReason, t.Due = types.NotOnHold, b.Height
				return nil
			})
		})
	}
	return left, nil
}

// pass takes a timer out of the contest whose occurrences have passed, or whose retry comes too late. It waits for the next, or
// leaves if there is none. An occurrence that lapsed after it had become ready is charged LAPSE_CYCLES, unless its window ended while
// the lane was paused. Where none has come yet, it waits at no price.
func (e *Engine) pass(ctx sdk.Context, b *block, timer *types.Timer, o recurrence.Occurrence) {
	if !b.Overhead.TryConsume(market.Lapse) {
		return // It stays ready, and is tried again.
	}
	paid, outcome := math.ZeroInt(), recurrence.Lapsed
	switch {
	case o.Passed.Count > 0 && b.wasPaused(timer, o.Until):
		outcome = recurrence.LapsedFree
	case o.Passed.Count > 0 && !o.Over:
		paid = b.Prices.Cycle.MulInt(math.NewIntFromUint64(market.LapseCycles)).Ceil().TruncateInt()
	}
	if b.funds.Known(timer, paid) {
		e.foundNoFunds(ctx, b, timer, paid)
		return
	}
	var unfunded bool
	done := e.guard(ctx, b, timer, func(ctx sdk.Context) error {
		payer, err := b.funds.PreCharge(ctx, timer, paid)
		if unfunded = err != nil; unfunded {
			return nil
		}
		if err := e.Fees.RefundTo(ctx, &b.Config, timer, &payer, paid, math.ZeroInt()); err != nil {
			return err
		}
		_, err = e.goOn(ctx, b, timer, recurrence.Event{Outcome: outcome, Occurrence: o}, paid)
		return err
	})
	switch {
	case unfunded:
		e.foundNoFunds(ctx, b, timer, paid)
	case done:
		b.contest.Left++
		b.totals.burned.add(paid)
		b.funds.Forget()
	default:
		b.contest.Left++
	}
}

// wasPaused reports whether an instant of a timer's clock was over in a block in which the lane was paused.
func (b *block) wasPaused(timer *types.Timer, until uint64) bool {
	pause := b.Before.Pause
	switch {
	case pause == nil:
		return false
	case timer.Spec.Trigger.Calendar != nil:
		return uint64(pause.AfterTime) <= until && until < uint64(pause.LastTime)
	default:
		return pause.AfterHeight <= until && until < pause.LastHeight
	}
}

// goOn makes a timer without a fire go on with what comes next: it is due again, suspended, or leaves. What has passed is told.
func (e *Engine) goOn(ctx sdk.Context, b *block, timer *types.Timer, event recurrence.Event, paid math.Int) (stays bool, err error) {
	before, next := *timer, recurrence.After(timer, event, &b.Config, b.contest.Now)
	if !next.Stays {
		if err := e.remove(ctx, b, timer); err != nil {
			return false, err
		}
		return false, e.notePassed(ctx, &before, nil, &next, paid)
	}
	if err := e.Records.Move(ctx, timer, recurrence.To(&next.Timer)); err != nil {
		return true, err
	}
	if err := e.notePassed(ctx, &before, timer, &next, paid); err != nil || !next.Suspended {
		return true, err
	}
	if event.Outcome == recurrence.Unpaid {
		return true, e.holdUnfunded(ctx, b, timer, types.Suspended, b.funds.leastCost(timer))
	}
	return true, e.suspend(ctx, b, timer, "", 0)
}

// skipUnfunded lets pass what has come of a timer whose payer can't cover it. After MAX_UNFUNDED_SKIPS in a row it is suspended.
func (e *Engine) skipUnfunded(ctx sdk.Context, b *block, timer *types.Timer) error {
	_, err := e.goOn(ctx, b, timer, recurrence.Event{Outcome: recurrence.Unpaid, Occurrence: recurrence.Of(timer, b.contest.Now)}, math.ZeroInt())
	return err
}

// This file says which occurrences have passed without a fire.

// Resume returns a timer that was on hold, now or with its next repetition, and emits TimerReleased. It does not charge for the
// tries that may pass without funds anew.
func (e *Engine) Resume(ctx sdk.Context, t *types.Timer, at types.ResumeAt) error {
	var passed []recurrence.Passing
	before, now := *t, types.MomentOf(ctx)
	err := e.releaseAt(ctx, t, now.Height+1, func(t *types.Timer) (err error) {
		if passed, err = recurrence.Resume(t, at, now); err != nil || at != types.ResumeNext {
			return err
		}
		noticed, err := e.Watches.Forget(ctx, t)
		if noticed {
			passed = recurrence.PausedAt(before.DueSince())
		}
		return err
	})
	if err != nil {
		return err
	}
	return e.NoteSkipped(ctx, &before, t, passed)
}

// NoteSkipped emits TimerOccurrencesSkipped for occurrences that have passed.
func (e *Engine) NoteSkipped(ctx context.Context, before, after *types.Timer, passed []recurrence.Passing) error {
	return e.notePassed(ctx, before, after, &recurrence.Next{Passed: passed}, math.ZeroInt())
}

// notePassed emits TimerOccurrencesSkipped for each row of occurrences that have passed. Survivor is the timer afterwards, nil if it
// was removed, and paid what was charged for the first row.
func (e *Engine) notePassed(ctx context.Context, t, survivor *types.Timer, next *recurrence.Next, paid math.Int) error {
	for i, passed := range next.Passed {
		event := &types.TimerOccurrencesSkipped{
			Id: t.IDHex(), Actor: e.Addresses.Text(t.Actor), Name: t.Spec.Name,
			First: passed.First, Last: passed.Last, Count: passed.Count, AtLeast: !passed.Exact, Reason: passed.Reason,
		}
		if i == 0 && paid.IsPositive() {
			event.Paid = paid.String()
		}
		if survivor != nil {
			event.NextDue, event.NextTime = survivor.Due, survivor.WaitsUntil()
		} else if i == len(next.Passed)-1 {
			event.Ended, event.Missing = next.Ended, next.Missing
		}
		if err := report.Emit(ctx, event); err != nil {
			return err
		}
	}
	return nil
}
