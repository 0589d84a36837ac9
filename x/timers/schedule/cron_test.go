package schedule

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/robfig/cron/v3"
	"github.com/stretchr/testify/require"
)

// robfigs is the same rule for package cron, which marks sets that restrict nothing.
func robfigs(c Cron, offsetMinutes int32) *cron.SpecSchedule {
	const star = 1 << 63
	s := &cron.SpecSchedule{
		Second: 1, Minute: c.Minutes, Hour: uint64(c.Hours), Dom: uint64(c.Days), Month: uint64(c.Months), Dow: uint64(c.Weekdays),
		Location: time.FixedZone("", int(offsetMinutes)*60),
	}
	if c.Days == AllDays {
		s.Dom |= star
	}
	if c.Weekdays == AllWeekdays {
		s.Dow |= star
	}
	return s
}

// Package cron has the same rules, but for the last day of the month and changes of the offset.
func TestCron_AgreesWithPackageCron(t *testing.T) {
	rules := 3_000
	if *long {
		rules = 100_000
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range rules {
		rule := randomCron(r)
		if rule.LastDay = false; rule.Validate() != nil {
			continue
		}
		c := Calendar{Rule: rule, OffsetMinutes: int32(r.IntN(2*MaxOffsetMinutes+1) - MaxOffsetMinutes)}
		// Package cron gives up after five years.
		after := at(t, "1990-01-01T00:00:00Z") + r.Int64N(3_000_000_000)
		other := robfigs(rule, c.OffsetMinutes)
		for range 5 {
			want := other.Next(time.Unix(after, 0)).Unix()
			got, ok := c.Next(after, want)
			require.True(t, ok && got == want, "%+v after %d: %d, want %d", c, after, got, want)
			after = got
		}
	}
}

// The bound on months suffices for every set of months and day of the month, from every month of two turns of a century,
// and no smaller one does.
func TestCron_FindsADayWithinItsBound(t *testing.T) {
	tight := false
	for months := uint16(1 << 1); months <= AllMonths; months += 2 {
		for day := 28; day <= 31; day++ {
			c := Cron{Minutes: 1, Hours: 1, Days: 1 << day, Months: months, Weekdays: AllWeekdays}
			if c.Validate() != nil {
				continue
			}
			for month := range 12 * 20 {
				from := dayNumber(date{1990 + int64(month/120)*100 + int64(month%120/12), int64(month%12) + 1, 1})
				next, ok := c.nextDay(from, maxMonths)
				previous, before := c.previousDay(from-1, maxMonths)
				if !ok || !before || next < from || previous >= from {
					require.Fail(t, "no day", "%+v from %+v", c, dateOf(from))
				}
				_, ok = c.nextDay(from, maxMonths-1)
				tight = tight || !ok
			}
		}
	}
	require.True(t, tight)
}

// next and previous are the nearest minutes that match, on both sides of 1970.
func TestCron_FindsTheNearestMinutes(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 2_000 {
		c, from := randomCron(r), r.Int64N(20_000_000)-10_000_000
		next, ok := c.next(from)
		require.True(t, ok && next > from)
		previous, ok := c.previous(from)
		require.True(t, ok && previous <= from)
		for minute := max(previous, from-3_000); minute <= min(next, from+3_000); minute++ {
			if c.matches(time.Unix(minute*60, 0).UTC()) != (minute == previous || minute == next) {
				require.Fail(t, "wrong minute", "%+v from %d: %d", c, from, minute)
			}
		}
		again, _ := c.next(previous - 1)
		require.Equal(t, previous, again)
		again, _ = c.previous(next)
		require.Equal(t, next, again)
		again, _ = c.previous(next - 1)
		require.Equal(t, previous, again)
	}
}

// The both-days rule, one case a line.
func TestCron_TakesEitherDayWhereBothAreRestricted(t *testing.T) {
	const monday = 1 << 1
	for _, c := range []struct {
		name     string
		days     uint32
		last     bool
		weekdays uint8
		// want are the days of February 2027, which begins on a Monday.
		want []int
	}{
		{"nothing is restricted", AllDays, false, AllWeekdays, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28}},
		{"numbers alone", 1<<3 | 1<<30, false, AllWeekdays, []int{3}},
		{"the last day alone", 0, true, AllWeekdays, []int{28}},
		{"numbers and the last day", 1 << 3, true, AllWeekdays, []int{3, 28}},
		{"the last day among all days restricts nothing", AllDays, true, monday, []int{1, 8, 15, 22}},
		{"weekdays alone", AllDays, false, monday, []int{1, 8, 15, 22}},
		{"numbers or weekdays", 1<<3 | 1<<8, false, monday, []int{1, 3, 8, 15, 22}},
		{"the last day or weekdays", 0, true, monday, []int{1, 8, 15, 22, 28}},
		{"all numbers but one are a restriction", AllDays &^ (1 << 31), false, monday, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rule := Cron{Minutes: 1, Hours: 1, Days: c.days, LastDay: c.last, Months: AllMonths, Weekdays: c.weekdays}
			require.NoError(t, rule.Validate())
			var days []int
			for _, next := range listed(Calendar{Rule: rule}, at(t, "2027-01-31T23:59:59Z"), at(t, "2027-02-28T23:59:59Z"), 100) {
				days = append(days, time.Unix(next, 0).UTC().Day())
			}
			require.Equal(t, c.want, days)
		})
	}
}
