package storm

import (
	"flag"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/testutil/bench/workload"
	"github.com/cosmos-timers/timers/x/timers/testutil/storecount"
)

var every = flag.Bool("storm.every", false, "measure every kind of bid, not those that read the most and the least")

func TestAStormsBlocksStayWithinTheirBounds(t *testing.T) {
	const due = 20_000
	for _, c := range []struct {
		policy workload.Policy
		bids   Bids
		lane   uint64
		short  bool
		// most of the phases, by their names.
		most map[string]stormBounds
	}{
		{workload.FIFO, DefaultBids, 2_000_000, true, map[string]stormBounds{phaseWindow: {0.1, 1.5, 1.2}}},
		{workload.EIP1559, DefaultBids, 2_000_000, true, map[string]stormBounds{
			phaseAdmitting: {3, 1.3, 1.3}, phaseSettling: {1.7, 1.3, 1.3}, phaseSettled: {1.7, 1.3, 1.2},
		}},
		{workload.EIP1559, PoisonBids, 2_000_000, false, map[string]stormBounds{
			phaseAdmitting: {12, 7.2, 3.5}, phaseSettling: {3, 1.8, 1.3}, phaseSettled: {2, 1.7, 1.3},
		}},
		{workload.EIP1559, LognormalBids, 2_000_000, true, map[string]stormBounds{
			phaseAdmitting: {8, 1.5, 1.3}, phaseSettling: {5, 1.6, 1.4}, phaseSettled: {4, 1.6, 1.3},
		}},
		{workload.EIP1559, LognormalBids, wideLaneCycles, false, map[string]stormBounds{
			phaseAdmitting: {1.2, 1.8, 1.3}, phaseSettling: {1, 1.2, 1.1}, phaseSettled: {1, 1.2, 1.1},
		}},
		{workload.Auction, PricedBids, 2_000_000, false, map[string]stormBounds{phaseWindow: {0.1, 2.7, 1.8}}},
		{workload.Tip, LognormalBids, 2_000_000, false, map[string]stormBounds{phaseWindow: {0.1, 4.7, 2.4}}},
		{workload.Score, PricedBids, 2_000_000, false, map[string]stormBounds{
			phaseAdmitting: {5, 6.5, 3.2}, phaseSettling: {1, 1.6, 1.25}, phaseSettled: {1.2, 1.6, 1.25},
		}},
	} {
		if !c.short && !*every {
			continue
		}
		t.Run(fmt.Sprintf("%s, %s bids, a lane of %d", c.policy, c.bids.Name, c.lane), func(t *testing.T) {
			phases, err := MeasureStorm(Spec{
				Policy: c.policy, Bids: c.bids, LaneCycles: c.lane, Due: due, Owners: due / 100, Seed: 1,
			})
			require.NoError(t, err)
			for _, s := range phases {
				if s.Phase == phaseWhole {
					continue
				}
				require.InDelta(t, float64(c.lane)/37_000, float64(s.Storm.Fires)/stormSamples, float64(c.lane)/370_000, "the lane is full")
				require.InDelta(t, s.Calm.Fires, s.Storm.Fires, float64(s.Calm.Fires)/20)
				require.LessOrEqual(t, s.Calm.Index, stormSamples, "a calm looks once a block whether there is a ready index")
				require.Greater(t, workload.Operations(s.Storm.All), workload.Operations(s.Storm.Module))
				most, known := c.most[s.Phase]
				require.True(t, known, s.Phase)
				t.Logf("%s: %.2f index reads a fire, %.2f × and %.2f × the operations", s.Phase,
					s.Storm.PerFire(s.Storm.Index), s.ModuleRatio(), s.AllRatio())
				require.LessOrEqual(t, s.Storm.PerFire(s.Storm.Index), most.index, s.Phase)
				require.LessOrEqual(t, s.ModuleRatio(), most.module, s.Phase)
				require.LessOrEqual(t, s.AllRatio(), most.all, s.Phase)
			}
			if c.policy == workload.FIFO {
				require.Len(t, phases, 1)
				storm, calm := phases[0].Storm, phases[0].Calm
				// The owner index merges at its own pace.
				require.InDelta(t, calm.All.Sets, storm.All.Sets, 16, "what is deferred is not written")
				require.InDelta(t, calm.All.Deletes, storm.All.Deletes, 16)
				const windowAndSweep = 256 + 256
				require.LessOrEqual(t, workload.Operations(storm.Module)-workload.Operations(calm.Module), stormSamples*(windowAndSweep+8))
			}
		})
	}
}

// stormBounds are values of the ready index that are read per fire, and ratios of operations to those of the calm: on the
// timers store, and on all.
type stormBounds struct{ index, module, all float64 }

func TestAStormTooSmallToCountIsRefused(t *testing.T) {
	_, err := MeasureStorm(Spec{Policy: workload.EIP1559, Bids: DefaultBids, LaneCycles: 2_000_000, Due: 1_300, Owners: 50})
	require.ErrorContains(t, err, "1300 due")
}

func TestStormTotalIsTheSumOfItsPhases(t *testing.T) {
	cost := func(fires, gets int) BlockCost {
		return BlockCost{Blocks: 4, Fires: fires, Module: storecount.Counts{Gets: gets}, All: storecount.Counts{Gets: 2 * gets}}
	}
	phase := func(gets int, millis float64) Storm {
		return Storm{Spec: Spec{Due: 1_000}, Storm: cost(40, gets), Calm: cost(40, 400), Millis: millis}
	}
	w := whole([]Storm{phase(4_000, 30), phase(2_000, 20), phase(800, 10)}, 20, 10)
	require.Equal(t, phaseWhole, w.Phase)
	// 20 blocks of 10 fires at 1,000 operations, 10 at 500, and 70 at 200.
	require.Equal(t, 1_000, w.Storm.Fires)
	require.Equal(t, 20*1_000+10*500+70*200, w.Storm.Module.Gets)
	require.InDelta(t, 3.9, w.ModuleRatio(), 1e-9)
	require.InDelta(t, 3.9, w.AllRatio(), 1e-9)
	require.InDelta(t, 15, w.Millis, 1e-9)
}

func TestNewcomersDoNotWaitForAStorm(t *testing.T) {
	for _, c := range []struct {
		policy  workload.Policy
		bids    Bids
		beside  int
		longest int
	}{
		{workload.EIP1559, DefaultBids, 0, 2},
		{workload.EIP1559, RichBids, 0, 2},
		// 15,000 of the same weight become due before them. As these fire, their actors weigh less, and a block has overhead to file
		// some hundred of their timers again.
		{workload.EIP1559, DefaultBids, 1_500, 48},
	} {
		n, err := MeasureNewcomers(c.policy, c.bids, 5_000, 20, c.beside, 10, 1)
		require.NoError(t, err)
		require.LessOrEqual(t, n.Longest, c.longest, "%+v", n)
	}
	fifo, err := MeasureNewcomers(workload.FIFO, DefaultBids, 5_000, 20, 0, 10, 1)
	require.NoError(t, err)
	// The storm takes 52 blocks of 98 fires, its first at height 1, and all of it is before the first newcomer.
	require.Equal(t, 50, fifo.Longest)
}
