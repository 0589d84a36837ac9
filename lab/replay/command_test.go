package replay_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/lab/replay"
)

// TestBadInputPrintsNothing: the whole file is checked before the first block runs.
func TestBadInputPrintsNothing(t *testing.T) {
	const late = `{"accounts": {"alice": "100"}, "blocks": 10, "ops": [
		{"at": 2, "op": "schedule", "as": "t1", "actor": "alice", "height": 5},
		{"at": 10, "op": "cancel", "timer": "t2", "by": "alice"}]}`
	for name, data := range map[string]string{"a late mistake": late, "no JSON": "height: 5"} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			cmd := replay.NewCommand()
			cmd.SetArgs([]string{"replay", "-"})
			cmd.SetIn(strings.NewReader(data))
			cmd.SetOut(&out)
			cmd.SetErr(new(bytes.Buffer))
			err := cmd.Execute()
			require.Equal(t, 2, exitCode(err))
			require.Empty(t, out.String())
		})
	}
}

// TestReplay_TellsConstants that a file states: on the standard error, and the run is the same.
func TestReplay_TellsConstants(t *testing.T) {
	run := func(config string) (out, notes string) {
		var stdout, stderr bytes.Buffer
		cmd := replay.NewCommand()
		cmd.SetArgs([]string{"replay", "-"})
		cmd.SetIn(strings.NewReader(`{"config": {` + config + `}, "accounts": {}, "blocks": 1}`))
		cmd.SetOut(&stdout)
		cmd.SetErr(&stderr)
		require.NoError(t, cmd.Execute())
		return stdout.String(), stderr.String()
	}
	plain, none := run("")
	require.Empty(t, none)
	out, notes := run(`"lapse_cycles": "6000"`)
	require.Equal(t, plain, out)
	require.Equal(t, "config.lapse_cycles: it is no parameter any more, but a constant, and may be left out\n", notes)
}

func TestMissingFileIsBadInput(t *testing.T) {
	cmd := replay.NewCommand()
	cmd.SetArgs([]string{"replay", filepath.Join(t.TempDir(), "nothing.json")})
	cmd.SetOut(new(bytes.Buffer))
	cmd.SetErr(new(bytes.Buffer))
	require.Equal(t, 2, exitCode(cmd.Execute()))
}

// exitCode is how a program finds the exit status of an error.
func exitCode(err error) int {
	var coded interface{ ExitCode() int }
	if errors.As(err, &coded) {
		return coded.ExitCode()
	}
	return 1
}
