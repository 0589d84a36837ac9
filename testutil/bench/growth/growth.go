// Package growth says how what IAVL writes for a timer in an index grows with how many are pending: measured, and by a
// model for sizes that no machine at hand holds.
package growth

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"slices"

	dbm "github.com/cosmos/cosmos-db"

	"cosmossdk.io/log"
	"cosmossdk.io/store"
	"cosmossdk.io/store/metrics"
	pruningtypes "cosmossdk.io/store/pruning/types"
	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos-timers/timers/testutil/bench/figure"
	"github.com/cosmos-timers/timers/testutil/bench/lifetime"
	"github.com/cosmos-timers/timers/testutil/bench/workload"
)

// Point is one size.
type Point struct {
	Pending int `json:"pending"`
	// Timers are scheduled in a block, at random heights, and as many fire: those that are due first.
	Timers int `json:"timers_per_block"`
	// Measured and Model are the nodes of one key by height and id, from its scheduling to its fire. Measured is 0 where a tree
	// of this size was not made.
	Measured float64 `json:"measured,omitempty"`
	Model    float64 `json:"model"`
}

// traffics are the timers of a block.
var traffics = []int{50, 500}

// modelled are the sizes of the table.
var modelled = []int{10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000}

// Measure fills the table, with trees up to a hundred thousand timers (10,000 if quick), or up to ten million.
func Measure(opts figure.Options) (points []Point, err error) {
	largest := slices.Max(opts.Pendings())
	if opts.Million {
		largest = 10_000_000
	}
	for _, pending := range modelled {
		for _, timers := range traffics {
			p := Point{Pending: pending, Timers: timers, Model: Model(pending, timers)}
			if pending <= largest {
				opts.Tell("growth: %d pending, %d timers a block", pending, timers)
				if p.Measured, err = Nodes(pending, timers, opts.Seed); err != nil {
					return nil, err
				}
			}
			points = append(points, p)
		}
	}
	return points, nil
}

// Model is how many nodes a timer's key costs in a tree of so many. A block rewrites each inner node that lies over one of
// its new keys once: of the 2^l nodes of a level, those that at least one of m random keys goes through. A new key is two
// nodes more. The keys of what fires lie side by side at the tree's edge.
func Model(pending, timers int) float64 {
	n, m := float64(pending), float64(timers)
	touched := func(nodes, keysOfEach float64) float64 { return nodes * (1 - math.Pow(1-keysOfEach/n, m)) }
	inner, width := 0.0, 1.0
	for ; 2*width <= n; width *= 2 {
		inner += touched(width, n/width)
	}
	// Inner nodes are one less than keys; the deepest level holds what the full ones do not.
	inner += touched(n-width, 2)
	return inner/m + 2 + math.Log2(n)/m
}

const (
	storeName = "growth"
	// filled is how many keys a version of the tree adds, blocks how many blocks are counted.
	filled, blocks = 200_000, 8
	// heights are those at which timers are due, so many that few share one.
	heights = 1 << 40
)

// Nodes counts what Model says, on a tree of that size.
func Nodes(pending, timers int, seed uint64) (nodes float64, err error) {
	dir, err := os.MkdirTemp("", "growth")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	beneath, err := dbm.NewGoLevelDB("growth", dir, nil)
	if err != nil {
		return 0, err
	}
	defer func() { err = cmp.Or(err, beneath.Close()) }()
	db := lifetime.NewCountingDB(beneath, storeName)
	multi := store.NewCommitMultiStore(db, log.NewNopLogger(), metrics.NewNoOpMetrics())
	multi.SetIAVLSyncPruning(true)
	multi.SetPruning(pruningtypes.NewPruningOptions(pruningtypes.PruningEverything))
	key := storetypes.NewKVStoreKey(storeName)
	multi.MountStoreWithDB(key, storetypes.StoreTypeIAVL, nil)
	if err := multi.LoadLatestVersion(); err != nil {
		return 0, err
	}
	tree := multi.GetKVStore(key)

	// In the order of their heights, so that the tree is made at its edge; due are the heights, which leave in the same order.
	random, due := workload.NewRand(seed), make([]uint64, 0, pending)
	for i := range uint64(pending) {
		due = append(due, i*(heights/uint64(pending)))
		tree.Set(entry(due[i], i), make([]byte, workload.PayloadBytes))
		if (i+1)%filled == 0 {
			multi.Commit()
		}
	}
	multi.Commit()
	before := db.Writes().Nodes
	for b := range uint64(blocks) {
		now := due[(b+1)*uint64(timers)]
		for i := range uint64(timers) {
			fires := b*uint64(timers) + i
			tree.Delete(entry(due[fires], fires))
			tree.Set(entry(now+random.Uint64N(heights-now), uint64(pending)+fires), make([]byte, workload.PayloadBytes))
		}
		multi.Commit()
	}
	return float64(db.Writes().Nodes-before) / float64(blocks*timers), nil
}

// entry is a key by height and sequence number.
func entry(height, seq uint64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, height), seq)
}

// Table prints them.
func Table(points []Point) *figure.Table {
	t := &figure.Table{
		Title:   "How a key by height and id grows: IAVL nodes written for one timer",
		Columns: []string{"pending", "timers a block", "measured", "model", "measured ÷ model"},
		Notes: []string{
			"A timer is scheduled at a random height, and fires. Sizes that were not measured have the model alone: of the nodes of a level, those",
			"that lie over at least one new key are written, once a block.",
		},
	}
	for _, p := range points {
		measured, ratio := "", ""
		if p.Measured > 0 {
			measured, ratio = fmt.Sprintf("%.2f", p.Measured), fmt.Sprintf("%.2f", p.Measured/p.Model)
		}
		t.Row(p.Pending, p.Timers, measured, p.Model, ratio)
	}
	return t
}
