package cli

import (
	"cmp"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/cosmos-timers/timers/x/timers/client/bids"
	"github.com/cosmos-timers/timers/x/timers/client/broadcast"
	"github.com/cosmos-timers/timers/x/timers/client/course"
	"github.com/cosmos-timers/timers/x/timers/client/draft"
	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/outlook"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const scheduleLong = `Schedule messages that the chain runs in your name at a time or a height, without a signature then. The
subcommands make common messages of a few words; any others come from a file (--msgs).

When it is due is stated as a date and a time or a time of day (--at '2030-01-31 09:00'), or a time from now (--after 10m): it
fires in the first block of that time or later, whatever blocks do before. Or it is stated as a height (--at), or a number of
blocks from the latest one (--in). Those who sign long before they send, such as a multisig, state the blocks from the one that
includes the transaction (--after-blocks). Or it is stated as what is watched (--watch, which may be repeated): the timer is due
in the block whose transactions change it, once or --count times. "query timers watchable" lists what can be watched.

With --every it repeats: by the clock ('month@1 09:00', 'month@last 18:00', weekday@09:00, 'mon,thu@09:00', hour@:30, or a cron
expression of five fields), after a time such as 1h, or after a number of blocks, until --count fires were made or it expires.
Days and times of day are those of --zone, or of this machine. The next five are listed before you sign, with how many there
will be, what a month costs and for how many your funds last. --missed, --window and --jitter say what becomes of fires that
the chain is late for. A failed fire can be tried again (--retries), and a timer whose payer runs dry can wait for you
(--on-unfunded suspend). How long it lives is stated with --for 1y, or with --expires-at or --expires-in.

Nothing is paid for the fire now. At the fire, the most that it can cost is debited from you, or from --fee-payer
if that account has granted you a fee allowance, and what was not used is given back. A payer who can't cover it loses
the timer, not the chain's time. Prices can rise: no fire costs more than ten times what it may cost today, unless
--max-charge says otherwise; while prices are above that, it waits. (--fee-granter, a flag of every transaction, pays for the scheduling alone.)

The name of the timer, ACTOR/ID, is in the event timers.v1.TimerScheduled of the included transaction; --wait waits for
it and prints it.`

func newScheduleCmd() *cobra.Command {
	cmd := broadcast.TxCommand(&cobra.Command{
		Use:   "schedule",
		Short: "Schedule messages that the chain runs in your name at a time, again and again, or when state changes",
		Long:  scheduleLong,
		Example: fmt.Sprintf(`%[1]s tx timers schedule send bob 5stake --after 10m --from alice --gas auto --wait
%[1]s tx bank send alice ADDRESS 5stake --generate-only > send.json
%[1]s tx timers schedule --msgs send.json --after 10m --gas-limit 100000 --from alice --gas auto --wait
%[1]s tx timers schedule --msgs - --in 20 --expires-in 1d --from alice < messages.json
%[1]s tx timers schedule --file rent.yaml --from alice
%[1]s tx timers schedule --msgs send.json --at 5000 --tier fast --fee-payer bob --from alice
%[1]s tx timers schedule --msgs send.json --every 1h --count 24 --on-unfunded suspend --from alice
%[1]s tx timers schedule send bob 5stake --every 'month@1 09:00' --zone Europe/Berlin --for 1y --name rent --from alice
%[1]s tx timers schedule withdraw-rewards VALIDATOR --every day@09:00 --from alice
%[1]s tx timers schedule --msgs send.json --every 20 --first 5000 --on-failure stop --retries 3 --retry-after 5 --from alice
%[1]s tx timers schedule --msgs send.json --watch bank:balance:ADDRESS:stake --count 3 --from alice`, plain.App()),
		Args: draft.NoAction,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runSchedule(cmd, func(*draft.Draft) {})
		},
	})
	draft.AddScheduleFlags(cmd.Flags())
	job.AddForce(cmd.Flags())
	for _, action := range draft.Actions() {
		cmd.AddCommand(newActionCmd(&action))
	}
	return cmd
}

// newActionCmd schedules a message of a few words.
func newActionCmd(action *draft.Action) *cobra.Command {
	cmd := broadcast.TxCommand(&cobra.Command{
		Use:     action.Use,
		Short:   action.Short,
		Long:    action.Short + ". When it is due, how it repeats and what it bids is stated as with schedule.",
		Example: fmt.Sprintf("%s tx timers schedule %s --from alice", plain.App(), action.Example),
		Args:    cobra.ExactArgs(action.Words()),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runSchedule(cmd, func(d *draft.Draft) { d.Take(action, args) })
		},
	})
	draft.AddActionFlags(cmd.Flags(), action)
	job.AddForce(cmd.Flags())
	return cmd
}

func runSchedule(cmd *cobra.Command, take func(*draft.Draft)) error {
	payer, err := takeFlag(cmd, draft.FlagPayer, "")
	if err != nil {
		return err
	}
	j, err := job.NewTx(cmd)
	if err != nil {
		return err
	}
	d := draft.New(j)
	take(d)
	msg, err := d.Schedule(payer)
	if err != nil {
		return err
	}
	ahead, err := advisory(d)
	if err != nil {
		return err
	}
	switch {
	case ahead != nil:
		if err := adviseSchedule(d, ahead, msg); err != nil {
			return err
		}
	case d.DefaultCharge:
		outlook.NoDefaultMaxCharge(j)
	}
	return broadcast.SendTimer(j, msg, when(d, &msg.Spec))
}

// advisory is the outlook. Without a node nothing is sent and no gas limit is found, but what is to be printed is.
func advisory(d *draft.Draft) (*outlook.Outlook, error) {
	if !d.Offline && !d.GenerateOnly {
		return outlook.Ask(d.Job)
	}
	ahead := outlook.Advisory(d.Job)
	if ahead == nil && d.AutoGas {
		return nil, fmt.Errorf("--%s %s needs a node, which tries the messages", bids.FlagGasLimit, bids.AutoGas)
	}
	return ahead, nil
}

// takeFlag reads a flag and sets it to what it is if it is not stated, before the SDK reads it as its own.
func takeFlag(cmd *cobra.Command, name, unstated string) (string, error) {
	flag := cmd.Flags().Lookup(name)
	value := flag.Value.String()
	return value, flag.Value.Set(unstated)
}

// checkNameIsFree refuses the name of another live timer, so that who repeats a command does not schedule twice.
func checkNameIsFree(d *draft.Draft, msg *types.MsgScheduleTimer) error {
	name := msg.Spec.Name
	if name == "" {
		return nil
	}
	found, err := types.NewQueryClient(d.Context).Timer(d.Ctx, &types.QueryTimerRequest{
		Actor: cmp.Or(msg.Actor, msg.Sender), Name: name, Scheduler: msg.Sender,
	})
	switch {
	case status.Code(err) == codes.NotFound:
		return nil
	case err != nil:
		return fmt.Errorf("look up the name %s: %s", name, plain.ServerSays(err))
	}
	return fmt.Errorf("%w: you have\n  %s\nchange that one with %s tx timers update '%s', or state another --name",
		types.ErrNameTaken, d.Row(&found.Timer), plain.App(), name)
}

// adviseSchedule checks a timer against the chain's config and says what it will cost.
func adviseSchedule(d *draft.Draft, ahead *outlook.Outlook, msg *types.MsgScheduleTimer) error {
	if err := checkNameIsFree(d, msg); err != nil {
		return err
	}
	if err := ahead.CheckLimits(bids.Limits{Gas: msg.Spec.GasLimit, Cells: msg.Spec.CellLimit, MaxCharge: msg.Spec.MaxCharge}); err != nil {
		return err
	}
	call := &types.TimerCall{Handler: msg.Spec.Call.Handler, Payload: msg.Spec.Call.Payload, Messages: msg.Spec.Call.Messages}
	if err := ahead.CheckCall(call, d.Messages); err != nil {
		return err
	}
	if err := d.CheckRecurrence(&ahead.Config, msg); err != nil {
		return err
	}
	c, err := d.Clock()
	if err != nil {
		c.PaceErr = err
	}
	// The prices come with the height that they stand for.
	r := course.Of(msg, &ahead.Config, c, ahead.Prices.Height)
	if err := checkLife(d, ahead, msg, &r); err != nil {
		return err
	}
	sponsor, err := ahead.CheckPayer(d.Job, msg.Spec.FeePayer, msg.Sender)
	if err != nil {
		return fmt.Errorf("--%s: %w", draft.FlagPayer, err)
	}
	summarize(d, &r, msg)
	promises(d, &r, msg)
	review := &review{d: d, ahead: ahead, spec: &msg.Spec, sponsor: sponsor, plan: outlook.Plan{Actor: cmp.Or(msg.Actor, msg.Sender)}}
	if msg.Spec.GasLimit, err = review.try(msg.Spec.GasLimit, true); err != nil {
		return err
	}
	review.plan = outlook.Plan{
		Course: r,
		Limits: bids.Limits{Gas: msg.Spec.GasLimit, Cells: msg.Spec.CellLimit, MaxCharge: msg.Spec.MaxCharge, DefaultCharge: d.DefaultCharge},
		Bid:    msg.Spec.Bid, BidStated: msg.Spec.Bid != nil,
		Payer: cmp.Or(msg.Spec.FeePayer, msg.Sender), Actor: cmp.Or(msg.Actor, msg.Sender), Repeats: draft.Repeats(msg), Suspends: msg.Spec.OnUnfunded == types.OnUnfundedSuspend,
	}
	if err := review.judge(); err != nil {
		return err
	}
	if d.DefaultCharge {
		msg.Spec.MaxCharge = review.maxCharge
	}
	return nil
}

// checkLife refuses what the chain would refuse of when a timer is due and when it ends.
func checkLife(d *draft.Draft, ahead *outlook.Outlook, msg *types.MsgScheduleTimer, r *course.Course) error {
	now, due, config := ahead.Prices.Height, r.Height(), &ahead.Config
	if due != 0 && due < now+timespan.LeadBlocks {
		return fmt.Errorf("due height %d is too soon: the latest block is %d, and nothing fires in the block that schedules it: "+
			"want at least %d", due, now, now+timespan.LeadBlocks)
	}
	if last := now + config.MaxTtlBlocks; max(due, msg.Spec.ExpiresAt) > last+timespan.LeadBlocks {
		said := draft.EndFlags
		if due >= msg.Spec.ExpiresAt {
			said = draft.DueFlags
		}
		return fmt.Errorf("%s%s is too far: a timer lives %d blocks at most, from here until %s",
			d.Said(said), d.Date(max(due, msg.Spec.ExpiresAt)), config.MaxTtlBlocks, d.Date(last))
	}
	if msg.Spec.ExpiresAt != 0 && msg.Spec.ExpiresAt < due {
		return fmt.Errorf("the timer expires at %s and is due at %s from here: it would never fire", d.Date(msg.Spec.ExpiresAt), d.Date(due))
	}
	if msg.Spec.ExpiresTime == 0 && !msg.Spec.Trigger.ByTime() {
		return nil
	}
	c, err := d.Clock()
	if err != nil {
		return err
	}
	if last := c.Present().Unix() + int64(config.MaxTtlSeconds); max(r.Time(), msg.Spec.ExpiresTime) > last {
		said := draft.EndFlags
		if r.Time() >= msg.Spec.ExpiresTime {
			said = draft.DueFlags
		}
		return fmt.Errorf("%s%s is too far: a timer lives %s at most, from here until %s",
			d.Said(said), d.Stamp(max(r.Time(), msg.Spec.ExpiresTime)), timespan.ForPeople(time.Duration(config.MaxTtlSeconds)*time.Second), d.Stamp(last))
	}
	return nil
}
