package schedule

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Ten years, minute by minute: Next and Latest find what the walk finds, and nothing else.
func TestCalendar_AgreesWithAWalk(t *testing.T) {
	zones, rules := 3, 12
	if *long {
		zones, rules = 40, 60
	}
	from, to := at(t, "2023-01-01T00:00:00Z"), at(t, "2033-01-01T00:00:00Z")
	for zone := range zones {
		r := rand.New(rand.NewPCG(uint64(zone), 1))
		offset, transitions := randomTransitions(r, from+2*MaxOffsetMinutes*60, to)
		calendars, crons := make([]Calendar, rules), make([]Cron, rules)
		last, next := make([]int64, rules), make([]int64, rules)
		for i := range calendars {
			crons[i] = randomCron(r)
			calendars[i] = Calendar{crons[i], offset, transitions}
			require.NoError(t, calendars[i].Validate())
			last[i] = -1
			next[i], _ = calendars[i].Next(from-1, MaxTime)
		}
		occurrences := 0
		walk{calendars[0].offsetAt, crons, func(i int, at int64) {
			c := calendars[i]
			if next[i] != at {
				require.Equal(t, at, next[i], "next of %+v", c)
			}
			if latest, _ := c.Latest(from-1, at+r.Int64N(60)); latest != at {
				require.Equal(t, at, latest, "latest of %+v", c)
			}
			if latest, ok := c.Latest(from-1, at-1); ok && latest != last[i] {
				require.Equal(t, last[i], latest, "latest before %d of %+v", at, c)
			}
			if again, _ := c.Next(at-1-r.Int64N(at-max(last[i], from-1)), MaxTime); again != at {
				require.Equal(t, at, again, "next from between of %+v", c)
			}
			last[i] = at
			next[i], _ = c.Next(at, MaxTime)
			occurrences++
		}}.through(from, to)
		for i, c := range calendars {
			require.Greater(t, next[i], to, "the walk misses one of %+v", c)
		}
		require.Greater(t, occurrences, 1000)
	}
}

// calendarProperty holds for a calendar of any kind, around a second of the domain.
func calendarProperty(t *rapid.T) {
	around := rapid.OneOf(rapid.Int64Range(0, MaxTime), rapid.Int64Range(0, 100_000), rapid.Int64Range(MaxTime-100_000, MaxTime)).Draw(t, "around")
	c := drawnCalendar(t, around, true)
	require.NoError(t, c.Validate())
	after := around + rapid.Int64Range(-150_000, 150_000).Draw(t, "after")
	horizon := after + rapid.Int64Range(0, 100_000).Draw(t, "room")
	found := listed(c, after, horizon, math.MaxInt)
	if _, cron := c.Rule.(Cron); cron {
		low, high := max(after, -1), min(horizon, MaxTime)
		want := []int64(nil)
		if low < high {
			want = walked(c, low, high)
		}
		require.Equal(t, want, found)
	}
	last := after
	for _, next := range found {
		require.True(t, last < next && next <= horizon && next >= 0 && next <= MaxTime)
		latest, ok := c.Latest(last, next)
		require.True(t, ok && latest == next)
		_, ok = c.Latest(last, next-1)
		require.False(t, ok, "there is one between two neighbours")
		last = next
	}
	n, exact := c.CountAtLeast(after, horizon, math.MaxUint64)
	require.True(t, exact)
	require.Equal(t, uint64(len(found)), n)
	n, exact = c.Count(after, horizon)
	if exact {
		require.Equal(t, uint64(len(found)), n)
	} else {
		require.True(t, n == MaxCount && len(found) >= MaxCount)
	}
	if latest, ok := c.Latest(-1, after); ok {
		require.LessOrEqual(t, latest, after)
		next, _ := c.Next(latest-1, MaxTime)
		require.Equal(t, latest, next)
	}
}

func TestCalendar_HoldsItsProperties(t *testing.T) { rapid.Check(t, calendarProperty) }

func FuzzCalendar(f *testing.F) { f.Fuzz(rapid.MakeFuzz(calendarProperty)) }

// anyInputProperty: what Validate refuses has some result too.
func anyInputProperty(t *rapid.T) {
	c := drawnCalendar(t, 0, false)
	after, to := rapid.Int64().Draw(t, "after"), rapid.Int64().Draw(t, "to")
	_ = c.Validate()
	c.Next(after, to)
	c.Latest(after, to)
	c.Count(after, to)
	Resolve(c, Terms[int64]{
		Missed: Missed(rapid.Uint8().Draw(t, "missed")), Window: rapid.Int64().Draw(t, "window"), Jitter: rapid.Int64().Draw(t, "jitter"),
		Hash: hashOf[int64], End: rapid.Int64().Draw(t, "end"),
	}, after, to)
	i := Interval{rapid.Uint64().Draw(t, "first"), rapid.Uint64().Draw(t, "every")}
	_ = i.Validate()
	i.Next(uint64(after), uint64(to))
	i.Latest(uint64(after), uint64(to))
	i.Count(uint64(after), uint64(to))
	Resolve(i, Terms[uint64]{Window: rapid.Uint64().Draw(t, "blocks"), Jitter: rapid.Uint64().Draw(t, "late"), Hash: hashOf[uint64], End: math.MaxUint64},
		uint64(after), uint64(to))
}

func TestSeries_TakeAnyInput(t *testing.T) { rapid.Check(t, anyInputProperty) }

func FuzzAnyInput(f *testing.F) { f.Fuzz(rapid.MakeFuzz(anyInputProperty)) }

// Rules that are empty or nil find nothing, and end.
func TestCalendar_WithoutARuleHasNoOccurrence(t *testing.T) {
	for _, rule := range []Rule{nil, Every{}, Cron{}, &Cron{}, (*Every)(nil), Cron{Minutes: 1, Hours: 1, Days: 1 << 30, Months: 1 << 2, Weekdays: AllWeekdays}} {
		c := Calendar{Rule: rule}
		require.Error(t, c.Validate())
		_, ok := c.Next(0, MaxTime)
		require.False(t, ok)
		_, ok = c.Latest(0, MaxTime)
		require.False(t, ok)
		n, _ := c.Count(0, MaxTime)
		require.Zero(t, n)
	}
}

// Nothing outside the domain is an occurrence, whatever is asked for.
func TestCalendar_EndsWithItsDomain(t *testing.T) {
	for _, c := range []Calendar{
		{Rule: Every{MinSeconds, 0}},
		{Rule: daily(0, 0)},
		{Rule: daily(0, 0), OffsetMinutes: MaxOffsetMinutes},
		{Rule: daily(0, 0), OffsetMinutes: -MaxOffsetMinutes},
	} {
		first, ok := c.Next(math.MinInt64, math.MaxInt64)
		require.True(t, ok)
		require.True(t, first >= 0 && first < 86_400)
		_, ok = c.Latest(math.MinInt64, first-1)
		require.False(t, ok)
		last, ok := c.Latest(math.MinInt64, math.MaxInt64)
		require.True(t, ok)
		require.True(t, last <= MaxTime && last > MaxTime-86_400)
		for _, after := range []int64{last, MaxTime, math.MaxInt64} {
			_, ok = c.Next(after, math.MaxInt64)
			require.False(t, ok)
		}
		_, ok = c.Next(first, first)
		require.False(t, ok, "the horizon lies at the instant")
		_, ok = c.Next(last, first)
		require.False(t, ok, "the horizon lies before the instant")
	}
}

// Each rule that is broken is named, with what was stated and what would be right.
func TestValidate_NamesWhatIsWrong(t *testing.T) {
	cron := func(change func(*Cron)) Calendar {
		rule := daily(9, 0)
		change(&rule)
		return Calendar{Rule: rule}
	}
	zone := func(transitions ...Transition) Calendar { return Calendar{Rule: daily(9, 0), Transitions: transitions} }
	for want, c := range map[string]Calendar{
		"there is no rule: want every or cron":                                                     {},
		"seconds is 59: want 60 to 253402300799":                                                   {Rule: Every{Seconds: 59}},
		"seconds is 253402300800: want 60 to":                                                      {Rule: Every{Seconds: MaxTime + 1}},
		"anchor is -1: want 0 to 253402300799":                                                     {Rule: Every{Seconds: 60, Anchor: -1}},
		"every has an offset from UTC, and counts seconds":                                         {Rule: Every{Seconds: 60}, OffsetMinutes: 60},
		"want no offset and no transitions, or cron":                                               {Rule: Every{Seconds: 60}, Transitions: []Transition{{0, 0}}},
		"minutes are an empty set: want bits 0 to 59, all of them for no restriction":              cron(func(c *Cron) { c.Minutes = 0 }),
		"minutes are the bits 0x1000000000000001, and 0x1000000000000000 of them mean nothing":     cron(func(c *Cron) { c.Minutes |= 1 << 60 }),
		"hours are an empty set: want bits 0 to 23":                                                cron(func(c *Cron) { c.Hours = 0 }),
		"hours are the bits 0x1000200, and 0x1000000 of them mean nothing: want bits 0 to 23":      cron(func(c *Cron) { c.Hours |= 1 << 24 }),
		"days are an empty set: want bits 1 to 31, or the last day of the month":                   cron(func(c *Cron) { c.Days = 0 }),
		"days are the bits 0xffffffff, and 0x1 of them mean nothing":                               cron(func(c *Cron) { c.Days |= 1 }),
		"months are an empty set: want bits 1 to 12":                                               cron(func(c *Cron) { c.Months = 0 }),
		"months are the bits 0x3ffe, and 0x2000 of them mean nothing":                              cron(func(c *Cron) { c.Months |= 1 << 13 }),
		"weekdays are an empty set: want bits 0 for Sunday to 6":                                   cron(func(c *Cron) { c.Weekdays = 0 }),
		"weekdays are the bits 0xff, and 0x80 of them mean nothing":                                cron(func(c *Cron) { c.Weekdays |= 1 << 7 }),
		"no month of the set has any of the days: want a day that one of them has, of February at": cron(func(c *Cron) { c.Days, c.Months = 1<<30, 1<<2 }),
		"offset in minutes is 1081: want -1080 to 1080":                                            {Rule: daily(9, 0), OffsetMinutes: 1081},
		"there are 17 transitions: want at most 16":                                                zone(make([]Transition, 17)...),
		"transition 1: from is -60: want 0 to 253402300799":                                        zone(Transition{From: -60}),
		"transition 2: from is 61: want a whole minute, such as 60":                                zone(Transition{}, Transition{From: 61}),
		"transition 2: from is 60, and that of the one before 60: want ascending order":            zone(Transition{From: 60}, Transition{From: 60}),
		"transition 2: offset in minutes is -1081: want -1080 to 1080":                             zone(Transition{}, Transition{60, -1081}),
	} {
		require.ErrorContains(t, c.Validate(), want)
	}
	for _, c := range []Calendar{
		{Rule: Every{Seconds: MaxTime, Anchor: MaxTime}},
		cron(func(c *Cron) { c.Days, c.LastDay = 0, true }),
		cron(func(c *Cron) { c.Days, c.Months = 1<<29, 1<<2 }),
		cron(func(c *Cron) { c.Days, c.Months, c.Weekdays = 1<<30, 1<<2, 1 }),
		zone(Transition{0, -MaxOffsetMinutes}, Transition{MaxTime / 60 * 60, MaxOffsetMinutes}),
	} {
		require.NoError(t, c.Validate())
	}
}
