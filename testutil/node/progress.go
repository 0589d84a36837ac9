package node

import (
	"context"
	"fmt"
	"time"
)

const (
	// Patience is for how long a chain may make no block before whoever waits for it gives up. It bounds no work: a slow
	// machine makes slow blocks, and a chain that makes none for so long is stuck.
	Patience = 3 * time.Minute
	// txBlocks is within how many blocks a transaction is included that the node has taken.
	txBlocks = 100
	// pollEvery is the pause between two questions to a node.
	pollEvery = 50 * time.Millisecond
)

// progress tells a slow chain from one that is stuck.
type progress struct {
	patience time.Duration
	height   int64
	// since is when the height was first seen.
	since time.Time
}

// see takes in the height at a time, 0 for a node that does not answer, and fails if it has been the same for too long.
func (p *progress) see(height int64, now time.Time) error {
	if p.since.IsZero() || height > p.height {
		p.height, p.since = max(p.height, height), now
		return nil
	}
	if stood := now.Sub(p.since); stood > p.patience {
		return fmt.Errorf("no block after height %d for %s", p.height, stood.Round(time.Second))
	}
	return nil
}

func (n *Node) newProgress() *progress {
	if n.patience > 0 {
		return &progress{patience: n.patience}
	}
	return &progress{patience: Patience}
}

// poll asks for the height, 0 if the node does not answer, and then pauses. It fails if the process has ended or the chain
// is stuck.
func (n *Node) poll(ctx context.Context, p *progress) (int64, error) {
	height, err := n.Status(ctx)
	if err != nil {
		height = 0 // not up yet, or too busy to answer
	}
	if n.exited != nil {
		select {
		case <-n.exited:
			return 0, fmt.Errorf("the process ended; see %s", n.LogFile())
		default:
		}
	}
	if err := p.see(height, time.Now()); err != nil {
		return 0, err
	}
	return height, pause(ctx, pollEvery)
}
