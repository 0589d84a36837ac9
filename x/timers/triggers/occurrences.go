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
	if err := calendar.OnFailure.CheckMaxFailures(calendar.MaxFailures); err != nil {
		return types.ErrInvalidCalendar.Wrapf("%s", err)
	}
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
	t.HoldReason, t.DueTime, t.Due = types.Timed, seconds, now.Height+1
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

// Early reports whether none has come yet, of a timer that is ready: it was exported from a chain whose clock was ahead of this one's.
func (o Occurrence) Early() bool { return !o.Open && !o.Over && o.Passed.Count == 0 }

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
// which counts as delivered. If none has come yet, it waits for the first. It reports whether there is one within its life.
func (k Kinds) Pass(t *types.Timer, now types.Moment) bool {
	retried := t.Retries > 0
	if !endRetries(t) {
		return false
	}
	recurrence := *t.Recurrence
	t.Recurrence = &recurrence
	r := resolve(t, now)
	next, more := r.Next, r.More
	if r.Open {
		next, more = r.Fire, true
	}
	if !retried && r.Passed.Count > 0 {
		recurrence.Lapses++
		recurrence.After = r.Passed.Last
	}
	if more {
		setDue(t, next, now)
	}
	return more
}

// endRetries ends those of the occurrence that is tried again, which counts as delivered. It reports whether the timer states
// further ones.
func endRetries(t *types.Timer) bool {
	if t.Retries == 0 {
		return true
	}
	t.Retries = 0
	t.Recurrence = &types.Recurrence{After: t.Recurrence.Trying, Deliveries: t.Recurrence.Deliveries + 1}
	if t.Trigger.Repetitions() == 1 {
		return false
	}
	t.Trigger = countedDown(t.Trigger)
	return true
}

// errLast is for a timer whose last repetition has failed and waits for its retry.
var errLast = types.ErrExpiresTooSoon.Wrap("its last repetition is being retried: resume it now, or cancel it")

// Resume makes a timer that was on hold due again: now, or with its next repetition. Of the occurrences that came meanwhile at most
// the latest fires, whatever its window. It returns those that pass.
func (k Kinds) Resume(t *types.Timer, at types.ResumeAt, now types.Moment) (passed schedule.Passed[uint64], err error) {
	if t.Recurrence == nil {
		return passed, resumePlain(t, at, now)
	}
	if t.Retries > 0 && at != types.ResumeNext {
		return passed, nil // What is tried again goes on.
	}
	if !endRetries(t) {
		return passed, errLast
	}
	recurrence := *t.Recurrence
	t.Recurrence = &recurrence
	series, clock := seriesOf(t, now)
	r := schedule.Resolve(series, schedule.Terms[uint64]{End: clock.end}, recurrence.After, clock.now)
	if !r.Open {
		return passed, toNext(t, now)
	}
	passed = r.Passed
	if at != types.ResumeNext {
		recurrence.Forced = r.Fire.At
		if passed.Count > 0 {
			recurrence.After = passed.Last
		}
		setDue(t, r.Fire, now)
		return passed, nil
	}
	passed = through(passed, r.Fire.At, 1)
	recurrence.After, recurrence.Forced = passed.Last, 0
	return passed, toNext(t, now)
}

// resumePlain is Resume for a timer without occurrences.
func resumePlain(t *types.Timer, at types.ResumeAt, now types.Moment) error {
	if at != types.ResumeNext || t.Trigger.Watch != nil {
		return nil
	}
	every, repeats := distanceOf(&t.Trigger)
	switch {
	case !repeats:
		return types.ErrUnsupportedTimerType.Wrap("the timer fires once, and has no next repetition: resume it now, or cancel it")
	case t.Due > now.Height:
		return nil
	case every > t.LastHeight()-now.Height:
		return types.ErrExpiresTooSoon.Wrapf("its next repetition, at height %d, lies beyond its life", now.Height+every)
	}
	t.Due, t.Retries = now.Height+every, 0
	return nil
}

// Skip lets the next occurrences of a timer pass, and returns them. One that is on hold stays so.
func (k Kinds) Skip(t *types.Timer, count uint64, now types.Moment) (passed schedule.Passed[uint64], err error) {
	hold, held := t.HoldReason, t.OnHold()
	if t.Recurrence == nil {
		every, repeats := distanceOf(&t.Trigger)
		last := t.LastHeight()
		switch {
		case !repeats:
			return passed, types.ErrUnsupportedTimerType.Wrap("only a calendar or an interval has occurrences that can be skipped")
		case t.Due > last || (last-t.Due)/every < count:
			return passed, types.ErrExpiresTooSoon.Wrapf("%d repetitions from height %d on leave none within its life", count, t.Due)
		}
		passed = schedule.Passed[uint64]{First: t.Due, Last: t.Due + every*(count-1), Count: count, Exact: true}
		t.Due, t.Retries = t.Due+every*count, 0
		return passed, nil
	}
	if !endRetries(t) {
		return passed, errLast
	}
	r := resolve(t, now)
	next, more := r.Next, r.More
	if r.Open {
		next, more = r.Fire, true
	}
	series, clock := seriesOf(t, now)
	last := next.At
	for n := uint64(1); n < count && more; n++ {
		last, more = series.Next(last, clock.end)
	}
	if !more {
		return passed, types.ErrExpiresTooSoon.Wrapf("it has not %d more occurrences within its life", count)
	}
	recurrence := *t.Recurrence
	recurrence.After, recurrence.Forced = last, 0
	t.Recurrence = &recurrence
	passed = r.Passed
	if passed.Count == 0 {
		passed = schedule.Passed[uint64]{First: next.At, Exact: true}
	}
	err = toNext(t, now)
	if held {
		t.HoldReason = hold
	}
	return through(passed, last, count), err
}

// Run makes the next occurrence of a timer due in the next block, whatever its time. It returns those that have passed before.
func (k Kinds) Run(t *types.Timer, now types.Moment) (passed schedule.Passed[uint64], err error) {
	if t.Recurrence == nil {
		if _, repeats := distanceOf(&t.Trigger); !repeats {
			return passed, types.ErrUnsupportedTimerType.Wrap("only a calendar or an interval has an occurrence that can be run before it is due")
		}
		t.Due = now.Height + 1
		return passed, nil
	}
	r := resolve(t, now)
	recurrence := *t.Recurrence
	switch {
	case r.Open:
		recurrence.Forced, passed = r.Fire.At, r.Passed
	case r.More:
		recurrence.Forced, passed = r.Next.At, r.Passed
	default:
		return passed, types.ErrExpiresTooSoon.Wrap("it has no further occurrence within its life")
	}
	if passed.Count > 0 {
		recurrence.After = passed.Last
	}
	t.Recurrence = &recurrence
	t.HoldReason, t.Due = types.NotOnHold, now.Height+1
	if t.DueTime > now.Time {
		t.DueTime = max(1, now.Time)
	}
	return passed, nil
}

// toNext makes a timer due at the first occurrence after the last that was delivered or has passed.
func toNext(t *types.Timer, now types.Moment) error {
	r := resolve(t, now)
	switch {
	case r.Open:
		setDue(t, r.Fire, now)
	case r.More:
		setDue(t, r.Next, now)
	default:
		return types.ErrExpiresTooSoon.Wrap("it has no further occurrence within its life: cancel it, or extend it first")
	}
	return nil
}

// through are occurrences that passed, and so many more up to another.
func through(passed schedule.Passed[uint64], last, more uint64) schedule.Passed[uint64] {
	if passed.Count == 0 && passed.First == 0 {
		passed.First, passed.Exact = last, true
	}
	passed.Last = last
	passed.Count += more
	return passed
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
		t.HoldReason, t.Due = types.NotOnHold, max(o.Due, now.Height+1)
		return
	}
	waitUntil(t, int64(o.Due), now)
	if t.DueTime <= now.Time {
		t.HoldReason = types.NotOnHold
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
	if len(t.Id) == 0 {
		terms.Jitter = 0 // It follows from the id, which a timer that is not scheduled has not.
	}
	series, clock := seriesOf(t, now)
	terms.End = clock.end
	forced := t.Recurrence.Forced
	if forced == 0 {
		return schedule.Resolve(series, terms, t.Recurrence.After, clock.now)
	}
	after := schedule.Resolve(series, terms, forced, clock.now)
	r := schedule.Resolution[uint64]{
		Open: true, Fire: schedule.Occurrence[uint64]{At: forced, Due: forced}, Until: clock.end, More: after.More, Next: after.Next,
	}
	if after.Open {
		r.More, r.Next = true, after.Fire
	}
	return r
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
