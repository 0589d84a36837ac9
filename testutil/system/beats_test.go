package system

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/testutil/node"
)

// How much of it is run; `make soak-contracts` runs more.
var (
	beatingContracts = flag.Int("contracts", 8, "contracts that beat on the network of four")
	beatingBlocks    = flag.Int64("blocks", 25, "blocks for which they beat")
)

const (
	// instantiatedAtOnce is how many contracts one transaction makes, gasEach what each may cost it.
	instantiatedAtOnce, gasEach = 10, 400_000
	// beatCycles is a little more than a beat takes, beatLimit its gas limit: the lane holds a beat of every contract.
	beatCycles, beatLimit = 120_000, 200_000
)

// TestLongContractsBeatOnFourValidators has contracts schedule themselves on a network of four, of which one stops and starts
// again from its data: all agree on every block's state, and each beat is found as an event, as a receipt and in its
// contract's own count, on the node that was away.
func TestLongContractsBeatOnFourValidators(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := start(ctx, t, node.Options{
		Validators: 4, Accounts: []string{"alice"}, TimeoutCommit: 100 * time.Millisecond,
		Genesis: timersConfig(map[string]any{"lane_timer_cycles": fmt.Sprint(beatLimit + *beatingContracts*beatCycles)}),
	})
	first, away := network.Nodes[0], network.Nodes[3]
	beating := instantiateHeartbeats(ctx, t, first, *beatingContracts)

	from := heightOf(ctx, t, first)
	// What fired in the blocks while contracts were still being made counts too.
	tally := tally{beats: map[string]int{}, from: 1}
	// Each part counts from the height at which it begins: on a slow machine who reads the blocks is behind who makes them.
	part := max(1, *beatingBlocks/3)
	tally.follow(ctx, t, first, from+part)
	away.Stop()
	stop := heightOf(ctx, t, first)
	tally.follow(ctx, t, first, stop)
	stopped := tally.beaten
	tally.follow(ctx, t, first, stop+part)
	require.Greater(t, tally.beaten, stopped, "three of four go on")
	require.NoError(t, away.Start())
	again := heightOf(ctx, t, first)
	last := again + part
	tally.follow(ctx, t, first, last)
	require.NoError(t, network.WaitHeight(ctx, last+1))

	counted := 0
	for i, contract := range beating {
		var beats struct{ Data struct{ Count int } }
		cli(ctx, t, away, &beats, "query", "wasm", "contract-state", "smart", contract, `{"beats":{}}`, "--height", fmt.Sprint(last))
		require.Equal(t, tally.beats[contract], beats.Data.Count, contract)
		require.Positive(t, beats.Data.Count, "contract %d beats", i)
		counted += beats.Data.Count
	}
	require.Equal(t, tally.beaten, counted, "every beat is of one of our contracts")
	require.Equal(t, tally.beaten, tally.receipts)
	var waiting struct{ Timers []struct{ Actor string } }
	require.NoError(t, away.Get(ctx, fmt.Sprintf("/timers/v1/due/%d?until=true&pagination.limit=1000", last+1_000), &waiting))
	require.Len(t, waiting.Timers, len(beating), "each contract waits for its next beat, and for no more")
	heights := requireSameState(ctx, t, network, from, last)
	t.Logf("%d contracts, blocks %d to %d, %s away from %d to %d: contracts count %d beats, %d TimerFired, %d receipts, %d late; state equal at %d heights",
		len(beating), from, last, away.Name, stop, again, counted, tally.beaten, tally.receipts, tally.late, heights)
}

// timersConfig sets fields of the timers' config in genesis.
func timersConfig(fields map[string]any) func(map[string]json.RawMessage) error {
	return func(state map[string]json.RawMessage) error {
		var timers, config map[string]any
		if err := json.Unmarshal(state["timers"], &timers); err != nil {
			return err
		}
		config, _ = timers["config"].(map[string]any)
		for field, value := range fields {
			if _, known := config[field]; !known {
				return fmt.Errorf("the config has no field %q", field)
			}
			config[field] = value
		}
		var err error
		state["timers"], err = json.Marshal(timers)
		return err
	}
}

// instantiateHeartbeats makes contracts that beat from the start, every one to five blocks, and returns their addresses.
func instantiateHeartbeats(ctx context.Context, t *testing.T, n *node.Node, count int) []string {
	t.Helper()
	alice := addressOf(ctx, t, n, "alice")
	result, err := n.Tx(ctx, "alice", "wasm", "store", "../contracts/heartbeat.wasm")
	require.NoError(t, err)
	require.Zero(t, result.Code, result.Log)
	var made []string
	for len(made) < count {
		var messages []any
		for i := len(made); i < count && len(messages) < instantiatedAtOnce; i++ {
			messages = append(messages, map[string]any{
				"@type": "/cosmwasm.wasm.v1.MsgInstantiateContract", "sender": alice, "code_id": "1", "label": fmt.Sprintf("heartbeat %d", i),
				"msg": map[string]any{"every": 1 + i%5, "start": true, "gas_limit": beatLimit, "custom": i%2 == 1},
				// Enough for a beat each block, and for the pre-charge of the last.
				"funds": []any{map[string]string{"denom": "utmr", "amount": "10000000"}},
			})
		}
		result, err := n.Send(ctx, "alice", uint64(len(messages))*gasEach, messages...)
		require.NoError(t, err)
		require.Zero(t, result.Code, result.Log)
		before := len(made)
		for _, event := range result.Events {
			if event.Type == "instantiate" {
				made = append(made, event.Attributes["_contract_address"])
			}
		}
		require.Len(t, made, before+len(messages))
	}
	return made
}

func heightOf(ctx context.Context, t *testing.T, n *node.Node) int64 {
	t.Helper()
	height, err := n.Status(ctx)
	require.NoError(t, err)
	return height
}

// tally is what a node tells of beats, block by block.
type tally struct {
	// from is the next block to read.
	from int64
	// beats by contract, and their sum.
	beats  map[string]int
	beaten int
	// receipts found, and beats later than due.
	receipts, late int
}

// follow reads the blocks up to a height as they come. A beat that fails, and a timer that leaves by another way than
// firing, fail the test.
func (c *tally) follow(ctx context.Context, t *testing.T, n *node.Node, to int64) {
	t.Helper()
	for ; c.from <= to; c.from++ {
		require.NoError(t, n.WaitHeight(ctx, c.from))
		events, err := n.BlockEvents(ctx, c.from)
		require.NoError(t, err)
		fired := map[string]string{}
		for _, event := range events {
			switch event.Type {
			case "timers.v1.TimerFired":
				require.Equal(t, "true", event.Attributes["success"], event.Attributes)
				fired[event.Attributes["deliver_id"]] = event.Attributes["actor"]
				c.beats[event.Attributes["actor"]]++
				c.beaten++
				if event.Attributes["late"] != "0" {
					c.late++
				}
			case "timers.v1.TimerExpired", "timers.v1.TimerCancelledInsufficientFunds", "timers.v1.TimerHeld", "timers.v1.TimerLaneFailed":
				require.Fail(t, "a beat was lost", "height %d: %v", c.from, event)
			}
		}
		var receipts struct {
			Receipts []struct {
				DeliverID string `json:"deliver_id"`
				Actor     string `json:"actor"`
				Success   bool   `json:"success"`
			}
		}
		require.NoError(t, n.Get(ctx, fmt.Sprintf("/timers/v1/receipts/%d?pagination.limit=1000", c.from), &receipts))
		for _, receipt := range receipts.Receipts {
			require.True(t, receipt.Success)
			require.Equal(t, fired[receipt.DeliverID], receipt.Actor)
			delete(fired, receipt.DeliverID)
			c.receipts++
		}
		require.Empty(t, fired, "each fire has its receipt")
	}
}

// requireSameState compares the nodes' hashes of the state after every block of a range, and returns how many these are.
func requireSameState(ctx context.Context, t *testing.T, network *node.Network, from, to int64) int {
	t.Helper()
	seen := map[string]bool{}
	for height := from; height <= to; height++ {
		want, err := network.Nodes[0].AppHash(ctx, height)
		require.NoError(t, err)
		require.NotEmpty(t, want)
		seen[want] = true
		for _, n := range network.Nodes[1:] {
			got, err := n.AppHash(ctx, height)
			require.NoError(t, err)
			require.Equal(t, want, got, "%s at height %d", n.Name, height)
		}
	}
	require.Len(t, seen, int(to-from)+1, "the state changes in every block")
	return len(seen)
}
