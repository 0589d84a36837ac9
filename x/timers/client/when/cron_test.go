package when

import (
	"fmt"
	"strings"
	"testing"

	"github.com/robfig/cron/v3"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cosmos-timers/timers/x/timers/schedule"
)

// fieldText draws the text of a field that package cron reads as well.
func fieldText(f field, high int) *rapid.Generator[string] {
	value := rapid.Custom(func(t *rapid.T) string {
		n := rapid.IntRange(f.low, high).Draw(t, "value")
		if len(f.names) > 0 && rapid.Bool().Draw(t, "named") {
			return f.names[n-f.low][:3]
		}
		return fmt.Sprint(n)
	})
	part := rapid.Custom(func(t *rapid.T) string {
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			return "*"
		case 1:
			return fmt.Sprintf("*/%d", rapid.IntRange(1, high-f.low).Draw(t, "step"))
		case 2:
			low := rapid.IntRange(f.low, high-1).Draw(t, "low")
			top := rapid.IntRange(low+1, high).Draw(t, "high")
			return fmt.Sprintf("%d-%d/%d", low, top, rapid.IntRange(1, top-low).Draw(t, "step"))
		case 3:
			low := rapid.IntRange(f.low, high).Draw(t, "low")
			return fmt.Sprintf("%d-%d", low, rapid.IntRange(low, high).Draw(t, "high"))
		case 4:
			low := rapid.IntRange(f.low, high-1).Draw(t, "low")
			return fmt.Sprintf("%d/%d", low, rapid.IntRange(1, high-low).Draw(t, "step"))
		default:
			return value.Draw(t, "value")
		}
	})
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(part, 1, 3).Draw(t, "parts"), ",")
	})
}

// Package cron reads the same sets, from all that it reads.
func TestParseCron_AgreesWithPackageCron(t *testing.T) {
	parser := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join([]string{
			fieldText(minuteField, 59).Draw(t, "minute"), fieldText(hourField, 23).Draw(t, "hour"), fieldText(dayField, 31).Draw(t, "day"),
			fieldText(monthField, 12).Draw(t, "month"), fieldText(weekdayField, 6).Draw(t, "weekday"),
		}, " ")
		other, err := parser.Parse(text)
		require.NoError(t, err)
		sets, ok := other.(*cron.SpecSchedule)
		require.True(t, ok)
		const star = 1 << 63
		got, err := parseCron(text)
		require.NoError(t, err, text)
		require.Equal(t, schedule.Cron{
			Minutes: sets.Minute &^ star, Hours: uint32(sets.Hour &^ star), Days: uint32(sets.Dom &^ star), Months: uint16(sets.Month &^ star),
			Weekdays: uint8(sets.Dow &^ star),
		}, got, text)
	})
}

// Two rules that are written in the same words are the same.
func TestWords_TellRulesApart(t *testing.T) {
	rules := map[string]schedule.Cron{}
	rapid.Check(t, func(t *rapid.T) {
		rule, err := parseCron(strings.Join([]string{
			fieldText(minuteField, 4).Draw(t, "minute"), fieldText(hourField, 3).Draw(t, "hour"), fieldText(dayField, 4).Draw(t, "day"),
			fieldText(monthField, 3).Draw(t, "month"), fieldText(weekdayField, 3).Draw(t, "weekday"),
		}, " "))
		require.NoError(t, err)
		if rapid.Bool().Draw(t, "last") && rule.Days != schedule.AllDays {
			rule.LastDay = true
		}
		words := Words(schedule.Calendar{Rule: rule}, "UTC")
		other, known := rules[words]
		require.True(t, !known || other == rule, "%s: %+v and %+v", words, rule, other)
		rules[words] = rule
	})
}
