// Package measure makes figures of runs: of one run, and of the same figure over seeds.
package measure

import (
	"cmp"
	"math"
	"slices"

	"github.com/cosmos-timers/timers/lab/sim/market"
	"github.com/cosmos-timers/timers/lab/sim/workload"
)

// Figures of a run by name. Package documentation of lab/sim lists them.
type Figures map[string]float64

// Of a run. optimum is a bound of the value that any rule could have served.
func Of(w *workload.Workload, r *market.Result, config *market.Config, optimum float64) Figures {
	f := Figures{}
	m := &run{w, r, config, f}
	welfare := m.money()
	f["welfare"] = ratio(welfare, optimum)
	m.series()
	m.cells()
	m.gini()
	for i := range w.Groups {
		group := i
		m.waits(w.Groups[i].Name, func(i int) bool { return w.Jobs[i].Group == group })
	}
	byWealth := fifths(len(w.Agents), func(i int) float64 { return w.Agents[i].Wealth })
	for q, name := range wealthFifths {
		m.waits(name, func(i int) bool { return byWealth[w.Jobs[i].Agent] == q })
	}
	byWorth := fifths(len(w.Jobs), func(i int) float64 { return w.Jobs[i].Worth })
	for v, name := range worthFifths {
		m.waits(name, func(i int) bool { return byWorth[i] == v })
	}
	m.waits(everyone, func(int) bool { return true })
	return f
}

// Figures are also those of all jobs, of the jobs of each fifth of the agents by wealth, the poorest first, and of each fifth
// of the jobs by what they are worth, the least first.
const everyone = "all"

var (
	wealthFifths = []string{"q1", "q2", "q3", "q4", "q5"}
	worthFifths  = []string{"v1", "v2", "v3", "v4", "v5"}
)

// Reserved reports whether figures use a name, which no group may have then.
func Reserved(name string) bool {
	return name == everyone || slices.Contains(wealthFifths, name) || slices.Contains(worthFifths, name)
}

type run struct {
	work    *workload.Workload
	result  *market.Result
	config  *market.Config
	figures Figures
}

// size that a job's fire uses of the lane.
func (m *run) size(j *workload.Job) float64 {
	return float64(m.config.Lane.Size(j.Cycles, j.Cells))
}

// chain is what the chain's own prices come to.
func (m *run) chain(j *workload.Job) float64 {
	cycle, _ := m.config.CycleBasefee.Float64()
	cell, _ := m.config.CellBasefee.Float64()
	return float64(j.Cycles)*cycle + float64(j.Cells)*cell
}

// money sums up what was paid, and returns the value that was served.
func (m *run) money() (welfare float64) {
	paid, tips := 0.0, 0.0
	for i := range m.work.Jobs {
		j, out := &m.work.Jobs[i], m.result.Outcomes[i]
		if out.Fired > 0 {
			paid, tips = paid+out.Paid, tips+out.Tip
			welfare += j.WorthAfter(out.Fired-j.Due) * m.size(j)
		}
	}
	m.figures["paid"], m.figures["tips"], m.figures["burned"] = paid, tips, paid-tips
	return welfare
}

// series measures the basefee and the use of the lane.
func (m *run) series() {
	points := m.result.Series
	used, fires, sum, top, changes := 0.0, 0.0, 0.0, 0.0, []float64{}
	for i, p := range points {
		used, fires, sum, top = used+float64(p.Used), fires+float64(p.Fires), sum+p.Basefee, max(top, p.Basefee)
		if i > 0 && p.Basefee > 0 && points[i-1].Basefee > 0 {
			changes = append(changes, math.Log(p.Basefee/points[i-1].Basefee))
		}
	}
	blocks := float64(len(points))
	m.figures["use"] = used / blocks / float64(m.config.Lane.Cycles)
	m.figures["fires"] = fires / blocks
	m.figures["basefee"], m.figures["basefee_top"] = sum/blocks, top
	m.figures["volatility"] = deviation(changes)
	m.figures["recovery"] = m.recovery()
}

// cells that fires wrote in a block, in the mean and at most.
func (m *run) cells() {
	written := make([]float64, m.result.Series[len(m.result.Series)-1].Height+1)
	for i, out := range m.result.Outcomes {
		if out.Fired > 0 {
			written[out.Fired] += float64(m.work.Jobs[i].Cells)
		}
	}
	m.figures["cells"], m.figures["cells_top"] = mean(written), slices.Max(written)
}

// recovery is how many blocks after the end of the last burst, or after the highest basefee since a crash, the basefee is
// within a quarter of its mean before the first one; 0 without any.
func (m *run) recovery() float64 {
	from, to := uint64(math.MaxUint64), uint64(0)
	for i := range m.work.Groups {
		switch p := &m.work.Groups[i].Pattern; p.Kind {
		case workload.Burst:
			from, to = min(from, p.From), max(to, p.To)
		case workload.Crash:
			from, to = min(from, p.From), max(to, m.highest(p.From))
		}
	}
	before, blocks := 0.0, 0.0
	for _, p := range m.result.Series {
		if p.Height >= from/2 && p.Height < from {
			before, blocks = before+p.Basefee, blocks+1
		}
	}
	if to == 0 || blocks == 0 {
		return 0
	}
	for _, p := range m.result.Series {
		if p.Height >= to && p.Basefee <= 1.25*before/blocks {
			return float64(p.Height - to)
		}
	}
	return float64(max(len(m.result.Series), int(to)) - int(to))
}

// highest is the height of the highest basefee from a height on.
func (m *run) highest(from uint64) (height uint64) {
	top := -1.0
	for _, p := range m.result.Series {
		if p.Height >= from && p.Basefee > top {
			height, top = p.Height, p.Basefee
		}
	}
	return height
}

// gini of service: of each agent's share of its wanted size that was served.
func (m *run) gini() {
	wanted, served := make([]float64, len(m.work.Agents)), make([]float64, len(m.work.Agents))
	for i := range m.work.Jobs {
		j := &m.work.Jobs[i]
		wanted[j.Agent] += m.size(j)
		if m.result.Outcomes[i].Fired > 0 {
			served[j.Agent] += m.size(j)
		}
	}
	var shares []float64
	for i := range wanted {
		if wanted[i] > 0 {
			shares = append(shares, served[i]/wanted[i])
		}
	}
	m.figures["gini"] = Gini(shares)
}

// waits measures the jobs that are chosen. A job that did not fire has no wait, and counts as unserved.
func (m *run) waits(name string, chosen func(job int) bool) {
	var waits []float64
	jobs, surplus, paid, size, spent := 0.0, 0.0, 0.0, 0.0, 0.0
	last := m.result.Series[len(m.result.Series)-1].Height
	for i := range m.work.Jobs {
		j, out := &m.work.Jobs[i], m.result.Outcomes[i]
		if !chosen(i) || out.Fired == 0 && j.Expires > last {
			continue // One that may still fire when the run ends says nothing.
		}
		jobs++
		if out.Fired == 0 {
			continue
		}
		wait := out.Fired - j.Due
		waits = append(waits, float64(wait))
		cost := out.Paid - out.Back
		extra := cost - m.chain(j)
		surplus += j.WorthAfter(wait)*m.size(j) - extra
		paid, size, spent = paid+extra, size+m.size(j), spent+cost
	}
	slices.Sort(waits)
	f := m.figures
	f[name+".unserved"] = ratio(jobs-float64(len(waits)), jobs)
	f[name+".wait"], f[name+".wait_p50"] = mean(waits), quantile(waits, 0.5)
	f[name+".wait_p99"], f[name+".wait_worst"] = quantile(waits, 0.99), quantile(waits, 1)
	f[name+".surplus"], f[name+".price"] = ratio(surplus, jobs), ratio(paid, size)
	f[name+".spent"], f[name+".served"] = spent, size
}

// fifths tells of n things in which fifth each is, in the order of a measure: 0 is the lowest.
func fifths(n int, of func(i int) float64) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(of(i), of(j)) })
	in := make([]int, n)
	for rank, i := range order {
		in[i] = rank * 5 / n
	}
	return in
}
