package types

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/schedule"
)

// What determines whether and when a timer fires again: interval, retry, on_unfunded and the last outcome
// (x/timers/README.md, "1.5 Lifecycle").

// Validate checks an interval that is scheduled under c.
func (i *IntervalTrigger) Validate(c *TimerConfig) error {
	if i.Every > c.MaxTtlBlocks {
		return ErrInvalidInterval.Wrapf("every is %d, want at most %d, the longest that a timer lives", i.Every, c.MaxTtlBlocks)
	}
	return i.validate()
}

func (i *IntervalTrigger) validate() error {
	if i.Every == 0 || i.Every > MaxBlocks {
		return ErrInvalidInterval.Wrapf("every is %d, want 1 to %d", i.Every, MaxBlocks)
	}
	if _, known := IntervalFrom_name[int32(i.From)]; !known {
		return ErrInvalidInterval.Wrapf("from %d is unknown, want fire or schedule", int32(i.From))
	}
	return nil
}

// Validate checks a retry that is scheduled under c, in the clock of its trigger; none is valid.
func (r *Retry) Validate(c *TimerConfig, byTime bool) error {
	longest, unit := c.MaxTtlBlocks, "blocks"
	if byTime {
		longest, unit = c.MaxTtlSeconds, "seconds"
	}
	switch {
	case r == nil:
		return nil
	case r.After > longest:
		return ErrInvalidRetry.Wrapf("after is %d %s, want at most %d, the longest that a timer lives", r.After, unit, longest)
	}
	return r.validate()
}

// Distance is that from a failed fire to its retry, after so many retries.
func (r *Retry) Distance(retries uint32) uint64 {
	distance := r.After
	for ; retries > 0 && r.Backoff > 1 && distance < MaxBlocks; retries-- {
		distance *= uint64(r.Backoff)
	}
	return distance
}

// Retries reports whether a fire that failed so is retried.
func (r *Retry) Retries(codespace string, code uint32) bool {
	return len(r.On) == 0 || slices.ContainsFunc(r.On, func(e ErrorCode) bool {
		return e.Codespace == codespace && (e.Code == 0 || e.Code == code)
	})
}

func (r *Retry) validate() error {
	switch {
	case r == nil:
		return nil
	case r.Backoff > maxBackoff:
		return ErrInvalidRetry.Wrapf("backoff is %d, want 1 to %d", r.Backoff, maxBackoff)
	case len(r.On) > maxRetryErrors:
		return ErrInvalidRetry.Wrapf("on has %d errors, want at most %d", len(r.On), maxRetryErrors)
	case slices.ContainsFunc(r.On, func(e ErrorCode) bool { return e.Codespace == "" || len(e.Codespace) > maxCodespaceBytes }):
		return ErrInvalidRetry.Wrapf("on has an error whose codespace is empty or longer than %d bytes", maxCodespaceBytes)
	case r.Max == 0 || r.Max > market.MaxRetries:
		return ErrInvalidRetry.Wrapf("max is %d, want 1 to %d; leave retry out for none", r.Max, market.MaxRetries)
	case r.After == 0 || r.After > MaxBlocks:
		return ErrInvalidRetry.Wrapf("after is %d, want 1 to %d", r.After, MaxBlocks)
	}
	return nil
}

// Validate checks that the choice is one of those that there are.
func (o OnUnfunded) Validate() error {
	if _, known := OnUnfunded_name[int32(o)]; !known {
		return ErrInvalidOnUnfunded.Wrapf("%d is unknown, want destroy, suspend or skip", int32(o))
	}
	return nil
}

// ValidateRecurrence checks what a record says of its fires to come.
func (t *Timer) ValidateRecurrence() error {
	if err := t.Spec.Trigger.Validate(); err != nil {
		return err
	}
	if t.HoldReason == Watching && t.Spec.Trigger.Watch == nil || t.Look && (t.HoldReason != Watching || t.Conditions() == 0) {
		return ErrInvalidGenesis.Wrap("it waits for a change and watches nothing, or for a look without a condition to look at")
	}
	if err := t.Spec.CheckRepeat(); err != nil {
		return err
	}
	if err := t.validateTimes(); err != nil {
		return err
	}
	if err := t.Spec.Retry.validate(); err != nil {
		return err
	}
	if err := t.Spec.OnUnfunded.Validate(); err != nil {
		return err
	}
	if err := ValidateOnlyIf(t.Spec.OnlyIf); err != nil {
		return err
	}
	if t.Retries > 0 && !t.Tried || t.Retries > market.MaxRetries {
		return ErrInvalidRetry.Wrapf("%d retries are used, want at most %d, and none of what was not tried", t.Retries, market.MaxRetries)
	}
	if t.Deliveries > uint64(t.FireSeq) || t.Tried && t.Deliveries == 0 {
		return ErrInvalidGenesis.Wrapf("deliveries is %d, tried %t and fire_seq %d, want a fire for each delivery, and one for what was tried",
			t.Deliveries, t.Tried, t.FireSeq)
	}
	if t.Counted > t.Deliveries || t.Tried && t.Counted == t.Deliveries {
		return ErrInvalidGenesis.Wrapf("counted is %d of %d deliveries, tried %t: want no more, and the one in hand not among them", t.Counted, t.Deliveries, t.Tried)
	}
	if t.Since > t.Due {
		return ErrInvalidGenesis.Wrapf("since is %d, after the due height %d", t.Since, t.Due)
	}
	if o := t.LastOutcome; o != nil && (o.Paid.IsNil() || o.Paid.IsNegative()) {
		return errors.New("last_outcome: paid is missing or negative")
	}
	return nil
}

// validateTimes checks that a record has the times and occurrences that its trigger has.
func (t *Timer) validateTimes() error {
	switch r, byTime := t.Recurrence, t.Spec.Trigger.ByTime(); {
	case t.ExpiresAt == 0 && t.ExpiresTime == 0, t.ExpiresTime < 0, t.ExpiresTime > MaxTime:
		return ErrInvalidGenesis.Wrapf("expires_at is %d and expires_time %d: want one of them, the time up to %d", t.ExpiresAt, t.ExpiresTime, MaxTime)
	case !t.endedBefore() && t.Spec.Trigger.CheckEnd(t.ExpiresAt, t.ExpiresTime) != nil:
		return ErrInvalidGenesis.Wrap(t.Spec.Trigger.CheckEnd(t.ExpiresAt, t.ExpiresTime).Error())
	case byTime != (t.DueTime != 0), t.DueTime < 0, t.DueTime > MaxTime:
		return ErrInvalidGenesis.Wrapf("due_time is %d, want 1 to %d for a time or a calendar, and 0 else", t.DueTime, MaxTime)
	case t.HoldReason == Timed && !byTime:
		return ErrInvalidGenesis.Wrap("it waits for a time and its trigger is none")
	case (r != nil) != t.Spec.Trigger.HasOccurrences():
		return ErrInvalidGenesis.Wrap("recurrence is stated, or missing, against what the trigger says")
	case byTime && t.Start > uint64(MaxTime) || t.Start == 0 && t.Spec.Trigger.StartsOpen():
		return ErrInvalidGenesis.Wrapf("start is %d, and the trigger leaves it open: want where it begins, at most %d", t.Start, MaxTime)
	case t.Renewal == nil && t.Spec.Repeat.GetRenew():
		return ErrInvalidGenesis.Wrap("renewal is missing, and repeat says that it renews its life")
	case t.Renewal != nil && (!t.Recurs() || t.Renewal.Blocks > MaxBlocks || t.Renewal.Seconds > MaxTtlSeconds):
		return ErrInvalidGenesis.Wrapf("renewal of %d blocks and %d seconds: want at most %d and %d, of a timer that repeats",
			t.Renewal.Blocks, t.Renewal.Seconds, MaxBlocks, MaxTtlSeconds)
	case r != nil && byTime && t.Tried != (r.Trying > 0): // The height that an interval tries again may lie before the first block.
		return ErrInvalidGenesis.Wrapf("recurrence: trying is %d and tried %t, want the occurrence that was tried, or neither", r.Trying, t.Tried)
	case r != nil && (r.After > uint64(MaxTime) || r.Forced > uint64(MaxTime) || r.Trying > uint64(MaxTime)):
		return ErrInvalidGenesis.Wrapf("recurrence: after %d, trying %d and forced %d, want at most %d", r.After, r.Trying, r.Forced, MaxTime)
	}
	return nil
}

// endedBefore tells whether the life of a timer ended before the first block of a chain that goes on from another one, where no height
// lies: it ends at a time then, whatever its clock.
func (t *Timer) endedBefore() bool { return t.ExpiresAt == 0 && t.ExpiresTime == 1 }

// CheckEnd checks that an end is in the trigger's clock, if one is stated: the last height of a height, after or an interval, the last
// time, in seconds since 1970, of a time or a calendar, one of the two of a watch. It is ErrInvalidEnd else.
func (t *Trigger) CheckEnd(height uint64, seconds int64) error {
	switch {
	case t.ByTime() && height != 0:
		return ErrInvalidEnd.Wrapf("expires_at is %d, and the trigger is a time or a calendar: state expires_time", height)
	case t.Watch != nil && height != 0 && seconds != 0:
		return ErrInvalidEnd.Wrapf("expires_at is %d and expires_time %d: state one end", height, seconds)
	case t.Watch == nil && !t.ByTime() && seconds != 0:
		return ErrInvalidEnd.Wrapf("expires_time is %d, and the trigger counts heights: state expires_at", seconds)
	}
	return nil
}

// kinds is how many kinds of triggers are stated.
func (t *Trigger) kinds() (n int) {
	for _, stated := range []bool{t.Height != 0, t.After != 0, t.Interval != nil, t.Time != nil, t.Calendar != nil, t.Watch != nil} {
		if stated {
			n++
		}
	}
	return n
}

// CheckAtMostOne refuses a trigger that states several of its kinds.
func (t *Trigger) CheckAtMostOne() error {
	if n := t.kinds(); n > 1 {
		err := ErrUnsupportedTimerType
		if t.Interval != nil && n == 2 && (t.Height != 0 || t.After != 0) {
			err = ErrInvalidInterval
		}
		return err.Wrapf("%d triggers are stated: state one of height, after, interval, time, calendar and watch", n)
	}
	return nil
}

// Validate checks a trigger as it lies in a record.
func (t *Trigger) Validate() error {
	if err := t.CheckAtMostOne(); err != nil {
		return err
	}
	switch {
	case t.kinds() == 0:
		return ErrUnsupportedTimerType.Wrap("want a height, after, an interval, a time, a calendar or a watch")
	case t.Watch != nil:
		return t.Watch.Validate()
	case t.Interval != nil:
		return t.Interval.validate()
	case t.Calendar != nil:
		return t.Calendar.validate()
	case t.Time != nil && (t.Time.Nanosecond() != 0 || t.Time.Unix() <= 0 || t.Time.Unix() > MaxTime):
		return ErrInvalidTime.Wrapf("time %d.%09d: want a whole second from 1 to %d", t.Time.Unix(), t.Time.Nanosecond(), MaxTime)
	case t.After > MaxBlocks:
		return ErrUnsupportedTimerType.Wrapf("after is %d, want at most %d", t.After, MaxBlocks)
	}
	return nil
}

// Same reports whether two triggers state the same. It takes what the generated Equal does not: that one of them alone has a time.
func (t *Trigger) Same(other *Trigger) bool {
	return (t.Time == nil) == (other.Time == nil) && t.Equal(*other)
}

// Same reports whether two records are equal.
func (t *Timer) Same(other *Timer) bool {
	return (t.Spec.Trigger.Time == nil) == (other.Spec.Trigger.Time == nil) && t.Equal(*other)
}

// HasOccurrences tells whether it is known in advance when the timer is due, whatever becomes of its fires.
func (t *Trigger) HasOccurrences() bool {
	return t.Calendar != nil || t.Interval != nil && t.Interval.From == FromSchedule
}

// Renew gives the timer its life again at a moment, within what the config allows. A calendar whose zone may change after its
// last transition lives no longer than that.
func (t *Timer) Renew(c *TimerConfig, now Moment) {
	if t.Renewal == nil || !t.Spec.Repeat.GetRenew() {
		return
	}
	if t.Renewal.Blocks > 0 {
		t.ExpiresAt = max(t.ExpiresAt, now.Height+min(t.Renewal.Blocks, c.MaxTtlBlocks))
	}
	if t.Renewal.Seconds == 0 {
		return
	}
	ends := now.Time + int64(min(t.Renewal.Seconds, c.MaxTtlSeconds))
	if zone, limited := t.Spec.Trigger.zoneEnd(); limited {
		ends = min(ends, zone)
	}
	t.ExpiresTime = max(t.ExpiresTime, ends)
}

// zoneEnd is the last second that a calendar's transitions cover; false if they cover all.
func (t *Trigger) zoneEnd() (last int64, limited bool) {
	if t.Calendar == nil || t.Calendar.OffsetFinal || len(t.Calendar.Transitions) == 0 {
		return 0, false
	}
	return t.Calendar.Transitions[len(t.Calendar.Transitions)-1].From - 1, true
}

// EndsWithZone tells whether a timer that renews itself ends since its calendar's transitions do.
func (t *Timer) EndsWithZone() bool {
	last, limited := t.Spec.Trigger.zoneEnd()
	return limited && t.Spec.Repeat.GetRenew() && t.ExpiresTime >= last
}

// NoteLife notes the life that an end gives which is stated now: a timer that repeats may renew itself by it, from now on or later.
func (t *Timer) NoteLife(now Moment) {
	t.Renewal = nil
	switch {
	case !t.Recurs():
	case t.ExpiresAt > 0:
		t.Renewal = &Renewal{Blocks: t.ExpiresAt - now.Height}
	default:
		t.Renewal = &Renewal{Seconds: uint64(t.ExpiresTime - now.Time)}
	}
}

// OnHold tells whether the timer waits for somebody to resume it, for funds, or for its removal.
func (t *Timer) OnHold() bool {
	return t.HoldReason != NotOnHold && t.HoldReason != Timed && t.HoldReason != Watching
}

// ReturnsByItself tells whether the timer is on hold until its payer or the prices let it fire, or the config can run it.
func (t *Timer) ReturnsByItself() bool {
	return t.HoldReason == Unfunded || t.HoldReason == PricedOut || t.HoldReason == Unrunnable
}

// InEveryBlock reports whether a fire makes the timer due in the next block.
func (t *Trigger) InEveryBlock() bool { return t.Interval != nil && t.Interval.Every == 1 }

// Word is the reason as people write it: quarantined, unrunnable, suspended, paused, unfunded.
func (r HoldReason) Word() string {
	return strings.ToLower(strings.TrimPrefix(r.String(), "HOLD_REASON_"))
}

// Verdicts are counts, by verdict.
type Verdicts [VerdictGuarded + 1]uint64

// Word is the verdict as people write it: fires, no_room, priced_out, no_funds.
func (v Verdict) Word() string { return strings.ToLower(strings.TrimPrefix(v.String(), "VERDICT_")) }

// MoveBack moves the heights at which the timer's trigger begins so many blocks back.
func (t *Timer) MoveBack(blocks uint64) {
	trigger := &t.Spec.Trigger
	if trigger.Height > 0 {
		trigger.Height -= min(blocks, trigger.Height-1)
	}
	if trigger.Interval == nil {
		return
	}
	first := t.Interval().First
	if trigger.Interval.From == FromSchedule && first <= blocks {
		// Its first occurrence is the first that lies in a block: the rhythm stays.
		first += ((blocks-first)/trigger.Interval.Every + 1) * trigger.Interval.Every
	}
	first -= min(blocks, first-1)
	if t.Start = first; trigger.Interval.First > 0 {
		interval := *trigger.Interval
		interval.First, t.Start = first, 0
		trigger.Interval = &interval
	}
}

// StartsOpen reports whether the trigger leaves open where it begins: a record says that.
func (t *Trigger) StartsOpen() bool {
	return t.Interval != nil && t.Interval.First == 0 || t.Calendar != nil && t.Calendar.Every != nil && t.Calendar.Every.Anchor == 0
}

// What determines when a timer is due by block time, and its occurrences: time, calendar, and intervals from their schedule
// (x/timers/README.md, "1.4 Trigger").

// MaxTime is the last second that a trigger or the end of a life may state.
const MaxTime = int64(schedule.MaxTime)

// MaxJitter is the largest jitter, in seconds or blocks.
const MaxJitter = uint64(86_400)

// ByTime tells whether block time makes the timer due.
func (t *Trigger) ByTime() bool { return t.Time != nil || t.Calendar != nil }

// WaitsForTime tells whether a timer that is on hold no longer waits for its time.
func (t *Timer) WaitsForTime(now Moment) bool { return t.Spec.Trigger.ByTime() && t.DueTime > now.Time }

// WaitsUntil is the time for which it waits, in seconds since 1970; 0 if it waits for none.
func (t *Timer) WaitsUntil() int64 {
	if t.HoldReason != Timed {
		return 0
	}
	return t.DueTime
}

// Series are the occurrences of a calendar.
func (c *CalendarTrigger) Series() schedule.Calendar {
	calendar := schedule.Calendar{OffsetMinutes: c.OffsetMinutes, Transitions: make([]schedule.Transition, len(c.Transitions))}
	for i, t := range c.Transitions {
		calendar.Transitions[i] = schedule.Transition{From: t.From, OffsetMinutes: t.OffsetMinutes}
	}
	switch {
	case c.Every != nil:
		calendar.Rule = schedule.Every{Seconds: int64(min(c.Every.Seconds, uint64(MaxTime))), Anchor: c.Every.Anchor}
	case c.Cron != nil:
		calendar.Rule = schedule.Cron{
			Minutes: c.Cron.Minutes, Hours: c.Cron.Hours, Days: c.Cron.Days, LastDay: c.Cron.LastDay,
			// What is above is not lost: it is refused.
			Months: uint16(min(c.Cron.Months, 1<<16-1)), Weekdays: uint8(min(c.Cron.Weekdays, 1<<8-1)), Nth: uint16(min(c.Cron.Nth, 1<<16-1)),
		}
	}
	return calendar
}

// validate checks a calendar as it lies in a record.
func (c *CalendarTrigger) validate() error {
	if (c.Every != nil) == (c.Cron != nil) {
		return ErrInvalidCalendar.Wrap("state one rule: every or cron")
	}
	if c.Every != nil && c.Every.Seconds > uint64(MaxTime) {
		return ErrInvalidCalendar.Wrapf("every is %d seconds, want at most %d", c.Every.Seconds, MaxTime)
	}
	if err := c.Series().Validate(); err != nil {
		return ErrInvalidCalendar.Wrapf("%s", err)
	}
	return nil
}

// CheckTime refuses a time that is no whole second, not after the block's, or further than a timer lives.
func (c *TimerConfig) CheckTime(at time.Time, now Moment) (seconds int64, err error) {
	seconds = at.Unix()
	switch last := now.Time + int64(c.MaxTtlSeconds); {
	case at.Nanosecond() != 0:
		return 0, ErrInvalidTime.Wrapf("%s has a fraction of a second: state whole seconds", at.UTC().Format(time.RFC3339Nano))
	case seconds <= now.Time:
		return 0, ErrInvalidTime.Wrapf("%s is not after the time of the block, %s", TimeText(seconds), TimeText(now.Time))
	case seconds > last:
		return 0, ErrTTLTooLong.Wrapf("%s is after %s, the time of the block plus %d seconds", TimeText(seconds), TimeText(last), c.MaxTtlSeconds)
	}
	return seconds, nil
}

// TimeText is a block time as errors show it: in UTC.
func TimeText(seconds int64) string { return time.Unix(seconds, 0).UTC().Format(time.RFC3339) }
