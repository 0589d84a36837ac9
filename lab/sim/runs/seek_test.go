package runs_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/lab/sim/runs"
	"github.com/cosmos-timers/timers/lab/sim/simconfig"
	"github.com/cosmos-timers/timers/lab/sim/spec"
)

const seeking = `{
  "title": "Seeking", "blocks": 40, "seeds": 4,
  "agents": [
    {"name": "prober", "agents": 1, "rate": 2, "cycles": 90000, "value": {"kind": "lognormal", "median": 0.004, "sigma": 0.7},
      "patience": 10, "strategy": {"kind": "best"}},
    {"name": "people", "agents": 20, "rate": 24, "cycles": 90000, "value": {"kind": "lognormal", "median": 0.004, "sigma": 0.7},
      "patience": 10, "strategy": {"kind": "truthful"}}
  ],
  "variants": [
    {"name": "first price", "config": {"policy": "auction", "payment_rule": "first_price"}},
    {"name": "truth", "config": {"policy": "auction", "payment_rule": "first_price"}, "strategies": {"prober": {"kind": "truthful"}}},
    {"name": "fifo", "config": {"policy": "fifo"}},
    {"name": "answers", "config": {"policy": "auction", "payment_rule": "first_price"},
      "strategies": {"people": {"kind": "best", "follow": "prober"}}}
  ],
  "show": ["prober.shade", "prober.surplus"]
}`

// TestBestSeeksTheShadeThatEarnsMost: less than the worth where winners pay their bids, under seeds other than those that it
// was sought under too; the truth where bids decide nothing. Others who answer do so until no one gains much.
func TestBestSeeksTheShadeThatEarnsMost(t *testing.T) {
	results := func(most int) *runs.Results {
		s, cases, err := spec.Parse([]byte(seeking), nil, simconfig.Read)
		require.NoError(t, err)
		return runs.Run(context.Background(), s, cases[:most], func(string) {})
	}
	r := results(4)
	shade := func(one int, group string) float64 { return r.Estimate(one, group+".shade").Mean }
	require.Less(t, shade(0, "prober"), 0.8)
	require.Greater(t, r.Estimate(0, "prober.surplus").Mean, 10*r.Estimate(1, "prober.surplus").Mean)
	require.NotContains(t, r.Figures[0][1], "prober.shade", "the truthful seek none")
	require.InDelta(t, 1, shade(2, "prober"), 0)
	require.Less(t, shade(3, "people"), shade(0, "prober"), "what is best against those who shade is to shade more")
	require.InDelta(t, shade(3, "prober"), shade(3, "people"), 0.1)
	require.Less(t, r.Estimate(3, "prober.gain").Mean, 0.1)

	for i, figures := range results(1).Figures {
		require.Equal(t, r.Figures[i][0], figures[0], "the same file gives the same figures")
	}
}

// TestAnInterruptedSearchRunsNoSeed.
func TestAnInterruptedSearchRunsNoSeed(t *testing.T) {
	s, cases, err := spec.Parse([]byte(seeking), nil, simconfig.Read)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	results := runs.Run(ctx, s, cases, func(string) { cancel() })
	require.Empty(t, results.Done)
	require.Empty(t, results.Figures)
}
