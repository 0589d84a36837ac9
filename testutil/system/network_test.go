package system

import (
	"context"
	"encoding/base64"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/testutil/node"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// TestLongFourValidatorsOneIsKilled schedules timers on a network of four, kills one validator without warning while they
// fire, schedules more of them without it, and starts it again when these have fired: it catches up, all agree, and every
// timer fired exactly once.
func TestLongFourValidatorsOneIsKilled(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := start(ctx, t, node.Options{Validators: 4, Accounts: []string{"alice", "bob"}})
	first, victim := network.Nodes[0], network.Nodes[3]
	alice, bob := addressOf(ctx, t, first, "alice"), addressOf(ctx, t, first, "bob")

	from := heightOf(ctx, t, first)
	before := scheduleSends(ctx, t, first, alice, bob, 1)
	waitFired(ctx, t, first, before[0].due, before[0].id)
	victim.Kill()
	killed := heightOf(ctx, t, first)
	without := scheduleSends(ctx, t, first, alice, bob, 1+sendsAtOnce)
	for _, timer := range without {
		require.Greater(t, timer.due, killed)
		_, height := waitFired(ctx, t, first, timer.due, timer.id)
		require.Equal(t, timer.due, height, "three of four go on")
	}
	require.NoError(t, victim.Start())
	last := max(before[sendsAtOnce-1].due, without[sendsAtOnce-1].due)
	require.NoError(t, network.WaitHeight(ctx, last+3))

	fires := map[string]int{}
	for _, timer := range append(before, without...) {
		fires[timer.id] = 0
	}
	for height := from; height <= last+1; height++ {
		events, err := first.BlockEvents(ctx, height)
		require.NoError(t, err)
		for _, event := range events {
			if event.Type == "timers.v1.TimerFired" {
				require.Equal(t, "true", event.Attributes["success"])
				fires[event.Attributes["id"]]++
			}
		}
	}
	require.Len(t, fires, 2*sendsAtOnce)
	for id, times := range fires {
		require.Equal(t, 1, times, "timer %s", id)
	}
	heights := requireSameState(ctx, t, network, from, last+1)
	t.Logf("%s was killed at height %d of %d to %d; state equal at %d heights", victim.Name, killed, from, last+1, heights)
}

// sendsAtOnce is how many timers scheduleSends schedules.
const sendsAtOnce = 4

// scheduleSends schedules timers of alice in one transaction, due two blocks apart, each of which sends bob one coin more
// than the one before.
func scheduleSends(ctx context.Context, t *testing.T, n *node.Node, alice, bob string, amount int64) []scheduled {
	t.Helper()
	made := soon(t, 8, func(ahead int64) (node.TxResult, error) {
		now, messages := heightOf(ctx, t, n), make([]any, sendsAtOnce)
		for i := range messages {
			payload, err := types.NewAccountPayload(&banktypes.MsgSend{
				FromAddress: alice, ToAddress: bob, Amount: sdk.NewCoins(sdk.NewInt64Coin("utmr", amount+int64(i))),
			})
			require.NoError(t, err)
			raw, err := payload.Marshal()
			require.NoError(t, err)
			messages[i] = map[string]any{
				"@type": "/timers.v1.MsgScheduleTimer", "sender": alice, "spec": map[string]any{
					"gas_limit": "100000", "call": map[string]any{"payload": base64.StdEncoding.EncodeToString(raw)},
					"trigger": map[string]any{"height": fmt.Sprint(now + ahead + 2*int64(i))},
				},
			}
		}
		return n.Send(ctx, "alice", sendsAtOnce*400_000, messages...)
	})
	require.Len(t, made, sendsAtOnce)
	return made
}
