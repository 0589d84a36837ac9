package job

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cosmos/cosmos-sdk/client/flags"

	"github.com/cosmos-timers/timers/x/timers/client/timespan"
)

// Clock asks the node what height it is, once. A chain that may be halted is an objection to a transaction, and a warning
// beside what is looked at.
func (j *Job) Clock() (timespan.Clock, error) {
	if j.known != nil {
		return *j.known, nil
	}
	if j.Offline {
		return timespan.Clock{}, fmt.Errorf("distances from now need a node: with --%s, state a height", flags.FlagOffline)
	}
	if _, err := j.Zone(); err != nil {
		return timespan.Clock{}, err
	}
	node, err := j.GetNode()
	if err != nil {
		return timespan.Clock{}, err
	}
	c, err := timespan.ReadClock(j.Ctx, node)
	if err != nil {
		return timespan.Clock{}, err
	}
	j.known = &c
	if c.Halted() {
		j.Object("%s", c.DescribeHalt())
		if j.Signer.Text == "" {
			j.Warn()
		}
	}
	return c, nil
}

// Zone is the zone in which times are read and shown. One that is not known is refused, and what may have been meant is
// named: the standard library takes it for UTC without a word.
func (j *Job) Zone() (*time.Location, error) {
	zone, err := timespan.MachineOf(j.Ctx).Zone()
	if unknown := (*timespan.UnknownZoneError)(nil); errors.As(err, &unknown) {
		if near := nearestZones(unknown.Name); len(near) > 0 {
			return nil, fmt.Errorf("%w; did you mean %s?", err, strings.Join(near, " or "))
		}
	}
	return zone, err
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
