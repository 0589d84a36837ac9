package keeper_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	corestore "cosmossdk.io/core/store"
	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// mayBeMissing are the collections of which an entry may be missing without a broken invariant, and why.
var mayBeMissing = map[byte]string{
	types.PrefixReceipts.Bytes()[0]:     "a receipt is dropped with its block's, and nothing refers to it",
	types.PrefixNextConfig.Bytes()[0]:   "there may be none",
	types.PrefixAgents.Bytes()[0]:       "an actor may have none",
	types.PrefixWatchPending.Bytes()[0]: "a change of which no one has been told",
	types.PrefixBounds.Bytes()[0]:       "a list that is empty has no need of a bound",
}

// inUse runs a history that leaves something in every collection, or under another policy, and stops at the end of a
// block. It returns the module's store.
func inUse(t *testing.T, seed uint64, policy types.Policy) (*fixture, corestore.KVStoreService) {
	t.Helper()
	var service corestore.KVStoreService
	h := newHistory(t, seed, policy, withConfig(func(c *types.TimerConfig) {
		c.MaxFiresPerBlock = 8
		notifies(c, 10)
	}), func(opts *lab.ChainOptions) {
		opts.WrapStore = func(s corestore.KVStoreService) corestore.KVStoreService { service = s; return s }
	})
	f := h.fixture
	for range 20 {
		h.block()
	}
	small := limited(60_000)
	f.schedule(robot, f.Height()+50, make([]byte, types.InlinePayloadBytes+1), small, withName("rent"))
	if policy == types.PolicyAuction {
		f.schedule(robot, f.Height()+50, f.noop(), small, bidding(price("7")))
	}
	f.schedule(robot, 0, f.noop(), small, watching(f.when(f.balanceOf(watched), "< 100"), f.balanceOf(bob)))
	f.schedule(robot, 0, f.noop(), small, watching(f.when(f.balanceOf(watched), ">= 7")), times(0))
	f.run(&types.MsgSetAgent{Sender: robot.String(), Agent: f.agent("its own", answers(10, "100", "1", "100")).String()})
	for i := range 12 {
		f.fund(crowdOwner(i), rich)
		f.schedule(crowdOwner(i), 0, f.noop(), small, watching(f.balanceOf(carol)), times(0))
	}
	// More is ready than competes, and more has changed than one block looks at.
	due := f.Height() + 2
	for range 100 {
		f.schedule(robot, due, f.noop(), small)
	}
	f.schedule(robot, 0, f.noop(), small, watching(f.balanceOf(crowdOwner(98)), f.balanceOf(crowdOwner(99))), expiring(due))
	f.blocksUntil(due - 1)
	f.setConfig(func(c *types.TimerConfig) { lab.SetOverhead(c, market.RemoveKey, 2) })
	f.run(f.send(alice, watched, 1), f.send(alice, carol, 1))
	f.NextBlock()
	f.run(f.send(alice, carol, 1))
	f.setConfig(func(c *types.TimerConfig) { c.MaxFiresPerBlock++ })
	_, err := f.EndBlock()
	require.NoError(t, err)
	require.NoError(t, f.Check())
	t.Cleanup(func() { require.NoError(t, f.BeginBlock()) })
	return f, service
}

// TestInvariantsNoticeWhatIsMissing: no entry of a collection can be lost without a broken invariant, but of those that
// say why.
//
// Rule: 2.2-one-record, 2.2-ready-index, 2.2-hits-and-turns, 2.2-conditions-placed, 2.2-tombstones, 2.2-cursors
func TestInvariantsNoticeWhatIsMissing(t *testing.T) {
	seen, unnoticed := map[byte]int{}, map[byte]int{}
	var f *fixture
	for i, policy := range historyPolicies {
		var service corestore.KVStoreService
		f, service = inUse(t, uint64(i), policy)
		for prefix, keys := range keysOf(t, f, service) {
			for _, key := range keys[:min(len(keys), sized(4, 1_000))] {
				ctx, _ := f.Ctx().CacheContext()
				require.NoError(t, service.OpenKVStore(ctx).Delete(key))
				seen[prefix]++
				if f.Timers.CheckInvariants(ctx) == nil {
					unnoticed[prefix]++
				}
			}
		}
	}
	for prefix := range unnoticed {
		require.Contains(t, mayBeMissing, prefix, "%d of %d entries of collection %d can be lost", unnoticed[prefix], seen[prefix], prefix)
	}
	for prefix, why := range mayBeMissing {
		require.Positive(t, unnoticed[prefix], "collection %d: %s", prefix, why)
	}
	for _, collection := range f.Timers.Schema().ListCollections() {
		require.Positive(t, seen[collection.GetPrefix()[0]], collection.GetName())
	}
}

// keysOf are the keys of the module's store by their collection.
func keysOf(t *testing.T, f *fixture, service corestore.KVStoreService) map[byte][][]byte {
	t.Helper()
	all, err := service.OpenKVStore(f.Ctx()).Iterator(nil, nil)
	require.NoError(t, err)
	keys := map[byte][][]byte{}
	for ; all.Valid(); all.Next() {
		prefix := all.Key()[0]
		keys[prefix] = append(keys[prefix], all.Key())
	}
	require.NoError(t, all.Close())
	return keys
}

// TestInvariantsNoticeWhatIsWrong: each change makes a record say what can't be, and applies to some timer.
func TestInvariantsNoticeWhatIsWrong(t *testing.T) {
	set := func(change func(*types.Timer)) func(*types.Timer, uint64) bool {
		return func(timer *types.Timer, _ uint64) bool { change(timer); return true }
	}
	outcome := func(at uint64) *types.Outcome { return &types.Outcome{Success: true, Height: at, Paid: math.ZeroInt()} }
	invalid := &types.AgentQuote{MaxFeePerCycle: math.LegacyNewDec(-1), MaxPriorityFeePerCycle: math.LegacyZeroDec(), MaxFeePerCell: math.LegacyZeroDec()}
	changes := map[string]func(t *types.Timer, now uint64) (applies bool){
		"its actor is another one":           set(func(t *types.Timer) { t.Actor = carol }),
		"a payload that is not there":        set(func(t *types.Timer) { t.PayloadSeq = 1 << 40 }),
		"coins that no one locked":           set(func(t *types.Timer) { t.SetLocked(t.Locked().AddRaw(1)) }),
		"a name of no entry":                 set(func(t *types.Timer) { t.Spec.Name = "another" }),
		"no trigger":                         set(func(t *types.Timer) { t.Spec.Trigger = types.Trigger{} }),
		"an answer below zero":               set(func(t *types.Timer) { t.LastAnswer = invalid }),
		"an unknown answer to lack of funds": set(func(t *types.Timer) { t.Spec.OnUnfunded = 99 }),
		"tried and never delivered":          set(func(t *types.Timer) { t.Tried, t.Deliveries = true, 0 }),
		"more deliveries than fires":         set(func(t *types.Timer) { t.Deliveries = uint64(t.FireSeq) + 1 }),
		"due since later than it is due":     set(func(t *types.Timer) { t.Since = t.Due + 1 }),
		"retries of what was not tried":      set(func(t *types.Timer) { t.Tried, t.Retries = false, 1 }),
		"unfunded since the next block":      func(t *types.Timer, now uint64) bool { t.UnfundedSince = now + 1; return true },
		"an outcome of the next block": func(t *types.Timer, now uint64) bool {
			t.LastOutcome = outcome(now + 1)
			return t.FireSeq > 0 && (t.Recurs() || t.Spec.Retry != nil)
		},
		"an outcome before the first fire": func(t *types.Timer, now uint64) bool {
			t.LastOutcome = outcome(now)
			return t.FireSeq == 0 && (t.Recurs() || t.Spec.Retry != nil)
		},
		"an outcome paid with less than nothing": func(t *types.Timer, now uint64) bool {
			t.LastOutcome = &types.Outcome{Height: now, Paid: math.NewInt(-1)}
			return t.FireSeq > 0 && (t.Recurs() || t.Spec.Retry != nil)
		},
		"waits for nothing": func(t *types.Timer, _ uint64) bool {
			t.Spec.Trigger = types.Trigger{Height: 9}
			return t.HoldReason == types.Watching
		},
		"watches another key": func(t *types.Timer, _ uint64) bool {
			watch := t.Spec.Trigger.Watch
			if watch != nil {
				t.Spec.Trigger.Watch = &types.WatchTrigger{Keys: []types.WatchKey{{Store: "bank", Prefix: []byte{2, 1, 1}}}}
			}
			return watch != nil
		},
		"waits until another height": func(t *types.Timer, _ uint64) bool { t.ExpiresAt++; return t.HoldReason == types.Watching },
	}
	applied := map[string]int{}
	for i, policy := range historyPolicies {
		f, _ := inUse(t, uint64(i), policy)
		records := f.Timers.Engine().Records
		timers, err := records.All(f.Ctx())
		require.NoError(t, err)
		for name, change := range changes {
			for _, timer := range timers {
				if !change(&timer, f.Height()) {
					continue
				}
				ctx, _ := f.Ctx().CacheContext()
				require.NoError(t, records.Put(ctx, &timer))
				require.Error(t, f.Timers.CheckInvariants(ctx), "%s: %s", name, &timer)
				if applied[name]++; applied[name]%sized(2, 1_000) == 0 {
					break
				}
			}
		}
	}
	for name := range changes {
		require.Positive(t, applied[name], name)
	}
}

// TestInvariantsNoticeAWrongLane: cursors behind which nothing that can fire must be, and sums.
//
// Rule: 2.2-cursors
func TestInvariantsNoticeAWrongLane(t *testing.T) {
	end := types.QueueKey{Due: 1 << 40}
	for i, policy := range historyPolicies {
		f, _ := inUse(t, uint64(i), policy)
		engine := f.Timers.Engine()
		for name, change := range map[string]func(*types.LaneState){
			"head":           func(l *types.LaneState) { l.HeadCursor = end },
			"live":           func(l *types.LaneState) { l.LiveCursor = end },
			"receipts":       func(l *types.LaneState) { l.ReceiptsFrom = f.Height() + 1 },
			"median":         func(l *types.LaneState) { l.Fairness.Median++ },
			"units":          func(l *types.LaneState) { l.Fairness.Units++ },
			"units below it": func(l *types.LaneState) { l.Fairness.Below++ },
			"window": func(l *types.LaneState) {
				if l.Fairness.From = end.Due; l.Fairness.Units == 0 { // The policy counts no fires.
					l.HeadCursor = end
				}
			},
		} {
			ctx, _ := f.Ctx().CacheContext()
			lane, err := engine.Lane.Get(ctx)
			require.NoError(t, err)
			change(&lane)
			require.NoError(t, engine.Lane.Set(ctx, lane))
			require.Error(t, f.Timers.CheckInvariants(ctx), "%s under %s", name, policy)
		}
	}
}
