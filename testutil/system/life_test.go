package system

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	rpchttp "github.com/cometbft/cometbft/rpc/client/http"
	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/lab/life"
	"github.com/cosmos-timers/timers/testutil/node"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// recorded is where the blocks of the run are written to, for the test of lab/life.
var recorded = flag.String("life.record", "", "file to write the blocks of the run of TestLife_OfARealNode to")

// laneOfLife is the lane of the run, in cycles.
const laneOfLife = 640_000

// TestLife_OfARealNode has a node run timers of each kind that the model knows under `lab load`: every event of every
// block is a step that the model allows. The lane holds less than becomes due, so that timers wait, and none waits
// where it finds room.
func TestLife_OfARealNode(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	n := start(ctx, t, node.Options{
		Accounts: []string{"alice", "bob"}, TimeoutCommit: 200 * time.Millisecond,
		Genesis: timersConfig(map[string]any{"lane_timer_cycles": fmt.Sprint(laneOfLife)}),
	}).Nodes[0]
	alice, bob := addressOf(ctx, t, n, "alice"), addressOf(ctx, t, n, "bob")
	send := sendFile(t, alice, bob, 1)
	guard := "bank:balance:" + bob + ":utmr"
	for _, args := range [][]string{
		{"--every", "2", "--count", "6"},
		{"--every", "3", "--count", "5", "--every-from", "schedule", "--missed", "each"},
		{"--every", "2", "--only-if", guard + " < 1", "--count", "3"},
		{"--watch", guard, "--count", "20"},
		{"--after", "6s"},
		{"--every", "1m", "--after", "6s", "--missed", "each"},
	} {
		schedule(ctx, t, n, "bob", append(args, "--msgs", sendFile(t, bob, alice, 1))...)
	}
	paused, _ := schedule(ctx, t, n, "alice", "--msgs", send, "--every", "2")
	cancelled, _ := schedule(ctx, t, n, "alice", "--msgs", send, "--in", "90000")
	for _, args := range [][]string{
		{"timers", "pause", alice + "/" + paused[:8]},
		{"timers", "resume", alice + "/" + paused[:8]},
		{"timers", "cancel", alice + "/" + cancelled[:8]},
	} {
		result, err := n.Tx(ctx, "alice", args...)
		require.NoError(t, err)
		require.Zero(t, result.Code, result.Log)
	}
	out, err := loadCommand(ctx, n, "--pending", "480", "--fires", "20", "--duration", "3s").CombinedOutput()
	require.NoError(t, err, string(out))

	config := types.DefaultTimerConfig("utmr")
	config.LaneTimerCycles = laneOfLife
	recorder, checker := lifeOf(t, n, config)
	var blocks []life.Block
	for height := int64(1); height <= heightOf(ctx, t, n); height++ {
		block, err := recorder.Record(ctx, height)
		require.NoError(t, err)
		require.NoError(t, checker.Block(block))
		blocks = append(blocks, block)
	}
	t.Logf("%d blocks of a lane of %d, %v, %d waits, %d timers live", len(blocks), laneOfLife, checker.Steps,
		checker.Waits, len(checker.IDs()))
	for _, kind := range []string{"TimerScheduled", "TimerFired", "TimerHeld", "TimerReleased", "TimerCancelled"} {
		require.NotZero(t, checker.Steps[kind], kind)
	}
	require.NotZero(t, checker.Waits)
	if *recorded != "" {
		raw, err := json.Marshal(blocks)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(*recorded, raw, 0o600))
	}
}

// lifeOf follows the timers of a node, on a chain with such a config.
func lifeOf(t *testing.T, n *node.Node, config types.TimerConfig) (*life.Recorder, *life.Checker) {
	t.Helper()
	client, err := rpchttp.New(n.RPC, "/websocket")
	require.NoError(t, err)
	return &life.Recorder{
		Node: client, Decode: app.Describe().TxConfig().TxDecoder(),
		Lane: market.Capacity{Cycles: config.LaneTimerCycles, Cells: config.LaneTimerCells},
	}, &life.Checker{SuspendsAfter: int64(config.MaxUnfundedSkips), Lane: int64(config.LaneTimerCycles)}
}
