package when_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/client/when"
	"github.com/cosmos-timers/timers/x/timers/schedule"
)

// TestWords_SayPositionsInAMonth: the days of a rule with nth.
func TestWords_SayPositionsInAMonth(t *testing.T) {
	for want, rule := range map[string]schedule.Cron{
		"on the second Tuesday of each month at 17:00 UTC":               {Weekdays: 1 << 2, Nth: 1 << 2},
		"on the last of Monday to Friday of each month at 17:00 UTC":     {Weekdays: 1<<6 - 2, Nth: 1 << 6},
		"on the fourth Thursday of November at 17:00 UTC":                {Weekdays: 1 << 4, Nth: 1 << 4, Months: 1 << 11},
		"on the first and second to last day of each month at 17:00 UTC": {Weekdays: schedule.AllWeekdays, Nth: 1<<1 | 1<<7},
	} {
		rule.Minutes, rule.Hours, rule.Days = 1, 1<<17, schedule.AllDays
		if rule.Months == 0 {
			rule.Months = schedule.AllMonths
		}
		require.Equal(t, want, when.Words(schedule.Calendar{Rule: rule}, ""))
	}
}
