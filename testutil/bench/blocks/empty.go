// Package blocks counts what a block asks of the store in which nothing is due, and what messages and timers take by their
// number.
package blocks

import (
	"fmt"

	corestore "cosmossdk.io/core/store"

	"github.com/cosmos-timers/timers/testutil/bench/figure"
	"github.com/cosmos-timers/timers/testutil/bench/workload"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/testutil/storecount"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Empty is what blocks in which nothing is due ask of the timers store.
type Empty struct {
	Pending int `json:"pending"`
	// Blocks that were counted, and their sum.
	Blocks int               `json:"blocks"`
	Sum    storecount.Counts `json:"sum"`
	// Most is the dearest block.
	Most storecount.Counts `json:"most"`
	// PerBlock are all of them, in order.
	PerBlock []storecount.Counts `json:"-"`
}

const (
	// emptyBlocks reach over a rewrite of the cursors, which quiet blocks put off for a hundred blocks.
	emptyBlocks = 120
	// firstDue lies beyond the blocks that are counted.
	firstDue = 1_000
)

// countedChain is a chain whose module's store operations are counted.
func countedChain(opts lab.ChainOptions) (*lab.Chain, *storecount.Counts, error) {
	var counts *storecount.Counts
	opts.WrapStore = func(service corestore.KVStoreService) (wrapped corestore.KVStoreService) {
		wrapped, counts = storecount.Wrap(service)
		return wrapped
	}
	chain, err := lab.NewChain(opts)
	return chain, counts, err
}

// MeasureEmpty counts the operations of blocks in which nothing is due, with so many timers pending.
func MeasureEmpty(pending int, seed uint64) (Empty, error) {
	rng, genesis := workload.NewRand(seed), types.NewGenesis("stake")
	// So short that the sweep of old receipts, which has nothing to do, is counted too.
	genesis.Config.ReceiptRetentionBlocks = 1
	payload := make([]byte, workload.PayloadBytes)
	for i := range pending {
		workload.AddTimer(genesis, workload.Owner(i/10), firstDue+rng.Uint64N(genesis.Config.MaxTtlBlocks-firstDue), payload, workload.GasLimit)
	}
	chain, counts, err := countedChain(lab.ChainOptions{Genesis: genesis, Runtimes: []types.Runtime{workload.Idle{}}})
	if err != nil {
		return Empty{}, err
	}
	empty := Empty{Pending: pending, Blocks: emptyBlocks}
	counts.Reset()
	for range emptyBlocks {
		if err := chain.BeginBlock(); err != nil {
			return Empty{}, err
		}
		if _, err := chain.EndBlock(); err != nil {
			return Empty{}, err
		}
		block := counts.Take()
		empty.PerBlock = append(empty.PerBlock, block)
		empty.add(block)
	}
	if left, err := chain.Timers.ExportGenesis(chain.Ctx()); err != nil || len(left.Timers) != pending {
		return Empty{}, fmt.Errorf("%d of %d timers are left: %w", len(left.Timers), pending, err)
	}
	return empty, nil
}

// add adds a block's counts to the sum.
func (e *Empty) add(block storecount.Counts) {
	e.Sum.Gets += block.Gets
	e.Sum.Sets += block.Sets
	e.Sum.Deletes += block.Deletes
	e.Sum.Iterators += block.Iterators
	e.Sum.Nexts += block.Nexts
	if workload.Operations(block) > workload.Operations(e.Most) {
		e.Most = block
	}
}

// MeasureEmpties measures chains of all sizes.
func MeasureEmpties(opts figure.Options) ([]Empty, error) {
	var all []Empty
	for _, pending := range append([]int{10}, opts.Pendings()...) {
		e, err := MeasureEmpty(pending, opts.Seed)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// EmptyTable prints them.
func EmptyTable(empties []Empty) *figure.Table {
	t := &figure.Table{
		Title: "Store operations of a block in which nothing is due",
		Columns: []string{
			"pending", "reads at most", "scans of them", "sets", "deletes", fmt.Sprintf("all ops of %d blocks", emptyBlocks), "sets of them",
		},
		Notes: []string{"The timers store, BeginBlock and EndBlock. Reads are keys read, scans opened and entries visited."},
	}
	for _, e := range empties {
		t.Row(e.Pending, e.Most.Reads(), e.Most.Iterators, e.Most.Sets, e.Most.Deletes, workload.Operations(e.Sum), e.Sum.Sets)
	}
	return t
}
