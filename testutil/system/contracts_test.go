package system

import (
	"context"
	"encoding/json"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/testutil/node"
)

// TestLongAHeartbeatOnARealNode goes the way that x/timers/docs/use/contracts.md shows. Each command is a process of its own, on
// the home of the node that runs: contracts lock their part of it.
func TestLongAHeartbeatOnARealNode(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	n := start(ctx, t, node.Options{Accounts: []string{"alice"}}).Nodes[0]
	for _, args := range [][]string{
		{"wasm", "store", "../contracts/heartbeat.wasm"},
		{"wasm", "instantiate", "1", `{"every":2,"start":true}`, "--label", "heartbeat", "--no-admin", "--amount", "1000000utmr"},
	} {
		result, err := n.Tx(ctx, "alice", args...)
		require.NoError(t, err)
		require.Zero(t, result.Code, result.Log)
	}
	var made struct{ Contracts []string }
	cli(ctx, t, n, &made, "query", "wasm", "list-contract-by-code", "1")
	require.Len(t, made.Contracts, 1)
	height, count := beatUntil(ctx, t, n, made.Contracts[0], 2)
	var listed struct {
		Timers []struct {
			Spec struct{ Call struct{ Payload string } }
		}
	}
	cli(ctx, t, n, &listed, "query", "timers", "list", made.Contracts[0])
	require.Len(t, listed.Timers, 1)
	require.Equal(t, "YmVhdA==", listed.Timers[0].Spec.Call.Payload)

	// A node that starts again has its contracts.
	n.Stop()
	require.NoError(t, n.Start())
	require.NoError(t, n.WaitHeight(ctx, height+1))
	beatUntil(ctx, t, n, made.Contracts[0], count+1)

	result, err := n.Tx(ctx, "alice", "wasm", "execute", made.Contracts[0], `{"stop":{}}`)
	require.NoError(t, err)
	require.Zero(t, result.Code, result.Log)
	cli(ctx, t, n, &listed, "query", "timers", "list", made.Contracts[0])
	require.Empty(t, listed.Timers)
}

// TestContracts_AreWaitedFor: the commands of x/wasm that make and call contracts have --wait as the timers' have it.
func TestContracts_AreWaitedFor(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	n := start(ctx, t, node.Options{Accounts: []string{"alice", "bob"}}).Nodes[0]
	gas := []string{"--gas", "4000000", "--fees", "4000utmr", "--yes", "--wait", "--wait-timeout", "30m"}
	run := func(from string, args ...string) (string, error) {
		out, err := n.CLI(ctx, append(append(append([]string{"tx", "wasm"}, args...), "--from", from), gas...)...)
		return string(out), err
	}
	out, err := run("alice", "store", "../contracts/heartbeat.wasm")
	require.NoError(t, err)
	require.Regexp(t, `^code 1 is stored: transaction [0-9A-F]{64} is included at height \d+\n$`, out)
	var made struct {
		Status, Contract, TxHash string
		Height                   int64
	}
	out, err = run("alice", "instantiate", "1", `{"every":2}`, "--label", "heartbeat", "--no-admin", "--amount", "1000000utmr",
		"--output", "json", "--node", n.RPC)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal([]byte(out), &made), out)
	require.Equal(t, "included", made.Status)
	require.Positive(t, made.Height)
	out, err = run("alice", "execute", made.Contract, `{"start":{}}`)
	require.NoError(t, err)
	require.Regexp(t, `^transaction [0-9A-F]{64} is included at height \d+\ntimer `+made.Contract+`/[0-9a-f]{64} scheduled, until .*\n$`, out)
	beatUntil(ctx, t, n, made.Contract, 1)

	var failed struct{ Status, Codespace string }
	out, err = run("bob", "execute", made.Contract, `{"stop":{}}`, "--output", "json")
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, 1, exit.ExitCode())
	require.ErrorContains(t, err, "only the owner may do this")
	require.NoError(t, json.Unmarshal([]byte(out), &failed), out)
	require.Equal(t, [2]string{"failed", "wasm"}, [2]string{failed.Status, failed.Codespace})
	_, err = run("alice", "execute", made.Contract, `{"stop":{}}`, "--generate-only")
	require.ErrorContains(t, err, "want one of them")
}

// beatUntil waits until the contract has beaten so often, and returns the node's height and how often it has.
func beatUntil(ctx context.Context, t *testing.T, n *node.Node, contract string, count int) (int64, int) {
	t.Helper()
	for range 1_000 {
		var beats struct{ Data struct{ Count int } }
		cli(ctx, t, n, &beats, "query", "wasm", "contract-state", "smart", contract, `{"beats":{}}`)
		at, err := n.Status(ctx)
		require.NoError(t, err)
		if beats.Data.Count >= count {
			return at, beats.Data.Count
		}
		require.NoError(t, n.WaitHeight(ctx, at+1))
	}
	require.Fail(t, "the contract does not beat")
	return 0, 0
}
