package workload_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/lab/sim/workload"
)

func TestATraceIsRead(t *testing.T) {
	g := workload.Group{Name: "a", Patience: 9, Cells: 3}
	agents, err := g.ReadTrace(strings.NewReader("worth,agent,due,cycles\n0.5,bob,7,40000\n1,alice,5,30000\n2,bob,7,20000\n"), 3)
	require.NoError(t, err)
	require.Equal(t, []string{"bob", "alice"}, agents)
	require.Equal(t, []workload.Traced{
		{Agent: 0, Due: 7, Cycles: 40_000, Cells: 3, Patience: 9, Worth: 0.5},
		{Agent: 1, Due: 5, Cycles: 30_000, Cells: 3, Patience: 9, Worth: 1},
		{Agent: 0, Due: 7, Cycles: 20_000, Cells: 3, Patience: 9, Worth: 2},
	}, g.Traced)

	g.Agents = len(agents)
	w := workload.Draw([]workload.Group{g}, limits, 100, 1)
	require.Len(t, w.Jobs, 3)
	require.Equal(t, uint64(5), w.Jobs[0].Due, "in the order of their heights")
	require.Equal(t, uint64(14), w.Jobs[0].Expires)
	require.Equal(t, "a/0", w.Jobs[1].Unit)
}

func TestBadTracesNameTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "the line of columns: EOF",
		"due,agent,cycles\n":                "column worth is missing",
		"due,agent,cycles,worth,colour\n":   `column "colour" is unknown`,
		"due,agent,cycles,worth,due\n":      "column due is stated twice",
		"due,agent,cycles,worth\n":          "no job",
		"due,agent,cycles,worth\n5,x\n":     "wrong number of fields",
		"due,agent,cycles,worth\n1,x,5,1\n": `line 2, due: want a whole number from 2 to 1099511627776, not "1"`,
		"due,agent,cycles,worth\n5,x,5,1\n": `line 2, cycles: want a whole number from 20000 to 1000000000, not "5"`,
		"due,agent,cycles,worth\n" + strings.Repeat("5,x,20000,1\n", 4): "line 5: more than 3 jobs, of the 1000000 that",
		"due,agent,cycles,worth\n5,x,20000,1\n5,x,20000,NaN\n":          `line 3, worth: want 0 to 1000000, not "NaN"`,
		"due,agent,cycles,worth,patience\n5,x,20000,1,0\n":              "line 2, patience: want a whole number from 1 to 1000000",
	} {
		g := workload.Group{Name: "a", Patience: 1}
		_, err := g.ReadTrace(strings.NewReader(text), 3)
		require.ErrorContains(t, err, want)
	}
}

// FuzzReadTrace: whatever is read can be drawn, and keeps the bounds of the columns.
func FuzzReadTrace(f *testing.F) {
	f.Add("due,agent,cycles,worth\n5,x,20000,1\n")
	f.Add("worth,patience,cells,agent,due,cycles\n1e3,1,0,\"a\nb\",2,1000000000\n")
	f.Fuzz(func(t *testing.T, text string) {
		g := workload.Group{Name: "a", Patience: 3}
		agents, err := g.ReadTrace(strings.NewReader(text), 3)
		if err != nil {
			return
		}
		g.Agents = len(agents)
		w := workload.Draw([]workload.Group{g}, limits, 50, 1)
		for _, job := range w.Jobs {
			require.Less(t, job.Agent, len(agents))
			require.Greater(t, job.Expires, job.Due)
			require.LessOrEqual(t, job.Due, uint64(50))
			require.LessOrEqual(t, job.GasLimit, limits.Most)
			require.GreaterOrEqual(t, job.Worth, 0.0)
		}
	})
}
