package measure

import (
	"math"

	"github.com/cosmos-timers/timers/lab/sim/workload"
	"github.com/cosmos-timers/timers/x/timers/market"
)

// rounds in which Optimum improves its prices.
const rounds = 40

// Optimum bounds the value that any rule can serve, even one that knows all jobs beforehand: the dual of a relaxed
// knapsack over all blocks, in which a job may fire in parts. For any prices of the blocks no rule serves more than what
// the lane is worth at these prices, and what each job gains at its best block. The prices are improved for some rounds;
// the bound holds for whatever prices they end with.
func Optimum(w *workload.Workload, blocks uint64, capacity market.Capacity) float64 {
	prices, load := make([]float64, blocks+1), make([]float64, blocks+1)
	room := float64(capacity.Cycles)
	best, scale := math.Inf(1), meanWorth(w)
	for round := 1; round <= rounds; round++ {
		clear(load)
		bound := 0.0
		for _, price := range prices {
			bound += price * room
		}
		for i := range w.Jobs {
			bound += gain(&w.Jobs[i], prices, load, float64(capacity.Size(w.Jobs[i].Cycles, w.Jobs[i].Cells)))
		}
		best = min(best, bound)
		step := scale / math.Sqrt(float64(round))
		for at := range prices {
			prices[at] = max(0, prices[at]+step*min(1, load[at]/room-1))
		}
	}
	return best
}

// gain of a job at its best block, to whose load it is added.
func gain(j *workload.Job, prices, load []float64, size float64) float64 {
	at, most := 0, 0.0
	for height := j.Due; height <= min(j.Expires, uint64(len(prices)-1)); height++ {
		if surplus := j.WorthAfter(height-j.Due) - prices[height]; surplus > most {
			at, most = int(height), surplus
		}
	}
	if most == 0 {
		return 0
	}
	load[at] += size
	return most * size
}

func meanWorth(w *workload.Workload) float64 {
	sum := 0.0
	for i := range w.Jobs {
		sum += w.Jobs[i].Worth
	}
	return ratio(sum, float64(len(w.Jobs)))
}
