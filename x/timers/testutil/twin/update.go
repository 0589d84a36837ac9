package twin

import (
	"reflect"
	"slices"
)

// restate copies the leaves that are named (§2, §3): one named and left empty takes its default.
func restate(s, n Spec, fields []string) (Spec, error) {
	for _, f := range fields {
		switch f {
		case "trigger":
			s.Kind, s.At, s.Every, s.First, s.Listed, s.ZoneEnd = n.Kind, n.At, n.Every, n.First, n.Listed, n.ZoneEnd
			s.Keys, s.When, s.Condition, s.Level, s.Cooldown = n.Keys, n.When, n.Condition, n.Level, n.Cooldown
		case "remaining":
			s.Remaining, s.Repeats = n.Remaining, n.Repeats
		case "missed":
			s.Missed = n.Missed
		case "window":
			s.Window = n.Window
		case "jitter":
			s.Jitter = n.Jitter
		case "on_failure":
			s.OnFailure = n.OnFailure
		case "max_failures":
			s.MaxFailures = n.MaxFailures
		case "renew":
			s.Renew = n.Renew
		case "retry":
			s.Retry = n.Retry
		case "on_unfunded":
			s.OnUnfunded = n.OnUnfunded
		case "only_if":
			s.OnlyIf = n.OnlyIf
		case "end":
			s.End, s.EndByTime = n.End, n.EndByTime
		case "other":
			s.Other = n.Other
		default:
			return s, ErrInvalid
		}
	}
	return s, nil
}

// Update is MsgUpdateTimer (§3, §8a): it replaces the leaves of the spec that fields names.
func (w *World) Update(n Spec, fields []string) error {
	if err := w.usable(); err != nil {
		return err
	}
	old, b := w.Spec, w.block()
	s, err := restate(old, n, fields)
	if err != nil {
		return err
	}
	s, err = w.checkKind(s, fields)
	if err != nil {
		return err
	}
	if err := s.check(); err != nil {
		return err
	}
	st := w.Status
	how, origin := sameTrigger, st.origin
	if slices.Contains(fields, "trigger") { // §3: the leaves that are named, and nothing else
		how, origin = w.compare(s)
	}
	if how == sameTrigger && reflect.DeepEqual(s, old) {
		return nil // what is stated as it stands changes nothing
	}
	if how == sameOccurrences {
		// A longer zone table is taken, but leaves due, what is in hand and seq.
		st.origin = origin
		rest := s
		rest.Every, rest.First, rest.Listed, rest.ZoneEnd = old.Every, old.First, old.Listed, old.ZoneEnd
		rest.Kind = old.Kind
		if reflect.DeepEqual(rest, old) {
			w.Spec, w.Status = s, st
			return nil
		}
	}
	st, events, err := w.change(s, st, how, origin)
	if err != nil {
		return err
	}
	switch st.Hold {
	case Unfunded, PricedOut, Unrunnable: // competes in the next block, late since its due
		st.Hold = None
		st.released = st.due <= s.now(b)
		st.notBefore = b.Height + 1
	case None, Paused, Suspended, Quarantined:
	}
	w.Spec = s
	if !st.inHandler && st.Left == Here {
		st = w.requeue(s, st)
	}
	w.commit(st, events...)
	w.tell(farewell(s, st)...)
	return nil
}

// checkKind: what repeats stays repeating, in its clock; a watch stays a watch; a one-shot may become anything: if its clock changes,
// `retry` is stated too, and its end is the new clock's default unless stated (§3).
func (w *World) checkKind(s Spec, fields []string) (Spec, error) {
	old := w.Spec
	switch {
	case old.Kind == Watch || s.Kind == Watch && !old.oneShot():
		if s.Kind != old.Kind {
			return s, ErrUnsupported
		}
	case old.byClock():
		if !s.byClock() {
			return s, ErrUnsupported
		}
		if s.seconds() != old.seconds() {
			return s, ErrWrongClock
		}
	case s.seconds() != old.seconds():
		if old.Retry != nil && !slices.Contains(fields, "retry") {
			return s, ErrWrongClock
		}
		if !slices.Contains(fields, "end") {
			s.End, s.EndByTime = 0, false
		}
	}
	return s, nil
}

type likeness int

const (
	sameTrigger likeness = iota
	sameOccurrences
	otherTrigger
)

// compare says whether the trigger is as it stands: a relative one as it resolves now; a calendar's by its occurrences until the end (§3).
func (w *World) compare(s Spec) (likeness, uint64) {
	old, st, b := w.Spec, w.Status, w.block()
	origin := s.resolve(b)
	heights := func(s Spec) bool { return s.Kind == Height || s.Kind == AfterBlocks }
	switch {
	case heights(s) && heights(old):
		if origin == st.origin {
			return sameTrigger, origin
		}
		return otherTrigger, origin
	case triggerOf(s, old):
		return sameTrigger, st.origin // a default first or anchor is as it was resolved
	case s.seconds() && s.nominal() && old.nominal() && w.sameUntilEnd(s, origin):
		return sameOccurrences, origin
	}
	return otherTrigger, origin
}

// triggerOf: the leaf `trigger` is the same.
func triggerOf(s, old Spec) bool {
	t, err := restate(old, s, []string{"trigger"})
	return err == nil && reflect.DeepEqual(t, old)
}

// sameUntilEnd: what is pending, and what comes until the end, is the same. Of two rules of equal distances a few occurrences tell.
func (w *World) sameUntilEnd(s Spec, origin uint64) bool {
	st, b := w.Status, w.block()
	for _, o := range w.Spec.pending(st, b) {
		if !s.has(origin, o) {
			return false
		}
	}
	x, y := max(b.Time, st.done), max(b.Time, st.done)
	for range 1000 {
		p, more := w.Spec.first(st.origin, x)
		q, others := s.first(origin, y)
		more, others = more && p <= st.End, others && q <= st.End
		if more != others || more && p != q {
			return false
		}
		if !more {
			return true
		}
		x, y = p, q
	}
	return true
}

// change works out the status under another spec. In its own handler the occurrence is over, and what comes next is decided later.
func (w *World) change(s Spec, st Status, how likeness, origin uint64) (Status, []Event, error) {
	old, b := w.Spec, w.block()
	clock := s.seconds() != old.seconds()
	var err error
	if clock || s.End != old.End || s.EndByTime != old.EndByTime {
		if st, err = stateEnd(w.Limits, s, st, b); err != nil {
			return st, nil, err
		}
	}
	var events []Event
	switch {
	case how == otherTrigger:
		if err = s.checkPast(w.Limits, b, origin, true); err != nil {
			return st, nil, err
		}
		if st, events, err = w.retrigger(s, st, origin); err != nil || st.Left != Here {
			return st, events, err
		}
	case s.Jitter != old.Jitter && !inHand(s, st, b) && s.byClock() && !st.inHandler:
		st = set(s, st, b, st.Occurrence) // a change of `jitter` counts while it waits
	}
	if s.Remaining != old.Remaining {
		// Counted from this update on, one in hand that was tried included (§8 remaining).
		st.RemainingLeft = s.Remaining
		if s.Remaining > 0 && st.counted && !st.inHandler {
			st.RemainingLeft--
		}
	}
	if st.inHandler {
		return st, events, nil
	}
	if how != sameTrigger || s.End != old.End || s.EndByTime != old.EndByTime {
		err = s.checkEnd(st, b, st.End)
	}
	return st, events, err
}

// retrigger: another trigger. Its occurrences are those after this block and after the last that is over; what is in hand stays if the
// new trigger has it too, or where of an interval `every` alone changes; else it has passed, `updated` (§3).
func (w *World) retrigger(s Spec, st Status, origin uint64) (Status, []Event, error) {
	old, b := w.Spec, w.block()
	if s.Kind == Watch && old.Kind == Watch {
		return w.rewatch(s, st), nil, nil
	}
	clock := s.seconds() != old.seconds()
	stay, events, done := w.stays(s, st, origin)
	st.done = done
	lost := st.tried && !slices.Contains(stay, st.Occurrence) && !st.inHandler
	if lost && s.Remaining == old.Remaining && s.lastOne(st) {
		st.Left = Completed // what ends the last in hand that was tried is `completed` (§8)
		return st, events, nil
	}
	now := st
	if clock {
		st.done = 0
	}
	st.origin, st.floor, st.backlog = origin, s.now(b), keep(stay)
	if st.inHandler {
		st.restated = true
		if clock {
			st.Occurrence = 0
		}
		if s.Kind == Watch {
			return watching(s, st, b), events, nil
		}
		trial := st // checked as at scheduling, by the end as it is
		trial.done = max(trial.done, trial.Occurrence)
		_, err := begin(s, trial, b)
		return st, events, err
	}
	switch {
	case len(stay) == 0:
		st.caught, st.tried = false, false
		var err error
		st, err = begin(s, st, b)
		return st, events, err
	case stay[0] != now.Occurrence:
		st = set(s, st, b, stay[0])
		st.due, st.delayed = old.delay(now, b, stay[0]), old.delay(now, b, stay[0]) // its delay stays
		st.lateFrom = st.delayed
	}
	return st, events, nil
}

// stays are those in hand that another trigger leaves: under `latest` the latest that came, under `each` all that came, if the trigger has
// them too. It tells of the others, and says up to where all is over.
func (w *World) stays(s Spec, st Status, origin uint64) (stay []uint64, events []Event, done uint64) {
	old := w.Spec
	pend, done := old.pending(st, w.block()), st.done
	if st.inHandler { // its occurrence is over
		return nil, nil, done
	}
	if n := len(pend); n > 0 && old.Missed == Latest {
		events, done = passed(pend[:n-1], ForLater, done)
		pend = pend[n-1:]
	}
	everyAlone := s.Kind == old.Kind && !s.oneShot() && !s.seconds() && s.First == old.First
	var lost []uint64
	for _, o := range pend {
		if s.seconds() == old.seconds() && (everyAlone || s.has(origin, o)) {
			stay = append(stay, o)
		} else {
			lost = append(lost, o)
		}
	}
	more, done := passed(lost, ForUpdate, done)
	if len(stay) > 0 { // those that passed between what stays are over by not being in the backlog
		done = min(done, stay[0]-1)
	}
	return stay, append(events, more...), done
}

// rewatch: other keys or another condition drop what was noticed, and `level` is looked at too; the same keep it (§8a).
func (w *World) rewatch(s Spec, st Status) Status {
	old, b := w.Spec, w.block()
	same := slices.Equal(s.Keys, old.Keys) && s.When == old.When && s.Condition == old.Condition
	switch {
	case !same && st.inHandler:
		st.watchFrom, st.look, st.lookAt = b.Height, s.When, b.Height+1
	case !same && st.tried && s.Remaining == old.Remaining && s.lastOne(st):
		st.Left = Completed // what ends the last in hand that was tried is `completed` (§8)
	case !same:
		st = watching(s, st, b)
	case s.Level != old.Level:
		st.look, st.lookAt = s.When, b.Height+1
	case st.look && s.Cooldown != old.Cooldown && st.lastTry > 0:
		st.lookAt = max(s.earliest(st), b.Height+1)
	}
	return st
}
