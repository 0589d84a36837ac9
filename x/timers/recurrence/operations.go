package recurrence

import (
	"github.com/cosmos-timers/timers/x/timers/schedule"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// This file holds what an owner asks for: to skip, to run and to resume. Each changes the timer and returns what has passed by it;
// after an error the timer may have changed and is to be dropped.

var (
	errNoneLeft = types.ErrExpiresTooSoon.Wrap("it has no further occurrence within its life: cancel it, or extend it first")
	// errLast is for a timer whose last repetition was tried.
	errLast = types.ErrExpiresTooSoon.Wrap("its last repetition has been tried: resume it now, state how many more there are to be (remaining), or cancel it")
)

// giveUp ends the occurrence in hand of a timer that was tried. It stays counted, and is no failure.
func giveUp(t *types.Timer) error {
	if !t.Tried {
		return nil
	}
	if t.Left() == 1 {
		return errLast
	}
	t.Tried, t.Retries = false, 0
	if r := t.Recurrence; r != nil {
		t.Recurrence = &types.Recurrence{After: r.Trying, Lapses: r.Lapses}
		if r.Forced != r.Trying { // Another one waits behind it.
			t.Recurrence.Forced = r.Forced
		}
	}
	return nil
}

// Skip lets the next occurrences of a timer pass. One that is on hold stays so. From is the next one, or 0 for whichever that is. Open
// is the first height at which a timer may become due.
func Skip(t *types.Timer, count, from, open uint64, now types.Moment) (passed []Passing, err error) {
	every, fromFire := distanceOf(&t.Spec.Trigger)
	if t.Recurrence == nil && !fromFire {
		return nil, types.ErrUnsupportedTimerType.Wrap("only a calendar or an interval has occurrences that can be skipped")
	}
	hold, held, tried := t.HoldReason, t.OnHold(), t.Tried
	last := lastDue(t)
	if t.Recurrence != nil && tried {
		last = t.Recurrence.Trying
	} else if t.Recurrence != nil {
		r := seriesOf(t, now).inHand(t.Recurrence.After)
		if last = r.Next.At; r.Open {
			last = r.Fire.At
		}
	}
	first := last
	if fromFire && tried {
		first = t.DueSince()
	}
	if from != 0 && from != first && (!fromFire || from != t.Due) {
		return nil, types.ErrInvalidSkip.Wrapf("from is %d, and the next occurrence is %d: look again, and state that", from, first)
	}
	if err := giveUp(t); err != nil {
		return nil, err
	}
	if fromFire {
		if !skipFrom(t, last, count, now) {
			return nil, types.ErrExpiresTooSoon.Wrapf("%d repetitions from height %d on leave none within its life", count, first)
		}
		passed = []Passing{{schedule.Passed[uint64]{First: first, Last: max(first, last+every*(count-1)), Count: count, Exact: true}, types.SkipRequested}}
	} else if passed, err = skipSeries(t, count, tried, now); err != nil {
		return nil, err
	}
	if t.Recurrence != nil && seriesOf(t, now).dueAt(t.Recurrence.After, open) {
		t.Due = open // It comes in this very block.
	}
	t.Since = 0
	if held {
		t.HoldReason = hold
	}
	return passed, nil
}

// skipFrom makes an interval that counts from its fires due so many repetitions after a height, and reports whether that is within
// its life.
func skipFrom(t *types.Timer, height, count uint64, now types.Moment) bool {
	last, every := t.LastHeight(), t.Spec.Trigger.Interval.Every
	if height > last || (last-height)/every < count {
		return false
	}
	t.Due = max(height+every*count, now.Height+1)
	return t.Due <= last
}

// skipSeries lets occurrences pass that are known in advance. Tried tells whether the first of them has been given up.
func skipSeries(t *types.Timer, count uint64, tried bool, now types.Moment) ([]Passing, error) {
	recurrence := *t.Recurrence
	t.Recurrence = &recurrence
	s := seriesOf(t, now)
	var later, asked schedule.Passed[uint64]
	if tried {
		asked = one(recurrence.After)
	}
	if asked.Count < count {
		r := s.inHand(recurrence.After)
		later = r.Passed
		next, more := r.Next, r.More
		if r.Open {
			next, more = r.Fire, true
		}
		for at := next.At; ; asked.Count++ {
			if !more {
				return nil, types.ErrExpiresTooSoon.Wrapf("it has not %d more occurrences within its life", count)
			}
			if asked.Count == 0 {
				asked = schedule.Passed[uint64]{First: at, Exact: true}
			}
			recurrence.After = at
			if asked.Count+1 == count {
				break
			}
			at, more = s.Next(at, s.terms.End)
		}
		asked.Last, asked.Count = recurrence.After, count
	}
	recurrence.Forced = 0
	if !toNext(t, now) {
		return nil, errNoneLeft
	}
	passed := make([]Passing, 0, 2)
	if later.Count > 0 {
		passed = append(passed, Passing{later, laterOr(t, types.SkipWindow)})
	}
	return append(passed, Passing{asked, types.SkipRequested}), nil
}

// Run makes the next occurrence of a timer due in the next block, whatever its time, without jitter and window.
func Run(t *types.Timer, now types.Moment) (passed []Passing, err error) {
	every, fromFire := distanceOf(&t.Spec.Trigger)
	if t.Recurrence == nil {
		if !fromFire || every == 0 {
			return nil, types.ErrUnsupportedTimerType.Wrap("only a calendar or an interval has an occurrence that can be run before it is due")
		}
		t.Due, t.Since = now.Height+1, 0
		return nil, nil
	}
	recurrence := *t.Recurrence
	t.Recurrence = &recurrence
	if t.Tried {
		if recurrence.Forced == 0 {
			recurrence.Forced = recurrence.Trying
		}
	} else {
		r := seriesOf(t, now).resolve(recurrence.After)
		switch {
		case r.Open:
			recurrence.Forced = r.Fire.At
		case r.More:
			recurrence.Forced = r.Next.At
		default:
			return nil, types.ErrExpiresTooSoon.Wrap("it has no further occurrence within its life")
		}
		if r.Passed.Count > 0 {
			recurrence.After = r.Passed.Last
			passed = []Passing{{r.Passed, laterOr(t, types.SkipWindow)}}
		}
	}
	atOnce(t, now)
	return passed, nil
}

// atOnce makes a timer due in the next block.
func atOnce(t *types.Timer, now types.Moment) {
	t.HoldReason, t.Due, t.Since = types.NotOnHold, now.Height+1, 0
	if t.DueTime > now.Time {
		t.DueTime = max(1, now.Time)
	}
}

// Resume lets a timer go on that was on hold: now, as if nothing had been late, or with its next repetition.
func Resume(t *types.Timer, at types.ResumeAt, now types.Moment) (passed []Passing, err error) {
	if t.Recurrence == nil {
		due, inHand := InHand(t, now)
		if err := resumePlain(t, at, now); err != nil || at != types.ResumeNext || !inHand {
			return nil, err
		}
		return PausedAt(due), nil
	}
	recurrence := *t.Recurrence
	t.Recurrence = &recurrence
	if at == types.ResumeNext {
		return resumeNext(t, now)
	}
	s := seriesOf(t, now)
	after := recurrence.After
	if t.Tried {
		after = recurrence.Trying
	}
	came := s.came(after)
	if recurrence.Forced > after {
		came = max(came, recurrence.Forced)
	}
	each := s.terms.Missed == schedule.Each
	switch {
	case t.Tried && (each || came == 0):
		recurrence.Forced = recurrence.Trying
		atOnce(t, now)
	case t.Tried:
		passed = s.passedBefore(told(&recurrence, after), came)
		recurrence.Forced = came
		atOnce(t, now)
	case came == 0:
		if !toNext(t, now) {
			return nil, errNoneLeft
		}
	case came > s.now: // Its owner had it run.
		atOnce(t, now)
	case each:
		first, _ := s.Next(after, came)
		recurrence.Forced = first
		setDue(t, s.dueOf(first), now)
	default:
		passed = s.passedBefore(told(&recurrence, after), came)
		if len(passed) > 0 {
			recurrence.After = passed[0].Last
		}
		recurrence.Forced = came
		setDue(t, s.dueOf(came), now)
	}
	t.Since = 0
	return passed, nil
}

// PausedAt is what a watch has noticed and is given up.
func PausedAt(due uint64) []Passing { return []Passing{{one(due), types.SkipPaused}} }

// told is the instant up to which it was told what has passed: when a timer was resumed, all before what it was to deliver.
func told(r *types.Recurrence, after uint64) uint64 {
	if r.Forced > after {
		return r.Forced - 1
	}
	return after
}

// came is the latest occurrence after an instant whose own time has come; 0 if there is none.
func (s series) came(after uint64) uint64 {
	if latest, ok := s.Latest(after, min(s.now, s.terms.End)); ok {
		return latest
	}
	return 0
}

// passedBefore are the occurrences between two, which came while the timer was on hold.
func (s series) passedBefore(after, at uint64) []Passing {
	first, ok := s.Next(after, at-1)
	if !ok {
		return nil
	}
	last, _ := s.Latest(after, at-1)
	passed := Passing{schedule.Passed[uint64]{First: first, Last: last}, types.SkipPaused}
	passed.Count, passed.Exact = s.Count(after, last)
	return []Passing{passed}
}

// resumeNext gives up what is in hand and what came.
func resumeNext(t *types.Timer, now types.Moment) (passed []Passing, err error) {
	tried, trying := t.Tried, t.Recurrence.Trying
	if err := giveUp(t); err != nil {
		return nil, err
	}
	r := t.Recurrence
	s := seriesOf(t, now)
	came, after := max(s.came(r.After), r.Forced), told(r, r.After)
	r.Forced = 0
	if tried {
		passed = []Passing{{one(trying), types.SkipPaused}}
	}
	if came > r.After {
		more := s.passedBefore(after, came+1)
		if len(more) == 0 { // It stayed from another trigger.
			more = []Passing{{one(came), types.SkipPaused}}
		}
		if tried {
			passed[0].Passed = through(passed[0].Passed, came, more[0].Count)
			passed[0].Exact = more[0].Exact
		} else {
			passed = more
		}
		r.After = came
	}
	t.Since = 0
	if !toNext(t, now) {
		return nil, errNoneLeft
	}
	return passed, nil
}

// resumePlain is Resume for a timer whose occurrences are not known in advance.
func resumePlain(t *types.Timer, at types.ResumeAt, now types.Moment) error {
	if at != types.ResumeNext {
		came := t.DueSince() <= now.Height
		if t.Spec.Trigger.ByTime() {
			came = t.DueTime <= now.Time
		}
		if t.Tried || came {
			atOnce(t, now)
		}
		return nil
	}
	every, repeats := distanceOf(&t.Spec.Trigger)
	switch {
	case t.Spec.Trigger.Watch != nil:
		return giveUp(t)
	case !repeats:
		return types.ErrUnsupportedTimerType.Wrap("the timer fires once, and has no next repetition: resume it now, or cancel it")
	case every > t.LastHeight()-now.Height:
		return types.ErrExpiresTooSoon.Wrapf("its next repetition, at height %d, lies beyond its life", now.Height+every)
	}
	if err := giveUp(t); err != nil {
		return err
	}
	t.Due, t.Since = now.Height+every, 0
	return nil
}
