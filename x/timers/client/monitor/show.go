package monitor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/cosmos/cosmos-sdk/types/query"

	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	// backlogBlocks is how many past blocks the view starts with, and how many it catches up with after an outage; the
	// plain lines leave nothing out.
	backlogBlocks = 20
	// listRows is how many timers are asked for: more than fit most screens.
	listRows = 30
)

// onScreen follows on a terminal, and restores it whatever happens.
func (w *watcher) onScreen(ctx context.Context, on *screen) (err error) {
	// What can't begin is said where it stays.
	if _, err := w.latest(ctx); err != nil {
		return err
	}
	w.notes = nil
	if err := on.enter(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, on.leave()) }()
	return w.follow(ctx, &view{watcher: w, screen: on})
}

// lines shows blocks and happenings as plain lines.
type lines struct {
	out   io.Writer
	actor string
}

func (l *lines) backlog() uint64 { return 0 }

func (l *lines) block(r *report) error {
	text := r.line() + "\n"
	for i := range r.happenings {
		if r.happenings[i].concerns(l.actor) {
			text += r.happenings[i].line() + "\n"
		}
	}
	_, err := io.WriteString(l.out, text)
	return err
}

func (l *lines) upToDate(context.Context, bool) (asked, shown error) { return nil, nil }

// view shows the board on a screen.
type view struct {
	*watcher
	screen *screen
	// stale: there are blocks that the board does not know of.
	stale bool
}

func (v *view) backlog() uint64 { return backlogBlocks }

func (v *view) block(r *report) error {
	v.board.take(r)
	return nil
}

// upToDate asks for what blocks do not tell, if there are new ones, and draws. It draws in any case: the terminal may
// have another size by now. Invariant: the first look is over, or it asks; so there is a lane to draw, unless it fails.
func (v *view) upToDate(ctx context.Context, fresh bool) (asked, shown error) {
	v.stale = v.stale || fresh
	if v.stale && !v.troubled {
		if err := v.collect(ctx); err != nil {
			return err, nil
		}
		v.stale = false
	}
	return nil, v.screen.draw(&v.board)
}

// collect fills the board as of the latest block.
func (v *view) collect(ctx context.Context) error {
	b := &v.board
	lane, err := v.query.Lane(ctx, &types.QueryLaneRequest{})
	if err != nil {
		return fmt.Errorf("ask for the lane: %s", plain.ServerSays(err))
	}
	c, err := timespan.ReadClock(ctx, v.node)
	if err != nil {
		c.PaceErr = err
	}
	if b.actor != "" {
		b.timers, _, err = rows(func(page *query.PageRequest) ([]types.TimerInfo, *query.PageResponse, error) {
			own, err := v.query.TimersByActor(ctx, &types.QueryTimersByActorRequest{Actor: b.actor, Pagination: page})
			b.total = own.GetTotal()
			return own.GetTimers(), own.GetPagination(), err
		})
		if err != nil {
			return fmt.Errorf("ask for the actor's timers: %s", plain.ServerSays(err))
		}
		slices.SortStableFunc(b.timers, func(x, y types.TimerInfo) int { return cmp.Compare(x.Due, y.Due) })
	} else {
		b.ready, b.more, err = rows(func(page *query.PageRequest) ([]types.TimerInfo, *query.PageResponse, error) {
			ready, err := v.query.Ready(ctx, &types.QueryReadyRequest{Pagination: page})
			return ready.GetTimers(), ready.GetPagination(), err
		})
		if err != nil {
			return fmt.Errorf("ask for the ready timers: %s", plain.ServerSays(err))
		}
	}
	b.lane, b.clock = lane, c
	return nil
}

// rows asks for pages until it has listRows timers, or all: a page may be cut short by its bytes. It reports whether there
// are more.
func rows(
	ask func(*query.PageRequest) ([]types.TimerInfo, *query.PageResponse, error),
) (timers []types.TimerInfo, more bool, err error) {
	for page := (&query.PageRequest{Limit: listRows}); ; {
		found, next, err := ask(page)
		if err != nil {
			return nil, false, err
		}
		timers = append(timers, found...)
		more = len(next.GetNextKey()) > 0
		if !more || len(found) == 0 || len(timers) >= listRows {
			return timers, more, nil
		}
		page = &query.PageRequest{Limit: listRows - uint64(len(timers)), Key: next.NextKey}
	}
}
