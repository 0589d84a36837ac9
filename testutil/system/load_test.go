package system

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/testutil/node"
)

// loadCommand is `timerd lab load` on a node, with further arguments.
func loadCommand(ctx context.Context, n *node.Node, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, binary, append([]string{
		"lab", "load", "--from", "alice", "--home", n.Home, "--node", "tcp" + n.RPC[len("http"):], "--pending", "240", "--fires", "5",
		"--fund", "10000000", "--data", filepath.Join(n.Home, "data"),
	}, args...)...)
}

// watched is an output that says when it first has a text.
type watched struct {
	mutex  sync.Mutex
	output bytes.Buffer
	text   string
	found  chan struct{}
}

// Write implements io.Writer.
func (w *watched) Write(p []byte) (int, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	before := bytes.Contains(w.output.Bytes(), []byte(w.text))
	n, err := w.output.Write(p)
	if !before && bytes.Contains(w.output.Bytes(), []byte(w.text)) {
		close(w.found)
	}
	return n, err
}

func (w *watched) String() string {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.output.String()
}

// TestLongLabLoadDrivesANode runs the command to its end, and interrupts it: the table comes in either case, and the second run
// uses the accounts of the first.
func TestLongLabLoadDrivesANode(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	n := start(ctx, t, node.Options{Accounts: []string{"alice"}, TimeoutCommit: 200 * time.Millisecond}).Nodes[0]

	out, err := loadCommand(ctx, n, "--node", "tcp://192.0.2.1:26657").CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "is not on loopback")
	out, err = loadCommand(ctx, n, "--fund", "1000000000000000000").CombinedOutput()
	require.Error(t, err)
	require.Regexp(t, regexp.MustCompile(`alice has \d+utmr, want at least \d+utmr to fund \d+ accounts with 1000000000000000000 each`), string(out))

	var notes bytes.Buffer
	whole := loadCommand(ctx, n, "--duration", "4s")
	whole.Stderr = &notes
	table, err := whole.Output()
	require.NoError(t, err, notes.String())
	require.Regexp(t, regexp.MustCompile(`(?s)5 fires a block.*idle +5 .*sends .*fill .*hold .*disk: .*pending at the end: \d+`), string(table))
	require.Regexp(t, regexp.MustCompile(`hold +[1-9]\d* `), string(table))
	require.NotContains(t, string(table), "interrupted")

	interrupted := loadCommand(ctx, n, "--duration", "10h")
	progress := &watched{text: "sends: height", found: make(chan struct{})}
	var printed bytes.Buffer
	interrupted.Stdout, interrupted.Stderr = &printed, progress
	require.NoError(t, interrupted.Start())
	ended := make(chan error, 1)
	go func() { ended <- interrupted.Wait() }()
	select {
	case <-progress.found:
		require.NoError(t, interrupted.Process.Signal(syscall.SIGINT))
	case err := <-ended:
		require.NoError(t, err, progress.String())
		require.Fail(t, "it ended by itself", printed.String())
	}
	require.NoError(t, <-ended, progress.String())
	require.Regexp(t, regexp.MustCompile(`(?s)sends +[1-9]\d* .*interrupted: the table shows what was done until then`), printed.String())
}
