package keeper_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/testutil/storecount"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// waitForPurse makes a timer of a crowd wait until the balance of purse is below or above a value.
func waitForPurse(timer *types.Timer, op types.ConditionOp, value int) {
	when := &types.WatchCondition{Op: op, Value: fmt.Sprint(value)}
	key := types.WatchKey{Store: "bank", Prefix: append(append([]byte{2, 20}, purse...), "stake"...), When: when}
	timer.Trigger = types.Trigger{Watch: &types.WatchTrigger{Keys: []types.WatchKey{key}}}
	timer.SetAside, timer.Due = types.Watching, 1
}

// TestConditionsThatNeverComeTrueCostNothing: what a change of their key makes a block do does not depend on how many
// there are, nor do scheduling, cancelling and an empty block.
func TestConditionsThatNeverComeTrueCostNothing(t *testing.T) {
	cost := func(n int) (empty, falls, rises, scheduled, cancelled storecount.Counts) {
		var counts *storecount.Counts
		f := crowded(t, n, func(timer *types.Timer) {
			// Below a balance that it never falls to, and above one that it never rises to.
			op := types.ConditionLess + types.ConditionOp(timer.Seq%4)
			value := 1 + int(timer.Seq)%400
			if op >= types.ConditionGreater {
				value += 1_000_000
			}
			waitForPurse(timer, op, value)
		}, counted(&counts))
		f.setPurse(5_000)
		f.endBlock()
		f.endBlock()
		counts.Reset()
		f.endBlock()
		empty = counts.Take()
		f.setPurse(1_000)
		f.endBlock()
		falls = counts.Take()
		f.setPurse(9_000)
		f.endBlock()
		rises = counts.Take()
		id := f.schedule(robot, 0, []byte("noop"), watching(f.when(f.balanceOf(purse), "< 200")))
		scheduled = counts.Take()
		f.endBlock()
		counts.Reset()
		f.run(&types.MsgCancelTimer{Sender: robot.String(), Id: id})
		return empty, falls, rises, scheduled, counts.Take()
	}
	empty, falls, rises, scheduled, cancelled := cost(sized(1_000, 10_000))
	manyEmpty, manyFalls, manyRises, manyScheduled, manyCancelled := cost(sized(4_000, 100_000))
	require.Equal(t, empty, manyEmpty)
	require.Equal(t, falls, manyFalls)
	require.Equal(t, rises, manyRises)
	require.Equal(t, scheduled, manyScheduled)
	require.Equal(t, cancelled, manyCancelled)
	require.LessOrEqual(t, empty.Reads(), 12, "%+v", empty)
	require.Zero(t, empty.Writes())
	require.Equal(t, 1, falls.Writes(), "the value of the key: %+v", falls)
	t.Logf("empty block %+v, a fall %+v, a rise %+v, schedule %+v, cancel %+v", empty, falls, rises, scheduled, cancelled)
}
