package browser_test

import (
	"context"
	"flag"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/lab/sim/browser"
)

var every = flag.Bool("browser.every", false, "make each table of testdata/sims/tables.txt, in a quarter of an hour")

// quick are simulations that take some seconds: each policy, the lane's fee while demand moves, and an attack.
var quick = []string{"policies", "lambda", "crash"}

// TestSimulate_GivesTheTables: testdata/sims/tables.txt has what the code of the browser computes, to the last digit.
func TestSimulate_GivesTheTables(t *testing.T) {
	page, err := os.ReadFile("../../testdata/sims/tables.txt")
	require.NoError(t, err)
	table := regexp.MustCompile("(?s)`timerd lab run lab/testdata/sims/(\\w+)\\.json`.*?\n\n(\\|.*?)\n\n")
	tables := table.FindAllStringSubmatch(string(page), -1)
	require.Len(t, tables, 17)
	for _, found := range tables {
		name, table := found[1], found[2]
		t.Run(name, func(t *testing.T) {
			if !*every && !slices.Contains(quick, name) {
				t.Skip("takes longer: -browser.every makes each table")
			}
			file, err := os.ReadFile(filepath.Join("../../testdata/sims", name+".json"))
			require.NoError(t, err)
			steps := 0
			answer, err := browser.Simulate(context.Background(), file, func(p browser.Progress) {
				require.True(t, p.Total == 0 || p.Runs <= p.Total)
				steps++
			})
			require.NoError(t, err)
			lines := []string{
				"| variant | " + strings.Join(answer.Columns, " | ") + " |",
				"|---|" + strings.Repeat("--:|", len(answer.Columns)),
			}
			for _, row := range answer.Rows {
				lines = append(lines, "| "+row.Name+" | "+strings.Join(row.Cells, " | ")+" |")
			}
			require.Equal(t, table, strings.Join(lines, "\n"))
			require.Greater(t, steps, 30)
			require.Len(t, answer.Series, len(answer.Rows))
		})
	}
}

const small = `{"title": "small", "blocks": 20, "seeds": 2,
  "agents": [{"name": "people", "agents": 5, "rate": 2, "cycles": 90000, "value": {"kind": "fixed", "median": 0.01},
    "patience": 5, "strategy": {"kind": "truthful"}}],
  "variants": [{"name": "one", "config": {"policy": "tip"}}], "show": ["welfare", "people.wait"]}`

// TestSimulate_BadInputNamesItsPlace, and what would be right.
func TestSimulate_BadInputNamesItsPlace(t *testing.T) {
	for _, c := range []struct{ from, to, says string }{
		{`"blocks": 20`, `"blocks": 1`, "blocks: want 2 to 1e+06, not 1"},
		{`"policy": "tip"`, `"policy": "best"`, "variants[0].config.policy: want one of fifo, eip1559"},
		{`"seeds": 2`, `"seeds": 2000`, "seeds: 1 variants with 2000 seeds are 2000 runs: want at most 1000 in a browser"},
		{`"rate": 2`, `"rate": 60000`, "agents: 1200000 timers in 20 blocks: want at most 500000 in a browser"},
		{`"rate": 2`, `"rate": 2, "trace": "t.csv"`, "agents[0].trace: says who is there"},
		{
			`"agents": 5, "rate": 2, "cycles": 90000, "value": {"kind": "fixed", "median": 0.01}`,
			`"trace": "t.csv"`, "agents[0].trace: open t.csv: file does not exist",
		},
		{`"people.wait"`, `"person.wait"`, `show[1]: there is no figure "person.wait"; known: all.price, `},
		{`{"title"`, `{title`, "not JSON"},
	} {
		file := strings.Replace(small, c.from, c.to, 1)
		require.NotEqual(t, small, file)
		_, err := browser.Simulate(context.Background(), []byte(file), func(browser.Progress) {})
		require.ErrorContains(t, err, c.says)
	}
}

// TestSimulate_SeriesHaveAnEntryABlock.
func TestSimulate_SeriesHaveAnEntryABlock(t *testing.T) {
	answer, err := browser.Simulate(context.Background(), []byte(small), func(browser.Progress) {})
	require.NoError(t, err)
	require.Equal(t, "small: 2 seeds from 1, 20 blocks each, 95 % intervals", answer.Heading)
	s := answer.Series[0]
	for _, values := range [][]float64{s.Use, s.Wait, s.Ready, s.Basefee, s.P50} {
		require.Len(t, values, 20)
	}
	fires := 0.0
	for i, use := range s.Use {
		n := use * 2_000_000 / 90_000
		require.InDelta(t, math.Round(n), n, 1e-9, "whole fires")
		require.Zero(t, s.Wait[i], "the lane is never full")
		fires += n
	}
	require.Greater(t, fires, 20.0)
}
