package cli_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Shells offer the values of flags that have few.
func TestShellsOfferValues(t *testing.T) {
	r := newRig(t)
	for flag, want := range map[string]string{
		"--tier": "urgent", "--on-unfunded": "suspend", "--gas-limit": "auto", "--on-failure": "stop",
		"--missed": "each", "--every-from": "schedule", "--zone": "Europe/Berlin",
	} {
		for _, line := range [][]string{{"schedule"}, {"schedule", "send"}} {
			out, _, err := r.Run(append(append([]string{"__complete", "tx", "timers"}, line...), flag, "")...)
			require.NoError(t, err)
			require.Contains(t, out, want+"\n", flag)
		}
	}
	// What a grant is for is no time for which a timer lives.
	out, _, err := r.Run("__complete", "tx", "timers", "grant", "--for", "")
	require.NoError(t, err)
	require.Contains(t, out, "cancel\n")
	out, _, err = r.Run("__complete", "tx", "timers", "schedule", "--for", "")
	require.NoError(t, err)
	require.NotContains(t, out, "cancel\n")
	out, _, err = r.Run("__complete", "query", "timers", "list", "--status", "")
	require.NoError(t, err)
	require.Contains(t, out, "on-hold\n")
	require.Contains(t, out, "watching\n")
	out, _, err = r.Run("__complete", "tx", "timers", "schedule", "")
	require.NoError(t, err)
	require.Contains(t, out, "withdraw-rewards\t")
}

// Shells offer what there is: keys, the timers of the signer or of an actor that is typed, parameters and policies.
func TestShellsOfferKeysAndTimers(t *testing.T) {
	r := newRig(t)
	offered := func(line ...string) []string {
		t.Helper()
		out, _, err := r.Run(append([]string{"__complete"}, line...)...)
		require.NoError(t, err)
		lines := strings.Split(out, "\n")
		return lines[:slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, ":") })]
	}
	ids := []string{r.Schedule(500, 5)[:8], r.Schedule(500, 7)[:8]}
	slices.Sort(ids)
	both := []string{"alice", "bob"}
	for _, line := range [][]string{
		{"tx", "timers", "schedule", "send", ""},
		{"tx", "timers", "schedule", "send", "--from", ""},
		{"tx", "timers", "schedule", "--fee-payer", ""},
		{"tx", "timers", "grant", ""},
		{"query", "timers", "list", ""},
		{"query", "timers", "monitor", ""},
		{"tx", "timers", "sys-cancel-timer", ""},
	} {
		require.Equal(t, both, offered(line...), "%q", line)
	}
	require.Equal(t, []string{"bob"}, offered("query", "timers", "list", "b"))
	require.Equal(t, []string{"alice/", "bob/"}, offered("query", "timers", "timer", ""))
	for before, line := range map[string][]string{
		"":       {"tx", "timers", "cancel", "--from", "alice", ""},
		"alice/": {"query", "timers", "timer", "alice/"},
	} {
		got := offered(line...)
		require.Len(t, got, 2)
		for i, one := range got {
			require.Regexp(t, "^"+before+ids[i]+`\tsend [57]stake to bob, due at height 500$`, one)
		}
	}
	require.Len(t, offered("tx", "timers", "sys-release-timer", "alice", ""), 2)
	require.Len(t, offered("tx", "timers", "cancel", "--from", "alice", ids[0], ""), 2, "cancel takes several")
	for _, line := range [][]string{
		{"tx", "timers", "update", "--from", "alice", ids[0], ""},
		{"tx", "timers", "cancel", "--from", "bob", ""},
		{"tx", "timers", "cancel", "--from", "nobody", ""},
		{"tx", "timers", "sys-cancel-timer", "alice", ids[0], ""},
	} {
		require.Empty(t, offered(line...), "%q", line)
	}
	require.Equal(t, []string{"lane_timer_cells=", "lane_timer_cycles="}, offered("tx", "timers", "update-timer-config", "--set", "lane_timer"))
	require.Equal(t, []string{"eip1559.target="}, offered("query", "timers", "check-config", "--set", "eip1559.ta"))
	policies := offered("query", "timers", "check-config", "--set", "policy=")
	require.Len(t, policies, len(types.Policy_name)-1)
	require.Contains(t, policies, "policy=POLICY_FIFO")

	id := r.named("rent", 600, 9)
	r.named("two words", 600, 9)
	rent := id[:8] + "  rent: send 9stake to bob, due at height 600"
	require.Equal(t, []string{"rent\t" + rent}, offered("tx", "timers", "resume", "--from", "alice", "re"))
	require.Equal(t, []string{"alice/rent\t" + rent}, offered("query", "timers", "history", "alice/re"))
	r.Node.Down = true
	require.Empty(t, offered("tx", "timers", "cancel", "--from", "alice", ""), "without a node there is nothing to offer, and nothing to say")
}
