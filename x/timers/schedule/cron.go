package schedule

import (
	"errors"
	"fmt"
	"math/bits"
)

// Cron is a rule of sets of local time, as in crontab: the local minutes that match are those whose minute, hour, month
// and day are in the sets. A set is given as bits. One with all bits restricts nothing.
//
// A day matches by its number, or as the last of its month if LastDay, and by its day of the week. Where both numbers and
// days of the week are restricted, either is enough; otherwise the one that is restricted decides. The numbers are
// restricted unless Days has all 31 bits, and the days of the week unless Weekdays has all 7, however a client wrote
// them: other crons take "1-31" for a restriction, or "*/2" for none.
type Cron struct {
	// Minutes of the hour are bits 0 to 59, Hours bits 0 to 23.
	Minutes uint64
	Hours   uint32
	// Days of the month are bits 1 to 31. The set may be empty if LastDay is set.
	Days    uint32
	LastDay bool
	// Months are bits 1 to 12, Weekdays bits 0 to 6 from Sunday on.
	Months   uint16
	Weekdays uint8
	// Nth keeps of a month's days in Weekdays those at these positions, all if it is empty: bits 1 to 5 are the first to the fifth,
	// bits 6 to 10 the last to the fifth from the end. So {Tuesday} and the second is the second Tuesday, and {Monday to Friday} and
	// the last the last workday. Days restricts nothing then.
	Nth uint16
}

// The sets that restrict nothing.
const (
	AllMinutes  uint64 = 1<<60 - 1
	AllHours    uint32 = 1<<24 - 1
	AllDays     uint32 = 1<<32 - 1<<1
	AllMonths   uint16 = 1<<13 - 1<<1
	AllWeekdays uint8  = 1<<7 - 1
	AllNth      uint16 = 1<<11 - 1<<1
)

const (
	minutesPerHour = 60
	minutesPerDay  = 24 * minutesPerHour

	// maxMonths bounds a search for a day by the months that it looks into: the one in which it starts, and those of the
	// set after it. The longest one is for a leap day when the turn of a century has none, such as from 2096 to 2104.
	maxMonths = 9
	// maxNthMonths is that of a rule with positions. The longest one is for a fifth weekday of February: 40 years, where a century
	// turns without a leap day.
	maxNthMonths = 41
	// maxNth is the last position from either end.
	maxNth = 5
)

// Validate returns an error that names the set that is wrong, or says that no day ever matches.
func (c Cron) Validate() error {
	days := uint64(c.Days)
	if c.LastDay && days == 0 {
		// The last day is enough.
		days = uint64(AllDays)
	}
	for _, err := range []error{
		withinSet("minutes", c.Minutes, AllMinutes, "bits 0 to 59"),
		withinSet("hours", uint64(c.Hours), uint64(AllHours), "bits 0 to 23"),
		withinSet("days", days, uint64(AllDays), "bits 1 to 31, or the last day of the month"),
		withinSet("months", uint64(c.Months), uint64(AllMonths), "bits 1 to 12"),
		withinSet("weekdays", uint64(c.Weekdays), uint64(AllWeekdays), "bits 0 for Sunday to 6"),
	} {
		if err != nil {
			return err
		}
	}
	switch {
	case c.Nth == 0:
	case c.Days != AllDays || c.LastDay:
		return errors.New("nth is stated with days or last_day: it is for days of the week, want all days of the month and no last_day")
	case c.Nth&^AllNth != 0:
		return withinSet("nth", uint64(c.Nth), uint64(AllNth), "bits 1 to 5 for the first to the fifth, 6 to 10 from the last on")
	}
	if _, ok := c.nextDay(0, c.months()); !ok {
		return errors.New("no month of the set has any of the days: want a day that one of them has, of February at most the 29th")
	}
	return nil
}

// withinSet refuses a set that is empty or has a bit above or below those that have a meaning.
func withinSet(name string, set, all uint64, want string) error {
	switch {
	case set == 0:
		return fmt.Errorf("%s are an empty set: want %s, all of them for no restriction", name, want)
	case set&^all != 0:
		return fmt.Errorf("%s are the bits %#x, and %#x of them mean nothing: want %s", name, set, set&^all, want)
	}
	return nil
}

// next is the first local minute after another that matches. Local minutes count from 1970-01-01T00:00 of local time.
func (c Cron) next(after int64) (int64, bool) {
	// The first day that matches may be over at the minute: then it is the first minute of the next one.
	day, minute := divide(after+1, minutesPerDay)
	found, ok := c.nextDay(day, c.months())
	if ok && found == day {
		if minute, ok := c.nextMinute(minute); ok {
			return day*minutesPerDay + minute, true
		}
		found, ok = c.nextDay(day+1, c.months())
	}
	first, _ := c.nextMinute(0)
	return found*minutesPerDay + first, ok
}

// previous is the last local minute that matches and is not after another.
func (c Cron) previous(until int64) (int64, bool) {
	day, minute := divide(until, minutesPerDay)
	found, ok := c.previousDay(day, c.months())
	if ok && found == day {
		if minute, ok := c.previousMinute(minute); ok {
			return day*minutesPerDay + minute, true
		}
		found, ok = c.previousDay(day-1, c.months())
	}
	last, _ := c.previousMinute(minutesPerDay - 1)
	return found*minutesPerDay + last, ok
}

// nextMinute is the first minute of a day that matches, from one on. Minutes of a day count from 00:00.
func (c Cron) nextMinute(from int64) (int64, bool) {
	hour, minute := divide(from, minutesPerHour)
	if c.Hours>>hour&1 == 1 {
		if later := c.Minutes >> minute; later != 0 {
			return from + int64(bits.TrailingZeros64(later)), true
		}
	}
	// In a later hour it is the first minute of the set.
	later := c.Hours >> (hour + 1)
	hour += 1 + int64(bits.TrailingZeros32(later))
	return hour*minutesPerHour + int64(bits.TrailingZeros64(c.Minutes)), later != 0
}

// previousMinute is the last minute of a day that matches, up to one.
func (c Cron) previousMinute(until int64) (int64, bool) {
	hour, minute := divide(until, minutesPerHour)
	if c.Hours>>hour&1 == 1 {
		if earlier := c.Minutes & (1<<(minute+1) - 1); earlier != 0 {
			return hour*minutesPerHour + int64(bits.Len64(earlier)) - 1, true
		}
	}
	earlier := c.Hours & (1<<hour - 1)
	hour = int64(bits.Len32(earlier)) - 1
	return hour*minutesPerHour + int64(bits.Len64(c.Minutes)) - 1, earlier != 0
}

// nextDay is the first day that matches, from one on; false if none of so many months has one. Days count from 1970-01-01.
// A step is a month: those that are not in the set are skipped, and a day is found among the bits of its month.
func (c Cron) nextDay(from int64, months int) (int64, bool) {
	d := dateOf(from)
	for range months {
		if days := c.daysOf(d) >> d.day; days != 0 {
			d.day += int64(bits.TrailingZeros64(days))
			return dayNumber(d), true
		}
		later := c.Months >> (d.month + 1)
		if later == 0 {
			// On to the first month of the set in the next year; bit 0 is none.
			d.year, d.month, later = d.year+1, -1, c.Months
		}
		d.month += 1 + int64(bits.TrailingZeros16(later))
		d.day = 1
	}
	return 0, false
}

// previousDay is the last day that matches, up to one; false if none of so many months has one.
func (c Cron) previousDay(until int64, months int) (int64, bool) {
	d := dateOf(until)
	if c.Months == 0 {
		return 0, false
	}
	for range months {
		if days := c.daysOf(d) & (1<<(d.day+1) - 1); days != 0 {
			d.day = int64(bits.Len64(days)) - 1
			return dayNumber(d), true
		}
		earlier := c.Months & (1<<d.month - 1)
		if earlier == 0 {
			d.year, earlier = d.year-1, c.Months
		}
		d.month = int64(bits.Len16(earlier)) - 1
		// No bit is above the last day of the month.
		d.day = 31
	}
	return 0, false
}

// daysOf is the set of the days of a date's month that match, as bits from 1 on: none if the month does not.
func (c Cron) daysOf(d date) uint64 {
	if c.Months>>d.month&1 == 0 {
		return 0
	}
	length := daysIn(d.year, d.month)
	byNumber := uint64(c.Days)
	if c.LastDay {
		byNumber |= 1 << length
	}
	// The week is turned so that bit 1 is the weekday of the first of the month, and repeated five times.
	first := weekdayOf(dayNumber(date{d.year, d.month, 1}))
	week := uint64(c.Weekdays)
	week = (week>>first | week<<(7-first)) & uint64(AllWeekdays)
	byWeekday := (week | week<<7 | week<<14 | week<<21 | week<<28) << 1
	// If at most one of the two is restricted, the other has all days.
	days := byNumber & byWeekday
	if c.Days != AllDays && c.Weekdays != AllWeekdays {
		days = byNumber | byWeekday
	}
	days &= 1<<(length+1) - 1
	if c.Nth == 0 {
		return days
	}
	return c.atPositions(days)
}

// atPositions keeps of the days of a month those at the positions of Nth.
func (c Cron) atPositions(days uint64) (kept uint64) {
	n := bits.OnesCount64(days)
	for i := 1; i <= n; i++ {
		first := days & -days
		days &^= first
		fromEnd := n - i + 1
		if i <= maxNth && c.Nth>>i&1 == 1 || fromEnd <= maxNth && c.Nth>>(maxNth+fromEnd)&1 == 1 {
			kept |= first
		}
	}
	return kept
}

// months is how many months a search for a day looks into.
func (c Cron) months() int {
	if c.Nth != 0 {
		return maxNthMonths
	}
	return maxMonths
}
