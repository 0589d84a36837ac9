// Package follow reads a chain block by block into a store. It goes on where it stopped, waits for a node that is away, and
// notices when its node has other blocks than it had: a chain that was rolled back, forked, or replaced.
package follow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cosmos-timers/timers/dashboard/store"
)

const (
	// oldest is how far below its last block a follower looks for one that its node has too. A chain that differs in more
	// blocks is another one, and is read anew.
	oldest = 1_000
	// patience is between two looks at a node that is away.
	patience = 2 * time.Second
)

// Source is a node.
type Source interface {
	// ChainID of the node.
	ChainID(ctx context.Context) (string, error)
	// Heights are the lowest block that the node has and the last that its application has committed.
	Heights(ctx context.Context) (first, last int64, err error)
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
	// Note says what people should know.
	Note func(format string, args ...any)
	// OnBlock is called after a block was stored.
	OnBlock func(b *store.Block, events []store.Event)
}

// Run follows until the context ends.
func (f *Follower) Run(ctx context.Context) error {
	away := false
	for {
		err := f.Once(ctx)
		wait := f.Interval
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // The end of the context is how it ends, and what it broke off is no failure.
		case err != nil:
			if !away {
				f.Note("no news from the node, asked again every %s: %v", patience, err)
			}
			away, wait = true, patience
		case away:
			f.Note("the node answers again")
			away = false
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
			return f.rewind(ctx, next-1)
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
	if err := f.checkChain(ctx); err != nil {
		return 0, 0, err
	}
	first, latest, err := f.Source.Heights(ctx)
	if err != nil {
		return 0, 0, err
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
			if err := f.rewind(ctx, last); err != nil {
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
			if err := f.rewind(ctx, latest); err != nil {
				return 0, 0, err
			}
			return f.begin(ctx)
		}
	}
	if last+1 < first {
		f.Note("the node has pruned the blocks %d to %d: they are missing from the history", last+1, first-1)
	}
	return max(last+1, first), latest, nil
}

// checkChain drops the history of a chain with another name.
func (f *Follower) checkChain(ctx context.Context) error {
	const key = "chain_id"
	id, err := f.Source.ChainID(ctx)
	if err != nil {
		return err
	}
	known, err := f.Store.Meta(ctx, key)
	if err != nil || known == id {
		return err
	}
	if known != "" {
		f.Note("the node is of chain %q now: the history of %q is dropped", id, known)
		if err := f.Store.DropAbove(ctx, 0); err != nil {
			return err
		}
	}
	return f.Store.SetMeta(ctx, key, id)
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
func (f *Follower) rewind(ctx context.Context, from int64) error {
	first, _, err := f.Source.Heights(ctx)
	if err != nil {
		return err
	}
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
	f.Note("the node has none of the blocks that it had: its chain is read anew")
	return f.Store.DropAbove(ctx, 0)
}

// errNone is what a source returns without a block.
var errNone = errors.New("the chain has no block yet")
