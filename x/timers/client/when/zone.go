package when

import (
	"fmt"
	"slices"
	"time"
	// A text means the same on a machine without files of time zones.
	_ "time/tzdata"

	"github.com/cosmos-timers/timers/x/timers/schedule"
)

// Cover is how far Compile looks for changes of the offset by default: 396 days, the longest life that a timer with a
// calendar has unless the chain's parameters say otherwise. One that is renewed lives longer.
const Cover = 396 * 24 * time.Hour

// before is how far before now Compile begins, so that minutes which clocks have just shown do not count again, and the
// block's time may be behind the machine's.
const before = 24 * time.Hour

// Zone is the time zone of a name of the IANA database, such as Europe/Berlin, or UTC.
func Zone(name string) (*time.Location, error) {
	zone, err := time.LoadLocation(name)
	// The library takes these two for zones as well: that of a machine means another thing on the next one.
	if err != nil || name == "" || name == "Local" {
		return nil, fmt.Errorf("%.80q is no time zone: want a name such as Europe/Berlin, or UTC", name)
	}
	return zone, nil
}

// Compile is a calendar without a rule that has the offset of a zone, and its transitions from now on until an instant:
// until now and Cover if that is zero. It stops earlier at the largest number of transitions, which are eight years of
// summer and winter time. The plan says until when it is right.
func Compile(zone *time.Location, now, until time.Time) (Plan, error) {
	if until.IsZero() {
		until = now.Add(Cover)
	}
	if end := time.Unix(schedule.MaxTime, 0); until.After(end) {
		until = end
	}
	at := now.Add(-before)
	offset, err := offsetOf(zone, at)
	plan := Plan{Calendar: schedule.Calendar{OffsetMinutes: offset}}
	for err == nil && at.Unix() <= schedule.MaxTime {
		next := boundAfter(zone, at)
		if next.IsZero() {
			break
		}
		last := offset
		offset, err = offsetOf(zone, next)
		switch {
		case err != nil || offset == last:
			// What is called by another name has not changed.
		case next.After(until) || len(plan.Calendar.Transitions) == schedule.MaxTransitions:
			plan.Until = next
			return plan, nil
		default:
			plan.Calendar.Transitions = append(plan.Calendar.Transitions, schedule.Transition{From: next.Unix(), OffsetMinutes: offset})
		}
		at = next
	}
	return plan, err
}

// boundAfter is the first instant after another at which something of a zone may change; zero if nothing does.
func boundAfter(zone *time.Location, at time.Time) time.Time {
	_, bound := at.In(zone).ZoneBounds()
	if !bound.IsZero() && !bound.After(at) {
		// Beyond the table of a zone the library takes a leap year for a day shorter than it is, and stays there.
		return at.AddDate(0, 0, 1)
	}
	return bound
}

// offsetOf is the offset of a zone in minutes. Those with seconds are history.
func offsetOf(zone *time.Location, at time.Time) (int32, error) {
	_, seconds := at.In(zone).Zone()
	if seconds%60 != 0 {
		return 0, fmt.Errorf("time zone %s is %d seconds from UTC at %s: want whole minutes", zone, seconds, at.UTC().Format(time.DateOnly))
	}
	return int32(seconds / 60), nil
}

// Keeps tells whether the clocks of a zone are those of a calendar, from a time on until the last change of its offset, or until
// an instant where that is later: then the calendar's times are those of that zone.
func Keeps(c schedule.Calendar, zone *time.Location, from, until time.Time) bool {
	if n := len(c.Transitions); n > 0 && time.Unix(c.Transitions[n-1].From, 0).After(until) {
		until = time.Unix(c.Transitions[n-1].From, 0)
	}
	plan, err := Compile(zone, from.Add(before), until)
	if err != nil {
		return false
	}
	rest := c.Transitions
	offset := c.OffsetMinutes
	for len(rest) > 0 && rest[0].From <= from.Unix() {
		offset, rest = rest[0].OffsetMinutes, rest[1:]
	}
	return plan.Calendar.OffsetMinutes == offset && slices.Equal(plan.Calendar.Transitions, rest)
}
