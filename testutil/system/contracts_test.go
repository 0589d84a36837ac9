package system

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/testutil/node"
)

// TestLongAHeartbeatOnARealNode goes the way that x/timers/docs/contracts.md shows. Each command is a process of its own, on
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
		Timers []struct{ ID, Payload string }
	}
	cli(ctx, t, n, &listed, "query", "timers", "list", made.Contracts[0])
	require.Len(t, listed.Timers, 1)
	require.Equal(t, "YmVhdA==", listed.Timers[0].Payload)

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
