package node

import (
	"context"
	"fmt"
	"strconv"
	"syscall"
)

// Pause stops the process as a machine that hangs does: its connections stay, and no one answers. Continue lets it continue.
func (n *Node) Pause() error { return n.process.Process.Signal(syscall.SIGSTOP) }

// Continue lets a paused process continue.
func (n *Node) Continue() error { return n.process.Process.Signal(syscall.SIGCONT) }

// Running reports whether the process has been started and has not ended.
func (n *Node) Running() bool {
	if n.process == nil {
		return false
	}
	select {
	case <-n.exited:
		return false
	default:
		return true
	}
}

// Peers returns how many peers the node is connected with.
func (n *Node) Peers(ctx context.Context) (int, error) {
	var info struct {
		Peers string `json:"n_peers"`
	}
	if err := n.rpc(ctx, "/net_info", &info); err != nil {
		return 0, err
	}
	return strconv.Atoi(info.Peers)
}

// Validators returns how many validators the last block has.
func (n *Node) Validators(ctx context.Context) (int, error) {
	var set struct {
		Total string `json:"total"`
	}
	if err := n.rpc(ctx, "/validators", &set); err != nil {
		return 0, err
	}
	return strconv.Atoi(set.Total)
}

// AllEvents returns the events of a block in their order: those of its beginning, of its successful transactions, and of its
// end.
func (n *Node) AllEvents(ctx context.Context, height int64) ([]Event, error) {
	var results struct {
		Transactions []struct {
			Code   uint32     `json:"code"`
			Events []rpcEvent `json:"events"`
		} `json:"txs_results"`
		Events []rpcEvent `json:"finalize_block_events"`
	}
	if err := n.rpc(ctx, fmt.Sprintf("/block_results?height=%d", height), &results); err != nil {
		return nil, err
	}
	var begin, end []Event
	for _, event := range eventsOf(results.Events) {
		if event.Attributes["mode"] == "BeginBlock" {
			begin = append(begin, event)
		} else {
			end = append(end, event)
		}
	}
	for _, tx := range results.Transactions {
		if tx.Code == 0 {
			begin = append(begin, eventsOf(tx.Events)...)
		}
	}
	return append(begin, end...), nil
}
