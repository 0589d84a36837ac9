package monitor

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/cosmos/cosmos-sdk/types/query"

	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/client/words"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	// backlogBlocks is how many past blocks the view starts with, and how many it catches up with after an outage; the
	// plain lines leave nothing out.
	backlogBlocks = 20
	// listRows is how many timers of a list are asked for: more than fit most screens, since what is alike makes one row.
	listRows = 100
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

// told is what a stream can show.
type told interface {
	line() string
	object() string
}

// stream shows blocks and happenings one a line: as plain lines, or as objects of JSON.
type stream struct {
	out   io.Writer
	actor string
	json  bool
}

func (s *stream) backlog() uint64 { return 0 }

func (s *stream) block(r *report) error {
	text := s.form(r)
	for i := range r.happenings {
		if h := &r.happenings[i]; h.concerns(s.actor) {
			text += s.form(h)
		}
	}
	_, err := io.WriteString(s.out, text)
	return err
}

func (s *stream) form(t told) string {
	if s.json {
		return t.object() + "\n"
	}
	return t.line() + "\n"
}

func (s *stream) upToDate(context.Context, bool) (asked, shown error) { return nil, nil }

// view shows the board on a screen.
type view struct {
	*watcher
	screen *screen
	// stale: there are blocks that the board does not know of.
	stale bool
	// drawn is when the last frame was done.
	drawn time.Time
}

func (v *view) backlog() uint64 { return backlogBlocks }

// block draws, too, once there is something to draw: so the past fills in before the eyes of who waits for it. It leaves
// out frames, so that drawing, however long it takes, leaves an interval for reading.
func (v *view) block(r *report) error {
	v.board.take(r)
	if v.board.lane == nil || v.board.now().Sub(v.drawn) < v.interval {
		return nil
	}
	return v.draw()
}

func (v *view) draw() error {
	err := v.screen.draw(&v.board)
	v.drawn = v.board.now()
	return err
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
	return nil, v.draw()
}

// collect fills the board as of the latest block: with four requests, two for an actor alone, and one more for the pace
// every twenty blocks.
func (v *view) collect(ctx context.Context) error {
	b := &v.board
	lane, err := v.query.Lane(ctx, &types.QueryLaneRequest{})
	if err != nil {
		return fmt.Errorf("ask for the lane: %s", plain.ServerSays(err))
	}
	if b.actor != "" {
		err = v.collectOwn(ctx)
	} else {
		err = v.collectAll(ctx, lane.Height)
	}
	if err != nil {
		return err
	}
	b.lane, b.clock = lane, v.pace.Clock(ctx, v.node, lane.Height)
	if c := b.clockNow(); c.Halted() {
		// The time of the latest block is an estimate between two pages of headers: such an alarm takes the time itself.
		v.pace.Forget()
		b.clock = v.pace.Clock(ctx, v.node, lane.Height)
	}
	for _, list := range [][]types.TimerInfo{b.timers, b.coming} {
		slices.SortStableFunc(list, func(x, y types.TimerInfo) int { return words.Soonest(&x, &y, b.clock) })
	}
	return nil
}

func (v *view) collectOwn(ctx context.Context) error {
	own, err := v.query.TimersByActor(ctx, &types.QueryTimersByActorRequest{
		Actor: v.board.actor, Pagination: &query.PageRequest{Limit: listRows},
	})
	if err != nil {
		return fmt.Errorf("ask for the actor's timers: %s", plain.ServerSays(err))
	}
	v.board.timers, v.board.total = own.Timers, own.Total
	return nil
}

func (v *view) collectAll(ctx context.Context, height uint64) error {
	ready, err := v.query.Ready(ctx, &types.QueryReadyRequest{Pagination: &query.PageRequest{Limit: listRows}})
	if err != nil {
		return fmt.Errorf("ask for the ready timers: %s", plain.ServerSays(err))
	}
	coming, err := v.query.Due(ctx, &types.QueryDueRequest{
		Height: math.MaxInt64, Until: true, Pagination: &query.PageRequest{Limit: listRows, Key: dueFrom(height + 1)},
	})
	if err != nil {
		return fmt.Errorf("ask for the timers that are due later: %s", plain.ServerSays(err))
	}
	timed, err := v.query.Due(ctx, &types.QueryDueRequest{
		Time: types.MaxTime, Until: true, Pagination: &query.PageRequest{Limit: listRows},
	})
	if err != nil {
		return fmt.Errorf("ask for the timers that wait for a time: %s", plain.ServerSays(err))
	}
	b := &v.board
	b.ready, b.moreReady = ready.Timers, len(ready.Pagination.GetNextKey()) > 0
	b.coming = slices.Concat(coming.Timers, timed.Timers)
	b.moreComing = len(coming.Pagination.GetNextKey())+len(timed.Pagination.GetNextKey()) > 0
	return nil
}

// dueFrom is the key of the page of the queue that begins at a height: the height and a place there, eight bytes each.
func dueFrom(height uint64) []byte {
	return append(binary.BigEndian.AppendUint64(nil, height), make([]byte, 8)...)
}
