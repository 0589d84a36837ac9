package system

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	cmtquery "github.com/cometbft/cometbft/libs/pubsub/query"
	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/testutil/node"
)

// shellBlocks are the commands of a page.
var shellBlocks = regexp.MustCompile("(?s)```sh\n(.*?)```")

// commandsOf are the commands that x/timers/docs/use/exchanges.md shows, in its order.
func commandsOf(t *testing.T) (commands []string) {
	t.Helper()
	page, err := os.ReadFile("../../x/timers/docs/use/exchanges.md")
	require.NoError(t, err)
	for _, block := range shellBlocks.FindAllSubmatch(page, -1) {
		joined := strings.ReplaceAll(string(block[1]), "\\\n", " ")
		commands = append(commands, strings.Split(strings.TrimSpace(joined), "\n")...)
	}
	return commands
}

// TestLongQueriesForExchanges runs each command of docs/use/exchanges.md against a node, and shows what the page says of searches.
func TestLongQueriesForExchanges(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	n := start(ctx, t, node.Options{Accounts: []string{"alice", "bob", "carol"}}).Nodes[0]
	alice, bob, carol := addressOf(ctx, t, n, "alice"), addressOf(ctx, t, n, "bob"), addressOf(ctx, t, n, "carol")
	// Two timers fire in one block: alice's pays bob, and carol's pays alice.
	var first scheduled
	second := soon(t, 8, func(ahead int64) (node.TxResult, error) {
		result, err := trySchedule(ctx, n, "alice", "--msgs", sendFile(t, alice, bob, 77), "--in", fmt.Sprint(ahead))
		if err != nil || result.Code != 0 {
			return result, err
		}
		first = scheduledIn(t, result)[0]
		return trySchedule(ctx, n, "carol", "--msgs", sendFile(t, carol, alice, 5), "--at", fmt.Sprint(first.due))
	})
	id, due, other := first.id, first.due, second[0].id
	_, height := waitFired(ctx, t, n, due, id)
	_, otherHeight := waitFired(ctx, t, n, due, other)
	require.Equal(t, height, otherHeight)
	require.NoError(t, n.WaitHeight(ctx, height+1))

	shell := func(command string) string {
		t.Helper()
		cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", command)
		cmd.Env = append(os.Environ(), "RPC="+n.RPC, "API="+n.API, "BOB="+bob, "ALICE="+alice, "ID="+id, fmt.Sprintf("HEIGHT=%d", height))
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s\n%s", command, out)
		require.True(t, json.Valid(out), "%s\n%s", command, out)
		return string(out)
	}
	commands := commandsOf(t)
	require.Greater(t, len(commands), 10)
	for _, command := range commands {
		out := shell(command)
		atHeight := strings.Contains(out, fmt.Sprintf(`"height":"%d"`, height))
		require.True(t, atHeight || strings.Contains(out, id), "%s\nfinds nothing of the timer:\n%.2000s", command, out)
		require.NotContains(t, out, `"total_count":"0"`, command)
	}

	found := func(query string) bool {
		t.Helper()
		out := shell(`curl -sG "$RPC/block_search" --data-urlencode "query=\"` + query + `\""`)
		require.Contains(t, out, "total_count")
		return !strings.Contains(out, `"total_count":"0"`)
	}
	both := "coin_received.receiver='" + bob + "' AND coin_received.timer_id='" + id + "'"
	crossed := "coin_received.receiver='" + bob + "' AND coin_received.timer_id='" + other + "'"
	kinds := "coin_received.receiver='" + bob + "' AND coin_spent.timer_id='" + id + "'"
	require.True(t, found(both))
	require.False(t, found(crossed), "a search looks at one event")
	require.False(t, found(kinds), "so that events of two kinds never match")

	// A subscription looks at the block: these are the attributes as the node publishes them.
	events, err := n.BlockEvents(ctx, height)
	require.NoError(t, err)
	heap := map[string][]string{}
	for _, event := range events {
		for key, value := range event.Attributes {
			heap[event.Type+"."+key] = append(heap[event.Type+"."+key], value)
		}
	}
	for _, query := range []string{both, crossed, kinds} {
		matches, err := cmtquery.MustCompile(query).Matches(heap)
		require.NoError(t, err)
		require.True(t, matches, query)
	}
}
