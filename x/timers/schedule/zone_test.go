package schedule

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/stretchr/testify/require"
)

// zoneOffset is the offset of a zone in minutes, of the standard library.
func zoneOffset(zone *time.Location) func(int64) int64 {
	return func(at int64) int64 {
		_, seconds := time.Unix(at, 0).In(zone).Zone()
		return int64(seconds / 60)
	}
}

// compiled are the transitions of a zone between two whole hours, found by looking at its clocks every minute of the hours
// in which their offset changes.
func compiled(zone *time.Location, from, to int64) Calendar {
	offset := zoneOffset(zone)
	c := Calendar{OffsetMinutes: int32(offset(from))}
	for hour := from; hour < to; hour += 3600 {
		for minute := hour; offset(hour) != offset(hour+3600) && minute < hour+3600; minute += 60 {
			if offset(minute) != offset(minute+60) {
				c.Transitions = append(c.Transitions, Transition{minute + 60, int32(offset(minute + 60))})
			}
		}
	}
	return c
}

// What the text says of clocks that are changed, case by case.
func TestCalendar_IsDueWhenClocksFirstShowIt(t *testing.T) {
	quarters := Cron{set(0, 15, 30, 45), AllHours, AllDays, false, AllMonths, AllWeekdays, 0}
	for _, c := range []struct {
		name   string
		rule   Cron
		offset int32
		// changes are instants, and the offsets from then on.
		changes map[string]int32
		after   string
		want    []string
	}{
		{
			"Berlin leaves 02:30 out", daily(2, 30), 60,
			map[string]int32{"2026-03-29T01:00:00Z": 120},
			"2026-03-28T00:00:00Z",
			[]string{"2026-03-28T01:30:00Z", "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"},
		},
		{
			"what is left out and the minute after it are one", quarters, 60,
			map[string]int32{"2026-03-29T01:00:00Z": 120},
			"2026-03-29T00:30:00Z",
			[]string{"2026-03-29T00:45:00Z", "2026-03-29T01:00:00Z", "2026-03-29T01:15:00Z"},
		},
		{
			"Berlin shows 02:30 twice", daily(2, 30), 120,
			map[string]int32{"2026-10-25T01:00:00Z": 60},
			"2026-10-24T00:00:00Z",
			[]string{"2026-10-24T00:30:00Z", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"},
		},
		{
			"an hour that is shown again is a pause", quarters, 120,
			map[string]int32{"2026-10-25T01:00:00Z": 60},
			"2026-10-25T00:15:00Z",
			[]string{"2026-10-25T00:30:00Z", "2026-10-25T00:45:00Z", "2026-10-25T02:00:00Z"},
		},
		{
			"the second time has passed after the first", daily(2, 30), 120,
			map[string]int32{"2026-10-25T01:00:00Z": 60},
			"2026-10-25T01:10:00Z",
			[]string{"2026-10-26T01:30:00Z"},
		},
		{
			"Lord Howe sets its clocks back by half an hour", daily(1, 45), 660,
			map[string]int32{"2026-04-04T15:00:00Z": 630},
			"2026-04-04T00:00:00Z",
			[]string{"2026-04-04T14:45:00Z", "2026-04-05T15:15:00Z"},
		},
		{
			"Lord Howe sets its clocks on by half an hour", daily(2, 15), 630,
			map[string]int32{"2026-10-03T15:30:00Z": 660},
			"2026-10-03T00:00:00Z",
			[]string{"2026-10-03T15:30:00Z", "2026-10-04T15:15:00Z"},
		},
		{
			"Apia had no 30 December 2011", daily(9, 0), -600,
			map[string]int32{"2011-12-30T10:00:00Z": 840},
			"2011-12-29T00:00:00Z",
			[]string{"2011-12-29T19:00:00Z", "2011-12-30T10:00:00Z", "2011-12-30T19:00:00Z"},
		},
		{
			"Kwajalein had two 30 September 1969, as if it were 1970", daily(9, 0), 660,
			map[string]int32{"1970-09-30T13:00:00Z": -720},
			"1970-09-29T00:00:00Z",
			[]string{"1970-09-29T22:00:00Z", "1970-10-01T21:00:00Z"},
		},
		{
			"Casablanca's month of fasting", daily(2, 30), 60,
			map[string]int32{"2026-02-15T02:00:00Z": 0, "2026-03-22T02:00:00Z": 60},
			"2026-03-20T12:00:00Z",
			[]string{"2026-03-21T02:30:00Z", "2026-03-22T02:00:00Z", "2026-03-23T01:30:00Z"},
		},
		{
			"clocks that are set on twice in a row", daily(2, 30), 0,
			map[string]int32{"2026-01-01T02:00:00Z": 15, "2026-01-01T02:10:00Z": 60},
			"2026-01-01T00:00:00Z",
			[]string{"2026-01-01T02:10:00Z", "2026-01-02T01:30:00Z"},
		},
		{
			"clocks that are set on and back again", daily(2, 30), 0,
			map[string]int32{"2026-01-01T02:00:00Z": 60, "2026-01-01T02:10:00Z": 0},
			"2026-01-01T00:00:00Z",
			[]string{"2026-01-01T02:00:00Z", "2026-01-02T02:30:00Z"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			calendar := Calendar{Rule: c.rule, OffsetMinutes: c.offset}
			for from, offset := range c.changes {
				calendar.Transitions = append(calendar.Transitions, Transition{at(t, from), offset})
			}
			slices.SortFunc(calendar.Transitions, func(a, b Transition) int { return cmp.Compare(a.From, b.From) })
			require.NoError(t, calendar.Validate())
			var found []string
			for _, next := range listed(calendar, at(t, c.after), MaxTime, len(c.want)) {
				found = append(found, time.Unix(next, 0).UTC().Format(time.RFC3339))
			}
			require.Equal(t, c.want, found)
		})
	}
}

// A zone that is compiled gives what a walk by the clocks of the standard library gives: changes of an hour and of half of
// one, on both halves of the earth, a day that was left out, and months of fasting.
func TestCalendar_AgreesWithZones(t *testing.T) {
	for name, years := range map[string][2]string{
		"Europe/Berlin":       {"2025", "2028"},
		"America/New_York":    {"2025", "2028"},
		"America/Santiago":    {"2025", "2028"},
		"Australia/Lord_Howe": {"2025", "2028"},
		"Africa/Casablanca":   {"2025", "2028"},
		"Pacific/Apia":        {"2010", "2013"},
		"Africa/Cairo":        {"2009", "2011"},
		"Europe/Dublin":       {"1970", "1973"},
		"Asia/Kathmandu":      {"1985", "1987"},
	} {
		t.Run(name, func(t *testing.T) {
			zone, err := time.LoadLocation(name)
			require.NoError(t, err)
			from, to := at(t, years[0]+"-01-01T00:00:00Z"), at(t, years[1]+"-01-01T00:00:00Z")
			c := compiled(zone, from, to)
			require.NotEmpty(t, c.Transitions)
			r := rand.New(rand.NewPCG(3, 4))
			rules := []Cron{daily(0, 0), daily(2, 30), daily(1, 45), {AllMinutes, AllHours, AllDays, false, AllMonths, AllWeekdays, 0}}
			for range 4 {
				rules = append(rules, randomCron(r))
			}
			calendars, last := make([]Calendar, len(rules)), make([]int64, len(rules))
			for i := range rules {
				calendars[i], last[i] = c, from-1
				calendars[i].Rule = rules[i]
				require.NoError(t, calendars[i].Validate())
			}
			walk{zoneOffset(zone), rules, func(i int, at int64) {
				if next, ok := calendars[i].Next(last[i], to); !ok || next != at {
					require.Equal(t, at, next, "%s: after %d", name, last[i])
				}
				if latest, ok := calendars[i].Latest(last[i], at); !ok || latest != at {
					require.Equal(t, at, latest, "%s: until %d", name, at)
				}
				last[i] = at
			}}.through(from, to)
			for i := range rules {
				_, ok := calendars[i].Next(last[i], to)
				require.False(t, ok)
			}
		})
	}
}
