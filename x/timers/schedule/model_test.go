package schedule

import (
	"flag"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var long = flag.Bool("schedule.long", false, "walk through more zones and rules, and check every vector by a walk")

// walk is the second model: it looks at clocks every minute, and keeps which local minutes have come.
type walk struct {
	// offset of local time from UTC in minutes, at a second.
	offset func(at int64) int64
	rules  []Cron
	// due is called for each minute at which a rule is due.
	due func(rule int, at int64)
}

// through walks from one second to another, both of them whole minutes. Nothing has come before it begins.
func (w walk) through(from, to int64) {
	const margin = 2 * 2 * MaxOffsetMinutes
	base := from/60 - margin
	come := make([]bool, to/60-base+margin)
	shown := from/60 + w.offset(from) - 1
	for at := from; at <= to; at += 60 {
		now := at/60 + w.offset(at)
		// What comes now are the minute that clocks show, and those that they have left out.
		due := make([]bool, len(w.rules))
		for local := min(now, shown+1); local <= now; local++ {
			if (local < now && local <= shown) || come[local-base] {
				continue
			}
			come[local-base] = true
			face := time.Unix(local*60, 0).UTC()
			for i, rule := range w.rules {
				due[i] = due[i] || rule.matches(face)
			}
		}
		shown = now
		for i := range due {
			if due[i] {
				w.due(i, at)
			}
		}
	}
}

// matches reads the rule word by word.
func (c Cron) matches(t time.Time) bool {
	if c.Minutes>>t.Minute()&1 == 0 || c.Hours>>t.Hour()&1 == 0 || c.Months>>t.Month()&1 == 0 {
		return false
	}
	number := c.Days>>t.Day()&1 == 1 || c.LastDay && t.AddDate(0, 0, 1).Day() == 1
	weekday := c.Weekdays>>t.Weekday()&1 == 1
	switch {
	case c.Nth != 0:
		return slices.Contains(nthDays(t.Year(), t.Month(), c.Weekdays, positionsOf(c.Nth)), t.Day())
	case c.Days != AllDays && c.Weekdays != AllWeekdays:
		return number || weekday
	case c.Days != AllDays:
		return number
	default:
		return weekday
	}
}

// offsetAt is the offset of a calendar in minutes.
func (c Calendar) offsetAt(at int64) int64 {
	offset := c.OffsetMinutes
	for _, t := range c.Transitions {
		if at >= t.From {
			offset = t.OffsetMinutes
		}
	}
	return int64(offset)
}

// walked are the occurrences of a calendar after one instant and not after another, found by a walk.
func walked(c Calendar, after, to int64) []int64 {
	// What clocks show after the first instant they have not shown earlier than this.
	from := after/60*60 - 2*MaxOffsetMinutes*60 - 3600
	var found []int64
	walk{c.offsetAt, []Cron{c.Rule.(Cron)}, func(_ int, at int64) {
		if at > after {
			found = append(found, at)
		}
	}}.through(from, to/60*60)
	return found
}

// listed are the first occurrences after an instant, found by Next.
func listed[T Instant](s Series[T], after, horizon T, limit int) []T {
	var found []T
	for len(found) < limit {
		next, ok := s.Next(after, horizon)
		if !ok {
			break
		}
		found = append(found, next)
		after = next
	}
	return found
}

func at(t testing.TB, text string) int64 {
	t.Helper()
	moment, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return moment.Unix()
}

// set has a bit for each value.
func set(values ...int) uint64 {
	bits := uint64(0)
	for _, v := range values {
		bits |= 1 << v
	}
	return bits
}

// daily is due every day at a time.
func daily(hour, minute int) Cron {
	return Cron{
		Minutes: set(minute), Hours: uint32(set(hour)), Days: AllDays, Months: AllMonths, Weekdays: AllWeekdays,
	}
}

// subset draws bits of a set: none of them, a few, half of them, or all.
func subset(r *rand.Rand, all uint64) uint64 {
	switch r.IntN(3) {
	case 0:
		return all
	case 1:
		return all & r.Uint64()
	default:
		return all & r.Uint64() & r.Uint64() & r.Uint64()
	}
}

// randomCron draws a rule that is valid.
func randomCron(r *rand.Rand) Cron {
	for {
		c := Cron{
			Minutes: subset(r, AllMinutes) & r.Uint64() & r.Uint64(), Hours: uint32(subset(r, uint64(AllHours))),
			Days: uint32(subset(r, uint64(AllDays))), LastDay: r.IntN(4) == 0,
			Months: uint16(subset(r, uint64(AllMonths))), Weekdays: uint8(subset(r, uint64(AllWeekdays))),
		}
		if c.Validate() == nil {
			return c
		}
	}
}

// randomTransitions draws an offset and transitions between two seconds: some of an hour, some of any size, some close
// together.
func randomTransitions(r *rand.Rand, from, to int64) (int32, []Transition) {
	offset := func() int32 {
		if r.IntN(3) == 0 {
			return int32(r.IntN(2*MaxOffsetMinutes+1) - MaxOffsetMinutes)
		}
		return int32(r.IntN(5)) * 30
	}
	var transitions []Transition
	for range r.IntN(MaxTransitions + 1) {
		at := (from + r.Int64N(to-from)) / 60 * 60
		if n := len(transitions); n > 0 && r.IntN(2) == 0 {
			at = transitions[n-1].From + 60*(1+r.Int64N(200))
		}
		if at <= to {
			transitions = append(transitions, Transition{at, offset()})
		}
	}
	slices.SortFunc(transitions, func(a, b Transition) int { return int(a.From - b.From) })
	return offset(), slices.CompactFunc(transitions, func(a, b Transition) bool { return a.From == b.From })
}

// drawnCalendar draws a calendar around a second. Any field may have any value if it is not to be valid.
func drawnCalendar(t *rapid.T, around int64, valid bool) Calendar {
	c := Calendar{}
	if rapid.IntRange(0, 3).Draw(t, "kind") == 0 {
		seconds, anchor := rapid.Int64Range(MinSeconds, 10*86_400), rapid.Int64Range(max(around-1_000_000, 0), min(around+1_000_000, MaxTime))
		if !valid {
			seconds, anchor = rapid.Int64(), rapid.Int64()
		}
		c.Rule = Every{seconds.Draw(t, "seconds"), anchor.Draw(t, "anchor")}
	} else {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "rule"), 0))
		rule := randomCron(r)
		c.OffsetMinutes, c.Transitions = randomTransitions(r, max(around-200_000, 0), min(around+200_000, MaxTime))
		if !valid {
			rule = Cron{
				rapid.Uint64().Draw(t, "minutes"), rapid.Uint32().Draw(t, "hours"), rapid.Uint32().Draw(t, "days"), rapid.Bool().Draw(t, "last"),
				rapid.Uint16().Draw(t, "months"), rapid.Uint8().Draw(t, "weekdays"), rapid.Uint16().Draw(t, "nth"),
			}
			c.OffsetMinutes = rapid.Int32().Draw(t, "offset")
			c.Transitions = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Transition {
				return Transition{rapid.Int64().Draw(t, "from"), rapid.Int32().Draw(t, "to")}
			}), 0, MaxTransitions+1).Draw(t, "transitions")
		}
		c.Rule = rule
	}
	return c
}
