package lifetime

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	dbm "github.com/cosmos/cosmos-db"
	"github.com/stretchr/testify/require"

	"cosmossdk.io/log"
	"cosmossdk.io/store"
	"cosmossdk.io/store/metrics"
	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos-timers/timers/testutil/bench/workload"
)

// The bounds are what was measured, with little room: whoever makes timers pricier has to say so here.

func TestNodesPerLifetimeStayWithinTheirBound(t *testing.T) {
	for _, c := range []struct {
		policy         workload.Policy
		receiptBlocks  uint64
		nodes, receipt float64
	}{
		{workload.FIFO, 0, 6.5, 0},
		{workload.EIP1559, 4, 6.75, 0.1},
	} {
		t.Run(fmt.Sprintf("%s, receipts of %d blocks", c.policy, c.receiptBlocks), func(t *testing.T) {
			l, err := MeasureLifetime(DefaultWorkload(10_000, c.policy, c.receiptBlocks, 1))
			require.NoError(t, err)
			require.Less(t, l.Nodes, c.nodes)
			require.LessOrEqual(t, l.NodesOf.Receipts, c.receipt)
			if c.policy == workload.FIFO {
				require.Zero(t, l.NodesOf.Fairness, "a policy that does not weigh actors counts nothing")
			}
			require.Less(t, l.NodesOf.Fairness, 0.15)
			// The workload was what it says: about as many fires as schedules, about as many pending as stated, and the
			// floor of one set and one delete is the two leaves' worth that it has always been.
			require.InDelta(t, 500, l.FiresPerBlock, 25)
			require.InDelta(t, 10_000, l.MeanPending, 250)
			require.InDelta(t, 2.05, l.Floor, 0.1)
			require.InDelta(t, l.Nodes, l.NodesOf.sum(), 1e-9)
			require.InDelta(t, l.Bytes, l.BytesOf.sum(), 1e-6)
			require.Less(t, l.NodesOf.Rest, 0.1, "counters, config and lane state are written once a block, not once a timer")
		})
	}
}

// TestNames_OfTimersTakeFewNodes: an index of names costs a timer without one nothing, and one with a name little.
func TestNames_OfTimersTakeFewNodes(t *testing.T) {
	w := DefaultWorkload(10_000, workload.FIFO, 0, 1)
	without, err := MeasureLifetime(w)
	require.NoError(t, err)
	w.Named = true
	with, err := MeasureLifetime(w)
	require.NoError(t, err)
	t.Logf("nodes a lifetime: %.3f without a name, %.3f with one", without.Nodes, with.Nodes)
	require.LessOrEqual(t, with.Nodes-without.Nodes, 0.15)
}

func (s Shares) sum() float64 {
	return s.Queue + s.Actors + s.Receipts + s.Fairness + s.Rest
}

func TestTheSameSeedCountsTheSame(t *testing.T) {
	w := DefaultWorkload(2_000, workload.EIP1559, 0, 7)
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
	want := Writes{FastNodes: 2, FastBytes: 9}
	want.RegionBytes['k'] = 9
	require.Equal(t, want, db.Writes())
	require.NoError(t, db.Set([]byte("s/k:x/fkey"), []byte("value")))
	require.NoError(t, db.SetSync([]byte("s/k:x/fkey"), []byte("value")))
	require.NoError(t, db.Delete([]byte("s/k:x/fkey")))
	require.NoError(t, db.DeleteSync([]byte("s/k:x/fkey")))
	want = Writes{FastNodes: 6, FastBytes: 27}
	want.RegionBytes['k'] = 27
	require.Equal(t, want, db.Writes())
}
