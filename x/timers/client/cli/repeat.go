package cli

import (
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// The flags by which scheduling says that a timer lives on after a fire.
const (
	flagEvery      = "every"
	flagFirst      = "first"
	flagTimes      = "times"
	flagOnFailure  = "on-failure"
	flagRetries    = "retries"
	flagRetryAfter = "retry-after"
	flagOnUnfunded = "on-unfunded"
)

func addRepeatFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.String(flagEvery, "", "repeat it: a number of blocks from one fire to the next, or a time such as 1h, converted to blocks")
	f.String(flagFirst, "", "height of the first of its fires, with --"+flagEvery+" (default: that far from now); --"+flagIn+" and --"+flagAfter+" state it as a distance")
	f.String(flagTimes, "", "how often it fires: with --"+flagEvery+" (default: until it expires), or with --"+flagWatch+" (default 1; 0 for until it expires)")
	f.String(flagOnFailure, "", "what a failed fire means for a timer that repeats, its retries included: roll (go on, the default) or stop")
	f.String(flagRetries, "", "how often a failed fire is tried again, and paid again")
	f.String(flagRetryAfter, "", "blocks, or a time, from a failed fire to its retry; with --"+flagRetries)
	f.String(flagOnUnfunded, "", "what happens when the payer can't cover a fire: destroy (the default) or suspend, until you resume it")
}

// interval reads --every and what goes with it; nil without.
func (j *job) interval() (*types.IntervalTrigger, error) {
	text, repeats := j.stated(flagEvery)
	if !repeats {
		alone := []string{flagFirst, flagOnFailure}
		if _, watches := j.stated(flagWatch); !watches {
			alone = append(alone, flagTimes)
		}
		for _, flag := range alone {
			if value, given := j.stated(flag); given {
				return nil, fmt.Errorf("--%s %q is stated without --%s: it is for a timer that repeats", flag, value, flagEvery)
			}
		}
		return nil, nil
	}
	interval := &types.IntervalTrigger{}
	var err error
	if times, given := j.stated(flagTimes); given {
		if interval.Remaining, err = parseFires(times); err != nil {
			return nil, err
		}
	}
	if choice, given := j.stated(flagOnFailure); given {
		value, known := types.OnFailure_value["ON_FAILURE_"+strings.ToUpper(choice)]
		if interval.OnFailure = types.OnFailure(value); !known || value == 0 {
			return nil, fmt.Errorf("--%s %.80q is unknown: want roll or stop", flagOnFailure, choice)
		}
	}
	interval.Every, err = j.blocks(flagEvery, text)
	return interval, err
}

// retry reads --retries and --retry-after; nil without.
func (j *job) retry() (*types.Retry, error) {
	times, hasTimes := j.stated(flagRetries)
	after, hasAfter := j.stated(flagRetryAfter)
	switch {
	case hasTimes != hasAfter:
		return nil, fmt.Errorf("--%s and --%s go together: want both or neither", flagRetries, flagRetryAfter)
	case !hasTimes:
		return nil, nil
	}
	count, err := parseCount(times, "number of retries")
	if err == nil && count > math.MaxUint32 {
		err = fmt.Errorf("%.80q is too many", times)
	}
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", flagRetries, err)
	}
	retry := &types.Retry{Max: uint32(count)}
	retry.After, err = j.blocks(flagRetryAfter, after)
	return retry, err
}

// onUnfunded reads --on-unfunded.
func (j *job) onUnfunded() (types.OnUnfunded, error) {
	choice, given := j.stated(flagOnUnfunded)
	if !given {
		return types.OnUnfundedUnspecified, nil
	}
	value, known := types.OnUnfunded_value["ON_UNFUNDED_"+strings.ToUpper(choice)]
	if !known || value == 0 {
		return 0, fmt.Errorf("--%s %.80q is unknown: want destroy or suspend", flagOnUnfunded, choice)
	}
	return types.OnUnfunded(value), nil
}

// blocks reads a distance in blocks. One that is stated as a time is converted with the chain's recent block time, rounded
// up, and shown back.
func (j *job) blocks(flag, text string) (uint64, error) {
	distance, err := parseSpan(text)
	if err != nil {
		return 0, fmt.Errorf("--%s: %w", flag, err)
	}
	if distance.blocks > 0 {
		return distance.blocks, nil
	}
	c, err := j.clock()
	if err == nil {
		err = c.paceErr
	}
	if err != nil {
		return 0, fmt.Errorf("--%s %s: %w", flag, text, err)
	}
	blocks, err := distance.in(c.pace)
	if err != nil {
		return 0, fmt.Errorf("--%s %s: %w", flag, text, err)
	}
	// A time shorter than a block is one block: a lower bound, as everywhere.
	blocks = max(blocks, 1)
	j.notef("--%s %s: %s", flag, text, c.pace.describe(blocks))
	return blocks, nil
}

// describe is a distance as people see it: "600 blocks, about 10m0s at 1.002s a block".
func (p pace) describe(blocks uint64) string {
	unit := "blocks"
	if blocks == 1 {
		unit = "block"
	}
	return fmt.Sprintf("%d %s, about %s at %s a block", blocks, unit, roundForPeople(p.timeFor(blocks)), p)
}

// checkLife refuses what the chain would refuse of further fires.
func (o *outlook) checkLife(msg *types.MsgScheduleTimer) error {
	if i := msg.Trigger.Interval; i != nil {
		if err := i.Validate(&o.config); err != nil {
			return fmt.Errorf("--%s: %w", flagEvery, err)
		}
	}
	if err := msg.Retry.Validate(&o.config); err != nil {
		return fmt.Errorf("--%s and --%s: %w", flagRetries, flagRetryAfter, err)
	}
	return nil
}

// firstDue is when a timer is due first, as far as that is known: an interval without a first height is due that far from
// the block that schedules it.
func firstDue(msg *types.MsgScheduleTimer, now uint64) uint64 {
	i := msg.Trigger.Interval
	switch {
	case i == nil:
		return msg.Trigger.Height
	case i.First != 0:
		return i.First
	default:
		return now + 1 + i.Every
	}
}

// parseFires reads --times: how often a timer fires.
func parseFires(text string) (uint64, error) {
	fires, err := parseCount(text, "number of fires")
	if err != nil {
		return 0, fmt.Errorf("--%s: %w", flagTimes, err)
	}
	return fires, nil
}
