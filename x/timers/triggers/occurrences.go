package triggers

import (
	"encoding/binary"

	"golang.org/x/crypto/sha3"

	"github.com/cosmos-timers/timers/x/timers/schedule"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// This file holds the triggers by block time, and the occurrences of those that are known in advance: calendars, whose clock is
// block time, and intervals from their schedule, whose clock is the height. Package schedule computes them.

// timeKind is due once, in the first block whose time is at or after a time.
type timeKind struct{ heightKind }

// Name implements Kind.
func (timeKind) Name() string { return "time" }

// Matches implements Kind.
func (timeKind) Matches(trigger *types.Trigger) bool { return trigger.Time != nil }

// Prepare implements Kind.
func (timeKind) Prepare(config *types.TimerConfig, t *types.Timer, now types.Moment) error {
	if err := checkTimeTriggers(config); err != nil {
		return err
	}
	seconds, err := config.CheckTime(*t.Trigger.Time, now)
	if err != nil {
		return err
	}
	waitUntil(t, seconds, now)
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
	calendar := *t.Trigger.Calendar
	if calendar.Every != nil && calendar.Every.Anchor == 0 {
		every := *calendar.Every
		every.Anchor = now.Time
		calendar.Every = &every
	}
	if calendar.OnFailure == types.OnFailureUnspecified {
		calendar.OnFailure = types.OnFailureRoll
	}
	t.Trigger.Calendar = &calendar
	if err := t.Trigger.Validate(); err != nil {
		return err
	}
	first, found := calendar.Series().Next(now.Time, now.Time+int64(config.MaxTtlSeconds))
	if !found {
		return types.ErrInvalidCalendar.Wrapf("it has no occurrence within %d seconds after the time of the block, the longest that a timer lives", config.MaxTtlSeconds)
	}
	t.Recurrence = &types.Recurrence{After: uint64(now.Time)}
	waitUntil(t, first, now)
	return nil
}

// Roll implements Kind.
func (calendarKind) Roll(t *types.Timer, now types.Moment) bool {
	if t.Trigger.Calendar.Remaining == 1 {
		return false
	}
	t.Trigger = countedDown(t.Trigger)
	return deliver(t, now)
}

// checkTimeTriggers refuses triggers by time where the config has none.
func checkTimeTriggers(config *types.TimerConfig) error {
	if !config.TimeTriggers {
		return types.ErrUnsupportedTimerType.Wrap("this chain takes no triggers by time (time_triggers is off): state a height")
	}
	return nil
}

// waitUntil makes a timer due at a time: it waits until then, from the next block on.
func waitUntil(t *types.Timer, seconds int64, now types.Moment) {
	t.SetAside, t.DueTime, t.Due = types.Timed, seconds, now.Height+1
}

// Delay delays the first occurrence of a timer by its jitter. The timer has its id.
func (k Kinds) Delay(t *types.Timer, now types.Moment) error {
	if t.Recurrence == nil || t.Trigger.OccurrenceTerms().Jitter == 0 {
		return nil
	}
	r := resolve(t, now)
	if !r.More {
		return types.ErrExpiresTooSoon.Wrap("the life of the timer ends before its first occurrence and the delay by jitter")
	}
	setDue(t, r.Next, now)
	return nil
}

// Occurrence is what a fire of a timer delivers.
type Occurrence struct {
	// Open tells whether it may fire now: false if what has come has passed.
	Open bool
	// Over: the occurrence whose fire failed may not be retried any more.
	Over bool
	// At is its instant, in seconds or as a height, and Index its number from 1 on; 0 if the trigger has no occurrences.
	At, Index uint64
	// Until is the last instant at which it may fire, retries included; 0 if nothing bounds it but the life of the timer.
	Until uint64
	// Passed are occurrences that may fire no more, all before At.
	Passed schedule.Passed[uint64]
}

// BoundsRetry reports whether an occurrence can't be retried at a moment any more.
func (o Occurrence) BoundsRetry(t *types.Timer, at types.Moment) bool {
	switch {
	case o.Until == 0:
		return false
	case t.Trigger.Calendar != nil:
		return uint64(at.Time) > o.Until
	default:
		return at.Height > o.Until
	}
}

// Occurrence returns what a fire of a ready timer delivers now.
func (k Kinds) Occurrence(t *types.Timer, now types.Moment) Occurrence {
	switch {
	case t.Trigger.Time != nil:
		return Occurrence{Open: true, At: uint64(t.Trigger.Time.Unix()), Index: 1}
	case t.Recurrence == nil:
		return Occurrence{Open: true}
	}
	r := resolve(t, now)
	over := t.Retries > 0 && !(r.Open && r.Fire.At == t.Recurrence.Trying)
	return Occurrence{Open: r.Open && !over, Over: over, At: r.Fire.At, Index: t.Recurrence.Deliveries + 1, Until: r.Until, Passed: r.Passed}
}

// Pass makes a timer due at its next occurrence: after those that may not fire any more, or after the one whose retries are over,
// which counts as delivered. It reports whether there is one within its life.
func (k Kinds) Pass(t *types.Timer, now types.Moment) bool {
	recurrence, lapses := *t.Recurrence, t.Retries == 0
	t.Recurrence = &recurrence
	if !lapses {
		recurrence.After, recurrence.Trying, t.Retries = recurrence.Trying, 0, 0
		recurrence.Deliveries++
		if t.Trigger.Repetitions() == 1 {
			return false
		}
		t.Trigger = countedDown(t.Trigger)
	}
	r := resolve(t, now)
	next, more := r.Next, r.More
	if r.Open {
		next, more = r.Fire, true
	}
	if lapses {
		recurrence.Lapses++
		recurrence.After = r.Passed.Last
	}
	if more {
		setDue(t, next, now)
	}
	return more
}

// deliver notes that the open occurrence is delivered, makes the timer due at the next one, and reports whether there is one.
func deliver(t *types.Timer, now types.Moment) bool {
	r := resolve(t, now)
	if !r.Open || !r.More {
		return false
	}
	t.Recurrence = &types.Recurrence{After: r.Fire.At, Deliveries: t.Recurrence.Deliveries + 1}
	setDue(t, r.Next, now)
	return true
}

// setDue makes a timer due at an occurrence: where that has come already, in the next block.
func setDue(t *types.Timer, o schedule.Occurrence[uint64], now types.Moment) {
	if t.Trigger.Calendar == nil {
		t.SetAside, t.Due = types.NotSetAside, max(o.Due, now.Height+1)
		return
	}
	waitUntil(t, int64(o.Due), now)
	if t.DueTime <= now.Time {
		t.SetAside = types.NotSetAside
	}
}

// resolve tells what a moment makes of a timer's occurrences.
func resolve(t *types.Timer, now types.Moment) schedule.Resolution[uint64] {
	stated := t.Trigger.OccurrenceTerms()
	terms := schedule.Terms[uint64]{
		Window: stated.Window, Jitter: stated.Jitter,
		Hash: func(occurrence uint64) (hash [32]byte) {
			h := sha3.NewLegacyKeccak256()
			h.Write(t.Id)
			h.Write(binary.BigEndian.AppendUint64(nil, occurrence))
			h.Sum(hash[:0])
			return hash
		},
	}
	if stated.Missed == types.MissedEach {
		terms.Missed = schedule.Each
	}
	series, clock := seriesOf(t, now)
	terms.End = clock.end
	return schedule.Resolve(series, terms, t.Recurrence.After, clock.now)
}

// clock is what a timer's occurrences are measured by: its last instant, and the present one.
type clock struct{ end, now uint64 }

// seconds are the occurrences of a calendar. Block time is never before 1970, so that heights and times have one type here.
type seconds struct{ calendar schedule.Calendar }

var _ schedule.Series[uint64] = seconds{}

func (s seconds) Next(after, horizon uint64) (uint64, bool) {
	next, ok := s.calendar.Next(signed(after), signed(horizon))
	return uint64(next), ok
}

func (s seconds) Latest(after, now uint64) (uint64, bool) {
	latest, ok := s.calendar.Latest(signed(after), signed(now))
	return uint64(latest), ok
}

func (s seconds) Count(after, to uint64) (uint64, bool) {
	return s.calendar.Count(signed(after), signed(to))
}

func signed(instant uint64) int64 { return int64(min(instant, uint64(types.MaxTime))) }
