package draft

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/cosmos-timers/timers/x/timers/client/bids"
	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// AddScheduleFlags adds the flags that Schedule reads.
func AddScheduleFlags(f *pflag.FlagSet) {
	f.StringP(flagFile, "f", "", `file with the whole spec, as YAML or JSON, as query timers timer --output yaml prints it; "-" reads the standard input`)
	addCallFlags(f)
	addDueFlags(f)
}

// addDueFlags adds the flags of all that is not what the timer does or bids.
func addDueFlags(f *pflag.FlagSet) {
	f.Lookup(bids.FlagGasLimit).Usage = "cycles that one fire may use (default: the most that the chain allows); " + bids.AutoGas +
		": what a dry run says that its messages need"
	addTriggerFlags(f)
	f.String(flagName, "", fmt.Sprintf("what you call it, as no other live timer of yours: at most %d printable ASCII characters; commands, lists and events know it by that", types.MaxNameBytes))
	f.String(FlagActor, "", "contract whose admin you are, which the timer calls (its sudo) and you pay for; default yourself")
	f.String(flagExpiresAt, "", "until when it may fire: a date and a time, or the last height (default: as late as the chain allows)")
	f.String(flagExpiresIn, "", "the same as a distance from now: a time such as 2d, or a number of blocks")
	f.String(FlagFor, "", "the same as a time from now, such as 30d, 6mo or 1y")
	f.Lookup(bids.FlagMaxCharge).Usage = "most that one fire may cost, a whole amount in the fee denom (default: ten times what it may cost today); none for no bound"
	f.Lookup(FlagPayer).Usage = "account, or name of a key, that is debited at the fire instead of you; it must have granted you a fee allowance"
}

// addTriggerFlags adds the flags of when a timer is due, how it repeats and what becomes of bad moments.
func addTriggerFlags(f *pflag.FlagSet) {
	addRepeatFlags(f)
	f.String(flagAt, "", "when it is due: a date and a time such as '2030-01-31 09:00', or a time of day such as 09:00, whatever blocks do; or a height")
	f.String(flagIn, "", fmt.Sprintf("blocks from the latest one at which it is due, at least %d", timespan.LeadBlocks))
	f.String(flagAfter, "", "time from now at which it is due, such as 10m, 1h30m, 2d or 6mo")
	f.String(flagAfterBlocks, "", "blocks after the one that includes the transaction, for those who sign long before they send")
	addWatchFlags(f)
	f.String(FlagZone, "", "time zone of dates, times of day and --"+flagEvery+", such as Europe/Berlin (default: that of this machine)")
}

// Schedule reads the flags of a timer that is scheduled. What can be checked without a node is checked first.
func (d *Draft) Schedule(payer string) (*types.MsgScheduleTimer, error) {
	if name, given := d.Stated(flagFile); given {
		return d.fromFile(name, payer)
	}
	due, err := d.readDue(true)
	if err != nil {
		return nil, err
	}
	endFlag, endText, err := d.OneOf("until when the timer may fire", false, EndFlags...)
	if err != nil {
		return nil, err
	}
	msg, err := d.terms(payer)
	if err != nil {
		return nil, err
	}
	repeat, err := d.repetition()
	if err != nil {
		return nil, err
	}
	call, err := d.call(true)
	if err != nil {
		return nil, err
	}
	msg.Spec.Call = *call
	if endFlag != "" {
		if msg.Spec.ExpiresAt, msg.Spec.ExpiresTime, err = d.end(endFlag, endText); err != nil {
			return nil, err
		}
	}
	if err = d.setTrigger(&msg.Spec.Trigger, due, msg.Spec.ExpiresTime); err != nil {
		return nil, err
	}
	if err = d.endInClock(&msg.Spec, endFlag, endText); err != nil {
		return nil, err
	}
	if err = d.occurrences(&repeat, &msg.Spec.Trigger); err != nil {
		return nil, err
	}
	if _, counted := d.Stated(flagCount); msg.Spec.Trigger.Watch != nil && !counted {
		repeat.Remaining = 1
	}
	if repeat != (types.Repeat{}) {
		msg.Spec.Repeat = &repeat
	}
	if err = d.retryAfter(msg.Spec.Retry, msg.Spec.Trigger.ByTime()); err != nil {
		return nil, err
	}
	return msg, d.endsAfterDue(msg, endFlag, endText)
}

// endInClock takes the end of a timer to the clock of its trigger: a time to the last height that is expected until then. A height
// can't be one of times.
func (d *Draft) endInClock(spec *types.TimerSpec, flag, text string) error {
	switch trigger := &spec.Trigger; {
	case trigger.ByTime() && spec.ExpiresAt != 0:
		return fmt.Errorf("--%s %s is a height, and the timer is due by time, in which it ends too: state a date, or --%s 1y", flag, text, FlagFor)
	case trigger.ByTime() || trigger.Watch != nil || spec.ExpiresTime == 0:
		return nil
	}
	height, err := d.lastHeight(flag, text, time.Unix(spec.ExpiresTime, 0))
	spec.ExpiresAt, spec.ExpiresTime = height, 0
	return err
}

// lastHeight is the last height that is expected until a time, for a timer that counts heights.
func (d *Draft) lastHeight(flag, text string, until time.Time) (uint64, error) {
	if d.AsFile {
		return 0, fmt.Errorf("--%s %s: the timer counts heights, and ends at one: a file states that height", flag, text)
	}
	c, err := d.Clock()
	if err != nil {
		return 0, fmt.Errorf("--%s %s: %w", flag, text, err)
	}
	height, err := c.HeightAt(until)
	if err != nil {
		return 0, fmt.Errorf("--%s %s: %w", flag, text, err)
	}
	d.Notef("--%s %s: the timer counts heights, so it ends at one: %s", flag, text, d.Date(height))
	return height, nil
}

// due is what is stated of when a timer is due.
type due struct {
	// flag states when it is due first, and text what it says; empty if nothing does.
	flag, text string
	repeats    bool
}

// stated tells whether anything states when the timer is due.
func (w due) stated() bool { return w.repeats || w.flag != "" }

// readDue reads what states when a timer is due, of which nothing asks a node.
func (d *Draft) readDue(needed bool) (w due, err error) {
	_, w.repeats = d.Stated(flagEvery)
	w.flag, w.text, err = d.dueFlag(w.repeats, needed)
	return w, err
}

// setTrigger makes a trigger of it. Ends is the end of the timer's life, if that is a time.
func (d *Draft) setTrigger(trigger *types.Trigger, w due, ends int64) error {
	if w.repeats {
		return d.setRepeated(trigger, w.flag, w.text, ends)
	}
	return d.setDue(trigger, w.flag, w.text)
}

// endsAfterDue refuses a life that ends before the timer is due, where both are heights, or both are times.
func (d *Draft) endsAfterDue(msg *types.MsgScheduleTimer, flag, text string) error {
	due := msg.Spec.Trigger.Height
	if i := msg.Spec.Trigger.Interval; i != nil {
		due = i.First
	}
	at := int64(0)
	switch {
	case msg.Spec.Trigger.Time != nil:
		at = msg.Spec.Trigger.Time.Unix()
	case msg.Spec.Trigger.Calendar != nil && msg.Spec.Trigger.Calendar.Every != nil:
		at = msg.Spec.Trigger.Calendar.Every.Anchor
	}
	switch {
	case msg.Spec.ExpiresAt != 0 && msg.Spec.ExpiresAt < due:
		return fmt.Errorf("--%s %s ends at height %d, below the due height %d: it would never fire", flag, text, msg.Spec.ExpiresAt, due)
	case msg.Spec.ExpiresTime != 0 && msg.Spec.ExpiresTime < at:
		return fmt.Errorf("--%s %s ends at %s, before it is due at %s: it would never fire", flag, text, d.Stamp(msg.Spec.ExpiresTime), d.Stamp(at))
	}
	return nil
}

// dueFlag is the flag that states when the timer is due first, and what it says. It refuses what is no time, before anything
// asks a node.
func (d *Draft) dueFlag(repeats, needed bool) (flag, text string, err error) {
	flags := []string{flagAt, flagIn, flagAfter, flagAfterBlocks, flagWatch}
	if repeats {
		flags = []string{flagAt, flagIn, flagAfter, flagFirst}
	}
	flag, text, err = d.OneOf("when the timer is due", false, flags...)
	if err == nil && flag == "" && needed && !repeats {
		err = fmt.Errorf("when the timer is due is missing: want one of %s", job.ListFlags(append(flags, flagEvery)))
	}
	if err != nil || flag == "" || flag == flagWatch || flag == flagAfterBlocks || isMoment(flag, text) {
		return flag, text, err
	}
	if _, err := d.parseWhen(flag, text); err != nil {
		return "", "", fmt.Errorf("--%s: %w", flag, err)
	}
	return flag, text, nil
}

// terms reads who a timer is of, who pays for it, what it bids, and how it lives on.
func (d *Draft) terms(payer string) (*types.MsgScheduleTimer, error) {
	limits, auto, err := bids.ReadLimitsOrAuto(d.Job)
	if err != nil {
		return nil, err
	}
	_, stated := d.Stated(bids.FlagMaxCharge)
	d.AutoGas, d.DefaultCharge = auto, !stated || limits.DefaultCharge
	msg := &types.MsgScheduleTimer{Sender: d.Signer.Text, Spec: types.TimerSpec{GasLimit: limits.Gas, CellLimit: limits.Cells, MaxCharge: limits.MaxCharge}}
	if msg.Spec.Bid, err = bids.Read(d.Job); err != nil {
		return nil, err
	}
	if err := d.checkRepeats(); err != nil {
		return nil, err
	}
	if err := d.zoneMatters(); err != nil {
		return nil, err
	}
	if err := d.options(&msg.Spec, false); err != nil {
		return nil, err
	}
	msg.Spec.Name, _ = d.Stated(flagName)
	if err := checkName(msg.Spec.Name); err != nil {
		return nil, fmt.Errorf("--%s: %w", flagName, err)
	}
	if msg.Spec.FeePayer, err = d.accountOf(FlagPayer, payer); err != nil {
		return nil, err
	}
	actor, _ := d.Stated(FlagActor)
	if msg.Actor, err = d.accountOf(FlagActor, actor); err != nil {
		return nil, err
	}
	return msg, nil
}

// checkName refuses what the chain would refuse of a name, by its characters.
func checkName(name string) error {
	for i, c := range []rune(name) {
		if c < ' ' || c > '~' {
			return fmt.Errorf("%.80q: character %d, %q, is not one of a name: want letters, digits and signs of ASCII", name, i+1, c)
		}
	}
	if n := len(name); n > types.MaxNameBytes {
		return fmt.Errorf("%.80q has %d characters: want at most %d", name, n, types.MaxNameBytes)
	}
	return types.CheckName(name)
}

// accountOf reads the account that a flag names; nothing if it is not stated.
func (d *Draft) accountOf(flag, text string) (string, error) {
	if text == "" {
		return "", nil
	}
	account, err := d.LookupAccount(text)
	if err != nil {
		return "", fmt.Errorf("--%s: %w", flag, err)
	}
	return account.Text, nil
}

// setDue reads when a timer that does not repeat is due.
func (d *Draft) setDue(trigger *types.Trigger, flag, text string) (err error) {
	switch {
	case flag == flagWatch:
		trigger.Watch, err = d.watchTrigger()
		return err
	case flag == flagAfterBlocks:
		if trigger.After, err = timespan.ParseCount(text, "number of blocks"); err != nil {
			err = fmt.Errorf("--%s: %w", flagAfterBlocks, err)
		}
		return err
	case isTime(flag, text):
		takes, err := d.takesTimes()
		if err != nil {
			return err
		}
		if takes {
			seconds, err := d.dueTime(flag, text)
			at := time.Unix(seconds, 0).UTC()
			trigger.Time = &at
			return err
		}
		if err := d.noTimes(flag, text); err != nil {
			return err
		}
	}
	trigger.Height, err = d.dueHeight(flag, text)
	return err
}

// setRepeated reads when a timer that repeats is due: by time, or where --every is a number of blocks at heights. Ends is the
// end of its life, if that is a time.
func (d *Draft) setRepeated(trigger *types.Trigger, dueFlag, dueText string, ends int64) (err error) {
	text, _ := d.Stated(flagEvery)
	if !timespan.IsDigits(text) {
		takes, err := d.takesTimes()
		switch {
		case err != nil:
			return err
		case takes:
			trigger.Calendar, err = d.calendar(text, dueFlag, dueText, ends)
			return err
		case isByTheClock(text):
			return fmt.Errorf("--%s %s: this chain takes no triggers by time (time_triggers is off): want a number of blocks, with --%s for the first",
				flagEvery, text, flagFirst)
		}
		if err := d.noTimes(flagEvery, text); err != nil {
			return err
		}
	}
	trigger.Interval, err = d.interval(text, dueFlag, dueText)
	return err
}

// Repeats tells whether the timer may fire more than once.
func Repeats(msg *types.MsgScheduleTimer) bool {
	t := &msg.Spec.Trigger
	return t.Interval != nil || t.Calendar != nil || msg.Spec.Retry != nil || t.Watch != nil && msg.Spec.Repetitions() != 1
}

// CheckRecurrence refuses what the chain would refuse of further fires.
func (d *Draft) CheckRecurrence(config *types.TimerConfig, msg *types.MsgScheduleTimer) error {
	if i := msg.Spec.Trigger.Interval; i != nil {
		if text, _ := d.Stated(flagEvery); i.Every > config.MaxTtlBlocks && !timespan.IsDigits(text) {
			c, err := d.Clock()
			if err != nil {
				return err
			}
			return fmt.Errorf("--%s %s is too long: a timer lives at most %s", flagEvery, text, c.Pace.Describe(config.MaxTtlBlocks))
		}
		if err := i.Validate(config); err != nil {
			return fmt.Errorf("--%s: %w", flagEvery, err)
		}
	}
	if c := msg.Spec.Trigger.Calendar; c != nil && c.Every != nil && c.Every.Seconds > config.MaxTtlSeconds {
		text, _ := d.Stated(flagEvery)
		return fmt.Errorf("--%s %s is too long: a timer lives at most %s", flagEvery, text, life(config))
	}
	if err := msg.Spec.CheckRepeat(); err != nil {
		return err
	}
	if r := msg.Spec.Retry; r != nil && r.Max > market.MaxRetries {
		return fmt.Errorf("--%s %d is out of bounds: want 1 to %d", flagRetries, r.Max, market.MaxRetries)
	}
	if err := msg.Spec.Retry.Validate(config, msg.Spec.Trigger.ByTime()); err != nil {
		return fmt.Errorf("--%s and --%s: %w", flagRetries, flagRetryAfter, err)
	}
	return nil
}
