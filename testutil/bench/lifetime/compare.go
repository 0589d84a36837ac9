package lifetime

import (
	"fmt"
	"strings"

	dbm "github.com/cosmos/cosmos-db"

	"github.com/cosmos-timers/timers/testutil/bench/figure"
	"github.com/cosmos-timers/timers/testutil/bench/workload"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Compared is what a timer's lifetime costs in the module, or in a layout, under the same workload.
type Compared struct {
	Name        string  `json:"name"`
	MeanPending int     `json:"mean_pending"`
	Schedules   int     `json:"schedules_per_block"`
	Nodes       float64 `json:"nodes"`
	Bytes       float64 `json:"bytes"`
	// Reads and Writes of the store, as the code makes them.
	Reads  float64 `json:"reads"`
	Writes float64 `json:"writes"`
	// Worst is the most nodes that a block wrote, as a multiple of the median block's.
	Worst float64 `json:"worst_block"`
	// NodesOf and BytesOf share Nodes and Bytes out, by region of the module's store.
	NodesOf Shares `json:"nodes_of"`
	BytesOf Shares `json:"bytes_of"`
	// fires of the run.
	fires int
}

// ours begins the names of the module's rows.
const ours = "x/timers"

// sizes at which the layouts are compared.
var sizes = [...]int{10_000, 100_000, 1_000_000}

// measuredAt reports whether a layout is measured at a size. At the largest only the cheapest is in any case: others take minutes,
// and what reads all timers in every block is not measured there.
func (l Layout) measuredAt(pending int, opts figure.Options) bool {
	switch {
	case !strings.Contains(l.Name, opts.Kind):
		return false
	case pending < sizes[2] || l.Name == oneKey.Name:
		return true
	default:
		return opts.Million && l.Name != scan.Name
	}
}

// Compare measures the module under eip1559, and the layouts, at all sizes. At the smallest it does so with little traffic, which
// is all that it does if little time is given, and with timers that are due soon: only then are as few pending as it says under
// the whole traffic.
func Compare(opts figure.Options) (all []Compared, err error) {
	runs := []struct {
		pending int
		traffic func(Workload) Workload
	}{
		{sizes[0], Workload.quiet},
		{sizes[0], Workload.brisk},
		{sizes[1], Workload.whole},
		{sizes[2], Workload.whole},
	}
	if opts.Quick {
		runs = runs[:1]
	}
	for _, run := range runs {
		rows, err := compareAt(opts, run.pending, run.traffic)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	return all, nil
}

// compareAt measures them at one size, with some traffic.
func compareAt(opts figure.Options, pending int, traffic func(Workload) Workload) (all []Compared, err error) {
	if name := fmt.Sprintf("%s, %s", ours, workload.EIP1559); strings.Contains(name, opts.Kind) {
		opts.Tell("layouts: %s, %d", name, pending)
		w := traffic(DefaultWorkload(pending, workload.EIP1559, 4, opts.Seed).steady())
		row, err := w.compare(w.named(name), func(genesis *types.GenesisState, db dbm.DB) (subject, error) {
			return newModule(genesis, w.owners(), db)
		})
		if err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	for _, layout := range Layouts {
		if !layout.measuredAt(pending, opts) {
			continue
		}
		opts.Tell("layouts: %s, %d", layout.Name, pending)
		row, err := compareLayout(traffic(DefaultWorkload(pending, workload.FIFO, 0, opts.Seed).prompt()), layout)
		if err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	return all, nil
}

// named is the name of a row of the workload.
func (w Workload) named(name string) string {
	if w.Brisk {
		name += ", due soon"
	}
	return name
}

func compareLayout(w Workload, layout Layout) (Compared, error) {
	return w.compare(w.named(layout.Name), func(genesis *types.GenesisState, db dbm.DB) (subject, error) {
		return newLaidOut(layout, genesis, db)
	})
}

// compare runs the workload on what open makes of its genesis.
func (w Workload) compare(name string, open func(*types.GenesisState, dbm.DB) (subject, error)) (c Compared, err error) {
	beneath, remove, err := w.database()
	if err != nil {
		return c, err
	}
	defer remove()
	db := NewCountingDB(beneath, types.StoreKey)
	f := &flow{w: w, rng: workload.NewRand(w.Seed)}
	if err := f.preload(func(genesis *types.GenesisState) (subject, error) { return open(genesis, db) }); err != nil {
		return c, err
	}
	written, err := f.run(db)
	if err != nil {
		return c, err
	}
	timers, after := float64(w.Schedules*w.Blocks), f.subject.operations()
	return Compared{
		Name: name, MeanPending: f.pendingSum / w.Blocks, Schedules: w.Schedules, Nodes: float64(written.Nodes) / timers,
		Bytes: float64(written.NodeBytes+written.FastBytes) / timers,
		Reads: float64(after.Reads()-f.before.Reads()) / timers, Writes: float64(after.Writes()-f.before.Writes()) / timers,
		Worst: f.worst(), fires: f.fires,
		NodesOf: sharesOf(&written.Regions, timers), BytesOf: sharesOf(&written.RegionBytes, timers),
	}, f.check()
}

// CompareTable prints them.
func CompareTable(all []Compared) *figure.Table {
	t := &figure.Table{
		Title:   "One timer's lifetime (schedule, fire, 0.1 cancel) in the module, and in layouts that others use",
		Columns: []string{"pending", "schedules/block", "layout", "nodes", "bytes", "reads", "writes", "most/median block"},
		Notes: []string{
			"Nodes and bytes that IAVL writes, and the store operations of the code, each per timer: in 64 blocks after 64 of warm-up; of a layout,",
			"which puts nothing off, in 16 after 4. The workload is that of the lifetimes above. The module's rows hold an owner's list and quota,",
			"receipts and their removal, a lane and its prices, and under eip1559 fairness. A layout holds the record and its keys and nothing else.",
			"Each was written anew from published sources; modules that keep their jobs so are in brackets. What reads all timers in every block is",
			"not measured above 100,000. With little traffic what a block writes in any case counts more: heads of logs, the lane, receipts.",
		},
	}
	for _, c := range all {
		t.Row(c.MeanPending, c.Schedules, c.Name, c.Nodes, int(c.Bytes), c.Reads, c.Writes, c.Worst)
	}
	return t
}

// SharesTable prints where in its store the module writes what CompareTable prints.
func SharesTable(all []Compared) *figure.Table {
	t := &figure.Table{
		Title:   "One timer's lifetime in the module, by region of its store: nodes, bytes",
		Columns: []string{"pending", "schedules/block", "layout", "queue", "actors", "receipts", "fairness", "rest"},
	}
	for _, c := range all {
		if !strings.HasPrefix(c.Name, ours) {
			continue
		}
		n, b := c.NodesOf, c.BytesOf
		both := func(nodes, bytes float64) string { return fmt.Sprintf("%.2f, %.0f", nodes, bytes) }
		t.Row(c.MeanPending, c.Schedules, c.Name, both(n.Queue, b.Queue), both(n.Actors, b.Actors),
			both(n.Receipts, b.Receipts), both(n.Fairness, b.Fairness), both(n.Rest, b.Rest))
	}
	return t
}
