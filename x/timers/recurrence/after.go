package recurrence

import (
	"github.com/cosmos-timers/timers/x/timers/schedule"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Outcome is what became of a timer whose turn it was.
type Outcome uint8

const (
	// Succeeded, Failed and Guarded are those of a fire, which was paid for.
	Succeeded Outcome = iota
	Failed
	Guarded
	// ShortOfCoins is a fire that failed since its actor lacked the coins that its own messages state. Where on_unfunded is skip or
	// suspend, that says what happens then.
	ShortOfCoins
	// Lapsed: what has come may fire no more.
	Lapsed
	// LapsedFree is the same, where nobody is charged and nothing is counted.
	LapsedFree
	// Unpaid: the payer could not cover it, and on_unfunded is skip.
	Unpaid
)

// fired reports whether it is that of a fire.
func (o Outcome) fired() bool { return o <= ShortOfCoins }

// Event is what became of a timer, and of which occurrence.
type Event struct {
	Outcome    Outcome
	Occurrence Occurrence
	// Codespace and Code are those of a failure.
	Codespace string
	Code      uint32
}

// Passing are occurrences that have passed without a fire, and why.
type Passing struct {
	schedule.Passed[uint64]
	Reason types.SkipReason
}

// Next is what comes next of a timer.
type Next struct {
	// Timer is how it goes on, if it Stays.
	Timer types.Timer
	Stays bool
	// Suspended: it stays, on hold until its owner resumes it.
	Suspended bool
	// Ended is why a timer that repeats leaves, and Missing how many of the deliveries that it states will not be made.
	Ended   types.EndReason
	Missing uint64
	// Passed are occurrences that this has made pass.
	Passed []Passing
}

// After says what comes next: first the renewal, then a retry, then the next occurrence, then the end, each judged by the renewed
// end. Every way in which something is over goes through it.
func After(t *types.Timer, e Event, config *types.TimerConfig, now types.Moment) Next {
	if e.Outcome == ShortOfCoins && t.Spec.OnUnfunded != types.OnUnfundedSkip && t.Spec.OnUnfunded != types.OnUnfundedSuspend {
		e.Outcome = Failed
	}
	n := Next{Timer: *t}
	next := &n.Timer
	next.Since = 0
	if next.Recurrence != nil {
		recurrence := *next.Recurrence
		next.Recurrence = &recurrence
	}
	if e.Outcome.fired() {
		next.Renew(config, now)
		next.FireSeq++
		if e.Outcome != ShortOfCoins { // Else it restores none.
			next.Skips, next.Owed = 0, 0
		}
		if next.Recurrence != nil {
			next.Recurrence.Lapses = 0
			n.pass(e.Occurrence.Passed, laterOr(t, types.SkipWindow))
		}
	}
	failed := e.Outcome == Failed || e.Outcome == ShortOfCoins
	if (failed || e.Outcome == Succeeded) && !t.Tried {
		next.Deliveries++
	}
	if failed && retried(next, e, now) {
		n.Stays = true
		return n
	}
	if e.Outcome == ShortOfCoins && t.Spec.OnUnfunded == types.OnUnfundedSuspend {
		hold(next, e.Occurrence)
		n.Stays, n.Suspended = true, true
		return n
	}
	tried := next.Deliveries > t.Deliveries || t.Tried
	n.over(t, e, now)
	n.Stays = n.advance(tried, e, now)
	if !n.Stays {
		return n
	}
	n.count(e, failed || e.Outcome == Lapsed && e.Occurrence.Over, config)
	return n
}

// retried makes a timer due again after a fire that failed: the same occurrence, later. It reports whether that may be.
func retried(t *types.Timer, e Event, now types.Moment) bool {
	if t.Spec.Retry == nil || t.Retries >= t.Spec.Retry.Max || !t.Spec.Retry.Retries(e.Codespace, e.Code) {
		return false
	}
	distance := t.Spec.Retry.Distance(t.Retries)
	at, end := now.Height, t.LastHeight()
	if t.Spec.Trigger.ByTime() {
		at, end = uint64(now.Time), uint64(t.ExpiresTime)
	}
	if at > end || distance > end-at {
		return false
	}
	at += distance
	if t.ExpiredAt(now) || t.Recurrence != nil && !seriesOf(t, now).open(e.Occurrence.At, at) {
		return false
	}
	hold(t, e.Occurrence)
	t.Retries++
	if t.Spec.Trigger.ByTime() {
		WaitUntil(t, int64(at), now)
	} else {
		t.HoldReason, t.Due = types.NotOnHold, at
	}
	return true
}

// hold keeps an occurrence in hand that was tried.
func hold(t *types.Timer, o Occurrence) {
	t.Tried = true
	if t.Recurrence == nil {
		return
	}
	t.Recurrence.Trying = o.At
	if o.Passed.Count > 0 {
		t.Recurrence.After = o.Passed.Last // What has passed is told once.
	}
}

// over ends the occurrence in hand, and says what has passed with it.
func (n *Next) over(t *types.Timer, e Event, now types.Moment) {
	next, r := &n.Timer, n.Timer.Recurrence
	next.Tried, next.Retries = false, 0
	if r == nil {
		if e.Outcome == Unpaid || e.Outcome == ShortOfCoins {
			n.pass(one(lastDue(t)), types.SkipUnfunded)
		}
		return
	}
	o, trying := e.Occurrence, r.Trying
	r.Trying = 0
	switch {
	case e.Outcome.fired():
		r.After = o.At
		if e.Outcome == ShortOfCoins {
			n.pass(one(o.At), types.SkipUnfunded)
		}
	case t.Tried:
		reason := types.SkipRetry
		if e.Outcome == Unpaid {
			reason = types.SkipUnfunded
		}
		r.After = trying
		n.pass(one(trying), reason)
	case e.Outcome == Unpaid && o.Open:
		r.After = o.At
		n.pass(through(o.Passed, o.At, 1), types.SkipUnfunded)
	case e.Outcome == Unpaid:
		r.After = o.Passed.Last
		n.pass(o.Passed, types.SkipUnfunded)
	case o.Passed.Count > 0:
		r.After = o.Passed.Last
		n.pass(o.Passed, types.SkipWindow)
	}
	if r.Forced != 0 && r.Forced <= r.After {
		r.Forced = 0
	}
}

// laterOr is why occurrences before the one that fires have passed.
func laterOr(t *types.Timer, reason types.SkipReason) types.SkipReason {
	if t.Spec.Repeat.GetMissed() != types.MissedEach {
		return types.SkipLater
	}
	return reason
}

// advance makes the timer due at what comes next, and reports whether there is something. Tried tells whether what is over was.
func (n *Next) advance(tried bool, e Event, now types.Moment) bool {
	t := &n.Timer
	if !t.Recurs() {
		return false
	}
	left := t.Left()
	if tried && left == 0 && t.Spec.Repetitions() > 0 {
		n.Ended = types.EndCompleted
		return false
	}
	more := !t.ExpiredAt(now) && n.nextOf(e, now)
	stops := e.Outcome == Failed || e.Outcome == Lapsed && e.Occurrence.Over
	switch {
	case !more && t.EndsWithZone():
		n.Ended = types.EndZone
	case !more:
		n.Ended = types.EndOfLife
	case stops && t.Spec.Repeat.GetOnFailure() == types.OnFailureStop:
		n.Ended = types.EndFailed
	default:
		return true
	}
	n.Missing = left
	return false
}

// nextOf makes a timer that repeats due again, and reports whether it is within its life.
func (n *Next) nextOf(e Event, now types.Moment) bool {
	t := &n.Timer
	if t.Spec.Trigger.Watch != nil {
		distance := max(1, t.Spec.Trigger.Watch.Cooldown)
		t.Watch(now.Height+distance, t.Spec.Trigger.Watch.Level)
		return distance <= t.LastHeight()-now.Height
	}
	every, fromFire := distanceOf(&t.Spec.Trigger)
	if !fromFire {
		n.settle(now)
		return toNext(t, now)
	}
	t.HoldReason = types.NotOnHold
	if last := t.LastHeight(); e.Outcome.fired() {
		t.Due = now.Height + every
		return every <= last-now.Height
	}
	return skipFrom(t, lastDue(t), 1, now)
}

// settle lets pass what may fire no more by now, and was never ready: nobody is charged for it.
func (n *Next) settle(now types.Moment) {
	t := &n.Timer
	s := seriesOf(t, now)
	if r := s.resolve(t.Recurrence.After); r.Passed.Count > 0 && (!r.Open || s.terms.Missed == schedule.Each) {
		t.Recurrence.After = r.Passed.Last
		n.pass(r.Passed, types.SkipWindow)
	}
}

// count counts failures and passings in a row, and suspends the timer after too many.
func (n *Next) count(e Event, failed bool, config *types.TimerConfig) {
	t := &n.Timer
	most := config.MaxUnfundedSkips
	switch {
	case e.Outcome == ShortOfCoins, e.Outcome == Unpaid:
		t.Skips++
		if e.Outcome == Unpaid {
			t.Owed++
		}
		n.Suspended = t.Skips >= most
	case failed:
		t.Failures++
		limit := t.Spec.Repeat.SuspendsAfter()
		n.Suspended = limit > 0 && t.Failures >= limit
	case e.Outcome == Lapsed && t.Recurrence != nil && !e.Occurrence.Early():
		t.Recurrence.Lapses++
		if n.Suspended = t.Recurrence.Lapses >= most; n.Suspended {
			t.Recurrence.Lapses = 0
		}
	case e.Outcome == Succeeded:
		t.Failures = 0
	}
}

// pass notes occurrences that have passed.
func (n *Next) pass(passed schedule.Passed[uint64], reason types.SkipReason) {
	if passed.Count > 0 {
		n.Passed = append(n.Passed, Passing{passed, reason})
	}
}

// one is a single occurrence that passes.
func one(at uint64) schedule.Passed[uint64] {
	return schedule.Passed[uint64]{First: at, Last: at, Count: 1, Exact: true}
}

// through are occurrences that passed, and so many more up to another.
func through(passed schedule.Passed[uint64], last, more uint64) schedule.Passed[uint64] {
	if passed.Count == 0 {
		passed = schedule.Passed[uint64]{First: last, Exact: true}
	}
	passed.Last = last
	passed.Count += more
	return passed
}

// lastDue is the height from which an interval that counts from its fires counts: that of the last try of the one in hand, or that
// at which it became due.
func lastDue(t *types.Timer) uint64 {
	if t.Tried && t.LastOutcome != nil {
		return t.LastOutcome.Height
	}
	return t.DueSince()
}
