package when

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/schedule"
)

// field is one of the five of a cron expression: numbers from low to high, some of which have names.
type field struct {
	name      string
	low, high int
	// names begin with that of low; three letters of each are enough.
	names []string
	// unit is that of a duration, if it has one.
	unit string
}

var (
	minuteField  = field{"minute", 0, 59, nil, "m"}
	hourField    = field{"hour", 0, 23, nil, "h"}
	dayField     = field{"day", 1, 31, nil, "d"}
	monthField   = field{"month", 1, 12, months, ""}
	weekdayField = field{"weekday", 0, 7, weekdays, ""}

	months = []string{
		"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
	}
	weekdays = []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}
)

// parseCron reads a cron expression in small letters.
func parseCron(expression string) (schedule.Cron, error) {
	texts := strings.Fields(expression)
	if len(texts) != 5 {
		return schedule.Cron{}, fmt.Errorf("a cron expression has five fields, minute, hour, day of the month, month and day of the week, "+
			"and this has %d: %s", len(texts), want)
	}
	sets := make([]uint64, len(texts))
	for i, f := range []field{minuteField, hourField, dayField, monthField, weekdayField} {
		var err error
		if sets[i], err = f.parse(texts[i]); err != nil {
			return schedule.Cron{}, err
		}
	}
	days, weekdays := sets[2], sets[4]
	return schedule.Cron{
		Minutes: sets[0], Hours: uint32(sets[1]), Days: uint32(days) & schedule.AllDays, LastDay: days&lastDay != 0, Months: uint16(sets[3]),
		// Sunday is 0 and 7.
		Weekdays: uint8(weekdays|weekdays>>7) & schedule.AllWeekdays,
	}, nil
}

// lastDay is the bit of the last day of the month among those of days.
const lastDay = 1 << 32

// parse reads a list of values and ranges with steps.
func (f field) parse(text string) (set uint64, err error) {
	for _, part := range strings.Split(text, ",") {
		if f.name == dayField.name && (part == "l" || part == "last") {
			set |= lastDay
			continue
		}
		low, high, step, err := f.parseRange(part)
		if err != nil {
			return 0, err
		}
		for value := low; value <= high; value += step {
			set |= 1 << value
		}
	}
	return set, nil
}

// parseRange reads *, a value, or a range, each with a step if need be. A value with a step is the begin of a range.
func (f field) parseRange(text string) (low, high, step int, err error) {
	span, stepText, stepped := strings.Cut(text, "/")
	first, last, ranged := strings.Cut(span, "-")
	low, high, step = f.low, f.high, 1
	if f.name == weekdayField.name {
		high = 6
	}
	if span != "*" {
		from, known := f.value(first)
		to, knownToo := from, true
		if ranged {
			to, knownToo = f.value(last)
		}
		switch {
		case !known || !knownToo:
			return 0, 0, 0, f.unknown(text)
		case from > to && to == 0 && f.name == weekdayField.name:
			to = 7 // until Sunday
		case from > to:
			return 0, 0, 0, fmt.Errorf("the %ss %.80q run backwards: want %s-%s, or %s-%d,%d-%s", f.name, text, last, first, first, high, f.low, last)
		}
		if ranged || !stepped {
			high = to
		}
		low = from
	}
	if !stepped {
		return low, high, step, nil
	}
	if step, err = strconv.Atoi(stepText); err != nil || step < 1 || !timespan.IsDigits(stepText) {
		return 0, 0, 0, fmt.Errorf("the %ss %.80q have no step: want a whole number from 1 on, such as %s/2", f.name, text, span)
	}
	if step > high-low {
		meant := ""
		if f.unit != "" {
			meant = fmt.Sprintf(", or %d%s for every %d %ss", step, f.unit, step, f.name)
		}
		return 0, 0, 0, fmt.Errorf("the %ss %.80q are %d alone, since the step leads beyond %d: want %d%s", f.name, text, low, high, low, meant)
	}
	return low, high, step, nil
}

// value reads a number or a name.
func (f field) value(text string) (int, bool) {
	if timespan.IsDigits(text) {
		n, err := strconv.Atoi(text)
		return n, err == nil && n >= f.low && n <= f.high
	}
	i := slices.IndexFunc(f.names, func(name string) bool { return text == name || text == name[:3] })
	return i + f.low, i >= 0
}

func (f field) unknown(text string) error {
	names := ""
	if len(f.names) > 0 {
		names = fmt.Sprintf(" or names such as %s", f.names[1][:3])
	}
	if f.name == dayField.name {
		names = " or L for the last"
	}
	return fmt.Errorf("%.80q is no %s: want numbers from %d to %d%s, lists (1,3), ranges (1-3), steps (*/2) or *", text, f.name, f.low, f.high, names)
}
