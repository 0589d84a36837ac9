package recurrence

import "github.com/cosmos-timers/timers/x/timers/types"

// Upcoming are at most limit occurrences that a timer has from a moment on, the one in hand first, and whether there are more
// within its life. A timer that waits for a change has none. Each takes as long as an occurrence of a calendar.
func Upcoming(t *types.Timer, now types.Moment, limit int) (found []types.OccurrenceInfo, more bool) {
	if left := t.Left(); t.Recurs() && left > 0 && left <= uint64(limit) {
		endless := *t
		repeat := *t.Spec.Repeat
		repeat.Remaining = 0
		endless.Spec.Repeat = &repeat
		found, _ = Upcoming(&endless, now, int(left))
		return found, false
	}
	switch {
	case t.Spec.Trigger.Watch != nil:
		return nil, false
	case t.Spec.Trigger.Time != nil:
		at := uint64(t.Spec.Trigger.Time.Unix())
		return []types.OccurrenceInfo{{At: at, Due: at}}, false
	case !t.Recurs():
		return []types.OccurrenceInfo{{At: t.Due, Due: t.Due}}, false
	case t.Recurrence == nil:
		every, _ := distanceOf(&t.Spec.Trigger)
		for due := t.Due; due <= t.LastHeight(); due += every {
			if len(found) == limit {
				return found, true
			}
			found = append(found, types.OccurrenceInfo{At: due, Due: due})
			if every > t.LastHeight()-due {
				break
			}
		}
		return found, false
	}
	s, after := seriesOf(t, now), t.Recurrence.After
	if t.Tried {
		s.forced = t.Recurrence.Trying
	}
	for r := s.resolve(after); r.Open || r.More; r = s.resolve(after) {
		if len(found) == limit {
			return found, true
		}
		next := r.Next
		if r.Open {
			next = r.Fire
		}
		found = append(found, types.OccurrenceInfo{At: next.At, Due: next.Due})
		s.forced, s.now, after = 0, next.At, next.At
	}
	return found, false
}
