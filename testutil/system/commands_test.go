package system

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/testutil/node"
)

// TestEverydayCommands: what people do most works on a real node without a file, with names of keys, with the gas that the
// node says, and with the gas limit that a dry run says.
func TestEverydayCommands(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	n := start(ctx, t, node.Options{Accounts: []string{"alice", "bob"}}).Nodes[0]
	alice := addressOf(ctx, t, n, "alice")
	gas := []string{"--from", "alice", "--gas", "auto", "--gas-prices", "0.001utmr", "--yes", "--wait", "--wait-timeout", "30m", "--output", "json"}
	type made struct {
		Name string
		Due  int64
	}
	try := func(args ...string) (done made, notes string, err error) {
		out, notesOut, err := n.Run(ctx, append(append([]string{"tx", "timers"}, args...), gas...)...)
		if err != nil {
			return made{}, "", err
		}
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		require.NoError(t, json.Unmarshal([]byte(lines[len(lines)-1]), &done), string(out))
		return done, string(notesOut), nil
	}
	send := func(args ...string) (done made, notes string) {
		done, notes, err := try(args...)
		require.NoError(t, err, args)
		return done, notes
	}
	for _, args := range [][]string{
		{"wasm", "store", "../contracts/heartbeat.wasm"},
		{"wasm", "instantiate", "1", `{"every":2,"start":true}`, "--label", "heartbeat", "--no-admin", "--amount", "1000000utmr"},
	} {
		result, err := n.Tx(ctx, "alice", args...)
		require.NoError(t, err)
		require.Zero(t, result.Code, result.Log)
	}
	var contracts struct{ Contracts []string }
	cli(ctx, t, n, &contracts, "query", "wasm", "list-contract-by-code", "1")
	require.Len(t, contracts.Contracts, 1)
	// Some blocks ahead, or more of them on a machine so slow that these are over when the transaction gets into a block.
	sendSoon := func(words ...string) (done made, notes string) {
		for ahead := 16; ; ahead *= 2 {
			args := append(append([]string{"schedule"}, words...), "--in", fmt.Sprint(ahead), "--gas-limit", "auto")
			done, notes, err := try(args...)
			if err != nil && ahead < 10_000 && isTooSoon(err.Error()) {
				continue
			}
			require.NoError(t, err, args)
			return done, notes
		}
	}
	for want, words := range map[string][]string{
		"will send 5utmr to bob (":                        {"send", "bob", "5utmr"},
		"will delegate 7utmr to node0 (timervaloper1":     {"delegate", "node0", "7utmr"},
		"will call " + contracts.Contracts[0] + " with {": {"exec", contracts.Contracts[0], `{"stop":{}}`},
	} {
		scheduled, notes := sendSoon(words...)
		require.Contains(t, notes, want)
		require.Contains(t, notes, "it would succeed if it ran now")
		_, id, found := strings.Cut(scheduled.Name, "/")
		require.True(t, found, scheduled.Name)
		event, _ := waitFired(ctx, t, n, scheduled.Due, id)
		require.Equal(t, "true", event["success"], "%v: %v", words, event)
	}

	later, notes := send("schedule", "withdraw-rewards", "node0", "--every", "day@09:00", "--for", "30d", "--name", "rewards")
	require.Contains(t, notes, ", every day at 09:00 ")
	require.Contains(t, notes, "next at\n")
	_, id, _ := strings.Cut(later.Name, "/")
	out, err := n.CLI(ctx, "query", "timers", "list", "alice")
	require.NoError(t, err)
	require.Contains(t, string(out), "withdraw rewards from node0")
	require.Contains(t, string(out), id[:8])
	until := time.Now().UTC().AddDate(0, 3, 0).Format("2006-01-02 15:04")
	_, notes = send("extend", id[:10], "--until", until)
	require.Contains(t, notes, "may fire until "+until+":00 ")
	_, notes = send("extend", id[:10], "--by", "400d")
	require.Contains(t, notes, "a timer lives at most 396d0h: ")
	_, notes = send("skip", "rewards")
	require.Contains(t, notes, ": 1 occurrence passes: ")
	send("run", "rewards")
	send("schedule", "send", "bob", "5utmr", "--watch", "bank:balance:bob:utmr")
	_, notes = send("cancel", "--all")
	require.Contains(t, notes, "cancels all your timers: ")
	var listed struct{ Timers []struct{ ID string } }
	cli(ctx, t, n, &listed, "query", "timers", "list", alice)
	require.Empty(t, listed.Timers)
	// One that is gone is found by its name, with each act of its owner.
	out, err = n.CLI(ctx, "query", "timers", "history", "alice/rewards", "--output", "text")
	require.NoError(t, err)
	require.Regexp(t, `(?s) cancelled .* run .* skipped +requested .*1 occurrence: \d{4}-.* extended .* scheduled `, string(out))

	_, notes = send("update-timer-config", "--set", "lane_timer_cycles=3000000", "--title", "wider", "--summary", "why")
	require.Contains(t, notes, "lane_timer_cycles: 2000000 -> 3000000\n")
	out, err = n.CLI(ctx, "query", "timers", "config-diff", "1")
	require.NoError(t, err)
	require.Equal(t, "lane_timer_cycles: 2000000 -> 3000000\n", string(out))
}
