package recurrence

import (
	"slices"

	"github.com/cosmos-timers/timers/x/timers/schedule"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// This file gives timers another trigger.

// Same reports whether another trigger makes a timer due when the present one does, until its end: what is stated as it stands
// changes nothing. After states a height anew each time.
func Same(before, after *types.Timer, now types.Moment) bool {
	a, b := &before.Spec.Trigger, &after.Spec.Trigger
	switch {
	case a.Calendar != nil && b.Calendar != nil:
		return sameCalendar(anchored(before), anchored(after), now.Time, before.ExpiresTime)
	case a.Interval != nil && b.Interval != nil:
		return sameSeries(before, after)
	case a.After > 0 && b.After > 0:
		return !before.Tried && before.DueSince() == after.Due
	case a.Time != nil && b.Time != nil:
		return a.Time.Equal(*b.Time)
	case a.Time != nil || b.Time != nil:
		return false
	default:
		return a.Equal(*b)
	}
}

// anchored is a calendar with the anchor that its record keeps.
func anchored(t *types.Timer) types.CalendarTrigger {
	calendar := *t.Spec.Trigger.Calendar
	if calendar.Every != nil && calendar.Every.Anchor == 0 {
		calendar.Every = &types.EveryRule{Seconds: calendar.Every.Seconds, Anchor: int64(t.Start)}
	}
	return calendar
}

// Begin says where a trigger begins that leaves it open, of a timer that has another one: where that does, if it is of the same kind.
func Begin(before, next *types.Timer) {
	switch a, b := &before.Spec.Trigger, &next.Spec.Trigger; {
	case next.Start == 0:
	case a.Interval != nil && b.Interval != nil:
		next.Start = before.Interval().First
		next.Due = next.Start
	case a.Calendar != nil && a.Calendar.Every != nil && b.Calendar != nil:
		next.Start = uint64(anchored(before).Every.Anchor)
	}
}

// sameCalendar compares what calendars state, but their transitions as they take effect between now and an end.
func sameCalendar(a, b types.CalendarTrigger, now, end int64) bool {
	from, changes := effective(&a, now, end)
	to, others := effective(&b, now, end)
	if a.Cron != nil && (from != to || !slices.Equal(changes, others)) {
		return false
	}
	for _, c := range []*types.CalendarTrigger{&a, &b} {
		c.OffsetMinutes, c.Transitions, c.OffsetFinal = 0, nil, false
	}
	return a.Equal(b)
}

// effective are the offset at an instant, and its changes until an end.
func effective(c *types.CalendarTrigger, now, end int64) (offset int32, changes []types.OffsetTransition) {
	offset = c.OffsetMinutes
	at := offset
	for _, t := range c.Transitions {
		switch {
		case t.From <= now:
			offset = t.OffsetMinutes
		case t.From <= end && t.OffsetMinutes != at:
			changes = append(changes, t)
		}
		at = t.OffsetMinutes
	}
	return offset, changes
}

// Replace says when a timer is due by another trigger, whose occurrences are those after this block and after the last that is
// over. Next has the trigger, and what scheduling makes of it. What is in hand stays if the trigger has it too, or if of an
// interval the distance alone changes; else it has passed.
func Replace(before, next *types.Timer, now types.Moment) (passed []Passing, err error) {
	at, inHand := InHand(before, now)
	same := sameSeries(before, next)
	if same || inHand && keeps(before, next, at) {
		next.Due, next.DueTime, next.Since = before.Due, before.DueTime, before.Since
		next.HoldReason, next.Tried, next.Retries = before.HoldReason, before.Tried, before.Retries
		if !same && (before.Recurrence != nil || next.Recurrence != nil) {
			return keepInHand(before, next, at, now), nil
		}
		if next.Recurrence == nil {
			return nil, nil
		}
		recurrence := *before.Recurrence
		next.Recurrence = &recurrence
		if jitters := before.Spec.Repeat.GetJitter() != next.Spec.Repeat.GetJitter(); jitters && !inHand && !toNext(next, now) {
			return nil, errNoneLeft
		}
		return passed, nil
	}
	counted := before.Spec.Repeat.GetRemaining()
	if before.Tried && counted > 0 && counted == next.Spec.Repeat.GetRemaining() && before.Left() == 1 {
		return nil, errLast // Given up, it would be over.
	}
	next.Tried, next.Retries, next.Since = false, 0, 0
	if inHand {
		passed = []Passing{{one(at), types.SkipUpdated}}
	}
	r := before.Recurrence
	if r != nil {
		passed = cameBefore(before, at, inHand, now)
	}
	every, fromFire := distanceOf(&next.Spec.Trigger)
	switch {
	case next.Recurrence != nil:
		if r != nil {
			next.Recurrence.After = max(next.Recurrence.After, r.After, r.Trying, r.Forced)
			next.Recurrence.Lapses = r.Lapses
		}
		if !toNext(next, now) {
			return nil, errNoneLeft
		}
	case fromFire && next.Interval().First <= now.Height:
		next.Due = now.Height + 1
		if before.FireSeq > 0 && before.Recurs() {
			next.Due = max(next.Due, lastTry(before, now)+every)
		}
	}
	if fromFire && r != nil {
		next.Due = max(next.Due, max(r.After, r.Trying, r.Forced)+1)
	}
	return passed, nil
}

// lastTry is the height at which a timer that repeats by heights fired last. Within its own handler it is not recorded yet.
func lastTry(t *types.Timer, now types.Moment) (height uint64) {
	if t.LastOutcome != nil {
		height = t.LastOutcome.Height
	}
	if every, fromFire := distanceOf(&t.Spec.Trigger); fromFire && t.Since == 0 && t.Due == now.Height+every {
		height = now.Height
	}
	return height
}

// InHand is the occurrence that a timer has in hand, whose own time has come: an instant of its clock.
func InHand(t *types.Timer, now types.Moment) (at uint64, inHand bool) {
	r := t.Recurrence
	switch {
	case t.Spec.Trigger.Watch != nil:
		return 0, false
	case r == nil && t.Spec.Trigger.ByTime():
		return uint64(t.DueTime), t.Tried || t.DueTime <= now.Time
	case r == nil:
		return t.DueSince(), t.Tried || t.DueSince() <= now.Height
	case t.Tried:
		return r.Trying, true
	case r.Forced > 0:
		return r.Forced, true
	}
	s := seriesOf(t, now)
	if resolved := s.resolve(r.After); resolved.Open {
		return resolved.Fire.At, true
	}
	at = s.came(r.After)
	return at, at > 0 && s.dueOf(at) > s.now
}

// keeps reports whether another trigger has an occurrence too.
func keeps(before, next *types.Timer, at uint64) bool {
	a, b := before.Spec.Trigger.Interval, next.Spec.Trigger.Interval
	if a != nil && b != nil && a.From == b.From && before.Interval().First == next.Interval().First {
		return true
	}
	if at == 0 || before.Tried && before.Recurrence == nil || before.Spec.Trigger.ByTime() != next.Spec.Trigger.ByTime() {
		return false
	}
	if next.Recurrence == nil {
		return b != nil && next.Interval().First == at
	}
	found, ok := seriesOf(next, types.Moment{}).Next(at-1, at)
	return ok && found == at
}

// keepInHand keeps an occurrence in hand under another trigger, which may have other ones that have come: they are not its own. Where
// only the latest fires, those before it have passed.
func keepInHand(before, next *types.Timer, at uint64, now types.Moment) (passed []Passing) {
	recurrence := types.Recurrence{After: at - 1} // One that was to fire once had no other.
	if before.Recurrence != nil {
		recurrence = *before.Recurrence
	}
	if next.Recurrence != nil {
		next.Recurrence = &recurrence
	}
	if before.Tried || recurrence.Forced != 0 {
		return nil
	}
	if before.Recurrence != nil && before.Spec.Repeat.GetMissed() != types.MissedEach { // Of each it is the oldest.
		passed = seriesOf(before, now).passedBefore(recurrence.After, at)
		for i := range passed {
			passed[i].Reason = types.SkipLater
		}
	}
	recurrence.After = at - 1
	if next.Recurrence == nil {
		return passed
	}
	if s := seriesOf(next, now); s.came(recurrence.After) != at {
		recurrence.Forced = at
	}
	return passed
}

// sameSeries reports whether the triggers of two timers have the same occurrences.
func sameSeries(before, next *types.Timer) bool {
	a, b := &before.Spec.Trigger, &next.Spec.Trigger
	if a.Interval != nil && b.Interval != nil {
		return before.Interval() == next.Interval() && (a.Interval.From == types.FromSchedule) == (b.Interval.From == types.FromSchedule)
	}
	if a.Calendar == nil || b.Calendar == nil {
		return false
	}
	calendar := anchored(before)
	return calendar.Equal(anchored(next))
}

// cameBefore are the occurrences that have come of a timer, up to the one in hand.
func cameBefore(t *types.Timer, at uint64, inHand bool, now types.Moment) (passed []Passing) {
	s, after := seriesOf(t, now), t.Recurrence.After
	if t.Tried {
		after = max(after, at)
	}
	after = told(t.Recurrence, after)
	last := s.came(after)
	came := last
	if inHand {
		last = max(last, at)
	}
	latest := s.terms.Missed == schedule.Latest
	switch {
	case last <= after:
	case !latest:
		passed = s.passedBefore(after, last+1)
	case last > s.now: // Its owner had it run.
		passed = s.passedBefore(after, max(came, after)+1)
	default:
		passed = s.passedBefore(after, last)
	}
	if t.Tried && (last > at || !latest) { // It was given up before those.
		if len(passed) == 0 {
			passed = []Passing{{Passed: one(at)}}
		} else {
			passed[0].First, passed[0].Count = at, passed[0].Count+1
		}
	}
	for i := range passed {
		if passed[i].Reason = types.SkipUpdated; latest {
			passed[i].Reason = types.SkipLater
		}
	}
	if latest && last > t.Recurrence.After {
		passed = append(passed, Passing{one(last), types.SkipUpdated})
	}
	return passed
}
