package schedule

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Every day from the year before the domain to the one after it is that of the standard library.
func TestDateOf_AgreesWithTheStandardLibrary(t *testing.T) {
	first := time.Date(1969, 1, 1, 0, 0, 0, 0, time.UTC)
	for day, at := first.Unix()/86_400, first; at.Year() <= 10_000; day, at = day+1, at.AddDate(0, 0, 1) {
		got := dateOf(day)
		if want := (date{int64(at.Year()), int64(at.Month()), int64(at.Day())}); got != want {
			require.Equal(t, want, got)
		}
		if dayNumber(got) != day || weekdayOf(day) != int64(at.Weekday()) {
			require.Equal(t, []int64{day, int64(at.Weekday())}, []int64{dayNumber(got), weekdayOf(day)}, "%s", at)
		}
	}
}

func TestDaysIn_AgreesWithTheStandardLibrary(t *testing.T) {
	for year := 1600; year <= 2400; year++ {
		for month := 1; month <= 12; month++ {
			want := time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
			require.Equal(t, int64(want), daysIn(int64(year), int64(month)), "%d-%02d", year, month)
		}
	}
}

func TestDivide_RoundsDown(t *testing.T) {
	for _, c := range [][4]int64{{7, 3, 2, 1}, {6, 3, 2, 0}, {0, 3, 0, 0}, {-1, 3, -1, 2}, {-3, 3, -1, 0}, {-4, 3, -2, 2}} {
		quotient, remainder := divide(c[0], c[1])
		require.Equal(t, c, [4]int64{c[0], c[1], quotient, remainder})
	}
}

// Numbers that no date has give some date, and stop nothing.
func TestDateOf_TakesAnyNumber(t *testing.T) {
	for _, day := range []int64{math.MinInt64, math.MaxInt64, math.MinInt64 / 1440, math.MaxInt64 / 1440} {
		require.NotPanics(t, func() { dayNumber(dateOf(day)) })
	}
}
