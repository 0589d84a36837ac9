package draft

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/types"
	"github.com/cosmos-timers/timers/x/timers/watch/condition"
)

func addRepeatFlags(f *pflag.FlagSet) {
	f.String(flagEvery, "", "repeat it: by the clock, as 'month@1 09:00', 'month@last 18:00', weekday@09:00, 'mon,thu@09:00', day@09:00, hour@:30 or a cron expression such as '0 9 * * 1-5'; a time from one to the next, such as 1h; or a number of blocks")
	f.String(flagFirst, "", "when the first of its fires is due, with --"+flagEvery+" (default: that far from now): a date and a time, or for a number of blocks a height; --"+flagIn+" and --"+flagAfter+" state it as a distance")
	f.String(flagCount, "", "how often it fires: with --"+flagEvery+" (default: until it expires), or with --"+flagWatch+" (default 1; 0 for until it expires)")
	f.String(FlagEveryFrom, "", "with --"+flagEvery+" BLOCKS: what they count from, the last fire (fire, the default) or the first due height (schedule), whatever became of the fires between")
	f.String(FlagMissed, "", "of several fires that have come due meanwhile, the latest (latest, the default) or all of them, oldest first (each)")
	f.String(flagWindow, "", "how late a fire may be, as a time such as 10m, or for a number of blocks in blocks; later than that it is left out (default: until the next is due)")
	f.String(flagJitter, "", "by how much each fire may be due later, by chance, so that not all timers come at once: a time, or for a number of blocks in blocks")
	f.String(FlagOnFailure, "", "what a failed fire means for a timer that repeats, its retries included: roll (go on, the default), stop, or suspend, until you resume it")
	f.String(flagMaxFailures, "", "with --"+FlagOnFailure+" suspend: after how many failed fires in a row (default 1)")
	f.Bool(flagRenew, false, "give a timer that repeats the same life again with each fire: it ends when its payer runs dry, or you cancel it")
	f.String(flagRetries, "", "how often a failed fire is tried again, and paid again")
	f.String(flagRetryAfter, "", "from a failed fire to its retry: a time such as 10m if it is due by time, else a number of blocks; with --"+flagRetries)
	f.String(flagBackoff, "", "by what each further distance to a retry is multiplied, 1 to 4 (default 1); with --"+flagRetries)
	f.StringSlice(flagRetryOn, nil, "errors after which a fire is tried again, as CODESPACE or CODESPACE/CODE, at most 8 (default: all); with --"+flagRetries)
	f.StringArray(flagOnlyIf, nil, fmt.Sprintf("what must hold when it fires, as 'KEY OP VALUE' such as 'bank:balance:bob:stake < 100', where KEY is as in --"+flagWatch+": else it does nothing and costs little; may be repeated, %d at most", types.MaxOnlyIf))
	f.String(FlagOnUnfunded, "", "what happens when the payer can't cover a fire: destroy (the default), suspend, until you resume it, or skip this one of a timer that repeats")
}

// checkRepeats refuses what is stated for another trigger, and what --every can't mean.
func (d *Draft) checkRepeats() error {
	if err := d.watchOnly(); err != nil {
		return err
	}
	if text, repeats := d.Stated(flagEvery); repeats {
		return d.checkEvery(text)
	}
	alone, alternative := append(ruleFlags, FlagOnFailure, flagMaxFailures, FlagMissed, flagWindow, flagJitter), map[string]string{}
	if _, watches := d.Stated(flagWatch); !watches {
		alone = append(alone, flagCount)
		alternative[flagCount] = " or --" + flagWatch
	}
	return d.needEvery(alone, alternative)
}

// needEvery refuses flags that are stated without --every, or another flag that is an alternative to it.
func (d *Draft) needEvery(flags []string, alternative map[string]string) error {
	for _, flag := range flags {
		if value, given := d.Stated(flag); given {
			return fmt.Errorf("--%s %q is stated without --%s%s: it is for a timer that repeats", flag, value, flagEvery, alternative[flag])
		}
	}
	return nil
}

// repetition reads what is stated of repetitions, of which nothing asks a node.
func (d *Draft) repetition() (r types.Repeat, err error) {
	if _, given := d.Stated(flagRenew); given {
		if r.Renew, err = d.Flags.GetBool(flagRenew); err != nil {
			return r, err
		}
	}
	times, given := d.Stated(flagCount)
	if _, watches := d.Stated(flagWatch); watches {
		if given && times != "0" {
			r.Remaining, err = parseFires(times)
		}
		return r, err
	}
	if given {
		if r.Remaining, err = parseFires(times); err != nil {
			return r, err
		}
	}
	if choice, given := d.Stated(FlagOnFailure); given {
		value, known := types.OnFailure_value["ON_FAILURE_"+strings.ToUpper(choice)]
		if r.OnFailure = types.OnFailure(value); !known || value == 0 {
			return r, fmt.Errorf("--%s %.80q is unknown: want roll, stop or suspend", FlagOnFailure, choice)
		}
	}
	if text, given := d.Stated(flagMaxFailures); given {
		if r.OnFailure != types.OnFailureSuspend {
			return r, fmt.Errorf("--%s %q is stated without --%s suspend", flagMaxFailures, text, FlagOnFailure)
		}
		count, err := timespan.ParseCount(text, "number of failures")
		if err != nil || count > math.MaxUint32 {
			return r, fmt.Errorf("--%s %.80q: want a number of failures", flagMaxFailures, text)
		}
		r.MaxFailures = uint32(count)
	}
	return r, nil
}

// ruleFlags are part of the rule that --every states.
var ruleFlags = []string{flagFirst, FlagEveryFrom}

// repeatFlags state how a timer repeats, whatever its rule is, and the fields of its spec that an update changes by each. How often it
// may fail goes with what a failure means.
var repeatFlags = map[string][]string{
	flagCount: {"repeat.remaining"}, FlagOnFailure: {"repeat.on_failure", "repeat.max_failures"}, flagMaxFailures: {"repeat.max_failures"},
	FlagMissed: {"repeat.missed"}, flagWindow: {"repeat.window"}, flagJitter: {"repeat.jitter"}, flagRenew: {"repeat.renew"},
}

// retryFlags state how a failed fire is tried again, all together.
var retryFlags = []string{flagRetries, flagRetryAfter, flagBackoff, flagRetryOn}

// ofFlags are the fields that those of some flags name that are stated, in the order of the flags.
func (d *Draft) ofFlags(flags map[string][]string) (fields []string) {
	for _, flag := range slices.Sorted(maps.Keys(flags)) {
		if !d.Flags.Changed(flag) {
			continue
		}
		for _, field := range flags[flag] {
			if !slices.Contains(fields, field) {
				fields = append(fields, field)
			}
		}
	}
	return fields
}

// options reads what is stated of bad moments and of conditions. A change may state that there are no retries any more.
func (d *Draft) options(spec *types.TimerSpec, changes bool) (err error) {
	if times, _ := d.Stated(flagRetries); !changes || times != "0" {
		if spec.Retry, err = d.retry(); err != nil {
			return err
		}
	}
	if spec.OnUnfunded, err = d.onUnfunded(); err != nil {
		return err
	}
	if _, given := d.Stated(flagOnlyIf); given {
		spec.OnlyIf, err = d.onlyIf()
	}
	return err
}

// retry reads --retries and what goes with it, but for the distance, which is in the clock of the trigger; nil without.
func (d *Draft) retry() (*types.Retry, error) {
	times, hasTimes := d.Stated(flagRetries)
	_, hasAfter := d.Stated(flagRetryAfter)
	switch {
	case hasTimes != hasAfter:
		return nil, fmt.Errorf("--%s and --%s go together: want both or neither", flagRetries, flagRetryAfter)
	case !hasTimes:
		for _, flag := range []string{flagBackoff, flagRetryOn} {
			if value, given := d.Stated(flag); given {
				return nil, fmt.Errorf("--%s %q is stated without --%s and --%s", flag, value, flagRetries, flagRetryAfter)
			}
		}
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
	if text, given := d.Stated(flagBackoff); given {
		backoff, err := timespan.ParseCount(text, "backoff")
		if err != nil || backoff > 4 {
			return nil, fmt.Errorf("--%s %.80q: want 1 to 4", flagBackoff, text)
		}
		retry.Backoff = uint32(backoff)
	}
	retry.On, err = d.retryOn()
	return retry, err
}

// retryAfter reads --retry-after into a retry, if there is one: a time if the trigger is one by time, else a number of blocks.
func (d *Draft) retryAfter(retry *types.Retry, byTime bool) (err error) {
	text, given := d.Stated(flagRetryAfter)
	digits := timespan.IsDigits(text)
	switch {
	case retry == nil || !given:
		return nil
	case byTime && digits:
		return fmt.Errorf("--%s: %.80q has no unit, and the timer is due by time: want a time such as 10m", flagRetryAfter, text)
	case byTime:
		var length time.Duration
		length, err = timespan.ParseDuration(text)
		retry.After = uint64((length + time.Second - 1) / time.Second)
	default:
		if _, wrong := timespan.ParseDuration(text); !digits && wrong == nil {
			return fmt.Errorf("--%s: %.80q is a time, and the timer counts blocks: want a number of blocks such as 10", flagRetryAfter, text)
		}
		retry.After, err = timespan.ParseCount(text, "number of blocks")
	}
	if err != nil {
		err = fmt.Errorf("--%s: %w", flagRetryAfter, err)
	}
	return err
}

// retryOn reads --retry-on.
func (d *Draft) retryOn() (errors []types.ErrorCode, err error) {
	texts, err := d.Flags.GetStringSlice(flagRetryOn)
	if err != nil {
		return nil, err
	}
	for _, text := range texts {
		codespace, number, coded := strings.Cut(text, "/")
		code := uint64(0)
		if coded {
			code, err = strconv.ParseUint(number, 10, 32)
		}
		if err != nil || codespace == "" {
			return nil, fmt.Errorf("--%s %.80q: want CODESPACE, or CODESPACE/CODE such as sdk/5", flagRetryOn, text)
		}
		errors = append(errors, types.ErrorCode{Codespace: codespace, Code: uint32(code)})
	}
	return errors, nil
}

// onlyIf reads what must hold when a timer fires, and says whether it holds now. A text that is empty states nothing.
func (d *Draft) onlyIf() (conditions []types.WatchKey, err error) {
	texts, err := d.Flags.GetStringArray(flagOnlyIf)
	if err != nil {
		return nil, err
	}
	for _, text := range texts {
		if text == "" {
			continue
		}
		name, says, _ := strings.Cut(text, " ")
		op, value, err := condition.ParseText(says)
		if err != nil {
			return nil, fmt.Errorf("--%s %.200q: want KEY OP VALUE, such as 'bank:balance:bob:stake < 100': %w", flagOnlyIf, text, err)
		}
		key, holds, err := d.watchKey(name, &types.WatchCondition{Op: types.ConditionOp(op), Value: value})
		if err != nil {
			return nil, fmt.Errorf("--%s: %w", flagOnlyIf, err)
		}
		if !d.Offline {
			now := "does not hold now"
			if holds {
				now = "holds now"
			}
			d.Notef("only if %s: %s", plain.Clean(text), now)
		}
		conditions = append(conditions, key)
		d.OnlyIf = append(d.OnlyIf, name)
	}
	if len(conditions) > types.MaxOnlyIf {
		return nil, fmt.Errorf("--%s is stated %d times: want at most %d", flagOnlyIf, len(conditions), types.MaxOnlyIf)
	}
	return conditions, nil
}

// onUnfunded reads --on-unfunded.
func (d *Draft) onUnfunded() (types.OnUnfunded, error) {
	choice, given := d.Stated(FlagOnUnfunded)
	if !given {
		return types.OnUnfundedUnspecified, nil
	}
	value, known := types.OnUnfunded_value["ON_UNFUNDED_"+strings.ToUpper(choice)]
	if !known || value == 0 {
		return 0, fmt.Errorf("--%s %.80q is unknown: want destroy, suspend or skip", FlagOnUnfunded, choice)
	}
	return types.OnUnfunded(value), nil
}

// parseFires reads what --count says of how often a timer fires.
func parseFires(text string) (uint64, error) {
	fires, err := timespan.ParseCount(text, "number of fires")
	if err != nil {
		return 0, fmt.Errorf("--%s: %w", flagCount, err)
	}
	return fires, nil
}
