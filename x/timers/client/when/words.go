package when

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cosmos-timers/timers/x/timers/schedule"
)

// timesListed is how many times of day are listed one by one.
const timesListed = 4

// Words writes a calendar in words, such as "on the first of each month at 09:00 Europe/Berlin". Without the name of its
// zone one is named that has the same clocks, or else the offset from UTC.
func Words(c schedule.Calendar, zone string) string {
	switch rule := c.Rule.(type) {
	case schedule.Every:
		return fmt.Sprintf("every %s, first at %s", Distance(rule.Seconds), utc(rule.Anchor))
	case schedule.Cron:
		if zone == "" {
			zone = clocks(c, func() string { return offsets(c) })
		}
		days, times := daysOf(rule), timesOf(rule)
		switch {
		case days != "":
			days += " "
		case rule.Hours != schedule.AllHours && strings.HasPrefix(times, "at"):
			days = "every day "
		}
		return days + times + " " + zone
	default:
		return "never"
	}
}

func utc(second int64) string { return time.Unix(second, 0).UTC().Format("2006-01-02 15:04:05 -07:00") }

// Distance is a number of seconds in the largest unit that it is a multiple of: "90 minutes", and "hour" for one.
func Distance(seconds int64) string {
	count, unit := seconds, "second"
	switch {
	case seconds%3600 == 0:
		count, unit = seconds/3600, "hour"
	case seconds%60 == 0:
		count, unit = seconds/60, "minute"
	}
	if count == 1 {
		return unit
	}
	return fmt.Sprintf("%d %ss", count, unit)
}

// offsets are those of a calendar whose zone no one has named.
func offsets(c schedule.Calendar) string {
	text := offset(c.OffsetMinutes)
	for i, t := range c.Transitions {
		if i == 1 && len(c.Transitions) > 2 {
			return fmt.Sprintf("%s, with %d more changes until %s", text, len(c.Transitions)-1, utc(c.Transitions[len(c.Transitions)-1].From))
		}
		text += fmt.Sprintf(", %s from %s", offset(t.OffsetMinutes), utc(t.From))
	}
	return text
}

// ClocksAt says which clocks a calendar goes by, in few words: "as in Europe/Berlin", or the offset from UTC that it has at a
// second.
func ClocksAt(c schedule.Calendar, second int64) string {
	return clocks(c, func() string {
		minutes := c.OffsetMinutes
		for _, t := range c.Transitions {
			if t.From <= second {
				minutes = t.OffsetMinutes
			}
		}
		return offset(minutes)
	})
}

// clocks names a zone with the clocks of a calendar whose own no one has named. One without changes has an offset alone.
func clocks(c schedule.Calendar, offset func() string) string {
	n := len(c.Transitions)
	if n == 0 {
		return offset()
	}
	first, last := time.Unix(c.Transitions[0].From-1, 0), time.Unix(c.Transitions[n-1].From, 0)
	for _, zone := range wellKnown() {
		if Keeps(c, zone, first, last) {
			return "as in " + zone.String()
		}
	}
	return offset()
}

// wellKnown are zones whose clocks change: what has the same clocks is called by the first of these.
var wellKnown = sync.OnceValue(func() (zones []*time.Location) {
	for _, name := range []string{
		"Europe/Berlin", "Europe/London", "Europe/Athens", "America/New_York", "America/Chicago", "America/Denver",
		"America/Los_Angeles", "America/Anchorage", "America/Halifax", "America/St_Johns", "America/Santiago", "Australia/Sydney",
		"Australia/Adelaide", "Australia/Lord_Howe", "Pacific/Auckland", "Pacific/Chatham", "Africa/Cairo", "Africa/Casablanca",
		"Asia/Jerusalem", "Asia/Beirut",
	} {
		if zone, err := Zone(name); err == nil {
			zones = append(zones, zone)
		}
	}
	return zones
})

func offset(minutes int32) string {
	sign, size := '+', minutes
	switch {
	case minutes == 0:
		return "UTC"
	case minutes < 0:
		sign, size = '-', -minutes
	}
	return fmt.Sprintf("%c%02d:%02d", sign, size/60, size%60)
}

// daysOf says on which days a rule is due. It is empty if that is every day.
func daysOf(c schedule.Cron) string {
	months := ""
	if c.Months != schedule.AllMonths {
		months = list(numbers(uint64(c.Months)), func(m int) string { return time.Month(m).String() })
	}
	if c.Nth != 0 {
		return nthOf(c, months)
	}
	dates, weekdays := c.Days != schedule.AllDays, c.Weekdays != schedule.AllWeekdays
	switch {
	case dates && weekdays:
		text := datesOf(c, months) + " and " + weekdaysOf(c.Weekdays)
		if months != "" {
			text += " in " + months
		}
		return text
	case dates:
		return datesOf(c, months)
	case months != "" && weekdays:
		return weekdaysOf(c.Weekdays) + " in " + months
	case weekdays:
		return weekdaysOf(c.Weekdays)
	case months != "":
		return "every day in " + months
	default:
		return ""
	}
}

// datesOf are days of the month: "on the first and the last day of each month".
func datesOf(c schedule.Cron, months string) string {
	days := numbers(uint64(c.Days))
	if c.LastDay {
		days = append(days, 0)
	}
	text := "on " + list(days, func(day int) string {
		switch {
		case day == 0:
			return "the last day"
		case day == 1:
			return "the first"
		case day%10 == 1 && day != 11:
			return fmt.Sprintf("the %dst", day)
		case day%10 == 2 && day != 12:
			return fmt.Sprintf("the %dnd", day)
		case day%10 == 3 && day != 13:
			return fmt.Sprintf("the %drd", day)
		default:
			return fmt.Sprintf("the %dth", day)
		}
	})
	if months != "" {
		return text + " of " + months
	}
	text += " of each month"
	// Not each month has these days.
	if highest := bits.Len32(c.Days) - 1; highest > 28 {
		text += " that has one"
	}
	return text
}

// weekdaysOf are days of the week from Monday on.
func weekdaysOf(set uint8) string {
	fromMonday := uint64(set>>1 | set<<6&(1<<6))
	return "on " + list(numbers(fromMonday), func(day int) string { return weekdayName(day+1) + "s" })
}

// positions are those of a month's days, from the first on and from the last back.
var positions = []string{"", "first", "second", "third", "fourth", "fifth", "last", "second to last", "third to last", "fourth to last", "fifth to last"}

// nthOf are days at positions in their month: "on the second Tuesday of each month", "on the last of Monday, … and Friday".
func nthOf(c schedule.Cron, months string) string {
	fromMonday := numbers(uint64(c.Weekdays>>1 | c.Weekdays<<6&(1<<6)))
	days := list(fromMonday, func(day int) string { return weekdayName(day + 1) })
	switch {
	case c.Weekdays == schedule.AllWeekdays:
		days = " day"
	case len(fromMonday) > 1:
		days = " of " + days
	default:
		days = " " + days
	}
	if months == "" {
		months = "each month"
	}
	return "on the " + list(numbers(uint64(c.Nth)), func(n int) string { return positions[n] }) + days + " of " + months
}

func weekdayName(day int) string { return time.Weekday(day % 7).String() }

// timesOf says at which times of a day a rule is due.
func timesOf(c schedule.Cron) string {
	minutes, hours := numbers(c.Minutes), numbers(uint64(c.Hours))
	if c.Hours != schedule.AllHours && len(minutes)*len(hours) <= timesListed {
		var times []int
		for _, hour := range hours {
			for _, minute := range minutes {
				times = append(times, hour*60+minute)
			}
		}
		return "at " + each(times, func(at int) string { return fmt.Sprintf("%02d:%02d", at/60, at%60) })
	}
	text := "every minute"
	if step := stepOf(minutes); step > 1 {
		text = fmt.Sprintf("every %d minutes", step)
	} else if c.Minutes != schedule.AllMinutes {
		text = "at " + counted("minute", minutes)
	}
	switch {
	case c.Hours != schedule.AllHours:
		return text + " of the " + counted("hour", hours)
	case strings.HasPrefix(text, "at"):
		return text + " of every hour"
	default:
		return text
	}
}

// stepOf is the step by which minutes divide the hour from its begin; 0 if they do not.
func stepOf(minutes []int) int {
	if len(minutes) < 2 || minutes[0] != 0 || 60%len(minutes) != 0 {
		return 0
	}
	step := 60 / len(minutes)
	for i, minute := range minutes {
		if minute != i*step {
			return 0
		}
	}
	return step
}

// counted is "minute 30", "hours 9 to 17" or "hours 0, 6 and 12".
func counted(unit string, values []int) string {
	if len(values) > 1 {
		unit += "s"
	}
	return unit + " " + list(values, strconv.Itoa)
}

// numbers are the bits of a set.
func numbers(set uint64) []int {
	var found []int
	for ; set != 0; set &= set - 1 {
		found = append(found, bits.TrailingZeros64(set))
	}
	return found
}

// list is each of some values, or "a to d" if they follow each other.
func list(values []int, name func(int) string) string {
	if len(values) == 0 {
		return "none"
	}
	first, last := values[0], values[len(values)-1]
	if len(values) > 2 && last-first == len(values)-1 {
		return name(first) + " to " + name(last)
	}
	return each(values, name)
}

// each is "a", "a and b" or "a, b and c".
func each(values []int, name func(int) string) string {
	var text strings.Builder
	for i, v := range values {
		switch i {
		case 0:
		case len(values) - 1:
			text.WriteString(" and ")
		default:
			text.WriteString(", ")
		}
		text.WriteString(name(v))
	}
	return text.String()
}
