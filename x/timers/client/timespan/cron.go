package timespan

import (
	"errors"
	"fmt"
	"math/bits"
	"regexp"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Rhythm is a repetition that people state by the clock: from a first moment, always the same time apart.
type Rhythm struct {
	First  time.Time
	Period time.Duration
}

const (
	minutesPerDay  = 24 * 60
	minutesPerWeek = 7 * minutesPerDay

	wantRhythm = "want one such as day@09:00, hour@:30, monday@09:00, or a cron expression of five fields such as '0 9 * * *'"
)

var (
	// byTheClock is day@09:00, hour@:30 or monday@09:00.
	byTheClock = regexp.MustCompile(`^([a-z]+)@(?:(\d\d?):|:)(\d\d)(z|[+-]\d\d:\d\d)?$`)
	cronParser = cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)
)

// weekdays by their names and the beginnings of these.
var weekdays = map[string]int{
	"sunday": 0, "sun": 0, "monday": 1, "mon": 1, "tuesday": 2, "tue": 2, "wednesday": 3, "wed": 3, "thursday": 4, "thu": 4,
	"friday": 5, "fri": 5, "saturday": 6, "sat": 6,
}

// IsRhythm reports whether a text is meant as a Rhythm, and not as a number of blocks or a duration.
func IsRhythm(text string) bool { return strings.ContainsAny(text, "@ *") }

// RhythmOf is what may be meant by a word alone: day@09:00 by day, and for a month, which is no even time, a date.
func RhythmOf(word string) (meant string, isWord bool) {
	switch word = strings.TrimSuffix(strings.ToLower(word), "ly"); word {
	case "day", "dai":
		return "day@09:00", true
	case "hour":
		return "hour@:30, or 1h", true
	case "week":
		return "monday@09:00, or 7d", true
	case "month", "year":
		return "30d, or a timer for each date (--at): a " + word + " is not always as long, and a timer repeats after a number of blocks", true
	}
	if _, known := weekdays[word]; known {
		return word + "@09:00", true
	}
	return "", false
}

// ParseRhythm reads a repetition by the clock. What states no offset from UTC is meant in the zone of now. The first comes
// when the clocks of then show that time; after that blocks know no change of clocks. Only what repeats after the same time
// always is a Rhythm, since a timer repeats after a number of blocks.
func ParseRhythm(text string, now time.Time) (Rhythm, error) {
	zone, expression, err := cronOf(text, now.Location())
	if err != nil {
		return Rhythm{}, err
	}
	parsed, err := cronParser.Parse(expression)
	if err != nil {
		return Rhythm{}, fmt.Errorf("%.80q is no cron expression (%w): %s", text, err, wantRhythm)
	}
	schedule, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return Rhythm{}, fmt.Errorf("%.80q is no cron expression: %s", text, wantRhythm)
	}
	period, err := periodOf(schedule)
	if err != nil {
		return Rhythm{}, fmt.Errorf("%.80q %w", text, err)
	}
	return Rhythm{nextShown(schedule, now, zone), period}, nil
}

// nextShown is the first moment after now at which the clocks of a zone show a time of a schedule. A time that a change of
// clocks leaves out counts as the one that they show instead: cron itself would leave that day out, or that week.
func nextShown(schedule *cron.SpecSchedule, now time.Time, zone *time.Location) time.Time {
	// The schedule is read by a clock that never changes, from before any change that counts: none is longer than this.
	const change = 4 * time.Hour
	schedule.Location = time.UTC
	face := faceOf(now.In(zone)).Add(-change)
	var found, until time.Time
	for {
		face = schedule.Next(face)
		if !found.IsZero() && face.After(until) {
			return found
		}
		for _, moment := range momentsAt(face, zone) {
			if moment.After(now) && (found.IsZero() || moment.Before(found)) {
				found, until = moment, face.Add(change)
			}
		}
	}
}

// cronOf is the cron expression that a text stands for, and its zone.
func cronOf(text string, zone *time.Location) (*time.Location, string, error) {
	m := byTheClock.FindStringSubmatch(strings.ToLower(text))
	if m == nil {
		if strings.Contains(text, "@") || strings.Contains(text, "TZ=") {
			return zone, "", fmt.Errorf("%.80q is no repetition: %s", text, wantRhythm)
		}
		return zone, text, nil
	}
	zone, _, err := cutOffset(strings.ToUpper(m[4]), zone)
	if err != nil {
		return zone, "", err
	}
	day, isWeekday := weekdays[m[1]]
	switch {
	case m[1] == "hour" && m[2] == "":
		return zone, m[3] + " * * * *", nil
	case m[1] == "day" && m[2] != "":
		return zone, m[3] + " " + m[2] + " * * *", nil
	case isWeekday && m[2] != "":
		return zone, fmt.Sprintf("%s %s * * %d", m[3], m[2], day), nil
	default:
		return zone, "", fmt.Errorf("%.80q is no repetition: %s", text, wantRhythm)
	}
}

// The fields of a schedule are sets of bits; the top one tells "*" from a list of all values.
const cronStar = 1 << 63

// periodOf is the time between any two neighbours of a schedule. It refuses a schedule whose distances differ.
func periodOf(s *cron.SpecSchedule) (time.Duration, error) {
	const allDays, allMonths = 1<<32 - 2, 1<<13 - 2
	if s.Dom&allDays != allDays || s.Month&allMonths != allMonths {
		return 0, errors.New("names days of a month or months, which are not equally long, and a timer repeats after a number of blocks: " +
			"want days of the week, or a timer for each date (--at)")
	}
	days := s.Dow
	if s.Dom&cronStar == 0 {
		// A list of all days of the month matches all days, whatever the days of the week.
		days = 1<<7 - 1
	}
	first, last, period := -1, -1, 0
	for day := range 7 {
		for minute := range minutesPerDay {
			if days&(1<<day) == 0 || s.Hour&(1<<(minute/60)) == 0 || s.Minute&(1<<(minute%60)) == 0 {
				continue
			}
			now := day*minutesPerDay + minute
			switch {
			case first < 0:
				first = now
			case period == 0:
				period = now - last
			case now-last != period:
				return 0, uneven(s)
			}
			last = now
		}
	}
	switch around := first + minutesPerWeek - last; {
	case period == 0:
		period = minutesPerWeek
	case around != period:
		return 0, uneven(s)
	}
	return time.Duration(period) * time.Minute, nil
}

// uneven refuses a schedule, and says how often a week it fires.
func uneven(s *cron.SpecSchedule) error {
	perDay := bits.OnesCount64(s.Hour&(1<<24-1)) * bits.OnesCount64(s.Minute&(1<<60-1))
	return fmt.Errorf("comes %d times a day, not always after the same time, and a timer repeats after a number of blocks: "+
		"want a timer for each of them, such as monday@09:00", perDay)
}
