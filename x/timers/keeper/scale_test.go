package keeper_test

import (
	"bytes"
	"flag"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	corestore "cosmossdk.io/core/store"
	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/testutil/storecount"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// crowd brings timers by genesis: so many, of actors with a hundred each, all alike but for what change does. Fires are
// free, so that no actor needs funds.
func crowd(n int, change func(*types.Timer)) func(*lab.ChainOptions) {
	return func(opts *lab.ChainOptions) {
		genesis := opts.Genesis
		genesis.Config.CycleBasefee, genesis.Config.CellBasefee = decimal.Of(math.LegacyZeroDec()), decimal.Of(math.LegacyZeroDec())
		genesis.Timers = make([]types.Timer, n)
		for i := range genesis.Timers {
			timer := &genesis.Timers[i]
			*timer = types.Timer{
				Actor:    sdk.AccAddress(fmt.Sprintf("robot_%014d", i/100)),
				GasLimit: 40_000, ExpiresAt: 1_000, Seq: uint64(i) + 1, Due: 500,
				Spec: types.TimerSpec{Call: types.TimerCall{Handler: "noop"}},
			}
			change(timer)
			if timer.Spec.Trigger.Watch == nil && timer.Spec.Trigger.Interval == nil && timer.Spec.Trigger.Time == nil {
				timer.Spec.Trigger.Height = timer.Due
			}
			timer.Id = types.TimerID(timer.Actor, timer.Due, timer.Spec.Call.Payload, timer.Seq)
		}
		genesis.NextSeq = uint64(n) + 1
	}
}

// crowded is a chain with a crowd; "noop" is a handler.
func crowded(t *testing.T, n int, change func(*types.Timer), more ...func(*lab.ChainOptions)) *fixture {
	t.Helper()
	f := newFixture(t, append(more, crowd(n, change))...)
	f.robots.scripts["noop"] = func(sdk.Context, types.Delivery) error { return nil }
	return f
}

// endBlock ends a block and opens the next one, without the fixture's checks, which read everything.
func (f *fixture) endBlock() sdk.Events {
	f.t.Helper()
	events, err := f.EndBlock()
	require.NoError(f.t, err)
	require.NoError(f.t, f.BeginBlock())
	return events
}

func TestAnEmptyBlockCostsAConstant(t *testing.T) {
	cost := func(pending int) storecount.Counts {
		var counts *storecount.Counts
		f := crowded(t, pending, func(*types.Timer) {}, counted(&counts))
		f.endBlock()
		counts.Reset()
		f.endBlock()
		return counts.Take()
	}
	few, many := cost(10), cost(20_000)
	require.Equal(t, few, many)
	require.LessOrEqual(t, many.Reads(), 14, "%+v", many)
	require.Zero(t, many.Writes())
}

func TestAQuietBlockWritesNothingForLong(t *testing.T) {
	var counts *storecount.Counts
	f := newFixture(t, counted(&counts))
	f.schedule(robot, 3, f.noop())
	f.blocksUntil(5)
	quiet := 0
	for range 250 {
		counts.Reset()
		f.endBlock()
		if counts.Writes() == 0 {
			quiet++
		}
	}
	require.GreaterOrEqual(t, quiet, 247, "cursors move once in a hundred blocks")
}

func TestSchedulingAndCancellingCostAConstant(t *testing.T) {
	cost := func(pending int) (scheduled, cancelled storecount.Counts) {
		var counts *storecount.Counts
		f := crowded(t, pending, func(*types.Timer) {}, counted(&counts))
		counts.Reset()
		id := f.schedule(robot, 500, []byte("noop"))
		scheduled = counts.Take()
		f.run(&types.MsgCancelTimer{Sender: robot.String(), Id: id})
		return scheduled, counts.Take()
	}
	// The owner index reads at most a full log and a chunk of each run; how many there are now is a matter of when it was
	// merged last.
	for _, pending := range []int{10, 20_000} {
		scheduled, cancelled := cost(pending)
		require.LessOrEqual(t, scheduled.Reads(), 30, "%+v", scheduled)
		require.LessOrEqual(t, scheduled.Writes(), 5, "%+v", scheduled)
		require.LessOrEqual(t, cancelled.Reads(), 40, "%+v", cancelled)
		require.LessOrEqual(t, cancelled.Writes(), 4, "%+v", cancelled)
		require.Zero(t, scheduled.Iterators+cancelled.Iterators)
	}
}

// TestACrowdDueInOneBlock fires 100,000 timers of one height in its long form.
//
// Rule: 5.4-reads-bounded
func TestACrowdDueInOneBlock(t *testing.T) {
	n := sized(5_000, 100_000)
	var counts *storecount.Counts
	f := crowded(t, n, func(timer *types.Timer) { timer.Due = 2 }, counted(&counts), withConfig(func(c *types.TimerConfig) {
		c.LaneTimerCycles, c.CandidateWindow, c.ReceiptRetentionBlocks = 20_000_000, 1_024, 0
	}))
	f.endBlock()
	next := 0
	for blocks := 0; next < n; blocks++ {
		require.LessOrEqual(t, blocks, n/999, "a block fires 999 at 20,000 cycles each, the last one's limit being 40,000")
		counts.Reset()
		events := f.endBlock()
		fired := eventsOf[*types.TimerFired](f, events)
		for _, event := range fired {
			timer := uint64(next) + 1
			actor := sdk.AccAddress(fmt.Sprintf("robot_%014d", next/100))
			require.Equal(t, fmt.Sprintf("%x", types.TimerID(actor, 2, nil, timer)), event.Id, "fire %d", next)
			next++
		}
		// The window and the sweep bound what is scanned; each fire costs a bounded number of operations more.
		require.LessOrEqual(t, counts.Nexts, 1_024+256+16)
		require.LessOrEqual(t, counts.Gets, 24+6*len(fired))
		require.LessOrEqual(t, counts.Writes(), 4+4*len(fired))
		summary := eventsOf[*types.TimerLaneSummary](f, events)[0]
		require.LessOrEqual(t, summary.Cycles, uint64(20_000_000))
	}
	require.NoError(t, f.Check())
}

// TestFireCostUnderOverload drains timers of one height under eip1559, 100,000 in its long form: in order, no block
// doing more than its bounds, and all of it hardly more for each fire than when they fit their blocks.
//
// Rule: 5.4-reads-bounded
func TestFireCostUnderOverload(t *testing.T) {
	drain := func(n int, due func(seq uint64) uint64) (perFire float64, most storecount.Counts) {
		var counts *storecount.Counts
		f := crowded(t, n, func(timer *types.Timer) { timer.Due = due(timer.Seq) }, counted(&counts), withConfig(func(c *types.TimerConfig) {
			inMarket(c)
			c.LaneTimerCycles, c.ReceiptRetentionBlocks = 10_000_000, 2
			// The lane is free, and all weigh the same: the order is that of the queue.
			c.Eip1559.MinLaneBasefee, c.Eip1559.LaneFeeMultiplier, c.WeightMax = decimal.Of(math.LegacyZeroDec()), decimal.Of(math.LegacyZeroDec()), decimal.Of(math.LegacyOneDec())
		}))
		f.endBlock()
		counts.Reset()
		var all storecount.Counts
		for next := uint64(1); next <= uint64(n); {
			for _, event := range eventsOf[*types.TimerFired](f, f.endBlock()) {
				actor := sdk.AccAddress(fmt.Sprintf("robot_%014d", (next-1)/100))
				require.Equal(t, fmt.Sprintf("%x", types.TimerID(actor, due(next), nil, next)), event.Id, "fire %d", next)
				next++
			}
			block := counts.Take()
			all.Add(block)
			most.Max(block)
			require.LessOrEqual(t, f.Height(), uint64(n/499+5), "a block fires 499 at 20,000 cycles each, the last one's limit being 40,000")
		}
		require.NoError(t, f.Check())
		return float64(all.Reads()+all.Writes()) / float64(n), most
	}
	calm, _ := drain(4_990, func(seq uint64) uint64 { return 2 + (seq-1)/499 })
	storm, most := drain(sized(10_000, 100_000), func(uint64) uint64 { return 2 })
	t.Logf("%.1f operations for a fire in a calm, %.1f in a storm; at most %+v in a block", calm, storm, most)
	// Admission costs a scan and two writes, and the index a read and a delete, and a record that was admitted is read again.
	// Reading the summary is little more, and the owner index has more to merge where it is larger. What is done in a calm
	// too does not matter: receipts, which share values, are next to nothing in both.
	require.LessOrEqual(t, storm-calm, 6.5)
	require.LessOrEqual(t, storm, 13.0)
	// Admissions and the sweep bound what is read beside the fires. The block that finds the storm admits from the window that it
	// read.
	require.LessOrEqual(t, most.Nexts, 2_048+256+3*499+400)
	require.LessOrEqual(t, most.Writes(), 3*2_048+15*499)
}

// Sizes of the long forms of these tests; `make test-long` sets larger ones.
var (
	expiredSize = flag.Int("keeper.expired", 8_000, "how many timers have expired while the chain was halted")
	ownersSize  = flag.Int("keeper.owners", 5, "how many owners have a full quota")
)

// While a chain is halted, or its lane paused, timers expire. What a block does with them is bounded, whatever their number,
// and a live one behind them waits for no more blocks than it takes to pass over them.
//
// Rule: 5.1-clean-up, 5.3-rest-later, 5.4-expired-reads
func TestExpiredBacklogDoesNotDelayLiveTimers(t *testing.T) {
	const halt = 30
	expired := *expiredSize
	var counts *storecount.Counts
	// All but the last were due at 2 and expired while the lane was paused; the last lies behind them all.
	f := crowded(t, expired+1, func(timer *types.Timer) {
		timer.Due, timer.ExpiresAt = 2, halt
		if timer.Seq == uint64(expired)+1 {
			timer.Due, timer.ExpiresAt = halt, 1_000_000
		}
	}, counted(&counts), withConfig(func(c *types.TimerConfig) { c.LanePaused = true }))
	for f.Height() < halt {
		require.Empty(t, f.firedIDs(f.endBlock()))
	}
	f.setConfig(func(c *types.TimerConfig) { c.LanePaused = false })
	f.endBlock()

	// A block passes over a window's worth of expired timers, so that a live one behind 20,000 waits for ten at most.
	window := int(f.config().CandidateWindow)
	bound := (expired + window - 1) / window
	perBlock := int(f.config().GcCyclesPerBlock / market.RemovalCycles)
	blocks, removed := 0, 0
	block := func() sdk.Events {
		counts.Reset()
		events := f.endBlock()
		removed += len(eventsOf[*types.TimerExpired](f, events))
		require.LessOrEqual(t, counts.Nexts, 3*window+perBlock+256+16)
		require.LessOrEqual(t, counts.Gets, 16+4*perBlock)
		require.LessOrEqual(t, counts.Writes(), 16+4*perBlock)
		return events
	}
	for fired := false; !fired; blocks++ {
		require.Less(t, blocks, bound)
		fired = len(f.firedIDs(block())) > 0
	}
	require.Less(t, removed, expired, "it did not wait for the clean-up")
	require.NoError(t, f.Check())

	// The clean-up continues at its own pace and misses none.
	for ; removed < expired; blocks++ {
		require.LessOrEqual(t, blocks, expired/perBlock)
		block()
	}
	require.Equal(t, expired, removed)
	require.Empty(t, f.export().Timers)
}

// TestOwnersWithAFullQuota: what owners cost who have as many timers as they may does not depend on how many such owners
// there are, nor on whose turn it is.
func TestOwnersWithAFullQuota(t *testing.T) {
	const fires = 3
	owner := func(i int) sdk.AccAddress { return sdk.AccAddress(fmt.Sprintf("robot_%014d", i)) }
	type costs struct{ empty, refused, cancelled, scheduled, fired storecount.Counts }
	cost := func(owners int) (c costs) {
		var counts *storecount.Counts
		quota := int(types.DefaultTimerConfig("stake").MaxTimersPerActor)
		f := crowded(t, owners*quota, func(timer *types.Timer) {
			timer.Actor = owner(int(timer.Seq-1) / quota)
			if int(timer.Seq-1)%quota < fires && timer.Seq <= uint64(quota) {
				timer.Due = 8
			}
		}, counted(&counts))
		f.endBlock()
		counts.Reset()
		f.endBlock()
		c.empty = counts.Take()
		last := owner(owners - 1)
		one := scheduleMsg(last, 500, []byte("noop"))
		f.refused(types.ErrTooManyTimers, one)
		c.refused = counts.Take()
		id := types.TimerID(last, 500, nil, uint64(owners*quota))
		f.run(&types.MsgCancelTimer{Sender: last.String(), Id: fmt.Sprintf("%x", id)})
		c.cancelled = counts.Take()
		f.run(one)
		c.scheduled = counts.Take()
		f.refused(types.ErrTooManyTimers, one)
		for f.Height() < 8 {
			f.endBlock()
		}
		counts.Reset()
		require.Len(t, f.firedIDs(f.endBlock()), fires)
		c.fired = counts.Take()
		return c
	}
	few, many := cost(2), cost(*ownersSize)
	require.Equal(t, few.empty, many.empty)
	// How many chunks the owner index has, and in which block it merges some, differs within its bounds.
	for _, c := range []storecount.Counts{few.refused, many.refused, few.cancelled, many.cancelled, few.scheduled, many.scheduled} {
		require.LessOrEqual(t, c.Reads(), 40)
		require.LessOrEqual(t, c.Writes(), 10)
	}
	for _, c := range []storecount.Counts{few.fired, many.fired} {
		require.LessOrEqual(t, c.Reads()+c.Writes(), 40+20*fires)
	}
	t.Logf("%d owners with a full quota: %+v", *ownersSize, many)
}

// Rule: 5.4-expired-reads
func TestExpiredTimersBehindALongBacklogLeaveToo(t *testing.T) {
	// 3,000 ready ones fill the window for a while; behind them, and among them, some expire.
	f := crowded(t, 4_000, func(timer *types.Timer) {
		timer.Due = 2
		if timer.Seq%4 == 0 || timer.Seq > 3_900 {
			timer.ExpiresAt = 4
		}
	}, withConfig(func(c *types.TimerConfig) { c.CandidateWindow, c.LanePaused = 512, true }))
	gone := 0
	for f.Height() < 40 {
		gone += len(eventsOf[*types.TimerExpired](f, f.endBlock()))
	}
	require.Equal(t, 1_000+75, gone, "the sweep reaches what the window does not")
	require.NoError(t, f.Check())
}

func TestNothingIsLeftBehindWhenTimersAreGone(t *testing.T) {
	var service corestore.KVStoreService
	f := newFixture(t, withConfig(func(c *types.TimerConfig) { c.ReceiptRetentionBlocks = 0 }), func(opts *lab.ChainOptions) {
		opts.WrapStore = func(s corestore.KVStoreService) corestore.KVStoreService { service = s; return s }
	})
	// Every way of leaving, after every way of moving, with payloads here and apart.
	var ids []string
	for i := range 60 {
		id := f.schedule(robot, 3+uint64(i)%5, make([]byte, 20*i), expiring(8))
		f.run(&types.MsgUpdateTimer{Sender: robot.String(), Id: id, Spec: types.TimerSpec{Call: types.TimerCall{Payload: make([]byte, 1_000-16*i)}}, Fields: []string{"call"}})
		f.run(&types.MsgExtendTimer{Sender: robot.String(), Id: id, ExpiresAt: 8 + uint64(i)%4})
		ids = append(ids, id)
	}
	for _, id := range ids[:20] {
		f.run(&types.MsgCancelTimer{Sender: robot.String(), Id: id})
	}
	f.setConfig(func(c *types.TimerConfig) { c.MaxFiresPerBlock = 3 })
	events := f.blocksUntil(13)
	require.NotEmpty(t, f.firedIDs(events))
	require.NotEmpty(t, eventsOf[*types.TimerExpired](f, events))
	require.Zero(t, f.total(robot))

	require.Equal(t, [][]byte{types.PrefixConfig.Bytes(), types.PrefixSeq.Bytes(), types.PrefixLane.Bytes()}, keysLeft(f, service))
}

// keysLeft returns all keys of the store but those of the log in which the owner index keeps changes, which came to
// nothing, until it is merged: they are of one range.
func keysLeft(f *fixture, service corestore.KVStoreService) (keys [][]byte) {
	f.t.Helper()
	iterator, err := service.OpenKVStore(f.Ctx()).Iterator(nil, nil)
	require.NoError(f.t, err)
	defer iterator.Close()
	logged := 0
	for ; iterator.Valid(); iterator.Next() {
		if key := iterator.Key(); bytes.HasPrefix(key, types.PrefixOwners.Bytes()) {
			logged++
		} else {
			keys = append(keys, key)
		}
	}
	require.LessOrEqual(f.t, logged, 1+8, "the head of the range, and less than a full log")
	return keys
}
