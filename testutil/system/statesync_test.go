package system

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/testutil/node"
)

// snapshotInterval is how many blocks lie between two snapshots.
const snapshotInterval = 10

// words are what a timer does, in JSON.
var words = regexp.MustCompile(`"does":"(?:[^"\\]|\\.)*"`)

// TestLongAFreshValidatorJoinsByStateSync starts three validators of four, with timers of every kind pending and contracts that
// schedule themselves. The fourth, which has nothing, gets the state from a snapshot, not from blocks, and continues from
// there: it checks and signs the blocks that follow, its state is that of the others, timers fire on it, contracts' code is
// there, and it answers what the others answer.
func TestLongAFreshValidatorJoinsByStateSync(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network, err := node.New(ctx, node.Options{
		Binary: binary, Dir: filepath.Join(t.TempDir(), "net"), Validators: 4, Accounts: []string{"alice", "bob"},
		TimeoutCommit: 500 * time.Millisecond,
	})
	require.NoError(t, err)
	t.Cleanup(func() { stopAndShow(t, network) })
	old, fresh := &node.Network{Nodes: network.Nodes[:3]}, network.Nodes[3]
	for _, n := range old.Nodes {
		require.NoError(t, n.Configure("app.toml", "state-sync", "snapshot-interval", fmt.Sprint(snapshotInterval)))
		require.NoError(t, n.Configure("app.toml", "state-sync", "snapshot-keep-recent", "4"))
		require.NoError(t, n.Start())
	}
	require.NoError(t, old.WaitHeight(ctx, 2))
	first := old.Nodes[0]
	kinds := scheduleEveryKind(ctx, t, first)

	made := heightOf(ctx, t, first)
	snapshot := (made/snapshotInterval + 1) * snapshotInterval
	require.NoError(t, old.WaitHeight(ctx, snapshot+3))
	syncFrom(ctx, t, fresh, old.Nodes[0], old.Nodes[1])
	require.NoError(t, fresh.Start())
	require.NoError(t, fresh.WaitHeight(ctx, snapshot+2))
	earliest, err := fresh.EarliestBlock(ctx)
	require.NoError(t, err)
	require.GreaterOrEqual(t, earliest, snapshot, "it has no blocks from before: they came as a snapshot")

	// It continues with the others, and signs.
	joined := heightOf(ctx, t, fresh)
	fires := map[string]bool{}
	eachBlock(ctx, t, fresh, joined+1, func(height int64, events []node.Event) bool {
		for _, event := range events {
			require.NotEqual(t, "timers.v1.TimerLaneFailed", event.Type)
			if event.Type == "timers.v1.TimerFired" {
				require.Equal(t, "true", event.Attributes["success"], "height %d: %v", height, event.Attributes)
				fires[event.Attributes["actor"]] = true
			}
		}
		return fires[kinds.alice] && fires[kinds.contract] && height > joined+3
	})
	signer, err := fresh.ConsensusAddress(ctx)
	require.NoError(t, err)
	eachBlock(ctx, t, first, joined+1, func(height int64, _ []node.Event) bool {
		signers, err := first.Signers(ctx, height)
		require.NoError(t, err)
		return signers[signer]
	})
	last := heightOf(ctx, t, fresh) - 1
	heights := requireSameState(ctx, t, network, earliest+1, last-1)
	for _, args := range kinds.questions {
		args = append(args, "--height", fmt.Sprint(last))
		want, err := first.CLI(ctx, args...)
		require.NoError(t, err)
		got, err := fresh.CLI(ctx, args...)
		require.NoError(t, err)
		// What a timer does is told in words, in which each home's own keys have names.
		require.Equal(t, words.ReplaceAllString(string(want), ""), words.ReplaceAllString(string(got), ""), "%v", args)
	}
	t.Logf("%s joined from a snapshot at height %d or later, its first block is %d; state equal at %d heights", fresh.Name, snapshot, earliest, heights)
}

// everyKind is what scheduleEveryKind leaves on the chain.
type everyKind struct {
	alice, contract string
	// questions are commands whose answers show it.
	questions [][]string
}

// scheduleEveryKind leaves a timer of each kind: pending, repeating, watching, paused, and one of a contract that continues.
func scheduleEveryKind(ctx context.Context, t *testing.T, n *node.Node) everyKind {
	t.Helper()
	alice, bob := addressOf(ctx, t, n, "alice"), addressOf(ctx, t, n, "bob")
	send := sendFile(t, alice, bob, 1)
	schedule(ctx, t, n, "alice", "--msgs", send, "--in", "90000")
	schedule(ctx, t, n, "alice", "--msgs", send, "--every", "3", "--on-unfunded", "suspend")
	schedule(ctx, t, n, "alice", "--msgs", send, "--watch", "bank:balance:"+bob+":utmr", "--count", "1000")
	paused, _ := schedule(ctx, t, n, "alice", "--msgs", send, "--in", "80000")
	for _, args := range [][]string{
		{"timers", "pause", alice + "/" + paused[:8]},
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
	return everyKind{alice: alice, contract: made.Contracts[0], questions: [][]string{
		{"query", "timers", "list", alice, "--output", "json"},
		{"query", "timers", "on-hold", "--output", "json"},
		{"query", "timers", "lane", "--output", "json"},
		{"query", "wasm", "contract-state", "smart", made.Contracts[0], `{"beats":{}}`, "--output", "json"},
	}}
}

// syncFrom tells a node to get its state from a snapshot, which it checks against headers of two others.
func syncFrom(ctx context.Context, t *testing.T, n *node.Node, first, second *node.Node) {
	t.Helper()
	hash, err := first.BlockHash(ctx, 2)
	require.NoError(t, err)
	quoted := func(text string) string {
		raw, err := json.Marshal(text)
		require.NoError(t, err)
		return string(raw)
	}
	for option, value := range map[string]string{
		"enable": "true", "rpc_servers": quoted(first.RPC + "," + second.RPC), "trust_height": "2", "trust_hash": quoted(hash),
		"trust_period": `"1h"`, "discovery_time": `"5s"`,
	} {
		require.NoError(t, n.Configure("config.toml", "statesync", option, value))
	}
}
