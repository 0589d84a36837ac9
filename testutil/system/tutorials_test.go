package system

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Ports of the networks of the tutorials, below those that other tests take.
const (
	firstTimerPort = 19_200
	votePort       = 19_300
	nodePort       = 19_400
)

// tutorial is what the commands of a page of the site are, block by block.
func tutorial(t *testing.T, name string, blocks int) []string {
	t.Helper()
	page, err := os.ReadFile("../../site/pages/tutorials/" + name + ".md")
	require.NoError(t, err)
	var commands []string
	for _, found := range commandBlock.FindAllStringSubmatch(string(page), -1) {
		commands = append(commands, found[1])
	}
	require.Len(t, commands, blocks, "the page has other blocks: say here what they do")
	return commands
}

// TestTutorials_FirstTimerRuns: all commands of the page do what it says, one after the other, and print what it shows.
func TestTutorials_FirstTimerRuns(t *testing.T) {
	blocks := tutorial(t, "first-timer", 6)
	page, err := os.ReadFile("../../site/pages/tutorials/first-timer.md")
	require.NoError(t, err)
	parts, orphans := partsOfPage(string(page))
	require.Empty(t, orphans)
	const next = "=== next ===\n"
	script := "set -euo pipefail\ntrap 'make localnet-stop' EXIT\n"
	for _, block := range blocks[:5] {
		script += block + fmt.Sprintf("printf %q\n", next)
	}
	text := runPage(t, checkoutIn(t, t.TempDir()), firstTimerPort, script)
	for _, said := range []string{
		"will send 1000utmr to bob", "hello", "fired", "will send 10utmr to bob", "on hold: paused", "\nno timers\n",
	} {
		require.Contains(t, text, said, text)
	}
	shown := 0
	for i, printed := range strings.Split(text, next)[:5] {
		requireShown(t, parts[i].printed, printed)
		if parts[i].printed != "" {
			shown++
		}
	}
	require.Equal(t, 3, shown)
	require.Equal(t, "make localnet-stop\n", blocks[5])
}

// TestTutorials_VoteRuns: all commands of the page do what it says, and the parameter is changed.
func TestTutorials_VoteRuns(t *testing.T) {
	blocks := tutorial(t, "vote", 5)
	script := "set -euo pipefail\ntrap 'make localnet-stop' EXIT\n" + strings.Join(blocks, "")
	text := runPage(t, checkoutIn(t, t.TempDir()), votePort, script)
	require.Contains(t, text, "\"2000000\"\n", text)
	require.Contains(t, text, "PROPOSAL_STATUS_PASSED\n3000000\n", text)
}

// TestTutorials_NodeRuns: all commands of the page do what it says, on ports of the test's own.
func TestTutorials_NodeRuns(t *testing.T) {
	blocks := tutorial(t, "node", 6)
	script := "set -euo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT\n" +
		strings.ReplaceAll(strings.Join(blocks, ""), "127.0.0.1:1317", fmt.Sprint("127.0.0.1:", nodePort+2))
	at := func(offset int) string { return fmt.Sprint("tcp://127.0.0.1:", nodePort+offset) }
	text := runPage(t, checkoutIn(t, t.TempDir()), nodePort, script,
		"TIMERD_RPC_LADDR="+at(0), "TIMERD_NODE="+at(0), "TIMERD_P2P_LADDR="+at(1), "TIMERD_API_ADDRESS="+at(2),
		fmt.Sprint("TIMERD_GRPC_ADDRESS=127.0.0.1:", nodePort+3), "TIMERD_RPC_PPROF_LADDR=")
	require.Regexp(t, `timers_fires_total\{outcome="success",runtime="account"\} [1-9]`, text, text)
	require.Contains(t, text, "timers_pending 1\n", text)
	require.Regexp(t, `\n1\n$`, text, "one timer is exported")
}
