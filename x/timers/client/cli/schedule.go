package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cosmos/cosmos-sdk/client/flags"
	"github.com/cosmos/cosmos-sdk/version"

	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	flagAt        = "at"
	flagIn        = "in"
	flagAfter     = "after"
	flagExpiresAt = "expires-at"
	flagExpiresIn = "expires-in"
	// flagPayer is the SDK's flag, taken over: here it says who pays for the timer. --fee-granter still says who pays for
	// the transaction.
	flagPayer = flags.FlagFeePayer
)

const scheduleLong = `Schedule messages that the chain runs in your name at a height, without a signature then.

What is due is stated as a height (--at), a number of blocks from the latest one (--in), or a time (--after), which is
converted with the chain's recent block time, rounded up, and shown back. The chain knows heights alone: if its blocks
slow down, the timer is later. Or it is stated as what is watched (--watch, which may be repeated): the timer is due in the
block whose transactions change it, once or --times so often. "query timers watchable" lists what can be watched.

With --every it repeats: each next fire comes so many blocks after the last one, until --times of them were made or it expires.
A failed fire can be tried again (--retries), and a timer whose payer runs dry can wait for you (--on-unfunded suspend).

Nothing is paid for the fire now. At the fire, the most that it can cost is debited from you, or from --fee-payer
if that account has granted you a fee allowance, and what was not used is given back. A payer who can't cover it loses
the timer, not the chain's time. (--fee-payer, a flag of every transaction, pays for the scheduling alone.)

The name of the timer, ACTOR/ID, is in the event timers.v1.TimerScheduled of the included transaction; --wait waits for
it and prints it.`

func newScheduleCmd() *cobra.Command {
	cmd := txCommand(&cobra.Command{
		Use:   "schedule",
		Short: "Schedule messages that the chain runs in your name at a height, or when state changes",
		Long:  scheduleLong,
		Example: fmt.Sprintf(`%[1]s tx bank send alice ADDRESS 5stake --generate-only > send.json
%[1]s tx timers schedule --msgs send.json --after 10m --gas-limit 100000 --from alice --gas auto --wait
%[1]s tx timers schedule --msgs - --in 20 --expires-in 1d --from alice < messages.json
%[1]s tx timers schedule --msgs send.json --at 5000 --tier fast --fee-payer bob --from alice
%[1]s tx timers schedule --msgs send.json --every 1h --times 24 --on-unfunded suspend --from alice
%[1]s tx timers schedule --msgs send.json --every 20 --first 5000 --on-failure stop --retries 3 --retry-after 5 --from alice
%[1]s tx timers schedule --msgs send.json --watch bank:balance:ADDRESS:stake --times 3 --from alice`, version.AppName),
		Args: cobra.NoArgs,
		RunE: runSchedule,
	})
	addCallFlags(cmd)
	addRepeatFlags(cmd)
	f := cmd.Flags()
	f.String(flagAt, "", "height at which it is due")
	f.String(flagIn, "", fmt.Sprintf("blocks from the latest one at which it is due, at least %d", leadBlocks))
	f.String(flagAfter, "", "time from now at which it is due, such as 10m, 1h30m or 2d; converted to blocks")
	addWatchFlags(f)
	f.String(flagExpiresAt, "", "last height at which it may fire (default: as late as the chain allows)")
	f.String(flagExpiresIn, "", "the same as a distance from now: a number of blocks, or a time such as 2d")
	f.Lookup(flagPayer).Usage = "account, or name of a key, that is debited at the fire instead of you; it must have granted you a fee allowance"
	addWaitFlags(cmd)
	return cmd
}

func runSchedule(cmd *cobra.Command, _ []string) error {
	payer, err := takeFlag(cmd, flagPayer)
	if err != nil {
		return err
	}
	j, err := newTxJob(cmd)
	if err != nil {
		return err
	}
	waiting, err := j.waitWanted()
	if err != nil {
		return err
	}
	msg, err := j.scheduleMsg(payer)
	if err != nil {
		return err
	}
	if ahead := j.lookAhead(); ahead != nil {
		if err := j.adviseSchedule(ahead, msg); err != nil {
			return err
		}
	}
	if waiting {
		return j.sendAndWait(msg)
	}
	return j.sendAndTell(msg)
}

// scheduleMsg reads the flags. What can be checked without a node is checked first.
func (j *job) scheduleMsg(payer string) (*types.MsgScheduleTimer, error) {
	_, repeats := j.stated(flagEvery)
	dueFlags := []string{flagAt, flagIn, flagAfter, flagWatch}
	if repeats {
		dueFlags = []string{flagAt, flagIn, flagAfter, flagFirst}
	}
	dueFlag, dueText, err := j.oneOf("when the timer is due", !repeats, dueFlags...)
	if err != nil {
		return nil, err
	}
	expiryFlag, expiryText, err := j.oneOf("when the timer expires", false, flagExpiresAt, flagExpiresIn)
	if err != nil {
		return nil, err
	}
	msg := &types.MsgScheduleTimer{Sender: j.from.text}
	if msg.GasLimit, err = j.gasLimit(); err != nil {
		return nil, err
	}
	if msg.Bid, err = j.bid(); err != nil {
		return nil, err
	}
	if msg.Trigger.Interval, err = j.interval(); err != nil {
		return nil, err
	}
	if msg.Retry, err = j.retry(); err != nil {
		return nil, err
	}
	if msg.OnUnfunded, err = j.onUnfunded(); err != nil {
		return nil, err
	}
	if payer != "" {
		account, err := j.lookupAccount(payer)
		if err != nil {
			return nil, fmt.Errorf("--%s: %w", flagPayer, err)
		}
		msg.FeePayer = account.text
	}
	call, err := j.call(true)
	if err != nil {
		return nil, err
	}
	msg.Handler, msg.Payload = call.Handler, call.Payload
	due := &msg.Trigger.Height
	if repeats {
		due = &msg.Trigger.Interval.First
	}
	switch dueFlag {
	case "":
	case flagWatch:
		msg.Trigger.Watch, err = j.watchTrigger()
	default:
		*due, err = j.dueHeight(dueFlag, dueText)
	}
	if err != nil {
		return nil, err
	}
	if expiryFlag != "" {
		if msg.ExpiresAt, err = j.height(expiryFlag, expiryText); err != nil {
			return nil, err
		}
		if msg.ExpiresAt < *due {
			return nil, fmt.Errorf("--%s %s is height %d, below the due height %d: it would never fire",
				expiryFlag, expiryText, msg.ExpiresAt, *due)
		}
	}
	return msg, nil
}

// dueHeight reads when a timer is due.
func (j *job) dueHeight(flag, text string) (uint64, error) {
	due, err := j.height(flag, text)
	if err != nil || flag == flagAt || flag == flagFirst {
		return due, err
	}
	c, err := j.clock()
	if err != nil {
		return 0, err
	}
	if soonest := c.height + leadBlocks; due < soonest {
		if flag == flagIn {
			return 0, fmt.Errorf("--%s %s is too soon: the next block is the first that can take the transaction, "+
				"and nothing fires in the block that schedules it: want at least %d", flagIn, text, leadBlocks)
		}
		// A time is a lower bound, so that a later block keeps to it.
		due = soonest
	}
	j.notef("due at height %d: %s", due, c.describe(due))
	return due, nil
}

// height reads a height: stated as such, or as a distance from the latest block.
func (j *job) height(flag, text string) (uint64, error) {
	distance, err := parseWhen(flag, text)
	if err != nil {
		return 0, fmt.Errorf("--%s: %w", flag, err)
	}
	if distance == (span{}) {
		return parseCount(text, "height")
	}
	c, err := j.clock()
	if err != nil {
		return 0, fmt.Errorf("--%s %s: %w", flag, text, err)
	}
	height, err := c.heightAfter(distance)
	if err != nil {
		return 0, fmt.Errorf("--%s %s: %w", flag, text, err)
	}
	return height, nil
}

// parseWhen reads the text of a flag that states a height or a distance; the distance is zero if it is a height.
func parseWhen(flag, text string) (span, error) {
	switch flag {
	case flagAt, flagFirst, flagExpiresAt, flagTo:
		_, err := parseCount(text, "height")
		return span{}, err
	case flagIn:
		blocks, err := parseCount(text, "number of blocks")
		if err != nil {
			err = fmt.Errorf("%w; --%s takes a time", err, flagAfter)
		}
		return span{blocks: blocks}, err
	case flagAfter:
		if isDigits(text) {
			return span{}, fmt.Errorf("%q has no unit: want a duration such as 10m; --%s takes a number of blocks", text, flagIn)
		}
		d, err := parseDuration(text)
		return span{time: d}, err
	default:
		return parseSpan(text)
	}
}

// adviseSchedule checks a timer against the chain's config and says what it will cost.
func (j *job) adviseSchedule(ahead *outlook, msg *types.MsgScheduleTimer) error {
	if err := ahead.checkGasLimit(msg.GasLimit); err != nil {
		return err
	}
	call := &types.TimerCall{Handler: msg.Handler, Payload: msg.Payload}
	if err := ahead.checkCall(call, j.msgs); err != nil {
		return err
	}
	if err := ahead.checkLife(msg); err != nil {
		return err
	}
	// The prices come with the height that they stand for.
	now := ahead.prices.Height
	due := firstDue(msg, now)
	if msg.Trigger.Watch == nil && due < now+leadBlocks {
		return fmt.Errorf("due height %d is too soon: the latest block is %d, and nothing fires in the block that schedules it: "+
			"want at least %d", due, now, now+leadBlocks)
	}
	if last := now + ahead.config.MaxTtlBlocks; max(due, msg.ExpiresAt) > last+leadBlocks {
		return fmt.Errorf("height %d is too far: a timer lives %d blocks at most, until height %d from here",
			max(due, msg.ExpiresAt), ahead.config.MaxTtlBlocks, last)
	}
	if msg.ExpiresAt != 0 && msg.ExpiresAt < due {
		return fmt.Errorf("the timer expires at height %d and is due at %d from here: it would never fire", msg.ExpiresAt, due)
	}
	payer := msg.FeePayer
	if payer == "" {
		payer = msg.Sender
	}
	return j.advise(ahead, plan{gasLimit: msg.GasLimit, bid: msg.Bid, bidStated: msg.Bid != nil, payer: payer, repeats: repeats(msg)})
}

// mayBroadcast tells whether the command ends in a broadcast.
func (j *job) mayBroadcast() error {
	switch {
	case j.GenerateOnly:
		return fmt.Errorf("--%s waits for a broadcast, and --%s prints the transaction instead: want one of them", flagWait, flags.FlagGenerateOnly)
	case j.Simulate:
		return fmt.Errorf("--%s waits for a broadcast, and --%s does none: want one of them", flagWait, flags.FlagDryRun)
	case j.Offline:
		return fmt.Errorf("--%s needs a node: it can't be with --%s", flagWait, flags.FlagOffline)
	case j.IsAux:
		return fmt.Errorf("--%s waits for a broadcast, and --%s does none: want one of them", flagWait, flags.FlagAux)
	}
	return nil
}

// repeats tells whether the timer may fire more than once.
func repeats(msg *types.MsgScheduleTimer) bool {
	watch := msg.Trigger.Watch
	return msg.Trigger.Interval != nil || msg.Retry != nil || watch != nil && watch.Remaining != 1
}
