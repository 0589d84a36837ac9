package recurrence_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/recurrence"
	"github.com/cosmos-timers/timers/x/timers/schedule"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// TestResume_BeforeItsTimeWaits: a timer whose time has not come waits for it, however long it was on hold. One that was tried is
// tried again at once, and so is one whose time has come.
func TestResume_BeforeItsTimeWaits(t *testing.T) {
	at := time.Unix(1_000, 0)
	for name, c := range map[string]struct {
		tried      bool
		time, want int64
	}{"before": {time: 900, want: 1_000}, "tried": {tried: true, time: 900, want: 900}, "after": {time: 1_100, want: 1_000}} {
		timer := types.Timer{HoldReason: types.Paused, Due: 2, DueTime: 1_000, Tried: c.tried, Spec: types.TimerSpec{Trigger: types.Trigger{Time: &at}}}
		_, err := recurrence.Resume(&timer, types.ResumeNow, types.Moment{Height: 7, Time: c.time})
		require.NoError(t, err)
		require.Equal(t, c.want, timer.DueTime, name)
	}
}

// TestResume_TakesTheLatestThatCame: one that was resumed before, and was not delivered, is not held on to.
func TestResume_TakesTheLatestThatCame(t *testing.T) {
	timer := types.Timer{
		HoldReason: types.Paused, Due: 21, ExpiresAt: 100, Recurrence: &types.Recurrence{After: 10, Forced: 20},
		Spec: types.TimerSpec{Trigger: types.Trigger{Interval: &types.IntervalTrigger{First: 10, Every: 10, From: types.FromSchedule}}},
	}
	passed, err := recurrence.Resume(&timer, types.ResumeNow, types.Moment{Height: 45})
	require.NoError(t, err)
	require.Equal(t, &types.Recurrence{After: 30, Forced: 40}, timer.Recurrence)
	require.Equal(t, []recurrence.Passing{{
		Passed: schedule.Passed[uint64]{First: 20, Last: 30, Count: 2, Exact: true}, Reason: types.SkipPaused,
	}}, passed)
}

// TestResume_WhatWasRunIsDueInTheNextBlock: it was paused after its owner had it run, before its own time.
func TestResume_WhatWasRunIsDueInTheNextBlock(t *testing.T) {
	timer := interval(10, 10, types.FromSchedule, 21)
	timer.HoldReason, timer.Recurrence = types.Paused, &types.Recurrence{After: 20, Forced: 30}
	_, err := recurrence.Resume(&timer, types.ResumeNow, types.Moment{Height: 22})
	require.NoError(t, err)
	require.Equal(t, uint64(23), timer.Due)
	require.True(t, recurrence.Of(&timer, types.Moment{Height: 23}).Open)
}

// TestResume_TellsOnce: one between its retries was resumed, and what came by then was told; when it is resumed again, what came since.
func TestResume_TellsOnce(t *testing.T) {
	for at, want := range map[types.ResumeAt][]recurrence.Passing{
		types.ResumeNow:  {passing(40, 40, 1, types.SkipPaused)},
		types.ResumeNext: {passing(10, 50, 3, types.SkipPaused)},
	} {
		timer := interval(10, 10, types.FromSchedule, 10)
		timer.Tried, timer.HoldReason, timer.Recurrence = true, types.Paused, &types.Recurrence{After: 9, Trying: 10}
		passed, err := recurrence.Resume(&timer, types.ResumeNow, types.Moment{Height: 45})
		require.NoError(t, err)
		require.Equal(t, []recurrence.Passing{passing(20, 30, 2, types.SkipPaused)}, passed)
		timer.HoldReason = types.Paused
		passed, err = recurrence.Resume(&timer, at, types.Moment{Height: 55})
		require.NoError(t, err)
		require.Equal(t, want, passed)
	}
	timer := interval(10, 10, types.FromSchedule, 10) // What was tried is over, and what was to follow it was on hold.
	timer.HoldReason, timer.Recurrence = types.Paused, &types.Recurrence{After: 10, Forced: 40}
	passed, err := recurrence.Resume(&timer, types.ResumeNow, types.Moment{Height: 45})
	require.NoError(t, err)
	require.Empty(t, passed)
}

// TestAfter_WhatLacksCoinsRestoresNoSkips: where on_unfunded says what happens then, be it skip or suspend; destroy speaks of the fee.
func TestAfter_WhatLacksCoinsRestoresNoSkips(t *testing.T) {
	config := types.DefaultTimerConfig("stake")
	for on, want := range map[types.OnUnfunded]uint32{types.OnUnfundedSkip: 3, types.OnUnfundedSuspend: 2, types.OnUnfundedDestroy: 0} {
		timer := interval(10, 10, types.FromSchedule, 10)
		timer.Skips, timer.Spec.OnUnfunded = 2, on
		now := types.Moment{Height: 10}
		event := recurrence.Event{Outcome: recurrence.ShortOfCoins, Occurrence: recurrence.Of(&timer, now)}
		require.Equal(t, want, recurrence.After(&timer, event, &config, now).Timer.Skips, on)
	}
}
