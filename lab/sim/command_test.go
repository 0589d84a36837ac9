package sim_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/lab/sim"
	"github.com/cosmos-timers/timers/lab/sim/runs"
	"github.com/cosmos-timers/timers/lab/sim/simconfig"
	"github.com/cosmos-timers/timers/lab/sim/spec"
)

var update = flag.Bool("update", false, "write the golden output anew")

func run(ctx context.Context, t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out, progress bytes.Buffer
	cmd := sim.NewCommand()
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(&progress)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.ExecuteContext(ctx)
	return out.String(), err
}

// TestTheExamplePrintsItsGoldenOutput: the same seeds give the same table, side by side or not, and after an intended
// change -update writes it again.
func TestTheExamplePrintsItsGoldenOutput(t *testing.T) {
	dir := t.TempDir()
	html, table := filepath.Join(dir, "out.html"), filepath.Join(dir, "out.csv")
	out, err := run(context.Background(), t, "testdata/example.json", "--quiet", "--html", html, "--csv", table)
	require.NoError(t, err)
	const golden = "testdata/example.golden.md"
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(out), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), out)

	page, err := os.ReadFile(html)
	require.NoError(t, err)
	require.Contains(t, string(page), "people.wait")
	require.NotContains(t, string(page), "http", "a report needs nothing from elsewhere")
	for _, part := range strings.Split(string(page), "<svg")[1:] {
		svg, _, closed := strings.Cut(part, "</svg>")
		require.True(t, closed)
		dec := xml.NewDecoder(strings.NewReader("<svg" + svg + "</svg>"))
		for err = nil; err == nil; {
			_, err = dec.Token()
		}
		require.ErrorIs(t, err, io.EOF)
	}
	file, err := os.Open(table)
	require.NoError(t, err)
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	require.Equal(t, []string{"seed", "variant", "figure", "value"}, rows[0])
	require.Greater(t, len(rows), 3*3*20)
}

func TestBadInputPrintsNothing(t *testing.T) {
	for _, args := range [][]string{{"testdata/none.json"}, {"testdata/example.golden.md"}, {"testdata/example.json", "--seeds", "-1"}} {
		out, err := run(context.Background(), t, args...)
		var coded interface{ ExitCode() int }
		require.True(t, errors.As(err, &coded), "%v", err)
		require.Equal(t, 2, coded.ExitCode())
		require.Empty(t, out)
	}
}

// TestAnInterruptedRunKeepsTheSeedsThatAreDone, and says how many are missing.
func TestAnInterruptedRunKeepsTheSeedsThatAreDone(t *testing.T) {
	data, err := os.ReadFile("testdata/example.json")
	require.NoError(t, err)
	s, cases, err := spec.Parse(data, nil, simconfig.Read)
	require.NoError(t, err)
	s.Seeds = 1_000
	ctx, cancel := context.WithCancel(context.Background())
	results := runs.Run(ctx, s, cases, func(string) { cancel() })
	require.NotEmpty(t, results.Done)
	require.Less(t, len(results.Done), 100)
	var out bytes.Buffer
	require.NoError(t, runs.WriteTable(&out, results))
	require.Contains(t, out.String(), "interrupted")
	_, err = run(ctx, t, "testdata/example.json", "--quiet")
	require.ErrorContains(t, err, "interrupted before the first seed")
}
