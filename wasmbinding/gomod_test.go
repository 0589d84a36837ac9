package wasmbinding_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestModule_NeedsXTimersAlone: a chain that imports the binding gets x/timers with it and nothing else of this repository.
func TestModule_NeedsXTimersAlone(t *testing.T) {
	list := exec.Command("go", "list", "-m", "all")
	list.Env = append(list.Environ(), "GOWORK=off")
	out, err := list.CombinedOutput()
	require.NoError(t, err, string(out))
	var ours []string
	for _, line := range strings.Split(string(out), "\n") {
		path, _, _ := strings.Cut(line, " ")
		if strings.HasPrefix(path, "github.com/cosmos-timers/") {
			ours = append(ours, path)
		}
	}
	require.Equal(t, []string{"github.com/cosmos-timers/timers/wasmbinding", "github.com/cosmos-timers/timers/x/timers"}, ours)
}
