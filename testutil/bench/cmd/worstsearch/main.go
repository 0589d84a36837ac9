// Command worstsearch looks for the most expensive blocks, and prints the mixes to keep in worst/testdata/mixes.txt.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/cosmos-timers/timers/testutil/bench/workload"
	"github.com/cosmos-timers/timers/testutil/bench/worst"
)

func main() {
	mixes := flag.Int("mixes", 200, "how many mixes to look at under each config, over all policies")
	seed := flag.Uint64("seed", 1, "seed of the search")
	flag.Parse()
	var all []worst.Found
	for _, config := range worst.Configs {
		for _, policy := range workload.Policies {
			found, err := worst.Search(config, policy, *mixes/len(workload.Policies), *seed, func(f worst.Found) {
				fmt.Fprintf(os.Stderr, "%s %s %.2f %s\n", f.Config, f.Policy, f.Ratio, f.Mix)
			})
			if err != nil {
				fmt.Fprintln(os.Stderr, "worstsearch:", err)
				os.Exit(1)
			}
			all = append(all, found...)
		}
	}
	_, _ = os.Stdout.Write(worst.Text(all))
}
