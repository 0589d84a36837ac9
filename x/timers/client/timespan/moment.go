package timespan

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// clockTime is a time of day, with an offset from UTC if it is not that of the machine.
var clockTime = regexp.MustCompile(`^([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?(Z|[+-]\d\d:\d\d)?$`)

const wantMoment = "want a date and time such as 2030-01-31T09:00:00Z or '2030-01-31 09:00', or a time of day such as 09:00"

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
		moment, err := time.ParseInLocation(layout, text, now.Location())
		if err != nil {
			continue
		}
		if !moment.After(now) {
			return moment, fmt.Errorf("%.80q has passed: the latest block is of %s", text, now.Format(time.RFC3339))
		}
		return moment, nil
	}
	return time.Time{}, fmt.Errorf("%.80q is no date and time: %s", text, wantMoment)
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
		return time.Time{}, fmt.Errorf("%.80q is no time of day: %s", text, wantMoment)
	}
	day := now.In(zone)
	// A time of day that a change of clocks leaves out is the one that the clocks show instead: it is never refused.
	at := func(days int) time.Time {
		return time.Date(day.Year(), day.Month(), day.Day()+days, of.Hour(), of.Minute(), of.Second(), 0, zone)
	}
	moment := at(0)
	if !moment.After(now) {
		moment = at(1)
	}
	return moment, nil
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

// HeightAt is the first height whose block is expected at or after a moment that lies ahead.
func (c Clock) HeightAt(moment time.Time) (uint64, error) {
	if !moment.After(c.Time) {
		return c.Height + 1, nil
	}
	return c.HeightAfter(Span{Time: moment.Sub(c.Time)})
}

// Expected is the time at which a height is expected; that of the latest block where that is not known, or it has passed.
func (c Clock) Expected(height uint64) time.Time {
	if c.PaceErr != nil || height <= c.Height {
		return c.Time
	}
	return c.Time.Add(c.Pace.TimeFor(height - c.Height))
}

// Moment tells when a height is expected: "2030-01-31 09:00:00 +01:00". It is empty where that is not known.
func (c Clock) Moment(height uint64, zone *time.Location) string {
	if c.PaceErr != nil || height <= c.Height {
		return ""
	}
	return c.Expected(height).In(zone).Format("2006-01-02 15:04:05 -07:00")
}
