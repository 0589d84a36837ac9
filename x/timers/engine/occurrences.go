package engine

import (
	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/schedule"
	"github.com/cosmos-timers/timers/x/timers/triggers"
	"github.com/cosmos-timers/timers/x/timers/types"
)

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
		b.burned.add(paid)
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
	if suspended {
		next.Skips = 0
	}
	next.Due = max(next.Due, b.Height+1)
	if err := e.Records.Move(ctx, timer, triggers.To(&next)); err != nil {
		return true, err
	}
	if err := e.NoteSkipped(ctx, &before, timer, passed, types.SkipUnfunded); err != nil || !suspended {
		return true, err
	}
	return true, e.holdUnfunded(ctx, b, timer, types.Suspended, b.funds.leastCost(timer))
}
