package peers_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/lab/sim/peers"
	"github.com/cosmos-timers/timers/lab/sim/portable"
	"github.com/cosmos-timers/timers/lab/sim/workload"
)

// job of 100,000 cycles, of which the default lane holds twenty.
func job(actor string, due uint64, worth float64) workload.Job {
	return workload.Job{Actor: actor, Due: due, Expires: due + 20, Cycles: 100_000, GasLimit: 100_000, CellLimit: 1, Worth: worth}
}

// crowd of n jobs.
func crowd(actor string, n int, due uint64, worth float64) (jobs []workload.Job) {
	for range n {
		jobs = append(jobs, job(actor, due, worth))
	}
	return jobs
}

// firedAt are the heights at which jobs fire under a model, and what they pay beyond the chain's price.
func firedAt(t *testing.T, model string, jobs []workload.Job) (heights []uint64, extra []float64) {
	t.Helper()
	for i := range jobs {
		jobs[i].Index = i
	}
	require.Contains(t, peers.Models, model)
	m := peers.Model{Name: model, Config: portable.Defaults()}
	r := m.Run(context.Background(), &workload.Workload{Jobs: jobs}, 60)
	used := map[uint64]uint64{}
	for i, out := range r.Outcomes {
		heights, extra = append(heights, out.Fired), append(extra, out.Paid-100)
		used[out.Fired] += jobs[i].Cycles
	}
	delete(used, 0)
	for height, cycles := range used {
		require.LessOrEqual(t, cycles, uint64(2_000_000), "%s at %d", model, height)
	}
	return heights, extra
}

func TestCarryOverFinishesTheOldestAgenda(t *testing.T) {
	jobs := append(crowd("whale", 45, 2, 1), job("quiet", 3, 100))
	heights, _ := firedAt(t, "substrate", jobs)
	require.Equal(t, []uint64{2, 3, 4, 4}, []uint64{heights[0], heights[20], heights[40], heights[45]})
	heights, _ = firedAt(t, "provenance", jobs)
	require.Equal(t, []uint64{2, 3, 10, 11}, []uint64{heights[4], heights[5], heights[44], heights[45]})
}

func TestByNameStarvesLateNames(t *testing.T) {
	jobs := crowd("zoe", 1, 2, 100)
	for height := uint64(2); height < 40; height++ {
		jobs = append(jobs, crowd("adam", 20, height, 1)...)
	}
	heights, _ := firedAt(t, "neutron", jobs)
	require.Zero(t, heights[0])
}

// TestClassPools: High holds 15,000 of 17,500 parts of the lane, which is 17 of these jobs; the next takes Medium, of which
// that leaves 2; Low gives way.
func TestClassPools(t *testing.T) {
	jobs := append(crowd("low", 2, 2, 0.002), crowd("high", 20, 2, 1)...)
	heights, extra := firedAt(t, "flow", jobs)
	require.InDelta(t, 100, extra[0], 1e-6)
	require.InDelta(t, 900, extra[2], 1e-6)
	require.InDelta(t, 400, extra[21], 1e-6)
	require.Equal(t, uint64(2), heights[2])
	require.Equal(t, uint64(3), heights[21])
	_, refused := firedAt(t, "flow", crowd("poor", 1, 2, 0.0005))
	require.InDelta(t, -100, refused[0], 1e-6)
}

func TestABookingCostsMoreInAFullerBlock(t *testing.T) {
	hasty := crowd("a", 20, 2, 1)
	for i := range hasty {
		hasty[i].Expires = 2
	}
	_, extra := firedAt(t, "massa", hasty)
	require.InDelta(t, 100, extra[9], 1e-6)
	require.Greater(t, extra[10], extra[9])
	require.InDelta(t, 800, extra[19], 1e-6)
	// Nothing is lost by waiting here, so that all book where half a block is free.
	heights, _ := firedAt(t, "massa", crowd("a", 20, 2, 1))
	require.Equal(t, uint64(2), heights[0])
	require.Equal(t, uint64(3), heights[10])
	heights, _ = firedAt(t, "massa", crowd("a", 1, 2, 0.0005))
	require.Zero(t, heights[0])
}

func TestAFixedNumberABlock(t *testing.T) {
	heights, _ := firedAt(t, "archway", crowd("a", 170, 2, 1))
	require.Equal(t, []uint64{2, 3, 22, 0}, []uint64{heights[7], heights[8], heights[167], heights[168]})
}
