package keeper_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// drawn draws messages of the module, with any of their options, on the timers that a chain has.
type drawn struct {
	*fixture
	t *rapid.T
	// works is what handlers do; failing ones fail until the payer is refilled.
	works, fails []byte
	poor         sdk.AccAddress
}

func (d *drawn) chance(name string, percent int) bool {
	return rapid.IntRange(0, 99).Draw(d.t, name) < percent
}

func oneOf[T any](d *drawn, name string, values ...T) T {
	return rapid.SampledFrom(values).Draw(d.t, name)
}

// trigger is of any kind, and relative to now.
func (d *drawn) trigger(spec *types.TimerSpec) {
	height, now := d.Height(), d.Ctx().BlockTime().Unix()
	spec.Repeat = &types.Repeat{
		Remaining: oneOf[uint64](d, "remaining", 0, 1, 2, 5), OnFailure: oneOf(d, "on failure", types.OnFailureRoll, types.OnFailureStop, types.OnFailureSuspend),
		Renew: d.chance("renews", 20),
	}
	if spec.Repeat.OnFailure == types.OnFailureSuspend {
		spec.Repeat.MaxFailures = oneOf[uint32](d, "max failures", 0, 1, 2)
	}
	switch oneOf(d, "kind", "height", "after", "from fire", "from schedule", "time", "calendar", "cron", "watch", "condition") {
	case "height":
		spec.Trigger.Height = height + oneOf[uint64](d, "in", 1, 2, 6)
	case "after":
		spec.Trigger.After = oneOf[uint64](d, "after", 1, 3)
	case "from fire":
		spec.Trigger.Interval = &types.IntervalTrigger{Every: oneOf[uint64](d, "every", 1, 2, 7)}
	case "from schedule":
		spec.Trigger.Interval = &types.IntervalTrigger{Every: oneOf[uint64](d, "every", 1, 2, 7), From: types.FromSchedule}
	case "time":
		at := time.Unix(now+oneOf[int64](d, "seconds", 1, 5, 30), 0).UTC()
		spec.Trigger.Time = &at
	case "cron":
		spec.Trigger.Calendar = &types.CalendarTrigger{Cron: &types.CronRule{
			Minutes: oneOf[uint64](d, "minutes", 1<<60-1, 1<<30|1), Hours: 1<<24 - 1, Days: 1<<32 - 2, Months: 1<<13 - 2, Weekdays: 1<<7 - 1,
		}}
	case "calendar":
		spec.Trigger.Calendar = &types.CalendarTrigger{Every: &types.EveryRule{Seconds: oneOf[uint64](d, "period", 1, 6, 60), Anchor: now}}
	case "condition":
		spec.Trigger.Watch = &types.WatchTrigger{
			Keys: []types.WatchKey{d.when(d.balanceOf(bob), "> 0"), d.balanceOf(carol)}, Cooldown: oneOf[uint64](d, "cooldown", 0, 3),
		}
	default:
		spec.Trigger.Watch = &types.WatchTrigger{Keys: []types.WatchKey{d.balanceOf(bob)}}
	}
	switch {
	case !spec.Recurs():
		spec.Repeat = nil
	case spec.Trigger.Watch != nil:
		spec.Repeat.OnFailure, spec.Repeat.MaxFailures = 0, 0
	case spec.Trigger.HasOccurrences():
		spec.Repeat.Missed = oneOf(d, "missed", types.MissedUnspecified, types.MissedLatest, types.MissedEach)
		spec.Repeat.Window, spec.Repeat.Jitter = oneOf[uint64](d, "window", 0, 1, 5), oneOf[uint64](d, "jitter", 0, 0, 2)
	}
}

func (d *drawn) options(spec *types.TimerSpec) {
	spec.Name = oneOf(d, "name", "", "", "rent", "gym", "no/name")
	spec.MaxCharge = oneOf(d, "max charge", "", "", "", "1000000", "1")
	if d.chance("paid by another", 10) {
		spec.FeePayer = oneOf(d, "payer", robot, d.poor, bob).String()
	}
	spec.OnUnfunded = oneOf(d, "on unfunded", types.OnUnfundedUnspecified, types.OnUnfundedDestroy, types.OnUnfundedSuspend, types.OnUnfundedSkip)
	if d.chance("retries", 50) {
		spec.Retry = &types.Retry{Max: oneOf[uint32](d, "tries", 1, 8), After: oneOf[uint64](d, "retry after", 1, 4), Backoff: oneOf[uint32](d, "backoff", 0, 2)}
	}
	if d.chance("guarded", 20) {
		spec.OnlyIf = []types.WatchKey{d.lowBalance()}
	}
}

func (d *drawn) payload() []byte { return oneOf(d, "payload", d.works, d.fails) }

// any is a message on any timer of the chain, or one that schedules another.
func (d *drawn) any() sdk.Msg {
	timers, err := d.Timers.Engine().Records.All(d.Ctx())
	require.NoError(d.t, err)
	if len(timers) == 0 || d.chance("schedules", 35) {
		msg := &types.MsgScheduleTimer{Sender: oneOf(d, "owner", robot, robot2, d.poor).String()}
		d.options(&msg.Spec)
		d.trigger(&msg.Spec)
		msg.Spec.Call.Payload, msg.Spec.GasLimit = d.payload(), gas
		if d.chance("ends", 40) {
			msg.Spec.ExpiresAt, msg.Spec.ExpiresTime = d.end(&msg.Spec.Trigger)
		}
		return msg
	}
	t := &timers[rapid.IntRange(0, len(timers)-1).Draw(d.t, "timer")]
	sender, id, name, authority := sdk.AccAddress(t.Actor).String(), t.IDHex(), t.Spec.Name, d.Timers.Authority(d.Ctx())
	whole := id
	switch {
	case name == "":
	case d.chance("by its name", 50):
		id = ""
	case d.chance("by its id alone", 80):
		name = ""
	}
	switch oneOf(d, "message", "update", "update", "update", "extend", "skip", "run", "pause", "resume", "resume", "cancel", "sys cancel", "sys extend", "release") {
	case "update":
		return d.update(sender, id, name, t.Seq)
	case "extend":
		at, seconds := d.end(&t.Spec.Trigger)
		return &types.MsgExtendTimer{Sender: sender, Id: id, Name: name, ExpiresAt: at, ExpiresTime: seconds}
	case "skip":
		return &types.MsgSkipTimer{Sender: sender, Id: id, Name: name, Count: oneOf[uint32](d, "count", 1, 3), From: oneOf(d, "from", 0, 0, t.Due, uint64(t.DueTime))}
	case "run":
		return &types.MsgRunTimer{Sender: sender, Id: id, Name: name}
	case "pause":
		return &types.MsgPauseTimer{Sender: sender, Id: id, Name: name}
	case "resume":
		return &types.MsgResumeTimer{Sender: sender, Id: id, Name: name, At: oneOf(d, "at", types.ResumeNow, types.ResumeNext)}
	case "cancel":
		return &types.MsgCancelTimer{Sender: sender, Id: id, Name: name}
	case "sys cancel":
		return &types.MsgSysCancelTimer{Authority: authority, Actor: sender, Id: whole}
	case "sys extend":
		at, seconds := d.end(&t.Spec.Trigger)
		return &types.MsgSysExtendTimer{Authority: authority, Actor: sender, Id: whole, ExpiresAt: at, ExpiresTime: seconds}
	default:
		return &types.MsgSysReleaseTimer{Authority: authority, Actor: sender, Id: whole}
	}
}

// update changes one thing, or several at once.
func (d *drawn) update(sender, id, name string, seq uint64) sdk.Msg {
	msg := &types.MsgUpdateTimer{Sender: sender, Id: id, Name: name, IfSeq: oneOf(d, "if seq", 0, 0, seq, seq+1)}
	drawn := types.TimerSpec{GasLimit: gas + 1, Call: types.TimerCall{Payload: d.payload()}}
	d.trigger(&drawn)
	d.options(&drawn)
	drawn.ExpiresAt, drawn.ExpiresTime = d.end(&drawn.Trigger)
	for _, field := range types.SpecFields() {
		percent := 15
		if field == "trigger" || field == "retry" || field == "on_unfunded" {
			percent = 35
		}
		if d.chance(field, percent) {
			msg.Fields = append(msg.Fields, field)
		}
	}
	if len(msg.Fields) > 0 {
		msg.Spec, _ = types.TimerSpec{}.Named(msg.Fields, &drawn)
	}
	return msg
}

// end is soon, in the clock of a trigger as a rule.
func (d *drawn) end(trigger *types.Trigger) (height uint64, seconds int64) {
	height, seconds = d.Height()+oneOf[uint64](d, "end", 1, 4, 40), d.Ctx().BlockTime().Unix()+oneOf[int64](d, "end time", 1, 20, 200)
	switch {
	case d.chance("both clocks", 10):
		return height, seconds
	case trigger.ByTime():
		return 0, seconds
	case trigger.Watch != nil && d.chance("ends by time", 30):
		return 0, seconds
	default:
		return height, 0
	}
}

// TestMessages_LeaveNoStateThatCannotBeExported: whatever messages are sent, with any of their options and in any state, every
// block holds the invariants, and what it exports another chain begins with, and exports again.
//
// Rule: 2.1-round-trip
func TestMessages_LeaveNoStateThatCannotBeExported(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := newFixture(t, withConfig(func(c *types.TimerConfig) {
			c.MaxUnfundedSkips = 2
			c.Policy = rapid.SampledFrom(everyPolicy).Draw(rt, "policy")
			lab.SetRemovals(c, 2)
		}))
		d := &drawn{fixture: f, t: rt, poor: sdk.AccAddress("robot_poor__________")}
		d.works = f.script(func(sdk.Context, types.Delivery) error { return nil })
		d.fails = f.script(func(sdk.Context, types.Delivery) error { return errors.New("not now") })
		f.fund(d.poor, 1_000)
		for range rapid.IntRange(1, 12).Draw(rt, "blocks") {
			for range rapid.IntRange(0, 4).Draw(rt, "messages") {
				_, _, _ = f.Tx(d.any()) // Some are refused.
			}
			if d.chance("pays", 30) {
				f.run(f.send(alice, oneOf(d, "to", bob, carol, d.poor), 200))
			}
			f.NextBlock()
			require.NoError(rt, f.Check())
			exported := f.export()
			require.NoError(rt, f.Timers.ValidateGenesis(exported))
			again := imported(t, f, exported)
			require.NoError(rt, again.Check())
			require.Equal(rt, string(f.Codec.MustMarshalJSON(exported)), string(f.Codec.MustMarshalJSON(again.export())))
		}
	})
}
