package schedule

import (
	"errors"
	"fmt"
	"math"
)

const (
	// MaxTime is the last second of the domain, 9999-12-31T23:59:59Z; its first one is 0, 1970-01-01T00:00:00Z. Within it
	// no sum or product of this package overflows. What lies outside is never an occurrence.
	MaxTime = 253_402_300_799
	// MinSeconds is the least distance of the occurrences of Every.
	MinSeconds = 60
	// MaxTransitions is the largest number of transitions of a calendar.
	MaxTransitions = 16
	// MaxOffsetMinutes bounds offsets from UTC to either side. Those in use are −12:00 to +14:00, and no zone ever had one
	// beyond 16:00.
	MaxOffsetMinutes = 18 * 60
	// MaxCount is how far Calendar.Count counts the occurrences of Cron.
	MaxCount = 16
)

const secondsPerMinute = 60

// Rule is Every or Cron.
type Rule interface {
	// Validate returns an error that says what was wrong, and what would be right.
	Validate() error
	// isRule keeps others out.
	isRule()
}

// Every is a rule of equal distances: Anchor, and each Seconds after it. It knows no local time, and no change of clocks
// makes a distance shorter or longer.
type Every struct {
	// Seconds is from MinSeconds to MaxTime, Anchor from 0 to MaxTime.
	Seconds, Anchor int64
}

func (Every) isRule() {}
func (Cron) isRule()  {}

// Validate implements Rule.
func (e Every) Validate() error {
	if err := within("seconds", e.Seconds, MinSeconds, MaxTime); err != nil {
		return err
	}
	return within("anchor", e.Anchor, 0, MaxTime)
}

// progression has the occurrences. In the domain its terms fit signed numbers.
func (e Every) progression() progression[int64] { return progression[int64]{e.Anchor, e.Seconds} }

// Transition is a change of the offset from UTC.
type Transition struct {
	// From is the first second with the offset: a whole minute from 0 to MaxTime.
	From int64
	// OffsetMinutes is local time less UTC.
	OffsetMinutes int32
}

// Calendar is a series of instants of block time.
//
// The occurrences of Cron are those of its local minutes that match. Local time is UTC with the offset of the last
// transition, or OffsetMinutes before the first. A local minute is due when clocks that show local time first show it or a
// later one. So one that they show again after having been set back counts the first time only. One that they leave out
// when set forward is due at that transition; several of these, and the minute that they are set to, are one occurrence.
//
// So a rule that matches each minute is not due while clocks show again what they have shown. What must come without a
// pause is Every.
type Calendar struct {
	Rule Rule
	// OffsetMinutes is local time less UTC before the first transition, within MaxOffsetMinutes either way.
	OffsetMinutes int32
	// Transitions are at most MaxTransitions, in strictly ascending order.
	Transitions []Transition
}

var _ Series[int64] = Calendar{}

// Validate returns an error that says what was wrong, and what would be right.
func (c Calendar) Validate() error {
	switch rule := c.Rule.(type) {
	case Every:
		if c.OffsetMinutes != 0 || len(c.Transitions) > 0 {
			return errors.New("every has an offset from UTC, and counts seconds: want no offset and no transitions, or cron")
		}
		return rule.Validate()
	case Cron:
		if err := rule.Validate(); err != nil {
			return err
		}
	default:
		return errors.New("there is no rule: want every or cron")
	}
	if err := withinOffset(c.OffsetMinutes); err != nil {
		return err
	}
	if n := len(c.Transitions); n > MaxTransitions {
		return fmt.Errorf("there are %d transitions: want at most %d", n, MaxTransitions)
	}
	last := int64(-1)
	for i, t := range c.Transitions {
		err := within("from", t.From, 0, MaxTime)
		switch {
		case err != nil:
		case t.From%secondsPerMinute != 0:
			err = fmt.Errorf("from is %d: want a whole minute, such as %d", t.From, t.From-t.From%secondsPerMinute)
		case t.From <= last:
			err = fmt.Errorf("from is %d, and that of the one before %d: want ascending order", t.From, last)
		default:
			err = withinOffset(t.OffsetMinutes)
		}
		if err != nil {
			return fmt.Errorf("transition %d: %w", i+1, err)
		}
		last = t.From
	}
	return nil
}

// withinOffset refuses an offset beyond its bound.
func withinOffset(minutes int32) error {
	return within("offset in minutes", int64(minutes), -MaxOffsetMinutes, MaxOffsetMinutes)
}

// Next implements Series. It looks into a constant number of months, whatever the horizon, and passes the transitions
// twice.
func (c Calendar) Next(after, horizon int64) (int64, bool) {
	after, horizon = max(after, -1), min(horizon, MaxTime)
	switch rule := c.Rule.(type) {
	case Every:
		return rule.progression().next(after, horizon)
	case Cron:
		// Both directions between instants and local minutes ascend: what is due after an instant are the local minutes
		// beyond the last one that was reached by then.
		local, ok := rule.next(c.reached(min(after, MaxTime)))
		due := c.due(local)
		return found(due, ok && due <= horizon)
	default:
		return 0, false
	}
}

// Latest implements Series, in as many steps as Next.
func (c Calendar) Latest(after, now int64) (int64, bool) {
	after, now = max(after, -1), min(now, MaxTime)
	switch rule := c.Rule.(type) {
	case Every:
		return rule.progression().latest(after, now)
	case Cron:
		// As in Next: what is due by now are the local minutes that were reached by then.
		local, ok := rule.previous(c.reached(max(now, -1)))
		due := c.due(local)
		return found(due, ok && due > after)
	default:
		return 0, false
	}
}

// Count implements Series. It divides for Every, and is exact. For Cron it counts up to MaxCount.
func (c Calendar) Count(after, to int64) (n uint64, exact bool) {
	return c.CountAtLeast(after, to, MaxCount)
}

// CountAtLeast is Count with another limit for Cron: it takes at most limit + 1 times the steps of Next. At the limit the
// result is a lower bound, and exact is false.
func (c Calendar) CountAtLeast(after, to int64, limit uint64) (n uint64, exact bool) {
	if rule, every := c.Rule.(Every); every {
		return rule.progression().count(max(after, -1), min(to, MaxTime)), true
	}
	for n < limit {
		next, ok := c.Next(after, to)
		if !ok {
			return n, true
		}
		after = next
		n++
	}
	return n, false
}

// reached is the last local minute that clocks have shown or passed at an instant. While an offset lasts, they have reached
// most at its end.
func (c Calendar) reached(at int64) int64 {
	minute, _ := divide(at, secondsPerMinute)
	passed, offset := int64(math.MinInt64), int64(c.OffsetMinutes)
	for _, t := range c.Transitions {
		if t.From > at {
			break
		}
		passed = max(passed, t.From/secondsPerMinute-1+offset)
		offset = int64(t.OffsetMinutes)
	}
	return max(passed, minute+offset)
}

// due is the first instant at which clocks show a local minute, or have passed it. While an offset lasts that is when they
// show it, or at the begin if they begin behind it; if it ends before, the next offset is asked.
func (c Calendar) due(local int64) int64 {
	from, offset := int64(math.MinInt64), int64(c.OffsetMinutes)
	for _, t := range c.Transitions {
		minute := max(from, local-offset)
		if minute < t.From/secondsPerMinute {
			return minute * secondsPerMinute
		}
		from, offset = t.From/secondsPerMinute, int64(t.OffsetMinutes)
	}
	return max(from, local-offset) * secondsPerMinute
}

// Civil dates are counted in days since 1970-01-01, in the proleptic Gregorian calendar. A cycle of 400 years has the same
// number of days each time; years are counted from March, so that a leap day is the last day of its year.
const (
	daysPerYear    = 365
	daysPerCentury = 100*daysPerYear + 24
	daysPerCycle   = 400*daysPerYear + 97
	// marchToEpoch is the number of days from 0000-03-01 to 1970-01-01.
	marchToEpoch = 719_468
)

// date is a day of the calendar: the month from 1 to 12, and the day from 1 on.
type date struct{ year, month, day int64 }

// dayNumber is the number of days from 1970-01-01 to a date.
func dayNumber(d date) int64 {
	// The month counted from March, 0 to 11. Five months from March or August on have 153 days.
	month := (d.month + 9) % 12
	year := d.year - month/10
	cycle, inCycle := divide(year, 400)
	return cycle*daysPerCycle + inCycle*daysPerYear + inCycle/4 - inCycle/100 + (153*month+2)/5 + d.day - 1 - marchToEpoch
}

// dateOf is the inverse of dayNumber.
func dateOf(day int64) date {
	cycle, inCycle := divide(day+marchToEpoch, daysPerCycle)
	// The year of the cycle, with its leap days taken out: one in 4 years, none in 100, one in 400.
	year := (inCycle - inCycle/(4*daysPerYear) + inCycle/daysPerCentury - inCycle/(daysPerCycle-1)) / daysPerYear
	inYear := inCycle - (year*daysPerYear + year/4 - year/100)
	month := (5*inYear + 2) / 153
	d := date{cycle*400 + year, (month+2)%12 + 1, inYear - (153*month+2)/5 + 1}
	d.year += month / 10
	return d
}

// daysIn is the length of a month.
func daysIn(year, month int64) int64 {
	if month != 2 {
		// The lengths alternate, and July and August both have 31 days.
		return 30 + (month+month/8)%2
	}
	if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
		return 29
	}
	return 28
}

// weekdayOf is the day of the week of a day number, 0 for Sunday: 1970-01-01 was a Thursday.
func weekdayOf(day int64) int64 {
	_, weekday := divide(day+4, 7)
	return weekday
}

// divide rounds the quotient down, so that the remainder is not negative. The divisor is above 0.
func divide(a, b int64) (quotient, remainder int64) {
	quotient, remainder = a/b, a%b
	if remainder < 0 {
		quotient, remainder = quotient-1, remainder+b
	}
	return quotient, remainder
}
