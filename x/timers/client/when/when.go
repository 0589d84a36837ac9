// Package when compiles what people say of recurring times, such as month@last 18:00 in Europe/Berlin, to calendars that
// a chain understands, and writes calendars in words.
package when

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/schedule"
)

// Plan is what a text means.
type Plan struct {
	Calendar schedule.Calendar
	// Until is when the zone's offset changes the next time after the last transition of the calendar: from then on the
	// calendar is off by that change. It is zero if no further change is known.
	Until time.Time
	// Zone is the one in which the rule is meant: that of its text, if it states an offset. It is nil for distances.
	Zone *time.Location
}

const want = "want one such as month@1 09:00, month@last 18:00, mon,thu@09:00, weekday@09:00, day@09:00, hour@:30, 90m, " +
	"or a cron expression such as '0 9 * * 1-5'"

var (
	// byTheClock is DAYS@TIME, or MONTHS@DAYS TIME, with an offset from UTC if it is not meant in the zone.
	byTheClock = regexp.MustCompile(`^([a-z,-]+)@(?:([a-z0-9,-]+) )?(?:(\d\d?):|:)(\d\d) ?(z|[+-]\d\d:\d\d)?$`)

	// zonedCron is a cron expression that begins with its zone, as some programs write it.
	zonedCron = regexp.MustCompile(`^\s*(?:CRON_)?TZ=(\S+)\s+(.*?)\s*$`)

	// macros are those of crontab.
	macros = map[string]string{
		"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0", "@monthly": "0 0 1 * *",
		"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
	}
	// dayWords are sets of weekdays that have a name.
	dayWords = map[string]string{"day": "*", "weekday": "1-5", "weekend": "6,0"}
	// bare are words without a time, and what may be meant by them.
	bare = map[string]string{
		"hour": "hour@:00, or 1h", "day": "day@09:00, or 24h", "week": "mon@09:00", "month": "month@1 09:00", "year": "jan@1 09:00",
		"weekday": "weekday@09:00", "weekend": "weekend@09:00",
	}
)

// Parse reads a recurring time, in any case:
//
//	day@09:00              every day; weekday (Monday to Friday), weekend, and lists and ranges of days, such as mon,thu or mon-fri
//	month@1 09:00          the first of each month; lists and ranges of days, and last for the last one; jan,jul@1 09:00 in some months
//	hour@:30               every hour at that minute
//	90m, 1h30m, 2d         every so often from now, the first time after that time
//	0 9 * * 1-5            a cron expression of five fields; Sunday is 0 or 7, L is the last day of the month
//	@daily                 the words of crontab
//
// It is meant in a zone unless it ends with an offset from UTC (Z, +01:00). The zone's changes of the offset from now on
// are compiled into the calendar until an instant, as Compile does.
func Parse(text string, zone *time.Location, now, until time.Time) (Plan, error) {
	words := strings.Join(strings.Fields(strings.ToLower(text)), " ")
	if zoned := zonedCron.FindStringSubmatch(text); zoned != nil {
		return Plan{}, fmt.Errorf("%.80q states a zone within: want --zone %s beside '%s'", text, zoned[1], zoned[2])
	}
	m := byTheClock.FindStringSubmatch(words)
	if m == nil && !strings.ContainsAny(words, "@* ") {
		return every(text, words, now)
	}
	expression, err := expressionOf(words, m)
	if err != nil {
		return Plan{}, fmt.Errorf("%.80q %w", text, err)
	}
	if m != nil && m[5] != "" {
		if zone, err = offsetZone(m[5]); err != nil {
			return Plan{}, fmt.Errorf("%.80q %w", text, err)
		}
	}
	rule, err := parseCron(expression)
	if err != nil {
		return Plan{}, fmt.Errorf("%.80q: %w", text, err)
	}
	plan, err := Compile(zone, now, until)
	if err != nil {
		return Plan{}, err
	}
	plan.Calendar.Rule, plan.Zone = rule, zone
	if err := plan.Calendar.Validate(); err != nil {
		return Plan{}, fmt.Errorf("%.80q: %w", text, err)
	}
	return plan, nil
}

// every is a distance in time, which counts from now.
func every(text, words string, now time.Time) (Plan, error) {
	if meant, known := meantBy(words); known {
		return Plan{}, fmt.Errorf("%.80q has no time: did you mean %s?", text, meant)
	}
	d, err := timespan.ParseDuration(words)
	switch {
	case err != nil:
		return Plan{}, fmt.Errorf("%.80q is no recurring time: %s", text, want)
	case d < schedule.MinSeconds*time.Second || d%time.Second != 0:
		return Plan{}, fmt.Errorf("%.80q is no distance that a timer can have: want whole seconds, and 1m at least", text)
	}
	seconds := int64(d / time.Second)
	c := schedule.Calendar{Rule: schedule.Every{Seconds: seconds, Anchor: now.Unix() + seconds}}
	if err := c.Validate(); err != nil {
		return Plan{}, fmt.Errorf("%.80q from now: %w", text, err)
	}
	return Plan{Calendar: c}, nil
}

// meantBy is what may be meant by a word without a time.
func meantBy(word string) (string, bool) {
	if day, known := weekdayField.value(word); known && !timespan.IsDigits(word) {
		return weekdays[day%7] + "@09:00", true
	}
	word = strings.TrimSuffix(word, "ly")
	if word == "dai" {
		word = "day"
	}
	meant, known := bare[word]
	return meant, known
}

// expressionOf is the cron expression that a text stands for; its parts are those of byTheClock, if it has that form.
func expressionOf(words string, m []string) (string, error) {
	if m == nil {
		if expression, known := macros[words]; known {
			return expression, nil
		}
		if strings.Contains(words, "@") {
			return "", fmt.Errorf("is no recurring time: %s", want)
		}
		return words, nil
	}
	set, days, hour, minute := m[1], m[2], m[3], m[4]
	ofWord, isWord := dayWords[set]
	first, _, _ := strings.Cut(strings.ReplaceAll(set, "-", ","), ",")
	_, isMonth := monthField.value(first)
	switch {
	case (set == "hour") != (hour == ""), set == "hour" && days != "":
		return "", errors.New("is no recurring time: want a time of day such as 09:00, or hour@:30 for each hour")
	case set == "hour":
		return minute + " * * * *", nil
	case isWord && days == "":
		return minute + " " + hour + " * * " + ofWord, nil
	case (set == "month" || isMonth) && days == "":
		return "", fmt.Errorf("has no day: want %s@1 %s:%s, or %s@last %s:%s", set, hour, minute, set, hour, minute)
	case set == "month":
		return minute + " " + hour + " " + days + " * *", nil
	case isMonth:
		return minute + " " + hour + " " + days + " " + set + " *", nil
	case days == "":
		return minute + " " + hour + " * * " + set, nil
	default:
		return "", fmt.Errorf("has days of the month next to %s: want month@%s %s:%s", set, days, hour, minute)
	}
}

// offsetZone is the zone of an offset from UTC.
func offsetZone(text string) (*time.Location, error) {
	if text == "z" {
		return time.UTC, nil
	}
	hours, err := strconv.Atoi(text[1:3])
	minutes, other := strconv.Atoi(text[4:])
	if err != nil || other != nil || minutes > 59 || hours*60+minutes > schedule.MaxOffsetMinutes {
		return nil, fmt.Errorf("has the offset %s from UTC: want -18:00 to +18:00, such as +01:00", text)
	}
	seconds := (hours*60 + minutes) * 60
	if text[0] == '-' {
		seconds = -seconds
	}
	return time.FixedZone(text, seconds), nil
}
