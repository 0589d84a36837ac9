package cli

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/client/bids"
	"github.com/cosmos-timers/timers/x/timers/client/broadcast"
	"github.com/cosmos-timers/timers/x/timers/client/course"
	"github.com/cosmos-timers/timers/x/timers/client/draft"
	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/outlook"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const nameHelp = `

A timer is named ID-PREFIX or ACTOR/ID-PREFIX: as many digits of its id as tell it from the actor's other timers. All 64
digits need no look-up. Its name names it as well.
The admin of a contract names those that the admin scheduled for it: CONTRACT/ID-PREFIX.`

func newUpdateCmd() *cobra.Command {
	cmd := broadcast.TxCommand(&cobra.Command{
		Use:   "update [id-prefix] [what-it-does]...",
		Short: "Change what one of your timers does, when it is due, its gas limit or its bid",
		Long: "Change what one of your timers does, when it is due, how it bears bad moments, its gas limit or its bid. What is not stated stays. " +
			"What follows the name says what the timer does, as with schedule. " +
			"The id stays too, and the timer goes to the back of those that are due at its height. One that repeats stays of its kind: " +
			"what follows the clock goes on to do so, and what counts blocks too. --retries 0 and --only-if '' take away what it has." + nameHelp,
		Example: fmt.Sprintf(`%[1]s tx timers update rent send bob 1100stake --from alice
%[1]s tx timers update 3fa9 --msgs messages.json --from alice
%[1]s tx timers update alice/3fa9 --gas-limit 200000 --tier urgent --from alice
%[1]s tx timers update 3fa9 --gas-limit auto --from alice
%[1]s tx timers update rent --every 'month@3 09:00' --zone Europe/Berlin --from alice
%[1]s tx timers update rent --only-if 'bank:balance:bob:stake < 100' --from alice
%[1]s tx timers update 3fa9 --default-bid --from alice`, plain.App()),
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := job.NewTx(cmd)
			if err != nil {
				return err
			}
			d := draft.New(j)
			if err := d.TakeWords(args[1:]); err != nil {
				return err
			}
			msg, err := d.Update(args[0])
			if err != nil {
				return err
			}
			if err := adviseUpdate(d, msg); err != nil {
				return err
			}
			return broadcast.Send(j, msg)
		},
	})
	draft.AddUpdateFlags(cmd.Flags())
	job.AddForce(cmd.Flags())
	return cmd
}

// adviseUpdate checks a change against the chain's config, tries the messages, and says what the timer will cost once it is
// changed, if its price changes: what is not stated stays as it is.
func adviseUpdate(d *draft.Draft, msg *types.MsgUpdateTimer) error {
	ahead, err := advisory(d)
	if ahead == nil || err != nil {
		return err
	}
	if err := ahead.CheckLimits(bids.Limits{Gas: msg.Spec.GasLimit, Cells: msg.Spec.CellLimit}); err != nil {
		return err
	}
	calls := slices.Contains(msg.Fields, "call")
	if calls {
		if err := ahead.CheckCall(&msg.Spec.Call, d.Messages); err != nil {
			return err
		}
	}
	timer, err := job.Resolve(d.Ctx, types.NewQueryClient(d.Context), cmp.Or(msg.Actor, d.Signer.Text), msg.Id)
	if err != nil {
		if d.AutoGas {
			return err
		}
		d.Notef("no estimate: %v", err)
		return nil
	}
	if !calls {
		// Those that it has are tried.
		if d.Messages, err = messagesOf(d, &timer); err != nil {
			return err
		}
	}
	r := reviewOf(d, ahead, &timer)
	triggers := slices.Contains(msg.Fields, "trigger")
	r.keeps = !calls && !triggers && !d.AutoGas
	if triggers {
		if err := adviseTrigger(d, ahead, &timer, msg, r); err != nil {
			return err
		}
	}
	if msg.Spec.GasLimit, err = r.try(msg.Spec.GasLimit, false); err != nil {
		return err
	}
	if msg.Spec.GasLimit != 0 && !slices.Contains(msg.Fields, "gas_limit") {
		msg.Fields = append(msg.Fields, "gas_limit")
	}
	// Limits and a bid change what is pre-charged.
	bid := slices.Contains(msg.Fields, "bid")
	r.keeps = r.keeps && msg.Spec.GasLimit == 0 && msg.Spec.CellLimit == 0 && !bid
	r.plan.Limits = bids.Limits{
		Gas: cmp.Or(msg.Spec.GasLimit, r.plan.Limits.Gas), Cells: cmp.Or(msg.Spec.CellLimit, r.plan.Limits.Cells),
		MaxCharge: cmp.Or(msg.Spec.MaxCharge, r.plan.Limits.MaxCharge), DefaultCharge: d.DefaultCharge,
	}
	if bid {
		r.plan.Bid, r.plan.BidStated = msg.Spec.Bid, msg.Spec.Bid != nil
	}
	if err := r.judge(); err != nil {
		return err
	}
	if d.DefaultCharge && r.maxCharge != "" { // Without a price of today the bound that it has stays.
		msg.Spec.MaxCharge, msg.Fields = r.maxCharge, append(msg.Fields, "max_charge")
	}
	if r.keeps && !slices.Contains(msg.Fields, "max_charge") {
		// How a timer bears bad moments can be changed in one: its payer may lack the funds for a fire.
		d.Warn()
	}
	return nil
}

// adviseTrigger checks another trigger against the chain's config, and says when the timer will be due by it.
func adviseTrigger(d *draft.Draft, ahead *outlook.Outlook, timer *types.TimerInfo, msg *types.MsgUpdateTimer, r *review) error {
	spec, err := timer.Spec.Named(msg.Fields, &msg.Spec)
	if err != nil {
		return err
	}
	spec.ExpiresAt, spec.ExpiresTime = timer.Status.ExpiresAt, timer.Status.ExpiresTime
	as := &types.MsgScheduleTimer{Spec: spec}
	if err := d.CheckRecurrence(&ahead.Config, as); err != nil {
		return err
	}
	c, err := d.Clock()
	if err != nil {
		c.PaceErr = err
	}
	due := course.Of(as, &ahead.Config, c, ahead.Prices.Height)
	if err := checkLife(d, ahead, as, &due); err != nil {
		return err
	}
	summarize(d, &due, as)
	promises(d, &due, as)
	r.plan.Course, r.spec, r.plan.Repeats = due, &as.Spec, draft.Repeats(as)
	return nil
}

// reviewOf begins the review of a timer that there is.
func reviewOf(d *draft.Draft, ahead *outlook.Outlook, timer *types.TimerInfo) *review {
	r := &review{d: d, ahead: ahead, plan: planOf(timer), spec: &timer.Spec}
	c, err := d.Clock()
	if err != nil {
		c.PaceErr = err
	}
	r.plan.Course = course.OfTimer(timer, c)
	if r.sponsor, err = ahead.CheckPayer(d.Job, timer.Status.FeePayer, cmp.Or(timer.Scheduler, timer.Actor)); err != nil {
		d.Object("its payer: %v", err)
	}
	return r
}

// messagesOf are the messages of a timer, as its query decodes them; none for one that has a payload.
func messagesOf(d *draft.Draft, timer *types.TimerInfo) ([]sdk.Msg, error) {
	msgs := make([]sdk.Msg, len(timer.Spec.Call.Messages))
	for i, packed := range timer.Spec.Call.Messages {
		if err := d.InterfaceRegistry.UnpackAny(packed, &msgs[i]); err != nil {
			return nil, fmt.Errorf("message %d of the timer: %w", i, err)
		}
	}
	return msgs, nil
}

func newExtendCmd() *cobra.Command {
	cmd := broadcast.TxCommand(&cobra.Command{
		Use:   "extend [id-prefix]",
		Short: "Set until when one of your timers may fire",
		Long: "Set until when one of your timers may fire (--until), or add to that (--by). A date (--until '2031-01-31 09:00') or a duration " +
			"(--by 1y) moves the last time of a timer that is due by time or ends at a time; of another it is converted to the last height. " +
			"A height or a number of blocks moves the last height; what comes first ends the timer. The chain clamps what is beyond the longest life of a timer. An end before the present " +
			"one is refused without --shorten." + nameHelp,
		Example: fmt.Sprintf(`%[1]s tx timers extend 3fa9 --until 250000 --from alice
%[1]s tx timers extend 3fa9 --by 7d --from alice
%[1]s tx timers extend rent --until '2031-01-31 09:00' --from alice
%[1]s tx timers extend rent --by 5000 --from alice
%[1]s tx timers extend --all --by 7d --from alice`, plain.App()),
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := job.NewTx(cmd)
			if err != nil {
				return err
			}
			msgs, err := draft.New(j).Extend(args)
			if err != nil {
				return err
			}
			return broadcast.Send(j, msgs...)
		},
	})
	draft.AddExtendFlags(cmd.Flags())
	job.AddForce(cmd.Flags())
	return cmd
}

func newCancelCmd() *cobra.Command {
	cmd := broadcast.TxCommand(&cobra.Command{
		Use:   "cancel [id-prefix]...",
		Short: "Cancel your timers: those that are named, or all",
		Long:  "Cancel your timers: those that are named, or all. One transaction cancels them together or none." + nameHelp,
		Example: fmt.Sprintf(`%[1]s tx timers cancel 3fa9 --from alice
%[1]s tx timers cancel 3fa9 rent alice/11 --from alice
%[1]s tx timers cancel --all --from alice
%[1]s tx timers cancel --all --actor CONTRACT --from admin`, plain.App()),
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := job.NewTx(cmd)
			if err != nil {
				return err
			}
			msgs, err := draft.New(j).Cancel(args)
			if err != nil {
				return err
			}
			return broadcast.Send(j, msgs...)
		},
	})
	draft.AddAllFlags(cmd.Flags())
	return cmd
}

func newPauseCmd() *cobra.Command {
	return newNamedCmd("pause", "Put one of your timers on hold until you resume it",
		"Put one of your timers on hold until you resume it. Its time to live goes on: it expires when it would have.", (*draft.Draft).Pause)
}

func newResumeCmd() *cobra.Command {
	cmd := newNamedCmd("resume", "Put one of your timers back that was paused, or on hold for lack of funds",
		"Put one of your timers back that you paused, or that was suspended or on hold because its payer could not cover it. One that is overdue "+
			"is due in the next block.",
		func(d *draft.Draft, names []string) ([]sdk.Msg, error) {
			msgs, timers, err := d.Resume(names)
			if err != nil {
				return nil, err
			}
			if d.ResumeAt() == types.ResumeNext {
				return msgs, nil
			}
			noteMissed(d, timers)
			return msgs, adviseResume(d, timers)
		})
	cmd.Flags().Bool(draft.FlagNext, false, "wait for its next repetition: those that came meanwhile pass (default: the latest of them fires in the next block)")
	job.AddForce(cmd.Flags())
	return cmd
}

func newSkipCmd() *cobra.Command {
	cmd := newNamedCmd("skip", "Let the next occurrences of one of your timers pass without a fire",
		"Let the next --count occurrences of one of your timers pass without a fire, of a calendar or an interval. How many fires are left stays. "+
			"The transaction states which occurrence is the next: if another is by then, nothing passes.",
		func(d *draft.Draft, names []string) ([]sdk.Msg, error) {
			msgs, err := d.Skip(names)
			if err == nil {
				noteSkipped(d, msgs)
			}
			return msgs, err
		})
	cmd.Flags().String("count", "1", "how many occurrences pass, at most 1,000")
	return cmd
}

func newRunCmd() *cobra.Command {
	return newNamedCmd("run", "Make the next occurrence of one of your timers due in the next block",
		"Make the next occurrence of one of your timers due in the next block, of a calendar or an interval that waits for it. It is paid like any other, "+
			"and the timer waits for the one after it then.", (*draft.Draft).Run)
}

// noteMissed says of timers that are resumed which of them catch up: what came while one was on hold fires in the next block.
func noteMissed(d *draft.Draft, timers []job.Owned) {
	c, err := d.Clock()
	if err != nil {
		return
	}
	for _, owned := range timers {
		t := owned.Live
		if t == nil || t.Spec.Trigger.Watch != nil {
			continue
		}
		var due string
		switch {
		case t.Status.DueTime > 0 && t.Status.DueTime <= c.Present().Unix():
			due = d.Stamp(t.Status.DueTime)
		case t.Status.DueTime == 0 && t.Status.Due > 0 && t.Status.Due <= c.Height:
			due = fmt.Sprintf("height %d", t.Status.Due)
		default:
			continue
		}
		if t.Spec.Trigger.Interval == nil && t.Spec.Trigger.Calendar == nil {
			d.Notef("timer %s was due at %s, while it was on hold: it fires in the next block, and is charged for that", t.Id, due)
			continue
		}
		d.Notef("timer %s was due at %s, while it was on hold: it catches up by a fire in the next block, and is charged for that; --%s waits for its next repetition instead",
			t.Id, due, draft.FlagNext)
	}
}

// mostOccurrences is how many occurrences a node tells at once.
const mostOccurrences = 100

// noteSkipped says which occurrences of timers pass, and which is next then, as far as a node tells.
func noteSkipped(d *draft.Draft, msgs []sdk.Msg) {
	if d.Offline {
		return
	}
	for _, msg := range msgs {
		skip, ok := msg.(*types.MsgSkipTimer)
		if !ok || skip.Count >= mostOccurrences {
			continue
		}
		answer, err := types.NewQueryClient(d.Context).Occurrences(d.Ctx, &types.QueryOccurrencesRequest{
			Actor: cmp.Or(skip.Actor, d.Signer.Text), Id: skip.Id, Limit: skip.Count + 1,
		})
		if err != nil || len(answer.Occurrences) <= int(skip.Count) {
			continue
		}
		text := func(o types.OccurrenceInfo) string {
			if answer.ByTime {
				return d.Stamp(int64(o.Due))
			}
			return d.Date(o.Due)
		}
		passes := text(answer.Occurrences[0])
		if skip.Count > 1 {
			passes += " to " + text(answer.Occurrences[skip.Count-1])
		}
		d.Notef("timer %s: %s: %s; next is %s", skip.Id, passing(skip.Count), passes, text(answer.Occurrences[skip.Count]))
	}
}

func passing(count uint32) string {
	if count == 1 {
		return "1 occurrence passes"
	}
	return plain.Count(uint64(count), "occurrence") + " pass"
}

// adviseResume tries what timers do, each of which is due in the next block if it is overdue, and says what that costs.
func adviseResume(d *draft.Draft, timers []job.Owned) error {
	ahead := outlook.Advisory(d.Job)
	if ahead == nil {
		return nil
	}
	for _, owned := range timers {
		if owned.Live == nil {
			continue
		}
		if len(timers) > 1 {
			d.Subject = fmt.Sprintf("timer %s: ", owned.ID)
			d.Notef("timer %s", owned.ID)
		}
		var err error
		if d.Messages, err = messagesOf(d, owned.Live); err != nil {
			return err
		}
		r := reviewOf(d, ahead, owned.Live)
		if _, err := r.try(owned.Live.Status.GasLimit, false); err != nil {
			return err
		}
		if err := r.judge(); err != nil {
			return err
		}
	}
	return nil
}

// planOf is what a timer is already, as far as its price depends on it.
func planOf(timer *types.TimerInfo) outlook.Plan {
	return outlook.Plan{
		Limits: bids.Limits{Gas: timer.Status.GasLimit, Cells: timer.Status.CellLimit, MaxCharge: timer.Spec.MaxCharge}, Bid: timer.Spec.Bid, Payer: timer.Status.FeePayer, Actor: timer.Actor,
		Repeats: timer.Spec.Trigger.Interval != nil || timer.Spec.Trigger.Calendar != nil || timer.Spec.Retry != nil, Suspends: timer.Spec.OnUnfunded == types.OnUnfundedSuspend,
	}
}

// newNamedCmd is a command whose messages name timers and say nothing else.
func newNamedCmd(verb, short, long string, messages func(d *draft.Draft, names []string) ([]sdk.Msg, error)) *cobra.Command {
	cmd := broadcast.TxCommand(&cobra.Command{
		Use:   verb + " [id-prefix]",
		Short: short,
		Long:  long + nameHelp,
		Example: fmt.Sprintf("%[1]s tx timers %[2]s 3fa9 --from alice\n%[1]s tx timers %[2]s rent --from alice\n%[1]s tx timers %[2]s --all --from alice",
			plain.App(), verb),
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := job.NewTx(cmd)
			if err != nil {
				return err
			}
			msgs, err := messages(draft.New(j), args)
			if err != nil {
				return err
			}
			return broadcast.Send(j, msgs...)
		},
	})
	draft.AddAllFlags(cmd.Flags())
	return cmd
}
