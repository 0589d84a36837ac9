package types

import (
	"time"

	"github.com/cosmos-timers/timers/x/timers/schedule"
)

// What determines when a timer is due by block time, and its occurrences: time, calendar, and intervals from their schedule
// (x/timers/README.md, "1.4 Trigger").

// MaxTime is the last second that a trigger or the end of a life may state.
const MaxTime = int64(schedule.MaxTime)

// MaxJitter is the largest jitter, in seconds or blocks.
const MaxJitter = uint64(86_400)

// ByTime tells whether block time makes the timer due.
func (t *Trigger) ByTime() bool { return t.Time != nil || t.Calendar != nil }

// WaitsForTime tells whether a timer that is on hold no longer waits for its time. A retry is due at a height.
func (t *Timer) WaitsForTime(now Moment) bool {
	return t.Trigger.ByTime() && t.Retries == 0 && t.DueTime > now.Time
}

// WaitsUntil is the time for which it waits, in seconds since 1970; 0 if it waits for none.
func (t *Timer) WaitsUntil() int64 {
	if t.HoldReason != Timed {
		return 0
	}
	return t.DueTime
}

// TriggerCycles are what a fire counts for its trigger in addition to its other intrinsic cycles: a timer by time was moved from
// the order of time, and its next occurrence is computed.
func (c *TimerConfig) TriggerCycles(t *Trigger) uint64 {
	if t.ByTime() {
		return c.CalendarCycles
	}
	return 0
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
			Months: uint16(min(c.Cron.Months, 1<<16-1)), Weekdays: uint8(min(c.Cron.Weekdays, 1<<8-1)),
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
		return ErrInvalidCalendar.Wrapf("%v", err)
	}
	if err := c.OnFailure.validate(); err != nil {
		return ErrInvalidCalendar.Wrapf("%v", err)
	}
	return c.Occurrences.validate()
}

// validate checks what a record states of its occurrences; none is valid.
func (o *OccurrenceTerms) validate() error {
	if o == nil {
		return nil
	}
	if _, known := Missed_name[int32(o.Missed)]; !known {
		return ErrInvalidCalendar.Wrapf("missed %d is unknown, want latest or each", int32(o.Missed))
	}
	if o.Window > uint64(MaxTime) {
		return ErrInvalidCalendar.Wrapf("window is %d, want at most %d", o.Window, MaxTime)
	}
	if o.Jitter > MaxJitter {
		return ErrInvalidCalendar.Wrapf("jitter is %d, want at most %d", o.Jitter, MaxJitter)
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
