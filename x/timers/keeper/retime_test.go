package keeper_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// TestUpdate_AOneShotChangesItsClock: from a time to a calendar and back to nothing that has passed; its retries are stated too, since
// they count in the other clock.
//
// Rule: 3.2-trigger
func TestUpdate_AOneShotChangesItsClock(t *testing.T) {
	f := newFixture(t)
	timed := f.schedule(robot, 0, f.noop(), triggered(atTime(f.Now()+500)))
	f.retrigger(timed, everySeconds(60))
	require.NotNil(t, f.timer(robot, timed).Spec.Trigger.Calendar)

	once := f.schedule(robot, 50, f.noop(), func(m *types.MsgScheduleTimer) { m.Spec.Retry = &types.Retry{Max: 1, After: 5} })
	later := atTime(f.Now() + 500)
	f.refused(types.ErrInvalidRetry, &types.MsgUpdateTimer{Sender: robot.String(), Id: once, Spec: types.TimerSpec{Trigger: later}, Fields: []string{"trigger"}})
	f.NextBlock()
	f.refused(types.ErrHeightNotInFuture, &types.MsgUpdateTimer{Sender: robot.String(), Id: once, Spec: types.TimerSpec{Trigger: types.Trigger{Height: 2}}, Fields: []string{"trigger"}})
	f.run(&types.MsgUpdateTimer{Sender: robot.String(), Id: once, Spec: types.TimerSpec{Trigger: later, Retry: &types.Retry{Max: 1, After: 30}}, Fields: []string{"trigger", "retry"}})
	require.Zero(t, f.timer(robot, once).Status.ExpiresAt, "its end is the other clock's")
}
