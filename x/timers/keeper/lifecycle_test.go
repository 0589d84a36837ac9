package keeper_test

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// every makes a timer repeat.
func every(blocks, remaining uint64) func(*types.MsgScheduleTimer) {
	return func(msg *types.MsgScheduleTimer) {
		msg.Spec.Trigger = types.Trigger{Interval: &types.IntervalTrigger{Every: blocks, First: msg.Spec.Trigger.Height}}
		if remaining > 0 {
			msg.Spec.Repeat = &types.Repeat{Remaining: remaining}
		}
	}
}

// retried has its failed fires tried again.
func retried(times uint32, after uint64) func(*types.MsgScheduleTimer) {
	return func(msg *types.MsgScheduleTimer) { msg.Spec.Retry = &types.Retry{Max: times, After: after} }
}

func suspending(msg *types.MsgScheduleTimer) { msg.Spec.OnUnfunded = types.OnUnfundedSuspend }

func pause(actor sdk.AccAddress, id string) *types.MsgPauseTimer {
	return &types.MsgPauseTimer{Sender: actor.String(), Id: id}
}

func resume(actor sdk.AccAddress, id string) *types.MsgResumeTimer {
	return &types.MsgResumeTimer{Sender: actor.String(), Id: id}
}

// failing is the payload of a handler that fails so many times, and then succeeds.
func (f *fixture) failing(times int) []byte {
	return f.script(func(sdk.Context, types.Delivery) error {
		if times--; times >= 0 {
			return types.ErrInvalidPayload
		}
		return nil
	})
}

// Rule: 1.2-on-unfunded, 1.2-due, 1.2-fire-seq, 1.2-last-outcome, 1.4-interval-first, 1.4-interval-next
// Rule: 1.4-interval-remaining, 1.4-interval-end, 1.4-repeating-keeps-id, 6-next-due
func TestAnIntervalFiresAgainAndAgain(t *testing.T) {
	f := newFixture(t, withConfig(plain))
	var deliveries []types.Delivery
	payload := f.script(func(_ sdk.Context, d types.Delivery) error {
		deliveries = append(deliveries, d)
		return nil
	})
	id := f.schedule(robot, 3, payload, every(4, 3), limited(40_000))
	first := f.timer(robot, id)
	require.Equal(t, types.Trigger{Interval: &types.IntervalTrigger{Every: 4, First: 3}}, first.Spec.Trigger)
	require.Equal(t, types.Repeat{Remaining: 3}, *first.Spec.Repeat)
	require.Equal(t, types.OnUnfundedUnspecified, first.Spec.OnUnfunded)
	require.Equal(t, uint64(3), first.Status.Left)
	require.Nil(t, first.Status.LastOutcome)

	for i, at := range []uint64{3, 7, 11} {
		fired := only[*types.TimerFired](f, f.blocksUntil(at))
		require.Equal(t, uint32(i), fired.FireSeq)
		require.Equal(t, id, fired.Id, "the id stays")
		if at == 11 {
			require.Zero(t, fired.NextDue, "the last repetition")
			break
		}
		require.Equal(t, at+4, fired.NextDue)
		want := first
		want.Status.Due, want.Status.FireSeq, want.Status.Deliveries = at+4, uint32(i)+1, uint64(i)+1
		want.Status.Left = 2 - uint64(i)
		want.Status.LastOutcome = &types.Outcome{Success: true, Height: at, Cycles: 20_000, Paid: math.NewInt(20_000)}
		require.Equal(t, want, f.timer(robot, id))
		require.Equal(t, uint32(1), f.total(robot), "it counts once")
	}
	require.Zero(t, f.total(robot))
	require.Empty(t, f.firedIDs(f.blocksUntil(20)))
	require.Len(t, deliveries, 3)
	seen := map[string]bool{}
	for i, d := range deliveries {
		require.Equal(t, uint32(i), d.FireSeq)
		require.False(t, seen[string(d.DeliverID)], "deliveries are told apart")
		seen[string(d.DeliverID)] = true
	}
}

// How a timer that repeats ends is in the event of its last fire, with how many fires are missing.
// Rule: 6-ended, 6-missing
func TestAnEndHasAReason(t *testing.T) {
	f := newFixture(t)
	cancels := f.script(func(ctx sdk.Context, d types.Delivery) error {
		return f.Timers.Cancel(ctx, robot, d.TimerID)
	})
	stop := func(msg *types.MsgScheduleTimer) {
		msg.Spec.Repeat = &types.Repeat{Remaining: msg.Spec.Repeat.GetRemaining(), OnFailure: types.OnFailureStop}
	}
	want := map[string]types.TimerFired{
		f.schedule(robot, 3, f.noop(), every(4, 1)):                 {Ended: types.EndCompleted},
		f.schedule(robot, 3, f.noop(), every(4, 12), expiring(6)):   {Ended: types.EndOfLife, Missing: 11},
		f.schedule(robot, 3, f.noop(), every(4, 0), expiring(6)):    {Ended: types.EndOfLife},
		f.schedule(robot, 3, f.failing(1), every(4, 5), stop):       {Ended: types.EndFailed, Missing: 4},
		f.schedule(robot, 3, cancels, every(4, 3), limited(90_000)): {Ended: types.EndCancelled, Missing: 2},
		f.schedule(robot, 3, f.noop(), every(400, 2)):               {},
		f.schedule(robot, 3, f.noop()):                              {},
	}
	for _, fired := range eventsOf[*types.TimerFired](f, f.blocksUntil(3)) {
		require.Equal(t, want[fired.Id], types.TimerFired{Ended: fired.Ended, Missing: fired.Missing}, "%v", fired)
		delete(want, fired.Id)
	}
	require.Empty(t, want)

	// One that expires before it fires says how many it was to make.
	f.setConfig(func(c *types.TimerConfig) { c.LanePaused = true })
	at := f.Height()
	f.schedule(robot, at+3, f.noop(), every(4, 7), expiring(at+5))
	require.EqualValues(t, 7, only[*types.TimerExpired](f, f.blocksUntil(at+7)).Missing)
}

// Rule: 1.4-interval-first
func TestAnIntervalWithoutAFirstHeightBeginsAfterOne(t *testing.T) {
	f := newFixture(t)
	id := f.schedule(robot, 0, f.noop(), every(5, 0))
	require.Equal(t, f.Height()+5, f.timer(robot, id).Status.Due)
	require.Equal(t, f.Height()+5, f.timer(robot, id).Status.Start)
	f.run(&types.MsgCancelTimer{Sender: robot.String(), Id: id})
}

// Rule: 1.4-interval-next, 1.4-interval-late, 6-late
func TestALateFireDelaysTheNext(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) { c.LanePaused = true }))
	id := f.schedule(robot, 3, f.noop(), every(2, 0))
	f.blocksUntil(8)
	f.setConfig(func(c *types.TimerConfig) { c.LanePaused = false })
	f.NextBlock()
	fired := only[*types.TimerFired](f, f.NextBlock())
	require.Equal(t, uint64(7), fired.Late)
	require.Equal(t, uint64(12), fired.NextDue, "once, however many were missed")
	require.Equal(t, []string{id}, f.firedIDs(f.blocksUntil(13)))
}

func TestALateFailureIsRetriedFromWhereItFired(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) { c.LanePaused = true }))
	id := f.schedule(robot, 3, f.failing(1), retried(1, 4))
	f.blocksUntil(8)
	f.setConfig(func(c *types.TimerConfig) { c.LanePaused = false })
	f.NextBlock()
	fired := only[*types.TimerFired](f, f.NextBlock())
	require.Equal(t, uint64(7), fired.Late)
	require.Equal(t, uint64(14), fired.NextDue)
	again := only[*types.TimerFired](f, f.blocksUntil(14))
	require.Equal(t, id, again.Id)
	require.Zero(t, again.Late)
	require.Equal(t, uint64(15), f.Height())
}

// Rule: 1.4-interval-remaining, 1.4-interval-end
func TestAnIntervalEndsWhenItCouldNotFireAgain(t *testing.T) {
	f := newFixture(t)
	exact := f.schedule(robot, 3, f.noop(), every(4, 0), expiring(7))
	short := f.schedule(robot, 3, f.noop(), every(4, 0), expiring(6))
	events := f.blocksUntil(3)
	fired := eventsOf[*types.TimerFired](f, events)
	require.Equal(t, []uint64{7, 0}, []uint64{fired[0].NextDue, fired[1].NextDue})
	f.refused(types.ErrTimerNotFound, pause(robot, short))
	events = f.blocksUntil(20)
	require.Equal(t, []string{exact}, f.firedIDs(events))
	require.Empty(t, eventsOf[*types.TimerExpired](f, events), "its last fire was its end, and the only one")
}

// TestHeightsNearOverflow: neither an interval nor a retry overflows.
func TestHeightsNearOverflow(t *testing.T) {
	const now = uint64(1)<<55 - 100
	f := newFixture(t, func(opts *lab.ChainOptions) {
		opts.Height = int64(now) - 1
		opts.Genesis.NextSeq = 10
		for i, expires := range []uint64{^uint64(0), now + 1, now} {
			for j, payload := range []string{"idle", "fails"} {
				seq := uint64(2*i+j) + 1
				opts.Genesis.Timers = append(opts.Genesis.Timers, types.Timer{
					Id: types.TimerID(robot, now, []byte(payload), seq), Actor: robot, GasLimit: gas,
					ExpiresAt: expires, Seq: seq, Due: now, Start: now,
					Spec: types.TimerSpec{
						Call:    types.TimerCall{Payload: []byte(payload)},
						Trigger: types.Trigger{Interval: &types.IntervalTrigger{Every: 1 << 40}},
						Retry:   &types.Retry{Max: market.MaxRetries, After: 1 << 40}, Repeat: &types.Repeat{Remaining: ^uint64(0)},
					},
				})
			}
		}
	})
	f.robots.scripts["idle"] = func(sdk.Context, types.Delivery) error { return nil }
	f.robots.scripts["fails"] = func(sdk.Context, types.Delivery) error { return types.ErrInvalidPayload }
	var next []uint64
	for _, fired := range eventsOf[*types.TimerFired](f, f.NextBlock()) {
		next = append(next, fired.NextDue)
	}
	require.Equal(t, []uint64{now + 1<<40, now + 1<<40, 0, 0, 0, 0}, next)
}

// Rule: 3.1-trigger-errors, 3.1-recurrence-errors
func TestScheduleRefusesInvalidRecurrence(t *testing.T) {
	f := newFixture(t)
	config := f.config()
	interval := func(i types.IntervalTrigger) func(*types.MsgScheduleTimer) {
		return func(msg *types.MsgScheduleTimer) { msg.Spec.Trigger = types.Trigger{Interval: &i} }
	}
	for name, tc := range map[string]struct {
		want   error
		change func(*types.MsgScheduleTimer)
	}{
		"every 0":          {types.ErrInvalidInterval, interval(types.IntervalTrigger{First: 9})},
		"every beyond TTL": {types.ErrInvalidInterval, interval(types.IntervalTrigger{Every: config.MaxTtlBlocks + 1, First: 9})},
		"every largest":    {types.ErrInvalidInterval, interval(types.IntervalTrigger{Every: largest})},
		"unknown on_failure": {types.ErrInvalidRepeat, func(msg *types.MsgScheduleTimer) {
			interval(types.IntervalTrigger{Every: 1})(msg)
			msg.Spec.Repeat = &types.Repeat{OnFailure: 4}
		}},
		"first now":        {types.ErrHeightNotInFuture, interval(types.IntervalTrigger{Every: 1, First: f.Height()})},
		"first beyond TTL": {types.ErrTTLTooLong, interval(types.IntervalTrigger{Every: 1, First: f.Height() + config.MaxTtlBlocks + 1})},
		"first largest":    {types.ErrTTLTooLong, interval(types.IntervalTrigger{Every: 1, First: largest})},
		"first after expiry": {types.ErrExpiresTooSoon, func(msg *types.MsgScheduleTimer) {
			interval(types.IntervalTrigger{Every: 5})(msg)
			msg.Spec.ExpiresAt = f.Height() + 4
		}},
		"no retries":         {types.ErrInvalidRetry, retried(0, 1)},
		"too many retries":   {types.ErrInvalidRetry, retried(market.MaxRetries+1, 1)},
		"retries at once":    {types.ErrInvalidRetry, retried(1, 0)},
		"retries beyond TTL": {types.ErrInvalidRetry, retried(1, config.MaxTtlBlocks+1)},
		"unknown choice":     {types.ErrInvalidOnUnfunded, func(msg *types.MsgScheduleTimer) { msg.Spec.OnUnfunded = 4 }},
		"negative choice":    {types.ErrInvalidOnUnfunded, func(msg *types.MsgScheduleTimer) { msg.Spec.OnUnfunded = -1 }},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := f.Tx(scheduleMsg(robot, f.Height()+5, f.noop(), tc.change))
			require.ErrorIs(t, err, tc.want)
		})
	}
	require.Zero(t, f.total(robot))
	f.schedule(robot, f.Height()+5, f.noop(), retried(market.MaxRetries, 1))
}

// Rule: 1.2-last-outcome, 1.4-retry, 1.4-retries-counted, 1.4-retries-of-a-repetition, 5.2-failure-repeats
func TestARetryComesBeforeTheNextRepetition(t *testing.T) {
	f := newFixture(t, withConfig(plain))
	id := f.schedule(robot, 3, f.failing(5), every(10, 2), retried(2, 3), limited(40_000), func(msg *types.MsgScheduleTimer) {
		msg.Spec.Bid = &types.Bid{Static: &types.StaticBid{MaxFeePerCycle: decimal.Of(math.LegacyOneDec()), MaxPriorityFeePerCycle: decimal.Of(math.LegacyZeroDec())}}
	})
	type step struct {
		height, nextDue, remaining uint64
		retries                    uint32
		success                    bool
	}
	// Five failures: the first repetition and its two retries, the second and one of its retries; then success.
	for _, want := range []step{
		{3, 6, 2, 1, false}, {6, 9, 2, 2, false}, {9, 19, 1, 0, false}, {19, 22, 1, 1, false}, {22, 25, 1, 2, false}, {25, 0, 0, 0, true},
	} {
		fired := only[*types.TimerFired](f, f.blocksUntil(want.height))
		require.Equal(t, want.success, fired.Success)
		require.Equal(t, "20000", fired.Paid, "paid again each time")
		require.Equal(t, want.nextDue, fired.NextDue, "height %d", want.height)
		require.Equal(t, want.retries, fired.Retries, "height %d", want.height)
		if want.nextDue == 0 {
			break
		}
		info := f.timer(robot, id)
		require.Equal(t, want.remaining, info.Status.Left, "retries of one repetition count as one")
		require.Equal(t, want.retries, info.Status.Retries)
		require.Equal(t, &types.Outcome{
			Codespace: types.ModuleName, Code: types.ErrInvalidPayload.ABCICode(), Height: want.height, Cycles: 20_000, Paid: math.NewInt(20_000),
		}, info.Status.LastOutcome)
	}
	require.Zero(t, f.total(robot))
}

// Rule: 1.4-retry, 1.4-retry-beyond-expiry
func TestRetriesOfOneShot(t *testing.T) {
	f := newFixture(t)
	long := bytes.Repeat([]byte("x"), 2_000)
	name := string(long)
	failures := 2
	f.robots.scripts[name] = func(ctx sdk.Context, d types.Delivery) error {
		// It can't be found by its own handler, since it leaves if that succeeds.
		if err := f.Timers.Cancel(ctx, d.Actor, d.TimerID); err == nil {
			return types.ErrInternal
		}
		if failures--; failures >= 0 {
			return types.ErrInvalidPayload
		}
		return nil
	}
	id := f.schedule(robot, 3, long, retried(5, 2))
	f.blocksUntil(5)
	info := f.timer(robot, id)
	require.Equal(t, uint32(2), info.Status.FireSeq)
	require.Equal(t, uint32(2), info.Status.Retries)
	require.Equal(t, long, info.Spec.Call.Payload)
	require.Equal(t, uint64(7), info.Status.Due)
	require.Equal(t, []string{id}, f.firedIDs(f.blocksUntil(30)))
	require.Zero(t, f.total(robot))

	gone := f.schedule(robot, f.Height()+2, f.failing(99), retried(2, 1))
	require.Equal(t, []string{gone, gone, gone}, f.firedIDs(f.blocksUntil(f.Height()+9)))
	tooLate := f.schedule(robot, f.Height()+2, f.failing(99), retried(2, 4), expiring(f.Height()+5))
	fired := only[*types.TimerFired](f, f.blocksUntil(f.Height()+9))
	require.Equal(t, tooLate, fired.Id)
	require.Zero(t, fired.NextDue, "a retry that could not fire is none")
}

// Rule: 1.4-interval-end, 1.4-on-failure-after-retries, 5.2-failure-repeats
func TestAnIntervalStopsOnFailure(t *testing.T) {
	f := newFixture(t)
	stops := func(msg *types.MsgScheduleTimer) {
		msg.Spec.Repeat = &types.Repeat{Remaining: msg.Spec.Repeat.GetRemaining(), OnFailure: types.OnFailureStop}
	}
	alone := f.schedule(robot, 3, f.failing(1), every(4, 0), stops)
	patient := f.schedule(robot2, 3, f.failing(1), every(4, 2), retried(1, 1), stops)
	require.Equal(t, []string{alone, patient, patient, patient}, f.firedIDs(f.blocksUntil(20)))
}

// TestAHandlerFindsItsNextFire: what a handler sees of its own repeating timer is what will be, and what it does to it
// stands if it succeeds.
//
// Rule: 1.5-own-next-state, 1.5-handler-changes-next-fire, 1.5-failed-handler-changes-nothing
// Rule: 1.5-own-cancellation, 5.2-moved-before-running, 6-next-due
func TestAHandlerFindsItsNextFire(t *testing.T) {
	for name, tc := range map[string]struct {
		act  func(f *fixture, ctx sdk.Context, actor sdk.AccAddress, id []byte) error
		want func(info *types.TimerInfo, before types.TimerInfo)
		gone bool
	}{
		"nothing": {
			act:  func(*fixture, sdk.Context, sdk.AccAddress, []byte) error { return nil },
			want: func(*types.TimerInfo, types.TimerInfo) {},
		},
		"cancel": {
			act: func(f *fixture, ctx sdk.Context, actor sdk.AccAddress, id []byte) error {
				return f.Timers.Cancel(ctx, actor, id)
			},
			gone: true,
		},
		"update": {
			act: func(f *fixture, ctx sdk.Context, actor sdk.AccAddress, id []byte) error {
				_, err := f.Timers.Update(ctx, keeper.UpdateRequest{
					Actor: actor, ID: id, Spec: types.TimerSpec{GasLimit: 150_000, Call: types.TimerCall{Payload: make([]byte, 900)}}, Fields: []string{"gas_limit", "call"},
				})
				return err
			},
			want: func(info *types.TimerInfo, before types.TimerInfo) {
				info.Status.GasLimit, info.Spec.Call.Payload, info.Status.Seq = 150_000, make([]byte, 900), before.Status.Seq+1
				info.Spec.Call.Handler, info.Spec.GasLimit = "", 150_000
			},
		},
		"extend": {
			act: func(f *fixture, ctx sdk.Context, actor sdk.AccAddress, id []byte) error {
				_, err := f.Timers.Extend(ctx, actor, id, keeper.End{Height: 90})
				return err
			},
			want: func(info *types.TimerInfo, _ types.TimerInfo) {
				info.Status.ExpiresAt, info.Spec.ExpiresAt, info.Status.Renewal = 90, 90, &types.Renewal{Blocks: 87}
			},
		},
		"pause": {
			act: func(f *fixture, ctx sdk.Context, actor sdk.AccAddress, id []byte) error {
				return f.Timers.Pause(ctx, actor, id)
			},
			want: func(info *types.TimerInfo, _ types.TimerInfo) {
				info.Status.Phase, info.Status.HoldReason = types.PhaseOnHold, types.Paused
			},
		},
		"pause and resume": {
			act: func(f *fixture, ctx sdk.Context, actor sdk.AccAddress, id []byte) error {
				if err := f.Timers.Pause(ctx, actor, id); err != nil {
					return err
				}
				_, err := f.Timers.Resume(ctx, actor, id)
				return err
			},
			want: func(*types.TimerInfo, types.TimerInfo) {},
		},
	} {
		for _, fails := range []bool{false, true} {
			t.Run(name+map[bool]string{true: " and fail"}[fails], func(t *testing.T) {
				f := newFixture(t)
				var seen types.TimerInfo
				var actErr error
				payload := f.script(func(ctx sdk.Context, d types.Delivery) error {
					seen = f.timerAt(ctx, d)
					if actErr = tc.act(f, ctx, d.Actor, d.TimerID); actErr != nil {
						return actErr
					}
					if fails {
						return types.ErrInvalidPayload
					}
					return nil
				})
				id := f.schedule(robot, 3, payload, every(5, 4), expiring(60))
				before := f.timer(robot, id)
				events := f.blocksUntil(3)
				fired := only[*types.TimerFired](f, events)
				require.NoError(t, actErr)
				require.Equal(t, !fails, fired.Success)
				require.Equal(t, tc.gone && !fails, len(eventsOf[*types.TimerCancelled](f, events)) == 1)
				rolled := before
				rolled.Status.Due, rolled.Status.FireSeq, rolled.Status.Deliveries = 8, 1, 1
				rolled.Status.Left = 3
				require.Equal(t, rolled, seen)
				if tc.gone && !fails {
					require.Zero(t, f.total(robot))
					require.Zero(t, fired.NextDue)
					require.Empty(t, f.firedIDs(f.blocksUntil(20)))
					return
				}
				want := rolled
				if want.Status.Failures = 1; !fails {
					want.Status.Failures = 0
					tc.want(&want, before)
				}
				want.Status.PayloadBytes = uint64(len(want.Spec.Call.Payload))
				got := f.timer(robot, id)
				require.Equal(t, fired.Success, got.Status.LastOutcome.Success)
				got.Status.LastOutcome, got.Status.Verdict = nil, want.Status.Verdict
				require.Equal(t, want, got)
				require.Equal(t, uint64(8), fired.NextDue)
			})
		}
	}
}

// timerAt is what a handler finds of its own timer.
func (f *fixture) timerAt(ctx sdk.Context, d types.Delivery) types.TimerInfo {
	ctx = ctx.WithGasMeter(f.Ctx().GasMeter())
	timers, err := f.Timers.TimersOf(ctx, d.Actor)
	require.NoError(f.t, err)
	at := slices.IndexFunc(timers, func(t types.Timer) bool { return bytes.Equal(t.Id, d.TimerID) })
	require.GreaterOrEqual(f.t, at, 0)
	response, err := f.query().Timer(ctx, &types.QueryTimerRequest{Actor: d.Actor.String(), Id: timers[at].IDHex()})
	require.NoError(f.t, err)
	return response.Timer
}

// TestReplayedStepDeliversOnce: the fire and the step to the next occurrence are one.
//
// Rule: 1.12-delivered-once
func TestReplayedStepDeliversOnce(t *testing.T) {
	f := newFixture(t)
	delivered := map[string]int{}
	count := func(fails bool) []byte {
		return f.script(func(_ sdk.Context, d types.Delivery) error {
			delivered[string(d.DeliverID)]++
			if fails {
				return types.ErrInvalidPayload
			}
			return nil
		})
	}
	f.schedule(robot, 3, count(false))
	f.schedule(robot, 3, count(false), every(1, 0))
	f.schedule(robot, 3, count(true), every(1, 0))
	f.schedule(robot, 3, count(true), retried(3, 1))
	f.blocksUntil(2)
	for range 3 {
		require.NoError(t, f.Timers.EndBlock(f.Ctx()))
	}
	require.Len(t, delivered, 4)
	f.NextBlock()
	require.Len(t, delivered, 4)
	f.NextBlock()
	require.Len(t, delivered, 4+3)
	for _, times := range delivered {
		require.Equal(t, 1, times)
	}
}

// Rule: 1.4-repeating-counts-once
func TestARepeatingTimerCountsOnceAgainstTheLimit(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) { c.MaxTimersPerActor = 2 }))
	spawn := f.script(func(ctx sdk.Context, d types.Delivery) error {
		_, err := f.Timers.Schedule(ctx, keeper.ScheduleRequest{
			Actor: d.Actor, Spec: types.TimerSpec{Trigger: types.Trigger{Height: d.Height + 100}, Call: types.TimerCall{Payload: []byte("later")}},
		})
		return err
	})
	f.schedule(robot, 3, spawn, every(1, 2), limited(500_000))
	require.True(t, only[*types.TimerFired](f, f.blocksUntil(3)).Success)
	require.Equal(t, uint32(2), f.total(robot), "itself and its child")
	require.True(t, only[*types.TimerFired](f, f.NextBlock()).Success)
	require.Equal(t, uint32(2), f.total(robot), "its last fire made room for another child")

	f.schedule(robot2, 9, f.noop(), every(1, 0))
	f.blocksUntil(12)
	f.schedule(robot2, f.Height()+50, f.noop())
	f.refused(types.ErrTooManyTimers, scheduleMsg(robot2, f.Height()+50, f.noop()))
}

// Rule: 1.2-on-unfunded, 1.5-leaves-for-funds, 1.5-suspended, 3.4-resume, 5.2-leaves-or-suspended, 6-on-hold
// Rule: 6-released
func TestUnfundedTimerIsSuspendedOnRequest(t *testing.T) {
	f := newFixture(t, withConfig(plain), withConfig(func(c *types.TimerConfig) { c.MaxTtlBlocks = 100 }))
	poor := sdk.AccAddress("robot_and_poor______")
	f.fund(poor, 90_000)
	id := f.schedule(poor, 3, f.noop(), every(2, 0), limited(80_000), suspending)
	dies := f.schedule(poor, 6, f.noop(), every(2, 0), limited(80_000))
	require.Equal(t, types.OnUnfundedSuspend, f.timer(poor, id).Spec.OnUnfunded)
	require.Equal(t, []string{id}, f.firedIDs(f.blocksUntil(4)))
	events := f.NextBlock()
	require.Equal(t, types.TimerHeld{
		Id: id, Actor: poor.String(), Reason: types.Suspended, Codespace: types.ModuleName, Code: types.ErrInsufficientFunds.ABCICode(),
		Payer: poor.String(), Required: "80000", Available: "70000",
	}, *only[*types.TimerHeld](f, events))
	summary := only[*types.TimerLaneSummary](f, events)
	require.Equal(t, [2]uint32{1, 0}, [2]uint32{summary.OnHold, summary.Unfunded})
	require.Equal(t, dies, only[*types.TimerCancelledInsufficientFunds](f, f.NextBlock()).Id)

	info := f.timer(poor, id)
	require.Equal(t, types.Suspended, info.Status.HoldReason)
	require.Equal(t, types.PhaseOnHold, info.Status.Phase)
	require.Equal(t, uint64(3), info.Status.LastOutcome.Height)
	f.fund(poor, 10_000)
	require.Empty(t, f.firedIDs(f.blocksUntil(10)), "it waits for its owner, not for money")
	f.run(resume(poor, id))
	f.refused(types.ErrNotOnHold, resume(poor, id))
	events = f.NextBlock()
	require.Equal(t, types.TimerReleased{Id: id, Actor: poor.String(), Reason: types.Suspended, Due: f.Height()},
		*only[*types.TimerReleased](f, events))
	require.Equal(t, []string{id}, f.firedIDs(f.NextBlock()))
	require.Equal(t, uint32(2), f.timer(poor, id).Status.FireSeq)
	f.blocksUntil(20)
	require.Equal(t, types.Suspended, f.timer(poor, id).Status.HoldReason)
	expired := only[*types.TimerExpired](f, f.blocksUntil(110))
	require.Equal(t, id, expired.Id)
}

// Rule: 5.2-one-removal
func TestSuspensionIsBoundedAsRemovalsAre(t *testing.T) {
	f := newFixture(t, withConfig(plain), withConfig(func(c *types.TimerConfig) { lab.SetRemovals(c, 2) }))
	poor := sdk.AccAddress("robot_and_poor______")
	f.fund(poor, 1)
	for range 5 {
		f.schedule(poor, 3, f.noop(), suspending)
	}
	f.blocksUntil(2)
	for _, want := range []int{2, 2, 1, 0} {
		suspended := 0
		for _, onHold := range eventsOf[*types.TimerHeld](f, f.NextBlock()) {
			if onHold.Reason == types.Suspended {
				suspended++
			}
		}
		require.Equal(t, want, suspended)
	}
}

// Rule: 1.5-on-hold, 1.5-paused, 1.5-returns-due, 3.4-pause, 3.4-pause-errors, 3.4-resume, 3.4-resume-errors
// Rule: 6-on-hold
func TestPauseAndResume(t *testing.T) {
	f := newFixture(t)
	config := f.config()
	id := f.schedule(alice, 5, f.pays(alice, bob, 1))
	f.refused(types.ErrNotOnHold, resume(alice, id))
	gasOf := func(msg sdk.Msg) uint64 { return f.run(msg) }
	require.GreaterOrEqual(t, gasOf(pause(alice, id)), config.ScheduleCycles)
	f.run(pause(alice, id))
	require.Equal(t, types.TimerHeld{Id: id, Actor: alice.String(), Reason: types.Paused}, *only[*types.TimerHeld](f, f.NextBlock()))
	onHold, err := f.query().OnHold(f.Ctx(), &types.QueryOnHoldRequest{})
	require.NoError(t, err)
	listed := f.timer(alice, id)
	listed.Spec.Call = types.TimerCall{Payload: f.pays(alice, bob, 1)} // A list decodes nothing.
	require.Equal(t, []types.TimerInfo{listed}, onHold.Timers)
	require.Equal(t, types.Paused, onHold.Timers[0].Status.HoldReason)

	// Before it is due it is due when it was.
	results, _, err := f.Tx(resume(alice, id))
	require.NoError(t, err)
	var response types.MsgResumeTimerResponse
	require.NoError(t, f.Codec.Unmarshal(results[0].MsgResponses[0].Value, &response))
	require.Equal(t, uint64(5), response.Due)

	// Changes of a paused timer hold, and leave it paused.
	f.run(pause(alice, id))
	f.run(&types.MsgUpdateTimer{Sender: alice.String(), Id: id, Spec: types.TimerSpec{GasLimit: 90_000}, Fields: []string{"gas_limit"}})
	f.run(&types.MsgExtendTimer{Sender: alice.String(), Id: id, ExpiresAt: 50})
	f.run(&types.MsgSysExtendTimer{Authority: f.Authority, Actor: alice.String(), Id: id, ExpiresAt: 60})
	f.refused(types.ErrNotQuarantined, &types.MsgSysReleaseTimer{Authority: f.Authority, Actor: alice.String(), Id: id})
	require.Empty(t, f.firedIDs(f.blocksUntil(9)))
	info := f.timer(alice, id)
	require.Equal(t, types.Paused, info.Status.HoldReason)
	require.Equal(t, [2]uint64{90_000, 60}, [2]uint64{info.Status.GasLimit, info.Status.ExpiresAt})

	results, _, err = f.Tx(resume(alice, id))
	require.NoError(t, err)
	require.NoError(t, f.Codec.Unmarshal(results[0].MsgResponses[0].Value, &response))
	require.Equal(t, uint64(11), response.Due, "overdue: due in the next block")
	require.Empty(t, f.firedIDs(f.NextBlock()))
	require.Equal(t, []string{id}, f.firedIDs(f.NextBlock()))

	other := f.schedule(alice, 20, f.pays(alice, bob, 1))
	f.run(pause(alice, other))
	f.run(&types.MsgSysCancelTimer{Authority: f.Authority, Actor: alice.String(), Id: other})
	require.Zero(t, f.total(alice))
}

// Rule: 1.5-leaves-by-expiry, 1.5-ttl-goes-on, 6-expired
func TestAPausedTimerExpires(t *testing.T) {
	f := newFixture(t)
	id := f.schedule(robot, 5, f.noop(), expiring(8), every(1, 0))
	f.run(pause(robot, id))
	f.blocksUntil(7)
	require.Equal(t, types.Paused, f.timer(robot, id).Status.HoldReason)
	events := f.blocksUntil(9)
	require.Equal(t, id, only[*types.TimerExpired](f, events).Id)
	require.Empty(t, f.firedIDs(events))
}

// TestAHandlerPausesTheNext: a timer that is paused while it is ready does not fire in this block, and one that is
// resumed does not either.
func TestAHandlerPausesTheNext(t *testing.T) {
	f := newFixture(t)
	var victim []byte
	f.schedule(robot, 3, f.script(func(ctx sdk.Context, d types.Delivery) error { return f.Timers.Pause(ctx, d.Actor, victim) }))
	second := f.schedule(robot, 3, f.noop(), every(2, 0))
	third := f.schedule(robot, 3, f.script(func(ctx sdk.Context, d types.Delivery) error {
		resumed, err := f.Timers.Resume(ctx, d.Actor, victim)
		require.Equal(t, uint64(4), resumed.Due)
		return err
	}))
	victim, _ = types.ParseID(second)
	events := f.blocksUntil(3)
	require.NotContains(t, f.firedIDs(events), second)
	require.Contains(t, f.firedIDs(events), third)
	require.Equal(t, []string{second}, f.firedIDs(f.NextBlock()))
}

// Rule: 1.5-quarantined, 3.4-resume-errors
func TestOnlyTheAuthorityReleasesWhatIsQuarantined(t *testing.T) {
	f := newFixture(t)
	id := f.schedule(alice, 3, f.pays(alice, bob, 1), every(2, 5), retried(2, 1))
	before := f.timer(alice, id)
	// The bank refuses the pre-charge: the module itself can't continue with this timer.
	module := authtypes.NewModuleAddress(types.ModuleName)
	f.Bank.AppendSendRestriction(func(_ context.Context, from, to sdk.AccAddress, _ sdk.Coins) (sdk.AccAddress, error) {
		if to.Equals(module) {
			return to, types.ErrInternal.Wrap("restricted")
		}
		return to, nil
	})
	events := f.blocksUntil(3)
	require.Equal(t, types.Quarantined, only[*types.TimerHeld](f, events).Reason)
	after := f.timer(alice, id)
	after.Status.HoldReason, after.Status.Phase, after.Status.Verdict = before.Status.HoldReason, before.Status.Phase, before.Status.Verdict
	require.Equal(t, before, after, "nothing of the fire is left")
	f.refused(types.ErrQuarantined, resume(alice, id))
	f.refused(types.ErrQuarantined, pause(alice, id))
	f.Bank.ClearSendRestriction()
	f.run(&types.MsgSysReleaseTimer{Authority: f.Authority, Actor: alice.String(), Id: id})
	require.Equal(t, []string{id}, f.firedIDs(f.blocksUntil(f.Height()+1)))
	require.Equal(t, uint64(4), f.timer(alice, id).Status.Left)
}

// Rule: 3.4-resume-errors
func TestAnUnrunnableTimerIsNotTheOwnersToResume(t *testing.T) {
	f := newFixture(t)
	id := f.schedule(robot, 3, f.noop(), limited(500_000), every(2, 0))
	f.setConfig(func(c *types.TimerConfig) { c.MaxCyclesPerFire = 400_000 })
	f.blocksUntil(3)
	f.refused(types.ErrUnrunnable, resume(robot, id))
	f.run(&types.MsgUpdateTimer{Sender: robot.String(), Id: id, Spec: types.TimerSpec{GasLimit: 400_000}, Fields: []string{"gas_limit"}})
	require.Equal(t, []string{id}, f.firedIDs(f.blocksUntil(5)))
}

// TestRecurringTimersSurviveExportAndImport: timers that repeat, retry or wait do the same on the new chain.
func TestRecurringTimersSurviveExportAndImport(t *testing.T) {
	f := newFixture(t, withConfig(plain))
	poor := sdk.AccAddress("robot_and_poor______")
	noop, fails := f.noop(), f.failing(1<<30)
	f.schedule(robot, 3, noop, every(4, 0), expiring(50))
	f.schedule(robot, 3, fails, every(7, 9), retried(3, 2))
	f.schedule(robot, 4, fails, retried(9, 3))
	f.schedule(robot, 5, make([]byte, 700), retried(9, 3))
	suspended := f.schedule(poor, 4, noop, every(2, 0), suspending)
	paused := f.schedule(robot2, 4, noop, every(3, 3))
	f.run(pause(robot2, paused))
	f.blocksUntil(6)
	_, err := f.EndBlock()
	require.NoError(t, err)
	var read types.GenesisState
	f.Codec.MustUnmarshalJSON(f.Codec.MustMarshalJSON(f.export()), &read)
	require.NoError(t, f.Timers.ValidateGenesis(&read))
	g := imported(t, f, &read)
	require.NoError(t, f.BeginBlock())
	require.Equal(t, types.Suspended, g.timer(poor, suspended).Status.HoldReason)
	for _, c := range []*fixture{f, g} {
		c.fund(poor, 10_000_000)
		c.run(resume(robot2, paused), resume(poor, suspended))
	}
	fires := 0
	for range 60 {
		want, got := f.NextBlock(), g.NextBlock()
		fires += len(f.firedIDs(want))
		require.Equal(t, strip(eventsOf[*types.TimerFired](f, want)), strip(eventsOf[*types.TimerFired](g, got)))
		require.Equal(t, comparableState(f), comparableState(g))
	}
	require.Greater(t, fires, 40)
}
