//go:build browser

package system

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/testutil/node"
)

// pictures is where the pictures are kept, by view.
const pictures = "../../build/pictures"

// looks opens a view in Chromium, light, dark and in a phone's width, and wants it to show texts.
func looks(ctx context.Context, t *testing.T, address, name, view string, texts ...string) {
	t.Helper()
	directory := filepath.Join(pictures, name)
	require.NoError(t, os.MkdirAll(directory, 0o700))
	args := append([]string{"../../scripts/screenshots.mjs", address, directory, view}, texts...)
	out, err := exec.CommandContext(ctx, "node", args...).CombinedOutput()
	require.NoError(t, err, "%s: %s", name, out)
}

// TestDashboard_InABrowser looks at each view of a chain on which nothing has happened, under overload, and with names that
// are markup.
func TestDashboard_InABrowser(t *testing.T) {
	ctx := testContext(t)
	n := start(ctx, t, node.Options{
		Accounts: []string{"alice", "bob"},
		// A block has room for some sixteen fires of the crowd below, which is ready for dozens of blocks.
		Genesis: timersConfig(map[string]any{"candidate_window": "64", "lane_timer_cycles": "700000"}),
	}).Nodes[0]
	address, _ := dashboard(ctx, t, n, filepath.Join(t.TempDir(), "dashboard.db"))
	alice, bob := addressOf(ctx, t, n, "alice"), addressOf(ctx, t, n, "bob")
	looks(ctx, t, address, "empty", "", "nothing is ready", "nothing has happened yet", "0 timers within",
		"candidate_window", "All is well", "Change timers with a wallet")
	looks(ctx, t, address, "stranger", "#actor/"+bob, "0 fires", "0 live timers", "nothing yet")

	const name, crowd = `<img src=x onerror=alert(1)>`, 400
	messages := make([]any, crowd)
	for i := range messages {
		messages[i] = map[string]any{
			"@type": "/timers.v1.MsgScheduleTimer", "sender": alice, "spec": map[string]any{
				"trigger": map[string]any{"after": "3"}, "gas_limit": "100000", "name": fmt.Sprintf("%s %d", name, i),
				"call": map[string]any{"messages": []any{map[string]any{
					"@type": "/cosmos.bank.v1beta1.MsgSend", "from_address": alice, "to_address": bob,
					"amount": []any{map[string]any{"denom": "utmr", "amount": "1"}},
				}}},
			},
		}
	}
	result, err := n.Send(ctx, "alice", 200_000_000, messages...)
	require.NoError(t, err)
	made := scheduledIn(t, result)
	require.Len(t, made, crowd)
	looks(ctx, t, address, "storm", "", "left ready", "fired", name, "overload", "Red bars: overload", "All tiers cost the same now")
	looks(ctx, t, address, "actor", "#actor/"+alice, "live timer", "fired")
	first := made[0]
	waitFired(ctx, t, n, first.due, first.id)
	looks(ctx, t, address, "timer", fmt.Sprintf("#timer/%s/%s", alice, first.id), "1 fire, 0 failed", "it is gone", name)
	at := time.Now().Add(49 * time.Hour)
	timed := map[string]any{
		"@type": "/timers.v1.MsgScheduleTimer", "sender": alice, "spec": map[string]any{
			"trigger": map[string]any{"time": at.UTC().Format(time.RFC3339)}, "name": "by the clock", "call": messages[0].(map[string]any)["spec"].(map[string]any)["call"],
		},
	}
	result, err = n.Send(ctx, "alice", 1_000_000, timed)
	require.NoError(t, err)
	date := at.Format("2006-01-02 15:04:05")
	looks(ctx, t, address, "timed", "", "by the clock", date+" in 2 d")
	looks(ctx, t, address, "timed-timer", fmt.Sprintf("#timer/%s/%s", alice, scheduledIn(t, result)[0].id), "due "+date)
}
