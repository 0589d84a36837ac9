// Package recurrence says what comes next of a timer: after a fire, after what its owner asks for, and when the block has come in
// which an occurrence may fire no more (x/timers/README.md, "1.5 Lifecycle"). It is pure: a timer and a moment in, a timer out.
//
// An occurrence is what a timer that repeats delivers once: a second of a calendar, a height of an interval. It is in hand from its
// own time on until it is over: delivered, or passed. One that was tried by a fire that failed is over when it may be tried no
// more.
package recurrence

import (
	"encoding/binary"

	"golang.org/x/crypto/sha3"

	"github.com/cosmos-timers/timers/x/timers/schedule"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Occurrence is what a fire of a timer delivers.
type Occurrence struct {
	// Open tells whether it may fire now: false if what has come has passed.
	Open bool
	// Over: the occurrence was tried, and may not be tried again.
	Over bool
	// At is its instant, in seconds or as a height, and Index its number from 1 on; 0 if the trigger has no occurrences.
	At, Index uint64
	// Passed are occurrences that may fire no more, all before At.
	Passed schedule.Passed[uint64]
	// Until is the last instant at which it may fire, where that has passed; else 0.
	Until uint64
}

// Early reports whether none has come yet, of a timer that is ready: it was exported from a chain whose clock was ahead of this one's.
func (o Occurrence) Early() bool { return !o.Open && !o.Over && o.Passed.Count == 0 }

// Of is what a fire of a ready timer delivers now.
func Of(t *types.Timer, now types.Moment) Occurrence {
	switch {
	case t.Spec.Trigger.Time != nil:
		return Occurrence{Open: true, At: uint64(t.Spec.Trigger.Time.Unix()), Index: 1}
	case t.Recurrence == nil:
		return Occurrence{Open: true}
	}
	s := seriesOf(t, now)
	if t.Tried {
		over := !s.open(t.Recurrence.Trying, s.now)
		return Occurrence{Open: !over, Over: over, At: t.Recurrence.Trying, Index: t.Deliveries}
	}
	r := s.resolve(t.Recurrence.After)
	o := Occurrence{Open: r.Open, At: r.Fire.At, Index: t.Deliveries + 1, Passed: r.Passed}
	if !r.Open && r.Passed.Count > 0 {
		o.Until = s.until(r.Passed.Last)
	}
	return o
}

// series are the occurrences of a timer, measured by its clock: the seconds of block time, or heights.
type series struct {
	schedule.Series[uint64]
	terms schedule.Terms[uint64]
	// forced is delivered whatever its window; now is the present instant.
	forced, now uint64
}

// seriesOf are the occurrences of a timer that has some.
func seriesOf(t *types.Timer, now types.Moment) series {
	stated := t.Spec.Repeat
	s := series{forced: t.Recurrence.Forced}
	s.terms = schedule.Terms[uint64]{Window: stated.GetWindow(), Jitter: stated.GetJitter(), Hash: func(occurrence uint64) (hash [32]byte) {
		h := sha3.NewLegacyKeccak256()
		h.Write(t.Id)
		h.Write(binary.BigEndian.AppendUint64(nil, occurrence))
		h.Sum(hash[:0])
		return hash
	}}
	if stated.GetMissed() == types.MissedEach {
		s.terms.Missed = schedule.Each
	}
	if len(t.Id) == 0 {
		s.terms.Jitter = 0 // It follows from the id, which a timer that is not scheduled has not.
	}
	if t.Spec.Trigger.Calendar != nil {
		s.Series, s.terms.End, s.now = seconds{t.Calendar()}, uint64(t.ExpiresTime), uint64(now.Time)
		return s
	}
	s.Series = t.Interval()
	s.terms.End, s.now = t.LastHeight(), now.Height
	return s
}

// resolve tells what the present instant makes of the occurrences after an instant.
func (s series) resolve(after uint64) schedule.Resolution[uint64] {
	if s.forced == 0 {
		return schedule.Resolve(s.Series, s.terms, after, s.now)
	}
	r := schedule.Resolution[uint64]{Open: true, Fire: schedule.Occurrence[uint64]{At: s.forced, Due: s.forced}}
	r.Next, r.More = s.following(s.forced)
	return r
}

// inHand resolves without windows: what has come is in hand until it is over.
func (s series) inHand(after uint64) schedule.Resolution[uint64] {
	s.terms.Window = 0
	return s.resolve(after)
}

// dueAt reports whether the occurrence after an instant is due at a height.
func (s series) dueAt(after, height uint64) bool {
	if _, byTime := s.Series.(seconds); byTime {
		return false
	}
	next, ok := s.Next(after, height)
	return ok && s.dueOf(next) == height
}

// following is the occurrence that comes after one that is over: the one that may fire now, or the next.
func (s series) following(at uint64) (next schedule.Occurrence[uint64], more bool) {
	r := schedule.Resolve(s.Series, s.terms, at, s.now)
	if r.Open {
		return r.Fire, true
	}
	return r.Next, r.More
}

// open reports whether an occurrence that was tried may be tried again at an instant, which is in its clock: before its window and
// the timer's life end and, where only the latest fires, before the next one comes. One that its owner had tried at once has no
// window; if another waits behind it, it has that one try.
func (s series) open(at, instant uint64) bool {
	if s.forced != 0 && s.forced != at {
		return instant <= s.now
	}
	return instant <= s.until(at)
}

// until is the last instant at which an occurrence may be tried.
func (s series) until(at uint64) uint64 {
	until := s.terms.End
	if window := s.terms.Window; window > 0 && s.forced == 0 {
		until = min(until, s.dueOf(at)+window)
	}
	if s.terms.Missed == schedule.Latest {
		if next, more := s.Next(at, s.terms.End); more && s.dueOf(next) <= s.terms.End {
			until = min(until, s.dueOf(next)-1)
		}
	}
	return until
}

// dueOf is when an occurrence is due, its delay by jitter included.
func (s series) dueOf(at uint64) uint64 { return s.terms.Due(s.Series, at) }

// setDue makes a timer due at an occurrence: where that has come already, in the next block.
func setDue(t *types.Timer, due uint64, now types.Moment) {
	if t.Spec.Trigger.Calendar == nil {
		t.HoldReason, t.Due = types.NotOnHold, max(due, now.Height+1)
		return
	}
	WaitUntil(t, int64(due), now)
}

// WaitUntil makes a timer due at a time, from the next block on: it waits until that has come.
func WaitUntil(t *types.Timer, seconds int64, now types.Moment) {
	t.HoldReason, t.DueTime, t.Due = types.Timed, seconds, now.Height+1
	if seconds <= now.Time {
		t.HoldReason = types.NotOnHold
	}
}

// toNext makes a timer due at the first occurrence that is not over, and reports whether there is one within its life.
func toNext(t *types.Timer, now types.Moment) bool {
	s := seriesOf(t, now)
	r := s.resolve(t.Recurrence.After)
	switch {
	case r.Open:
		setDue(t, r.Fire.Due, now)
	case r.More:
		setDue(t, r.Next.Due, now)
	default:
		return false
	}
	return true
}

// Delay delays the first occurrence of a timer by its jitter. The timer has its id.
func Delay(t *types.Timer, now types.Moment) error {
	if t.Recurrence == nil || t.Spec.Repeat.GetJitter() == 0 {
		return nil
	}
	if !toNext(t, now) {
		return types.ErrExpiresTooSoon.Wrap("the life of the timer ends before its first occurrence and the delay by jitter")
	}
	return nil
}

// To is a change of a timer to when another state of it is due.
func To(next *types.Timer) func(*types.Timer) error {
	return func(t *types.Timer) error {
		t.Recurrence = next.Recurrence
		t.HoldReason, t.Look, t.Due, t.DueTime, t.Since = next.HoldReason, next.Look, next.Due, next.DueTime, next.Since
		t.Retries, t.FireSeq, t.Tried, t.Deliveries = next.Retries, next.FireSeq, next.Tried, next.Deliveries
		t.Failures, t.Skips, t.Owed = next.Failures, next.Skips, next.Owed
		t.ExpiresAt, t.ExpiresTime = next.ExpiresAt, next.ExpiresTime
		t.LastOutcome = next.LastOutcome
		return nil
	}
}

// distanceOf is that of the fires of an interval that counts from its fires; false for other triggers.
func distanceOf(t *types.Trigger) (every uint64, repeats bool) {
	if t.Interval == nil || t.Interval.From == types.FromSchedule {
		return 0, false
	}
	return t.Interval.Every, true
}

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
