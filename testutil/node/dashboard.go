package node

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"
)

// Dashboard runs the node's dashboard on a free port, with further flags, and returns the address of its page. It ends with
// the context or when stop is called.
func (n *Node) Dashboard(ctx context.Context, flags ...string) (address string, stop func(), err error) {
	args := append([]string{"dashboard", "--home", n.Home, "--node", n.RPC, "--listen", "127.0.0.1:0"}, flags...)
	cmd := exec.CommandContext(ctx, n.binary, args...)
	notes, err := cmd.StderrPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			_ = cmd.Process.Signal(syscall.SIGTERM)
			_ = cmd.Wait()
		}
	}
	var said []string
	for lines := bufio.NewScanner(notes); lines.Scan(); {
		if _, address, found := strings.Cut(lines.Text(), "the dashboard is at "); found {
			go func() { _, _ = io.Copy(io.Discard, notes) }()
			return address, stop, nil
		}
		said = append(said, lines.Text())
	}
	stop()
	return "", nil, fmt.Errorf("the dashboard ended: %s", strings.Join(said, "; "))
}
