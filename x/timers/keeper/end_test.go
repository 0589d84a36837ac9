package keeper_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// TestEnd_IsInTheClockOfTheTrigger: each kind of trigger with each end, when it is scheduled, updated and extended.
//
// Rule: 1.2-one-end, 3.3-clock
func TestEnd_IsInTheClockOfTheTrigger(t *testing.T) {
	const (
		height, seconds = uint64(900), int64(1_701_000_000)
	)
	at := time.Unix(1_700_500_000, 0).UTC()
	for name, tc := range map[string]struct {
		trigger types.Trigger
		// byHeight and byTime: whether it may end so.
		byHeight, byTime bool
	}{
		"height":   {types.Trigger{Height: 50}, true, false},
		"after":    {types.Trigger{After: 50}, true, false},
		"interval": {types.Trigger{Interval: &types.IntervalTrigger{Every: 50}}, true, false},
		"time":     {types.Trigger{Time: &at}, false, true},
		"calendar": {types.Trigger{Calendar: &types.CalendarTrigger{Every: &types.EveryRule{Seconds: 400_000}}}, false, true},
		"watch":    {types.Trigger{Watch: &types.WatchTrigger{}}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, withConfig(plain))
			if tc.trigger.Watch != nil {
				tc.trigger.Watch.Keys = []types.WatchKey{f.balanceOf(bob)}
			}
			message := func(height uint64, seconds int64) *types.MsgScheduleTimer {
				return scheduleMsg(robot, 0, f.noop(), trigger(tc.trigger), func(msg *types.MsgScheduleTimer) {
					msg.Spec.ExpiresAt, msg.Spec.ExpiresTime = height, seconds
				})
			}
			f.refused(types.ErrInvalidEnd, message(height, seconds))
			id := f.schedule(robot, 0, f.noop(), trigger(tc.trigger))
			info := f.timer(robot, id)
			require.Equal(t, tc.byHeight, info.Status.ExpiresAt != 0, "by default a watch ends at a height")
			require.Equal(t, !tc.byHeight, info.Status.ExpiresTime != 0)
			require.Zero(t, info.Spec.ExpiresAt)
			require.Zero(t, info.Spec.ExpiresTime)
			update := func(spec types.TimerSpec, fields ...string) *types.MsgUpdateTimer {
				return &types.MsgUpdateTimer{Sender: robot.String(), Id: id, Spec: spec, Fields: fields}
			}
			extend := func(height uint64, seconds int64) *types.MsgExtendTimer {
				return &types.MsgExtendTimer{Sender: robot.String(), Id: id, ExpiresAt: height, ExpiresTime: seconds}
			}
			f.refused(types.ErrInvalidEnd, extend(height, seconds))
			f.refused(types.ErrInvalidEnd, update(types.TimerSpec{ExpiresAt: height, ExpiresTime: seconds}, "expires_at", "expires_time"))
			for _, end := range []struct {
				height  uint64
				seconds int64
				takes   bool
				field   string
			}{{height, 0, tc.byHeight, "expires_at"}, {0, seconds, tc.byTime, "expires_time"}} {
				if !end.takes {
					f.refused(types.ErrInvalidEnd, message(end.height, end.seconds))
					f.refused(types.ErrInvalidEnd, extend(end.height, end.seconds))
					f.refused(types.ErrInvalidEnd, update(types.TimerSpec{ExpiresAt: end.height, ExpiresTime: end.seconds}, end.field))
					continue
				}
				f.schedule(robot, 0, f.noop(), trigger(tc.trigger), func(msg *types.MsgScheduleTimer) {
					msg.Spec.ExpiresAt, msg.Spec.ExpiresTime = end.height, end.seconds
				})
				f.run(extend(end.height, end.seconds))
				info := f.timer(robot, id)
				require.Equal(t, []any{end.height, end.seconds}, []any{info.Status.ExpiresAt, info.Status.ExpiresTime}, "one end")
				require.Equal(t, []any{end.height, end.seconds}, []any{info.Spec.ExpiresAt, info.Spec.ExpiresTime})
				// Back to the default, and there again by an update.
				f.run(update(types.TimerSpec{}, "expires_at", "expires_time"))
				info = f.timer(robot, id)
				require.Equal(t, []any{uint64(0), int64(0)}, []any{info.Spec.ExpiresAt, info.Spec.ExpiresTime})
				require.Equal(t, tc.byHeight, info.Status.ExpiresAt != 0)
				f.run(update(types.TimerSpec{ExpiresAt: end.height, ExpiresTime: end.seconds}, end.field))
				info = f.timer(robot, id)
				require.Equal(t, []any{end.height, end.seconds}, []any{info.Status.ExpiresAt, info.Status.ExpiresTime})
				f.run(update(types.TimerSpec{}, "expires_at", "expires_time"))
			}
		})
	}
}

// TestEnd_OfAOneShotThatChangesItsClock: its end is the new clock's default unless it is stated; that of the old clock goes.
//
// Rule: 1.2-one-end, 3.2-other-clock
func TestEnd_OfAOneShotThatChangesItsClock(t *testing.T) {
	f := newFixture(t, withConfig(plain))
	at := time.Unix(1_700_500_000, 0).UTC()
	id := f.schedule(robot, 50, f.noop(), expiring(900))
	change := func(spec types.TimerSpec, fields ...string) *types.MsgUpdateTimer {
		return &types.MsgUpdateTimer{Sender: robot.String(), Id: id, Spec: spec, Fields: append(fields, "trigger")}
	}
	byTime := types.TimerSpec{Trigger: types.Trigger{Time: &at}}
	wrong := byTime
	wrong.ExpiresAt = 900
	f.refused(types.ErrInvalidEnd, change(wrong, "expires_at"))
	f.run(change(byTime))
	info := f.timer(robot, id)
	require.Equal(t, []any{uint64(0), int64(0)}, []any{info.Spec.ExpiresAt, info.Spec.ExpiresTime})
	require.Zero(t, info.Status.ExpiresAt)
	require.NotZero(t, info.Status.ExpiresTime)
	f.run(change(types.TimerSpec{Trigger: types.Trigger{Height: 60}, ExpiresAt: 700}, "expires_at"))
	info = f.timer(robot, id)
	require.Equal(t, []any{uint64(700), int64(0)}, []any{info.Status.ExpiresAt, info.Status.ExpiresTime})
	stated := byTime
	stated.ExpiresTime = 1_700_600_000
	f.run(change(stated, "expires_time"))
	info = f.timer(robot, id)
	require.Equal(t, []any{uint64(0), int64(1_700_600_000)}, []any{info.Spec.ExpiresAt, info.Spec.ExpiresTime})
	require.Equal(t, []any{uint64(0), int64(1_700_600_000)}, []any{info.Status.ExpiresAt, info.Status.ExpiresTime})
}

// TestEnd_WhatWaitsOrIsOnHoldLeavesInTheBlockAfterIt: in either clock, and its place under max_timers_per_actor is free then.
//
// Rule: 1.2-end-leaves
func TestEnd_WhatWaitsOrIsOnHoldLeavesInTheBlockAfterIt(t *testing.T) {
	f := newFixture(t, withConfig(plain), withConfig(func(c *types.TimerConfig) { c.MaxTimersPerActor = 16 }))
	height, seconds := f.Height()+20, f.Now()+20
	lateTime := time.Unix(f.Now()+500, 0).UTC()
	ends := map[string]bool{}
	for _, byTime := range []bool{false, true} {
		end := func(msg *types.MsgScheduleTimer) {
			if msg.Spec.ExpiresAt, msg.Spec.ExpiresTime = height, 0; byTime {
				msg.Spec.ExpiresAt, msg.Spec.ExpiresTime = 0, seconds
			}
		}
		watches := trigger(types.Trigger{Watch: &types.WatchTrigger{Keys: []types.WatchKey{f.balanceOf(alice)}}})
		clock := trigger(types.Trigger{Height: f.Height() + 15})
		if byTime {
			at := time.Unix(f.Now()+15, 0).UTC()
			clock = trigger(types.Trigger{Time: &at})
		}
		watch := f.schedule(robot, 0, f.noop(), watches, end)
		paused := f.schedule(robot, 0, f.noop(), clock, end)
		pausedWatch := f.schedule(robot, 0, f.noop(), watches, end)
		extended := f.schedule(robot, 0, f.noop(), clock, end)
		f.run(pause(robot, paused), pause(robot, pausedWatch), pause(robot, extended))
		longer := &types.MsgExtendTimer{Sender: robot.String(), Id: extended, ExpiresAt: height + 100}
		if byTime {
			longer.ExpiresAt, longer.ExpiresTime = 0, lateTime.Unix()
		}
		f.run(longer)
		// One without funds.
		unfunded := f.schedule(carol, 0, f.pays(carol, bob, 1), clock, end, func(msg *types.MsgScheduleTimer) { msg.Spec.OnUnfunded = types.OnUnfundedSuspend })
		for _, id := range []string{watch, paused, pausedWatch, unfunded} {
			ends[id] = true
		}
	}
	f.run(f.send(carol, bob, f.balance(carol)))
	before := f.total(robot)
	for f.Height() <= height || f.Now() <= seconds {
		events := f.NextBlock()
		require.Empty(t, eventsOf[*types.TimerExpired](f, events), "height %d", f.Height())
	}
	for _, event := range eventsOf[*types.TimerExpired](f, f.NextBlock()) {
		require.True(t, ends[event.Id])
		delete(ends, event.Id)
	}
	require.Empty(t, ends)
	require.Equal(t, before-6, f.total(robot))
}

// TestUpdate_AnEndThatIsStatedAsItStandsChangesNothing: neither the life by which the timer renews itself, nor its end, also in its
// last block and when the authority has moved it. Who states all of a spec each time it is applied must not shorten its life.
func TestUpdate_AnEndThatIsStatedAsItStandsChangesNothing(t *testing.T) {
	f := newFixture(t)
	id := f.schedule(robot, 10, f.noop(), expiring(20), func(msg *types.MsgScheduleTimer) {
		msg.Spec.Trigger = types.Trigger{Interval: &types.IntervalTrigger{Every: 10}}
		msg.Spec.Repeat = &types.Repeat{Renew: true}
	})
	life := 20 - f.Height()
	f.blocksUntil(5)
	before := f.timer(robot, id)
	f.run(&types.MsgUpdateTimer{Sender: robot.String(), Id: id, Fields: []string{"expires_at"}, Spec: types.TimerSpec{ExpiresAt: 20}})
	require.Equal(t, before, f.timer(robot, id))
	due := before.Status.Due
	f.blocksUntil(due)
	require.Equal(t, due+life, f.timer(robot, id).Status.ExpiresAt)
}

// TestUpdate_WhatWasOnHoldByItselfWaitsForItsTime: a calendar's timer that came on hold by itself, and was skipped to a later time,
// waits for that when an update ends the hold; so it can be run.
func TestUpdate_WhatWasOnHoldByItselfWaitsForItsTime(t *testing.T) {
	f := newFixture(t)
	now := f.Ctx().BlockTime().Unix()
	id := f.schedule(robot, 0, f.noop(), func(msg *types.MsgScheduleTimer) {
		msg.Spec.Trigger = types.Trigger{Calendar: &types.CalendarTrigger{Every: &types.EveryRule{Seconds: 3_600, Anchor: now + 1}}}
	})
	f.setConfig(func(c *types.TimerConfig) { c.MaxCyclesPerFire = gas - 1 })
	for f.timer(robot, id).Status.HoldReason != types.Unrunnable {
		f.NextBlock()
	}
	f.run(&types.MsgSkipTimer{Sender: robot.String(), Id: id, Count: 1})
	f.run(&types.MsgUpdateTimer{Sender: robot.String(), Id: id, Fields: []string{"retry"}, Spec: types.TimerSpec{Retry: &types.Retry{Max: 1, After: 1}}})
	require.Equal(t, types.Timed, f.timer(robot, id).Status.HoldReason)
	f.run(&types.MsgRunTimer{Sender: robot.String(), Id: id})
}
