// Package follow reads a chain block by block into a store. It continues where it stopped, waits for a node that is away, and
// notices when its node has other blocks than it had: a chain that was rolled back or forked is read again from where both
// agree, and another chain is refused.
package follow

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cosmos-timers/timers/dashboard/store"
)

const (
	// oldest is how far below its last block a follower looks for one that its node has too. A chain that differs in more
	// blocks is another one.
	oldest = 1_000
	// patience is between two looks at a node that is away.
	patience = 2 * time.Second
	// ChainKey is where the store has the name of the chain.
	ChainKey = "chain_id"
)

// ErrOtherChain is within the error with which a follower ends whose node is of another chain than its history.
var ErrOtherChain = errors.New("name another database with --db, or drop this history with --new-chain")

// State is what a node says of itself.
type State struct {
	ChainID string
	// First is the lowest block that the node has, and Last the last that its application has committed; 0 if there is none.
	First, Last int64
	// Time of the latest block.
	Time time.Time
	// CatchingUp: it is behind the other nodes.
	CatchingUp bool
}

// Health is how a follower found its node when it looked last.
type Health struct {
	State
	// Away is why the node did not answer; empty if it did.
	Away string
	// Since is when it was seen to be away first.
	Since time.Time
}

// Source is a node.
type Source interface {
	// State of the node.
	State(ctx context.Context) (State, error)
	// Hash of a block that the node has.
	Hash(ctx context.Context, height int64) (string, error)
	// Read returns a block and the module's events in it.
	Read(ctx context.Context, height int64) (store.Block, []store.Event, error)
}

// Follower copies from a source to a store.
type Follower struct {
	Source Source
	Store  *store.Store
	// Backlog is how many blocks before the latest are read at the first start; 0 means all that the node has.
	Backlog int64
	// Interval is between two looks at the node's height.
	Interval time.Duration
	// NewChain lets the first look drop the history of another chain.
	NewChain bool
	// Note says what people should know.
	Note func(format string, args ...any)
	// OnBlock is called after a block was stored.
	OnBlock func(b *store.Block, events []store.Event)

	mu     sync.Mutex
	health Health
}

// Health returns how the node was when the follower looked last.
func (f *Follower) Health() Health {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.health
}

// note takes down how a look at the node went. What is known of it stays known while it is away.
func (f *Follower) note(state State, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case err == nil:
		f.health = Health{State: state}
	case f.health.Away == "":
		f.health.Away, f.health.Since = err.Error(), time.Now()
	default:
		f.health.Away = err.Error()
	}
}

// Run follows until the context ends. It ends with an error if the node is of another chain than the history.
func (f *Follower) Run(ctx context.Context) error {
	// away is what was said of what is away.
	away := ""
	for {
		err := f.Once(ctx)
		wait := f.Interval
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // The end of the context is how it ends, and what it broke off is no failure.
		case errors.Is(err, ErrOtherChain):
			return err
		case err != nil:
			what := "no news from the node"
			if errors.Is(err, store.ErrDatabase) {
				what = "the history is not written"
			}
			if what != away {
				f.Note("%s, tried again every %s: %v", what, patience, err)
			}
			away, wait = what, patience
		case away != "":
			f.Note("the history goes on")
			away = ""
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

// Once reads all blocks that are new.
func (f *Follower) Once(ctx context.Context) error {
	next, latest, err := f.begin(ctx)
	if err != nil {
		return err
	}
	for ; next <= latest; next++ {
		block, events, err := f.Source.Read(ctx, next)
		if err != nil {
			return fmt.Errorf("read block %d: %w", next, err)
		}
		before, err := f.Store.Hash(ctx, next-1)
		if err != nil {
			return err
		}
		if before != "" && block.Parent != before {
			// The node's chain changed between two blocks: look again where both agree.
			return f.rewind(ctx, f.Health().First, next-1)
		}
		if err := f.Store.Put(ctx, &block, events); err != nil {
			return fmt.Errorf("store block %d: %w", next, err)
		}
		if f.OnBlock != nil {
			f.OnBlock(&block, events)
		}
	}
	return nil
}

// begin returns the first height to read and the last.
func (f *Follower) begin(ctx context.Context) (next, latest int64, err error) {
	state, err := f.Source.State(ctx)
	f.note(state, err)
	if err != nil {
		return 0, 0, err
	}
	if err := f.checkChain(ctx, state.ChainID); err != nil {
		return 0, 0, err
	}
	first, latest := state.First, state.Last
	if latest < 1 {
		return 0, 0, errNone
	}
	last, hash, err := f.Store.Last(ctx)
	if err != nil {
		return 0, 0, err
	}
	if last == 0 {
		next = first
		if f.Backlog > 0 {
			next = max(first, latest-f.Backlog+1)
		}
		return next, latest, nil
	}
	if last <= latest && last >= first {
		same, err := f.Source.Hash(ctx, last)
		if err != nil {
			return 0, 0, err
		}
		if same != hash {
			if err := f.rewind(ctx, first, last); err != nil {
				return 0, 0, err
			}
			return f.begin(ctx)
		}
	}
	if last > latest {
		// It restarts, or catches up. Unless it has other blocks than it had, it will come to where it was.
		same, err := f.agree(ctx, latest)
		if err != nil {
			return 0, 0, err
		}
		if !same {
			if err := f.rewind(ctx, first, latest); err != nil {
				return 0, 0, err
			}
			return f.begin(ctx)
		}
	}
	if last+1 < first {
		f.Note("the node has pruned the blocks %d to %d: they are missing from the history", last+1, first-1)
	}
	f.NewChain = false
	return max(last+1, first), latest, nil
}

// checkChain refuses a chain with another name than that of the history.
func (f *Follower) checkChain(ctx context.Context, id string) error {
	known, err := f.Store.Meta(ctx, ChainKey)
	if err != nil {
		return err
	}
	if known != "" && known != id {
		if err := f.drop(ctx, id, known, fmt.Sprintf("the node is of chain %q, and the history in %s is of chain %q", id, f.Store.Name(), known)); err != nil {
			return err
		}
	}
	if known != id {
		return f.Store.SetMeta(ctx, ChainKey, id)
	}
	return nil
}

// drop drops the history for that of another chain, if that was asked for.
func (f *Follower) drop(ctx context.Context, id, known, what string) error {
	if !f.NewChain {
		return fmt.Errorf("%s: %w", what, ErrOtherChain)
	}
	f.NewChain = false
	f.Note("%s: the history of %q is dropped for that of %q, as --new-chain says", what, known, id)
	return f.Store.DropAbove(ctx, 0)
}

// agree reports whether store and node have the same block; true if the store has none.
func (f *Follower) agree(ctx context.Context, height int64) (bool, error) {
	stored, err := f.Store.Hash(ctx, height)
	if err != nil || stored == "" {
		return true, err
	}
	hash, err := f.Source.Hash(ctx, height)
	return hash == stored, err
}

// rewind drops the blocks that the node does not have, from a height downwards.
func (f *Follower) rewind(ctx context.Context, first, from int64) error {
	for height := from; height >= first && height > from-oldest; height-- {
		stored, err := f.Store.Hash(ctx, height)
		if err != nil {
			return err
		}
		if stored == "" {
			break
		}
		hash, err := f.Source.Hash(ctx, height)
		if err != nil {
			return err
		}
		if hash == stored {
			f.Note("the node has other blocks above height %d than it had: they are read again", height)
			return f.Store.DropAbove(ctx, height)
		}
	}
	id := f.Health().ChainID
	return f.drop(ctx, id, id, fmt.Sprintf(
		"the node's chain %q has none of the last blocks that the history of chain %q in %s has: it began anew, or was rolled back by more than %d blocks",
		id, id, f.Store.Name(), oldest))
}

// errNone is what a source returns without a block.
var errNone = errors.New("the chain has no block yet")
