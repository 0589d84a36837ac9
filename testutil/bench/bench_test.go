package bench

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"testing"

	dbm "github.com/cosmos/cosmos-db"
	"github.com/stretchr/testify/require"

	"cosmossdk.io/log"
	"cosmossdk.io/store"
	"cosmossdk.io/store/metrics"
	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos-timers/timers/x/timers/testutil/storecount"
)

// The bounds are what was measured, with little room: whoever makes timers dearer has to say so here.

func TestNodesPerLifetimeStayWithinTheirBound(t *testing.T) {
	for _, c := range []struct {
		policy         Policy
		receiptBlocks  uint64
		nodes, receipt float64
	}{
		{FIFO, 0, 10, 0},
		{FIFO, 4, 12, 2.2},
		{EIP1559, 0, 12, 0},
		{EIP1559, 4, 14, 2.2},
	} {
		t.Run(fmt.Sprintf("%s, receipts of %d blocks", c.policy, c.receiptBlocks), func(t *testing.T) {
			l, err := MeasureLifetime(DefaultWorkload(10_000, c.policy, c.receiptBlocks, 1))
			require.NoError(t, err)
			require.Less(t, l.Nodes, c.nodes)
			require.LessOrEqual(t, l.Receipts, c.receipt)
			if c.policy == FIFO {
				require.Zero(t, l.Fairness, "a policy that does not weigh actors counts nothing")
			}
			require.Less(t, l.Fairness, 1.75)
			// The workload was what it says: about as many fires as schedules, about as many pending as stated, and the
			// floor of one set and one delete is the two leaves' worth that it has always been.
			require.InDelta(t, 500, l.FiresPerBlock, 25)
			require.InDelta(t, 10_000, l.MeanPending, 250)
			require.InDelta(t, 2.05, l.Floor, 0.1)
			require.InDelta(t, l.Nodes, l.Queue+l.Actors+l.Receipts+l.Fairness+l.Rest, 1e-9)
			require.Less(t, l.Rest, 0.1, "counters, config and lane state are written once a block, not once a timer")
		})
	}
}

func TestTheSameSeedCountsTheSame(t *testing.T) {
	w := DefaultWorkload(2_000, EIP1559, 0, 7)
	w.Schedules, w.Cancels = 100, 10
	first, err := MeasureLifetime(w)
	require.NoError(t, err)
	again, err := MeasureLifetime(w)
	require.NoError(t, err)
	require.Equal(t, first, again)
	w.Seed = 8
	other, err := MeasureLifetime(w)
	require.NoError(t, err)
	require.NotEqual(t, first.Nodes, other.Nodes)
}

func TestAnEmptyBlockCostsTheSameWhateverIsPending(t *testing.T) {
	few, err := MeasureEmpty(10, 1)
	require.NoError(t, err)
	many, err := MeasureEmpty(10_000, 1)
	require.NoError(t, err)
	require.Equal(t, few.PerBlock, many.PerBlock)
	require.LessOrEqual(t, few.Most.Reads(), 12)
	require.Zero(t, few.Sum.Deletes)
	require.LessOrEqual(t, few.Sum.Sets, 1+emptyBlocks/100, "a quiet block writes nothing, but for the cursors from time to time")
}

func TestAStormsBlocksStayWithinTheirBounds(t *testing.T) {
	const due = 20_000
	for _, c := range []struct {
		policy Policy
		bids   Bids
		lane   uint64
		// most of the phases, by their names.
		most map[string]stormBounds
	}{
		{FIFO, DefaultBids, 2_000_000, map[string]stormBounds{phaseWindow: {0, 1.45, 1.2}}},
		{EIP1559, DefaultBids, 2_000_000, map[string]stormBounds{
			phaseAdmitting: {9.5, 8.7, 4.4}, phaseSettling: {7.5, 2.9, 1.9}, phaseSettled: {4, 2.3, 1.6},
		}},
		{EIP1559, PoisonBids, 2_000_000, map[string]stormBounds{
			phaseAdmitting: {1.5, 9, 4.5}, phaseSettling: {2.15, 2.4, 1.65}, phaseSettled: {2.15, 2.4, 1.65},
		}},
		{EIP1559, LognormalBids, wideLaneCycles, map[string]stormBounds{
			phaseAdmitting: {1.6, 2.5, 1.5}, phaseSettling: {1.6, 1.5, 1.2}, phaseSettled: {1.6, 1.5, 1.2},
		}},
	} {
		t.Run(fmt.Sprintf("%s, %s bids, a lane of %d", c.policy, c.bids.Name, c.lane), func(t *testing.T) {
			phases, err := MeasureStorm(StormSpec{
				Policy: c.policy, Bids: c.bids, LaneCycles: c.lane, Due: due, Owners: due / 100, Seed: 1,
			})
			require.NoError(t, err)
			for _, s := range phases {
				if s.Phase == phaseWhole {
					continue
				}
				require.InDelta(t, float64(c.lane)/37_000, float64(s.Storm.Fires)/stormSamples, float64(c.lane)/370_000, "the lane is full")
				require.InDelta(t, s.Calm.Fires, s.Storm.Fires, float64(s.Calm.Fires)/20)
				require.Zero(t, s.Calm.Heads+s.Calm.Beyond, "no calm has a ready index")
				require.Greater(t, operations(s.Storm.All), operations(s.Storm.Module))
				most, known := c.most[s.Phase]
				require.True(t, known, s.Phase)
				require.LessOrEqual(t, s.Storm.PerFire(s.Storm.Heads+s.Storm.Beyond), most.entries, s.Phase)
				require.LessOrEqual(t, s.ModuleRatio(), most.module, s.Phase)
				require.LessOrEqual(t, s.AllRatio(), most.all, s.Phase)
			}
			if c.policy == FIFO {
				require.Len(t, phases, 1)
				storm, calm := phases[0].Storm, phases[0].Calm
				require.Equal(t, calm.All.Sets, storm.All.Sets, "what is deferred is not written")
				require.Equal(t, calm.All.Deletes, storm.All.Deletes)
				const windowAndSweep = 2_048 + 256
				require.LessOrEqual(t, operations(storm.Module)-operations(calm.Module), stormSamples*(windowAndSweep+8))
			}
		})
	}
}

// stormBounds are entries of the ready index per fire, heads and beyond, and ratios of operations to those of the calm:
// on the timers store, and on all.
type stormBounds struct{ entries, module, all float64 }

func TestAStormTooSmallToCountIsRefused(t *testing.T) {
	_, err := MeasureStorm(StormSpec{Policy: EIP1559, Bids: DefaultBids, LaneCycles: 2_000_000, Due: 5_000, Owners: 50})
	require.ErrorContains(t, err, "5000 due")
}

func TestStormTotalIsTheSumOfItsPhases(t *testing.T) {
	cost := func(fires, gets int) BlockCost {
		return BlockCost{Blocks: 4, Fires: fires, Module: storecount.Counts{Gets: gets}, All: storecount.Counts{Gets: 2 * gets}}
	}
	phase := func(gets int, millis float64) Storm {
		return Storm{Spec: StormSpec{Due: 1_000}, Storm: cost(40, gets), Calm: cost(40, 400), Millis: millis}
	}
	w := whole([]Storm{phase(4_000, 30), phase(2_000, 20), phase(800, 10)}, 20, 10)
	require.Equal(t, phaseWhole, w.Phase)
	// 20 blocks of 10 fires at 1,000 operations, 10 at 500, and 70 at 200.
	require.Equal(t, 1_000, w.Storm.Fires)
	require.Equal(t, 20*1_000+10*500+70*200, w.Storm.Module.Gets)
	require.InDelta(t, 3.9, w.ModuleRatio(), 1e-9)
	require.InDelta(t, 3.9, w.AllRatio(), 1e-9)
	require.InDelta(t, 15, w.Millis, 1e-9)
}

func TestNewcomersDoNotWaitForAStorm(t *testing.T) {
	for _, c := range []struct {
		policy  Policy
		bids    Bids
		beside  int
		longest int
	}{
		{EIP1559, DefaultBids, 0, 2},
		{EIP1559, RichBids, 0, 2},
		// More than half of what a block admits becomes due before each of them: now they wait until the backlog is
		// admitted.
		{EIP1559, DefaultBids, 1_500, 15},
	} {
		n, err := MeasureNewcomers(c.policy, c.bids, 5_000, 20, c.beside, 10, 1)
		require.NoError(t, err)
		require.LessOrEqual(t, n.Longest, c.longest, "%+v", n)
	}
	fifo, err := MeasureNewcomers(FIFO, DefaultBids, 5_000, 20, 0, 10, 1)
	require.NoError(t, err)
	// The storm takes 52 blocks of 98 fires, its first at height 1, and all of it is before the first newcomer.
	require.Equal(t, 50, fifo.Longest)
}

func TestOverheadComparesFiresThatSendWithSends(t *testing.T) {
	o, err := MeasureOverhead(5, 3)
	require.NoError(t, err)
	require.Positive(t, o.FireMicros)
	require.Positive(t, o.SendMicros)
	require.Positive(t, o.Ratio)
}

func TestWhatRepeatsAndWhatCanBeWatchedIsComparedWithWhatIsNot(t *testing.T) {
	r, err := MeasureRepeating(5, 3, 2_000, 1)
	require.NoError(t, err)
	require.Positive(t, r.Ratio)
	require.Greater(t, r.Nodes, 2.0)
	lifetime, err := MeasureLifetime(DefaultWorkload(2_000, FIFO, 4, 1))
	require.NoError(t, err)
	require.Less(t, r.Nodes, 2*lifetime.Nodes, "%+v", r)
	for _, watching := range []int{0, 20} {
		w, err := MeasureWatchable(5, 3, watching)
		require.NoError(t, err)
		require.Positive(t, w.Ratio)
	}
}

func TestGasOfSchedulingIsBoundedWhateverTheActorHas(t *testing.T) {
	sizes, err := MeasureSizes()
	require.NoError(t, err)
	gas := map[string]uint64{}
	for _, g := range sizes.Gas {
		gas[g.Message] = g.Gas
	}
	require.Len(t, gas, 14)
	require.Less(t, gas["schedule the 1st"], gas["schedule the 10th"])
	require.Less(t, gas["schedule the 100th"], uint64(40_000))
	require.Less(t, gas["cancel the 100th"], uint64(32_000))
	require.Greater(t, sizes.RecordBytes, payloadBytes)
	require.Less(t, sizes.RecordBytes, 256)
	require.Less(t, sizes.EntryBytes, 32)
}

func TestPinningMakesContractsCheaperAndTheirCostIsBounded(t *testing.T) {
	measured, err := MeasureContracts(10, 1)
	require.NoError(t, err)
	rows := map[string]ContractCall{}
	for _, row := range measured.Rows {
		require.Positive(t, row.Micros, row.What)
		rows[row.What] = row
	}
	require.Len(t, rows, 8)
	for _, kind := range []string{"fire", "bid query"} {
		pinned, unpinned := rows[kind+" of a contract, pinned"], rows[kind+" of a contract, not pinned"]
		require.InDelta(t, 58_000, unpinned.Cycles-pinned.Cycles, 1e-9, kind)
		require.InDelta(t, unpinned.Gas, rows[kind+" of a contract, not pinned, from disk"].Gas, 1e-9, "gas knows nothing of caches")
		require.InDelta(t, unpinned.All, pinned.All, 1e-9, "nor does pinning read less of the state")
	}
	beat, send := rows["fire of a contract, pinned"], rows["fire of a bank send"]
	require.Less(t, beat.Cycles, 60_000.0)
	require.LessOrEqual(t, beat.Cells, 570.0)
	require.Less(t, send.Cycles, 39_000.0)
	require.Less(t, beat.All, send.All+10)
	require.Less(t, rows["bid query of a contract, pinned"].Cycles, 7_000.0)
	require.LessOrEqual(t, rows["bid query of a contract, pinned"].All, 3.0)
	require.Less(t, rows["a bank send through the router"].All, send.All/2)
}

// The count is right if it agrees with what can be read off the database afterwards: nothing is pruned, so that every
// node that was ever written is still there.
func TestCountedNodesAreThoseInTheDatabase(t *testing.T) {
	inner := dbm.NewMemDB()
	db := NewCountingDB(inner, "counted")
	multi := store.NewCommitMultiStore(db, log.NewNopLogger(), metrics.NewNoOpMetrics())
	multi.SetIAVLSyncPruning(true)
	keys := storetypes.NewKVStoreKeys("counted", "other")
	for _, key := range keys {
		multi.MountStoreWithDB(key, storetypes.StoreTypeIAVL, nil)
	}
	require.NoError(t, multi.LoadLatestVersion())
	for block := range 8 {
		branch := multi.CacheMultiStore()
		for i := range 50 {
			key := binary.BigEndian.AppendUint32([]byte{byte(i % 3)}, uint32(i*(block+1)))
			branch.GetKVStore(keys["counted"]).Set(key, []byte{byte(block)})
			branch.GetKVStore(keys["other"]).Set(key, []byte{byte(block)})
		}
		if block == 5 {
			// A version without changes is kept as a reference to the one before.
			branch = multi.CacheMultiStore()
		}
		branch.Write()
		multi.Commit()
	}
	var want Writes
	prefix := []byte("s/k:counted/s")
	it, err := inner.Iterator(prefix, storetypes.PrefixEndBytes(prefix))
	require.NoError(t, err)
	for ; it.Valid(); it.Next() {
		want.countSet(bytes.TrimPrefix(it.Key(), []byte("s/k:counted/")), it.Value())
	}
	require.NoError(t, it.Close())
	got := db.Writes()
	require.Equal(t, want.Nodes, got.Nodes)
	require.Equal(t, want.NodeBytes, got.NodeBytes)
	require.Equal(t, want.Regions, got.Regions)
	require.Equal(t, 1, got.References)
	require.Positive(t, got.Regions[0])
	require.Equal(t, got.Nodes, got.Regions[0]+got.Regions[1]+got.Regions[2])
	require.Equal(t, 8*50-50, got.FastNodes, "each set of a block writes one fast node")
}

func TestABatchThatIsDroppedCountsNothing(t *testing.T) {
	db := NewCountingDB(dbm.NewMemDB(), "x")
	batch := db.NewBatch()
	require.NoError(t, batch.Set([]byte("s/k:x/fkey"), []byte("value")))
	require.NoError(t, batch.Close())
	require.Equal(t, Writes{}, db.Writes())

	batch = db.NewBatchWithSize(8)
	require.NoError(t, batch.Set([]byte("s/k:x/fkey"), []byte("value")))
	require.NoError(t, batch.Set([]byte("s/k:y/fkey"), []byte("value")))
	require.NoError(t, batch.Delete([]byte("s/k:x/fkey")))
	require.NoError(t, batch.WriteSync())
	require.Equal(t, Writes{FastNodes: 2, FastBytes: 9}, db.Writes())
	require.NoError(t, db.Set([]byte("s/k:x/fkey"), []byte("value")))
	require.NoError(t, db.SetSync([]byte("s/k:x/fkey"), []byte("value")))
	require.NoError(t, db.Delete([]byte("s/k:x/fkey")))
	require.NoError(t, db.DeleteSync([]byte("s/k:x/fkey")))
	require.Equal(t, Writes{FastNodes: 6, FastBytes: 27}, db.Writes())
}

func TestReportPrintsTablesAndJSON(t *testing.T) {
	report, err := Run(Options{Quick: true, Seed: 1, Only: "sizes"})
	require.NoError(t, err)
	var text bytes.Buffer
	require.NoError(t, report.WriteText(&text))
	require.Contains(t, text.String(), report.Machine.GoVersion)
	require.Contains(t, text.String(), "schedule the 100th")
	require.NotContains(t, text.String(), "pending", "a figure that was not measured prints no table")

	bz, err := json.Marshal(report)
	require.NoError(t, err)
	var again Report
	require.NoError(t, json.Unmarshal(bz, &again))
	require.Equal(t, report, &again)

	_, err = Run(Options{Only: "sizes,bytes"})
	require.ErrorContains(t, err, "bytes")
}

func TestMedianIsTheLowerMiddleValue(t *testing.T) {
	require.InDelta(t, 2, median([]float64{3, 1, 2}), 0)
	require.InDelta(t, 2, median([]float64{4, 3, 1, 2}), 0)
}
