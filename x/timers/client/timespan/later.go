package timespan

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"time"
)

// byCalendar is what of a distance is counted by the calendar: years, months and weeks. What follows is a duration.
var byCalendar = regexp.MustCompile(`^(?:(\d{1,4})y)?(?:(\d{1,4})mo)?(?:(\d{1,4})w)?(.*)$`)

const wantDistance = "want a time such as 90s, 10m, 2d, 2w, 6mo or 1y"

// Later is a moment so much after another: 10m, 1h30m, 2d, 2w, 6mo, 1y or 1y6mo. Years and months are those of the calendar in
// the zone of the moment; where a month has no such day, its last one counts.
func Later(text string, from time.Time) (time.Time, error) {
	m := byCalendar.FindStringSubmatch(text)
	if m == nil || text == "" {
		return time.Time{}, fmt.Errorf("%.80q is no time: %s", text, wantDistance)
	}
	counts := [3]int{}
	for i := range counts {
		// What is not stated is 0.
		counts[i], _ = strconv.Atoi(m[i+1])
	}
	years, months, weeks := counts[0], counts[1], counts[2]
	to := from.AddDate(years, months, 0)
	if to.Day() != from.Day() {
		to = to.AddDate(0, 0, -to.Day())
	}
	to = to.AddDate(0, 0, 7*weeks)
	if rest := m[4]; rest != "" {
		d, err := ParseDuration(rest)
		switch {
		case errors.Is(err, errNoDuration) || err != nil && rest != text:
			return time.Time{}, fmt.Errorf("%.80q is no time: %s", text, wantDistance)
		case err != nil:
			return time.Time{}, err
		}
		to = to.Add(d)
	}
	if !to.After(from) {
		return time.Time{}, fmt.Errorf("%.80q does not lie ahead: %s", text, wantDistance)
	}
	return to, nil
}

// Seconds is a moment in whole seconds since 1970, rounded up: nothing is due before it.
func Seconds(t time.Time) int64 {
	seconds := t.Unix()
	if t.Nanosecond() > 0 && seconds < math.MaxInt64 {
		seconds++
	}
	return seconds
}
