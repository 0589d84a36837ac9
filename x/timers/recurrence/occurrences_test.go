package recurrence

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// driven is a timer of a calendar whose every fire comes in the first block that may have it.
type driven struct {
	config types.TimerConfig
	timer  types.Timer
}

func newDriven(t *testing.T, calendar types.CalendarTrigger, now types.Moment) *driven {
	t.Helper()
	calendar.Every.Anchor = now.Time
	d := &driven{types.DefaultTimerConfig("stake"), types.Timer{
		Id: make([]byte, types.IDBytes), ExpiresTime: types.MaxTime,
		Recurrence: &types.Recurrence{After: uint64(now.Time)},
		Spec:       types.TimerSpec{Trigger: types.Trigger{Calendar: &calendar}},
	}}
	require.True(t, toNext(&d.timer, now))
	return d
}

// block returns what the timer delivers in a block; false if nothing.
func (d *driven) block(t *testing.T, now types.Moment) (Occurrence, bool) {
	t.Helper()
	if d.timer.HoldReason == types.Timed && d.timer.DueTime > now.Time {
		return Occurrence{}, false
	}
	o := Of(&d.timer, now)
	require.True(t, o.Open)
	next := After(&d.timer, Event{Outcome: Succeeded, Occurrence: o}, &d.config, now)
	require.True(t, next.Stays)
	d.timer = next.Timer
	return o, true
}

// TestCalendar_DoesNotDrift: over a million blocks whose distance changes tenfold, with some that repeat a second, jump a day or
// stop for a week, each occurrence is exactly so many times the distance after the first, and comes in the first block at or after
// it. What blocks have left out is told.
//
// Rule: 1.4-occurrences
func TestCalendar_DoesNotDrift(t *testing.T) {
	const blocks, every, start = 1_000_000, 3_600, 1_700_000_000
	rng := rand.New(rand.NewPCG(1, 2))
	now := types.Moment{Height: 1, Time: start}
	d := newDriven(t, types.CalendarTrigger{Every: &types.EveryRule{Seconds: every}}, now)
	resolved, pace := uint64(0), int64(1)
	for range blocks {
		now.Height++
		switch rng.IntN(100_000) {
		case 0:
			now.Time += 86_400
		case 1:
			now.Time += 7 * 86_400
		case 2, 3, 4:
			pace = 1 + 9*rng.Int64N(2)
		default:
			now.Time += rng.Int64N(2) * pace
		}
		o, fires := d.block(t, now)
		come := uint64(now.Time-start) / every
		require.Equal(t, fires, come > resolved, "in the first block that may have it")
		if fires {
			require.Equal(t, start+come*every, o.At)
			require.Equal(t, come-resolved, o.Passed.Count+1)
			resolved = come
		}
	}
	require.Greater(t, resolved, uint64(500))
	require.Equal(t, int64(start+(resolved+1)*every), d.timer.DueTime)
}
