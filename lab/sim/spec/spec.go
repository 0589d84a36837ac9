// Package spec is the format of simulation files, and its strict reader. It needs nothing of the SDK: the caller reads
// the fields of a chain's config.
package spec

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/cosmos-timers/timers/lab/sim/market"
	"github.com/cosmos-timers/timers/lab/sim/measure"
	"github.com/cosmos-timers/timers/lab/sim/peers"
	"github.com/cosmos-timers/timers/lab/sim/strict"
	"github.com/cosmos-timers/timers/lab/sim/workload"
)

// Limits of a file, so that an untrusted one does not exhaust the machine.
const (
	MaxBytes    = 1 << 20
	MaxBlocks   = 1_000_000
	MaxSeeds    = 10_000
	MaxVariants = 64
	MaxGroups   = 64
	MaxAgents   = 100_000
	// MaxJobs bounds the mean number of jobs of a run.
	MaxJobs = 20_000_000
)

// Spec is a simulation.
type Spec struct {
	// Title of the report.
	Title string `json:"title"`
	// Blocks of a run. Seeds is how many runs there are of each variant, FirstSeed the first seed.
	Blocks    uint64 `json:"blocks"`
	Seeds     int    `json:"seeds"`
	FirstSeed uint64 `json:"first_seed"`
	// Config has the fields of TimerConfig that all variants change from the defaults.
	Config json.RawMessage `json:"config"`
	// Agents are the groups of agents.
	Agents []workload.Group `json:"agents"`
	// Variants are compared on the same jobs.
	Variants []Variant `json:"variants"`
	// Sweep runs each variant once for each value.
	Sweep *Sweep `json:"sweep"`
	// Show are the measures of the table, in its order.
	Show []string `json:"show"`
}

// Variant is one of the rules that are compared.
type Variant struct {
	Name string `json:"name"`
	// Config has further fields of TimerConfig.
	Config json.RawMessage `json:"config"`
	// Peer names a model of another chain in the place of a policy.
	Peer string `json:"peer"`
	// Strategies and Rates replace those of groups, by name.
	Strategies map[string]workload.Strategy `json:"strategies"`
	Rates      map[string]float64           `json:"rates"`
}

// Sweep changes one number of a group's strategy.
type Sweep struct {
	Agent string `json:"agent"`
	// Field is shade or actors.
	Field  string    `json:"field"`
	Values []float64 `json:"values"`
}

// Case is a variant that is ready to run.
type Case struct {
	Name   string
	Groups []workload.Group
	Config market.Config
	Runner market.Runner
	// Limits are the gas limits that a fire may have under every policy of the config, so that all have the same jobs.
	Limits workload.Limits
	// Draws identifies the workload: cases with the same one have the same jobs.
	Draws string
}

// Change is an object with fields of a chain's config, and its path in the file.
type Change struct {
	Path   string
	Fields json.RawMessage
}

// Configure makes a config of the defaults and of changes, the later ones after the earlier. The error names the path
// of what is wrong.
type Configure func(changes []Change) (market.Config, error)

// Parse reads an untrusted file, and the traces that it names from the file system, which is that of its directory. The
// error names the path in the file.
func Parse(data []byte, traces fs.FS, configure Configure) (*Spec, []Case, error) {
	if len(data) > MaxBytes {
		return nil, nil, strict.Failf("", "longer than %d bytes", MaxBytes)
	}
	s := &Spec{FirstSeed: 1}
	if err := strict.Decode(data, s); err != nil {
		return nil, nil, err
	}
	if err := s.readTraces(traces); err != nil {
		return nil, nil, err
	}
	if err := s.check(); err != nil {
		return nil, nil, err
	}
	cases, err := s.cases(configure)
	return s, cases, err
}

// readTraces reads the jobs of groups that name a trace. Such a group draws none, and its agents are those of the
// trace.
func (s *Spec) readTraces(files fs.FS) error {
	left := workload.MaxTraced
	for i := range s.Agents {
		g, path := &s.Agents[i], fmt.Sprintf("agents[%d]", i)
		if g.Trace == "" {
			continue
		}
		if g.Agents != 0 || g.Rate != 0 || g.Cycles != 0 || g.Value != (workload.Distribution{}) {
			return strict.Failf(path+".trace", "says who is there and what they want: want no agents, rate, cycles and value beside it")
		}
		file, err := files.Open(g.Trace)
		if err != nil {
			return strict.Failf(path+".trace", "%v: want a file below the directory of this one", err)
		}
		agents, err := g.ReadTrace(file, left)
		if err := errors.Join(err, file.Close()); err != nil {
			return strict.Failf(path+".trace", "%s: %v", g.Trace, err)
		}
		left -= len(g.Traced)
		// What a drawn group must state and a traced one does not use.
		g.Agents, g.Cycles, g.Value.Kind, g.Patience = len(agents), 20_000, "fixed", max(1, g.Patience)
	}
	return nil
}

func (s *Spec) check() error {
	between := func(path string, value, least, most float64) error {
		if !(value >= least && value <= most) {
			return strict.Failf(path, "want %v to %v, not %v", least, most, value)
		}
		return nil
	}
	for _, c := range []struct {
		path               string
		value, least, most float64
	}{
		{"blocks", float64(s.Blocks), 2, MaxBlocks},
		{"seeds", float64(s.Seeds), 1, MaxSeeds},
		{"first_seed", float64(s.FirstSeed), 0, 1 << 53},
		{"agents", float64(len(s.Agents)), 1, MaxGroups},
		{"variants", float64(len(s.Variants)), 1, MaxVariants},
	} {
		if err := between(c.path, c.value, c.least, c.most); err != nil {
			return err
		}
	}
	names, agents, jobs, stake := map[string]bool{}, 0, 0.0, 0.0
	for i := range s.Agents {
		g, path := &s.Agents[i], fmt.Sprintf("agents[%d]", i)
		if names[g.Name] || g.Name == "" || len(g.Name) > 32 || strings.ContainsAny(g.Name, "/.<>&\"|,") {
			return strict.Failf(path+".name", "want a unique name of 1 to 32 bytes without any of /.<>&\"|, and not %.40q", g.Name)
		}
		if measure.Reserved(g.Name) {
			return strict.Failf(path+".name", "figures of other jobs are named %s: want another name", g.Name)
		}
		names[g.Name] = true
		if err := checkGroup(g, path, between); err != nil {
			return err
		}
		agents += g.Agents
		stake += g.Stake
		jobs += g.Rate*float64(s.Blocks)*max(1, g.Pattern.Factor) + float64(len(g.Traced))
	}
	if agents > MaxAgents || jobs > MaxJobs {
		return strict.Failf("agents", "%d agents with %.0f jobs, want at most %d and %d", agents, jobs, MaxAgents, MaxJobs)
	}
	if stake > 1 {
		return strict.Failf("agents", "stakes of %v together, want at most 1", stake)
	}
	return nil
}

func checkGroup(g *workload.Group, path string, between func(string, float64, float64, float64) error) error {
	for _, c := range []struct {
		name               string
		value, least, most float64
	}{
		{"agents", float64(g.Agents), 1, MaxAgents},
		{"rate", g.Rate, 0, 100_000},
		{"cycles", float64(g.Cycles), 20_000, 1e9},
		{"cycles_sigma", g.CyclesSigma, 0, 3},
		{"cells", float64(g.Cells), 0, 1e9},
		{"headroom", g.Headroom, 0, 100},
		{"wealth_sigma", g.WealthSigma, 0, 5},
		{"patience", float64(g.Patience), 1, 1e6},
		{"delay_cost", g.DelayCost, 0, 1},
		{"budget", g.Budget, 0, 1e18},
		{"stake", g.Stake, 0, 1},
		{"value.median", g.Value.Median, 0, 1e6},
		{"value.sigma", g.Value.Sigma, 0, 5},
		{"pattern.factor", g.Pattern.Factor, 0, 10_000},
		{"pattern.worth", g.Pattern.Worth, 0, 10_000},
		{"pattern.depth", g.Pattern.Depth, 0, 1},
	} {
		if err := between(path+"."+c.name, c.value, c.least, c.most); err != nil {
			return err
		}
	}
	if g.Headroom != 0 && g.Headroom < 1 {
		return strict.Failf(path+".headroom", "want at least 1, not %v", g.Headroom)
	}
	if !slices.Contains([]string{"fixed", "lognormal", "pareto"}, g.Value.Kind) {
		return strict.Failf(path+".value.kind", "want fixed, lognormal or pareto, not %.40q", g.Value.Kind)
	}
	if g.Value.Kind == "pareto" && !(g.Value.Alpha >= 0.5 && g.Value.Alpha <= 100) {
		return strict.Failf(path+".value.alpha", "want 0.5 to 100, not %v", g.Value.Alpha)
	}
	if g.Pattern.Kind != "" && !slices.Contains(workload.Patterns, g.Pattern.Kind) {
		return strict.Failf(path+".pattern.kind", "want one of %s, not %.40q", strings.Join(workload.Patterns, ", "), g.Pattern.Kind)
	}
	if (g.Pattern.Kind == workload.Diurnal || g.Pattern.Kind == workload.Crash) && g.Pattern.Period == 0 {
		return strict.Failf(path+".pattern.period", "want at least 1")
	}
	return checkStrategy(&g.Strategy, path+".strategy")
}

func checkStrategy(s *workload.Strategy, path string) error {
	switch {
	case !slices.Contains(market.Strategies, s.Kind):
		return strict.Failf(path+".kind", "want one of %s, not %.40q", strings.Join(market.Strategies, ", "), s.Kind)
	case (s.Kind == market.Tier) != (market.Tiers[s.Tier] != 0):
		return strict.Failf(path+".tier", "want one of economy, standard, fast, urgent with the kind tier alone, not %.40q", s.Tier)
	case !(s.Shade >= 0 && s.Shade <= 1000):
		return strict.Failf(path+".shade", "want 0 to 1000, not %v", s.Shade)
	case s.Actors < 0 || s.Actors > MaxAgents:
		return strict.Failf(path+".actors", "want 0 to %d, not %d", MaxAgents, s.Actors)
	case s.Kind == market.Best && s.Shade != 0:
		return strict.Failf(path+".shade", "is what the kind best seeks: want none, not %v", s.Shade)
	case s.Kind != market.Best && s.Follow != "":
		return strict.Failf(path+".follow", "want the kind best with it, not %s", s.Kind)
	}
	return nil
}

// cases are the variants, each with each value of the sweep.
func (s *Spec) cases(configure Configure) (cases []Case, err error) {
	names := map[string]bool{}
	for i := range s.Variants {
		v, path := &s.Variants[i], fmt.Sprintf("variants[%d]", i)
		if names[v.Name] || v.Name == "" || len(v.Name) > 64 || strings.ContainsAny(v.Name, "<>&\"|") {
			return nil, strict.Failf(path+".name", "want a unique name of 1 to 64 bytes without any of <>&\"| and not %.40q", v.Name)
		}
		names[v.Name] = true
		one, err := s.caseOf(v, path, configure)
		if err != nil {
			return nil, err
		}
		if s.Sweep == nil {
			cases = append(cases, one)
			continue
		}
		swept, err := s.swept(one)
		if err != nil {
			return nil, err
		}
		cases = append(cases, swept...)
	}
	if len(cases) > MaxVariants {
		return nil, strict.Failf("sweep.values", "%d cases, want at most %d", len(cases), MaxVariants)
	}
	return cases, nil
}

func (s *Spec) caseOf(v *Variant, path string, configure Configure) (one Case, err error) {
	one = Case{Name: v.Name, Groups: slices.Clone(s.Agents), Draws: "as stated"}
	var changes []Change
	if s.Config != nil {
		changes = append(changes, Change{"config", s.Config})
	}
	if v.Config != nil {
		changes = append(changes, Change{path + ".config", v.Config})
	}
	if one.Config, err = configure(changes); err != nil {
		return one, err
	}
	one.Limits = one.Config.Limits()
	for _, name := range slices.Sorted(maps.Keys(v.Strategies)) {
		strategy := v.Strategies[name]
		g := groupOf(one.Groups, name)
		if g == nil {
			return one, strict.Failf(path+".strategies."+name, "no such group of agents")
		}
		if err := checkStrategy(&strategy, path+".strategies."+name); err != nil {
			return one, err
		}
		g.Strategy = strategy
	}
	for _, name := range slices.Sorted(maps.Keys(v.Rates)) {
		g := groupOf(one.Groups, name)
		if g == nil || !(v.Rates[name] >= 0 && v.Rates[name] <= 100_000) {
			return one, strict.Failf(path+".rates."+name, "want a group of agents, and 0 to 100000")
		}
		g.Rate = v.Rates[name]
		one.Draws += fmt.Sprintf(", %s %v", name, v.Rates[name])
	}
	if err := one.checkFollowers(path); err != nil {
		return one, err
	}
	return one, one.setRunner(v, path)
}

// checkFollowers refuses a group that follows one which seeks no shade.
func (c *Case) checkFollowers(path string) error {
	for i := range c.Groups {
		follow := c.Groups[i].Strategy.Follow
		if follow == "" {
			continue
		}
		if g := groupOf(c.Groups, follow); g == nil || g.Strategy.Kind != market.Best || g.Strategy.Follow != "" {
			return strict.Failf(path, "group %s follows %.40q: want a group whose strategy is %s and follows none", c.Groups[i].Name, follow, market.Best)
		}
	}
	return nil
}

func (c *Case) setRunner(v *Variant, path string) error {
	if v.Peer != "" {
		if _, known := peers.Models[v.Peer]; !known {
			return strict.Failf(path+".peer", "want one of %s, not %.40q",
				strings.Join(slices.Sorted(maps.Keys(peers.Models)), ", "), v.Peer)
		}
		c.Runner = &peers.Model{Name: v.Peer, Config: c.Config}
		return nil
	}
	c.Runner = &market.Module{Config: c.Config}
	return nil
}

// swept are the cases of a variant with each value of the sweep.
func (s *Spec) swept(one Case) (cases []Case, err error) {
	if g := groupOf(one.Groups, s.Sweep.Agent); g == nil {
		return nil, strict.Failf("sweep.agent", "no such group of agents: %.40q", s.Sweep.Agent)
	}
	for i, value := range s.Sweep.Values {
		swept := one
		swept.Groups = slices.Clone(one.Groups)
		swept.Name = fmt.Sprintf("%s; %s %v", one.Name, s.Sweep.Field, value)
		strategy := &groupOf(swept.Groups, s.Sweep.Agent).Strategy
		switch s.Sweep.Field {
		case "shade":
			strategy.Shade = value
		case "actors":
			strategy.Actors = int(value)
			if value != math.Trunc(value) {
				return nil, strict.Failf(fmt.Sprintf("sweep.values[%d]", i), "want a whole number, not %v", value)
			}
		default:
			return nil, strict.Failf("sweep.field", "want shade or actors, not %.40q", s.Sweep.Field)
		}
		if err := checkStrategy(strategy, fmt.Sprintf("sweep.values[%d]", i)); err != nil {
			return nil, err
		}
		cases = append(cases, swept)
	}
	return cases, nil
}

func groupOf(groups []workload.Group, name string) *workload.Group {
	for i := range groups {
		if groups[i].Name == name {
			return &groups[i]
		}
	}
	return nil
}
