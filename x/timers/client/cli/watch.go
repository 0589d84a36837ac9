package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/client/flags"
	"github.com/cosmos/cosmos-sdk/types/query"
	"github.com/cosmos/cosmos-sdk/version"

	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	flagBlocks   = "blocks"
	flagInterval = "interval"
	// leastInterval keeps a slip of the finger from flooding a node.
	leastInterval = 50 * time.Millisecond
	// backlogBlocks is how many past blocks the view starts with, and how many it catches up with after an outage; the
	// plain lines leave nothing out.
	backlogBlocks = 20
	// roundBlocks is how many blocks are read between two looks at the node's height.
	roundBlocks = 100
	// behindBlocks is how far a node may be behind what was shown: an address may stand for several nodes.
	behindBlocks = 10
	// listRows is how many timers are asked for: their payloads come with them.
	listRows = 30
)

func newWatchCmd() *cobra.Command {
	cmd := queryCommand(&cobra.Command{
		Use:   "watch [actor]",
		Short: "Follow the lane and its timers block by block",
		Long: `Follow the lane and its timers block by block: prices and use, what is ready in the order of the next block, and what
fired, expired, went unfunded or was changed lately. With an actor, an address or a key's name, its timers and what
befalls them alone.

On a terminal the view is redrawn in place; Ctrl-C ends it. Elsewhere each block and each happening is one line, KIND
KEY=VALUE ..., for grep and scripts. The node is asked for its height every --interval, so any RPC endpoint will do; when it
goes away, that is said and it is asked again.`,
		Example: fmt.Sprintf(`%[1]s query timers watch
%[1]s query timers watch alice --interval 2s
%[1]s query timers watch --blocks 100 | grep -E '^(failed|unfunded) '`, version.AppName),
		Args: cobra.MaximumNArgs(1),
		RunE: runWatch,
	})
	cmd.Flags().Uint64(flagBlocks, 0, "end after so many blocks, the latest one first (default: do not end)")
	for _, name := range []string{flags.FlagHeight, flags.FlagOutput} {
		// Every query has them; here they would say nothing.
		cmd.Flags().Lookup(name).Hidden = true
	}
	cmd.Flags().Duration(flagInterval, pollEvery, fmt.Sprintf("how often the node is asked for its height, at least %s", leastInterval))
	return cmd
}

func runWatch(cmd *cobra.Command, args []string) error {
	clientCtx, err := client.GetClientQueryContext(cmd)
	if err != nil {
		return err
	}
	for _, flag := range []string{flags.FlagHeight, flags.FlagOutput} {
		if cmd.Flags().Changed(flag) {
			return fmt.Errorf("--%s says nothing here: the latest blocks are followed, in lines or as a view", flag)
		}
	}
	j := newJob(cmd, clientCtx)
	w := &watcher{query: types.NewQueryClient(j.Context), board: board{chainID: j.ChainID}, notes: j.notes}
	if w.interval, err = cmd.Flags().GetDuration(flagInterval); err != nil {
		return err
	}
	if w.interval < leastInterval {
		return fmt.Errorf("--%s %s is too short: want at least %s", flagInterval, w.interval, leastInterval)
	}
	if w.left, err = cmd.Flags().GetUint64(flagBlocks); err != nil {
		return err
	}
	if cmd.Flags().Changed(flagBlocks) && w.left == 0 {
		return fmt.Errorf("--%s 0 would show nothing: want 1 or more", flagBlocks)
	}
	if len(args) == 1 {
		actor, err := j.lookupAccount(args[0])
		if err != nil {
			return err
		}
		w.board.actor = actor.text
	}
	if w.node, err = j.GetNode(); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(j.ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if on := terminalOf(j.Output); on != nil {
		return w.onScreen(ctx, on)
	}
	return w.follow(ctx, &lines{out: j.Output, actor: w.board.actor})
}

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

// follow looks at the chain until it is told to end. A node that can't be asked at first ends it; one that goes away later
// does not.
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
		w.board.trouble = fmt.Sprintf("no news from the node, asked again every %s: %.200s", w.interval, asked)
	case asked == nil && w.troubled:
		w.troubled = false
		w.board.trouble = ""
		w.note("the node answers again, at height %d", w.next-1)
	default:
		return nil
	}
	if w.troubled {
		w.note("%s", clean(w.board.trouble))
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
		if r.height >= w.counted && w.left > 0 {
			if w.left--; w.left == 0 {
				w.next++
				if asked, shown := v.upToDate(ctx, true); asked != nil || shown != nil {
					return asked, cmp.Or(shown, errDone)
				}
				return nil, errDone
			}
		}
	}
	return v.upToDate(ctx, fresh)
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

// upToDate asks for what blocks do not tell, if there are new ones, and draws. It draws in any case: the terminal may have
// another size by now. Invariant: the first look is over, or it asks; so there is a lane to draw, unless it fails.
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
		return fmt.Errorf("ask for the lane: %s", serverSays(err))
	}
	c, err := readClock(ctx, v.node)
	if err != nil {
		c.paceErr = err
	}
	page := &query.PageRequest{Limit: listRows}
	if b.actor != "" {
		own, err := v.query.TimersByActor(ctx, &types.QueryTimersByActorRequest{Actor: b.actor, Pagination: page})
		if err != nil {
			return fmt.Errorf("ask for the actor's timers: %s", serverSays(err))
		}
		b.timers, b.total = own.Timers, own.Total
		slices.SortStableFunc(b.timers, func(x, y types.TimerInfo) int { return cmp.Compare(x.Due, y.Due) })
	} else {
		ready, err := v.query.Ready(ctx, &types.QueryReadyRequest{Pagination: page})
		if err != nil {
			return fmt.Errorf("ask for the ready timers: %s", serverSays(err))
		}
		b.ready, b.more = ready.Timers, len(ready.GetPagination().GetNextKey()) > 0
	}
	b.lane, b.clock = lane, c
	return nil
}
