package keeper_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// next schedules a timer of the robot that is due in the next block.
func (f *fixture) next(changes ...func(*types.MsgScheduleTimer)) string {
	return f.schedule(robot, f.Height()+1, f.noop(), changes...)
}

// TestVerdict_SaysWhyATimerDoesNotFire: each way in which a timer is kept from firing has its word, which all queries show; and the
// next block does what it says.
//
// Rule: 5.6-verdict, 5.6-table
func TestVerdict_SaysWhyATimerDoesNotFire(t *testing.T) {
	for verdict, c := range map[types.Verdict]struct {
		// prepare schedules a timer of the robot and runs blocks, and returns its id.
		prepare func(f *fixture) string
		fires   bool
	}{
		types.VerdictFires:   {func(f *fixture) string { return f.next() }, true},
		types.VerdictPending: {func(f *fixture) string { return f.schedule(robot, 50, f.noop()) }, false},
		types.VerdictOnHold: {func(f *fixture) string {
			id := f.next()
			f.run(pause(robot, id))
			return id
		}, false},
		types.VerdictLanePaused: {func(f *fixture) string {
			f.setConfig(func(c *types.TimerConfig) { c.LanePaused = true })
			return f.next()
		}, false},
		types.VerdictPricedOut: {func(f *fixture) string { return f.next(func(m *types.MsgScheduleTimer) { m.Spec.MaxCharge = "1" }) }, false},
		types.VerdictNoRoom: {func(f *fixture) string {
			for range 20 {
				f.schedule(robot2, f.Height()+1, f.noop())
			}
			return f.next()
		}, true}, // The others use less than they may.
		types.VerdictCapped: {func(f *fixture) string {
			f.setConfig(func(c *types.TimerConfig) { c.MaxFiresPerActor = 1 })
			f.next()
			return f.next()
		}, false},
		types.VerdictNoFunds: {func(f *fixture) string {
			id := f.next()
			f.run(f.send(robot, robot2, f.balance(robot)-1))
			return id
		}, false},
		types.VerdictPassed: {func(f *fixture) string {
			f.setConfig(func(c *types.TimerConfig) { c.LanePaused = true })
			id := f.next(triggered(types.Trigger{Interval: &types.IntervalTrigger{
				Every: 100, First: f.Height() + 1, From: types.FromSchedule,
			}}, types.Repeat{Window: 1}))
			f.blocksUntil(f.Height() + 5)
			f.setConfig(func(c *types.TimerConfig) { c.LanePaused = false })
			return id
		}, false},
		types.VerdictGuarded: {func(f *fixture) string {
			return f.next(onlyIf(f.when(f.balanceOf(robot2), "< 0")))
		}, true},
	} {
		t.Run(verdict.Word(), func(t *testing.T) {
			f := newFixture(t)
			f.setConfig(func(c *types.TimerConfig) { c.Policy = types.PolicyFIFO })
			f.NextBlock()
			id := c.prepare(f)
			unasked := f.timer(robot, id)
			answer, err := f.query().Timer(f.Ctx(), &types.QueryTimerRequest{Actor: robot.String(), Id: id, Verdict: true})
			require.NoError(t, err)
			info := answer.Timer
			require.Equal(t, verdict, info.Status.Verdict)
			if static := verdict == types.VerdictPending || verdict == types.VerdictOnHold; static {
				require.Equal(t, verdict, unasked.Status.Verdict)
			} else {
				require.Zero(t, unasked.Status.Verdict, "not asked for")
			}
			own, err := f.query().TimersByActor(f.Ctx(), &types.QueryTimersByActorRequest{Actor: robot.String(), Verdict: true})
			require.NoError(t, err)
			require.Equal(t, verdict, own.Timers[len(own.Timers)-1].Status.Verdict)
			due, err := f.query().Due(f.Ctx(), &types.QueryDueRequest{Height: info.Status.Due, Until: true, Verdict: true})
			require.NoError(t, err)
			if info.Status.HoldReason == types.NotOnHold {
				require.Equal(t, verdict, due.Timers[len(due.Timers)-1].Status.Verdict)
			}
			f.NextBlock()
			fired := f.firedIDs(f.NextBlock())
			require.Equal(t, c.fires, slices.Contains(fired, id), "%v", fired)
		})
	}
}

// TestVerdict_OnOneThatTheBlockDoesNotReach: it says what keeps the timer from firing in an empty lane, not that the lane is full.
//
// Rule: 5.6-verdict
func TestVerdict_OnOneThatTheBlockDoesNotReach(t *testing.T) {
	f := newFixture(t)
	f.setConfig(func(c *types.TimerConfig) { c.Policy, c.LanePaused, c.MaxFiresPerBlock = types.PolicyFIFO, true, 1 })
	f.NextBlock()
	f.schedule(robot2, f.Height()+1, f.noop())
	id := f.next(triggered(types.Trigger{Interval: &types.IntervalTrigger{
		Every: 100, First: f.Height() + 1, From: types.FromSchedule,
	}}, types.Repeat{Window: 1}))
	plain := f.next()
	f.blocksUntil(f.Height() + 5)
	f.setConfig(func(c *types.TimerConfig) { c.LanePaused = false })
	verdict := func(id string) types.Verdict {
		answer, err := f.query().Timer(f.Ctx(), &types.QueryTimerRequest{Actor: robot.String(), Id: id, Verdict: true})
		require.NoError(t, err)
		return answer.Timer.Status.Verdict
	}
	require.Equal(t, types.VerdictPassed, verdict(id))
	require.Equal(t, types.VerdictNoRoom, verdict(plain))
}
