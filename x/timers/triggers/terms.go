package triggers

import (
	"github.com/cosmos-timers/timers/x/timers/types"
)

// This file gives timers other triggers, and says when they are due.

// Replace gives a timer another trigger, checked as at scheduling. That of a timer that repeats is replaced by one of the same kind:
// its occurrences lie after the last that was delivered or has passed, and count on. One on hold stays so, unless it was its turn
// that put it there.
func (k Kinds) Replace(config *types.TimerConfig, t *types.Timer, trigger types.Trigger, now types.Moment) error {
	before := *t
	if trigger.Watch != nil && trigger.Equal(&before.Trigger) {
		return nil // What it has noticed stays.
	}
	t.Trigger, t.Recurrence, t.HoldReason = trigger, nil, types.NotOnHold
	t.DueTime, t.Retries, t.Failures, t.Skips = 0, 0, 0, 0
	if err := k.Prepare(config, t, now); err != nil {
		return err
	}
	from, to := k.Of(&before.Trigger).Name(), k.Of(&t.Trigger).Name()
	if before.Recurs() && (from != to || (before.Recurrence == nil) != (t.Recurrence == nil)) {
		return types.ErrUnsupportedTimerType.Wrapf("the timer repeats by its %s, and is to be due by another kind, %s: "+
			"state a trigger of the same kind, whose from is the same, or cancel the timer and schedule another", from, to)
	}
	if err := CheckLife(config, t, now); err != nil {
		return err
	}
	if t.Recurrence != nil {
		if r := before.Recurrence; r != nil {
			t.Recurrence.After, t.Recurrence.Deliveries = max(t.Recurrence.After, r.After, r.Trying), r.Deliveries
			if before.Retries > 0 {
				t.Recurrence.Deliveries++
			}
		}
		if err := toNext(t, now); err != nil {
			return err
		}
	}
	if before.OnHold() && before.HoldReason != types.Unfunded && before.HoldReason != types.PricedOut {
		t.HoldReason = before.HoldReason
	}
	return nil
}

// LimitRetries keeps the retries of a timer within what it states now. One that states none any more makes the next try as if it were
// the first.
func LimitRetries(t *types.Timer) {
	switch {
	case t.Retries == 0:
	case t.Retry != nil:
		t.Retries = min(t.Retries, t.Retry.Max)
	default:
		t.Retries = 0
		if t.Recurrence != nil {
			recurrence := *t.Recurrence
			recurrence.Trying = 0
			t.Recurrence = &recurrence
		}
	}
}

// Upcoming are at most limit occurrences that a timer has from a moment on, the open one first, and whether there are more within its
// life. A timer that waits for a change has none. Each takes as long as an occurrence of a calendar.
func (k Kinds) Upcoming(t *types.Timer, now types.Moment, limit int) (found []types.OccurrenceInfo, more bool) {
	if left := t.Trigger.Repetitions(); t.Recurs() && left > 0 && left <= uint64(limit) {
		found, _ = k.Upcoming(endless(t), now, int(left))
		return found, false
	}
	switch {
	case t.Trigger.Watch != nil:
		return nil, false
	case t.Trigger.Time != nil:
		at := uint64(t.Trigger.Time.Unix())
		return []types.OccurrenceInfo{{At: at, Due: at}}, false
	case !t.Recurs():
		return []types.OccurrenceInfo{{At: t.Due, Due: t.Due}}, false
	case t.Recurrence == nil:
		every, _ := distanceOf(&t.Trigger)
		for due := t.Due; due <= t.LastHeight(); due += every {
			if len(found) == limit {
				return found, true
			}
			found = append(found, types.OccurrenceInfo{At: due, Due: due})
			if every > t.LastHeight()-due {
				break
			}
		}
		return found, false
	}
	next := *t
	for r := resolve(t, now); r.Open || r.More; r = resolve(&next, now) {
		if len(found) == limit {
			return found, true
		}
		one := r.Next
		if r.Open {
			one = r.Fire
		}
		found = append(found, types.OccurrenceInfo{At: one.At, Due: one.Due})
		next.Recurrence = &types.Recurrence{After: one.At}
		now = types.Moment{Height: one.At, Time: int64(one.At)}
	}
	return found, false
}

// endless is a timer that repeats until it expires.
func endless(t *types.Timer) *types.Timer {
	next := *t
	next.Trigger = recounted(t.Trigger, func(uint64) uint64 { return 0 })
	return &next
}
