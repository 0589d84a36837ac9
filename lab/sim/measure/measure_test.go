package measure_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cosmos-timers/timers/lab/sim/market"
	"github.com/cosmos-timers/timers/lab/sim/measure"
	"github.com/cosmos-timers/timers/lab/sim/portable"
	"github.com/cosmos-timers/timers/lab/sim/workload"
	rules "github.com/cosmos-timers/timers/x/timers/market"
)

func TestGini(t *testing.T) {
	require.InDelta(t, 0, measure.Gini([]float64{2, 2, 2}), 1e-12)
	require.InDelta(t, 0.75, measure.Gini([]float64{0, 0, 0, 9}), 1e-12)
	require.InDelta(t, 0.25, measure.Gini([]float64{1, 3}), 1e-12)
	require.Zero(t, measure.Gini(nil))
}

// TestIntervals: of printed tables of Student's distribution, 2.776 with 4 degrees of freedom and 2.045 with 29.
func TestIntervals(t *testing.T) {
	values := []float64{1, 2, 3, 4, 5}
	e := measure.Over(values)
	require.InDelta(t, 3, e.Mean, 1e-12)
	require.InDelta(t, 2.776*0.70711, e.Half, 6e-3)
	thirty := make([]float64, 30)
	for i := range thirty {
		thirty[i] = float64(i % 2)
	}
	require.InDelta(t, 2.045*0.5085/5.4772, measure.Over(thirty).Half, 1e-3)
	require.Zero(t, measure.Over([]float64{7}).Half)
}

// best is the most that can be served, by trying every block for every job.
func best(jobs []workload.Job, used []uint64, capacity uint64) float64 {
	if len(jobs) == 0 {
		return 0
	}
	most := best(jobs[1:], used, capacity)
	for at := jobs[0].Due; at <= jobs[0].Expires && at < uint64(len(used)); at++ {
		if used[at]+jobs[0].Cycles <= capacity {
			used[at] += jobs[0].Cycles
			most = max(most, jobs[0].WorthAfter(at-jobs[0].Due)*float64(jobs[0].Cycles)+best(jobs[1:], used, capacity))
			used[at] -= jobs[0].Cycles
		}
	}
	return most
}

// TestOptimumIsABound of every schedule, and is not far from the best one where jobs fill the lane exactly.
func TestOptimumIsABound(t *testing.T) {
	const capacity, blocks = 100, 4
	lanes := rules.Capacity{Cycles: capacity, Cells: capacity}
	rapid.Check(t, func(t *rapid.T) {
		w := &workload.Workload{}
		for range rapid.IntRange(1, 6).Draw(t, "jobs") {
			due := rapid.Uint64Range(1, blocks).Draw(t, "due")
			w.Jobs = append(w.Jobs, workload.Job{
				Due: due, Expires: due + rapid.Uint64Range(0, 3).Draw(t, "patience"), Cycles: rapid.Uint64Range(1, 100).Draw(t, "cycles"),
				Worth: float64(rapid.IntRange(0, 20).Draw(t, "worth")), DelayCost: 0.2,
			})
		}
		require.GreaterOrEqual(t, measure.Optimum(w, blocks, lanes), best(w.Jobs, make([]uint64, blocks+1), capacity)-1e-6)
	})
	full := &workload.Workload{}
	for _, worth := range []float64{5, 4, 3, 1} {
		full.Jobs = append(full.Jobs, workload.Job{Due: 1, Expires: 2, Cycles: 100, Worth: worth})
	}
	require.InEpsilon(t, 900, measure.Optimum(full, 2, lanes), 0.2)
}

// TestFiguresOfARunByHand: three jobs of 100,000 cycles, of which two fire.
func TestFiguresOfARunByHand(t *testing.T) {
	config := portable.Defaults()
	w := &workload.Workload{
		Groups: []workload.Group{{Name: "a"}}, Agents: []workload.Agent{{Wealth: 1}, {Wealth: 2}},
		Jobs: []workload.Job{
			{Index: 0, Agent: 0, Due: 1, Expires: 3, Cycles: 100_000, Worth: 0.01, DelayCost: 0.5},
			{Index: 1, Agent: 1, Due: 1, Expires: 3, Cycles: 100_000, Worth: 0.02},
			{Index: 2, Agent: 1, Due: 1, Expires: 2, Cycles: 100_000, Worth: 0.01},
		},
	}
	r := &market.Result{
		Outcomes: []market.Outcome{{Fired: 2, Paid: 300, Tip: 50}, {Fired: 1, Paid: 500, Tip: 100}, {}},
		Series: []market.Point{
			{Height: 1, Basefee: 1, Used: 1_000_000, Fires: 1}, {Height: 2, Basefee: 2, Fires: 1}, {Height: 3, Basefee: 2},
		},
	}
	f := measure.Of(w, r, &config, 5_000)
	for name, want := range map[string]float64{
		"welfare": (0.005*100_000 + 0.02*100_000) / 5_000, "paid": 800, "tips": 150, "burned": 650, "basefee_top": 2,
		"a.unserved": 1.0 / 3, "a.wait": 0.5, "a.wait_worst": 1, "q1.wait": 1, "q3.unserved": 0.5,
		"v1.wait": 1, "v2.unserved": 1, "v4.wait": 0, "v4.unserved": 0,
		"a.spent": 800, "a.price": (200.0 + 400) / 200_000, "a.surplus": (500 - 200 + 2_000 - 400) / 3.0,
		"gini": 0.5 / (2 * 1.5) * 1, "use": 1_000_000 / 3.0 / 2_000_000,
	} {
		require.InDelta(t, want, f[name], 1e-9, name)
	}
}
