package keeper_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	corestore "cosmossdk.io/core/store"
	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"
	sdkquery "github.com/cosmos/cosmos-sdk/types/query"

	"github.com/cosmos-timers/timers/x/timers/lab"
	"github.com/cosmos-timers/timers/x/timers/testutil/storecount"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// TestACrowdThatLeavesLeavesItsKeysToLaterBlocks: a crowd whose timers watch many keys expires in one block. Each block removes
// the entries of a bounded number of keys, in the end of all. Meanwhile nobody sees them: queries do not list them, and
// a bystander who watches one of the keys is notified in time.
//
// Rule: 1.10-leavers
func TestACrowdThatLeavesLeavesItsKeysToLaterBlocks(t *testing.T) {
	const timers, keysOfEach, sweep, budget, expiry = 40, 8, 48, 24, 5
	for name, when := range map[string]*types.WatchCondition{
		"changes": nil, "conditions": {Op: types.ConditionGreater, Value: "1000000000000"},
	} {
		t.Run(name, func(t *testing.T) {
			var counts *storecount.Counts
			var service corestore.KVStoreService
			account := func(i int) sdk.AccAddress { return sdk.AccAddress(fmt.Sprintf("crowd_%014d", i)) }
			n := 0
			f := crowded(t, timers, func(timer *types.Timer) {
				waitForBob(timer)
				timer.ExpiresAt = expiry
				for range keysOfEach - 1 {
					key := append([]byte{2, 20}, account(n)...)
					timer.Trigger.Watch.Keys = append(timer.Trigger.Watch.Keys,
						types.WatchKey{Store: "bank", Prefix: append(key, "stake"...), When: when})
					n++
				}
			}, withConfig(func(c *types.TimerConfig) { c.SweepPerBlock = sweep }), counted(&counts), func(opts *lab.ChainOptions) {
				wrap := opts.WrapStore
				opts.WrapStore = func(s corestore.KVStoreService) corestore.KVStoreService { service = wrap(s); return service }
			})
			f.schedule(robot, 0, f.noop(), watching(f.balanceOf(account(0))), times(0))
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
			for ; expired < timers || len(entriesOf(t, f, service, types.PrefixWatches)) > 1; blocks++ {
				require.Less(t, blocks, 2*timers*keysOfEach/budget)
				f.run(f.send(alice, account(0), 1))
				counts.Reset()
				events := f.endBlock()
				gone := len(eventsOf[*types.TimerExpired](f, events))
				expired += gone
				// Beside the entries a timer leaves by some ten writes, and the bystander's fire has some more.
				require.LessOrEqual(t, counts.Writes(), 25+10*gone+5*budget, "%d expired", gone)
				require.Len(t, f.firedIDs(events), 1, "the bystander's, in the block of the change")
				require.NoError(t, f.Check())
				if expired == timers {
					require.Len(t, listed(), 1)
				}
			}
			require.Greater(t, blocks, timers*keysOfEach/budget-2)
			f.endBlock()
			require.Empty(t, entriesOf(t, f, service, types.PrefixLeavers))
			require.Len(t, entriesOf(t, f, service, types.PrefixWatched), 2, "of the key and of the store")
			require.NoError(t, f.Check())
		})
	}
}

// entriesOf are the keys of a region.
func entriesOf(t *testing.T, f *fixture, service corestore.KVStoreService, region interface{ Bytes() []byte }) (keys [][]byte) {
	t.Helper()
	iterator, err := service.OpenKVStore(f.Ctx()).Iterator(region.Bytes(), storetypes.PrefixEndBytes(region.Bytes()))
	require.NoError(t, err)
	for ; iterator.Valid(); iterator.Next() {
		keys = append(keys, iterator.Key())
	}
	require.NoError(t, iterator.Close())
	return keys
}
