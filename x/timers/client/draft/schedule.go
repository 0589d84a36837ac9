package draft

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/cosmos-timers/timers/x/timers/client/bids"
	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/names"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// AddScheduleFlags adds the flags that Schedule reads.
func AddScheduleFlags(f *pflag.FlagSet) {
	addCallFlags(f)
	addDueFlags(f)
}

// addDueFlags adds the flags of all that is not what the timer does or bids.
func addDueFlags(f *pflag.FlagSet) {
	f.Lookup(bids.FlagGasLimit).Usage = "cycles that one fire may use (default: the most that the chain allows); " + bids.AutoGas +
		": what a dry run says that its messages need"
	addRepeatFlags(f)
	f.String(flagAt, "", "height at which it is due; or a date and a time such as '2030-01-31 09:00', or a time of day such as 09:00, converted to a height")
	f.String(flagIn, "", fmt.Sprintf("blocks from the latest one at which it is due, at least %d", timespan.LeadBlocks))
	f.String(flagAfter, "", "time from now at which it is due, such as 10m, 1h30m or 2d; converted to blocks")
	f.String(flagAfterBlocks, "", "blocks after the one that includes the transaction, for those who sign long before they send")
	f.String(flagLabel, "", fmt.Sprintf("what you call it: at most %d printable ASCII characters; lists and events show it", names.MaxLabelBytes))
	addWatchFlags(f)
	f.String(flagActor, "", "contract whose admin you are, which the timer calls (its sudo) and you pay for; default yourself")
	f.String(flagExpiresAt, "", "last height at which it may fire, or a date and a time (default: as late as the chain allows)")
	f.String(flagExpiresIn, "", "the same as a distance from now: a number of blocks, or a time such as 2d")
	f.Lookup(FlagPayer).Usage = "account, or name of a key, that is debited at the fire instead of you; it must have granted you a fee allowance"
}

// Schedule reads the flags of a timer that is scheduled. What can be checked without a node is checked first.
func (d *Draft) Schedule(payer string) (*types.MsgScheduleTimer, error) {
	_, repeats := d.Stated(flagEvery)
	dueFlag, dueText, err := d.dueFlag(repeats)
	if err != nil {
		return nil, err
	}
	expiryFlag, expiryText, err := d.OneOf("when the timer expires", false, flagExpiresAt, flagExpiresIn)
	if err != nil {
		return nil, err
	}
	msg, err := d.terms(payer)
	if err != nil {
		return nil, err
	}
	call, err := d.call(true)
	if err != nil {
		return nil, err
	}
	msg.Handler, msg.Payload, msg.Messages = call.Handler, call.Payload, call.Messages
	due := &msg.Trigger.Height
	if repeats {
		due = &msg.Trigger.Interval.First
		if *due != 0 && dueFlag != "" {
			return nil, fmt.Errorf("--%s states by the clock when the timer is due first, and so does --%s %q: want one of them", flagEvery, dueFlag, dueText)
		}
	}
	if err := d.setDue(&msg.Trigger, due, dueFlag, dueText); err != nil {
		return nil, err
	}
	if expiryFlag != "" {
		if msg.ExpiresAt, err = d.height(expiryFlag, expiryText); err != nil {
			return nil, err
		}
		if msg.ExpiresAt < *due {
			return nil, fmt.Errorf("--%s %s ends at height %d, below the due height %d: it would never fire",
				expiryFlag, expiryText, msg.ExpiresAt, *due)
		}
	}
	return msg, nil
}

// dueFlag is the flag that states when the timer is due first, and what it says. It refuses what is no time, before anything
// asks a node.
func (d *Draft) dueFlag(repeats bool) (flag, text string, err error) {
	flags := []string{flagAt, flagIn, flagAfter, flagAfterBlocks, flagWatch}
	if repeats {
		flags = []string{flagAt, flagIn, flagAfter, flagFirst}
	}
	flag, text, err = d.OneOf("when the timer is due", !repeats, flags...)
	if err != nil || flag == "" || flag == flagWatch || flag == flagAfterBlocks || isMoment(flag, text) {
		return flag, text, err
	}
	if _, err := parseWhen(flag, text); err != nil {
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
	d.AutoGas = auto
	msg := &types.MsgScheduleTimer{Sender: d.Signer.Text, GasLimit: limits.Gas, CellLimit: limits.Cells, MaxCharge: limits.MaxCharge}
	if msg.Bid, err = bids.Read(d.Job); err != nil {
		return nil, err
	}
	if msg.Trigger.Interval, err = d.interval(); err != nil {
		return nil, err
	}
	if msg.Retry, err = d.retry(); err != nil {
		return nil, err
	}
	if msg.OnUnfunded, err = d.onUnfunded(); err != nil {
		return nil, err
	}
	msg.Label, _ = d.Stated(flagLabel)
	if err := names.CheckLabel(msg.Label); err != nil {
		return nil, fmt.Errorf("--%s: %w", flagLabel, err)
	}
	if msg.FeePayer, err = d.accountOf(FlagPayer, payer); err != nil {
		return nil, err
	}
	actor, _ := d.Stated(flagActor)
	if msg.Actor, err = d.accountOf(flagActor, actor); err != nil {
		return nil, err
	}
	return msg, nil
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

// setDue reads when a timer is due first: into due if that is a height.
func (d *Draft) setDue(trigger *types.Trigger, due *uint64, flag, text string) (err error) {
	switch flag {
	case "":
	case flagWatch:
		trigger.Watch, err = d.watchTrigger()
	case flagAfterBlocks:
		if trigger.After, err = timespan.ParseCount(text, "number of blocks"); err != nil {
			err = fmt.Errorf("--%s: %w", flagAfterBlocks, err)
		}
	default:
		*due, err = d.dueHeight(flag, text)
	}
	return err
}

// Repeats tells whether the timer may fire more than once.
func Repeats(msg *types.MsgScheduleTimer) bool {
	watch := msg.Trigger.Watch
	return msg.Trigger.Interval != nil || msg.Retry != nil || watch != nil && watch.Remaining != 1
}

// FirstDue is when a timer is due first, as far as that is known: one that counts from the block that schedules it is due
// that far from the next one.
func FirstDue(msg *types.MsgScheduleTimer, now uint64) uint64 {
	i := msg.Trigger.Interval
	switch {
	case msg.Trigger.After != 0:
		return now + 1 + msg.Trigger.After
	case i == nil:
		return msg.Trigger.Height
	case i.First != 0:
		return i.First
	default:
		return now + 1 + i.Every
	}
}

// CheckRecurrence refuses what the chain would refuse of further fires.
func (d *Draft) CheckRecurrence(config *types.TimerConfig, msg *types.MsgScheduleTimer) error {
	if i := msg.Trigger.Interval; i != nil {
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
	if r := msg.Retry; r != nil && config.MaxRetries > 0 && r.Max > config.MaxRetries {
		return fmt.Errorf("--%s %d is out of bounds: want 1 to %d", flagRetries, r.Max, config.MaxRetries)
	}
	if err := msg.Retry.Validate(config); err != nil {
		return fmt.Errorf("--%s and --%s: %w", flagRetries, flagRetryAfter, err)
	}
	return nil
}
