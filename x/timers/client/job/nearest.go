package job

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/client/when"
)

// Nearest are the words that a mistyped one may have meant, as cobra finds them for its commands.
func Nearest(word string, words []string) []string {
	parent := &cobra.Command{}
	for _, one := range words {
		parent.AddCommand(&cobra.Command{Use: one, Run: func(*cobra.Command, []string) {}})
	}
	for parent.SuggestionsMinimumDistance = 1; parent.SuggestionsMinimumDistance <= 2; parent.SuggestionsMinimumDistance++ {
		if near := parent.SuggestionsFor(word); len(near) > 0 {
			slices.Sort(near)
			return near
		}
	}
	return nil
}

// abbreviations are what people call the time of a place, which is no name of its zone: half a year it is another.
var abbreviations = map[string]string{
	"CEST": "Europe/Berlin", "BST": "Europe/London", "WEST": "Europe/Lisbon", "EEST": "Europe/Athens", "MSK": "Europe/Moscow",
	"EDT": "America/New_York", "CST": "America/Chicago", "CDT": "America/Chicago", "MDT": "America/Denver", "PST": "America/Los_Angeles",
	"PDT": "America/Los_Angeles", "BRT": "America/Sao_Paulo", "IST": "Asia/Kolkata", "JST": "Asia/Tokyo", "KST": "Asia/Seoul",
	"SGT": "Asia/Singapore", "HKT": "Asia/Hong_Kong", "AEST": "Australia/Sydney", "AEDT": "Australia/Sydney", "NZST": "Pacific/Auckland",
	"NZDT": "Pacific/Auckland",
}

// nearestZones are the zones that a name may have meant: by letters, or by the place alone.
func nearestZones(name string) []string {
	const most = 3
	if name == "" {
		return nil
	}
	if place, known := abbreviations[strings.ToUpper(name)]; known {
		return []string{place}
	}
	all := timespan.Zones()
	name = posixRule.ReplaceAllString(name, "$1")
	if slices.Contains(all, name) {
		return []string{name}
	}
	near := Nearest(name, all)
	if len(near) == 0 {
		places := make([]string, len(all))
		for i, zone := range all {
			places[i] = placeOf(zone)
		}
		meant := Nearest(placeOf(name), places)
		for i, place := range places {
			if slices.Contains(meant, place) {
				near = append(near, all[i])
			}
		}
	}
	return near[:min(len(near), most)]
}

// NamedZone is the time zone of a name. One that is not known is refused, and what may have been meant is named.
func (j *Job) NamedZone(name string) (*time.Location, error) {
	zone, err := when.Zone(name)
	if err == nil {
		return zone, nil
	}
	if near := nearestZones(name); len(near) > 0 {
		return nil, fmt.Errorf("%w; did you mean %s?", err, strings.Join(near, " or "))
	}
	return nil, err
}

// posixRule is a zone as a rule, such as CET-1CEST, which begins with a name.
var posixRule = regexp.MustCompile(`^([A-Z]{3,5})[-+]?\d.*$`)

// placeOf is the name of a zone without its continent.
func placeOf(zone string) string {
	return zone[strings.LastIndex(zone, "/")+1:]
}
