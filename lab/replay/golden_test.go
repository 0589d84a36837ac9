package replay_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/lab/replay"
	"github.com/cosmos-timers/timers/lab/scenario"
	"github.com/cosmos-timers/timers/x/timers/testutil/frozen"
)

// updating tells whether -update was given. A library of the SDK's own tests, which comes along with its modules, has
// registered a flag of that name already.
func updating() bool {
	update := flag.Lookup("update")
	return update != nil && update.Value.String() == "true"
}

// scenarioFiles are the scenarios that have golden output.
func scenarioFiles(tb testing.TB) []string {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join("..", "testdata", "scenarios", "*.json"))
	require.NoError(tb, err)
	require.NotEmpty(tb, files)
	return files
}

func readScenario(tb testing.TB, file string) *scenario.Scenario {
	tb.Helper()
	data, err := os.ReadFile(file)
	require.NoError(tb, err)
	s, err := scenario.Parse(data)
	require.NoError(tb, err, file)
	return s
}

// TestScenariosPrintTheirGoldenOutput replays every scenario. After an intended change, `go test ./replay -run
// Golden -update` in lab rewrites the files, and the diff is what a reviewer reads.
func TestScenariosPrintTheirGoldenOutput(t *testing.T) {
	for _, file := range scenarioFiles(t) {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			var out, progress bytes.Buffer
			cmd := replay.NewCommand()
			cmd.SetArgs([]string{"replay", file})
			cmd.SetOut(&out)
			cmd.SetErr(&progress)
			require.NoError(t, cmd.Execute())
			require.Empty(t, progress.String())
			golden := strings.TrimSuffix(file, ".json") + ".golden.jsonl"
			if updating() {
				require.NoError(t, os.WriteFile(golden, out.Bytes(), 0o600))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), out.String())
			for _, line := range strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n") {
				require.True(t, json.Valid([]byte(line)))
			}
		})
	}
}

// TestVerbose_PrintsItsGoldenOutput replays timers of each kind with -v, which says where each is. Golden output is written
// as that of scenarios.
func TestVerbose_PrintsItsGoldenOutput(t *testing.T) {
	const file, golden = "../testdata/verbose/places.json", "../testdata/verbose/places.golden.txt"
	var out bytes.Buffer
	cmd := replay.NewCommand()
	cmd.SetArgs([]string{"replay", "-v", file})
	cmd.SetOut(&out)
	require.NoError(t, cmd.Execute())
	var got bytes.Buffer
	where := map[string]bool{}
	for _, raw := range bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n")) {
		var line replay.Line
		require.NoError(t, json.Unmarshal(raw, &line))
		require.Len(t, line.Timers, int(line.Pending))
		for _, timer := range line.Timers {
			where[timer.Where] = true
			text, err := json.Marshal(timer)
			require.NoError(t, err)
			fmt.Fprintf(&got, "%d %s\n", line.Height, text)
		}
	}
	require.Equal(t, map[string]bool{"queued": true, "timed": true, "watching": true, "on hold": true}, where)
	if updating() {
		require.NoError(t, os.WriteFile(golden, got.Bytes(), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), got.String())
}

// TestScenarios_BlocksAreFrozen holds the hash of the state and the events of each block. After an intended change:
// go test ./replay -run Frozen -args -frozen.update
func TestScenarios_BlocksAreFrozen(t *testing.T) {
	for _, file := range scenarioFiles(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			runner, err := replay.NewRunner(readScenario(t, file))
			require.NoError(t, err)
			log := &frozen.Log{}
			for !runner.Done() {
				_, err := runner.Step()
				require.NoError(t, err)
				chain := runner.Chain()
				log.Block(int64(chain.Height()), chain.AppHash(), chain.Events().ToABCIEvents())
			}
			log.Compare(t, strings.TrimSuffix(file, ".json")+".frozen")
		})
	}
}
