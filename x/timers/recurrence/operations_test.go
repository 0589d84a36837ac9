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
