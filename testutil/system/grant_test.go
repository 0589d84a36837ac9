package system

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/testutil/node"
)

// TestLongAGranterRevokesThenCancels: alice lets bob schedule sends for her. After the revocation bob schedules no more, and
// what he has scheduled is gone once she cancels it.
func TestLongAGranterRevokesThenCancels(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	n := start(ctx, t, node.Options{Accounts: []string{"alice", "bob"}}).Nodes[0]
	alice, bob := addressOf(ctx, t, n, "alice"), addressOf(ctx, t, n, "bob")

	result, err := n.Tx(ctx, "alice", "authz", "grant", bob, "generic", "--msg-type", "/timers.v1.MsgScheduleTimer")
	require.NoError(t, err)
	require.Equal(t, [2]any{"sdk", uint32(4)}, [2]any{result.Codespace, result.Code}, result.Log)
	require.Contains(t, result.Log, "want a timers.authz.v1.TimerAuthorization")

	// So far ahead that the timers are pending to the end, however slow the machine.
	result, err = n.Tx(ctx, "alice", "timers", "grant", "bob", "--allow", "/cosmos.bank.v1beta1.MsgSend", "--gas-limit", "100000",
		"--uses", "3", "--expires-in", "100000")
	require.NoError(t, err)
	require.Zero(t, result.Code, result.Log)
	var grants struct {
		Grants []struct {
			Authorization struct {
				Type  string
				Value struct {
					ExpiresAt string `json:"expires_at"`
					UsesLeft  string `json:"uses_left"`
				}
			}
		}
	}
	cli(ctx, t, n, &grants, "query", "authz", "grants", alice, bob)
	require.Len(t, grants.Grants, 1)
	require.Equal(t, "3", grants.Grants[0].Authorization.Value.UsesLeft)

	msgs := sendFile(t, alice, bob, 9_000_000_000)
	height := grants.Grants[0].Authorization.Value.ExpiresAt
	first := scheduledIn(t, execute(ctx, t, n, timerFor(ctx, t, n, alice, msgs, height)))
	require.Len(t, first, 1)
	second := scheduledIn(t, execute(ctx, t, n, timerFor(ctx, t, n, alice, msgs, height)))
	result = execute(ctx, t, n, timerFor(ctx, t, n, alice, msgs, height+"0"))
	require.Contains(t, result.Log, "where the authorization ends")

	result, err = n.Tx(ctx, "alice", "authz", "revoke", bob, "/timers.v1.MsgScheduleTimer")
	require.NoError(t, err)
	require.Zero(t, result.Code, result.Log)
	result = execute(ctx, t, n, timerFor(ctx, t, n, alice, msgs, height))
	require.Contains(t, result.Log, "authorization not found")
	var listed struct {
		Timers []struct{ ID string }
	}
	cli(ctx, t, n, &listed, "query", "timers", "list", alice)
	require.Len(t, listed.Timers, 2, "the revocation alone leaves them")
	for _, timer := range []scheduled{first[0], second[0]} {
		result, err = n.Tx(ctx, "alice", "timers", "cancel", alice+"/"+timer.id[:8])
		require.NoError(t, err)
		require.Zero(t, result.Code, result.Log)
	}
	listed.Timers = nil
	cli(ctx, t, n, &listed, "query", "timers", "list", alice)
	require.Empty(t, listed.Timers)
}

// timerFor writes a transaction that schedules a timer of an account, due and gone at a height, for a grantee to execute.
func timerFor(ctx context.Context, t *testing.T, n *node.Node, owner, msgs, height string) string {
	t.Helper()
	out, err := n.CLI(ctx, "tx", "timers", "schedule", "--msgs", msgs, "--at", height, "--expires-at", height, "--gas-limit", "100000",
		"--from", owner, "--generate-only", "--gas", "2000000", "--output", "json")
	require.NoError(t, err)
	require.True(t, json.Valid(out), string(out))
	path := filepath.Join(t.TempDir(), "timer.json")
	require.NoError(t, os.WriteFile(path, out, 0o600))
	return path
}

// execute sends a transaction of another's in its name, as bob.
func execute(ctx context.Context, t *testing.T, n *node.Node, file string) node.TxResult {
	t.Helper()
	result, err := n.Tx(ctx, "bob", "authz", "exec", file)
	require.NoError(t, err)
	return result
}
