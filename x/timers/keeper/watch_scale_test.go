package keeper_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/testutil/storecount"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// bobsBalance is the key of bob's balance in the fee denom of the tests.
var bobsBalance = types.WatchKey{Store: "bank", Prefix: append(append([]byte{2, 20}, bob...), "stake"...)}

// waitForBob makes a timer of a crowd wait for bob's balance to change.
func waitForBob(timer *types.Timer) {
	timer.Spec.Trigger = types.Trigger{Watch: &types.WatchTrigger{Keys: []types.WatchKey{bobsBalance}}}
	timer.Spec.Repeat = &types.Repeat{Remaining: 1}
	timer.HoldReason, timer.Due = types.Watching, 1
}

// TestACrowdWatchesOneKey notifies 10,000 timers of one change in its long form.
func TestACrowdWatchesOneKey(t *testing.T) {
	n := sized(1_500, types.MaxWatchesPerKey)
	var counts *storecount.Counts
	f := crowded(t, n, waitForBob, counted(&counts))
	config := f.config()
	perBlock := lab.Overhead(&config).Left(market.Notify)
	f.endBlock()
	f.run(f.send(alice, bob, 1))
	fired, blocks := 0, 0
	for ; fired < n; blocks++ {
		require.LessOrEqual(t, blocks, n/99, "the lane fires 99 a block and more, and they are there for it")
		counts.Reset()
		now := len(f.firedIDs(f.endBlock()))
		fired += now
		// What a block does grows with what it looks at and what it fires, not with who waits.
		require.LessOrEqual(t, counts.Nexts, perBlock+int(f.config().CandidateWindow)+1_000)
		require.LessOrEqual(t, counts.Gets, 16+6*perBlock+9*now)
		require.LessOrEqual(t, counts.Writes(), 8+6*perBlock+9*now)
	}
	require.NoError(t, f.Check())
	require.Empty(t, f.export().Timers)
}

// TestWatches_AKeyHasABoundedNumberOfThem: a further one is refused with what to do instead, and changes nothing. Who states a
// condition can watch the key. A watch that leaves makes room.
//
// Rule: 1.10-watches-per-key
func TestWatches_AKeyHasABoundedNumberOfThem(t *testing.T) {
	f := crowded(t, types.MaxWatchesPerKey-1, waitForBob)
	when := bobsBalance
	when.When = &types.WatchCondition{Op: types.ConditionLess, Value: "1"}
	last := f.schedule(robot, 0, []byte("noop"), watching(bobsBalance))
	for range 2 {
		f.schedule(robot2, 0, []byte("noop"), watching(when))
	}
	refused := scheduleMsg(robot2, 0, []byte("noop"), watching(bobsBalance))
	const full = "10000 timers watch "
	_, _, err := f.Tx(refused)
	require.ErrorIs(t, err, types.ErrInvalidWatch)
	require.ErrorContains(t, err, full)
	require.ErrorContains(t, err, "state a condition (when), or watch another key")

	other := f.schedule(robot2, 0, []byte("noop"), watching(types.WatchKey{Store: "bank", Prefix: append(append([]byte{2, 20}, carol...), "stake"...)}))
	_, _, err = f.Tx(&types.MsgUpdateTimer{Sender: robot2.String(), Id: other, Spec: types.TimerSpec{Trigger: refused.Spec.Trigger}, Fields: []string{"trigger"}})
	require.ErrorContains(t, err, full, "nor does one come to the key by an update")
	f.run(&types.MsgCancelTimer{Sender: robot.String(), Id: last})
	f.run(&types.MsgUpdateTimer{Sender: robot2.String(), Id: other, Spec: types.TimerSpec{Trigger: refused.Spec.Trigger}, Fields: []string{"trigger"}})
	_, _, err = f.Tx(refused)
	require.ErrorContains(t, err, full)
	require.NoError(t, f.Check())
}

// TestWatches_AGenesisIsNotHeldToTheBound: it is of a chain that held who scheduled to it. Its timers must not be lost.
//
// Rule: 1.10-watches-per-key
func TestWatches_AGenesisIsNotHeldToTheBound(t *testing.T) {
	f := crowded(t, types.MaxWatchesPerKey+1, waitForBob)
	other := types.WatchKey{Store: "bank", Prefix: append(append([]byte{2, 20}, alice...), "stake"...)}
	f.schedule(robot2, 0, []byte("noop"), watching(other))
	_, _, err := f.Tx(scheduleMsg(robot2, 0, []byte("noop"), watching(other, bobsBalance)))
	require.ErrorIs(t, err, types.ErrInvalidWatch)
}

// TestPendingTimersCostNothing: neither an empty block nor scheduling, cancelling or an unwatched write depends on how
// many wait, but for a few chunks of the owner index.
func TestPendingTimersCostNothing(t *testing.T) {
	cost := func(waiting int) (empty, scheduled, unwatched, cancelled storecount.Counts) {
		var counts *storecount.Counts
		f := crowded(t, waiting, waitForBob, counted(&counts))
		f.endBlock()
		counts.Reset()
		f.endBlock()
		empty = counts.Take()
		id := f.schedule(robot, 0, []byte("noop"), watching(bobsBalance))
		scheduled = counts.Take()
		f.run(f.send(alice, carol, 1))
		f.endBlock()
		unwatched = counts.Take()
		f.run(&types.MsgCancelTimer{Sender: robot.String(), Id: id})
		return empty, scheduled, unwatched, counts.Take()
	}
	empty, scheduled, unwatched, cancelled := cost(10)
	manyEmpty, manyScheduled, manyUnwatched, manyCancelled := cost(sized(1_500, types.MaxWatchesPerKey-1))
	require.Equal(t, empty, manyEmpty)
	require.Equal(t, unwatched, manyUnwatched)
	// The index of owners alone has more chunks to look into, within its bounds.
	require.Equal(t, scheduled.Writes(), manyScheduled.Writes())
	require.Equal(t, cancelled.Writes(), manyCancelled.Writes())
	require.LessOrEqual(t, manyScheduled.Reads(), scheduled.Reads()+12)
	require.LessOrEqual(t, manyCancelled.Reads(), cancelled.Reads()+12)
	require.LessOrEqual(t, empty.Reads(), 14, "%+v", empty)
	require.Zero(t, empty.Writes())
	t.Logf("empty block %+v, schedule %+v, cancel %+v", empty, scheduled, cancelled)
}
