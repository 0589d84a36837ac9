package keeper_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/collections"

	sdk "github.com/cosmos/cosmos-sdk/types"
	sdkquery "github.com/cosmos/cosmos-sdk/types/query"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/testutil/storecount"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// crowdOfWatches is a chain on which some timers, of eight keys each, expire at a height. All watch a balance of bob's, and each
// seven keys that no one else watches, with a condition or without.
func crowdOfWatches(t *testing.T, timers int, expiry uint64, when *types.WatchCondition, more ...func(*lab.ChainOptions)) *fixture {
	t.Helper()
	n := 0
	return crowded(t, timers, func(timer *types.Timer) {
		waitForBob(timer)
		timer.ExpiresAt = expiry
		for range 7 {
			key := append([]byte{2, 20}, memberOf(n)...)
			timer.Spec.Trigger.Watch.Keys = append(timer.Spec.Trigger.Watch.Keys,
				types.WatchKey{Store: "bank", Prefix: append(key, "stake"...), When: when})
			n++
		}
	}, more...)
}

// memberOf are the accounts that such a crowd watches.
func memberOf(i int) sdk.AccAddress { return sdk.AccAddress(fmt.Sprintf("crowd_%014d", i)) }

// conditionsOfCrowds are those under which crowds of watches are tried.
var conditionsOfCrowds = map[string]*types.WatchCondition{
	"changes": nil, "conditions": {Op: types.ConditionGreater, Value: "1000000000000"},
}

// TestACrowdThatLeavesLeavesItsKeysToLaterBlocks: a crowd whose timers watch many keys expires in one block. Each block removes
// the entries of a bounded number of keys, in the end of all. Meanwhile no one sees them: queries do not list them, and
// a bystander who watches one of the keys is notified in time.
//
// Rule: 1.10-tombstones
func TestACrowdThatLeavesLeavesItsKeysToLaterBlocks(t *testing.T) {
	const timers, keysOfEach, sweep, budget, expiry = 40, 8, 48, 24, 5
	for name, when := range conditionsOfCrowds {
		t.Run(name, func(t *testing.T) {
			var counts *storecount.Counts
			f := crowdOfWatches(t, timers, expiry, when, withConfig(func(c *types.TimerConfig) { lab.SetOverhead(c, market.RemoveKey, sweep/2) }), counted(&counts))
			f.schedule(robot, 0, f.noop(), watching(f.balanceOf(memberOf(0))), times(0))
			for f.Height() <= expiry {
				f.endBlock()
			}
			listed := func() (ids []string) {
				page := &sdkquery.PageRequest{Limit: 3}
				for pages := 0; ; pages++ {
					require.Less(t, pages, timers*keysOfEach)
					response, err := f.query().Watches(f.Ctx(), &types.QueryWatchesRequest{Store: "bank", Pagination: page})
					require.NoError(t, err)
					for _, w := range response.Watches {
						ids = append(ids, w.TimerId)
					}
					if page.Key = response.Pagination.NextKey; page.Key == nil {
						return ids
					}
				}
			}
			expired, blocks := 0, 0
			for ; expired < timers || f.valuesOf(types.PrefixWatches) > 1; blocks++ {
				require.Less(t, blocks, 2*timers*keysOfEach/budget)
				f.run(f.send(alice, memberOf(0), 1))
				counts.Reset()
				events := f.endBlock()
				gone := len(eventsOf[*types.TimerExpired](f, events))
				expired += gone
				// Beside the entries a timer leaves by some ten writes, and the bystander's fire has some more.
				require.LessOrEqual(t, counts.Writes(), 25+10*gone+5*budget, "%d expired", gone)
				require.LessOrEqual(t, counts.Reads(), 100+5*gone, "whatever else has left")
				require.Len(t, f.firedIDs(events), 1, "the bystander's, in the block of the change")
				require.NoError(t, f.Check())
				if expired == timers {
					require.Len(t, listed(), 1)
				}
			}
			require.Greater(t, blocks, timers*keysOfEach/budget-2)
			f.endBlock()
			require.Zero(t, f.valuesOf(types.PrefixTombstones))
			require.Equal(t, 2, f.valuesOf(types.PrefixWatched), "of the key and of the store")
			require.NoError(t, f.Check())
		})
	}
}

// TestACrowdThatLeavesGoesOnInAnotherChain: what it left is exported, and removed there in the same blocks.
//
// Rule: 1.10-tombstones, 2.1-round-trip
func TestACrowdThatLeavesGoesOnInAnotherChain(t *testing.T) {
	const timers, expiry = 20, 3
	for name, when := range conditionsOfCrowds {
		t.Run(name, func(t *testing.T) {
			f := crowdOfWatches(t, timers, expiry, when, withConfig(func(c *types.TimerConfig) { lab.SetOverhead(c, market.RemoveKey, 20) }))
			f.blocksUntil(expiry + 2)
			_, err := f.EndBlock()
			require.NoError(t, err)
			genesis := f.export()
			require.Empty(t, genesis.Timers)
			require.Greater(t, len(genesis.WatchTombstones), timers/4)
			again := imported(t, f, genesis)
			require.NoError(t, f.BeginBlock())
			for f.valuesOf(types.PrefixTombstones) > 0 {
				require.Equal(t, f.valuesOf(types.PrefixWatches), again.valuesOf(types.PrefixWatches))
				f.endBlock()
				again.endBlock()
				require.Equal(t, comparableState(f), comparableState(again))
				require.NoError(t, again.Check())
			}
			require.Zero(t, again.valuesOf(types.PrefixWatches))
		})
	}
}

// valuesOf counts the values that the module's store has in a region.
func (f *fixture) valuesOf(region collections.Prefix) (n int) {
	f.WalkState(func(store string, key, _ []byte) {
		if store == types.StoreKey && bytes.HasPrefix(key, region.Bytes()) {
			n++
		}
	})
	return n
}
