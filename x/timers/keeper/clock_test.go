package keeper_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// leaping is a chain whose time leaps, and what its blocks told since.
type leaping struct {
	*fixture
	fired, expired map[string]int
}

// blocks runs blocks so many seconds apart. None takes more than a block may, whatever the leap made due, and nothing is delivered
// twice.
func (l *leaping) blocks(n int, seconds int64) {
	l.t.Helper()
	config := l.config()
	for range n {
		l.BlockSeconds = seconds
		events := l.endBlock()
		summary := only[*types.TimerLaneSummary](l.fixture, events)
		require.LessOrEqual(l.t, summary.OverheadCycles, config.OverheadCyclesPerBlock)
		require.LessOrEqual(l.t, summary.Cycles, config.LaneTimerCycles)
		delivered := map[string]bool{}
		for _, fired := range eventsOf[*types.TimerFired](l.fixture, events) {
			require.False(l.t, delivered[fired.Id], "twice in a block")
			delivered[fired.Id] = true
			l.fired[fired.Id]++
			occurrence := fmt.Sprint(fired.Id, " at ", fired.Occurrence)
			l.fired[occurrence]++
			require.LessOrEqual(l.t, l.fired[occurrence], 1, "an occurrence is delivered once")
		}
		for _, expired := range eventsOf[*types.TimerExpired](l.fixture, events) {
			l.expired[expired.Id]++
		}
	}
}

// TestClock_LeapsAreAnOutage: where a block's time leaps ahead, what lies in the leap is due, or has ended, as after an outage of
// that length, in bounded blocks. Then times stand still until the real time has come, heights go on, and nothing fires twice.
//
// Rule: 1.4-time, 1.4-missed, 1.2-expires-time
func TestClock_LeapsAreAnOutage(t *testing.T) {
	const hour, day, start, many = 3_600, 86_400, int64(1_700_000_000), 600
	for name, leap := range map[string]int64{"an hour": hour, "30 days": 30 * day, "400 days": 400 * day} {
		t.Run(name, func(t *testing.T) {
			// Each second one of a crowd outlives the leap, the others end in it.
			f := crowded(t, many, func(timer *types.Timer) {
				at := time.Unix(start+10+int64(timer.Seq)*leap/(2*many), 0).UTC()
				timer.Spec.Trigger, timer.HoldReason, timer.Due = types.Trigger{Time: &at}, types.Timed, 2
				timer.DueTime, timer.ExpiresTime, timer.ExpiresAt = at.Unix(), start+leap+day, 0
				if timer.Seq%2 == 0 {
					timer.ExpiresTime = start + leap*3/4
				}
			}, func(o *lab.ChainOptions) { o.StartTime = start })
			within := uint64(leap) < f.config().MaxTtlSeconds
			l := &leaping{fixture: f, fired: map[string]int{}, expired: map[string]int{}}
			crowd, err := f.Timers.Engine().Records.All(f.Ctx())
			require.NoError(t, err)
			l.blocks(1, 1)
			latest := f.schedule(robot, 0, f.noop(), triggered(everySeconds(600)))
			each := f.schedule(robot, 0, f.noop(), triggered(everySeconds(600), types.Repeat{Remaining: 3, Missed: types.MissedEach}))
			windowed := f.schedule(robot, 0, f.noop(), triggered(everySeconds(700), types.Repeat{Window: 1}))
			byHeight := f.schedule(robot, f.Height()+100, f.noop())
			l.blocks(1, leap)
			l.blocks(40, 0) // The clock creeps: block time never goes back.
			for i := range crowd {
				id, outlives := crowd[i].IDHex(), crowd[i].Seq%2 == 1
				require.Equal(t, outlives, l.fired[id] == 1, "%d: fires once if it outlives the leap", i)
				require.Equal(t, !outlives, l.expired[id] == 1, "%d: ends once if it does not", i)
			}
			for _, id := range []string{latest, each, windowed} {
				require.Equal(t, !within, l.expired[id] == 1, "its life has ended")
			}
			if within {
				require.Equal(t, 1, l.fired[latest], "the latest alone")
				require.Equal(t, 3, l.fired[each], "each, one in a block")
			}
			require.Zero(t, l.fired[windowed], "too late")
			require.Zero(t, l.fired[byHeight])
			l.blocks(70, 0)
			require.Equal(t, 1, l.fired[byHeight], "heights go on")
			if within {
				require.Equal(t, 1, l.fired[latest], "times stand still")
				l.blocks(13, 60)
				require.Equal(t, 2, l.fired[latest], "the real time has come")
			}
			f.check()
		})
	}
}
