package lifetime

import (
	"fmt"

	dbm "github.com/cosmos/cosmos-db"

	"github.com/cosmos-timers/timers/testutil/bench/workload"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	// repeatEvery is how many blocks lie between two fires of a timer whose nodes are counted.
	repeatEvery = 100
	// receiptsKept is for how many blocks receipts are kept meanwhile, so that their removal is counted too.
	receiptsKept = 4
)

// CountRepeatingNodes counts what IAVL writes for the timers store per fire. It fires each of so many timers once in a hundred blocks, and counts over half of that.
func CountRepeatingNodes(pending int, seed uint64) (float64, error) {
	rng, genesis := workload.NewRand(seed), workload.WideGenesis()
	genesis.Config.Policy = types.PolicyFIFO
	genesis.Config.ReceiptRetentionBlocks = receiptsKept
	w := DefaultWorkload(pending, workload.FIFO, receiptsKept, seed)
	f := &flow{w: w, rng: rng}
	var chain *lab.Chain
	for range pending {
		workload.AddTimer(genesis, workload.Owner(rng.IntN(w.owners())), 1+rng.Uint64N(repeatEvery), f.payload(), workload.GasLimit)
	}
	db := NewCountingDB(dbm.NewMemDB(), types.StoreKey)
	opts := lab.ChainOptions{Genesis: genesis, Balances: workload.Balances(w.owners()), Runtimes: []types.Runtime{workload.Idle{}}, DB: db}
	workload.Repeat(repeatEvery)(&opts)
	var err error
	if chain, err = lab.NewChain(opts); err != nil {
		return 0, err
	}
	var before Writes
	fires := 0
	for i := range w.Warmup + repeatEvery/2 {
		if i == w.Warmup {
			before, fires = db.Writes(), 0
		}
		if err := chain.BeginBlock(); err != nil {
			return 0, err
		}
		events, err := chain.EndBlock()
		if err != nil {
			return 0, err
		}
		fires += workload.CountEvents(events, &types.TimerFired{})
	}
	after := db.Writes()
	written := after.Sub(&before)
	if fires == 0 {
		return 0, fmt.Errorf("none of %d timers fired", pending)
	}
	return float64(written.Nodes) / float64(fires), chain.Check()
}
