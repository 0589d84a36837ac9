package when

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/schedule"
)

// monday is a noon.
var monday = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func zoneOf(t require.TestingT, name string) *time.Location {
	zone, err := Zone(name)
	require.NoError(t, err)
	return zone
}

// What is said, how it is read back, and when it is due first after that noon.
func TestParse_ReadsWhatPeopleSay(t *testing.T) {
	zone := zoneOf(t, "Europe/Berlin")
	for _, c := range []struct{ text, words, first string }{
		{"month@1 09:00", "on the first of each month at 09:00", "2026-04-01T07:00:00Z"},
		{"month@last 18:00", "on the last day of each month at 18:00", "2026-03-31T16:00:00Z"},
		{"month@1,15,last 18:00", "on the first, the 15th and the last day of each month at 18:00", "2026-03-15T17:00:00Z"},
		{"month@1-7 9:05", "on the first to the 7th of each month at 09:05", "2026-03-03T08:05:00Z"},
		{"jan,jul@2 09:00", "on the 2nd of January and July at 09:00", "2026-07-02T07:00:00Z"},
		{"June-August@21,22,23 09:00", "on the 21st to the 23rd of June to August at 09:00", "2026-06-21T07:00:00Z"},
		{"month@31 09:00", "on the 31st of each month that has one at 09:00", "2026-03-31T07:00:00Z"},
		{"month@11,12,13 09:00", "on the 11th to the 13th of each month at 09:00", "2026-03-11T08:00:00Z"},
		{"weekday@09:00", "on Mondays to Fridays at 09:00", "2026-03-03T08:00:00Z"},
		{"weekend@10:00", "on Saturdays and Sundays at 10:00", "2026-03-07T09:00:00Z"},
		{"mon,thu@9:00", "on Mondays and Thursdays at 09:00", "2026-03-05T08:00:00Z"},
		{"fri-sun@10:00", "on Fridays to Sundays at 10:00", "2026-03-06T09:00:00Z"},
		{"Monday@13:00", "on Mondays at 13:00", "2026-03-09T12:00:00Z"},
		{" DAY@09:00 ", "every day at 09:00", "2026-03-03T08:00:00Z"},
		{"hour@:30", "at minute 30 of every hour", "2026-03-02T12:30:00Z"},
		{"0 9 * * 1-5", "on Mondays to Fridays at 09:00", "2026-03-03T08:00:00Z"},
		{"0 9 * * Fri-7", "on Fridays to Sundays at 09:00", "2026-03-06T08:00:00Z"},
		{"0 9 * * 7", "on Sundays at 09:00", "2026-03-08T08:00:00Z"},
		{"0 9 * * 0,7", "on Sundays at 09:00", "2026-03-08T08:00:00Z"},
		{"*/15 9-17 * * 1-5", "on Mondays to Fridays every 15 minutes of the hours 9 to 17", "2026-03-02T12:15:00Z"},
		{"*/7 3,5 1 feb *", "on the first of February at minutes 0, 7, 14, 21, 28, 35, 42, 49 and 56 of the hours 3 and 5", "2027-02-01T02:00:00Z"},
		{"30 */2 * * *", "every day at minute 30 of the hours 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20 and 22", "2026-03-02T13:30:00Z"},
		{"* 9 * * *", "every minute of the hour 9", "2026-03-03T08:00:00Z"},
		{"5,20 * * * *", "at minutes 5 and 20 of every hour", "2026-03-02T12:05:00Z"},
		{"3,23,43 * * * *", "at minutes 3, 23 and 43 of every hour", "2026-03-02T12:03:00Z"},
		{"50/5 * * * *", "at minutes 50 and 55 of every hour", "2026-03-02T12:50:00Z"},
		{"* * * * *", "every minute", "2026-03-02T12:01:00Z"},
		{"0 8,20 * Jan,jul *", "every day in January and July at 08:00 and 20:00", "2026-07-01T06:00:00Z"},
		{"0 0 * 1-3 sun", "on Sundays in January to March at 00:00", "2026-03-07T23:00:00Z"},
		{"0 0 13 * 5", "on the 13th of each month and on Fridays at 00:00", "2026-03-05T23:00:00Z"},
		{"0 0 13 6 5", "on the 13th of June and on Fridays in June at 00:00", "2026-06-04T22:00:00Z"},
		{"0 0 L * *", "on the last day of each month at 00:00", "2026-03-30T22:00:00Z"},
		{"0 12 29 2 *", "on the 29th of February at 12:00", "2028-02-29T11:00:00Z"},
		{"@hourly", "at minute 0 of every hour", "2026-03-02T13:00:00Z"},
		{"@Daily", "every day at 00:00", "2026-03-02T23:00:00Z"},
		{"@weekly", "on Sundays at 00:00", "2026-03-07T23:00:00Z"},
		{"@monthly", "on the first of each month at 00:00", "2026-03-31T22:00:00Z"},
		{"@yearly", "on the first of January at 00:00", "2026-12-31T23:00:00Z"},
	} {
		plan, err := Parse(c.text, zone, monday, monday.AddDate(3, 0, 0))
		require.NoError(t, err, c.text)
		require.Equal(t, c.words+" Europe/Berlin", Words(plan.Calendar, "Europe/Berlin"), c.text)
		first, ok := plan.Calendar.Next(monday.Unix(), schedule.MaxTime)
		require.True(t, ok, c.text)
		require.Equal(t, c.first, time.Unix(first, 0).UTC().Format(time.RFC3339), c.text)
	}
}

// Distances count from now, and know no zone.
func TestParse_ReadsDistances(t *testing.T) {
	for text, want := range map[string]struct {
		seconds int64
		words   string
	}{
		"1h":    {3600, "every hour, first at 2026-03-02 13:00:00 +00:00"},
		"1m":    {60, "every minute, first at 2026-03-02 12:01:00 +00:00"},
		"90m":   {5400, "every 90 minutes, first at 2026-03-02 13:30:00 +00:00"},
		"1H30M": {5400, "every 90 minutes, first at 2026-03-02 13:30:00 +00:00"},
		"2d":    {172_800, "every 48 hours, first at 2026-03-04 12:00:00 +00:00"},
		"61s":   {61, "every 61 seconds, first at 2026-03-02 12:01:01 +00:00"},
	} {
		plan, err := Parse(text, zoneOf(t, "Europe/Berlin"), monday, time.Time{})
		require.NoError(t, err, text)
		require.Equal(t, Plan{Calendar: schedule.Calendar{Rule: schedule.Every{Seconds: want.seconds, Anchor: monday.Unix() + want.seconds}}}, plan)
		require.Equal(t, want.words, Words(plan.Calendar, ""))
	}
}

// An offset that is stated stands instead of the zone.
func TestParse_TakesAStatedOffset(t *testing.T) {
	for text, want := range map[string]string{
		"day@14:00+01:00":        "every day at 14:00 +01:00",
		"day@14:00 -09:30":       "every day at 14:00 -09:30",
		"month@1 14:00Z":         "on the first of each month at 14:00 UTC",
		"hour@:30+05:45":         "at minute 30 of every hour +05:45",
		"mon-fri@14:00 +18:00":   "on Mondays to Fridays at 14:00 +18:00",
		"month@last 14:00 -18:0": "",
	} {
		plan, err := Parse(text, zoneOf(t, "Europe/Berlin"), monday, time.Time{})
		if want == "" {
			require.Error(t, err)
			continue
		}
		require.NoError(t, err, text)
		require.Equal(t, want, Words(plan.Calendar, ""))
		require.Empty(t, plan.Calendar.Transitions)
		require.Zero(t, plan.Until)
	}
}

// What can't be meant is refused with what was wrong and what would be right, once.
func TestParse_RefusesWithWhatWasMeant(t *testing.T) {
	for text, problem := range map[string]string{
		"*/90 * * * *":       `"*/90 * * * *": the minutes "*/90" are 0 alone, since the step leads beyond 59: want 0, or 90m for every 90 minutes`,
		"0 */36 * * *":       `the hours "*/36" are 0 alone, since the step leads beyond 23: want 0, or 36h for every 36 hours`,
		"0 0 */40 * *":       "want 1, or 40d for every 40 days",
		"0 0 * */13 *":       `the months "*/13" are 1 alone, since the step leads beyond 12: want 1`,
		"0 0 * * */7":        `the weekdays "*/7" are 0 alone, since the step leads beyond 6: want 0`,
		"10-20/15 * * * *":   `the minutes "10-20/15" are 10 alone, since the step leads beyond 20: want 10`,
		"*/0 * * * *":        `the minutes "*/0" have no step: want a whole number from 1 on, such as */2`,
		"*/+2 * * * *":       `"*/+2" have no step`,
		"*/ * * * *":         `"*/" have no step`,
		"61 * * * *":         `"61" is no minute: want numbers from 0 to 59, lists (1,3), ranges (1-3), steps (*/2) or *`,
		"0 24 * * *":         `"24" is no hour: want numbers from 0 to 23`,
		"0 0 0 * *":          `"0" is no day: want numbers from 1 to 31 or L for the last, lists`,
		"0 0 1 jann *":       `"jann" is no month: want numbers from 1 to 12 or names such as feb, lists`,
		"0 0 * * 8":          `"8" is no weekday: want numbers from 0 to 7 or names such as mon, lists`,
		"0 22-2 * * *":       `the hours "22-2" run backwards: want 2-22, or 22-23,0-2`,
		"0 0 * * fri-mon":    `the weekdays "fri-mon" run backwards: want mon-fri, or fri-6,0-mon`,
		"0 0 ,1 * *":         `"" is no day`,
		"1-2-3 * * * *":      `"1-2-3" is no minute`,
		"0 0 * * 5L":         `"5l" is no weekday`,
		"0 9 30 2 *":         "no month of the set has any of the days: want a day that one of them has, of February at most the 29th",
		"month@31 09:00 now": "want one such as month@1 09:00",
		"apr@31 09:00":       "no month of the set has any of the days",
		"0 9 * *":            "and this has 4: want one such as",
		"0 0 9 * * *":        "and this has 6: want one such as",
		"daily":              `"daily" has no time: did you mean day@09:00, or 24h?`,
		"Hourly":             `"Hourly" has no time: did you mean hour@:00, or 1h?`,
		"wed":                "did you mean wednesday@09:00?",
		"monthly":            "did you mean month@1 09:00?",
		"20":                 `"20" is no recurring time: want one such as month@1 09:00`,
		"":                   `"" is no recurring time: want one such as`,
		"-1h":                `"-1h" is no recurring time`,
		"59s":                `"59s" is no distance that a timer can have: want whole seconds, and 1m at least`,
		"90.5s":              "want whole seconds, and 1m at least",
		"month@09:00":        `"month@09:00" has no day: want month@1 09:00, or month@last 09:00`,
		"jan,jul@09:00":      "want jan,jul@1 09:00, or jan,jul@last 09:00",
		"mon@1 09:00":        `"mon@1 09:00" has days of the month next to mon: want month@1 09:00`,
		"foo@09:00":          `"foo" is no weekday`,
		",@09:00":            `"" is no weekday`,
		"hour@09:00":         "want a time of day such as 09:00, or hour@:30 for each hour",
		"hour@1 :30":         "want a time of day such as 09:00, or hour@:30 for each hour",
		"day@:30":            "want a time of day such as 09:00, or hour@:30 for each hour",
		"day@9":              `"day@9" is no recurring time: want one such as`,
		"day@25:00":          `"25" is no hour`,
		"@reboot":            `"@reboot" is no recurring time`,
		"day@14:00+18:01":    "has the offset +18:01 from UTC: want -18:00 to +18:00, such as +01:00",
		"day@14:00+01:60":    "has the offset +01:60 from UTC",
	} {
		_, err := Parse(text, zoneOf(t, "Europe/Berlin"), monday, time.Time{})
		require.ErrorContains(t, err, problem, "%q", text)
		require.LessOrEqual(t, strings.Count(err.Error(), "want")+strings.Count(err.Error(), "did you mean"), 1, "%q", text)
	}
	_, err := Parse("1h", time.UTC, time.Date(1950, 1, 1, 0, 0, 0, 0, time.UTC), time.Time{})
	require.ErrorContains(t, err, `"1h" from now: anchor is -`)
	_, err = Parse("day@09:00", zoneOf(t, "Europe/Berlin"), time.Date(1950, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC))
	require.NoError(t, err, "no clocks were changed there between 1950 and 1980")
	_, err = Parse("day@09:00", zoneOf(t, "Europe/London"), time.Date(1950, 1, 1, 0, 0, 0, 0, time.UTC), time.Time{})
	require.ErrorContains(t, err, "transition 1: from is -")
	_, err = Parse("day@09:00", zoneOf(t, "Europe/Berlin"), time.Date(9999, 10, 30, 0, 0, 0, 0, time.UTC), time.Date(10_001, 1, 1, 0, 0, 0, 0, time.UTC))
	require.NoError(t, err, "transitions end with the domain")
}

// FuzzParse: no text makes it panic. What it reads is a calendar that a chain takes, and that can be written in words; what it
// refuses is told in a line.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"month@1,last 09:00", "mon,thu@9:00 +01:00", "*/15 9-17 L jan,jul 5-7", "1h30m", "@daily", "hour@:30"} {
		f.Add(text, int64(1_772_452_800), 0)
	}
	zones := []string{"UTC", "Europe/Berlin", "Africa/Casablanca", "Australia/Lord_Howe", "Pacific/Apia"}
	f.Fuzz(func(t *testing.T, text string, now int64, zone int) {
		at := time.Unix(min(max(now, 86_400*800), schedule.MaxTime-86_400*800), 0)
		plan, err := Parse(text, zoneOf(t, zones[uint(zone)%uint(len(zones))]), at, time.Time{})
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			return
		}
		require.NoError(t, plan.Calendar.Validate())
		require.NotEmpty(t, Words(plan.Calendar, ""))
		require.NotContains(t, Words(plan.Calendar, "Z"), "none")
		next, ok := plan.Calendar.Next(at.Unix(), schedule.MaxTime)
		require.True(t, !ok || next > at.Unix())
	})
}
