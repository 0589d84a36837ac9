package engine

import (
	"context"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/report"
	"github.com/cosmos-timers/timers/x/timers/schedule"
	"github.com/cosmos-timers/timers/x/timers/triggers"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// This file says which occurrences have passed without a fire.

// Resume is Release by the owner: now, or with the timer's next repetition. Of the occurrences that came meanwhile at most the
// latest fires.
func (e *Engine) Resume(ctx sdk.Context, t *types.Timer, at types.ResumeAt) error {
	var passed schedule.Passed[uint64]
	before, now := *t, types.MomentOf(ctx)
	err := e.releaseAt(ctx, t, now.Height+1, func(t *types.Timer) (err error) {
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
