package engine

import (
	"context"
	"errors"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/report"
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
	for _, p := range e.Policies.All() {
		p.Reset(&next)
	}
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
	b.noteHeld(sdk.UnwrapSDKContext(ctx), timer, types.Suspended)
	return report.Emit(ctx, &types.TimerHeld{
		Id: timer.IDHex(), Actor: e.Addresses.Text(timer.Actor), Reason: types.Suspended, Label: timer.Label,
		Codespace: codespace, Code: code,
	})
}

// mayRetry reports whether a failed fire leaves the timer a retry that can come before it expires, and before its occurrence is over.
// At what time a height comes is not known, so that a retry of a calendar's may turn out to be too late when it is due.
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
