package keeper_test

import (
	"flag"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/testutil/storecount"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// waitForBalance makes a timer of a crowd wait until the balance of watched is below or above a value.
func waitForBalance(timer *types.Timer, op types.ConditionOp, value int) {
	when := &types.WatchCondition{Op: op, Value: fmt.Sprint(value)}
	key := types.WatchKey{Store: "bank", Prefix: append(append([]byte{2, 20}, watched...), "stake"...), When: when}
	timer.Spec.Trigger = types.Trigger{Watch: &types.WatchTrigger{Keys: []types.WatchKey{key}}}
	timer.HoldReason, timer.Due = types.Watching, 1
}

var conditionsSize = flag.Int("keeper.conditions", 0, "how many conditions never come true; 2,500 or 100,000 by default, 1,000,000 take minutes and 14 GB")

// TestConditionsThatNeverComeTrueCostNothing: what a change of their key makes a block do does not depend on how many
// there are, nor do scheduling, cancelling and an empty block. Only the index of owners reads and writes a few chunks more or
// less, by what of it is merged.
//
// Rule: 1.10-condition-order, 1.10-condition-reads-bounded
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
			waitForBalance(timer, op, value)
		}, counted(&counts))
		f.setWatched(5_000)
		f.endBlock()
		f.endBlock()
		counts.Reset()
		f.endBlock()
		empty = counts.Take()
		f.setWatched(1_000)
		f.endBlock()
		falls = counts.Take()
		f.setWatched(9_000)
		f.endBlock()
		rises = counts.Take()
		id := f.schedule(robot, 0, []byte("noop"), watching(f.when(f.balanceOf(watched), "< 200")))
		scheduled = counts.Take()
		f.endBlock()
		counts.Reset()
		f.run(&types.MsgCancelTimer{Sender: robot.String(), Id: id})
		return empty, falls, rises, scheduled, counts.Take()
	}
	empty, falls, rises, scheduled, cancelled := cost(sized(1_000, 10_000))
	many := sized(2_500, 100_000)
	if *conditionsSize > 0 {
		many = *conditionsSize
	}
	manyEmpty, manyFalls, manyRises, manyScheduled, manyCancelled := cost(many)
	require.Equal(t, empty, manyEmpty)
	require.Equal(t, falls, manyFalls)
	require.Equal(t, rises, manyRises)
	for _, c := range []storecount.Counts{scheduled, manyScheduled, cancelled, manyCancelled} {
		require.LessOrEqual(t, c.Reads(), 24, "%+v", c)
		require.LessOrEqual(t, c.Writes(), 12, "%+v", c)
	}
	require.LessOrEqual(t, empty.Reads(), 14, "%+v", empty)
	require.Zero(t, empty.Writes())
	require.Equal(t, 1, falls.Writes(), "the value of the key: %+v", falls)
	t.Logf("of %d: empty block %+v, a fall %+v, a rise %+v, schedule %+v, cancel %+v", many, manyEmpty, manyFalls, manyRises, manyScheduled,
		manyCancelled)
}

// TestASwingIsBounded: a balance that passes thousands of conditions up and down in every block makes a block do bounded
// work. Each timer is told once and fires; none is lost, and a bystander's condition on another key is not late.
//
// Rule: 1.10-condition-not-waiting, 1.10-conditions-bound
func TestASwingIsBounded(t *testing.T) {
	n := sized(1_000, 20_000)
	var counts *storecount.Counts
	f := crowded(t, n, func(timer *types.Timer) {
		waitForBalance(timer, types.ConditionLess, 1_000+int(timer.Seq)%5_000)
		timer.Spec.Repeat = &types.Repeat{Remaining: 1}
	}, counted(&counts), withConfig(func(c *types.TimerConfig) { notifies(c, 64) }))
	f.setWatched(10_000)
	f.endBlock()
	mine := f.schedule(robot2, 0, []byte("noop"), watching(f.when(f.balanceOf(bob), "< 500")), times(0), limited(40_000))
	f.endBlock()
	perBlock, fired, told := 64, 0, 0
	for block := 0; fired < n; block++ {
		require.LessOrEqual(t, block, n/30+20)
		f.setWatched([]int64{1, 10_000}[block%2])
		low := block%4 == 1
		if f.balance(bob) >= 500 == low {
			amount := f.balance(bob) - 100
			if low {
				f.run(f.send(bob, alice, amount))
			} else {
				f.run(f.send(alice, bob, -amount+1_000))
			}
		}
		counts.Reset()
		height := f.Height()
		now := 0
		for _, event := range eventsOf[*types.TimerFired](f, f.endBlock()) {
			if event.Id != mine {
				now++
				continue
			}
			told++
			require.True(t, low)
			require.Zero(t, event.Late, "height %d", height)
		}
		fired += now
		// The backlog of timers that are due is read up to the window, whatever made them due.
		require.LessOrEqual(t, counts.Nexts, (1+2*3)*perBlock+int(f.config().CandidateWindow)+1_000)
		require.LessOrEqual(t, counts.Gets, 40+7*perBlock+12*now)
		require.LessOrEqual(t, counts.Writes(), 40+8*perBlock+12*now)
	}
	require.NotZero(t, told)
	require.NoError(t, f.Check())
	require.Len(t, f.export().Timers, 1)
}

// TestTimersThatDoNotWaitAreNotRead: conditions of timers that are due or paused cost a change nothing, however often the
// value passes them.
//
// Rule: 1.10-condition-not-waiting
func TestTimersThatDoNotWaitAreNotRead(t *testing.T) {
	cost := func(n int, watched int64) storecount.Counts {
		var counts *storecount.Counts
		f := crowded(t, n, func(timer *types.Timer) {
			waitForBalance(timer, types.ConditionLess, 1_000)
			timer.HoldReason = types.Paused
		}, counted(&counts))
		f.setWatched(5_000)
		f.endBlock()
		f.setWatched(watched)
		counts.Reset()
		f.endBlock()
		return counts.Take()
	}
	// A block sweeps a bounded number of timers that are on hold; what the fall adds to that is the same.
	adds := func(n int) [3]int {
		calm, fall := cost(n, 5_000), cost(n, 10)
		return [3]int{fall.Nexts - calm.Nexts, fall.Gets - calm.Gets, fall.Writes() - calm.Writes()}
	}
	few := adds(10)
	require.Equal(t, 1, few[2])
	require.Equal(t, few, adds(sized(500, 2_000)))
}

// TestLooks_OfACrowdDelayNobodysSends: watches whose conditions do not hold are all to be looked at in one block. A block looks at as many as
// its overhead for watches holds, whatever waits: sends due with them and in each block after fire in their blocks, and a
// condition that another owner states meanwhile is looked at in its block.
//
// Rule: 1.10-look-bound
func TestLooks_OfACrowdDelayNobodysSends(t *testing.T) {
	n := sized(2_000, 20_000)
	var counts *storecount.Counts
	f := crowded(t, n, func(timer *types.Timer) {
		waitForBalance(timer, types.ConditionLess, 1_000+int(timer.Seq)%5_000)
		timer.Look = true
	}, counted(&counts))
	f.setWatched(10_000)
	looks, blocks, most := n, 0, storecount.Counts{}
	for ; looks > 0; blocks++ {
		send := f.schedule(robot2, f.Height()+1, []byte("noop"), limited(40_000))
		low := f.schedule(robot2, 0, []byte("noop"), watching(f.when(f.balanceOf(watched), "> 500")), limited(40_000))
		f.endBlock()
		counts.Reset()
		require.ElementsMatch(t, []string{send, low}, f.firedIDs(f.endBlock()), "block %d", blocks)
		most.Gets, most.Nexts, most.Sets = max(most.Gets, counts.Gets), max(most.Nexts, counts.Nexts), max(most.Sets, counts.Writes())
		require.LessOrEqual(t, counts.Gets, 600)
		require.LessOrEqual(t, counts.Nexts, 400)
		require.LessOrEqual(t, counts.Writes(), 600)
		if blocks%8 == 0 {
			looks = 0
			for _, timer := range f.export().Timers {
				if timer.Look {
					looks++
				}
			}
		}
		require.LessOrEqual(t, blocks, n/50)
	}
	t.Logf("%d looks in %d blocks, a block reads at most %d values and %d entries of scans, and writes %d", n, 2*blocks, most.Gets, most.Nexts, most.Sets)
	require.NoError(t, f.Check())
}
