package timespan

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// clockTime is a time of day, with an offset from UTC if it is not that of the machine.
var clockTime = regexp.MustCompile(`^([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?(Z|[+-]\d\d:\d\d)?$`)

// WantMoment is what a moment is stated as.
const WantMoment = "want a date and time such as 2030-01-31T09:00:00Z or '2030-01-31 09:00', or a time of day such as 09:00"

// momentLayout is how a time is shown.
const momentLayout = "2006-01-02 15:04:05 -07:00"

// dateLayouts are the ways in which a date and a time are written; those without an offset mean the zone of the machine.
var dateLayouts = []string{
	time.RFC3339, "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04Z07:00", "2006-01-02 15:04Z07:00",
	"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04",
}

// ParseMoment reads a date and a time, or a time of day: the first one after now. What states no offset from UTC is meant
// in the zone of now. It must lie after now.
func ParseMoment(text string, now time.Time) (time.Time, error) {
	if clockTime.MatchString(text) {
		return nextClockTime(text, now)
	}
	for _, layout := range dateLayouts {
		moment, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		if !strings.Contains(layout, "Z07:00") {
			// Where the clocks show it twice, the first that comes is meant.
			for _, shown := range momentsAt(moment, now.Location()) {
				if moment = shown; moment.After(now) {
					break
				}
			}
		}
		if !moment.After(now) {
			return moment, fmt.Errorf("%.80q has passed: it is %s", text, now.Format(momentLayout))
		}
		return moment, nil
	}
	return time.Time{}, fmt.Errorf("%.80q is no date and time: %s", text, wrongDate(text))
}

// IsDated tells a date and a time from a time of day alone.
func IsDated(text string) bool { return !clockTime.MatchString(text) }

// dated is a date, with a time behind it or none.
var dated = regexp.MustCompile(`^(\d{4})-(\d\d)-(\d\d)([T ].*)?$`)

// wrongDate says what is wrong with what is no date and time, and what would do.
func wrongDate(text string) string {
	m := dated.FindStringSubmatch(text)
	if m == nil {
		return WantMoment
	}
	// What is not two digits does not come here.
	year, _ := strconv.Atoi(m[1])
	month, _ := strconv.Atoi(m[2])
	date, _ := strconv.Atoi(m[3])
	last := time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC)
	switch {
	case month < 1 || month > 12:
		return "a year has the months 01 to 12"
	case date < 1 || date > last.Day():
		return fmt.Sprintf("%s %d has the days 01 to %d", last.Month(), year, last.Day())
	case m[4] == "":
		return fmt.Sprintf("it has no time of day: want one such as '%s 09:00'", text)
	}
	return WantMoment
}

// NoteClocks says of a time that the clocks of its zone show twice, or not at all, which one it stands for; empty for any
// other. At is what ParseMoment made of the text.
func NoteClocks(text string, at time.Time, zone *time.Location) string {
	shown, found := at.In(zone), false
	if m := clockTime.FindStringSubmatch(text); m != nil && m[4] == "" {
		layout := "15:04"
		if m[3] != "" {
			layout = "15:04:05"
		}
		of, err := time.Parse(layout, text)
		found = err == nil
		shown = time.Date(shown.Year(), shown.Month(), shown.Day(), of.Hour(), of.Minute(), of.Second(), 0, time.UTC)
	}
	for _, layout := range dateLayouts {
		if face, err := time.Parse(layout, text); err == nil && !strings.Contains(layout, "Z07:00") {
			shown, found = face, true
		}
	}
	if !found {
		return ""
	}
	moments, clock := momentsAt(shown, zone), shown.Format("15:04")
	switch {
	case len(moments) == 2 && at.Equal(moments[0]):
		return fmt.Sprintf("%s comes twice that day, since the clocks of %s are set back: the first, %s, counts", clock, zone, at.In(zone).Format(momentLayout))
	case len(moments) == 2:
		return fmt.Sprintf("%s comes twice that day, since the clocks of %s are set back: the second, %s, counts, since the first has passed",
			clock, zone, at.In(zone).Format(momentLayout))
	case !faceOf(at.In(zone)).Equal(shown):
		return fmt.Sprintf("%s does not exist that day, since the clocks of %s are set over it: %s counts", clock, zone, at.In(zone).Format(momentLayout))
	}
	return ""
}

// nextClockTime is the first moment after now at which it is that time of day.
func nextClockTime(text string, now time.Time) (time.Time, error) {
	zone, text, err := cutOffset(text, now.Location())
	if err != nil {
		return time.Time{}, err
	}
	layout := "15:04"
	if strings.Count(text, ":") == 2 {
		layout = "15:04:05"
	}
	of, err := time.Parse(layout, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("%.80q is no time of day: %s", text, WantMoment)
	}
	day := now.In(zone)
	for days := 0; ; days++ {
		shown := time.Date(day.Year(), day.Month(), day.Day()+days, of.Hour(), of.Minute(), of.Second(), 0, time.UTC)
		for _, moment := range momentsAt(shown, zone) {
			if moment.After(now) {
				return moment, nil
			}
		}
	}
}

// faceOf is what the clocks show at a moment, as the time of a clock that never changes.
func faceOf(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}

// momentsAt are the moments at which the clocks of a zone show a time: two where they are set back over it. One that a
// change of clocks leaves out is the one that they show instead: it is never refused, and never early.
func momentsAt(face time.Time, zone *time.Location) []time.Time {
	t := time.Date(face.Year(), face.Month(), face.Day(), face.Hour(), face.Minute(), face.Second(), face.Nanosecond(), zone)
	if left := face.Sub(faceOf(t)); left != 0 {
		return []time.Time{t.Add(max(left, 0))}
	}
	// The standard library does not say which of two it takes. Another lies across a change of the offset.
	for _, far := range []time.Duration{-day, day} {
		_, offset := t.Zone()
		_, there := t.Add(far).Zone()
		other := t.Add(time.Duration(offset-there) * time.Second)
		switch {
		case !faceOf(other).Equal(face):
		case other.Before(t):
			return []time.Time{other, t}
		case t.Before(other):
			return []time.Time{t, other}
		}
	}
	return []time.Time{t}
}

// cutOffset takes an offset from UTC off the end of a time of day; without one, the zone is that given.
func cutOffset(text string, zone *time.Location) (*time.Location, string, error) {
	at := strings.IndexAny(text, "Z+-")
	if at < 0 {
		return zone, text, nil
	}
	offset, err := time.Parse("Z07:00", text[at:])
	if err != nil {
		return zone, text, fmt.Errorf("%.80q is no offset from UTC: want Z or one such as +01:00", text[at:])
	}
	_, seconds := offset.Zone()
	return time.FixedZone(text[at:], seconds), text[:at], nil
}

// HeightAt is the first height whose block is expected at or after a moment that lies ahead. The blocks count from the
// latest: a clock of the machine that is off by seconds makes nothing early. Only where the chain may be halted do they
// count from now.
func (c Clock) HeightAt(moment time.Time) (uint64, error) {
	ahead := moment.Sub(c.Time)
	if c.Halted() {
		ahead -= c.late()
	}
	if ahead <= 0 {
		return c.Height + 1, nil
	}
	return c.heightIn(ahead)
}

// Expected is the time at which a height is expected, never one that has passed; that of the latest block where that is not
// known, or the height has passed.
func (c Clock) Expected(height uint64) time.Time {
	if c.PaceErr != nil || height <= c.Height {
		return c.Time
	}
	return c.Time.Add(c.Pace.TimeFor(height - c.Height)).Add(c.late())
}

// Until is how long it takes until a height that lies ahead is expected.
func (c Clock) Until(height uint64) time.Duration { return max(c.Expected(height).Sub(c.Present()), 0) }

// Moment tells when a height is expected: "2030-01-31 09:00:00 +01:00". It is empty where that is not known.
func (c Clock) Moment(height uint64) string {
	if c.PaceErr != nil || height <= c.Height {
		return ""
	}
	return c.Stamp(c.Expected(height))
}

// Stamp writes a time for who reads the clock.
func (c Clock) Stamp(t time.Time) string {
	if c.Zone == nil {
		return t.Format(momentLayout)
	}
	return Stamp(t, c.Zone)
}

// Stamp writes a time for people: "2030-01-31 09:00:00 +01:00". Every command writes times so.
func Stamp(t time.Time, zone *time.Location) string { return t.In(zone).Format(momentLayout) }
