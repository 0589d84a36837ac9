package prices

import (
	"flag"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/testutil/bench/figure"
	"github.com/cosmos-timers/timers/testutil/bench/realapp"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/types"
)

var every = flag.Bool("prices.every", false, "cause what depends on the policy under every policy, not under the default one alone")

// Every kind can be caused, and is billed or has a bound. Times are the benchmark's business.
func TestEachKindOfWorkIsBilledOrBounded(t *testing.T) {
	seen := map[string]bool{}
	rounds := 0 // Times are asserted in the long form alone.
	if *every {
		rounds = 1
	}
	for _, k := range kinds() {
		if _, policy, found := strings.Cut(k.name, ", under "); found && policy != "eip1559" && !*every {
			continue
		}
		t.Run(k.name, func(t *testing.T) {
			require.False(t, seen[k.name], "two kinds have this name")
			seen[k.name] = true
			price, err := k.measure(rounds)
			require.NoError(t, err)
			t.Logf("%.0f gas, %.1f us, ratio %.2f", price.Gas, price.Micros, price.Ratio)
			require.Positive(t, price.Ratio)
			require.Positive(t, price.Committed)
			if k.free > 0 {
				if *every {
					require.LessOrEqual(t, price.Ratio, 1.3*price.Metered+0.3, "the weights are too low")
				}
				require.NotEmpty(t, price.Remark, "no one is billed: what bounds it?")
			} else {
				require.Positive(t, price.Gas)
			}
		})
	}
}

func TestRatiosAreOfTimeByGas(t *testing.T) {
	k := kind{name: "k"}
	took := [2]spent{{100 * time.Microsecond, 200 * time.Microsecond}, {600 * time.Microsecond, 800 * time.Microsecond}}
	price, err := k.price(took, [2]work{{n: 10, gas: 1_000}, {n: 5, gas: 2_000}})
	require.NoError(t, err)
	require.InDelta(t, 3, price.Ratio, 1e-9)
	require.InDelta(t, 2, price.Committed, 1e-9)
	require.InDelta(t, 400, price.Gas, 1e-9)
	require.InDelta(t, 120, price.Micros, 1e-9)

	// 50 units of 120 us in a block, whose lane of sends takes 10 us for each.
	k.free = 50
	price, err = k.price(took, [2]work{{n: 10, gas: 1_000}, {n: 5, gas: 2_000}})
	require.NoError(t, err)
	require.InDelta(t, 6_000.0/(10*laneSends), price.Ratio, 1e-9)
	require.InDelta(t, 8_000.0/(20*laneSends), price.Committed, 1e-9)
	require.Zero(t, price.Gas)

	for _, did := range [][2]work{{{n: 1}, {n: 1, gas: 1}}, {{n: 1, gas: 1}, {}}} {
		_, err = k.price(took, did)
		require.ErrorContains(t, err, "did nothing")
	}
	k.free = 0
	_, err = k.price(took, [2]work{{n: 1, gas: 1}, {n: 1}})
	require.ErrorContains(t, err, "nothing was billed")
}

func TestSamplesAreKinds(t *testing.T) {
	for _, name := range samples {
		require.True(t, slices.ContainsFunc(kinds(), func(k kind) bool { return k.name == name }), name)
	}
}

func TestOnlyNamedKindsAreMeasured(t *testing.T) {
	prices, err := Measure(figure.Options{Quick: true, Kind: "query of a contract: agent"})
	require.NoError(t, err)
	require.Len(t, prices.Rows, 1)
	require.Len(t, prices.Table().Columns, 9)
}

// TestWeightsFall: the timers of the kind were admitted under the largest weight, and lie under a smaller one after the block.
func TestWeightsFall(t *testing.T) {
	config := types.DefaultTimerConfig(app.FeeDenom)
	k := fallenWeights()
	chain, err := realapp.New(k.options)
	require.NoError(t, err)
	defer func() { require.NoError(t, chain.Close()) }()
	block, err := k.subject(chain)
	require.NoError(t, err)
	under := func(weight uint32) (n int) {
		genesis, err := chain.App.Timers.ExportGenesis(block.ctx)
		require.NoError(t, err)
		for _, entry := range genesis.Ready {
			if market.List(entry.List).Weight() == weight {
				n++
			}
		}
		return n
	}
	bounds := config.WeightBounds()
	before := under(bounds.Max)
	require.Greater(t, before, 500)
	require.NoError(t, block.run())
	require.Greater(t, under(bounds.Min), 100, "as many as the overhead has room for")
}
