// Package lifetime counts what timers write from their scheduling to their last fire, in the module and in layouts that others
// use.
package lifetime

import (
	"fmt"
	"slices"

	"cosmossdk.io/log"
	"cosmossdk.io/store"
	"cosmossdk.io/store/metrics"
	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/testutil/bench/figure"
	"github.com/cosmos-timers/timers/testutil/bench/workload"
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
	// NodesOf and BytesOf share Nodes and Bytes out.
	NodesOf Shares `json:"nodes_of"`
	BytesOf Shares `json:"bytes_of"`
	// RecordBytes is the mean size of a timer's record in the queue, key included.
	RecordBytes int `json:"record_bytes"`
	// Floor is what one sequential set and one delete cost on a plain store of as many entries.
	Floor float64 `json:"floor_nodes"`
}

// MeasureLifetime runs the workload and checks the module's invariants after it.
func MeasureLifetime(w Workload) (Lifetime, error) {
	f := &flow{w: w, rng: workload.NewRand(w.Seed)}
	beneath, remove, err := w.database()
	if err != nil {
		return Lifetime{}, err
	}
	defer remove()
	db := NewCountingDB(beneath, types.StoreKey)
	open := func(genesis *types.GenesisState) (subject, error) {
		m, err := newModule(genesis, w.owners(), db)
		m.named = w.Named
		return m, err
	}
	if err := f.preload(open); err != nil {
		return Lifetime{}, err
	}
	recordBytes := f.recordBytes/f.pending + workload.QueueKeyBytes
	written, err := f.run(db)
	if err != nil {
		return Lifetime{}, err
	}
	if err := f.check(); err != nil {
		return Lifetime{}, err
	}
	floor, err := measureFloor(w, recordBytes)
	if err != nil {
		return Lifetime{}, err
	}
	timers := float64(w.Schedules * w.Blocks)
	return Lifetime{
		Workload: w, MeanPending: f.pendingSum / w.Blocks, FiresPerBlock: float64(f.fires) / float64(w.Blocks),
		Nodes: float64(written.Nodes) / timers, FastNodes: float64(written.FastNodes) / timers,
		Bytes: float64(written.NodeBytes+written.FastBytes) / timers,
		Worst: f.worst(), NodesOf: sharesOf(&written.Regions, timers), BytesOf: sharesOf(&written.RegionBytes, timers),
		RecordBytes: recordBytes, Floor: floor,
	}, nil
}

// Shares are what was written per timer, by region of the module's store.
type Shares struct {
	Queue    float64 `json:"queue"`
	Actors   float64 `json:"actors"`
	Receipts float64 `json:"receipts"`
	Fairness float64 `json:"fairness"`
	Rest     float64 `json:"rest"`
}

func sharesOf(regions *[256]int, timers float64) (s Shares) {
	for region, n := range regions {
		share := &s.Rest
		switch byte(region) {
		case types.PrefixRecords.Bytes()[0]:
			share = &s.Queue
		case types.PrefixOwners.Bytes()[0], types.PrefixNames.Bytes()[0], types.PrefixAgents.Bytes()[0]:
			share = &s.Actors
		case types.PrefixReceipts.Bytes()[0]:
			share = &s.Receipts
		case types.PrefixFires.Bytes()[0], types.PrefixFireCounts.Bytes()[0], types.PrefixRecents.Bytes()[0]:
			share = &s.Fairness
		}
		*share += float64(n) / timers
	}
	return s
}

// run runs the warm-up and the counted blocks, and returns what the latter wrote.
func (f *flow) run(db *CountingDB) (Writes, error) {
	var before Writes
	for i := range f.w.Warmup + f.w.Blocks {
		if i == f.w.Warmup {
			before, f.before = db.Writes(), f.subject.operations()
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

// check checks the subject's state after the run. A check reads all of it into memory, so that it is left out where that is
// much.
func (f *flow) check() error {
	if !f.w.inMemory() {
		return nil
	}
	return f.subject.check()
}

// worst is the most nodes that a block wrote, as a multiple of the median block's.
func (f *flow) worst() float64 {
	sorted := slices.Sorted(slices.Values(f.nodes))
	return float64(sorted[len(sorted)-1]) / float64(sorted[len(sorted)/2])
}

// measureFloor counts the nodes per entry of the cheapest layout there is: entries that come and go in key order.
func measureFloor(w Workload, valueBytes int) (float64, error) {
	beneath, remove, err := w.database()
	if err != nil {
		return 0, err
	}
	defer remove()
	db := NewCountingDB(beneath, "floor")
	multi := store.NewCommitMultiStore(db, log.NewNopLogger(), metrics.NewNoOpMetrics())
	// Pruning in the background never ends, and would keep the store in memory.
	multi.SetIAVLSyncPruning(true)
	multi.SetIAVLCacheSize(cachedNodes)
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
	for left := w.Pending; left > 0; left -= loadChunk {
		block(min(left, loadChunk), 0)
	}
	before := db.Writes()
	for range w.Blocks {
		block(w.Schedules, w.Schedules)
	}
	after := db.Writes()
	written := after.Sub(&before)
	return float64(written.Nodes) / float64(w.Schedules*w.Blocks), nil
}

// Measure measures lifetimes at the smallest size under the policies, without receipts and with them, and at the others as
// a chain has them by default.
func Measure(opts figure.Options) ([]Lifetime, error) {
	var all []Lifetime
	for i, pending := range opts.Pendings() {
		policies, receipts := []workload.Policy{workload.EIP1559}, []uint64{4}
		if i == 0 {
			policies = append(policies, workload.FIFO)
		}
		if i == 0 && !opts.Quick {
			receipts = append(receipts, 0)
		}
		for _, policy := range policies {
			for _, receiptBlocks := range receipts {
				w := DefaultWorkload(pending, policy, receiptBlocks, opts.Seed)
				l, err := MeasureLifetime(w)
				if err != nil {
					return nil, err
				}
				all = append(all, l)
			}
		}
	}
	return all, nil
}

// Table prints them.
func Table(lifetimes []Lifetime) *figure.Table {
	t := &figure.Table{
		Title: "IAVL nodes written to the timers store per timer lifetime (schedule, fire, 0.1 cancel)",
		Columns: []string{
			"pending", "policy", "fires/block", "receipts kept", "nodes", "queue", "actors", "receipts", "fairness", "rest", "fast nodes",
			"bytes", "most/median block", "record bytes", "floor",
		},
	}
	for _, l := range lifetimes {
		of := l.NodesOf
		t.Row(l.MeanPending, l.Workload.Policy, l.FiresPerBlock, l.Workload.ReceiptBlocks > 0, l.Nodes, of.Queue, of.Actors, of.Receipts,
			of.Fairness, of.Rest, l.FastNodes, int(l.Bytes), l.Worst, l.RecordBytes, l.Floor)
	}
	if len(lifetimes) > 0 {
		w := lifetimes[0].Workload
		t.Notes = []string{
			fmt.Sprintf("One commit a block; %d schedules, %d cancels a block; %d blocks after %d of warm-up; %d timers an owner on average,",
				w.Schedules, w.Cancels, w.Blocks, w.Warmup, w.PerOwner),
			fmt.Sprintf("owners drawn at random; %d-byte payloads; due in 1-%d blocks, 1-%d blocks, 1-MAX_TTL blocks, a third each; seed %d.",
				workload.PayloadBytes, nearBlocks, hourBlocks, w.Seed),
			"Quota, owner list and lane state are included. Where there are receipts, so is their removal, a few blocks later; under",
			"eip1559, so is the count of fires by actor, and its change when a fire leaves the fairness window.",
			"The floor is one set and one delete in key order on a plain store of as many entries.",
		}
	}
	return t
}
