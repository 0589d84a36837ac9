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

func TestWords_NameTheOffsetsWithoutAZone(t *testing.T) {
	berlin := zoneOf(t, "Europe/Berlin")
	for until, want := range map[time.Time]string{
		monday.AddDate(0, 0, 7):  "every day at 09:00 UTC+01:00",
		monday.AddDate(0, 3, 0):  "every day at 09:00 UTC+01:00, UTC+02:00 from 2026-03-29 01:00:00 UTC",
		monday.AddDate(0, 10, 0): "every day at 09:00 UTC+01:00, UTC+02:00 from 2026-03-29 01:00:00 UTC, UTC+01:00 from 2026-10-25 01:00:00 UTC",
		monday.AddDate(2, 0, 0):  "every day at 09:00 UTC+01:00, UTC+02:00 from 2026-03-29 01:00:00 UTC, with 3 more changes until 2027-10-31 01:00:00 UTC",
	} {
		plan, err := Parse("day@09:00", berlin, monday, until)
		require.NoError(t, err)
		require.Equal(t, want, Words(plan.Calendar, ""))
	}
	require.Equal(t, "never", Words(schedule.Calendar{}, ""))
	require.NotPanics(t, func() { Words(schedule.Calendar{Rule: schedule.Cron{}}, "") })
}
