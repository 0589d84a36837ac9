package bench_test

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cosmos-timers/timers/testutil/bench/fires"
)

var options = func() *fires.Options {
	opts := &fires.Options{}
	flag.IntVar(&opts.Fires, "fires", 100, "fires of a block")
	flag.IntVar(&opts.Rounds, "rounds", 3, "rounds of each kind")
	flag.StringVar(&opts.Only, "only", "", "measure only what contains this")
	return opts
}()

// most are what one fire may take: allocations, operations on the timers store, and those on every store. They are counts,
// and the same on every machine but for what the runtime allocates now and then.
var most = map[string]struct{ allocs, module, all int }{
	"a send":                   {342, 14, 32},
	"a send at prices of 0":    {300, 12, 24},
	"a send that fails":        {274, 10, 22},
	"an interval's send":       {385, 19, 37},
	"a watch's send":           {830, 50, 70},
	"a pinned contract's beat": {690, 34, 58},
}

// mostInBlocks are the allocations of transactions, and of a fire, in whole blocks.
var mostInBlocks = map[string]int{"a signed send": 1_500, "a transaction that schedules a send": 1_500, "the fire": 630, "both": 2_130}

// TestWhatAFireTakes holds the counts, and prints the times.
func TestWhatAFireTakes(t *testing.T) {
	measured := fires.Measure(t, *options)
	for _, row := range measured.Rows {
		t.Logf("%-40s %5.2f × %-30s allocs %6.0f (%4.0f) timers %+v all %+v",
			row.What, row.Ratio, row.Floor, row.Allocs, row.FloorAllocs, row.Module, row.All)
		limit := most[row.What]
		assert.LessOrEqual(t, int(row.Allocs), limit.allocs, row.What)
		assert.LessOrEqual(t, row.Module.Reads()+row.Module.Writes(), limit.module, row.What)
		assert.LessOrEqual(t, row.All.Reads()+row.All.Writes(), limit.all, row.What)
	}
	for _, block := range measured.Blocks {
		t.Logf("%-40s %5.2f × a signed send, %4.0f us to finalize, %4.0f us to commit, allocs %6.0f",
			block.What, block.Ratio, block.Finalize, block.Commit, block.Allocs)
		assert.LessOrEqual(t, int(block.Allocs), mostInBlocks[block.What], block.What)
	}
}
