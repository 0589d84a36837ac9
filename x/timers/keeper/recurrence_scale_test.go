package keeper_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/testutil/storecount"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// costOfFires is what so many fires of one block do to the store of the timers.
func costOfFires(t *testing.T, n int, change func(*types.Timer)) storecount.Counts {
	t.Helper()
	var counts *storecount.Counts
	f := crowded(t, 200, func(timer *types.Timer) {
		if timer.Seq <= uint64(n) {
			timer.Due = 2
		}
		timer.Actor = sdk.AccAddress(fmt.Sprintf("robot_%014d", timer.Seq))
		change(timer)
	}, counted(&counts), withConfig(func(c *types.TimerConfig) { c.LaneTimerCycles = 50_000_000 }))
	f.endBlock()
	counts.Reset()
	require.Len(t, f.firedIDs(f.endBlock()), n)
	return counts.Take()
}

// TestWhatAFireCostsByItsTrigger: in store operations of a hundred fires more in a block. What the steps of a block change is
// written at its end, some dozens of records to a value: so a fire costs a part of an operation, whether it repeats or not.
func TestWhatAFireCostsByItsTrigger(t *testing.T) {
	more := func(change func(*types.Timer)) storecount.Counts {
		few, many := costOfFires(t, 20, change), costOfFires(t, 120, change)
		return storecount.Counts{
			Gets: many.Gets - few.Gets, Sets: many.Sets - few.Sets, Deletes: many.Deletes - few.Deletes, Nexts: many.Nexts - few.Nexts,
		}
	}
	once := more(func(*types.Timer) {})
	require.LessOrEqual(t, once.Gets, 10, "%+v", once)
	require.LessOrEqual(t, once.Writes(), 10, "%+v", once)
	require.Zero(t, once.Nexts)
	for name, trigger := range map[string]types.Trigger{
		"once in 7": {Interval: &types.IntervalTrigger{Every: 7}},
		"for long":  {Interval: &types.IntervalTrigger{Every: 1_000_000}},
	} {
		again := more(func(timer *types.Timer) {
			timer.Spec.Trigger, timer.Start, timer.ExpiresAt = trigger, timer.Due, 2_000_000
		})
		require.LessOrEqual(t, again.Gets, 30, "%s: %+v", name, again)
		require.LessOrEqual(t, again.Writes(), 40, "%s: %+v", name, again)
		require.LessOrEqual(t, again.Nexts, 2, name)
	}
}

// TestAnUnwatchedTransferCostsLookupsAlone: of the timers' store, one for each of the bank's writes while no one
// watches the bank, and, however many watch others, one more for each prefix of the key that could be watched. The bank
// does what it did.
func TestAnUnwatchedTransferCostsLookupsAlone(t *testing.T) {
	transfer := func(watching int, changes ...func(*lab.ChainOptions)) *storecount.Multi {
		f := newFixture(t, changes...)
		for range watching {
			f.schedule(robot, 0, f.noop(), watchingKeys(f, carol))
		}
		f.NextBlock()
		multi, counts := storecount.WrapMulti(f.Ctx().MultiStore(), nil)
		require.NoError(t, f.Bank.SendCoins(f.Ctx().WithMultiStore(multi), alice, bob, f.coins(1)))
		return counts
	}
	unwrapped := transfer(0, func(opts *lab.ChainOptions) { opts.Unwatched = true })
	writes := unwrapped.Store("bank").Sets + unwrapped.Store("bank").Deletes
	require.Equal(t, 4, writes, "two balances, and the bank's index of them")
	require.Zero(t, unwrapped.Store(types.StoreKey))
	// A balance can be watched whole and by its address, an entry of the index whole.
	for watching, lookups := range map[int]int{0: writes, 1: writes + 2*2 + 2, 500: writes + 2*2 + 2} {
		counts := transfer(watching)
		require.Equal(t, unwrapped.Store("bank"), counts.Store("bank"), "%d watch others", watching)
		require.Equal(t, storecount.Counts{Gets: lookups}, counts.Store(types.StoreKey), "%d watch others", watching)
		require.Zero(t, counts.Store("transient_timers"), "%d watch others", watching)
	}
}

// watchingKeys waits for a balance and for all balances of an account.
func watchingKeys(f *fixture, account sdk.AccAddress) func(*types.MsgScheduleTimer) {
	return watching(f.balanceOf(account), f.key("bank:balances:"+account.String()))
}
