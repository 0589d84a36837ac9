// Package triggers holds the kinds of triggers: what makes a timer due, and due again after a fire
// (x/timers/README.md, "1.4 Trigger").
//
// A kind is a type here that implements Kind and a place in NewKinds, in addition to its message in core.proto and its
// validation in types/recurrence.go. Watches have a component of their own, Watches. What comes next of a timer says
// package recurrence.
package triggers

import (
	"slices"

	"github.com/cosmos-timers/timers/x/timers/recurrence"
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
	if err := t.Spec.Trigger.CheckAtMostOne(); err != nil {
		return err
	}
	t.Start = 0
	if err := k.Of(&t.Spec.Trigger).Prepare(config, t, now); err != nil {
		return err
	}
	return t.Spec.CheckRepeat()
}

// CheckLife checks when a timer is due first, and its end, or sets its default.
func CheckLife(config *types.TimerConfig, timer *types.Timer, now types.Moment) error {
	// A consensus rule: a timer never fires in the block that schedules it.
	if timer.Due <= now.Height {
		return types.ErrHeightNotInFuture.Wrapf(
			"height %d is not above the current height %d; state a height above it, or after from 1 on", timer.Due, now.Height)
	}
	if last := now.Height + config.MaxTtlBlocks; timer.Due > last {
		return types.ErrTTLTooLong.Wrapf("due height %d is above %d, the current height plus %d", timer.Due, last, config.MaxTtlBlocks)
	}
	return CheckEnd(config, timer, now)
}

// CheckEnd checks the end of a timer's life, in the clock of its trigger, or sets the default.
func CheckEnd(config *types.TimerConfig, timer *types.Timer, now types.Moment) error {
	if err := timer.Spec.Trigger.CheckEnd(timer.ExpiresAt, timer.ExpiresTime); err != nil {
		return err
	}
	defaultEnd(config, timer, now)
	switch last := now.Height + config.MaxTtlBlocks; {
	case timer.ExpiresAt == 0:
	case timer.ExpiresAt > last:
		return types.ErrTTLTooLong.Wrapf("expires_at %d is above %d, the current height plus %d", timer.ExpiresAt, last, config.MaxTtlBlocks)
	case timer.ExpiresAt <= now.Height:
		return types.ErrExpiresTooSoon.Wrapf("expires_at %d is not above the current height %d", timer.ExpiresAt, now.Height)
	case timer.ExpiresAt < timer.Due:
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

// defaultEnd is as late as the config allows, in the clock of the trigger.
func defaultEnd(config *types.TimerConfig, timer *types.Timer, now types.Moment) {
	switch byTime := timer.Spec.Trigger.ByTime(); {
	case byTime && timer.ExpiresTime == 0:
		timer.ExpiresTime = now.Time + int64(config.MaxTtlSeconds)
	case !byTime && timer.ExpiresAt == 0 && timer.ExpiresTime == 0:
		timer.ExpiresAt = now.Height + config.MaxTtlBlocks
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
	if t.Due = t.Spec.Trigger.Height; t.Due == 0 {
		return types.ErrHeightNotInFuture.Wrapf(
			"state a trigger: a height above the current %d, after, an interval, a time, a calendar or a watch", now.Height)
	}
	return nil
}

// afterKind is due once, so many blocks after the one that schedules it. The trigger stays as stated; the due height says
// when that is.
type afterKind struct{}

// Name implements Kind.
func (afterKind) Name() string { return "after" }

// Matches implements Kind.
func (afterKind) Matches(trigger *types.Trigger) bool { return trigger.After != 0 }

// Prepare implements Kind.
func (afterKind) Prepare(config *types.TimerConfig, t *types.Timer, now types.Moment) error {
	after := t.Spec.Trigger.After
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
	if err := t.Spec.Trigger.Interval.Validate(config); err != nil {
		return err
	}
	interval := t.Spec.Trigger.Interval
	if interval.First == 0 {
		t.Start = now.Height + interval.Every
	}
	if t.Due = t.Interval().First; interval.From == types.FromSchedule {
		t.Recurrence = &types.Recurrence{After: now.Height}
	}
	return nil
}

// timeKind is due once, in the first block whose time is at or after a time.
type timeKind struct{}

// Name implements Kind.
func (timeKind) Name() string { return "time" }

// Matches implements Kind.
func (timeKind) Matches(trigger *types.Trigger) bool { return trigger.Time != nil }

// Prepare implements Kind.
func (timeKind) Prepare(config *types.TimerConfig, t *types.Timer, now types.Moment) error {
	if err := checkTimeTriggers(config); err != nil {
		return err
	}
	seconds, err := config.CheckTime(*t.Spec.Trigger.Time, now)
	if err != nil {
		return err
	}
	recurrence.WaitUntil(t, seconds, now)
	return nil
}

// calendarKind repeats by block time.
type calendarKind struct{}

// Name implements Kind.
func (calendarKind) Name() string { return "calendar" }

// Matches implements Kind.
func (calendarKind) Matches(trigger *types.Trigger) bool { return trigger.Calendar != nil }

// Prepare implements Kind.
func (calendarKind) Prepare(config *types.TimerConfig, t *types.Timer, now types.Moment) error {
	if err := checkTimeTriggers(config); err != nil {
		return err
	}
	if err := t.Spec.Trigger.Validate(); err != nil {
		return err
	}
	if t.Spec.Trigger.StartsOpen() {
		t.Start = uint64(now.Time)
	}
	first, found := t.Calendar().Next(now.Time, now.Time+int64(config.MaxTtlSeconds))
	if !found {
		return types.ErrInvalidCalendar.Wrapf("it has no occurrence within %d seconds after the time of the block, the longest that a timer lives", config.MaxTtlSeconds)
	}
	t.Recurrence = &types.Recurrence{After: uint64(now.Time)}
	recurrence.WaitUntil(t, first, now)
	return nil
}

// checkTimeTriggers refuses triggers by time where the config has none.
func checkTimeTriggers(config *types.TimerConfig) error {
	if !config.TimeTriggers {
		return types.ErrUnsupportedTimerType.Wrap("this chain takes no triggers by time (time_triggers is off): state a height")
	}
	return nil
}

// This file gives timers other triggers, and says when they are due.

// Replace gives a timer the trigger and the repetitions of another spec, checked as at scheduling, but that what fixes the rhythm may
// have passed. It returns the occurrences that have passed by it. What is stated as it stands changes nothing; a trigger is stated
// if its owner named it. One on hold stays so, unless it was its turn that put it there.
func (k Kinds) Replace(
	config *types.TimerConfig, t *types.Timer, spec *types.TimerSpec, stated bool, now types.Moment,
) (passed []recurrence.Passing, err error) {
	before, next := *t, *t
	next.Spec.Trigger, next.Spec.Repeat = spec.Trigger, spec.Repeat
	same := next.Spec.Trigger.Same(&before.Spec.Trigger) && !(stated && next.Spec.Trigger.After > 0)
	if same && next.Spec.Repeat.Equal(before.Spec.Repeat) {
		return nil, nil
	}
	if !watchesTheSame(&before.Spec.Trigger, &next.Spec.Trigger) { // What it has noticed stays.
		next.Recurrence, next.HoldReason, next.Look, next.DueTime = nil, types.NotOnHold, false, 0
	}
	prepared := next
	if err := k.Prepare(config, &prepared, now); err != nil {
		return nil, err
	}
	if watchesTheSame(&before.Spec.Trigger, &next.Spec.Trigger) {
		next.Start = 0
		if next.HoldReason == types.Watching {
			goOnWatching(&before, &next, now)
		}
		countAnew(&before, &next)
		*t = next
		return nil, nil
	}
	next = prepared
	if err := k.checkReplaced(&before, &next); err != nil {
		return nil, err
	}
	recurrence.Begin(&before, &next)
	if recurrence.Same(&before, &next, now) && next.Spec.Repeat.Equal(before.Spec.Repeat) {
		t.Spec.Trigger, t.Start = next.Spec.Trigger, next.Start
		return nil, nil
	}
	if before.Spec.Trigger.ByTime() != next.Spec.Trigger.ByTime() {
		next.ExpiresAt, next.ExpiresTime = 0, 0
	}
	defaultEnd(config, &next, now)
	if passed, err = recurrence.Replace(&before, &next, now); err != nil {
		return nil, err
	}
	if next.DueSince() > now.Height || !next.Recurs() { // What is in hand and stays was due before.
		if err := CheckLife(config, &next, now); err != nil {
			return nil, err
		}
	}
	if before.OnHold() && !before.ReturnsByItself() {
		next.HoldReason, next.Look = before.HoldReason, false
	}
	if next.HoldReason == types.Watching {
		next.Due = max(next.Due, cooled(&next))
	}
	countAnew(&before, &next)
	*t = next
	return passed, nil
}

// goOnWatching lets a watch wait on that watches the same as before: it is looked at if its level is another, and another cooldown
// counts from its last delivery.
func goOnWatching(before, next *types.Timer, now types.Moment) {
	a, b := before.Spec.Trigger.Watch, next.Spec.Trigger.Watch
	if a.Cooldown != b.Cooldown && next.LastOutcome != nil {
		next.Due = max(cooled(next), min(next.Due, now.Height+1))
	}
	if a.Level != b.Level {
		next.Watch(max(next.Due, now.Height+1), true)
	}
}

// cooled is the height at which the cooldown after the last delivery of a watch ends; 0 if it has made none.
func cooled(t *types.Timer) uint64 {
	if t.LastOutcome == nil {
		return 0
	}
	return t.LastOutcome.Height + max(1, t.Spec.Trigger.Watch.Cooldown)
}

// countAnew counts from now on what another spec states of repetitions.
func countAnew(before, next *types.Timer) {
	if before.Spec.Repetitions() != next.Spec.Repetitions() {
		next.CountAnew()
	}
}

// checkReplaced refuses a trigger that a timer can't change to: what repeats stays repeating, in its clock, and a watch a watch.
func (k Kinds) checkReplaced(before, next *types.Timer) error {
	if !before.Recurs() || (before.Spec.Trigger.Watch != nil) == (next.Spec.Trigger.Watch != nil) && next.Recurs() &&
		before.Spec.Trigger.ByTime() == next.Spec.Trigger.ByTime() {
		return nil
	}
	from, to := k.Of(&before.Spec.Trigger).Name(), k.Of(&next.Spec.Trigger).Name()
	return types.ErrUnsupportedTimerType.Wrapf("the timer repeats by its %s, and is to be due by another kind, %s: "+
		"state a trigger that repeats by the same clock, or cancel the timer and schedule another", from, to)
}

// watchesTheSame reports whether two triggers watch the same keys, under the same conditions.
func watchesTheSame(before, after *types.Trigger) bool {
	return before.Watch != nil && after.Watch != nil &&
		slices.EqualFunc(before.Watch.Keys, after.Watch.Keys, func(a, b types.WatchKey) bool { return a.Equal(b) })
}
