// Package triggers holds the kinds of triggers: what makes a timer due, and due again after a fire
// (x/timers/README.md, "1.4 Trigger").
//
// A kind is a type here that implements Kind and a place in NewKinds, in addition to its message in core.proto and its
// validation in types/recurrence.go. Watches have a component of their own, Watches; occurrences.go has the triggers by time.
package triggers

import (
	"slices"

	"github.com/cosmos-timers/timers/x/timers/schedule"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Kind is one kind of trigger. A trigger is of the first kind that Matches.
type Kind interface {
	// Name of the kind, that of its field in core.proto. Handlers are told it; it never changes.
	Name() string
	// Matches reports whether the trigger is of this kind.
	Matches(trigger *types.Trigger) bool
	// Prepare checks the trigger of a timer that is scheduled now, fills in its defaults and sets when the timer is due,
	// jitter left aside. The host API checks that this is in the future.
	Prepare(config *types.TimerConfig, t *types.Timer, now types.Moment) error
	// Roll makes the timer due again after a fire, one repetition on, and reports whether it is: false if it does not repeat,
	// if this was its last repetition, or if its life ends before the next. The trigger may be shared with copies of the timer.
	Roll(t *types.Timer, now types.Moment) bool
}

// Kinds are those of a chain.
type Kinds []Kind

// NewKinds returns the kinds of triggers, of which watches are those of a chain with watchable stores.
func NewKinds(watches *Watches) Kinds {
	return Kinds{timeKind{}, calendarKind{}, watches, intervalKind{}, afterKind{}, heightKind{}}
}

// Of returns the kind of a trigger. An empty trigger is of the height kind, with height 0, which is refused.
func (k Kinds) Of(trigger *types.Trigger) Kind {
	for _, kind := range k {
		if kind.Matches(trigger) {
			return kind
		}
	}
	return heightKind{}
}

// Prepare checks the trigger of a timer that is scheduled now, and prepares the timer as its kind does.
func (k Kinds) Prepare(config *types.TimerConfig, t *types.Timer, now types.Moment) error {
	if err := t.Trigger.CheckAtMostOne(); err != nil {
		return err
	}
	return k.Of(&t.Trigger).Prepare(config, t, now)
}

// CheckLife checks when a timer is due first, expires_at and expires_time, or sets their defaults.
func CheckLife(config *types.TimerConfig, timer *types.Timer, now types.Moment) error {
	// A consensus rule: a timer never fires in the block that schedules it.
	if timer.Due <= now.Height {
		return types.ErrHeightNotInFuture.Wrapf(
			"height %d is not above the current height %d; state a height above it, or after from 1 on", timer.Due, now.Height)
	}
	if timer.Trigger.ByTime() && timer.ExpiresTime == 0 {
		timer.ExpiresTime = now.Time + int64(config.MaxTtlSeconds)
	}
	last := now.Height + config.MaxTtlBlocks
	if timer.Due > last {
		return types.ErrTTLTooLong.Wrapf("due height %d is above %d, the current height plus %d", timer.Due, last, config.MaxTtlBlocks)
	}
	if timer.ExpiresAt == 0 && !timer.Trigger.ByTime() {
		timer.ExpiresAt = last
	}
	if timer.ExpiresAt > last {
		return types.ErrTTLTooLong.Wrapf("expires_at %d is above %d, the current height plus %d", timer.ExpiresAt, last, config.MaxTtlBlocks)
	}
	if timer.ExpiresAt != 0 && timer.ExpiresAt < timer.Due {
		return types.ErrExpiresTooSoon.Wrapf("expires_at %d is below the due height %d", timer.ExpiresAt, timer.Due)
	}
	if timer.ExpiresTime == 0 {
		return nil
	}
	switch last := now.Time + int64(config.MaxTtlSeconds); {
	case timer.ExpiresTime <= now.Time:
		return types.ErrExpiresTooSoon.Wrapf("expires_time %d, in seconds since 1970, is not after the time of the block, %s",
			timer.ExpiresTime, types.TimeText(now.Time))
	case timer.ExpiresTime > last:
		return types.ErrTTLTooLong.Wrapf("expires_time %d, in seconds since 1970, is after %s, the time of the block plus %d seconds",
			timer.ExpiresTime, types.TimeText(last), config.MaxTtlSeconds)
	case timer.ExpiresTime < timer.DueTime:
		return types.ErrExpiresTooSoon.Wrapf("expires_time %s is before the timer is due, %s",
			types.TimeText(timer.ExpiresTime), types.TimeText(timer.DueTime))
	}
	return nil
}

// RollsAt reports whether the timer stays after a fire. It does not if it does not repeat, if this was its last repetition, or
// if it expires before the next.
func (k Kinds) RollsAt(t *types.Timer, now types.Moment) bool {
	next := *t
	return k.Roll(&next, now)
}

// Roll makes the timer due again after a fire, and reports whether it is.
func (k Kinds) Roll(t *types.Timer, now types.Moment) bool {
	if t.ExpiredAt(now) {
		return false
	}
	t.Retries = 0
	t.FireSeq++
	return k.Of(&t.Trigger).Roll(t, now)
}

// To is a change of a timer to when another state of it is due.
func To(next *types.Timer) func(*types.Timer) error {
	return func(t *types.Timer) error {
		t.Trigger, t.Recurrence = next.Trigger, next.Recurrence
		t.HoldReason, t.Due, t.DueTime = next.HoldReason, next.Due, next.DueTime
		t.Retries, t.FireSeq = next.Retries, next.FireSeq
		t.Failures, t.Skips, t.ExpiresAt, t.ExpiresTime = next.Failures, next.Skips, next.ExpiresAt, next.ExpiresTime
		return nil
	}
}

// heightKind is due once, at a height.
type heightKind struct{}

// Name implements Kind.
func (heightKind) Name() string { return "height" }

// Matches implements Kind.
func (heightKind) Matches(trigger *types.Trigger) bool { return trigger.Height != 0 }

// Prepare implements Kind.
func (heightKind) Prepare(_ *types.TimerConfig, t *types.Timer, now types.Moment) error {
	if t.Due = t.Trigger.Height; t.Due == 0 {
		return types.ErrHeightNotInFuture.Wrapf(
			"state a trigger: a height above the current %d, after, an interval, a time, a calendar or a watch", now.Height)
	}
	return nil
}

// Roll implements Kind.
func (heightKind) Roll(*types.Timer, types.Moment) bool { return false }

// afterKind is due once, so many blocks after the one that schedules it. The trigger stays as stated; the due height says
// when that is.
type afterKind struct{ heightKind }

// Name implements Kind.
func (afterKind) Name() string { return "after" }

// Matches implements Kind.
func (afterKind) Matches(trigger *types.Trigger) bool { return trigger.After != 0 }

// Prepare implements Kind.
func (afterKind) Prepare(config *types.TimerConfig, t *types.Timer, now types.Moment) error {
	after := t.Trigger.After
	if after > config.MaxTtlBlocks {
		return types.ErrTTLTooLong.Wrapf("after is %d, want 1 to %d, the longest that a timer lives", after, config.MaxTtlBlocks)
	}
	t.Due = now.Height + after
	return nil
}

// intervalKind is due every so many blocks: after a fire, so that a late fire delays the next, or from its schedule, whatever
// became of the fires before.
type intervalKind struct{}

// Name implements Kind.
func (intervalKind) Name() string { return "interval" }

// Matches implements Kind.
func (intervalKind) Matches(trigger *types.Trigger) bool { return trigger.Interval != nil }

// Prepare implements Kind.
func (intervalKind) Prepare(config *types.TimerConfig, t *types.Timer, now types.Moment) error {
	if err := t.Trigger.Interval.Validate(config); err != nil {
		return err
	}
	interval := *t.Trigger.Interval
	if interval.First == 0 {
		interval.First = now.Height + interval.Every
	}
	if interval.OnFailure == types.OnFailureUnspecified {
		interval.OnFailure = types.OnFailureRoll
	}
	t.Trigger.Interval, t.Due = &interval, interval.First
	if interval.From == types.FromSchedule {
		t.Recurrence = &types.Recurrence{After: now.Height}
	}
	return nil
}

// Roll implements Kind.
func (intervalKind) Roll(t *types.Timer, now types.Moment) bool {
	interval := t.Trigger.Interval
	if interval.Remaining == 1 {
		return false
	}
	t.Trigger = countedDown(t.Trigger)
	if interval.From == types.FromSchedule {
		return deliver(t, now)
	}
	t.Due = now.Height + interval.Every
	return interval.Every <= t.LastHeight()-now.Height
}

// distanceOf is that of the fires of an interval that counts from its fires; false for other triggers.
func distanceOf(t *types.Trigger) (every uint64, repeats bool) {
	if t.Interval == nil || t.Interval.From == types.FromSchedule {
		return 0, false
	}
	return t.Interval.Every, true
}

// StopsOnFailure reports whether a failed repetition ends the timer.
func StopsOnFailure(t *types.Timer) bool {
	return t.Trigger.OnFailure() == types.OnFailureStop
}

// seriesOf are the occurrences of a timer, and their clock.
func seriesOf(t *types.Timer, now types.Moment) (schedule.Series[uint64], clock) {
	if t.Trigger.Calendar != nil {
		return seconds{t.Trigger.Calendar.Series()}, clock{uint64(t.ExpiresTime), uint64(now.Time)}
	}
	interval := t.Trigger.Interval
	return schedule.Interval{First: interval.First, Every: interval.Every}, clock{t.LastHeight(), now.Height}
}

// countedDown is the trigger of a timer that repeats after one more delivery.
func countedDown(t types.Trigger) types.Trigger { return recounted(t, oneLess) }

// recounted is a trigger with another number of repetitions.
func recounted(t types.Trigger, count func(remaining uint64) uint64) types.Trigger {
	switch {
	case t.Calendar != nil:
		calendar := *t.Calendar
		calendar.Remaining = count(calendar.Remaining)
		t.Calendar = &calendar
	case t.Interval != nil:
		interval := *t.Interval
		interval.Remaining = count(interval.Remaining)
		t.Interval = &interval
	case t.Watch != nil:
		watch := *t.Watch
		watch.Remaining = count(watch.Remaining)
		t.Watch = &watch
	}
	return t
}

// Guarded is a timer whose handler is not run, for Roll: what Roll counts is counted back, since only deliveries count. A
// repetition that is retried was delivered by its first try.
func Guarded(t types.Timer) types.Timer {
	if t.Retries > 0 {
		return t
	}
	t.Trigger = recounted(t.Trigger, oneMore)
	if t.Recurrence != nil {
		recurrence := *t.Recurrence
		recurrence.Deliveries-- // At 0 it wraps, and Roll wraps it back.
		t.Recurrence = &recurrence
	}
	return t
}

// oneMore is what oneLess makes of it.
func oneMore(remaining uint64) uint64 {
	if remaining == 0 || remaining == ^uint64(0) {
		return remaining
	}
	return remaining + 1
}

// oneLess counts repetitions down; 0 is "until it expires".
func oneLess(remaining uint64) uint64 {
	if remaining == 0 {
		return 0
	}
	return remaining - 1
}

// This file gives timers other triggers, and says when they are due.

// Replace gives a timer another trigger, checked as at scheduling. That of a timer that repeats is replaced by one of the same
// kind: its occurrences lie after the last that was delivered or has passed, and count on. One on hold stays so, unless it was
// its turn that put it there.
func (k Kinds) Replace(config *types.TimerConfig, t *types.Timer, trigger types.Trigger, now types.Moment) error {
	before := *t
	if watchesTheSame(&before.Trigger, &trigger) { // What it has noticed stays.
		next := before
		next.Trigger = trigger
		err := k.Prepare(config, &next, now)
		t.Trigger = next.Trigger
		return err
	}
	t.Trigger, t.Recurrence, t.HoldReason = trigger, nil, types.NotOnHold
	t.DueTime, t.Retries, t.Failures = 0, 0, 0
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

// watchesTheSame reports whether two triggers watch the same keys, under the same conditions.
func watchesTheSame(before, after *types.Trigger) bool {
	return before.Watch != nil && after.Watch != nil &&
		slices.EqualFunc(before.Watch.Keys, after.Watch.Keys, func(a, b types.WatchKey) bool { return a.Equal(b) })
}

// LimitRetries keeps the retries of a timer within what it states now. One that states none any more makes the next try as if it
// were the first.
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

// Upcoming are at most limit occurrences that a timer has from a moment on, the open one first, and whether there are more
// within its life. A timer that waits for a change has none. Each takes as long as an occurrence of a calendar.
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
