package twin

import "slices"

// How an occurrence came to be over, or a try.
type How int

// Delivered: a try ended. Dropped: its retry was, while it was ready or on hold. Passed: lapsed, or given up for want of funds.
const (
	Delivered How = iota
	Dropped
	Passed
)

// Over is what After is told: the outcome of a try, or which occurrences passed and why.
type Over struct {
	How     How
	Outcome Outcome
	// Lacking: failed for want of the coins that its messages state, and on_unfunded decides after the retries (§5).
	Lacking bool
	// Below: guarded, because an amount was below its min: a one-shot is retried as `retry` says (§9).
	Below bool
	// Through is the last that passed, Count how many; Counts: it counts in its row (skips by want of funds, lapses otherwise).
	Through, Count  uint64
	Reason          string
	Counts, Charged bool
}

// After is what comes next, one pure function of spec, status, the outcome and the block (§8): first the renewal, then a retry, then the
// next occurrence, then the end, each judged by the renewed end.
func After(l Limits, s Spec, st Status, o Over, b Block) (Status, []Event) {
	if o.How == Delivered && s.Renew && s.repeats() {
		st = renew(l, s, st, b)
	}
	failed := o.How == Dropped || o.How == Delivered && o.Outcome.Kind == Failure
	if o.How == Delivered && (failed || o.Below && s.oneShot()) {
		if due, ok := retry(s, st, b, o); ok {
			st.Retries++
			st.due, st.lateFrom, st.notBefore, st.lacking, st.entered, st.fresh = due, due, 0, o.Lacking, false, false
			return show(s, st, b), nil
		}
	}
	if o.Lacking && s.OnUnfunded == UnfundedSuspend {
		// §5: kept in hand, `failures` stays.
		st.lacking, st.released = true, false
		st.Hold = Suspended
		return show(s, st, b), []Event{{Kind: HeldEvent, Reason: string(Suspended)}}
	}
	if o.Lacking && s.OnUnfunded == UnfundedSkip {
		// §5: given up as `unfunded`, counted among its eight.
		o = Over{How: Passed, Through: st.Occurrence, Count: 1, Reason: ForFunds, Counts: true}
		failed = false
	}
	events := tell(st, o)
	st = reckon(st, o, failed)
	st.done = max(st.done, st.Occurrence)
	var more []Event
	switch {
	case s.oneShot():
		st = afterOneShot(s, st, o, failed, b)
	case s.Kind == Watch:
		st = afterWatch(s, st, o, failed, b)
	default:
		st, more = afterClock(s, st, failed, b)
	}
	events = append(events, more...)
	st.skipNext, st.restated = 0, false
	if st.Left == Here && suspends(l, s, st, o, failed) {
		st.Hold = Suspended
		events = append(events, Event{Kind: HeldEvent, Reason: string(Suspended)})
	}
	return show(s, st, b), append(events, farewell(s, st)...)
}

// tell is the event of an occurrence that is over without a try.
func tell(st Status, o Over) []Event {
	e := Event{Kind: SkippedEvent, First: st.Occurrence, Last: st.Occurrence, Count: 1}
	switch o.How {
	case Delivered:
		return nil
	case Dropped:
		e.Reason = ForTheRetry
	case Passed:
		e.Last, e.Count, e.Reason, e.Charged = o.Through, o.Count, o.Reason, o.Charged
	}
	return []Event{e}
}

// reckon counts what is over in its row: failures, of which a success ends the row and a guard does not; skips for want of funds; lapses.
func reckon(st Status, o Over, failed bool) Status {
	switch {
	case failed:
		st.Failures++
	case o.How == Delivered && o.Outcome.Kind == Success:
		st.Failures = 0
	case o.How == Passed && o.Counts && o.Reason == ForFunds:
		st.Skips++
	case o.How == Passed && o.Counts:
		st.Lapses++
	}
	if o.How == Passed {
		st.done = max(st.done, o.Through)
	}
	return st
}

// renew: each delivery that was paid for gives the life again that the last statement of the end gave, within today's maxima, up to the
// last transition of a zone; it never brings an end forward (§2 renew, §3).
func renew(l Limits, s Spec, st Status, b Block) Status {
	end := min(s.endNow(st, b)+st.Life, s.mostEnd(l, b, st.endByTime))
	cut := s.ZoneEnd > 0 && end > s.ZoneEnd
	if cut {
		end = s.ZoneEnd
	}
	if end >= st.End {
		st.End, st.cut = end, cut
	}
	return st
}

// retry: when the failed try is due again (§8 retry), all decided at the failure, in the trigger's clock.
func retry(s Spec, st Status, b Block, o Over) (uint64, bool) {
	r := s.Retry
	if r == nil || st.Retries >= r.Max || len(r.On) > 0 && !o.Below && !slices.Contains(r.On, o.Outcome.Code) {
		return 0, false
	}
	wait := r.After
	for range st.Retries {
		wait *= uint64(max(1, r.Backoff))
	}
	due := s.now(b) + wait
	// One due at the end is made; of a watch that ends by time nothing is judged beforehand.
	if due > st.End && (s.Kind != Watch || !st.endByTime) {
		return 0, false
	}
	if !s.nominal() {
		return due, true
	}
	if !st.taken && s.Window > 0 && due > st.delayed+s.Window {
		return 0, false
	}
	if s.Missed == Latest {
		if next, ok := s.follow(st, max(st.Occurrence, st.done)); ok && due >= s.delay(st, b, next) {
			return 0, false
		}
	}
	return due, true
}

// afterOneShot: it leaves, unless its own handler stated another trigger (§8a).
func afterOneShot(s Spec, st Status, o Over, failed bool, b Block) Status {
	if st.restated && st.origin > s.now(b) {
		return set(s, st, b, st.origin)
	}
	switch {
	case failed:
		st.Left = Failed
	case o.Outcome.Kind == Guarded:
		st.Left = GuardedEnd
	default:
		st.Left = Fired
	}
	return st
}

// afterWatch: a watch goes back to watching (§8 watch, only_if); one of `remaining` times is `completed`; one that ends by height and
// can't be due again by then ends too.
func afterWatch(s Spec, st Status, o Over, failed bool, b Block) Status {
	st = set(s, st, b, 0)
	st.caught = false
	guarded := o.How == Delivered && o.Outcome.Kind == Guarded
	switch {
	case st.restated: // it became one in its own handler
	case !s.repeats() && failed:
		st.Left = Failed
	case !s.repeats() && !guarded:
		st.Left = Fired
	case s.lastOne(st):
		st.Left = Completed
	case s.repeats() && !st.endByTime && s.earliest(st) > st.End:
		st.Left = EndOfLife
	case failed && s.OnFailure == Stop:
		st.Left = Failed
	case failed && s.OnFailure == Suspend && st.Failures >= max(1, s.MaxFailures):
		st.refire = true // §8a: it fires again when resumed `now`
	case s.Level:
		st.look, st.lookAt = true, max(st.lookAt, s.earliest(st))
	}
	return st
}

// afterClock: the next occurrence, else the end and why, in this order where several hold: completed, zone_ended, end_of_life, failed.
func afterClock(s Spec, st Status, failed bool, b Block) (Status, []Event) {
	if s.lastOne(st) {
		st.Left = Completed
		return st, nil
	}
	st, events, ok := advance(s, st, b)
	if ok && st.skipNext > 0 { // what its own handler skipped comes off what comes next
		var more []Event
		st, more, ok = skip(s, st, b, st.skipNext)
		events = append(events, more...)
	}
	switch {
	case !ok && st.cut:
		st.Left = ZoneEnded
	case !ok:
		st.Left = EndOfLife
	case failed && s.OnFailure == Stop:
		st.Left = Failed
	}
	return st, events
}

// suspends: after max_failures failed occurrences in a row, or MAX_UNFUNDED_SKIPS skips or lapses in a row (§8).
func suspends(l Limits, s Spec, st Status, o Over, failed bool) bool {
	if failed {
		return s.repeats() && s.OnFailure == Suspend && st.Failures >= max(1, s.MaxFailures)
	}
	if o.How != Passed || !o.Counts {
		return false
	}
	if o.Reason == ForFunds {
		return st.Skips >= l.MaxUnfundedSkips
	}
	return st.Lapses >= l.MaxUnfundedSkips
}

// advance makes the next occurrence the one that it waits for, or has in hand: under `latest` the latest that came, under `each` the oldest
// whose window is open; what is older has passed, in one step. It says no if none is left within life.
func advance(s Spec, st Status, b Block) (Status, []Event, bool) {
	if s.Kind == IntervalFire {
		// §8 from: fire: due again at fired_height + every.
		next := max(b.Height+s.Every, st.done+1)
		if st.restated {
			next = fireAfterUpdate(s, st, b)
		}
		return set(s, st, b, next), nil, next <= st.End
	}
	came := s.came(st, b, st.done)
	var events []Event
	open := func(o uint64) bool { return o == st.openNext || !s.over(b, s.delay(st, b, o)) }
	target, found := uint64(0), false
	switch s.Missed {
	case Latest:
		if n := len(came); n > 0 && open(came[n-1]) {
			target, found = came[n-1], true
			events, st.done = passed(came[:n-1], ForLater, st.done)
		}
	case Each:
		if i := slices.IndexFunc(came, open); i >= 0 {
			target, found = came[i], true
			events, st.done = passed(came[:i], ForWindow, st.done)
		}
	}
	if !found {
		events, st.done = passed(came, ForWindow, st.done)
		target, found = s.follow(st, st.done)
	}
	if !found || target > st.End {
		return st, events, false
	}
	return set(s, st, b, target), events, true
}

// passed tells in one event what passed, and what is over now.
func passed(list []uint64, reason string, done uint64) ([]Event, uint64) {
	if len(list) == 0 {
		return nil, done
	}
	last := list[len(list)-1]
	return []Event{{Kind: SkippedEvent, First: list[0], Last: last, Count: uint64(len(list)), Reason: reason}}, max(done, last)
}

// skip passes `count` occurrences from the status's own on (§3 MsgSkipTimer). It says no if none is left within life.
func skip(s Spec, st Status, b Block, count uint64) (Status, []Event, bool) {
	e := Event{Kind: SkippedEvent, First: st.Occurrence, Last: st.Occurrence, Count: count, Reason: ForRequest}
	if s.Kind == IntervalFire {
		// §3, §8a: due `every × count` later than its due, or its last try.
		from := st.due
		if st.tried {
			from = st.lastTry
		}
		next := max(from+s.Every*count, b.Height+1, st.Occurrence+1)
		e.Last = st.Occurrence + s.Every*(count-1)
		return set(s, st, b, next), []Event{e}, next <= st.End
	}
	for range count - 1 {
		next, ok := s.follow(st, max(e.Last, st.done))
		if !ok || next > st.End {
			return st, nil, false
		}
		e.Last = next
	}
	st.done = max(st.done, e.Last)
	st, events, ok := advance(s, st, b)
	return st, append([]Event{e}, events...), ok
}

// set makes o the occurrence that it waits for or has in hand, untried, due at its delayed due.
func set(s Spec, st Status, b Block, o uint64) Status {
	st.Occurrence, st.Retries = o, 0
	st.delayed = s.delay(st, b, o)
	st.due, st.lateFrom = st.delayed, st.delayed
	st.notBefore, st.seen = 0, 0
	st.taken = st.openNext != 0 && o == st.openNext
	st.openNext = 0
	st.counted = false
	st.tried, st.pinned, st.entered, st.fresh, st.released, st.lacking = false, false, false, false, false, false
	st.Due = 0
	return st
}

// fireAfterUpdate: an interval `from: fire` whose `first` has passed is due `every` after its last try, else in the next block (§3).
func fireAfterUpdate(s Spec, st Status, b Block) uint64 {
	next := b.Height + 1
	switch {
	case st.origin > b.Height:
		next = st.origin
	case st.lastTry > 0:
		next = max(next, st.lastTry+s.Every)
	}
	return max(next, st.done+1)
}

// earliest is the first height at which a watch may be due again: `cooldown` after its last delivery, and one fire a block at most.
func (s Spec) earliest(st Status) uint64 {
	if st.lastTry == 0 {
		return 0
	}
	return st.lastTry + max(1, s.Cooldown)
}

// farewell is the event of a timer that leaves: nothing ends in silence.
func farewell(s Spec, st Status) []Event {
	if st.Left == Here {
		return nil
	}
	e := Event{Kind: LeftEvent, Ended: st.Left}
	if st.Left == EndOfLife && s.Remaining > 0 {
		e.Missing = st.RemainingLeft
	}
	return []Event{e}
}

// show keeps what is shown of a status in step with the rest.
func show(s Spec, st Status, b Block) Status {
	if st.Left != Here {
		st.Gone, st.Hold, st.InHand = true, None, false
		return st
	}
	st.InHand = inHand(s, st, b)
	switch {
	case s.Kind == Watch && !st.caught:
		st.Due, st.DueTime, st.due, st.Occurrence = 0, 0, 0, 0
	case s.seconds():
		st.DueTime = st.due
		if !st.entered && !st.fresh {
			st.Due = 0
		}
	default:
		st.Due, st.DueTime = st.due, 0
	}
	return st
}
