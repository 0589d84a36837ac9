// Package system tests the built binary as its users meet it: real nodes, real command line, real blocks.
package system

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/testutil/node"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// binary is the built timerd; TIMERD names one that is built already.
var binary string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

// nets is how many tests run side by side, each with a network of its own: they wait for blocks most of the time.
const nets = "3"

func run(m *testing.M) int {
	flag.Parse()
	stated := false
	flag.Visit(func(f *flag.Flag) { stated = stated || f.Name == "test.parallel" })
	if !stated {
		if err := flag.Set("test.parallel", nets); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	if binary = os.Getenv("TIMERD"); binary != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "timerd-system-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "timerd")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-w", "-o", binary, "../../cmd/timerd").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building timerd: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// testContext ends a little before the test binary does, so that nodes are stopped and show their last words. A slow machine
// has all that time; what waits for a stuck chain gives up long before, see node.Patience.
func testContext(t *testing.T) context.Context {
	t.Helper()
	deadline, found := t.Deadline()
	if !found {
		return context.Background()
	}
	ctx, cancel := context.WithDeadline(context.Background(), deadline.Add(-time.Minute))
	t.Cleanup(cancel)
	return ctx
}

// start starts a network, stops it after the test, and shows the nodes' last words if the test failed.
func start(ctx context.Context, t *testing.T, o node.Options) *node.Network {
	t.Helper()
	o.Binary, o.Dir = binary, filepath.Join(t.TempDir(), "net")
	network, err := node.New(ctx, o)
	require.NoError(t, err)
	require.NoError(t, network.Start())
	t.Cleanup(func() { stopAndShow(t, network) })
	// From the third block on the commands can tell how long a block takes.
	require.NoError(t, network.WaitHeight(ctx, 3))
	return network
}

// stopAndShow stops a network after its test, and shows the nodes' last words if the test failed.
func stopAndShow(t *testing.T, network *node.Network) {
	t.Helper()
	network.Stop()
	if !t.Failed() {
		return
	}
	kept, _ := os.MkdirTemp("", "timerd-logs-")
	for _, n := range network.Nodes {
		log, _ := os.ReadFile(n.LogFile())
		_ = os.WriteFile(filepath.Join(kept, n.Name+".log"), log, 0o600)
		t.Logf("%s:\n%s", n.Name, log[max(0, len(log)-3_000):])
	}
	t.Logf("the whole logs stay in %s", kept)
}

// sendFile writes a payload of one bank send, as --msgs takes it.
func sendFile(t *testing.T, from, to string, amount int64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "msgs.json")
	raw := fmt.Sprintf(`[{"@type":"/cosmos.bank.v1beta1.MsgSend","from_address":%q,"to_address":%q,"amount":[{"denom":"utmr","amount":"%d"}]}]`,
		from, to, amount)
	require.NoError(t, os.WriteFile(path, []byte(raw), 0o600))
	return path
}

// schedule schedules a timer through the command line and returns its id and due height.
func schedule(ctx context.Context, t *testing.T, n *node.Node, owner string, args ...string) (id string, due int64) {
	t.Helper()
	result, err := trySchedule(ctx, n, owner, args...)
	require.NoError(t, err)
	made := scheduledIn(t, result)
	require.Len(t, made, 1)
	return made[0].id, made[0].due
}

// scheduleSoon is schedule with a due height some blocks ahead, or more of them on a machine so slow that these are over
// when the transaction gets into a block.
func scheduleSoon(ctx context.Context, t *testing.T, n *node.Node, owner string, args ...string) (id string, due int64) {
	t.Helper()
	made := soon(t, 8, func(ahead int64) (node.TxResult, error) {
		return trySchedule(ctx, n, owner, append(args, "--in", fmt.Sprint(ahead))...)
	})
	require.Len(t, made, 1)
	return made[0].id, made[0].due
}

func trySchedule(ctx context.Context, n *node.Node, owner string, args ...string) (node.TxResult, error) {
	return n.Tx(ctx, owner, append([]string{"timers", "schedule", "--gas-limit", "100000"}, args...)...)
}

// scheduled is what an event tells of a timer.
type scheduled struct {
	id  string
	due int64
}

// soon schedules by a transaction for heights that many blocks ahead, and again with twice the room if they are over by the
// time that it gets into a block.
func soon(t *testing.T, ahead int64, schedule func(ahead int64) (node.TxResult, error)) []scheduled {
	t.Helper()
	for {
		result, err := schedule(ahead)
		late := err != nil && isTooSoon(err.Error()) || isTooSoon(result.Log)
		if !late || ahead > 10_000 {
			require.NoError(t, err)
			return scheduledIn(t, result)
		}
		t.Logf("%d blocks ahead is too soon on this machine", ahead)
		ahead *= 2
	}
}

// isTooSoon: the command line refuses what it sees to be too late, the chain the rest.
func isTooSoon(text string) bool {
	return strings.Contains(text, " is too soon: ") || strings.Contains(text, types.ErrHeightNotInFuture.Error())
}

// scheduledIn reads which timers a transaction scheduled.
func scheduledIn(t *testing.T, result node.TxResult) (made []scheduled) {
	t.Helper()
	require.Zero(t, result.Code, result.Log)
	for _, event := range result.Events {
		if event.Type == "timers.v1.TimerScheduled" {
			s := scheduled{id: event.Attributes["id"]}
			_, err := fmt.Sscan(event.Attributes["due"], &s.due)
			require.NoError(t, err)
			made = append(made, s)
		}
	}
	return made
}

// eachBlock reads the events of blocks from a height on, as they come, until fn has what it wants. A thousand blocks without
// it fail the test.
func eachBlock(ctx context.Context, t *testing.T, n *node.Node, from int64, fn func(height int64, events []node.Event) (done bool)) {
	t.Helper()
	for height := from; height < from+1_000; height++ {
		require.NoError(t, n.WaitHeight(ctx, height))
		events, err := n.BlockEvents(ctx, height)
		require.NoError(t, err)
		if fn(height, events) {
			return
		}
	}
	require.Fail(t, "it did not happen", "in 1,000 blocks from height %d", from)
}

// waitFired reads blocks from a height on until a timer fires, and returns the event and its height.
func waitFired(ctx context.Context, t *testing.T, n *node.Node, from int64, id string) (fired map[string]string, at int64) {
	t.Helper()
	eachBlock(ctx, t, n, from, func(height int64, events []node.Event) bool {
		for _, event := range events {
			if event.Type == "timers.v1.TimerFired" && event.Attributes["id"] == id {
				fired, at = event.Attributes, height
			}
		}
		return at > 0
	})
	return fired, at
}

func addressOf(ctx context.Context, t *testing.T, n *node.Node, key string) string {
	t.Helper()
	address, err := n.Address(ctx, key)
	require.NoError(t, err)
	return address
}

// cli runs a query and decodes its JSON.
func cli(ctx context.Context, t *testing.T, n *node.Node, into any, args ...string) {
	t.Helper()
	out, err := n.CLI(ctx, append(args, "--output", "json")...)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(out, into), string(out))
}

func TestAUserSchedulesWatchesAndCancels(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	n := start(ctx, t, node.Options{Accounts: []string{"alice", "bob"}}).Nodes[0]
	alice, bob := addressOf(ctx, t, n, "alice"), addressOf(ctx, t, n, "bob")

	// So far ahead that it is pending to the end, however slow the machine.
	later, _ := schedule(ctx, t, n, "alice", "--msgs", sendFile(t, alice, bob, 5), "--after", "12h")
	var shown struct {
		Timer struct {
			ID     string
			Status struct{ Phase string }
		}
	}
	cli(ctx, t, n, &shown, "query", "timers", "timer", alice+"/"+later[:6])
	require.Equal(t, later, shown.Timer.ID, "a prefix names the timer")
	require.Equal(t, "TIMER_PHASE_PENDING", shown.Timer.Status.Phase)
	id, due := scheduleSoon(ctx, t, n, "alice", "--msgs", sendFile(t, alice, bob, 77))

	watched := estimateAndWatch(ctx, t, n, sendFile(t, alice, bob, 6), alice)
	event, height := waitFired(ctx, t, n, due, id)
	require.Equal(t, due, height)
	require.Equal(t, "true", event["success"])
	var balance struct{ Balance struct{ Amount string } }
	cli(ctx, t, n, &balance, "query", "bank", "balance", bob, "utmr")
	require.Equal(t, "10000000077", balance.Balance.Amount)

	_, err := n.CLI(ctx, "query", "timers", "timer", alice+"/"+id[:6])
	require.ErrorContains(t, err, "no live timer", "a timer that fired is gone")
	result, err := n.Tx(ctx, "alice", "timers", "extend", alice+"/"+later[:6], "--by", "240h")
	require.NoError(t, err)
	require.Zero(t, result.Code, result.Log)
	result, err = n.Tx(ctx, "alice", "timers", "update", alice+"/"+later[:6], "--gas-limit", "90000")
	require.NoError(t, err)
	require.Zero(t, result.Code, result.Log)
	result, err = n.Tx(ctx, "alice", "timers", "cancel", alice+"/"+later[:6])
	require.NoError(t, err)
	require.Zero(t, result.Code, result.Log)

	result, err = n.Tx(ctx, "alice", "timers", "cancel", watched)
	require.NoError(t, err)
	require.Zero(t, result.Code, result.Log)

	for path, member := range map[string]string{
		"/timers/v1/params":                               "config",
		"/timers/v1/lane":                                 "lane_basefee",
		"/timers/v1/ready":                                "timers",
		"/timers/v1/on_hold":                              "timers",
		"/timers/v1/actors/" + alice + "/timers":          "timers",
		"/timers/v1/due/100?until=true":                   "timers",
		fmt.Sprintf("/timers/v1/receipts/%d", height):     "receipts",
		"/timers/v1/actors/" + alice + "/timers/" + later: "message", // not found, in words
	} {
		var answer map[string]any
		require.NoError(t, n.Get(ctx, path, &answer))
		require.Contains(t, answer, member, path)
	}
}

// estimateAndWatch goes the way of who wants to know before and after: an estimate, one shown before signing, and the lines
// of the blocks that follow. It returns the name of the timer that it leaves behind.
func estimateAndWatch(ctx context.Context, t *testing.T, n *node.Node, msgs, actor string) string {
	t.Helper()
	var estimate struct {
		PreCharge string `json:"pre_charge"`
		Basis     string
	}
	cli(ctx, t, n, &estimate, "query", "timers", "estimate", "--gas-limit", "100000", "--tier", "fast", "--actor", "alice")
	require.Equal(t, "ESTIMATE_BASIS_ALL_READY", estimate.Basis)
	table, err := n.CLI(ctx, "query", "timers", "estimate", "--gas-limit", "100000", "--tier", "fast")
	require.NoError(t, err)
	require.Contains(t, string(table), estimate.PreCharge+"utmr, which the payer must have at the fire")

	printed, notes, err := n.Run(ctx, "tx", "timers", "schedule", "--msgs", msgs, "--in", "50000", "--gas-limit", "100000", "--tier", "fast",
		"--from", "alice", "--gas", "2000000", "--fees", "2000utmr", "--yes", "--wait", "--wait-timeout", "30m", "--output", "json")
	require.NoError(t, err)
	require.Contains(t, string(notes), "pre-charges at most "+estimate.PreCharge+"utmr at the fire")
	require.Contains(t, string(notes), "if it were due now: ")
	require.Contains(t, string(notes), " ahead; wait: none")
	require.NotContains(t, string(notes), "warning")
	var scheduled struct{ Name string }
	require.NoError(t, json.Unmarshal(printed, &scheduled))

	lines, notes, err := n.Run(ctx, "query", "timers", "monitor", actor, "--blocks", "3", "--interval", "100ms")
	require.NoError(t, err)
	require.Empty(t, notes)
	require.Equal(t, 3, strings.Count(string(lines), "block height="), string(lines))
	require.Contains(t, string(lines), " policy=eip1559 basefee=0.001 ")
	require.NotContains(t, string(lines), "\x1b")
	return scheduled.Name
}

func TestLongGovernanceThroughTheDocumentedProposals(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	n := start(ctx, t, node.Options{Accounts: []string{"alice", "bob"}}).Nodes[0]
	alice, bob := addressOf(ctx, t, n, "alice"), addressOf(ctx, t, n, "bob")
	cancelled, _ := schedule(ctx, t, n, "alice", "--msgs", sendFile(t, alice, bob, 1), "--in", "90000")
	extended, _ := schedule(ctx, t, n, "alice", "--msgs", sendFile(t, alice, bob, 2), "--in", "90000", "--expires-in", "100000")

	// A proposal and its vote are one transaction: the voting period is of the clock, and a slow machine would miss it.
	voter := addressOf(ctx, t, n, "node0")
	submit := func(number int, name, id string) {
		raw, err := os.ReadFile(filepath.Join("../../x/timers/docs/operate/proposals", name))
		require.NoError(t, err)
		path := filepath.Join(t.TempDir(), name)
		text := strings.NewReplacer(`"ACTOR"`, `"`+alice+`"`, `"ID"`, `"`+id+`"`).Replace(string(raw))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		var unsigned struct {
			Body struct{ Messages []any }
		}
		cli(ctx, t, n, &unsigned, "tx", "gov", "submit-proposal", path, "--from", "node0", "--generate-only", "--gas", "2000000")
		require.Len(t, unsigned.Body.Messages, 1)
		result, err := n.Send(ctx, "node0", 2_000_000, unsigned.Body.Messages[0], map[string]any{
			"@type": "/cosmos.gov.v1.MsgVote", "proposal_id": fmt.Sprint(number), "voter": voter, "option": "VOTE_OPTION_YES",
		})
		require.NoError(t, err)
		require.Zero(t, result.Code, result.Log)
	}
	from, err := n.Status(ctx)
	require.NoError(t, err)
	submit(1, "cancel.json", cancelled)
	submit(2, "extend.json", extended)
	submit(3, "config.json", "")

	wanted := map[string]string{
		"timers.v1.TimerCancelledByGovernance": "48", "timers.v1.TimerConfigUpdatedByGovernance": "49",
		"timers.v1.TimerExtendedByGovernance": "50",
	}
	eachBlock(ctx, t, n, from, func(_ int64, events []node.Event) bool {
		for _, event := range events {
			if opcode, ok := wanted[event.Type]; ok {
				require.Equal(t, opcode, event.Attributes["opcode"])
				delete(wanted, event.Type)
			}
		}
		return len(wanted) == 0
	})
	var listed struct {
		Timers []struct {
			ID     string `json:"id"`
			Status struct {
				ExpiresAt string `json:"expires_at"`
			} `json:"status"`
		}
	}
	cli(ctx, t, n, &listed, "query", "timers", "list", alice)
	require.Len(t, listed.Timers, 1)
	require.Equal(t, extended, listed.Timers[0].ID)
	require.Equal(t, "250000", listed.Timers[0].Status.ExpiresAt)
	at, err := n.Status(ctx)
	require.NoError(t, err)
	require.NoError(t, n.WaitHeight(ctx, at+1))
	var params struct {
		Config struct {
			LaneTimerCycles string `json:"lane_timer_cycles"`
		}
	}
	cli(ctx, t, n, &params, "query", "timers", "params")
	require.Equal(t, "4000000", params.Config.LaneTimerCycles)
}
