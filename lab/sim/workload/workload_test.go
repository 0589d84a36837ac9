package workload_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/lab/sim/workload"
)

var limits = workload.Limits{Least: 40_000, Most: 250_000}

func group(name string) workload.Group {
	return workload.Group{
		Name: name, Agents: 10, Rate: 5, Cycles: 90_000, CyclesSigma: 1, Cells: 100, Patience: 7, WealthSigma: 1,
		Value: workload.Distribution{Kind: "fixed", Median: 2}, Strategy: workload.Strategy{Actors: 3},
	}
}

func TestASeedDrawsTheSameJobs(t *testing.T) {
	groups := []workload.Group{group("a"), group("b")}
	w := workload.Draw(groups, limits, 200, 7)
	require.Equal(t, w, workload.Draw(groups, limits, 200, 7))
	require.NotEqual(t, w.Jobs, workload.Draw(groups, limits, 200, 8).Jobs)
	require.True(t, slices.IsSortedFunc(w.Jobs, func(a, b workload.Job) int { return int(a.Due) - int(b.Due) }))
	for i, j := range w.Jobs {
		require.Equal(t, i, j.Index)
		require.Equal(t, j.Due+7, j.Expires)
		require.GreaterOrEqual(t, j.GasLimit, max(limits.Least, j.Cycles))
		require.LessOrEqual(t, j.GasLimit, limits.Most)
		require.GreaterOrEqual(t, j.CellLimit, j.Cells)
	}
}

// TestGroupsAreIndependent: another group, or more addresses for an agent, change no job of this one but its address.
func TestGroupsAreIndependent(t *testing.T) {
	worths := func(groups ...workload.Group) (all []float64) {
		for _, j := range workload.Draw(groups, limits, 200, 3).Jobs {
			if groups[j.Group].Name == "a" {
				all = append(all, j.Worth)
			}
		}
		return all
	}
	alone := worths(group("a"))
	split := group("a")
	split.Strategy.Actors = 100
	require.Equal(t, alone, worths(group("b"), group("a")))
	require.Equal(t, alone, worths(split))
}

func TestDrawsHaveTheirMeans(t *testing.T) {
	g := group("a")
	g.WealthSigma = 0
	const blocks = 4_000
	require.InEpsilon(t, 5*blocks, len(workload.Draw([]workload.Group{g}, limits, blocks, 1).Jobs), 0.03)
	for _, kind := range []workload.Distribution{
		{Kind: "lognormal", Median: 2, Sigma: 1}, {Kind: "pareto", Median: 2, Alpha: 1.5}, {Kind: "fixed", Median: 2},
	} {
		g.Value = kind
		var worths []float64
		for _, j := range workload.Draw([]workload.Group{g}, limits, blocks, 1).Jobs {
			worths = append(worths, j.Worth)
		}
		slices.Sort(worths)
		require.InEpsilon(t, 2, worths[len(worths)/2], 0.05, kind.Kind)
	}
}

func TestPatterns(t *testing.T) {
	count := func(p workload.Pattern, from, to uint64) (n float64) {
		g := group("a")
		g.Pattern = p
		for _, j := range workload.Draw([]workload.Group{g}, limits, 4_000, 1).Jobs {
			if j.Due >= from && j.Due <= to {
				n++
			}
		}
		return n / float64(to-from+1)
	}
	burst := workload.Pattern{Kind: "burst", From: 1_001, To: 2_000, Factor: 3}
	require.InEpsilon(t, 15, count(burst, 1_001, 2_000), 0.05)
	require.InEpsilon(t, 5, count(burst, 2_001, 4_000), 0.05)
	tide := workload.Pattern{Kind: "diurnal", Period: 4_000, Depth: 1}
	require.InEpsilon(t, 5*(1+2/3.14159), count(tide, 2, 2_000), 0.05)

	crash := workload.Pattern{Kind: "crash", From: 1_000, Factor: 9, Worth: 5, Period: 200}
	require.InEpsilon(t, 5, count(crash, 2, 999), 0.05)
	require.InEpsilon(t, 5*(1+8*0.7213), count(crash, 1_000, 1_199), 0.05, "the mean of 2^-x from 0 to 1 is 0.7213")
	require.InEpsilon(t, 5, count(crash, 3_000, 4_000), 0.05)
	g := group("a")
	g.WealthSigma, g.Pattern = 0, crash
	for _, j := range workload.Draw([]workload.Group{g}, limits, 4_000, 1).Jobs {
		if worth, known := map[uint64]float64{999: 2, 1_000: 10, 1_200: 6, 1_400: 4}[j.Due]; known {
			require.InDelta(t, worth, j.Worth, 1e-9)
		}
	}
}

func TestWorthFallsToNothing(t *testing.T) {
	j := workload.Job{Worth: 8, DelayCost: 0.25}
	require.InDelta(t, 8, j.WorthAfter(0), 1e-9)
	require.InDelta(t, 2, j.WorthAfter(3), 1e-9)
	require.Zero(t, j.WorthAfter(4))
	require.Zero(t, j.WorthAfter(400))
}

// TestStakesProposeTheirShares: of the blocks, whatever the jobs; and the jobs do not depend on the stakes.
func TestStakesProposeTheirShares(t *testing.T) {
	const last = 4_000
	a, b := group("a"), group("b")
	plain := workload.Draw([]workload.Group{a, b}, limits, last, 5)
	require.Equal(t, -1, plain.Proposer(7))
	a.Stake, b.Stake = 0.1, 0.6
	w := workload.Draw([]workload.Group{a, b}, limits, last, 5)
	require.Equal(t, plain.Jobs, w.Jobs)
	blocks := map[int]float64{}
	for height := uint64(1); height <= last; height++ {
		blocks[w.Proposer(height)]++
	}
	for group, share := range map[int]float64{0: 0.1, 1: 0.6, -1: 0.3} {
		require.InDelta(t, share*last, blocks[group], 0.03*last)
	}
	require.Equal(t, -1, w.Proposer(last+1))
}
