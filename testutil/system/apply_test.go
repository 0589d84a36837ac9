package system

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/testutil/node"
)

var (
	applyKills = flag.Int("apply.kills", 6, "how often apply is killed")
	applySeed  = flag.Uint64("apply.seed", 1, "of the moments at which it is")
)

// TestApply_KilledAnywhereEndsAtTheFile: apply is killed at a random moment, and runs again until it ends. Then the timers are those of
// the file, and each payment of it was made once.
func TestApply_KilledAnywhereEndsAtTheFile(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	n := start(ctx, t, node.Options{Accounts: []string{"alice"}}).Nodes[0]
	alice := addressOf(ctx, t, n, "alice")
	// Who has nothing yet counts what comes in.
	made, err := n.CLI(ctx, "keys", "add", "counter", "--output", "json", "--keyring-backend", "test")
	require.NoError(t, err, string(made))
	out, err := n.CLI(ctx, "keys", "show", "counter", "--address", "--keyring-backend", "test")
	require.NoError(t, err)
	counter := strings.TrimSpace(string(out))
	random := rand.New(rand.NewPCG(*applySeed, 0))
	file := filepath.Join(t.TempDir(), "timers.yaml")
	killed, paid, payments := 0, 0, ""
	for round := range *applyKills {
		height := heightOf(ctx, t, n)
		// Payments stay in the file when they are made; one other timer differs each time, and one is gone.
		payments += fmt.Sprintf("  pay-%d: {does: send %s 1utmr, at: %d}\n", round, counter, height+80)
		text := fmt.Sprintf(`timers:
%[5]s  stay: {does: send %[2]s 5utmr, at: %[4]d}
  stay-%[1]d: {does: send %[2]s 7utmr, every: 1000000, first: %[3]d, count: 2}
`, round, counter, height+1_000_000, 2_000_000+round, payments)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		paid++
		if killAfter(ctx, t, n, file, time.Duration(random.IntN(2_500))*time.Millisecond) {
			killed++
		}
		for tries := 0; ; tries++ {
			_, _, err := n.Run(ctx, apply(file)...)
			if err == nil {
				break
			}
			require.Less(t, tries, 5, "%v", err)
		}
		_, _, err := n.Run(ctx, "tx", "timers", "diff", "--file", file, "--from", "alice", "--prune")
		require.NoError(t, err)
		listed, err := n.CLI(ctx, "query", "timers", "list", alice, "--output", "json")
		require.NoError(t, err)
		require.Equal(t, 1, strings.Count(string(listed), fmt.Sprintf(`"stay-%d"`, round)))
		require.Equal(t, 1, strings.Count(string(listed), `"stay"`))
		require.Equal(t, 2, strings.Count(string(listed), `"stay`), "those of earlier rounds are cancelled")
	}
	t.Logf("%d of %d runs were killed before they ended", killed, *applyKills)
	require.NoError(t, n.WaitHeight(ctx, heightOf(ctx, t, n)+90))
	var balance struct{ Balance struct{ Amount string } }
	cli(ctx, t, n, &balance, "query", "bank", "balance", counter, "utmr")
	require.Equal(t, fmt.Sprint(paid), balance.Balance.Amount)
}

func apply(file string) []string {
	return []string{"tx", "timers", "apply", "--file", file, "--from", "alice", "--prune", "--force", "--yes", "--gas-prices", "0.001utmr", "--output", "json", "--wait-timeout", "5m"}
}

// killAfter runs apply, kills it after a while, and tells whether it had not ended by then.
func killAfter(ctx context.Context, t *testing.T, n *node.Node, file string, after time.Duration) bool {
	t.Helper()
	cmd := exec.CommandContext(ctx, binary, append(apply(file), "--home", n.Home)...)
	require.NoError(t, cmd.Start())
	timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	err := cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signaled() {
		return true
	}
	return false
}
