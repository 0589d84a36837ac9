package keeper_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
	"github.com/cosmos-timers/timers/x/timers/watch/condition"
)

// when is a condition on a key, such as "< 100".
func (f *fixture) when(key types.WatchKey, text string) types.WatchKey {
	f.t.Helper()
	op, value, err := condition.ParseText(text)
	require.NoError(f.t, err)
	key.When = &types.WatchCondition{Op: types.ConditionOp(op), Value: value}
	return key
}

// cooling keeps a watch from being due again for so many blocks.
func cooling(blocks uint64) func(*types.MsgScheduleTimer) {
	return func(msg *types.MsgScheduleTimer) { msg.Spec.Trigger.Watch.Cooldown = blocks }
}

// watched is an account whose balance the tests watch.
var watched = sdk.AccAddress("purse_______________")

// setWatched makes the balance of watched what is stated, in a transaction of its own.
func (f *fixture) setWatched(amount int64) {
	f.t.Helper()
	if by := amount - f.balance(watched); by > 0 {
		f.run(f.send(alice, watched, by))
	} else if by < 0 {
		f.run(f.send(watched, alice, -by))
	}
}

// TestConditionsOfABalance: each row is the balance at scheduling and at the blocks that follow, with * where it fires.
//
// Rule: 1.4-watch, 1.10-condition, 1.10-ops, 1.10-collection-edge, 1.10-edge-triggered
func TestConditionsOfABalance(t *testing.T) {
	type block struct {
		balance int64
		fires   bool
	}
	on := func(balance int64) block { return block{balance, true} }
	off := func(balance int64) block { return block{balance, false} }
	for name, c := range map[string]struct {
		when   string
		start  int64
		blocks []block
	}{
		"<":                        {"< 100", 150, []block{off(150), off(100), on(99), off(98), off(0), off(100), on(0)}},
		"<=":                       {"<= 100", 150, []block{off(101), on(100), off(99), off(101), on(7)}},
		">":                        {"> 100", 50, []block{off(100), on(101), off(500), off(100), on(200)}},
		">=":                       {">= 100", 0, []block{off(99), on(100), off(99), on(101), off(102)}},
		"==":                       {"== 100", 99, []block{on(100), off(100), off(101), on(100), off(0)}},
		"== 0 is an empty balance": {"== 0", 1, []block{on(0), off(2), on(0)}},
		"exists":                   {"exists", 0, []block{off(0), on(1), off(5), off(0), on(2)}},
		"absent":                   {"absent", 3, []block{off(1), on(0), off(0), off(4), on(0)}},
		"true at scheduling":       {"< 100", 50, []block{on(40), off(99), off(100), on(99)}},
		"a fraction":               {"< 99.5", 100, []block{on(99), off(100), on(99)}},
		"below zero":               {"< -5", 100, []block{off(0), off(100)}},
		"beyond all coins":         {"> 9999999999999999999999999999999999999999999999999999999999999999", 5, []block{off(9), off(0)}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.setWatched(c.start)
			id := f.schedule(robot, 0, f.noop(), watching(f.when(f.balanceOf(watched), c.when)), times(0))
			require.Empty(t, f.firedIDs(f.NextBlock()))
			for i, b := range c.blocks {
				f.setWatched(b.balance)
				events := f.NextBlock()
				if !b.fires {
					require.Empty(t, f.firedIDs(events), "block %d", i)
					continue
				}
				require.Equal(t, []string{id}, f.firedIDs(events), "block %d", i)
				fired := only[*types.TimerFired](f, events)
				require.Equal(t, []types.WatchedKey{matched(f.balanceOf(watched))}, fired.Matched)
				require.Zero(t, fired.Late)
			}
		})
	}
}

// TestAConditionComparesCollections: what happens within a block between two collections does not show, nor what is undone
// with its transaction.
//
// Rule: 1.10-collection-edge, 1.10-between-collections
func TestAConditionComparesCollections(t *testing.T) {
	f := newFixture(t)
	f.setWatched(100)
	id := f.schedule(robot, 0, f.noop(), watching(f.when(f.balanceOf(watched), "< 100")), times(0))
	f.NextBlock()
	f.setWatched(10)
	f.setWatched(100)
	require.Empty(t, f.firedIDs(f.NextBlock()), "there and back")
	_, _, err := f.Tx(f.send(watched, alice, 50), f.send(alice, bob, 2*rich))
	require.Error(t, err)
	require.Empty(t, f.firedIDs(f.NextBlock()), "undone")
	f.setWatched(10)
	require.Equal(t, []string{id}, f.firedIDs(f.NextBlock()))
	f.setWatched(500)
	f.setWatched(20)
	require.Empty(t, f.firedIDs(f.NextBlock()), "back and there")
}

// TestConditions_NewOnesAreLookedAt in the block after it was scheduled, whatever transactions did before and after, and whoever else
// has a condition on the key.
//
// Rule: 1.10-look
func TestConditions_NewOnesAreLookedAt(t *testing.T) {
	for name, c := range map[string]struct {
		// before, at and after are balances in the block that schedules, next in the one that follows.
		before, at, after, next int64
		fires                   bool
	}{
		"falls after scheduling":                {200, 200, 50, 50, true},
		"falls after scheduling and comes back": {200, 200, 50, 200, false},
		"low when it was scheduled":             {200, 50, 50, 50, true},
		"low all the time":                      {50, 50, 50, 50, true},
		"low only when it was scheduled":        {200, 50, 200, 200, false},
		"low but in the block that looks":       {50, 50, 50, 200, false},
		"low again in the block that looks":     {50, 50, 200, 50, true},
		"falls in the next block":               {200, 200, 200, 50, true},
		"high all the time":                     {200, 200, 200, 200, false},
	} {
		for _, others := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, others %t", name, others), func(t *testing.T) {
				f := newFixture(t)
				f.setWatched(c.before)
				if others {
					f.schedule(robot2, 0, f.noop(), watching(f.when(f.balanceOf(watched), "> 1000000")), times(0))
				}
				f.NextBlock()
				f.setWatched(c.at)
				id := f.schedule(robot, 0, f.noop(), watching(f.when(f.balanceOf(watched), "< 100")), times(0))
				f.run(&types.MsgUpdateTimer{Sender: robot.String(), Id: id, Spec: types.TimerSpec{GasLimit: 100_000}, Fields: []string{"gas_limit"}})
				f.setWatched(c.after)
				require.Empty(t, f.firedIDs(f.NextBlock()))
				f.setWatched(c.next)
				require.Equal(t, c.fires, len(f.firedIDs(f.NextBlock())) == 1)
				// From then on it is an ordinary condition.
				f.setWatched(300)
				require.Empty(t, f.firedIDs(f.NextBlock()))
				f.setWatched(3)
				require.Equal(t, []string{id}, f.firedIDs(f.NextBlock()))
				f.setWatched(2)
				require.Empty(t, f.firedIDs(f.NextBlock()), "and triggered by edges")
			})
		}
	}
}

// TestAHandlerThatSchedules: in the end of a block the values at scheduling are those that handlers have left so far.
func TestAHandlerThatSchedulesACondition(t *testing.T) {
	f := newFixture(t)
	f.fund(watched, 200)
	move := func(ctx sdk.Context, from, to sdk.AccAddress, amount int64) error {
		return f.Bank.SendCoins(ctx, from, to, f.coins(amount))
	}
	msg := scheduleMsg(robot, 0, f.noop(), watching(f.when(f.balanceOf(watched), "< 100")))
	payload := f.script(func(ctx sdk.Context, _ types.Delivery) error {
		_, err := f.Messages.Handler(msg)(ctx, msg)
		return errors.Join(err, move(ctx, watched, alice, 150))
	})
	f.schedule(robot, 3, payload)
	f.blocksUntil(3)
	require.Len(t, f.firedIDs(f.NextBlock()), 1, "200 when it was scheduled, 50 at the next collection")
}

// TestFeesCountForConditions: a balance that runs low because its timers fire is one that runs low.
//
// Rule: 1.10-own-transfers
func TestFeesCountForConditions(t *testing.T) {
	underEachDebit(t, func(t *testing.T, debits func(*lab.ChainOptions)) {
		t.Helper()
		f := newFixture(t, debits, withConfig(plain))
		low := f.schedule(robot2, 0, f.pays(robot2, robot, 0), watching(f.when(f.balanceOf(robot), fmt.Sprintf("< %d", rich-100_000))), times(0))
		f.schedule(robot, 0, f.noop(), every(1, 0))
		for fires := int64(0); ; fires++ {
			events := f.NextBlock()
			if ids := f.firedIDs(events); len(ids) > 0 && ids[0] == low {
				require.Less(t, f.balance(robot), int64(rich-100_000))
				break
			}
			require.Less(t, fires, int64(20), "never told")
		}
	})
}

// TestAConditionOfItsOwnFee does not make a timer fire for ever.
func TestAConditionOfItsOwnFee(t *testing.T) {
	underEachDebit(t, func(t *testing.T, debits func(*lab.ChainOptions)) {
		t.Helper()
		f := newFixture(t, debits, withConfig(plain))
		id := f.schedule(robot, 0, f.noop(), watching(f.when(f.balanceOf(robot), fmt.Sprintf("< %d", rich))), times(0))
		f.NextBlock()
		f.run(f.send(robot, alice, 1))
		require.Equal(t, []string{id}, f.firedIDs(f.NextBlock()))
		for range 4 {
			require.Empty(t, f.firedIDs(f.NextBlock()))
		}
	})
}

// Rule: 1.10-cooldown
func TestCooldown(t *testing.T) {
	f := newFixture(t)
	plain := f.schedule(robot, 0, f.noop(), watching(f.balanceOf(watched)), times(0), cooling(3))
	low := f.schedule(robot2, 0, f.noop(), watching(f.when(f.balanceOf(watched), "< 100")), times(0), cooling(4))
	f.setWatched(100)
	f.NextBlock()
	var fired []string
	for i := range 12 {
		f.setWatched(100 - int64(i%2))
		for _, id := range f.firedIDs(f.NextBlock()) {
			name := map[string]string{plain: "plain", low: "low"}[id]
			fired = append(fired, fmt.Sprintf("%s %d", name, i))
		}
	}
	// The balance changes in blocks 1 to 11, and falls in the odd ones.
	require.Equal(t, []string{"plain 1", "low 1", "plain 4", "low 5", "plain 7", "low 9", "plain 10"}, fired)
}

// Rule: 1.10-cooldown-outlives
func TestACooldownThatOutlivesTheTimerEndsIt(t *testing.T) {
	f := newFixture(t)
	f.schedule(robot, 0, f.noop(), watching(f.balanceOf(watched)), times(0), cooling(5), expiring(f.Height()+5))
	f.NextBlock()
	f.setWatched(1)
	events := f.NextBlock()
	require.Len(t, f.firedIDs(events), 1)
	require.Zero(t, only[*types.TimerFired](f, events).NextDue)
	require.Zero(t, f.total(robot))
	msg := scheduleMsg(robot, 0, f.noop(), watching(f.balanceOf(watched)), cooling(f.config().MaxTtlBlocks+1))
	f.refused(types.ErrInvalidWatch, msg)
}

// TestConditionsThatAreRefused: of the wrong form, or on keys whose values they can't compare.
//
// Rule: 1.10-condition, 1.10-other-values, 1.10-value-length, 1.10-text-has-no-order
func TestConditionsThatAreRefused(t *testing.T) {
	f := newFixture(t)
	refuse := func(name string, want error, keys ...types.WatchKey) {
		t.Helper()
		_, _, err := f.Tx(scheduleMsg(robot, 0, f.noop(), watching(keys...)))
		require.ErrorIs(t, err, want, name)
	}
	with := func(key types.WatchKey, op types.ConditionOp, value string) types.WatchKey {
		key.When = &types.WatchCondition{Op: op, Value: value}
		return key
	}
	balance := f.balanceOf(watched)
	refuse("no op", types.ErrInvalidWatch, with(balance, 0, ""))
	refuse("an op that is unknown", types.ErrInvalidWatch, with(balance, 99, "1"))
	refuse("no value", types.ErrInvalidWatch, with(balance, types.ConditionLess, ""))
	refuse("no number", types.ErrInvalidWatch, with(balance, types.ConditionLess, "1e6"))
	refuse("bytes of a balance", types.ErrInvalidWatch, with(balance, types.ConditionEqual, "rich"))
	refuse("too long", types.ErrInvalidWatch, with(balance, types.ConditionLess, string(make([]byte, 65))))
	refuse("a value where there is none", types.ErrInvalidWatch, with(balance, types.ConditionExists, "1"))
	refuse("all balances", types.ErrInvalidWatch, f.when(f.key("bank:balances:"+watched.String()), "< 1"))
	refuse("a key that is no number", types.ErrInvalidWatch, f.when(types.WatchKey{Store: "bank", Prefix: []byte{5}}, "< 1"))
	refuse("no such store", types.ErrNotWatchable, f.when(types.WatchKey{Store: "gov", Prefix: []byte{5}}, "exists"))
	refuse("a key twice", types.ErrInvalidWatch, f.when(balance, "< 1"), f.when(balance, "> 1"))
	refuse("with and without", types.ErrInvalidWatch, f.when(balance, "< 1"), balance)
	f.schedule(robot, 0, f.noop(), watching(f.when(types.WatchKey{Store: "bank", Prefix: []byte{5}}, "absent")))
}

// TestPausedConditions: a timer that was on hold while it waited hears of nothing, and is compared again when it is back.
//
// Rule: 1.10-condition-not-waiting
func TestPausedConditions(t *testing.T) {
	f := newFixture(t)
	f.setWatched(200)
	id := f.schedule(robot, 0, f.noop(), watching(f.when(f.balanceOf(watched), "< 100")), times(0))
	f.NextBlock()
	f.run(&types.MsgPauseTimer{Sender: robot.String(), Id: id})
	f.setWatched(50)
	require.Empty(t, f.firedIDs(f.NextBlock()))
	f.run(&types.MsgResumeTimer{Sender: robot.String(), Id: id})
	f.setWatched(40)
	require.Empty(t, f.firedIDs(f.NextBlock()), "it was below 100 before")
	f.setWatched(100)
	f.NextBlock()
	f.setWatched(99)
	require.Equal(t, []string{id}, f.firedIDs(f.NextBlock()))
}

// TestARetriedConditionTellsWhatItWas: a failed fire is repeated with the keys that it had, and waits for none.
//
// Rule: 1.4-retry
func TestARetriedCondition(t *testing.T) {
	f := newFixture(t)
	tries := 0
	payload := f.script(func(sdk.Context, types.Delivery) error {
		if tries++; tries < 3 {
			return errors.New("not yet")
		}
		return nil
	})
	f.setWatched(200)
	f.schedule(robot, 0, payload, watching(f.when(f.balanceOf(watched), "< 100")), times(0), func(msg *types.MsgScheduleTimer) {
		msg.Spec.Retry = &types.Retry{Max: 3, After: 2}
	})
	f.NextBlock()
	f.setWatched(50)
	for i, want := range []int{1, 0, 1, 0, 1, 0} {
		events := eventsOf[*types.TimerFired](f, f.NextBlock())
		require.Len(t, events, want, "block %d", i)
		for _, event := range events {
			require.Equal(t, []types.WatchedKey{matched(f.balanceOf(watched))}, event.Matched)
		}
	}
}

// TestQueriesShowConditions, whether their timers wait or not.
func TestQueriesShowConditions(t *testing.T) {
	f := newFixture(t)
	low, whole := f.when(f.balanceOf(watched), "< 100"), f.balanceOf(watched)
	waiting := f.schedule(robot, 0, f.noop(), watching(low, f.balanceOf(bob)), times(0))
	paused := f.schedule(robot2, 0, f.noop(), watching(low), times(0))
	f.schedule(robot2, 0, f.noop(), watching(whole), times(0))
	f.run(&types.MsgPauseTimer{Sender: robot2.String(), Id: paused})
	f.NextBlock()
	watches, err := f.query().Watches(f.Ctx(), &types.QueryWatchesRequest{Store: "bank", Prefix: low.Prefix})
	require.NoError(t, err)
	require.Len(t, watches.Watches, 3)
	require.Nil(t, watches.Watches[0].Key.When)
	require.Equal(t, []string{paused, waiting}, []string{watches.Watches[1].TimerId, watches.Watches[2].TimerId}, "by owner")
	require.Equal(t, low.When, watches.Watches[1].Key.When)
	require.Equal(t, low.When, watches.Watches[2].Key.When)
	require.Equal(t, low.When, f.timer(robot, waiting).Spec.Trigger.Watch.Keys[0].When)
	all, err := f.query().Watches(f.Ctx(), &types.QueryWatchesRequest{Store: "bank"})
	require.NoError(t, err)
	require.Len(t, all.Watches, 4)
	mine, err := f.query().Watches(f.Ctx(), &types.QueryWatchesRequest{Actor: robot.String()})
	require.NoError(t, err)
	require.Equal(t, low.When, mine.Watches[0].Key.When)
}

// TestConditionsSurviveAnExport in the middle of what a small bound has left to do.
func TestConditionsSurviveAnExport(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) { notifies(c, 2) }))
	f.setWatched(100)
	payload := f.noop()
	for i := range 12 {
		f.schedule(robot, 0, payload, watching(f.when(f.balanceOf(watched), fmt.Sprintf("< %d", 10+5*i))), times(0))
	}
	f.lookAtAll()
	f.schedule(robot, 0, payload, watching(f.when(f.balanceOf(watched), "< 100")), times(0))
	f.setWatched(1)
	_, err := f.EndBlock()
	require.NoError(t, err)
	exported := f.export()
	require.NoError(t, f.Timers.ValidateGenesis(exported))
	require.NotEmpty(t, exported.WatchSegments)
	require.NotEmpty(t, exported.WatchValues)
	require.NoError(t, f.BeginBlock())
	again := imported(t, f, exported)
	for range 12 {
		require.Equal(t, f.firedIDs(f.NextBlock()), again.firedIDs(again.NextBlock()))
	}
	require.Empty(t, again.export().WatchSegments)
}

// TestATimerThatBecomesDueCountsForItsConditions: of timers with three conditions each a block with room for four watches
// makes two due, and two by a key without a condition as well.
//
// Rule: 1.10-conditions-count
func TestATimerThatBecomesDueCountsForItsConditions(t *testing.T) {
	// The others have a condition each, and the watched has one beside two of them.
	for name, others := range map[string][]sdk.AccAddress{"a condition": {alice, bob}, "any change": {alice, bob, carol}} {
		// What compares the key takes room too.
		wants := []int{2, 2, 1, 0}
		if len(others) < 3 {
			wants = []int{1, 2, 2, 0}
		}
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, withConfig(func(c *types.TimerConfig) { notifies(c, 4) }))
			f.setWatched(100)
			keys := []types.WatchKey{f.balanceOf(watched)}
			if len(others) < 3 {
				keys[0] = f.when(keys[0], "< 50")
			}
			for _, other := range others {
				keys = append(keys, f.when(f.balanceOf(other), "< 1"))
			}
			for range 5 {
				f.schedule(robot, 0, f.noop(), watching(keys...))
			}
			f.lookAtAll()
			f.setWatched(1)
			for _, want := range wants {
				require.Len(t, f.firedIDs(f.NextBlock()), want)
			}
		})
	}
}
