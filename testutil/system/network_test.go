package system

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/testutil/node"
)

// TestFourValidatorsOneIsKilled schedules timers on a network of four, kills one validator without warning while they
// fire, and starts it again: it catches up, all agree, and every timer fired exactly once.
func TestFourValidatorsOneIsKilled(t *testing.T) {
	ctx := testContext(t)
	network := start(ctx, t, node.Options{Validators: 4, Accounts: []string{"alice", "bob"}})
	first, victim := network.Nodes[0], network.Nodes[3]
	alice, bob := addressOf(ctx, t, first, "alice"), addressOf(ctx, t, first, "bob")

	from, err := first.Status(ctx)
	require.NoError(t, err)
	fires := map[string]int{}
	last := int64(0)
	for i := range 8 {
		id, due := schedule(ctx, t, first, "alice", "--msgs", sendFile(t, alice, bob, int64(i+1)), "--at", fmt.Sprint(from+14+int64(i)*2))
		fires[id] = 0
		last = max(last, due)
	}
	require.NoError(t, victim.WaitHeight(ctx, from+17))
	victim.Kill()
	require.NoError(t, first.WaitHeight(ctx, from+22), "three of four go on")
	require.NoError(t, victim.Start())
	require.NoError(t, network.WaitHeight(ctx, last+3))

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
	require.Len(t, fires, 8)
	for id, times := range fires {
		require.Equal(t, 1, times, "timer %s", id)
	}
	for _, height := range []int64{from + 5, from + 14, from + 18, from + 20, last, last + 1} {
		want, err := first.AppHash(ctx, height)
		require.NoError(t, err)
		require.NotEmpty(t, want)
		for _, n := range network.Nodes[1:] {
			got, err := n.AppHash(ctx, height)
			require.NoError(t, err)
			require.Equal(t, want, got, "%s at height %d", n.Name, height)
		}
	}
}
