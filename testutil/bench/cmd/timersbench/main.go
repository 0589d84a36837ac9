// Command timersbench prints what timers cost.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/cosmos-timers/timers/testutil/bench"
)

// memory is what the benchmark takes at most, if what it needs fits: chains of which all states are kept fill it otherwise.
const memory = 1_600 << 20

func main() {
	debug.SetMemoryLimit(memory)
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "timersbench:", err)
		os.Exit(1)
	}
}

func run() error {
	var opts bench.Options
	flag.BoolVar(&opts.Quick, "quick", false, "measure with 10,000 pending timers and storms of 20,000 at most, in less than a minute")
	flag.BoolVar(&opts.Million, "million", false, "measure with 1,000,000 pending timers whatever is measured by their number, and all layouts; takes some minutes more")
	flag.Uint64Var(&opts.Seed, "seed", 1, "seed of the workload")
	flag.StringVar(&opts.Only, "only", "", "comma-separated figures to measure: "+bench.Figures())
	flag.StringVar(&opts.Kind, "kind", "", "measure only the prices of kinds of work, and the layouts, whose names contain this")
	asJSON := flag.Bool("json", false, "print JSON")
	flag.Parse()
	start := time.Now()
	opts.Progress = func(next string) {
		fmt.Fprintf(os.Stderr, "%4.0fs  %s\n", time.Since(start).Seconds(), next)
	}

	report, err := bench.Run(opts)
	if err != nil {
		return err
	}
	if *asJSON {
		out := json.NewEncoder(os.Stdout)
		out.SetIndent("", "  ")
		return out.Encode(report)
	}
	return report.WriteText(os.Stdout)
}
