package spec_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/lab/sim/market"
	"github.com/cosmos-timers/timers/lab/sim/simconfig"
	"github.com/cosmos-timers/timers/lab/sim/spec"
	"github.com/cosmos-timers/timers/lab/sim/workload"
)

const small = `{
  "title": "small", "blocks": 10, "seeds": 2, "config": {"fairness_window_blocks": 10},
  "agents": [{"name": "a", "agents": 2, "rate": 1, "cycles": 90000, "value": {"kind": "fixed", "median": 1}, "patience": 5,
    "strategy": {"kind": "truthful"}}],
  "variants": [
    {"name": "one", "config": {"priority_tiers": {"urgent": "9"}, "max_change": "0.5", "reserve_price": "400"}, "rates": {"a": 2}},
    {"name": "two", "strategies": {"a": {"kind": "minimal"}}},
    {"name": "three", "peer": "flow"}
  ],
  "show": ["welfare"]
}`

// TestVariantsShareNothing: what one variant changes, the next does not have.
func TestVariantsShareNothing(t *testing.T) {
	_, cases, err := spec.Parse([]byte(small), nil, simconfig.Read)
	require.NoError(t, err)
	require.Len(t, cases, 3)
	require.Equal(t, "9.000000000000000000", cases[0].Config.Eip1559.Tiers.Urgent.String())
	require.Equal(t, "2.500000000000000000", cases[1].Config.Eip1559.Tiers.Urgent.String())
	require.Equal(t, "0.500000000000000000", cases[0].Config.Eip1559.Basefee.MaxChange.String())
	require.Equal(t, "0.125000000000000000", cases[1].Config.Eip1559.Basefee.MaxChange.String())
	require.Equal(t, "400", cases[0].Config.Auction.Reserve.String())
	require.Equal(t, "0", cases[1].Config.Auction.Reserve.String())
	require.Equal(t, uint64(10), cases[1].Config.FairnessBlocks)
	require.InDelta(t, 2, cases[0].Groups[0].Rate, 0)
	require.InDelta(t, 1, cases[1].Groups[0].Rate, 0)
	require.Equal(t, market.Truthful, cases[2].Groups[0].Strategy.Kind)
	require.Equal(t, market.Minimal, cases[1].Groups[0].Strategy.Kind)
	require.NotEqual(t, cases[0].Draws, cases[1].Draws)
}

func TestASweepMultipliesVariants(t *testing.T) {
	_, cases, err := spec.Parse([]byte(strings.Replace(small, `"show"`,
		`"sweep": {"agent": "a", "field": "actors", "values": [1, 5]}, "show"`, 1)), nil, simconfig.Read)
	require.NoError(t, err)
	require.Len(t, cases, 6)
	require.Equal(t, "one; actors 5", cases[1].Name)
	require.Equal(t, 5, cases[1].Groups[0].Strategy.Actors)
	require.Equal(t, 1, cases[0].Groups[0].Strategy.Actors)
}

func TestErrorsNameThePath(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{`"blocks": 10`, `"blocks": 1`, "blocks: want 2 to 1e+06, not 1"},
		{`"seeds": 2`, `"seeds": 0`, "seeds: want 1 to 10000, not 0"},
		{`"name": "a"`, `"name": "v5"`, "agents[0].name: figures of other jobs are named v5: want another name"},
		{`"rate": 1`, `"rate": -1`, "agents[0].rate: want 0 to 100000, not -1"},
		{`"rate": 1`, `"rate": 100000, "agents": 2`, "agents[0].agents: stated twice"},
		{`"kind": "fixed"`, `"kind": "normal"`, `agents[0].value.kind: want fixed, lognormal or pareto, not "normal"`},
		{`"patience": 5`, `"patience": 5, "pattern": {"kind": "crash"}`, "agents[0].pattern.period: want at least 1"},
		{`"patience": 5`, `"patience": 5, "pattern": {"kind": "slump"}`, `agents[0].pattern.kind: want one of steady, burst, crash, diurnal, not "slump"`},
		{`"kind": "truthful"`, `"kind": "best", "shade": 0.5`, "agents[0].strategy.shade: is what the kind best seeks: want none, not 0.5"},
		{`"kind": "truthful"`, `"kind": "truthful", "follow": "a"`, "agents[0].strategy.follow: want the kind best with it, not truthful"},
		{`"kind": "truthful"`, `"kind": "best", "follow": "b"`, `variants[0]: group a follows "b": want a group whose strategy is best`},
		{`"kind": "truthful"`, `"kind": "best", "follow": "a"`, `variants[0]: group a follows "a": want a group whose strategy is best and follows none`},
		{`"kind": "truthful"`, `"kind": "tier"`, `agents[0].strategy.tier: want one of economy, standard, fast, urgent with the kind tier alone, not ""`},
		{`"max_change": "0.5"`, `"max_chance": "0.5"`, "variants[0].config.max_chance: unknown field"},
		{`"max_change": "0.5"`, `"max_change": "5"`, "variants[0].config: eip1559.max_change"},
		{`"rates": {"a": 2}`, `"rates": {"b": 2}`, "variants[0].rates.b: want a group of agents"},
		{`"strategies": {"a"`, `"strategies": {"b"`, "variants[1].strategies.b: no such group"},
		{`"name": "two"`, `"name": "one"`, "variants[1].name: want a unique name"},
		{`"peer": "flow"`, `"peer": "flaw"`, "variants[2].peer: want one of archway, flow"},
		{`"show"`, `"sweep": {"agent": "a", "field": "actors", "values": [0.5]}, "show"`, "sweep.values[0]: want a whole number"},
	} {
		require.Contains(t, small, c.from)
		_, _, err := spec.Parse([]byte(strings.Replace(small, c.from, c.to, 1)), nil, simconfig.Read)
		require.ErrorContains(t, err, c.want)
	}
	_, _, err := spec.Parse(make([]byte, spec.MaxBytes+1), nil, simconfig.Read)
	require.ErrorContains(t, err, "longer than")
}

// TestTheDocumentedSimulationsAreValid, and have as many seeds as their intervals need.
func TestTheDocumentedSimulationsAreValid(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "sims", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		s, _, err := spec.Parse(data, nil, simconfig.Read)
		require.NoError(t, err, file)
		require.GreaterOrEqual(t, s.Seeds, 30, file)
	}
}

// TestATraceStatesTheJobsOfAGroup: its agents and jobs are those of the file, under every seed.
func TestATraceStatesTheJobsOfAGroup(t *testing.T) {
	const traced = `{
		"title": "t", "blocks": 20, "seeds": 1, "variants": [{"name": "one"}], "show": ["welfare"],
		"agents": [{"name": "a", "trace": "jobs.csv", "patience": 4, "strategy": {"kind": "truthful"}}]
	}`
	files := fstest.MapFS{"jobs.csv": {Data: []byte("due,agent,cycles,worth\n5,x,50000,0.1\n7,y,60000,0.2\n30,x,50000,0.1\n")}}
	_, cases, err := spec.Parse([]byte(traced), files, simconfig.Read)
	require.NoError(t, err)
	g := cases[0].Groups[0]
	require.Equal(t, 2, g.Agents)
	require.Len(t, g.Traced, 3)
	w := workload.Draw(cases[0].Groups, cases[0].Limits, 20, 1)
	require.Len(t, w.Jobs, 2, "one is due after the last block")
	require.Equal(t, w.Jobs, workload.Draw(cases[0].Groups, cases[0].Limits, 20, 2).Jobs)

	for _, c := range []struct{ from, to, want string }{
		{"jobs.csv", "none.csv", "agents[0].trace: open none.csv: file does not exist"},
		{"jobs.csv", "../jobs.csv", "agents[0].trace: open ../jobs.csv: file does not exist: want a file below"},
		{`"patience": 4`, `"rate": 4`, "agents[0].trace: says who is there and what they want"},
		{`"patience": 4, `, ``, "agents[0].trace: jobs.csv: column patience is missing, and the group states none"},
	} {
		require.Contains(t, traced, c.from)
		_, _, err := spec.Parse([]byte(strings.Replace(traced, c.from, c.to, 1)), files, simconfig.Read)
		require.ErrorContains(t, err, c.want)
	}
}
