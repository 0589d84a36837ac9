package triggers

import (
	"context"
	"slices"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Guard runs the module's work on one timer in a sandbox of its own, and reports whether it succeeded.
type Guard func(ctx sdk.Context, t *types.Timer, fn func(sdk.Context) error) bool

// collector is the state of one block's collection. Its maps are looked up, never ranged over.
type collector struct {
	*Watches
	height uint64
	config *types.TimerConfig
	meter  *market.Overhead
	guard  Guard

	// all are the rounds that this block has read or begun, named the same by owner and prefix.
	all   []*ownerRound
	named map[string]*ownerRound
	// ownerTurns are the turns of owners with rounds, byOwner the same.
	ownerTurns []*ownerTurn
	byOwner    map[string]*ownerTurn

	// looks are the watches that this block looks at, expired those among them that have expired.
	looks   []types.Timer
	expired []types.Timer

	// passings are the segments of conditions that this block has read.
	passings []*passing
}

func (w *Watches) collector(height uint64, config *types.TimerConfig, meter *market.Overhead, guard Guard) *collector {
	return &collector{
		Watches: w, height: height, config: config, meter: meter, guard: guard,
		named: map[string]*ownerRound{}, byOwner: map[string]*ownerTurn{},
	}
}

// Collect makes due the timers that watch state that changed since the last block's end, and continues the rounds of
// earlier blocks. It returns timers that expired while they waited.
func (w *Watches) Collect(
	ctx sdk.Context, config *types.TimerConfig, meter *market.Overhead, guard Guard,
) (expired []types.Timer, err error) {
	c := w.collector(types.HeightOf(ctx), config, meter, guard)
	before, _, err := state.FindItem(ctx, w.cursors)
	if err != nil {
		return nil, err
	}
	after := before
	quiet, err := w.watcher.Quiet(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.readLooks(ctx); err != nil {
		return nil, err
	}
	if !quiet || len(c.looks) > 0 || before.Turn.Store != "" || len(before.Owner) > 0 || before.ConditionsLeft {
		if err := c.notifyAll(ctx, &after); err != nil {
			return nil, err
		}
	}
	if expired, err = c.sweep(ctx); err != nil {
		return nil, err
	}
	if before.TombstonesLeft {
		if after.TombstonesLeft, err = w.tombstones.Drain(ctx, w.removeWatches); err != nil {
			return nil, err
		}
	}
	return append(expired, c.expired...), w.setCursors(ctx, before, after)
}

// notifyAll notifies timers of changes, as many as the overhead allows, and moves the cursors.
func (c *collector) notifyAll(ctx sdk.Context, cursors *types.WatchCursors) (err error) {
	if cursors.Turn, err = c.runPasses(ctx, cursors.Turn); err != nil {
		return err
	}
	if err := c.runConditions(ctx, cursors); err != nil {
		return err
	}
	if cursors.Owner, err = c.runRounds(ctx, cursors.Owner); err != nil {
		return err
	}
	if err := c.storeRounds(ctx); err != nil {
		return err
	}
	left, err := c.storeSegments(ctx)
	cursors.ConditionsLeft = cursors.ConditionsLeft || left
	return err
}

// Settle ends a block: the next one goes on with what timers that left have left behind. What timers changed at the end of this block
// is noted, and counts for the next.
func (w *Watches) Settle(ctx sdk.Context) error {
	return w.addCursors(ctx, types.WatchCursors{TombstonesLeft: state.HasDeferred(ctx)})
}

// sweep finds timers that expired while they waited, as many as half of the overhead for those on hold: they are first in the
// order of their ends, of heights and of times.
func (c *collector) sweep(ctx sdk.Context) (expired []types.Timer, err error) {
	now := types.Moment{Height: c.height, Time: types.MomentOf(ctx).Time}
	expired, err = c.records.Ended(ctx, now, max(1, c.meter.Left(market.VisitWaiting)/2), state.ClassWatching)
	c.meter.Consume(market.VisitWaiting, len(expired))
	return expired, err
}

// firstOwner comes before every address.
var firstOwner = []byte{0}

// deriveCursors lets the next block continue with the passes and rounds that a genesis holds, where its cursors name none.
func (w *Watches) deriveCursors(ctx context.Context) error {
	var left types.WatchCursors
	err := w.pending.Walk(ctx, nil, func(at prefixKey, _ types.WatchPending) (bool, error) {
		left.Turn = types.WatchKey{Store: at.K1(), Prefix: slices.Clone(at.K2())}
		return true, nil
	})
	if err != nil {
		return err
	}
	err = w.turns.Walk(ctx, nil, func(turnKey) (bool, error) {
		left.Owner = firstOwner
		return true, nil
	})
	if err != nil {
		return err
	}
	return w.addCursors(ctx, left)
}

// addCursors lets the next block continue with what is left, where the cursors do not say already where it does.
func (w *Watches) addCursors(ctx context.Context, left types.WatchCursors) error {
	if left.Equal(types.WatchCursors{}) {
		return nil
	}
	before, _, err := state.FindItem(ctx, w.cursors)
	if err != nil {
		return err
	}
	after := before
	after.TombstonesLeft = after.TombstonesLeft || left.TombstonesLeft
	if after.Turn.Store == "" {
		after.Turn = left.Turn
	}
	if len(after.Owner) == 0 {
		after.Owner = left.Owner
	}
	return w.setCursors(ctx, before, after)
}

// setCursors writes the cursors if they have changed. Cursors at the start have no entry.
func (w *Watches) setCursors(ctx context.Context, before, after types.WatchCursors) error {
	switch {
	case after.Equal(before):
		return nil
	case after.Equal(types.WatchCursors{}):
		return w.cursors.Remove(ctx)
	default:
		return w.cursors.Set(ctx, after)
	}
}

// share divides the work of a block, a budget, among n parties (x/timers/README.md, "1.10 Watch"). They take turns in their
// order: each gets an equal share before any gets more. serve works for a party within a limit, at least 1. It reports how much
// it used, from 1 on, and whether the party has nothing left. What it does last may exceed the limit.
//
// It returns the party whose turn is next, or n if no party has anything left.
func share(n, budget int, serve func(party, limit int) (used int, done bool, err error)) (next int, err error) {
	open := make([]int, n)
	for i := range open {
		open[i] = i
	}
	for len(open) > 0 {
		limit := max(1, budget/len(open))
		unfinished := make([]int, 0, len(open))
		for at, party := range open {
			if budget <= 0 {
				return party, nil
			}
			used, done, err := serve(party, min(limit, budget))
			if err != nil {
				return party, err
			}
			budget -= used
			if !done {
				unfinished = append(unfinished, party)
			}
			if last := at == len(open)-1; last && budget <= 0 && len(unfinished) > 0 {
				return unfinished[0], nil
			}
		}
		open = unfinished
	}
	return n, nil
}
