package schedule

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// nthDays looks at each day of a month in turn, and keeps those in the set of weekdays at the positions: from 1 on, or from -1 back.
func nthDays(year int, month time.Month, weekdays uint8, positions []int) (kept []int) {
	var all []int
	for day := time.Date(year, month, 1, 0, 0, 0, 0, time.UTC); day.Month() == month; day = day.AddDate(0, 0, 1) {
		if weekdays>>day.Weekday()&1 == 1 {
			all = append(all, day.Day())
		}
	}
	for i, day := range all {
		if slices.Contains(positions, i+1) || slices.Contains(positions, i-len(all)) {
			kept = append(kept, day)
		}
	}
	return kept
}

// bitsOf are positions as the rule states them.
func bitsOf(positions []int) (nth uint16) {
	for _, n := range positions {
		if n < 0 {
			n = 5 - n
		}
		nth |= 1 << n
	}
	return nth
}

// positionsOf are those that a rule states: bitsOf, the other way round.
func positionsOf(nth uint16) (positions []int) {
	for _, n := range []int{1, 2, 3, 4, 5, -1, -2, -3, -4, -5} {
		if nth&bitsOf([]int{n}) != 0 {
			positions = append(positions, n)
		}
	}
	return positions
}

// TestNth_IsThatOfADayByDayModel: whatever days of the week and positions, each day that the model keeps is an occurrence, and no other.
func TestNth_IsThatOfADayByDayModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		positions := rapid.SliceOfNDistinct(rapid.SampledFrom([]int{1, 2, 3, 4, 5, -1, -2, -3, -4, -5}), 1, 4, rapid.ID).Draw(t, "positions")
		rule := Cron{
			Minutes: 1, Hours: 1, Days: AllDays, Months: rapid.Uint16Range(1, 1<<12-1).Draw(t, "months") << 1,
			Weekdays: rapid.Uint8Range(1, AllWeekdays).Draw(t, "weekdays"), Nth: bitsOf(positions),
		}
		require.NoError(t, rule.Validate())
		year := rapid.IntRange(1970, 2200).Draw(t, "year")
		var want, got, back []int64
		for month := time.January; month <= 24; month++ {
			first := time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
			if rule.Months>>first.Month()&1 == 0 {
				continue
			}
			for _, day := range nthDays(first.Year(), first.Month(), rule.Weekdays, positions) {
				want = append(want, time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix()/60)
			}
		}
		from, to := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).Unix()/60, time.Date(year+2, 1, 1, 0, 0, 0, 0, time.UTC).Unix()/60
		for at, ok := rule.next(from - 1); ok && at < to; at, ok = rule.next(at) {
			got = append(got, at)
		}
		for at, ok := rule.previous(to - 1); ok && at >= from; at, ok = rule.previous(at - 1) {
			back = append(back, at)
		}
		slices.Reverse(back)
		require.Equal(t, want, got)
		require.Equal(t, want, back)
	})
}

// TestNth_Vectors: days that people know.
func TestNth_Vectors(t *testing.T) {
	const tuesday, thursday, friday, workdays = 1 << 2, 1 << 4, 1 << 5, 1<<6 - 1<<1
	for name, c := range map[string]struct {
		months    uint16
		weekdays  uint8
		positions []int
		after     string
		want      []string
	}{
		"the second Tuesday":          {AllMonths, tuesday, []int{2}, "2026-01-01", []string{"2026-01-13", "2026-02-10", "2026-03-10"}},
		"the last workday":            {AllMonths, workdays, []int{-1}, "2026-01-01", []string{"2026-01-30", "2026-02-27", "2026-03-31"}},
		"the third Friday, quarterly": {1<<3 | 1<<6 | 1<<9 | 1<<12, friday, []int{3}, "2026-01-01", []string{"2026-03-20", "2026-06-19", "2026-09-18"}},
		"Thanksgiving":                {1 << 11, thursday, []int{4}, "2026-01-01", []string{"2026-11-26", "2027-11-25"}},
		"a fifth Tuesday":             {AllMonths, tuesday, []int{5}, "2026-01-01", []string{"2026-03-31", "2026-06-30", "2026-09-29"}},
		"the first and the last":      {AllMonths, workdays, []int{1, -1}, "2026-05-01", []string{"2026-05-29", "2026-06-01", "2026-06-30"}},
		"a fifth Tuesday of February": {1 << 2, tuesday, []int{5}, "2001-01-01", []string{"2028-02-29", "2056-02-29"}},
		"the same over a century":     {1 << 2, friday, []int{5}, "2092-03-01", []string{"2104-02-29"}},
	} {
		t.Run(name, func(t *testing.T) {
			rule := Cron{Minutes: 1, Hours: 1, Days: AllDays, Months: c.months, Weekdays: c.weekdays, Nth: bitsOf(c.positions)}
			require.NoError(t, rule.Validate())
			at, err := time.Parse(time.DateOnly, c.after)
			require.NoError(t, err)
			minute := at.Unix() / 60
			for _, want := range c.want {
				next, ok := rule.next(minute)
				require.True(t, ok)
				require.Equal(t, want, time.Unix(next*60, 0).UTC().Format(time.DateOnly))
				minute = next
			}
		})
	}
}

// TestNth_Refused: with days of the month, and positions that there are not.
func TestNth_Refused(t *testing.T) {
	rule := Cron{Minutes: 1, Hours: 1, Days: AllDays, Months: AllMonths, Weekdays: 1 << 2, Nth: 1 << 2}
	require.NoError(t, rule.Validate())
	for want, change := range map[string]func(*Cron){
		"days":     func(c *Cron) { c.Days = 1 << 3 },
		"last_day": func(c *Cron) { c.LastDay = true },
		"bits":     func(c *Cron) { c.Nth = 1 },
		"0x800":    func(c *Cron) { c.Nth = 1 << 11 },
	} {
		wrong := rule
		change(&wrong)
		require.ErrorContains(t, wrong.Validate(), want)
	}
}
