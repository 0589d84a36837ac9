package timespan

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
	// A command means the same on a machine without files of time zones, whichever chain's binary it is of: 450 kB.
	_ "time/tzdata"
)

// Machine is what the machine of who runs a command says of time.
type Machine struct {
	// Now reads its clock.
	Now func() time.Time
	// TZ is the variable of that name; HasTZ tells whether there is one.
	TZ    string
	HasTZ bool
}

// machineKey is where a context keeps the machine.
type machineKey struct{}

// OnMachine is a context in which commands run on a machine.
func OnMachine(ctx context.Context, m Machine) context.Context {
	return context.WithValue(ctx, machineKey{}, m)
}

// MachineOf is the machine of a context: the one that the program runs on, unless another is stated.
func MachineOf(ctx context.Context) Machine {
	if m, stated := ctx.Value(machineKey{}).(Machine); stated {
		return m
	}
	tz, has := os.LookupEnv("TZ")
	return Machine{Now: time.Now, TZ: tz, HasTZ: has}
}

// UnknownZoneError is of a machine whose zone no one knows, which the standard library takes for UTC without a word.
type UnknownZoneError struct{ Name string }

func (e *UnknownZoneError) Error() string {
	return fmt.Sprintf("TZ=%.80s is no time zone that is known here: want a name such as Europe/Berlin, or UTC", e.Name)
}

// Zone is the zone of the machine: as TZ names it, and without TZ as it is set for the machine.
func (m Machine) Zone() (*time.Location, error) {
	if !m.HasTZ {
		return time.Local, nil
	}
	name := strings.TrimPrefix(m.TZ, ":")
	if filepath.IsAbs(name) {
		data, err := os.ReadFile(name) //nolint:gosec // a file of zones that the user names for each program
		if err != nil {
			return nil, &UnknownZoneError{m.TZ}
		}
		zone, err := time.LoadLocationFromTZData(name, data)
		if err != nil {
			return nil, &UnknownZoneError{m.TZ}
		}
		return zone, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil || zone == time.Local {
		return nil, &UnknownZoneError{m.TZ}
	}
	return zone, nil
}

//go:embed zones.txt
var zones string

// Zones are the names of all zones.
func Zones() []string { return strings.Fields(zones) }
