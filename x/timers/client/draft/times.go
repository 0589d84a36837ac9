package draft

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// This file reads times that stay times: the chain goes by the time of its blocks, whatever these do.

// zone is the time zone in which dates, times of day and rules are meant: that of --zone, or of the machine.
func (d *Draft) zone() (*time.Location, error) {
	name, given := d.Stated(FlagZone)
	if !given {
		return d.Zone()
	}
	zone, err := d.NamedZone(name)
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", FlagZone, err)
	}
	return zone, nil
}

// ZoneName is the name of a zone; empty where it has none that others know.
func ZoneName(zone *time.Location) string {
	if zone == nil || zone == time.Local || filepath.IsAbs(zone.String()) {
		return ""
	}
	return zone.String()
}

// present is now in the zone in which times are meant: as the node and the machine say, or the machine alone where there is no
// node.
func (d *Draft) present() (time.Time, error) {
	zone, err := d.zone()
	if err != nil {
		return time.Time{}, err
	}
	if d.Offline {
		return timespan.MachineOf(d.Ctx).Now().In(zone), nil
	}
	c, err := d.Clock()
	if err != nil {
		return time.Time{}, err
	}
	return c.Present().In(zone), nil
}

// Stamp writes a time, in seconds since 1970, in the zone of who asks.
func (d *Draft) Stamp(seconds int64) string {
	at := time.Unix(seconds, 0)
	if zone, err := d.Zone(); err == nil {
		at = at.In(zone)
	}
	return timespan.Clock{}.Stamp(at)
}

// moment reads a date and a time, or a time of day.
func (d *Draft) moment(flag, text string) (time.Time, error) {
	now, err := d.present()
	if err != nil {
		return now, fmt.Errorf("--%s %s: %w", flag, text, err)
	}
	if d.AsFile {
		if !timespan.IsDated(text) {
			return now, fmt.Errorf("--%s %.80q is another time each day: a file states a date and a time, such as '2030-01-31 09:00'", flag, text)
		}
		now = time.Unix(0, 0).In(now.Location())
	}
	at, err := timespan.ParseMoment(text, now)
	if err != nil {
		return at, fmt.Errorf("--%s: %w", flag, err)
	}
	if note := timespan.NoteClocks(text, at, now.Location()); note != "" {
		d.Notef("--%s %s: %s", flag, text, note)
	}
	return at, nil
}

// later reads a distance in time from now, such as 10m or 1y.
func (d *Draft) later(flag, text string) (time.Time, error) {
	now, err := d.present()
	if err != nil {
		return now, fmt.Errorf("--%s %s: %w", flag, text, err)
	}
	at, err := timespan.Later(text, now)
	if err != nil {
		return at, fmt.Errorf("--%s: %w", flag, err)
	}
	return at, nil
}

// isTime tells whether a flag that says when a timer is due states a time, and no height and no number of blocks.
func isTime(flag, text string) bool { return flag == flagAfter || isMoment(flag, text) }

// dueTime reads a time at which a timer is due, in seconds since 1970. One that is too soon for the transaction that schedules
// it is the soonest that may do: a time is a lower bound.
func (d *Draft) dueTime(flag, text string) (int64, error) {
	read := d.moment
	if flag == flagAfter {
		read = d.later
	}
	at, err := read(flag, text)
	if err != nil || d.Offline || d.AsFile {
		return timespan.Seconds(at), err
	}
	c, err := d.Clock()
	if err != nil {
		return 0, err
	}
	soonest := c.Present()
	if c.PaceErr == nil {
		soonest = soonest.Add(c.Pace.TimeFor(timespan.LeadBlocks))
	}
	return max(timespan.Seconds(at), timespan.Seconds(soonest)), nil
}

// end reads until when the timer may fire: a height, or a time in seconds since 1970.
func (d *Draft) end(flag, text string) (height uint64, seconds int64, err error) {
	var at time.Time
	switch {
	case isMoment(flag, text):
		at, err = d.moment(flag, text)
	case flag == FlagFor && timespan.IsDigits(text):
		err = fmt.Errorf("--%s: %q has no unit: want a time such as 30d, 6mo or 1y; --%s takes a number of blocks", flag, text, flagExpiresIn)
	case flag == FlagFor, flag == flagExpiresIn && !timespan.IsDigits(text):
		at, err = d.later(flag, text)
	default:
		height, err = d.height(flag, text)
		return height, 0, err
	}
	if err != nil {
		return 0, 0, err
	}
	return 0, timespan.Seconds(at), nil
}

// chain is the chain's config; nil without a node.
func (d *Draft) chain() (*types.TimerConfig, error) {
	if d.config != nil || d.Offline {
		return d.config, nil
	}
	params, err := types.NewQueryClient(d.Context).Params(d.Ctx, &types.QueryParamsRequest{})
	if err != nil {
		return nil, fmt.Errorf("ask for the chain's config: %s", plain.ServerSays(err))
	}
	d.config = &params.Config
	return d.config, nil
}

// takesTimes tells whether the chain takes triggers by time. One that can't be asked is taken to.
func (d *Draft) takesTimes() (bool, error) {
	config, err := d.chain()
	return config == nil || config.TimeTriggers, err
}

// noTimes says that what was stated as a time becomes blocks.
func (d *Draft) noTimes(flag, text string) error {
	if d.AsFile {
		return fmt.Errorf("--%s %s: this chain takes no triggers by time: a file states heights and blocks", flag, text)
	}
	d.Notef("--%s %s: this chain takes no triggers by time: it is converted to blocks, and moves if they become slower or faster", flag, text)
	return nil
}

// zoneMatters refuses --zone where nothing is stated by a clock.
func (d *Draft) zoneMatters() error {
	name, given := d.Stated(FlagZone)
	if !given {
		return nil
	}
	if _, err := d.zone(); err != nil {
		return err
	}
	for _, flag := range []string{flagAt, flagFirst, flagExpiresAt, flagUntil} {
		if text, stated := d.Stated(flag); stated && isMoment(flag, text) {
			return nil
		}
	}
	if text, repeats := d.Stated(flagEvery); repeats && isByTheClock(text) {
		return nil
	}
	return fmt.Errorf("--%s %.80q is stated, and no date and no time of day: heights, blocks and distances have no zone", FlagZone, name)
}
