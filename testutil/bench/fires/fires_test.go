package fires_test

import (
	"flag"
	"fmt"
	"testing"

	"github.com/cosmos-timers/timers/testutil/bench/fires"
)

var options = func() *fires.Options {
	opts := &fires.Options{}
	flag.IntVar(&opts.Fires, "fires", 40, "fires of a block")
	flag.IntVar(&opts.Rounds, "rounds", 2, "rounds of each kind")
	flag.StringVar(&opts.Only, "only", "", "measure only what contains this")
	return opts
}()

func TestFires(t *testing.T) {
	for _, row := range fires.Measure(t, *options) {
		t.Log(fmt.Sprintf("%-40s %5.2f × %-30s allocs %6.0f (%4.0f) timers %+v all %+v",
			row.What, row.Ratio, row.Floor, row.Allocs, row.FloorAllocs, row.Module, row.All))
	}
}
