package cli_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	rpctypes "github.com/cometbft/cometbft/rpc/jsonrpc/types"
	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/client/cli"
)

// waited schedules with --wait, and returns what it printed as JSON.
func (r *rig) waited(more ...string) (map[string]any, string, error) {
	r.T.Helper()
	line := append([]string{"tx", "timers", "schedule", "send", "bob", "5stake", "--from", "alice", "--in", "50", "--gas-limit", "100000", "-y", "--wait", "-o", "json"}, more...)
	out, notes, err := r.Run(line...)
	var printed map[string]any
	if out != "" {
		require.NoError(r.T, json.Unmarshal([]byte(out), &printed), out)
	}
	return printed, notes, err
}

// Each end of a wait has its own exit status and JSON. Before, a node that went away, or had no index, or whose answer was lost,
// was a failure.
func TestWait_TellsItsEndsApart(t *testing.T) {
	for name, c := range map[string]struct {
		arrange func(*rig)
		more    []string
		exit    int
		status  string
		says    string
	}{
		"included":    {func(*rig) {}, nil, 0, "included", ""},
		"node away":   {func(r *rig) { r.Node.Away = 3 }, nil, 0, "included", ""},
		"no index":    {func(r *rig) { r.Node.NoIndex = true }, nil, 0, "included", ""},
		"answer lost": {func(r *rig) { r.Node.NoAnswer = io.ErrUnexpectedEOF }, nil, 0, "included", ""},
		"known already": {func(r *rig) {
			r.Node.NoAnswer = &rpctypes.RPCError{Message: "Internal error", Data: "tx already exists in cache"}
		}, nil, 0, "included", ""},
		"refused":         {func(r *rig) { r.Node.Refuse = true }, nil, 1, "failed", "insufficient fee"},
		"mempool is full": {func(r *rig) { r.Node.Full = &rpctypes.RPCError{Message: "Internal error", Data: "mempool is full"} }, nil, 1, "failed", "the node refused transaction"},
		"over":            {func(r *rig) { r.Node.Away = 9 }, []string{"--wait-timeout", "1ns"}, 3, "unknown", "--wait-timeout 1ns is over"},
		"over and lost":   {func(r *rig) { r.Node.Away, r.Node.NoAnswer = 9, io.EOF }, []string{"--wait-timeout", "1ns"}, 3, "unknown", "the node is away"},
		"pruned": {
			func(r *rig) { r.Node.NoIndex, r.Node.KeepFrom = true, 99 }, nil, 3, "unknown",
			"the node has no index of transactions, and does not keep the block 11",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			c.arrange(r)
			printed, notes, err := r.waited(c.more...)
			require.Equal(t, c.exit, cli.ExitCode(err), "%v", err)
			require.Equal(t, c.status, printed["status"])
			require.Len(t, printed["txhash"], 64)
			switch c.exit {
			case 0:
				require.Contains(t, printed["name"], r.Alice+"/")
				require.Contains(t, notes, fmt.Sprintf("transaction %s is ", printed["txhash"]))
				require.Contains(t, notes, "waited for")
			case 3:
				require.ErrorContains(t, err, "what became of it is unknown")
				require.ErrorContains(t, err, fmt.Sprintf(`"chaind query tx %s" finds it at a node with an index`, printed["txhash"]))
				require.ErrorContains(t, err, fmt.Sprintf(`at any node "chaind query timers list %s"`, r.Alice))
				require.NotContains(t, printed, "code")
			}
			if err != nil {
				require.ErrorContains(t, err, c.says)
			}
		})
	}
}

// Without --wait an answer that is lost is no failure either. What was never sent is one.
func TestBroadcast_WithoutAnAnswer(t *testing.T) {
	r := newRig(t)
	line := []string{"tx", "timers", "schedule", "send", "bob", "5stake", "--from", "alice", "--in", "50", "--gas-limit", "100000", "-y"}
	r.Node.NoAnswer = io.EOF
	_, _, err := r.Run(line...)
	require.Equal(t, 3, cli.ExitCode(err))
	require.ErrorContains(t, err, "was sent, and what became of it is unknown: EOF")
	for _, wait := range [][]string{nil, {"--wait"}} {
		r.Node.NoAnswer = &net.OpError{Op: "dial", Err: errors.New("connection refused")}
		_, _, err = r.Run(append(line, wait...)...)
		require.Equal(t, 1, cli.ExitCode(err))
		require.ErrorContains(t, err, "connection refused")
		require.NotContains(t, err.Error(), "unknown")
	}
}
