// Package course tells when a timer fires, as far as that is known in advance.
package course

import (
	"iter"
	"math"
	"time"

	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// mostCounted is how many occurrences of a rule of local time are counted one by one.
const mostCounted = 1_000_000

// Course is when a timer fires. What is due at heights is told by the pace of the chain's last blocks.
type Course struct {
	trigger *types.Trigger
	clock   timespan.Clock
	// height at which it is due next, or time in seconds since 1970; 0 for the one that it does not wait for.
	height uint64
	time   int64
	// after is the instant after which the occurrences of a calendar count.
	after int64
	// left is how many fires are left; 0 if they are not counted.
	left uint64
	// lastHeight and lastTime are the last at which it may fire; 0 if that does not end it.
	lastHeight uint64
	lastTime   int64
}

// Of is the course of a timer that is about to be scheduled, at the height of the latest block.
func Of(msg *types.MsgScheduleTimer, config *types.TimerConfig, clock timespan.Clock, height uint64) Course {
	now := clock.Present().Unix()
	c := Course{trigger: &msg.Spec.Trigger, left: msg.Spec.Repetitions(), clock: clock, after: now, lastHeight: msg.Spec.ExpiresAt, lastTime: msg.Spec.ExpiresTime}
	if t := c.trigger; t.ByTime() && c.lastTime == 0 {
		c.lastTime = now + int64(config.MaxTtlSeconds)
	} else if !t.ByTime() && c.lastHeight == 0 && c.lastTime == 0 {
		c.lastHeight = height + 1 + config.MaxTtlBlocks
	}
	switch t, i := c.trigger, c.trigger.Interval; {
	case t.Watch != nil:
	case t.Time != nil:
		c.time = t.Time.Unix()
	case t.Calendar != nil:
		if every := t.Calendar.Every; every != nil && every.Anchor == 0 {
			// It counts from the block that schedules it.
			trigger, calendar, rule := *t, *t.Calendar, *every
			rule.Anchor = now
			calendar.Every, trigger.Calendar = &rule, &calendar
			c.trigger = &trigger
		}
		c.time, _ = c.trigger.Calendar.Series().Next(now, types.MaxTime)
	case t.After != 0:
		c.height = height + 1 + t.After
	case i == nil:
		c.height = t.Height
	case i.First != 0:
		c.height = i.First
	default:
		c.height = height + 1 + i.Every
	}
	return c
}

// OfTimer is the course of a timer that there is. One that is on hold, or waits for a change, has none.
func OfTimer(t *types.TimerInfo, clock timespan.Clock) Course {
	c := Course{trigger: &t.Spec.Trigger, left: t.Status.Left, clock: clock, lastHeight: t.Status.ExpiresAt, lastTime: t.Status.ExpiresTime}
	switch {
	case t.Status.HoldReason == types.Timed:
		c.time = t.Status.DueTime
	case t.Status.HoldReason == types.NotOnHold:
		c.height = t.Status.Due
	}
	if t.Status.Recurrence != nil && t.Spec.Trigger.Calendar != nil {
		c.after = int64(min(t.Status.Recurrence.After, uint64(types.MaxTime)))
	}
	return c
}

// Height at which it is due next; 0 if that is a time, or not known.
func (c Course) Height() uint64 { return c.height }

// Time at which it is due next, in seconds since 1970; 0 if that is a height, or not known.
func (c Course) Time() int64 { return c.time }

// Recurs tells whether it may fire again, retries left aside.
func (c Course) Recurs() bool {
	return c.trigger != nil && (c.trigger.Interval != nil || c.trigger.Calendar != nil)
}

// Known tells whether it is known when it fires next.
func (c Course) Known() bool { return c.time != 0 || c.height != 0 && c.clock.PaceErr == nil }

// Next is when it is expected to fire next; the time of the latest block where that is not known.
func (c Course) Next() time.Time {
	if c.time != 0 {
		return time.Unix(c.time, 0)
	}
	return c.clock.Expected(c.height)
}

// Ends is the last time at which it may fire: whichever comes first of a time and a height.
func (c Course) Ends() time.Time {
	ends := time.Unix(types.MaxTime, 0)
	if c.lastTime != 0 {
		ends = time.Unix(c.lastTime, 0)
	}
	if c.lastHeight != 0 && c.clock.PaceErr == nil {
		if at := c.clock.Expected(c.lastHeight); at.Before(ends) {
			ends = at
		}
	}
	return ends
}

// LastHeight is the last height at which it may fire; 0 if none ends it.
func (c Course) LastHeight() uint64 { return c.lastHeight }

// LastTime is the last second since 1970 at which it may fire; 0 if none ends it.
func (c Course) LastTime() int64 { return c.lastTime }

// Fires are when it is expected to fire, as often as it may and until it ends, retries left aside: none if that is not known.
func (c Course) Fires() iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		if !c.Known() {
			return
		}
		ends, left := c.Ends(), c.left
		switch {
		case c.trigger.Calendar != nil:
			series, after := c.trigger.Calendar.Series(), c.after
			for n := uint64(0); left == 0 || n < left; n++ {
				at, found := series.Next(after, ends.Unix())
				if !found || !yield(time.Unix(at, 0)) {
					return
				}
				after = at
			}
		case c.trigger.Interval != nil:
			at := c.height
			for n := uint64(0); left == 0 || n < left; n++ {
				moment := c.clock.Expected(at)
				if c.lastHeight != 0 && at > c.lastHeight || moment.After(ends) || !yield(moment) || at > math.MaxInt64 {
					return
				}
				at += c.trigger.Interval.Every
			}
		default:
			if next := c.Next(); !next.After(ends) {
				yield(next)
			}
		}
	}
}

// Fit is how many times its trigger makes it due until a time and within its life, however often it may fire. A rule of local
// time is counted up to a bound: then exact is false. Where the pace of the chain is not known, heights alone bound an interval.
func (c Course) Fit(until time.Time) (n uint64, exact bool) {
	if i := c.trigger.Interval; i != nil && c.height != 0 && c.clock.PaceErr != nil {
		return Fit(c.height, i.Every, c.lastHeight), c.lastHeight != 0
	}
	if !c.Known() {
		return 0, false
	}
	ends := c.Ends()
	if ends.After(until) {
		ends = until
	}
	switch i := c.trigger.Interval; {
	case c.trigger.Calendar != nil:
		return c.trigger.Calendar.Series().CountAtLeast(c.after, ends.Unix(), mostCounted)
	case i != nil:
		last := c.clock.Height
		if ahead := ends.Sub(c.clock.Expected(c.height)); ahead >= 0 {
			last = c.height + blocksIn(c.clock.Pace, ahead)
		}
		if c.lastHeight != 0 {
			last = min(last, c.lastHeight)
		}
		return Fit(c.height, i.Every, last), true
	case c.Next().After(ends):
		return 0, true
	default:
		return 1, true
	}
}

// Count is how often it fires until a time: as often as fit, and no more than it may.
func (c Course) Count(until time.Time) (n uint64, exact bool) {
	n, exact = c.Fit(until)
	if c.left != 0 && n >= c.left {
		return c.left, true
	}
	return n, exact
}

// blocksIn is how many whole blocks a time has.
func blocksIn(p timespan.Pace, d time.Duration) uint64 {
	if p.Time <= 0 {
		return 0
	}
	// A life has fewer blocks than overflow this.
	whole, rest := uint64(d)/uint64(p.Time), uint64(d)%uint64(p.Time)
	return whole*p.Blocks + rest/max(uint64(p.Time)/p.Blocks, 1)
}

// Fit is how many fires there are from a height to another, both included, at so many blocks from one to the next.
func Fit(first, every, last uint64) uint64 {
	if last < first || every == 0 {
		return 0
	}
	return (last-first)/every + 1
}
