package engine

import (
	"context"
	"errors"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/report"
	"github.com/cosmos-timers/timers/x/timers/schedule"
	"github.com/cosmos-timers/timers/x/timers/triggers"
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
	// hit holds the changes that a watch timer delivers, occurrence what others do.
	hit        types.WatchHit
	occurrence triggers.Occurrence
	// generation is that of the block's session then.
	generation uint64
}

// due is the height at which the timer became due this time: for a watch, that of the change.
func (n *nextDue) due(t *types.Timer) uint64 {
	if n.hit.Changed > 0 {
		return min(n.hit.Changed, t.Due)
	}
	return t.Due
}

// setNextDue moves a timer that fires to its next due height, or detaches it.
func (e *Engine) setNextDue(
	ctx context.Context, b *block, timer *types.Timer, occurrence triggers.Occurrence, guarded bool,
) (n nextDue, err error) {
	n.occurrence = occurrence
	if n.hit, err = e.Watches.TakeHit(ctx, timer); err != nil {
		return n, err
	}
	next := *timer
	// It is funded, and its bid is settled after all fires of the block, so that its handler can't withdraw it.
	next.UnfundedSince, next.BidLocked = 0, ""
	rolled := next
	if guarded {
		rolled = triggers.Guarded(rolled)
	}
	rolled.Renew(&b.Config, b.Now())
	rolled.Skips = 0
	if !e.Triggers.Roll(&rolled, b.Now()) {
		n.detached = &next
		return n, e.Records.RemoveRecord(ctx, &next)
	}
	n.rolled = &next
	err = e.Records.Move(ctx, &next, triggers.To(&rolled))
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

// afterFire applies the result of a fire to the timer, and returns the timer that remains; nil if it was removed.
func (e *Engine) afterFire(
	ctx context.Context, b *block, timer *types.Timer, n nextDue, receipt *types.Receipt,
) (*types.Timer, error) {
	failed := !receipt.Success && !receipt.Guarded
	retries := failed && mayRetry(timer, n.occurrence, receipt, b.Now())
	if n.detached != nil && !retries {
		return nil, e.Records.ReleaseResources(ctx, n.detached)
	}
	outcome := &types.Outcome{
		Success: receipt.Success, Codespace: receipt.Codespace, Code: receipt.Code, Height: b.Height,
		Cycles: receipt.Cycles, Paid: receipt.Paid, Guarded: receipt.Guarded,
	}
	if again := n.detached; again != nil {
		tryAgain(again, n.occurrence, b.Height)
		again.LastOutcome = outcome
		if err := e.Watches.PutHit(ctx, again, n.hit); err != nil {
			return nil, err
		}
		return again, e.Records.RestoreRecord(ctx, again)
	}
	survivor, err := e.afterHandler(ctx, b, timer, n)
	if errors.Is(err, types.ErrTimerNotFound) {
		// Its handler cancelled it.
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	failed = failed && survivor.Equal(n.rolled)
	switch {
	case failed && retries:
		if err := e.Watches.PutHit(ctx, &survivor, n.hit); err != nil {
			return nil, err
		}
		return &survivor, e.Records.Move(ctx, &survivor, func(t *types.Timer) error {
			t.Trigger, t.HoldReason, t.Retries, t.FireSeq = timer.Trigger, timer.HoldReason, timer.Retries, timer.FireSeq
			t.DueTime, t.Recurrence = timer.DueTime, timer.Recurrence
			tryAgain(t, n.occurrence, b.Height)
			t.LastOutcome = outcome
			return nil
		})
	case failed && triggers.StopsOnFailure(timer):
		return nil, e.Records.Remove(ctx, &survivor)
	case failed && timer.Trigger.MaxFailures() > 0:
		return &survivor, e.countFailure(ctx, b, timer, &survivor, outcome)
	default:
		survivor.LastOutcome = outcome
		if receipt.Success {
			survivor.Failures = 0
		}
		return &survivor, e.Records.Put(ctx, &survivor)
	}
}

// countFailure counts a repetition that failed, and suspends the timer after as many in a row as it states.
func (e *Engine) countFailure(ctx context.Context, b *block, timer, survivor *types.Timer, outcome *types.Outcome) error {
	survivor.LastOutcome = outcome
	survivor.Failures++
	if survivor.Failures < timer.Trigger.MaxFailures() {
		return e.Records.Put(ctx, survivor)
	}
	survivor.Failures = 0
	return e.suspend(ctx, b, survivor, outcome.Codespace, outcome.Code)
}

// suspend puts a timer on hold until its owner resumes it.
func (e *Engine) suspend(ctx context.Context, b *block, timer *types.Timer, codespace string, code uint32) error {
	if err := e.Records.PutOnHold(ctx, timer, types.Suspended); err != nil {
		return err
	}
	b.totals.noteHeld(sdk.UnwrapSDKContext(ctx), timer, types.Suspended)
	return report.Emit(ctx, &types.TimerHeld{
		Id: timer.IDHex(), Actor: e.Addresses.Text(timer.Actor), Reason: types.Suspended, Label: timer.Label,
		Codespace: codespace, Code: code,
	})
}

// mayRetry reports whether a failed fire leaves the timer a retry that can come before it expires, and before its occurrence is
// over. At what time a height comes is not known, so that a retry of a calendar's may turn out to be too late when it is due.
func mayRetry(t *types.Timer, o triggers.Occurrence, r *types.Receipt, now types.Moment) bool {
	if t.Retry == nil || t.Retries >= t.Retry.Max || !t.Retry.Retries(r.Codespace, r.Code) {
		return false
	}
	distance := t.Retry.Distance(t.Retries)
	if distance > t.LastHeight()-now.Height {
		return false
	}
	next := types.Moment{Height: now.Height + distance, Time: now.Time}
	return !t.ExpiredAt(next) && !o.BoundsRetry(t, next)
}

// tryAgain makes the timer due again after a fire at a height that failed: the same repetition, later.
func tryAgain(t *types.Timer, o triggers.Occurrence, height uint64) {
	t.Due = height + t.Retry.Distance(t.Retries)
	t.Retries++
	t.FireSeq++
	if t.Recurrence != nil {
		recurrence := *t.Recurrence
		recurrence.Trying = o.At
		if o.Passed.Count > 0 {
			recurrence.After = o.Passed.Last // What has passed is reported once.
		}
		t.Recurrence = &recurrence
	}
}

// This file moves timers whose time has come to the queue, and passes occurrences that may not fire any more.

// collectTimes makes timers due whose time has come, oldest first, while their share of the overhead lasts. If some are left,
// those whose time came since the previous block do not wait for them: half of the share for the newly due is theirs.
func (e *Engine) collectTimes(ctx sdk.Context, b *block) error {
	behind := b.Before.TimesBehind
	last, err := e.moveTimed(ctx, b, 0, b.Time, market.MoveTimed, b.Overhead.Left(market.MoveTimed))
	if err != nil {
		return err
	}
	b.State.TimesBehind = 0
	if last == nil {
		return nil
	}
	if from := max(behind+1, last.DueTime); behind > 0 && from <= b.Time {
		if _, err := e.moveTimed(ctx, b, from, b.Time, market.MoveNewlyDue, (b.Overhead.Left(market.MoveNewlyDue)+1)/2); err != nil {
			return err
		}
	}
	b.State.TimesBehind = b.Time
	return nil
}

// moveTimed moves at most limit timers to the queue whose times lie between two, and returns the first that is left.
func (e *Engine) moveTimed(
	ctx sdk.Context, b *block, from, until int64, work market.Work, limit int,
) (left *types.Timer, err error) {
	timers := make([]types.Timer, 0, 8)
	err = e.Records.WalkTimed(ctx, from, 0, until, func(t *types.Timer) (bool, error) {
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
// leaves if there is none. An occurrence that lapsed after it had become ready is charged LAPSE_CYCLES; after MAX_UNFUNDED_SKIPS
// in a row the timer is suspended. Where none has come yet, it waits at no price.
func (e *Engine) pass(ctx sdk.Context, b *block, timer *types.Timer, o triggers.Occurrence) {
	if !b.Overhead.TryConsume(market.Lapse) {
		return // It stays ready, and is tried again.
	}
	paid := math.ZeroInt()
	if o.Passed.Count > 0 && !o.Over {
		paid = b.Prices.Cycle.MulInt(math.NewIntFromUint64(b.Config.LapseCycles)).Ceil().TruncateInt()
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
		return e.passTo(ctx, b, timer, o, paid)
	})
	switch {
	case unfunded:
		e.foundNoFunds(ctx, b, timer, paid)
	case done:
		b.Left++
		b.totals.burned.add(paid)
		b.funds.Forget()
	default:
		b.Left++
	}
}

// passTo makes the timer due at its next occurrence, suspends it, or removes it.
func (e *Engine) passTo(ctx sdk.Context, b *block, timer *types.Timer, o triggers.Occurrence, paid math.Int) error {
	before, next := *timer, *timer
	more := e.Triggers.Pass(&next, b.Now())
	if !more || o.Over && triggers.StopsOnFailure(timer) {
		if err := e.Records.Remove(ctx, timer); err != nil {
			return err
		}
		return e.notePassed(ctx, &before, nil, o, paid)
	}
	if o.Early() {
		return e.Records.Move(ctx, timer, triggers.To(&next))
	}
	suspended := !o.Over && next.Recurrence.Lapses >= b.Config.MaxUnfundedSkips
	if limit := timer.Trigger.MaxFailures(); o.Over && limit > 0 {
		if next.Failures++; next.Failures >= limit {
			next.Failures, suspended = 0, true
		}
	}
	if suspended {
		next.Recurrence.Lapses = 0
	}
	if err := e.Records.Move(ctx, timer, triggers.To(&next)); err != nil {
		return err
	}
	if err := e.notePassed(ctx, &before, &next, o, paid); err != nil || !suspended {
		return err
	}
	return e.suspend(ctx, b, timer, "", 0)
}

// skipUnfunded lets the next repetition of a timer pass whose payer can't cover it. One that is being retried is no longer tried,
// and the next stays. After MAX_UNFUNDED_SKIPS in a row the timer is suspended. It reports whether there is a further one.
func (e *Engine) skipUnfunded(ctx sdk.Context, b *block, timer *types.Timer) (bool, error) {
	before, next := *timer, *timer
	next.HoldReason = types.NotOnHold
	var passed schedule.Passed[uint64]
	var more bool
	if timer.Retries > 0 && timer.Recurrence != nil {
		at := timer.Recurrence.Trying
		passed = schedule.Passed[uint64]{First: at, Last: at, Count: 1, Exact: true}
		more = e.Triggers.Pass(&next, b.Now())
	} else {
		var err error
		passed, err = e.Triggers.Skip(&next, 1, b.Now())
		more = err == nil
	}
	if !more {
		return false, nil
	}
	next.Skips++
	suspended := next.Skips >= b.Config.MaxUnfundedSkips
	next.Due = max(next.Due, b.Height+1)
	if err := e.Records.Move(ctx, timer, triggers.To(&next)); err != nil {
		return true, err
	}
	if err := e.NoteSkipped(ctx, &before, timer, passed, types.SkipUnfunded); err != nil || !suspended {
		return true, err
	}
	return true, e.holdUnfunded(ctx, b, timer, types.Suspended, b.funds.leastCost(timer))
}

// This file says which occurrences have passed without a fire.

// Resume is Release by the owner: now, or with the timer's next repetition. Of the occurrences that came meanwhile at most the
// latest fires. The row of repetitions that passed without funds begins anew, for which the caller charges.
func (e *Engine) Resume(ctx sdk.Context, t *types.Timer, at types.ResumeAt) error {
	var passed schedule.Passed[uint64]
	before, now := *t, types.MomentOf(ctx)
	err := e.releaseAt(ctx, t, now.Height+1, func(t *types.Timer) (err error) {
		t.Skips = 0
		passed, err = e.Triggers.Resume(t, at, now)
		return err
	})
	if err != nil {
		return err
	}
	return e.NoteSkipped(ctx, &before, t, passed, types.SkipPaused)
}

// NoteSkipped emits TimerOccurrencesSkipped for occurrences that passed for a reason.
func (e *Engine) NoteSkipped(
	ctx context.Context, before, after *types.Timer, passed schedule.Passed[uint64], reason types.SkipReason,
) error {
	if passed.Count == 0 {
		return nil
	}
	return report.Emit(ctx, &types.TimerOccurrencesSkipped{
		Id: before.IDHex(), Actor: e.Addresses.Text(before.Actor), Label: before.Label,
		First: passed.First, Last: passed.Last, Count: passed.Count, AtLeast: !passed.Exact, Reason: reason,
		NextDue: after.Due, NextTime: after.WaitsUntil(),
	})
}

// notePassed emits TimerOccurrencesSkipped. Survivor is the timer afterwards, nil if it was removed.
func (e *Engine) notePassed(ctx context.Context, t, survivor *types.Timer, o triggers.Occurrence, paid math.Int) error {
	event := &types.TimerOccurrencesSkipped{
		Id: t.IDHex(), Actor: e.Addresses.Text(t.Actor), Label: t.Label,
		First: o.Passed.First, Last: o.Passed.Last, Count: o.Passed.Count, AtLeast: !o.Passed.Exact, Reason: types.SkipWindow,
	}
	switch {
	case o.Over:
		at := t.Recurrence.Trying
		event.First, event.Last, event.Count, event.AtLeast, event.Reason = at, at, 1, false, types.SkipRetry
	case o.Open && t.Trigger.OccurrenceTerms().Missed != types.MissedEach:
		event.Reason = types.SkipLater
	}
	if paid.IsPositive() {
		event.Paid = paid.String()
	}
	if survivor != nil {
		event.NextDue, event.NextTime = survivor.Due, survivor.WaitsUntil()
	} else if left := t.Trigger.Repetitions(); !o.Open {
		event.Ended = types.EndOfLife
		if left > 0 {
			event.Missing = left
		}
		if o.Over {
			event.Missing = left - min(left, 1)
			event.Ended = types.EndFailed
		}
	}
	return report.Emit(ctx, event)
}
