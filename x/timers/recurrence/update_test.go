package recurrence_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/recurrence"
	"github.com/cosmos-timers/timers/x/timers/schedule"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// TestReplace_WhatIsInHandStaysAlone: of a trigger that is replaced the occurrence in hand stays, if the other has it too. What the
// other would have had before is not its own, and does not pass; what the first had before has passed as later.
func TestReplace_WhatIsInHandStaysAlone(t *testing.T) {
	for _, c := range []struct {
		first, every, other uint64
		passed              []recurrence.Passing
	}{
		{12, 3, 1, []recurrence.Passing{{Passed: schedule.Passed[uint64]{First: 12, Last: 15, Count: 2, Exact: true}, Reason: types.SkipLater}}},
		{18, 9, 3, nil},
	} {
		interval := func(every uint64) types.Trigger {
			return types.Trigger{Interval: &types.IntervalTrigger{First: c.first, Every: every, From: types.FromSchedule}}
		}
		before := types.Timer{
			Id: []byte("timer"), Due: c.first, ExpiresAt: 100, Recurrence: &types.Recurrence{After: c.first - 3}, Spec: types.TimerSpec{Trigger: interval(c.every)},
		}
		now := types.Moment{Height: 18}
		next := before
		next.Spec.Trigger = interval(c.other)
		passed, err := recurrence.Replace(&before, &next, now)
		require.NoError(t, err)
		require.Equal(t, c.passed, passed)
		o := recurrence.Of(&next, now)
		require.True(t, o.Open)
		require.Equal(t, uint64(18), o.At)
		require.Zero(t, o.Passed.Count)
	}
}
