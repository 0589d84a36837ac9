package schedule

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
