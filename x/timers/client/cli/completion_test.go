package cli_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Shells offer the values of flags that have few.
func TestShellsOfferValues(t *testing.T) {
	r := newRig(t)
	for flag, want := range map[string]string{"--tier": "urgent", "--on-unfunded": "suspend", "--gas-limit": "auto", "--on-failure": "stop"} {
		for _, line := range [][]string{{"schedule"}, {"schedule", "send"}} {
			out, _, err := r.Run(append(append([]string{"__complete", "tx", "timers"}, line...), flag, "")...)
			require.NoError(t, err)
			require.Contains(t, out, want+"\n", flag)
		}
	}
	out, _, err := r.Run("__complete", "query", "timers", "list", "--status", "")
	require.NoError(t, err)
	require.Contains(t, out, "set-aside\n")
	require.Contains(t, out, "watching\n")
	out, _, err = r.Run("__complete", "tx", "timers", "schedule", "")
	require.NoError(t, err)
	require.Contains(t, out, "withdraw-rewards\t")
}
