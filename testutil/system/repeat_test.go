package system

import (
	"context"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/testutil/node"
)

// TestAUserRepeatsPausesAndLooksBack: a heartbeat from the command line, paused and resumed, and its history from the
// node's own event index.
func TestAUserRepeatsPausesAndLooksBack(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	n := start(ctx, t, node.Options{Accounts: []string{"alice", "bob"}}).Nodes[0]
	alice, bob := addressOf(ctx, t, n, "alice"), addressOf(ctx, t, n, "bob")

	id, due := schedule(ctx, t, n, "alice", "--msgs", sendFile(t, alice, bob, 7), "--every", "3", "--on-unfunded", "suspend",
		"--retries", "2", "--retry-after", "1")
	fired, height := waitFired(ctx, t, n, due, id)
	require.Equal(t, due, height)
	require.NotEqual(t, "0", fired["next_due"])
	_, second := waitFired(ctx, t, n, height+1, id)
	require.Equal(t, height+3, second)

	result, err := n.Tx(ctx, "alice", "timers", "pause", alice+"/"+id[:8])
	require.NoError(t, err)
	require.Zero(t, result.Code, result.Log)
	var onHold struct {
		Timers []struct {
			ID     string
			Status struct {
				HoldReason string `json:"hold_reason"`
			}
		}
	}
	cli(ctx, t, n, &onHold, "query", "timers", "on-hold")
	require.Len(t, onHold.Timers, 1)
	require.Equal(t, "HOLD_REASON_PAUSED", onHold.Timers[0].Status.HoldReason)
	resumed, err := n.Tx(ctx, "alice", "timers", "resume", id[:8])
	require.NoError(t, err)
	require.Zero(t, resumed.Code, resumed.Log)
	_, third := waitFired(ctx, t, n, resumed.Height, id)
	// The node indexes events after it has committed their block.
	var seen []string
	eachBlock(ctx, t, n, third+1, func(int64, []node.Event) bool {
		var fires int64
		seen, fires = historyUntil(ctx, t, n, alice, id, third)
		return fires == third
	})
	require.Equal(t, "TimerScheduled", seen[0])
	require.Equal(t, []string{"TimerFired", "TimerFired"}, seen[1:3])
	require.Contains(t, seen, "TimerHeld")
	require.Contains(t, seen, "TimerReleased")
	require.Equal(t, "TimerFired", seen[len(seen)-1])
}

// historyUntil reads the history of a timer up to a height, two events a page, and returns the kinds of its events, the
// earliest first, and the height of the last fire among them.
func historyUntil(ctx context.Context, t *testing.T, n *node.Node, owner, id string, until int64) (seen []string, lastFire int64) {
	t.Helper()
	for before := "0"; before != ""; {
		var page struct {
			Events []struct {
				Height      int64
				Timer, Type string
			}
			NextBefore int64 `json:"next_before"`
		}
		cli(ctx, t, n, &page, "query", "timers", "history", owner+"/"+id[:10], "--page-limit", "2", "--before", before)
		for _, event := range page.Events {
			require.Equal(t, id, event.Timer)
			if event.Height > until {
				continue
			}
			seen = append([]string{event.Type}, seen...)
			if event.Type == "TimerFired" {
				lastFire = max(lastFire, event.Height)
			}
		}
		before = ""
		if page.NextBefore > 0 {
			before = strconv.FormatInt(page.NextBefore, 10)
		}
	}
	return seen, lastFire
}
