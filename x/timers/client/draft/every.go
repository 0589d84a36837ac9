package draft

import (
	"fmt"
	"strings"
	"time"

	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/client/when"
	"github.com/cosmos-timers/timers/x/timers/schedule"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// isByTheClock tells whether a text of --every is meant as a rule of local time, and not as a number of blocks or a distance.
func isByTheClock(text string) bool { return strings.ContainsAny(text, "@ *") }

// checkEvery refuses what --every can't mean, before anything asks a node.
func (d *Draft) checkEvery(text string) error {
	if timespan.IsDigits(text) {
		_, err := timespan.ParseCount(text, "number of blocks")
		if err != nil {
			return fmt.Errorf("--%s: %w", flagEvery, err)
		}
		return nil
	}
	if short, err := timespan.ParseDuration(text); err == nil && short < schedule.MinSeconds*time.Second {
		return fmt.Errorf("--%s %.80q is too short: want 1m at least, or a number of blocks, such as --%s 20", flagEvery, text, flagEvery)
	}
	if _, err := when.Parse(text, time.UTC, timespan.MachineOf(d.Ctx).Now(), time.Time{}); err != nil {
		return fmt.Errorf("--%s: %w", flagEvery, err)
	}
	return nil
}

// calendar reads --every where it counts time or follows the clock. Ends is the end of the timer's life, if that is a time.
func (d *Draft) calendar(text, dueFlag, dueText string, ends int64) (*types.CalendarTrigger, error) {
	now, err := d.present()
	if err != nil {
		return nil, fmt.Errorf("--%s %s: %w", flagEvery, text, err)
	}
	config, err := d.chain()
	if err != nil {
		return nil, err
	}
	var until time.Time
	switch {
	case ends != 0:
		until = time.Unix(ends, 0)
	case config != nil:
		until = now.Add(time.Duration(config.MaxTtlSeconds) * time.Second)
	}
	plan, err := when.Parse(text, now.Location(), now, until)
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", flagEvery, err)
	}
	c := &types.CalendarTrigger{}
	switch rule := plan.Calendar.Rule.(type) {
	case schedule.Every:
		c.Every = &types.EveryRule{Seconds: uint64(rule.Seconds)}
		switch {
		case dueFlag == "":
		case !isTime(dueFlag, dueText):
			return nil, fmt.Errorf("--%s %s counts blocks, and --%s %s time: want a date and a time, or --%s", dueFlag, dueText, flagEvery, text, flagAfter)
		default:
			if c.Every.Anchor, err = d.dueTime(dueFlag, dueText); err != nil {
				return nil, err
			}
		}
	case schedule.Cron:
		if dueFlag != "" {
			return nil, fmt.Errorf("--%s states by the clock when the timer is due first, and so does --%s %q: want one of them", flagEvery, dueFlag, dueText)
		}
		c.Cron = &types.CronRule{
			Minutes: rule.Minutes, Hours: rule.Hours, Days: rule.Days, LastDay: rule.LastDay, Months: uint32(rule.Months), Weekdays: uint32(rule.Weekdays), Nth: uint32(rule.Nth),
		}
		c.OffsetMinutes = plan.Calendar.OffsetMinutes
		for _, t := range plan.Calendar.Transitions {
			c.Transitions = append(c.Transitions, types.OffsetTransition{From: t.From, OffsetMinutes: t.OffsetMinutes})
		}
		d.Rule = &plan
	}
	if _, given := d.Stated(FlagEveryFrom); given {
		return nil, fmt.Errorf("--%s is for a number of blocks: --%s %s always counts from its schedule", FlagEveryFrom, flagEvery, text)
	}
	return c, nil
}

// interval reads --every where it counts blocks.
func (d *Draft) interval(text, dueFlag, dueText string) (*types.IntervalTrigger, error) {
	i := &types.IntervalTrigger{}
	from, given := d.Stated(FlagEveryFrom)
	if given {
		value, known := types.IntervalFrom_value["INTERVAL_FROM_"+strings.ToUpper(from)]
		if i.From = types.IntervalFrom(value); !known || value == 0 {
			return nil, fmt.Errorf("--%s %.80q is unknown: want fire or schedule", FlagEveryFrom, from)
		}
	}
	var err error
	if i.Every, err = d.blocks(flagEvery, text); err != nil {
		return nil, err
	}
	if dueFlag != "" {
		if i.First, err = d.dueHeight(dueFlag, dueText); err != nil {
			return nil, err
		}
	}
	return i, nil
}

// occurrences reads what is stated of occurrences that are known in advance, in the clock of their trigger.
func (d *Draft) occurrences(r *types.Repeat, trigger *types.Trigger) error {
	if !trigger.HasOccurrences() {
		for _, flag := range []string{FlagMissed, flagWindow, flagJitter} {
			if value, given := d.Stated(flag); given {
				return fmt.Errorf("--%s %q: an interval that counts from its fires has none that could be late: want --%s schedule beside it", flag, value, FlagEveryFrom)
			}
		}
		return nil
	}
	if text, given := d.Stated(FlagMissed); given {
		value, known := types.Missed_value["MISSED_"+strings.ToUpper(text)]
		if r.Missed = types.Missed(value); !known || value == 0 {
			return fmt.Errorf("--%s %.80q is unknown: want latest or each", FlagMissed, text)
		}
	}
	var err error
	if r.Window, err = d.distance(flagWindow, trigger.ByTime()); err != nil {
		return err
	}
	if r.Jitter, err = d.distance(flagJitter, trigger.ByTime()); err != nil {
		return err
	}
	if r.Jitter > types.MaxJitter {
		most := "24h"
		if !trigger.ByTime() {
			most = fmt.Sprintf("%d blocks", types.MaxJitter)
		}
		return fmt.Errorf("--%s %s is too long: want at most %s", flagJitter, d.Flags.Lookup(flagJitter).Value, most)
	}
	return nil
}

// distance reads a distance in whole seconds, or in blocks; 0 if it is not stated.
func (d *Draft) distance(flag string, inTime bool) (uint64, error) {
	text, given := d.Stated(flag)
	switch {
	case !given:
		return 0, nil
	case !inTime:
		return d.blocks(flag, text)
	case timespan.IsDigits(text):
		return 0, fmt.Errorf("--%s: %q has no unit: --%s counts time here, want a duration such as 10m", flag, text, flagEvery)
	}
	length, err := timespan.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("--%s: %w", flag, err)
	}
	return uint64((length + time.Second - 1) / time.Second), nil
}
