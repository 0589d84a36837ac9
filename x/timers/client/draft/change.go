package draft

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"github.com/cosmos/cosmos-sdk/client/flags"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/client/bids"
	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// AddUpdateFlags adds the flags that Update reads.
func AddUpdateFlags(f *pflag.FlagSet) {
	addCallFlags(f)
	f.Lookup(bids.FlagMaxCharge).Usage = "most that one fire may cost, a whole amount in the fee denom; none for no bound; default: ten times what it may cost today"
	f.Lookup(bids.FlagGasLimit).Usage = "cycles that one fire may use; " + bids.AutoGas + ": what a dry run says that its messages need"
	f.Bool(flagDefaultBid, false, "go back to the default bid")
	addTriggerFlags(f)
	f.String(flagName, "", "what you call it from now on; '' takes its name away")
	for _, action := range Actions() {
		if action.Flags != nil {
			action.Flags(f)
		}
	}
}

// Update reads the flags of a change of one of the signer's timers.
func (d *Draft) Update(timer string) (*types.MsgUpdateTimer, error) {
	limits, auto, err := bids.ReadLimitsOrAuto(d.Job)
	if err != nil {
		return nil, err
	}
	d.AutoGas = auto
	msg := &types.MsgUpdateTimer{Sender: d.Signer.Text, Spec: types.TimerSpec{GasLimit: limits.Gas, CellLimit: limits.Cells, MaxCharge: limits.MaxCharge}}
	if msg.Spec.Name, _ = d.Stated(flagName); msg.Spec.Name != "" {
		if err := checkName(msg.Spec.Name); err != nil {
			return nil, fmt.Errorf("--%s: %w", flagName, err)
		}
	}
	name := func(stated bool, fields ...string) {
		if stated {
			msg.Fields = append(msg.Fields, fields...)
		}
	}
	name(d.Flags.Changed(flagName), "name")
	name(limits.Gas != 0, "gas_limit")
	name(limits.Cells != 0, "cell_limit")
	name(limits.MaxCharge != "", "max_charge")
	if msg.Spec.Bid, err = bids.Read(d.Job); err != nil {
		return nil, err
	}
	text, given := d.Stated(flagDefaultBid)
	if given = given && text == "true"; given && msg.Spec.Bid != nil {
		return nil, fmt.Errorf("--%s is stated beside another bid: want one of them", flagDefaultBid)
	}
	name(given || msg.Spec.Bid != nil, "bid")
	call, err := d.call(false)
	if err != nil {
		return nil, err
	}
	if call != nil {
		msg.Spec.Call = *call
		name(true, "call")
	}
	when, err := d.readDue(false)
	if err != nil {
		return nil, err
	}
	name(when.stated(), "trigger")
	repeats := d.ofFlags(repeatFlags)
	if when.stated() || len(repeats) == 0 {
		err = d.checkRepeats()
	} else if err = d.watchOnly(); err == nil {
		err = d.needEvery(ruleFlags, nil)
	}
	if err != nil {
		return nil, err
	}
	name(true, repeats...)
	name(slices.ContainsFunc(retryFlags, d.Flags.Changed), "retry")
	name(d.Flags.Changed(FlagOnUnfunded), "on_unfunded")
	name(d.Flags.Changed(flagOnlyIf), "only_if")
	d.DefaultCharge = limits.DefaultCharge
	if len(msg.Fields) == 0 && !auto && !limits.DefaultCharge {
		return nil, errors.New("nothing to change: want one of " + job.ListFlags(slices.Concat([]string{
			flagMsgs, flagPayloadFile, flagPayload, bids.FlagGasLimit, bids.FlagCellLimit, bids.FlagMaxCharge, bids.FlagMaxFee, bids.FlagTier, bids.FlagBid, bids.FlagAgent, flagDefaultBid,
			flagAt, flagIn, flagAfter, flagEvery, flagWatch, flagName,
		}, slices.Sorted(maps.Keys(repeatFlags)), retryFlags, []string{FlagOnUnfunded, flagOnlyIf})))
	}
	owned, err := d.OwnTimer(timer)
	if err != nil {
		return nil, err
	}
	msg.Id, msg.Name, msg.Actor = owned.ID, owned.Name, owned.Actor
	return msg, d.setTerms(msg, owned.Live, when)
}

// setTerms reads the trigger, the repetitions and the options of a change, in the clock that the timer has then.
func (d *Draft) setTerms(msg *types.MsgUpdateTimer, live *types.TimerInfo, when due) error {
	repeats := slices.ContainsFunc(msg.Fields, func(field string) bool { return strings.HasPrefix(field, "repeat.") })
	retries := slices.Contains(msg.Fields, "retry")
	if !when.stated() && !repeats && !retries && !d.Flags.Changed(FlagOnUnfunded) && !d.Flags.Changed(flagOnlyIf) {
		return nil
	}
	if err := d.zoneMatters(); err != nil {
		return err
	}
	if live == nil && !d.Offline {
		found, err := job.Resolve(d.Ctx, types.NewQueryClient(d.Context), cmp.Or(msg.Actor, d.Signer.Text), msg.Id)
		if err != nil {
			return err
		}
		live = &found
	}
	trigger := &msg.Spec.Trigger
	if when.stated() {
		ends := int64(0)
		if live != nil {
			ends = live.Status.ExpiresTime
		}
		if err := d.setTrigger(trigger, when, ends); err != nil {
			return err
		}
	} else if live != nil {
		trigger = &live.Spec.Trigger
	} else if repeats || retries {
		return fmt.Errorf("%s are in the clock that the timer has, which needs a node: --%s has none",
			job.ListFlags(slices.Concat(slices.Sorted(maps.Keys(repeatFlags)), retryFlags)), flags.FlagOffline)
	}
	if repeats && !when.stated() && !live.Spec.Recurs() {
		return fmt.Errorf("%s are for a timer that repeats, and this one does not: state --%s", job.ListFlags(slices.Sorted(maps.Keys(repeatFlags))), flagEvery)
	}
	repeat, err := d.repetition()
	if err != nil {
		return err
	}
	if err := d.occurrences(&repeat, trigger); err != nil {
		return err
	}
	if _, counted := d.Stated(flagCount); trigger.Watch != nil && when.stated() && !counted && live != nil && !live.Spec.Recurs() {
		repeat.Remaining = 1
		msg.Fields = append(msg.Fields, "repeat.remaining")
	}
	if repeat != (types.Repeat{}) {
		msg.Spec.Repeat = &repeat
	}
	if err := d.options(&msg.Spec, true); err != nil {
		return err
	}
	if err := checkNamed(live, msg); err != nil {
		return err
	}
	if retries {
		return d.retryAfter(msg.Spec.Retry, trigger.ByTime())
	}
	return otherClock(live, trigger)
}

// checkNamed refuses repetitions that do not go with the trigger that the timer has then.
func checkNamed(live *types.TimerInfo, msg *types.MsgUpdateTimer) error {
	if live == nil {
		return nil
	}
	next, err := live.Spec.Named(msg.Fields, &msg.Spec)
	if err != nil {
		return err
	}
	return next.CheckRepeat()
}

// otherClock refuses a trigger in whose clock a distance to retries would mean something else.
func otherClock(live *types.TimerInfo, trigger *types.Trigger) error {
	if live == nil || live.Spec.Retry == nil || live.Spec.Trigger.ByTime() == trigger.ByTime() {
		return nil
	}
	from, to := "blocks", "seconds"
	if live.Spec.Trigger.ByTime() {
		from, to = to, from
	}
	return fmt.Errorf("its retries are %d %s apart, and would be as many %s: state --%s and --%s anew, or --%s 0 for none",
		live.Spec.Retry.After, from, to, flagRetries, flagRetryAfter, flagRetries)
}

// AddExtendFlags adds the flags that Extend reads.
func AddExtendFlags(f *pflag.FlagSet) {
	f.String(flagUntil, "", "until when it may fire: a date and a time, or the last height")
	f.String(flagBy, "", "how much longer than now: a time such as 7d or 1y, or a number of blocks, added to its present end")
	f.Bool(flagShorten, false, "let the new end be before the present one")
	AddAllFlags(f)
}

// Extend reads until when one of the signer's timers may fire, or those that are selected. It refuses an end before the
// present one unless that is meant, and one that changes nothing.
func (d *Draft) Extend(names []string) ([]sdk.Msg, error) {
	flag, text, err := d.OneOf("until when the timer may fire", true, flagUntil, flagBy)
	if err != nil {
		return nil, err
	}
	if flag == flagBy && d.Offline {
		return nil, fmt.Errorf("--%s needs a node, which knows until when the timer may fire: with --%s, state a height with --%s",
			flagBy, flags.FlagOffline, flagUntil)
	}
	timers, err := d.chooseLive(choice{verb: "extend", names: names})
	if err != nil {
		return nil, err
	}
	// What several timers share is read, and told, once.
	stated := sync.OnceValues(func() (uint64, error) {
		if flag == flagBy {
			return d.blocks(flagBy, text)
		}
		return d.height(flag, text)
	})
	msgs := make([]sdk.Msg, len(timers))
	for i, timer := range timers {
		msg := &types.MsgExtendTimer{Sender: d.Signer.Text, Id: timer.ID, Name: timer.Name, Actor: timer.Actor}
		inTime := isMoment(flag, text) || flag == flagBy && !timespan.IsDigits(text)
		switch live := timer.Live; {
		case inTime && (live == nil || endsByTime(live)):
			err = d.extendTime(msg, live, flag, text)
		default:
			err = d.extendHeight(msg, live, flag, text, stated)
		}
		if err != nil {
			return nil, err
		}
		msgs[i] = msg
	}
	return msgs, nil
}

// extendTime reads the last time at which a timer may fire.
func (d *Draft) extendTime(msg *types.MsgExtendTimer, live *types.TimerInfo, flag, text string) error {
	var at time.Time
	var err error
	if flag == flagBy {
		zone, zoneErr := d.zone()
		if zoneErr != nil {
			return zoneErr
		}
		if at, err = timespan.Later(text, time.Unix(live.Status.ExpiresTime, 0).In(zone)); err != nil {
			return fmt.Errorf("--%s: %w", flagBy, err)
		}
	} else if at, err = d.moment(flag, text); err != nil {
		return err
	}
	msg.ExpiresTime = timespan.Seconds(at)
	if live == nil {
		return nil
	}
	return d.checkEndTime(live, msg.ExpiresTime)
}

// extendHeight reads the last height at which a timer may fire.
func (d *Draft) extendHeight(
	msg *types.MsgExtendTimer, live *types.TimerInfo, flag, text string, stated func() (uint64, error),
) (err error) {
	if flag == flagUntil && live != nil && live.Spec.Trigger.ByTime() {
		return fmt.Errorf("--%s %s is a height, and timer %s is due by time, in which it ends too: state a date", flagUntil, text, live.Id)
	}
	if flag == flagBy && live.Status.ExpiresAt == 0 {
		return fmt.Errorf("--%s %s: timer %s has no last height, it may fire until %s: want a time such as 7d, or --%s HEIGHT",
			flagBy, text, live.Id, d.Stamp(live.Status.ExpiresTime), flagUntil)
	}
	if msg.ExpiresAt, err = stated(); err != nil {
		return err
	}
	if flag == flagBy {
		if msg.ExpiresAt > math.MaxInt64-live.Status.ExpiresAt {
			return fmt.Errorf("--%s %s is beyond any height", flagBy, text)
		}
		msg.ExpiresAt += live.Status.ExpiresAt
	}
	if live == nil {
		return nil
	}
	longest, life, err := d.longestEnd()
	if err != nil {
		return err
	}
	return d.checkEnd(live, msg.ExpiresAt, longest, life)
}

// AddAgentFlags adds the flags that SetAgent reads.
func AddAgentFlags(f *pflag.FlagSet) { f.Bool(flagClear, false, "clear the default agent") }

// SetAgent reads which contract or module prices the signer's timers.
func (d *Draft) SetAgent(args []string) (*types.MsgSetAgent, error) {
	text, given := d.Stated(flagClear)
	clears := given && text == "true"
	switch {
	case clears && len(args) > 0:
		return nil, fmt.Errorf("%q is stated beside --%s: want one of them", args[0], flagClear)
	case clears:
		return &types.MsgSetAgent{Sender: d.Signer.Text}, nil
	case len(args) == 0:
		return nil, fmt.Errorf("the agent is missing: want the address of a contract, or --%s", flagClear)
	}
	agent, err := d.LookupAccount(args[0])
	if err != nil {
		return nil, err
	}
	return &types.MsgSetAgent{Sender: d.Signer.Text, Agent: agent.Text}, nil
}
