package app_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	wasmtypes "github.com/CosmWasm/wasmd/x/wasm/types"
	abci "github.com/cometbft/cometbft/abci/types"
	"github.com/stretchr/testify/require"

	errorsmod "cosmossdk.io/errors"
	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/testutil/appchain"
	"github.com/cosmos-timers/timers/testutil/contracts"
	"github.com/cosmos-timers/timers/x/timers/actors"
	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// oneAtATime puts policy eip1559 in force in a lane that one contract fills.
func oneAtATime(c *types.TimerConfig) {
	c.Policy, c.MaxFiresPerBlock = types.PolicyEIP1559, 1
}

func bidOf(agent string) *types.Bid { return &types.Bid{Agent: agent} }

// TestAHeartbeatIsItsOwnAgent: it bids more the later it is, and so gets past those who outbid it at first.
func TestAHeartbeatIsItsOwnAgent(t *testing.T) {
	for name, custom := range map[string]bool{"as protobuf": false, "as JSON": true} {
		t.Run(name, func(t *testing.T) {
			c := appchain.NewUnder(t, oneAtATime, "alice", "bob")
			config := map[string]any{"every": 3, "gas_limit": 250_000, "custom": custom}
			heartbeat := c.Instantiate("alice", c.StoreCode("alice", contracts.Heartbeat), config, 100_000_000)
			result := c.Execute("alice", heartbeat, `{"be_agent":{}}`)
			require.Zero(t, result.Code, result.Log)
			agent, err := c.App.Timers.AgentOf(c.Ctx(), heartbeat)
			require.NoError(t, err)
			require.Equal(t, heartbeat, agent)

			// Three of bob's timers are due with the beat, and one fires in a block. They tip 0.00045; the beat, what the last
			// block's fire tipped and a tenth of 0.001 for each block that it is late.
			due := uint64(c.App.LastBlockHeight()) + 4
			var txs [][]byte
			for i := range 3 {
				msg := schedule(t, c, "bob", due, send("bob", "alice", int64(i+1)))
				msg.Spec.Bid = &types.Bid{Static: &types.StaticBid{
					MaxFeePerCycle: decimal.Of(math.LegacyNewDec(1)), MaxPriorityFeePerCycle: decimal.Of(math.LegacyNewDecWithPrec(45, 5)),
				}}
				txs = append(txs, c.Sign("bob", msg))
			}
			txs = append(txs, c.Sign("alice", c.ExecuteMsg("alice", heartbeat, map[string]any{"start": map[string]any{}})))
			for _, result := range c.NextBlock(txs...).TxResults {
				require.Zero(t, result.Code, result.Log)
			}
			for uint64(c.App.LastBlockHeight()) < due-1 {
				require.Empty(t, appchain.Events(c.NextBlock(), "timers.v1.TimerFired"))
			}
			bobs := appchain.Events(c.NextBlock(), "timers.v1.TimerFired")
			require.Len(t, bobs, 1)
			require.Equal(t, address("bob"), bobs[0]["actor"], "the beat is not late and bids nothing")
			require.Equal(t, [2]string{tipAt(t, bobs[0], "0.00045"), "0"}, [2]string{bobs[0]["tip"], bobs[0]["agent_cycles"]})
			beats := appchain.Events(c.NextBlock(), "timers.v1.TimerFired")
			require.Len(t, beats, 1)
			require.Equal(t, heartbeat.String(), beats[0]["actor"], "it is late by one block, and bids what bob does and 0.0001")
			require.Equal(t, "true", beats[0]["success"], beats[0])
			require.Equal(t, tipAt(t, beats[0], "0.00055"), beats[0]["tip"])
			require.Greater(t, readFired(t, beats[0]).cycles, uint64(160_000), "setting up the contract twice is charged")
			asked, err := strconv.ParseUint(beats[0]["agent_cycles"], 10, 64)
			require.NoError(t, err)
			require.InDelta(t, 70_000, asked, 3_000, "5,000 for the call, 60,000 for setting up the contract, and its computing")
			c.Replay()
		})
	}
}

// tipAt is what a fire tips at so much per cycle: rounded down.
func tipAt(t *testing.T, event map[string]string, perCycle string) string {
	t.Helper()
	return math.LegacyMustNewDecFromStr(perCycle).MulInt64(int64(readFired(t, event).cycles)).TruncateInt().String()
}

// hostileAgent is a chain under eip1559 on which the hostile contract is asked for bids.
type hostileAgent struct{ *stage }

func newHostileAgent(t *testing.T) hostileAgent {
	t.Helper()
	c := appchain.NewUnder(t, func(c *types.TimerConfig) { c.Policy = types.PolicyEIP1559 }, "alice", "mallory")
	s := &stage{Chain: c, t: t}
	s.code = c.StoreCode("mallory", contracts.Hostile)
	s.hostile = c.Instantiate("mallory", s.code, `{}`, 100_000_000)
	s.heartbeat = c.Instantiate("alice", c.StoreCode("alice", contracts.Heartbeat), `{"every":1}`, 100_000_000)
	return hostileAgent{s}
}

// fireWith has the hostile contract do something when it is asked what mallory's timer bids, beside one of alice's with the
// heartbeat as its agent, and returns the block.
func (h hostileAgent) fireWith(do, answer string) *abci.ResponseFinalizeBlock {
	h.t.Helper()
	how, err := json.Marshal(map[string]any{"bid": map[string]string{"do": do, "answer": answer}})
	require.NoError(h.t, err)
	result := h.Execute("mallory", h.hostile, string(how))
	require.Zero(h.t, result.Code, result.Log)
	due := uint64(h.App.LastBlockHeight()) + 2
	mallorys := schedule(h.t, h.Chain, "mallory", due, send("mallory", "alice", 1))
	mallorys.Spec.Bid = bidOf(h.hostile.String())
	alices := schedule(h.t, h.Chain, "alice", due, send("alice", "mallory", 1))
	alices.Spec.Bid = bidOf(h.heartbeat.String())
	for _, result := range h.NextBlock(h.Sign("mallory", mallorys), h.Sign("alice", alices)).TxResults {
		require.Zero(h.t, result.Code, result.Log)
	}
	return h.NextBlock()
}

func answer(maxFee, maxPriority, maxCell string) string {
	return fmt.Sprintf(`{"max_fee_per_cycle":%q,"max_priority_fee_per_cycle":%q,"max_fee_per_cell":%q}`, maxFee, maxPriority, maxCell)
}

// Rule: 1.9-agent-reads-only
func TestAHostileAgentIsContained(t *testing.T) {
	h := newHostileAgent(t)
	good := answer("1", "1", "1")
	for _, c := range []struct {
		name, do, answer string
		want             *errorsmod.Error
		spent            bool
	}{
		{"loops for ever", "loop", good, types.ErrOutOfCycles, true},
		{"takes all memory", "hog", good, types.ErrOutOfCycles, true},
		{"panics", "panic", good, wasmtypes.ErrVMError, false},
		{"recurses for ever", "recurse", good, wasmtypes.ErrVMError, false},
		{"refuses", "refuse", good, wasmtypes.ErrQueryFailed, false},
		{"writes", "write", good, wasmtypes.ErrVMError, false},
		{"answers nothing", "", "", types.ErrInvalidQuote, false},
		{"answers garbage", "", `}{`, types.ErrInvalidQuote, false},
		{"answers a negative price", "", answer("1", "-1", "1"), types.ErrInvalidQuote, false},
		{"answers a price that overflows", "", answer(strings.Repeat("9", 78), "1", "1"), types.ErrInvalidQuote, false},
		{"answers too long", "", good + strings.Repeat(" ", actors.MaxQuoteBytes), types.ErrInvalidQuote, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			h.t = t
			response := h.fireWith(c.do, c.answer)
			failed := appchain.Events(response, "timers.v1.TimerAgentFailed")
			require.Len(t, failed, 1)
			codespace, code := codeOf(c.want)
			require.Equal(t, [3]string{h.hostile.String(), codespace, fmt.Sprint(code)},
				[3]string{failed[0]["agent"], failed[0]["codespace"], failed[0]["code"]})
			fires := appchain.Events(response, "timers.v1.TimerFired")
			require.Len(t, fires, 2)
			for _, fired := range fires {
				require.Equal(t, "true", fired["success"], fired)
				require.Equal(t, "0", fired["tip"], "the default bid tips what others did; the heartbeat is not late")
				require.Greater(t, readFired(t, fired).cycles, uint64(80_000), "setting up a query is charged")
				if fired["actor"] == address("mallory") {
					require.Equal(t, c.spent, fired["agent_cycles"] == "150000", fired)
				}
			}
			require.Empty(t, h.kept("mark"), "an agent can't write")
		})
	}
	h.t = t
	// When it behaves, its timer pays what it says.
	fires := appchain.Events(h.fireWith("", answer("0.011", "1", "1")), "timers.v1.TimerFired")
	require.Len(t, fires, 2)
	require.Equal(t, address("mallory"), fires[0]["actor"])
	require.Equal(t, tipAt(t, fires[0], "0.01"), fires[0]["tip"])
	h.Replay()
}
