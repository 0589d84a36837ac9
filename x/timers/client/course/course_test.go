package course_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cosmos-timers/timers/x/timers/client/course"
	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/types"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func clock(ofBlock time.Duration) timespan.Clock {
	return timespan.Clock{Height: 1_000, Time: noon, Zone: time.UTC, Pace: timespan.Pace{Blocks: 1, Time: ofBlock}}
}

// What is counted is what comes one by one, in its order and within the life.
func TestCourse_CountsWhatComes(t *testing.T) {
	config := types.DefaultTimerConfig("stake")
	config.MaxTtlBlocks, config.MaxTtlSeconds = 5_000, 20_000
	rapid.Check(t, func(t *rapid.T) {
		c := clock(time.Duration(rapid.Int64Range(1, 7_000).Draw(t, "ms")) * time.Millisecond)
		remaining := rapid.Uint64Range(0, 9).Draw(t, "remaining")
		msg := &types.MsgScheduleTimer{Spec: types.TimerSpec{Repeat: &types.Repeat{Remaining: remaining}}}
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			msg.Spec.Trigger.Interval = &types.IntervalTrigger{
				Every: rapid.Uint64Range(1, 300).Draw(t, "every"), First: rapid.Uint64Range(1_002, 3_000).Draw(t, "first"),
			}
		case 1:
			msg.Spec.Trigger.Calendar = &types.CalendarTrigger{Every: &types.EveryRule{Seconds: rapid.Uint64Range(60, 3_000).Draw(t, "seconds")}}
		default:
			msg.Spec.Trigger.Calendar = &types.CalendarTrigger{
				Cron: &types.CronRule{Minutes: 1<<60 - 1, Hours: 1<<24 - 1, Days: 1<<32 - 2, Months: 1<<13 - 2, Weekdays: 1<<7 - 1},
			}
		}
		if rapid.Bool().Draw(t, "height") {
			msg.Spec.ExpiresAt = rapid.Uint64Range(3_000, 5_000).Draw(t, "expires at")
		}
		if rapid.Bool().Draw(t, "time") {
			msg.Spec.ExpiresTime = noon.Unix() + rapid.Int64Range(60, 20_000).Draw(t, "expires time")
		}
		r := course.Of(msg, &config, c, c.Height)
		require.True(t, r.Known())
		fires, last := uint64(0), noon
		for at := range r.Fires() {
			require.True(t, at.After(last))
			require.False(t, at.After(r.Ends()))
			if fires == 0 {
				require.True(t, at.Equal(r.Next()))
			}
			fires, last = fires+1, at
		}
		n, exact := r.Count(r.Ends())
		require.True(t, exact)
		require.Equal(t, fires, n)
		fit, _ := r.Fit(r.Ends())
		require.True(t, fit == n || fit > n && n == remaining)
	})
}

func TestCourse_OfTimers(t *testing.T) {
	c := clock(time.Second)
	fires := func(timer *types.TimerInfo) (all []time.Time) {
		for at := range course.OfTimer(timer, c).Fires() {
			all = append(all, at)
		}
		return all
	}
	at := noon.Add(time.Hour)
	require.Equal(t, []time.Time{at.Local()}, fires(&types.TimerInfo{
		Status: types.TimerStatus{HoldReason: types.Timed, DueTime: at.Unix(), Due: 5, ExpiresTime: at.Unix() + 9}, Spec: types.TimerSpec{Trigger: types.Trigger{Time: &at}},
	}))
	require.Equal(t, []time.Time{noon.Add(20 * time.Second)}, fires(&types.TimerInfo{Status: types.TimerStatus{Due: 1_020, ExpiresAt: 2_000}, Spec: types.TimerSpec{Trigger: types.Trigger{Height: 1_020}}}))
	// What was delivered does not come again.
	require.Len(t, fires(&types.TimerInfo{
		Status: types.TimerStatus{HoldReason: types.Timed, DueTime: at.Unix(), ExpiresTime: at.Unix() + 7_200, Recurrence: &types.Recurrence{After: uint64(noon.Unix())}},
		Spec:   types.TimerSpec{Trigger: types.Trigger{Calendar: &types.CalendarTrigger{Every: &types.EveryRule{Seconds: 3_600, Anchor: noon.Unix()}}}},
	}), 3)
	// Heights are counted without a pace too.
	slow := c
	slow.PaceErr = errors.New("too few blocks")
	fit, exact := course.OfTimer(&types.TimerInfo{
		Status: types.TimerStatus{Due: 1_020, ExpiresAt: 1_100}, Spec: types.TimerSpec{Trigger: types.Trigger{Interval: &types.IntervalTrigger{Every: 40}}},
	}, slow).Fit(noon)
	require.True(t, exact)
	require.EqualValues(t, 3, fit)
	for _, unknown := range []types.TimerInfo{
		{Status: types.TimerStatus{HoldReason: types.Watching}, Spec: types.TimerSpec{Trigger: types.Trigger{Watch: &types.WatchTrigger{}}}}, {Status: types.TimerStatus{HoldReason: types.Paused, Due: 1_020, ExpiresAt: 2_000}},
	} {
		require.Empty(t, fires(&unknown))
		n, exact := course.OfTimer(&unknown, c).Count(noon.Add(time.Hour))
		require.Zero(t, n)
		require.False(t, exact)
	}
}
