package when

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/schedule"
)

// A calendar shows the local time that was asked for, on each day of its cover, but for minutes that clocks leave out.
// Rule: 9.1-by-clock
func TestCompile_ShowsTheClocksOfTheZone(t *testing.T) {
	names := timespan.Zones()
	rapid.Check(t, func(t *rapid.T) {
		zone := zoneOf(t, rapid.SampledFrom(names).Draw(t, "zone"))
		now := time.Unix(rapid.Int64Range(1_600_000_000, 2_200_000_000).Draw(t, "now"), 0)
		hour, minute := rapid.IntRange(0, 23).Draw(t, "hour"), rapid.IntRange(0, 59).Draw(t, "minute")
		text := time.Date(2000, 1, 1, hour, minute, 0, 0, time.UTC).Format("day@15:04")
		plan, err := Parse(text, zone, now, time.Time{})
		require.NoError(t, err)
		require.True(t, plan.Until.IsZero() || plan.Until.After(now.Add(Cover)))
		days, last := 0, now
		for at := now.Unix(); ; days++ {
			next, ok := plan.Calendar.Next(at, now.Add(Cover).Unix())
			if !ok {
				break
			}
			shown := time.Unix(next, 0).In(zone)
			if shown.Hour() != hour || shown.Minute() != minute {
				_, before := time.Unix(next-1, 0).In(zone).Zone()
				_, after := shown.Zone()
				require.Greater(t, after, before, "%s at %s", text, shown)
			}
			// The largest change of a clock is one of three hours, in Antarctica/Casey.
			require.LessOrEqual(t, time.Unix(next, 0).Sub(last), 27*time.Hour)
			at, last = next, time.Unix(next, 0)
		}
		require.InDelta(t, 396, days, 1)
	})
}

// A plan says until when it is right: until the next change that it does not have.
func TestCompile_SaysUntilWhenItIsRight(t *testing.T) {
	berlin := zoneOf(t, "Europe/Berlin")
	plan, err := Compile(berlin, monday, time.Time{})
	require.NoError(t, err)
	require.Equal(t, []schedule.Transition{{From: 1774746000, OffsetMinutes: 120}, {From: 1792890000, OffsetMinutes: 60}, {From: 1806195600, OffsetMinutes: 120}},
		plan.Calendar.Transitions)
	require.Equal(t, int32(60), plan.Calendar.OffsetMinutes)
	require.Equal(t, "2027-10-31T01:00:00Z", plan.Until.UTC().Format(time.RFC3339))

	plan, err = Compile(berlin, monday, monday.AddDate(100, 0, 0))
	require.NoError(t, err)
	require.Len(t, plan.Calendar.Transitions, schedule.MaxTransitions)
	require.Equal(t, "2034-03-26T01:00:00Z", plan.Until.UTC().Format(time.RFC3339))

	// Beyond 2037 the library goes by a rule, and stumbles over the last day of leap years.
	far := time.Date(2039, 6, 1, 0, 0, 0, 0, time.UTC)
	plan, err = Compile(berlin, far, far.AddDate(3, 0, 0))
	require.NoError(t, err)
	require.Len(t, plan.Calendar.Transitions, 6)
	require.Equal(t, "2042-10-26T01:00:00Z", plan.Until.UTC().Format(time.RFC3339))

	for _, name := range []string{"UTC", "Asia/Tokyo", "America/Phoenix"} {
		plan, err = Compile(zoneOf(t, name), monday, time.Time{})
		require.NoError(t, err)
		require.Empty(t, plan.Calendar.Transitions)
		require.Zero(t, plan.Until, name)
	}
}

// Minutes that clocks have just shown do not count again, though the change lies before now.
func TestCompile_KnowsTheChangeBeforeNow(t *testing.T) {
	berlin := zoneOf(t, "Europe/Berlin")
	now := time.Date(2026, 10, 25, 1, 10, 0, 0, time.UTC) // 02:10, for the second time
	plan, err := Parse("day@02:30", berlin, now, time.Time{})
	require.NoError(t, err)
	next, _ := plan.Calendar.Next(now.Unix(), schedule.MaxTime)
	require.Equal(t, "2026-10-26T02:30:00+01:00", time.Unix(next, 0).In(berlin).Format(time.RFC3339))
}

func TestCompile_RefusesOffsetsWithSeconds(t *testing.T) {
	_, err := Compile(time.FixedZone("LMT", 3208), monday, time.Time{})
	require.EqualError(t, err, "time zone LMT is 3208 seconds from UTC at 2026-03-01: want whole minutes")
	_, err = Compile(zoneOf(t, "Africa/Monrovia"), time.Date(1970, 6, 1, 0, 0, 0, 0, time.UTC), time.Time{})
	require.ErrorContains(t, err, "seconds from UTC at 1970-05-31")
}

func TestZone_RefusesWhatIsNone(t *testing.T) {
	for _, name := range []string{"", "Local", "Europe/Berln", "../UTC", "CET-1CEST"} {
		_, err := Zone(name)
		require.ErrorContains(t, err, "is no time zone: want a name such as Europe/Berlin, or UTC")
	}
}

// Without its name the zone is one with the same clocks, if they change.
func TestWords_NameAZoneWithTheSameClocks(t *testing.T) {
	for name, want := range map[string]string{
		"Europe/Berlin": "as in Europe/Berlin", "Europe/Paris": "as in Europe/Berlin", "America/New_York": "as in America/New_York",
		"Australia/Sydney": "as in Australia/Sydney", "Africa/Cairo": "as in Africa/Cairo",
		"Asia/Tokyo": "+09:00", "UTC": "UTC",
	} {
		plan, err := Parse("day@09:00", zoneOf(t, name), monday, monday.AddDate(1, 0, 0))
		require.NoError(t, err)
		require.Equal(t, "every day at 09:00 "+want, Words(plan.Calendar, ""))
		require.Equal(t, want, ClocksAt(plan.Calendar, monday.Unix()))
	}
}

// Where no zone has them it is the offsets that are named, in the form that times have.
func TestWords_NameTheOffsetsWithoutAZone(t *testing.T) {
	from := func(month, offset int) schedule.Transition {
		return schedule.Transition{From: monday.AddDate(0, month, 0).Unix(), OffsetMinutes: int32(offset)}
	}
	for want, changes := range map[string][]schedule.Transition{
		"every day at 09:00 +00:07":                                         nil,
		"every day at 09:00 +00:07, +02:00 from 2026-04-02 12:00:00 +00:00": {from(1, 120)},
		"every day at 09:00 +00:07, +02:00 from 2026-04-02 12:00:00 +00:00, -01:30 from 2026-05-02 12:00:00 +00:00":               {from(1, 120), from(2, -90)},
		"every day at 09:00 +00:07, +02:00 from 2026-04-02 12:00:00 +00:00, with 2 more changes until 2026-06-02 12:00:00 +00:00": {from(1, 120), from(2, -90), from(3, 0)},
	} {
		plan, err := Parse("day@09:00", zoneOf(t, "UTC"), monday, time.Time{})
		require.NoError(t, err)
		plan.Calendar.OffsetMinutes, plan.Calendar.Transitions = 7, changes
		require.Equal(t, want, Words(plan.Calendar, ""))
		require.Equal(t, "+00:07", ClocksAt(plan.Calendar, monday.Unix()))
	}
	require.Equal(t, "never", Words(schedule.Calendar{}, ""))
	require.NotPanics(t, func() { Words(schedule.Calendar{Rule: schedule.Cron{}}, "") })
}
