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

// interval is a timer of heights, from its schedule or from its fires, and due.
func interval(first, every uint64, from types.IntervalFrom, due uint64) types.Timer {
	t := types.Timer{
		Id: []byte("timer"), Due: due, ExpiresAt: 100, FireSeq: 1,
		Spec: types.TimerSpec{Trigger: types.Trigger{Interval: &types.IntervalTrigger{First: first, Every: every, From: from}}},
	}
	if from == types.FromSchedule {
		t.Recurrence = &types.Recurrence{After: due - 1}
	}
	return t
}

func passing(first, last, count uint64, reason types.SkipReason) recurrence.Passing {
	return recurrence.Passing{Passed: schedule.Passed[uint64]{First: first, Last: last, Count: count, Exact: true}, Reason: reason}
}

// TestReplace_AsTheTwin: what the histories of the twin found to differ, each the case of a cell: where the timer stood, and what
// trigger it was given.
func TestReplace_AsTheTwin(t *testing.T) {
	const height = 20
	for name, c := range map[string]struct {
		before types.Timer
		change func(*types.Timer)
		next   types.Timer
		due    uint64
		passed []recurrence.Passing
	}{
		"what was run has passed, and none before it comes": {
			before: interval(10, 15, types.FromSchedule, 21), change: func(t *types.Timer) { t.Recurrence = &types.Recurrence{After: 10, Forced: 25} },
			next: interval(14, 4, types.FromSchedule, 22), due: 26, passed: []recurrence.Passing{passing(25, 25, 1, types.SkipUpdated)},
		},
		"a skip is no try": {
			before: interval(10, 4, 0, 23), change: func(t *types.Timer) { t.LastOutcome = &types.Outcome{Height: 16} },
			next: interval(9, 6, 0, 9), due: 22,
		},
		"what came behind a retry has passed too": {
			before: interval(10, 5, types.FromSchedule, 21), change: func(t *types.Timer) { t.Tried, t.Recurrence = true, &types.Recurrence{After: 9, Trying: 15} },
			next: interval(30, 7, types.FromSchedule, 30), due: 30,
			passed: []recurrence.Passing{passing(15, 15, 1, types.SkipLater), passing(20, 20, 1, types.SkipUpdated)},
		},
		"what is overdue, and was put off by a change, is in hand": {
			before: interval(10, 3, 0, 21), change: func(t *types.Timer) { t.Since = 18 },
			next: interval(30, 5, 0, 30), due: 30, passed: []recurrence.Passing{passing(18, 18, 1, types.SkipUpdated)},
		},
		"to its fires: what came has passed, and none of it comes": {
			before: interval(10, 5, types.FromSchedule, 15), next: interval(40, 5, 0, 40), due: 40,
			passed: []recurrence.Passing{passing(15, 15, 1, types.SkipLater), passing(20, 20, 1, types.SkipUpdated)},
		},
		"one shot in hand stays, where the other trigger has its height": {
			before: types.Timer{Id: []byte("timer"), Due: 18, ExpiresAt: 100, Spec: types.TimerSpec{Trigger: types.Trigger{Height: 18}}},
			next:   interval(8, 10, types.FromSchedule, 28), due: 18,
		},
	} {
		t.Run(name, func(t *testing.T) {
			before, next := c.before, c.next
			if c.change != nil {
				c.change(&before)
			}
			next.FireSeq, next.LastOutcome, next.Tried = before.FireSeq, before.LastOutcome, before.Tried
			if next.Recurrence != nil {
				next.Recurrence = &types.Recurrence{After: height}
			}
			passed, err := recurrence.Replace(&before, &next, types.Moment{Height: height})
			require.NoError(t, err)
			require.Equal(t, c.passed, passed)
			require.Equal(t, c.due, next.Due)
		})
	}
}

// TestReplace_OfEachTheOldestStaysFirst: of another trigger nothing comes before what is in hand.
func TestReplace_OfEachTheOldestStaysFirst(t *testing.T) {
	before := interval(10, 10, types.FromSchedule, 20)
	before.Recurrence.After = 11
	before.Spec.Repeat = &types.Repeat{Missed: types.MissedEach}
	next := before
	next.Spec.Trigger = interval(10, 5, types.FromSchedule, 20).Spec.Trigger
	_, err := recurrence.Replace(&before, &next, types.Moment{Height: 20})
	require.NoError(t, err)
	require.Equal(t, uint64(20), recurrence.Of(&next, types.Moment{Height: 20}).At)
}

// TestReplace_RefusesToEndTheLast: another trigger that would give up the last delivery, which waits for its retry, would end the
// timer. With a count that is stated anew it does not.
func TestReplace_RefusesToEndTheLast(t *testing.T) {
	before := interval(3, 3, types.FromSchedule, 9)
	before.Spec.Repeat = &types.Repeat{Remaining: 3}
	before.Tried, before.Retries, before.Deliveries, before.Recurrence = true, 1, 3, &types.Recurrence{After: 8, Trying: 9}
	next := before
	next.Spec.Trigger.Interval = &types.IntervalTrigger{First: 20, Every: 7, From: types.FromSchedule}
	next.Recurrence = &types.Recurrence{}
	_, err := recurrence.Replace(&before, &next, types.Moment{Height: 10})
	require.ErrorContains(t, err, "its last repetition has been tried: resume it now")
	next.Spec.Repeat = &types.Repeat{Remaining: 5}
	passed, err := recurrence.Replace(&before, &next, types.Moment{Height: 10})
	require.NoError(t, err)
	require.Equal(t, []recurrence.Passing{passing(9, 9, 1, types.SkipUpdated)}, passed)

	once := types.Timer{
		Id: []byte("timer"), Due: 12, ExpiresAt: 100, Tried: true, Retries: 1, FireSeq: 1, Deliveries: 1,
		Spec: types.TimerSpec{Trigger: types.Trigger{Height: 9}},
	}
	later := once
	later.Spec.Trigger, later.Due = types.Trigger{Height: 30}, 30
	_, err = recurrence.Replace(&once, &later, types.Moment{Height: 10})
	require.NoError(t, err, "one that fires once may become anything")
}
