package bench

import (
	"fmt"
	"slices"

	dbm "github.com/cosmos/cosmos-db"
	"github.com/cosmos/gogoproto/proto"

	"cosmossdk.io/log"
	"cosmossdk.io/store"
	"cosmossdk.io/store/metrics"
	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Lifetime is what IAVL wrote for the timers store over a run, per timer: one schedule, one fire, a tenth of a cancel.
type Lifetime struct {
	Workload Workload `json:"workload"`
	// MeanPending and FiresPerBlock are what the run came to.
	MeanPending   int     `json:"mean_pending"`
	FiresPerBlock float64 `json:"fires_per_block"`
	// Per timer scheduled.
	Nodes     float64 `json:"nodes"`
	FastNodes float64 `json:"fast_nodes"`
	Bytes     float64 `json:"bytes"`
	// Worst is the most nodes that a block wrote, as a multiple of the median block's.
	Worst float64 `json:"worst_block"`
	// Shares of Nodes, by region of the store.
	Queue    float64 `json:"queue_nodes"`
	Runs     float64 `json:"run_nodes"`
	Actors   float64 `json:"actor_nodes"`
	Receipts float64 `json:"receipt_nodes"`
	Fairness float64 `json:"fairness_nodes"`
	Rest     float64 `json:"rest_nodes"`
	// RecordBytes is the mean size of a timer's record in the queue, key included.
	RecordBytes int `json:"record_bytes"`
	// Floor is what one sequential set and one delete cost on a plain store of as many entries.
	Floor float64 `json:"floor_nodes"`
}

// MeasureLifetime runs the workload and checks the module's invariants after it.
func MeasureLifetime(w Workload) (Lifetime, error) {
	f := &flow{w: w, rng: newRand(w.Seed)}
	genesis := f.preload()
	size := 0
	for i := range genesis.Timers {
		size += genesis.Timers[i].Size()
	}
	recordBytes := size/len(genesis.Timers) + queueKeyBytes
	db := NewCountingDB(dbm.NewMemDB(), types.StoreKey)
	var err error
	f.chain, err = lab.NewChain(lab.ChainOptions{
		Genesis: genesis, Balances: balances(w.owners()), Runtimes: []types.Runtime{idle{}}, DB: db,
	})
	if err != nil {
		return Lifetime{}, err
	}
	written, err := f.run(db)
	if err != nil {
		return Lifetime{}, err
	}
	if err := f.chain.Check(); err != nil {
		return Lifetime{}, err
	}
	floor, err := measureFloor(w, recordBytes)
	if err != nil {
		return Lifetime{}, err
	}
	timers := float64(w.Schedules * w.Blocks)
	region := func(prefix []byte) float64 { return float64(written.Regions[prefix[0]]) / timers }
	l := Lifetime{
		Workload: w, MeanPending: f.pendingSum / w.Blocks, FiresPerBlock: float64(f.fires) / float64(w.Blocks),
		Nodes: float64(written.Nodes) / timers, FastNodes: float64(written.FastNodes) / timers,
		Bytes: float64(written.NodeBytes+written.FastBytes) / timers,
		Worst: f.worst(),
		Queue: region(types.PrefixQueue.Bytes()), Runs: region(types.PrefixFarTimers.Bytes()), Actors: region(types.PrefixActors.Bytes()),
		Receipts:    region(types.PrefixReceipts.Bytes()),
		Fairness:    region(types.PrefixFires.Bytes()) + region(types.PrefixFireCounts.Bytes()),
		RecordBytes: recordBytes, Floor: floor,
	}
	l.Rest = l.Nodes - l.Queue - l.Runs - l.Actors - l.Receipts - l.Fairness
	return l, nil
}

// queueKeyBytes is the length of a queue key: the region, due and seq.
const queueKeyBytes = 1 + 8 + 8

// run runs the warm-up and the counted blocks, and returns what the latter wrote.
func (f *flow) run(db *CountingDB) (Writes, error) {
	var before Writes
	for i := range f.w.Warmup + f.w.Blocks {
		if i == f.w.Warmup {
			before = db.Writes()
			f.fires, f.pendingSum, f.nodes = 0, 0, nil
		}
		nodes := db.Writes().Nodes
		if err := f.block(); err != nil {
			return Writes{}, fmt.Errorf("block %d: %w", i+1, err)
		}
		f.nodes = append(f.nodes, db.Writes().Nodes-nodes)
	}
	after := db.Writes()
	return after.Sub(&before), nil
}

// worst is the most nodes that a block wrote, as a multiple of the median block's.
func (f *flow) worst() float64 {
	sorted := slices.Sorted(slices.Values(f.nodes))
	return float64(sorted[len(sorted)-1]) / float64(sorted[len(sorted)/2])
}

// measureFloor counts the nodes per entry of the cheapest layout there is: entries that come and go in key order.
func measureFloor(w Workload, valueBytes int) (float64, error) {
	db := NewCountingDB(dbm.NewMemDB(), "floor")
	multi := store.NewCommitMultiStore(db, log.NewNopLogger(), metrics.NewNoOpMetrics())
	// Pruning in the background never ends, and would keep the store in memory.
	multi.SetIAVLSyncPruning(true)
	key := storetypes.NewKVStoreKey("floor")
	multi.MountStoreWithDB(key, storetypes.StoreTypeIAVL, nil)
	if err := multi.LoadLatestVersion(); err != nil {
		return 0, err
	}
	value := make([]byte, valueBytes)
	first, next := uint64(0), uint64(0)
	block := func(sets, deletes int) {
		branch := multi.CacheMultiStore()
		kv := branch.GetKVStore(key)
		for range sets {
			kv.Set(sdk.Uint64ToBigEndian(next), value)
			next++
		}
		for range deletes {
			kv.Delete(sdk.Uint64ToBigEndian(first))
			first++
		}
		branch.Write()
		multi.Commit()
	}
	block(w.Pending, 0)
	before := db.Writes()
	for range w.Blocks {
		block(w.Schedules, w.Schedules)
	}
	after := db.Writes()
	written := after.Sub(&before)
	return float64(written.Nodes) / float64(w.Schedules*w.Blocks), nil
}

// countEvents counts the typed events of one kind.
func countEvents(events sdk.Events, kind proto.Message) int {
	name, n := proto.MessageName(kind), 0
	for i := range events {
		if events[i].Type == name {
			n++
		}
	}
	return n
}
