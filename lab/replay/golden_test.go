package replay_test

import (
	"bytes"
	"encoding/json"
	"flag"
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
