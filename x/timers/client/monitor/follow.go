package monitor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/cosmos/cosmos-sdk/client"

	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	// roundBlocks is how many blocks are read between two looks at the node's height.
	roundBlocks = 100
	// behindBlocks is how far a node may be behind what was shown: an address may stand for several nodes.
	behindBlocks = 10
)

// viewer shows what the watcher reads.
type viewer interface {
	// block shows a block that was read; its error ends the watch.
	block(r *report) error
	// upToDate is called once all blocks up to the latest are shown, or trouble is to be shown. Its first error is the
	// node's, its second ends the watch.
	upToDate(ctx context.Context, fresh bool) (asked, shown error)
	// backlog is how many blocks before the latest it wants; all if that is 0.
	backlog() uint64
}

// watcher follows a chain.
type watcher struct {
	node     client.CometRPC
	query    types.QueryClient
	notes    io.Writer
	interval time.Duration
	board    board
	pace     timespan.Follower
	// next is the height to read next; 0 before the first look.
	next uint64
	// counted is the first height that counts as one of --blocks, left how many of them are to come; 0 means no end.
	counted, left uint64
	// begun: one look has succeeded, so that a later failure is an outage and no mistake.
	begun bool
	// troubled is set from the first failed look to the next that succeeds.
	troubled bool
}

// errDone ends the watch when --blocks are shown.
var errDone = errors.New("all blocks are shown")

// follow looks at the chain until it is told to end. A node that can't be asked at first ends it; one that goes away
// later does not.
func (w *watcher) follow(ctx context.Context, v viewer) error {
	poll := time.NewTicker(w.interval)
	defer poll.Stop()
	for {
		asked, shown := w.look(ctx, v)
		switch {
		case errors.Is(shown, errDone) || ctx.Err() != nil:
			return nil
		case shown != nil:
			return shown
		case asked != nil && !w.begun:
			return asked
		}
		w.begun = true
		if err := w.tellTrouble(ctx, v, asked); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-poll.C:
		}
	}
}

// tellTrouble says once that the node went away, and once that it is back.
func (w *watcher) tellTrouble(ctx context.Context, v viewer, asked error) error {
	switch {
	case asked != nil && !w.troubled:
		w.troubled = true
		w.board.trouble = fmt.Sprintf("no news from the node, asked again every %s: %.600s", w.interval, asked)
	case asked == nil && w.troubled:
		w.troubled = false
		w.board.trouble = ""
		w.note("the node answers again, at height %d", w.next-1)
	case w.troubled:
		// How old what is shown is grows.
		_, shown := v.upToDate(ctx, false)
		return shown
	default:
		return nil
	}
	if w.troubled {
		w.note("%s", plain.Clean(w.board.trouble))
	}
	_, shown := v.upToDate(ctx, false)
	return shown
}

// note is for where there is no view.
func (w *watcher) note(format string, args ...any) {
	if w.notes != nil {
		_, _ = fmt.Fprintf(w.notes, format+"\n", args...)
	}
}

// latest is the height of the last block that the application has committed: its results and state can be asked for.
func (w *watcher) latest(ctx context.Context) (uint64, error) {
	info, err := w.node.ABCIInfo(ctx)
	if err != nil {
		return 0, fmt.Errorf("ask the node for its height: %w", err)
	}
	if info.Response.LastBlockHeight < 1 {
		return 0, errors.New("the chain has no block yet")
	}
	return uint64(info.Response.LastBlockHeight), nil
}

// look shows what is new. Its first error is the node's, its second the viewer's.
func (w *watcher) look(ctx context.Context, v viewer) (asked, shown error) {
	latest, err := w.latest(ctx)
	if err != nil {
		return err, nil
	}
	if w.next == 0 {
		// What is now comes first: the past of a distant node takes a while.
		if asked, shown := v.upToDate(ctx, true); asked != nil || shown != nil {
			return asked, shown
		}
		w.next, w.counted = latest-min(v.backlog(), latest-1), latest
	}
	if latest+behindBlocks < w.next {
		return fmt.Errorf("it is at height %d, and %d was shown already: it is behind, or of another chain", latest, w.next-1), nil
	}
	if skip := v.backlog(); skip > 0 && latest > w.next+skip {
		passed := report{height: latest - skip - 1, missing: fmt.Sprintf("not asked for since height %d", w.next)}
		w.next = latest - skip
		if err := v.block(&passed); err != nil {
			return nil, err
		}
	}
	fresh := w.next <= latest
	for end := min(latest, w.next+roundBlocks-1); w.next <= end; w.next++ {
		r, err := readReport(ctx, w.node, w.next)
		if err != nil {
			return err, nil
		}
		if err := v.block(&r); err != nil {
			return nil, err
		}
		if w.enough(r.height) {
			w.next++
			asked, shown := v.upToDate(ctx, true)
			if asked == nil {
				shown = cmp.Or(shown, errDone)
			}
			return asked, shown
		}
	}
	return v.upToDate(ctx, fresh)
}

// enough counts a block that was shown, and reports whether it is the last of --blocks.
func (w *watcher) enough(height uint64) bool {
	if height < w.counted || w.left == 0 {
		return false
	}
	w.left--
	return w.left == 0
}
