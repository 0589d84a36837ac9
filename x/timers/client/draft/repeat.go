package draft

import (
	"fmt"
	"math"
	"strings"

	"github.com/spf13/pflag"

	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/types"
)

func addRepeatFlags(f *pflag.FlagSet) {
	f.String(flagEvery, "", "repeat it: a number of blocks from one fire to the next, a time such as 1h, or by the clock, as day@09:00, hour@:30, monday@09:00 or a cron expression such as '0 9 * * *'; times are converted to blocks")
	f.String(flagFirst, "", "height of the first of its fires, or a date and a time, with --"+flagEvery+" (default: that far from now); --"+flagIn+" and --"+flagAfter+" state it as a distance")
	f.String(flagCount, "", "how often it fires: with --"+flagEvery+" (default: until it expires), or with --"+flagWatch+" (default 1; 0 for until it expires)")
	f.String(flagTimes, "", "deprecated: use --"+flagCount)
	f.Lookup(flagTimes).Hidden = true
	f.String(FlagOnFailure, "", "what a failed fire means for a timer that repeats, its retries included: roll (go on, the default) or stop")
	f.String(flagRetries, "", "how often a failed fire is tried again, and paid again")
	f.String(flagRetryAfter, "", "blocks, or a time, from a failed fire to its retry; with --"+flagRetries)
	f.String(FlagOnUnfunded, "", "what happens when the payer can't cover a fire: destroy (the default) or suspend, until you resume it")
}

// interval reads --every and what goes with it; nil without. It refuses what is stated for another trigger.
func (d *Draft) interval() (*types.IntervalTrigger, error) {
	if err := d.watchOnly(); err != nil {
		return nil, err
	}
	text, repeats := d.Stated(flagEvery)
	if !repeats {
		alone, alternative := []string{flagFirst, FlagOnFailure}, map[string]string{}
		if _, watches := d.Stated(flagWatch); !watches {
			alone = append(alone, flagCount, flagTimes)
			alternative[flagCount], alternative[flagTimes] = " or --"+flagWatch, " or --"+flagWatch
		}
		for _, flag := range alone {
			if value, given := d.Stated(flag); given {
				return nil, fmt.Errorf("--%s %q is stated without --%s%s: it is for a timer that repeats", flag, value, flagEvery, alternative[flag])
			}
		}
		return nil, nil
	}
	flag, times, err := d.count()
	if err != nil {
		return nil, err
	}
	interval := &types.IntervalTrigger{}
	if flag != "" {
		if interval.Remaining, err = parseFires(flag, times); err != nil {
			return nil, err
		}
	}
	if choice, given := d.Stated(FlagOnFailure); given {
		value, known := types.OnFailure_value["ON_FAILURE_"+strings.ToUpper(choice)]
		if interval.OnFailure = types.OnFailure(value); !known || value == 0 {
			return nil, fmt.Errorf("--%s %.80q is unknown: want roll or stop", FlagOnFailure, choice)
		}
	}
	if meant, isWord := timespan.RhythmOf(text); isWord {
		return nil, fmt.Errorf("--%s %s says not when: want one such as %s", flagEvery, text, meant)
	}
	if !timespan.IsRhythm(text) {
		interval.Every, err = d.blocks(flagEvery, text)
		return interval, err
	}
	r, err := d.rhythm(text)
	if err != nil {
		return nil, err
	}
	interval.Every, interval.First = r.Every, r.First
	return interval, nil
}

// retry reads --retries and --retry-after; nil without.
func (d *Draft) retry() (*types.Retry, error) {
	times, hasTimes := d.Stated(flagRetries)
	after, hasAfter := d.Stated(flagRetryAfter)
	switch {
	case hasTimes != hasAfter:
		return nil, fmt.Errorf("--%s and --%s go together: want both or neither", flagRetries, flagRetryAfter)
	case !hasTimes:
		return nil, nil
	}
	count, err := timespan.ParseCount(times, "number of retries")
	if err == nil && count > math.MaxUint32 {
		err = fmt.Errorf("%.80q is too many", times)
	}
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", flagRetries, err)
	}
	retry := &types.Retry{Max: uint32(count)}
	retry.After, err = d.blocks(flagRetryAfter, after)
	return retry, err
}

// onUnfunded reads --on-unfunded.
func (d *Draft) onUnfunded() (types.OnUnfunded, error) {
	choice, given := d.Stated(FlagOnUnfunded)
	if !given {
		return types.OnUnfundedUnspecified, nil
	}
	value, known := types.OnUnfunded_value["ON_UNFUNDED_"+strings.ToUpper(choice)]
	if !known || value == 0 {
		return 0, fmt.Errorf("--%s %.80q is unknown: want destroy or suspend", FlagOnUnfunded, choice)
	}
	return types.OnUnfunded(value), nil
}

// count returns the flag that states how often a timer fires, --count or its former name, and what it says; nothing if
// neither is given.
func (d *Draft) count() (flag, text string, err error) {
	flag, text, err = d.OneOf("how often the timer fires", false, flagCount, flagTimes)
	if flag == flagTimes {
		d.Notef("--%s is deprecated: use --%s", flagTimes, flagCount)
	}
	return flag, text, err
}

// parseFires reads what a flag says of how often a timer fires.
func parseFires(flag, text string) (uint64, error) {
	fires, err := timespan.ParseCount(text, "number of fires")
	if err != nil {
		return 0, fmt.Errorf("--%s: %w", flag, err)
	}
	return fires, nil
}

// Fit is how many fires there are from a height to another, both included, at so many blocks from one to the next.
func Fit(first, every, last uint64) uint64 {
	if last < first {
		return 0
	}
	return (last-first)/every + 1
}
