// Package workload draws what a simulated chain's users want done: jobs with a due height, a size, and a value to their
// owner that waiting may lower. Jobs do not depend on the policy that serves them, so that all policies of a run are
// compared on the same jobs.
package workload

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
)

// Group is a kind of agent.
type Group struct {
	Name string `json:"name"`
	// Agents is how many there are; their jobs are drawn together and divided evenly at random.
	Agents int `json:"agents"`
	// Rate is the mean number of jobs a block of all agents of the group together.
	Rate float64 `json:"rate"`
	// Start and Stop bound the heights at which jobs become due; a Stop of 0 means the end of the run.
	Start uint64 `json:"start"`
	Stop  uint64 `json:"stop"`
	// Pattern varies the rate over time.
	Pattern Pattern `json:"pattern"`
	// Cycles is the median use of a fire, intrinsic ones included, CyclesSigma the spread of its logarithm; Cells is what it writes.
	Cycles      uint64  `json:"cycles"`
	CyclesSigma float64 `json:"cycles_sigma"`
	Cells       uint64  `json:"cells"`
	// Headroom is the limits relative to the use, at least 1; 0 stands for 1.25.
	Headroom float64 `json:"headroom"`
	// Value of a job per unit of its size, in fee denom, in addition to the chain's own prices.
	Value Distribution `json:"value"`
	// WealthSigma is the spread of the logarithm of the agents' wealth, by which the values of their jobs are multiplied.
	WealthSigma float64 `json:"wealth_sigma"`
	// Patience is how many blocks after its due height a job may still fire.
	Patience uint64 `json:"patience"`
	// DelayCost is the share of its value that a job loses with each block of waiting, down to nothing.
	DelayCost float64 `json:"delay_cost"`
	// Budget is what each agent can spend in the whole run, in fee denom; 0 means enough. A timer that is to fire when it
	// is spent leaves unfunded.
	Budget float64 `json:"budget"`
	// Stake is the share of the blocks that the group proposes. What its own fires tip in them comes back to it.
	Stake float64 `json:"stake"`
	// Strategy is how the agents bid.
	Strategy Strategy `json:"strategy"`
	// Trace names a CSV file with the group's jobs, which are then not drawn: every seed has the same.
	Trace string `json:"trace"`
	// Traced are the jobs of the trace.
	Traced []Traced `json:"-"`
}

// leastCycles are what every fire uses: FIRE_BASE_CYCLES.
const leastCycles = 20_000

// Pattern varies a rate over time.
type Pattern struct {
	// Kind is steady (the default), burst, crash, or diurnal.
	Kind string `json:"kind"`
	// From, To and Factor are the heights of a burst, and by what it multiplies the rate. A crash has no last height: at
	// From it multiplies the rate by Factor, and of what is above the usual one half remains after each Period.
	From   uint64  `json:"from"`
	To     uint64  `json:"to"`
	Factor float64 `json:"factor"`
	// Worth is by what a crash multiplies what jobs are worth at first, which declines as the rate does; 0 stands for 1.
	Worth float64 `json:"worth"`
	// Period and Depth are those of a diurnal pattern: a sine of that many blocks, whose amplitude is Depth of the rate.
	Period uint64  `json:"period"`
	Depth  float64 `json:"depth"`
}

// Kinds of patterns.
const (
	Steady  = "steady"
	Burst   = "burst"
	Crash   = "crash"
	Diurnal = "diurnal"
)

// Patterns are the names of the patterns.
var Patterns = []string{Steady, Burst, Crash, Diurnal}

// Distribution of values per unit of size.
type Distribution struct {
	// Kind is fixed, lognormal or pareto.
	Kind string `json:"kind"`
	// Median of all kinds. Sigma is the spread of the logarithm of a lognormal, Alpha the exponent of a Pareto
	// distribution.
	Median float64 `json:"median"`
	Sigma  float64 `json:"sigma"`
	Alpha  float64 `json:"alpha"`
}

// Strategy is how an agent bids. Package market gives the kinds their meaning.
type Strategy struct {
	Kind string `json:"kind"`
	// Shade is the part of a job's worth that the agent offers; 0 stands for 1.
	Shade float64 `json:"shade"`
	// Tier of the kind tier.
	Tier string `json:"tier"`
	// Actors is how many addresses each agent uses, in turns; 0 stands for 1.
	Actors int `json:"actors"`
	// Follow names the group of the kind best whose shade one of the kind best takes over, instead of seeking its own.
	Follow string `json:"follow"`
}

// Job is one fire that an agent wants.
type Job struct {
	// Index of the job, of its group and of its agent; agents are counted over all groups.
	Index, Group, Agent int
	// Actor is the address that schedules it, Unit the agent as a deployer of all its addresses.
	Actor, Unit string
	// Due is the height at which it is due first, Expires the last at which it may fire.
	Due, Expires uint64
	// Cycles and Cells are what the fire uses, GasLimit and CellLimit what it reserves.
	Cycles, Cells, GasLimit, CellLimit uint64
	// Worth is what the fire is worth at Due per unit of its size, in addition to the chain's own prices.
	Worth float64
	// DelayCost is the share of that which is lost with each block of waiting.
	DelayCost float64
}

// WorthAfter is what the fire is worth per unit of its size after so many blocks of waiting.
func (j *Job) WorthAfter(blocks uint64) float64 {
	return j.Worth * max(0, 1-j.DelayCost*float64(blocks))
}

// Agent of a group.
type Agent struct {
	Group  int
	Wealth float64
}

// Limits bound the gas limits of jobs, as a chain does.
type Limits struct{ Least, Most uint64 }

// Workload is what one seed draws.
type Workload struct {
	Groups []Group
	Agents []Agent
	// Jobs in the order of their due heights.
	Jobs []Job

	limits Limits
	// proposers of the blocks, groups by height.
	proposers []int
}

// Proposer is the group that proposes the block of a height, or -1 if none does.
func (w *Workload) Proposer(height uint64) int {
	if height >= uint64(len(w.proposers)) {
		return -1
	}
	return w.proposers[height]
}

// Draw draws the jobs that are due from height 2 to last. The same seed draws the same jobs, and the jobs of a group do
// not depend on other groups.
func Draw(groups []Group, limits Limits, last, seed uint64) *Workload {
	w := &Workload{Groups: groups, limits: limits}
	for i := range groups {
		w.draw(i, last, seed)
	}
	slices.SortStableFunc(w.Jobs, func(a, b Job) int { return cmp.Compare(a.Due, b.Due) })
	for i := range w.Jobs {
		w.Jobs[i].Index = i
	}
	w.propose(last, seed)
	return w
}

// propose draws the group that proposes each block, by the stakes.
func (w *Workload) propose(last, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 0))
	w.proposers = make([]int, last+1)
	for height := range w.proposers {
		w.proposers[height] = -1
		at := random.Float64()
		for i := range w.Groups {
			if at -= w.Groups[i].Stake; at < 0 {
				w.proposers[height] = i
				break
			}
		}
	}
}

// draw adds one group's agents and jobs.
func (w *Workload) draw(group int, last, seed uint64) {
	g := &w.Groups[group]
	name := fnv.New64a()
	name.Write([]byte(g.Name))
	random := rand.New(rand.NewPCG(seed, name.Sum64()))
	first := len(w.Agents)
	for range g.Agents {
		w.Agents = append(w.Agents, Agent{group, math.Exp(g.WealthSigma * random.NormFloat64())})
	}
	if g.Stop > 0 {
		last = min(last, g.Stop)
	}
	turns := make([]int, g.Agents)
	add := func(n int, job Job) {
		unit := fmt.Sprintf("%s/%d", g.Name, n)
		job.Group, job.Agent, job.Unit = group, first+n, unit
		job.Actor = fmt.Sprintf("%s/%d", unit, turns[n]%max(1, g.Strategy.Actors))
		turns[n]++
		w.Jobs = append(w.Jobs, job)
	}
	for _, traced := range g.Traced {
		if traced.Due <= last {
			job := g.sized(float64(traced.Cycles), traced.Cells, w.limits)
			job.Worth, job.Due, job.Expires = traced.Worth, traced.Due, traced.Due+traced.Patience
			add(traced.Agent, job)
		}
	}
	for height := max(2, g.Start); height <= last; height++ {
		for range poisson(random, g.rate(height)) {
			n := random.IntN(g.Agents)
			job := g.job(random, w.limits, w.Agents[first+n].Wealth*g.Pattern.worth(height))
			job.Due, job.Expires = height, height+g.Patience
			add(n, job)
		}
	}
}

// rate of the group at a height.
func (g *Group) rate(height uint64) float64 {
	switch p := &g.Pattern; {
	case p.Kind == Burst && height >= p.From && height <= p.To:
		return g.Rate * p.Factor
	case p.Kind == Crash:
		return g.Rate * p.after(height, p.Factor)
	case p.Kind == Diurnal:
		return g.Rate * (1 + p.Depth*math.Sin(2*math.Pi*float64(height)/float64(p.Period)))
	default:
		return g.Rate
	}
}

// worth of jobs that become due at a height, relative to what they are worth usually.
func (p *Pattern) worth(height uint64) float64 {
	if p.Kind != Crash || p.Worth == 0 {
		return 1
	}
	return p.after(height, p.Worth)
}

// after is what remains at a height of a factor at the height of the crash.
func (p *Pattern) after(height uint64, factor float64) float64 {
	if height < p.From {
		return 1
	}
	return 1 + (factor-1)*math.Exp2(-float64(height-p.From)/float64(p.Period))
}

// job draws a job's size and worth.
func (g *Group) job(random *rand.Rand, limits Limits, wealth float64) Job {
	job := g.sized(float64(g.Cycles)*math.Exp(g.CyclesSigma*random.NormFloat64()), g.Cells, limits)
	job.Worth = g.Value.draw(random) * wealth
	return job
}

// sized is a job that uses so much. One that needs more than the largest gas limit uses as much as that allows.
func (g *Group) sized(cycles float64, cells uint64, limits Limits) Job {
	headroom := g.Headroom
	if headroom == 0 {
		headroom = 1.25
	}
	cycles = min(max(cycles, leastCycles), float64(limits.Most)/headroom)
	return Job{
		Cycles: uint64(cycles), Cells: cells,
		GasLimit: min(max(uint64(math.Ceil(cycles*headroom)), limits.Least), limits.Most), CellLimit: max(1, uint64(math.Ceil(float64(cells)*headroom))),
		DelayCost: g.DelayCost,
	}
}

func (d Distribution) draw(random *rand.Rand) float64 {
	switch d.Kind {
	case "lognormal":
		return d.Median * math.Exp(d.Sigma*random.NormFloat64())
	case "pareto":
		// Half of all draws are below 2^(1/alpha) times the least value.
		return d.Median / math.Pow(2, 1/d.Alpha) / math.Pow(1-random.Float64(), 1/d.Alpha)
	default:
		return d.Median
	}
}

// poisson draws a Poisson number, by counting exponential intervals; a mean of more than 500 is drawn in parts.
func poisson(random *rand.Rand, mean float64) (n int) {
	for ; mean > 500; mean -= 500 {
		n += poisson(random, 500)
	}
	for sum := random.ExpFloat64(); sum < mean; sum += random.ExpFloat64() {
		n++
	}
	return n
}
