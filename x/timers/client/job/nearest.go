package job

import (
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cosmos-timers/timers/x/timers/client/timespan"
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

// nearestZones are the zones that a name may have meant: by letters, or by the place alone.
func nearestZones(name string) []string {
	const most = 3
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

// posixRule is a zone as a rule, such as CET-1CEST, which begins with a name.
var posixRule = regexp.MustCompile(`^([A-Z]{3,5})[-+]?\d.*$`)

// placeOf is the name of a zone without its continent.
func placeOf(zone string) string {
	return zone[strings.LastIndex(zone, "/")+1:]
}
