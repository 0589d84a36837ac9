package schedule

import (
	"math/rand/v2"
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
			rules := []Cron{daily(0, 0), daily(2, 30), daily(1, 45), {AllMinutes, AllHours, AllDays, false, AllMonths, AllWeekdays}}
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
