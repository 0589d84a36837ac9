package triggers

import (
	"context"
	"slices"

	"cosmossdk.io/collections"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Timers are notified of changes in rounds. A round belongs to one watched prefix below which something changed, and
// visits the watches of that prefix by seq. A block visits MAX_WATCH_HITS_PER_BLOCK watches. Unfinished rounds are
// stored and continue in the next block. Prefixes take turns, so that a prefix with very many watches does not delay
// others.
//
// A change during a round is delivered to the timers that the round has not reached, and to the others by the next
// round. The round does not restart. So even if a prefix changes in every block, its last watch is reached.

// turnsPerBlock is the least number of prefixes that have a turn in a block, if so many have pending changes.
const turnsPerBlock = 8

// round is the round of one prefix in this block.
type round struct {
	key     types.WatchKey
	pending types.WatchPending
	// stored: it is in state.
	stored bool
	done   bool
}

// Guard runs the module's work on one timer in a sandbox of its own, and reports whether it succeeded.
type Guard func(ctx sdk.Context, t *types.Timer, fn func(sdk.Context) error) bool

// collector is the state of one block's collection.
type collector struct {
	*Watches
	height uint64
	config *types.TimerConfig
	guard  Guard
}

// Collect makes due the timers that watch state that this block's transactions changed, and continues the rounds of
// earlier blocks. It returns timers that expired while they waited.
func (w *Watches) Collect(ctx sdk.Context, config *types.TimerConfig, guard Guard) (expired []types.Timer, err error) {
	c := collector{Watches: w, height: types.HeightOf(ctx), config: config, guard: guard}
	before, _, err := state.FindItem(ctx, w.cursors)
	if err != nil {
		return nil, err
	}
	after := before
	rounds, err := w.pendingRounds(ctx, before.Turn, int(config.MaxWatchHitsPerBlock)+1)
	if err != nil {
		return nil, err
	}
	if rounds, err = w.addChanges(ctx, c.height, int(config.MaxMatchedKeys), rounds); err != nil {
		return nil, err
	}
	if after.Turn, err = c.runRounds(ctx, rounds); err != nil {
		return nil, err
	}
	if expired, err = c.sweep(ctx, &after); err != nil {
		return nil, err
	}
	return expired, w.setCursors(ctx, before, after)
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

// pendingRounds reads the stored rounds, from the prefix whose turn it is and then from the first one on.
func (w *Watches) pendingRounds(ctx sdk.Context, turn types.WatchKey, limit int) (rounds []round, err error) {
	read := func(at prefixKey, p types.WatchPending) (bool, error) {
		key := types.WatchKey{Store: at.K1(), Prefix: slices.Clone(at.K2())}
		rounds = append(rounds, round{key: key, pending: p, stored: true})
		return len(rounds) >= limit, nil
	}
	if turn.Store == "" {
		return rounds, w.pending.Walk(ctx, nil, read)
	}
	from := collections.Join(turn.Store, turn.Prefix)
	ranges := []*collections.Range[prefixKey]{
		new(collections.Range[prefixKey]).StartInclusive(from),
		new(collections.Range[prefixKey]).EndExclusive(from),
	}
	for _, ranger := range ranges {
		if len(rounds) >= limit {
			break
		}
		if err := w.pending.Walk(ctx, ranger, read); err != nil {
			return nil, err
		}
	}
	return rounds, nil
}

// addChanges adds the changes that the watched stores noted since the last call, for timers of that height. For a
// prefix whose round does not run in this block, they are added to the stored round.
func (w *Watches) addChanges(ctx sdk.Context, height uint64, maxKeys int, rounds []round) ([]round, error) {
	if w.watcher == nil {
		return rounds, nil
	}
	changed, err := w.watcher.Take(ctx, maxKeys)
	if err != nil {
		return nil, err
	}
	atWork := make(map[string]int, len(rounds))
	name := func(key types.WatchKey) string { return key.Store + "\x00" + string(key.Prefix) }
	for i := range rounds {
		atWork[name(rounds[i].key)] = i
	}
	for _, change := range changed {
		if i, known := atWork[name(change.Key)]; known {
			addToPending(&rounds[i].pending, change.Keys, height, maxKeys)
			continue
		}
		at := collections.Join(change.Key.Store, change.Key.Prefix)
		pending, stored, err := state.Find(ctx, w.pending, at)
		if err != nil {
			return nil, err
		}
		addToPending(&pending, change.Keys, height, maxKeys)
		if stored {
			if err := w.pending.Set(ctx, at, pending); err != nil {
				return nil, err
			}
			continue
		}
		rounds = append(rounds, round{key: change.Key, pending: pending})
	}
	return rounds, nil
}

// addToPending adds changes to the round if it has not begun, or else to the next one.
func addToPending(pending *types.WatchPending, keys [][]byte, height uint64, maxKeys int) {
	round := &pending.Round
	if round.From > 0 {
		if pending.Next == nil {
			pending.Next = &types.WatchRound{}
		}
		round = pending.Next
	}
	round.Height = max(round.Height, height)
	for _, key := range keys {
		at := slices.IndexFunc(round.Changes, func(c types.WatchChange) bool { return string(c.Key) == string(key) })
		switch {
		case at >= 0:
			round.Changes[at].Height = height
		case len(round.Changes) < maxKeys:
			round.Changes = append(round.Changes, types.WatchChange{Key: key, Height: height})
		}
	}
}

// runRounds gives the rounds turns up to the block's bound and stores the unfinished ones. It returns the prefix that
// has the first turn in the next block.
func (c *collector) runRounds(ctx sdk.Context, rounds []round) (turn types.WatchKey, err error) {
	left := int(c.config.MaxWatchHitsPerBlock)
	perTurn := max(1, left/turnsPerBlock)
	open, next := len(rounds), 0
	for open > 0 && left > 0 {
		round := &rounds[next]
		next = (next + 1) % len(rounds)
		if round.done {
			continue
		}
		looked, err := c.serveRound(ctx, round, min(perTurn, left))
		if err != nil {
			return turn, err
		}
		left -= looked
		if round.done {
			open--
		}
	}
	for i := range rounds {
		round := &rounds[i]
		at := collections.Join(round.key.Store, round.key.Prefix)
		switch {
		case !round.done:
			err = c.pending.Set(ctx, at, round.pending)
		case round.stored:
			err = c.pending.Remove(ctx, at)
		}
		if err != nil {
			return turn, err
		}
	}
	if open > 0 {
		turn = rounds[next].key
	}
	return turn, nil
}

// serveRound visits some watches of a prefix, and returns how many, at least 1. It reads one more, to know whether the
// round has ended.
func (c *collector) serveRound(ctx sdk.Context, w *round, limit int) (looked int, err error) {
	round := &w.pending.Round
	seqs := make([]uint64, 0, limit+1)
	ranger := new(collections.Range[WatchPlace]).
		StartInclusive(collections.Join3(w.key.Store, w.key.Prefix, round.From)).
		EndInclusive(collections.Join3(w.key.Store, w.key.Prefix, ^uint64(0)))
	err = c.watches.Walk(ctx, ranger, func(at WatchPlace, _ []byte) (bool, error) {
		seqs = append(seqs, at.K3())
		return len(seqs) > limit, nil
	})
	if err != nil {
		return 0, err
	}
	ahead := seqs[min(limit, len(seqs)):]
	seqs = seqs[:len(seqs)-len(ahead)]
	known := allChanges(&w.pending)
	for _, seq := range seqs {
		c.notify(ctx, w.key.Store, &known, seq)
	}
	switch {
	case len(ahead) > 0:
		round.From = ahead[0]
	case w.pending.Next != nil:
		w.pending.Round, w.pending.Next = *w.pending.Next, nil
	default:
		w.done = true
	}
	return max(1, len(seqs)), nil
}

// allChanges are those of the round and those that came since. Timers notified now skip the next round, because they
// will have begun to wait after its changes.
func allChanges(pending *types.WatchPending) types.WatchRound {
	known := pending.Round
	if next := pending.Next; next != nil {
		known.Height = max(known.Height, next.Height)
		known.Changes = append(slices.Clone(known.Changes), next.Changes...)
	}
	return known
}

// notify makes one timer due by a change, or adds the change to the hit of a timer that is due already. An error
// affects that timer alone.
func (c *collector) notify(ctx sdk.Context, store string, round *types.WatchRound, seq uint64) {
	timer, waits, err := state.Find(ctx, c.waiting, seq)
	if err == nil && waits {
		if timer.Due <= round.Height && !timer.ExpiredAt(c.height) {
			c.guard(ctx, &timer, func(ctx sdk.Context) error { return c.markDue(ctx, store, round, &timer) })
		}
		return
	}
	if err == nil {
		err = sandbox.Run(ctx, func(ctx sdk.Context) error { return c.addToHit(ctx, store, round, seq) })
	}
	if err != nil {
		ctx.Logger().Error("a watch can't be notified of a change", "module", types.ModuleName, "seq", seq, "err", err)
	}
}

// markDue makes a waiting timer due in this block. Only here does a timer enter the queue when it is already due. This
// is safe because it happens before the lane reads the queue, and because the queue's cursors do not pass the beginning
// of a height before its block.
func (c *collector) markDue(ctx sdk.Context, store string, round *types.WatchRound, timer *types.Timer) error {
	hit := types.WatchHit{Since: timer.Due}
	addMatches(&hit, store, round, int(c.config.MaxMatchedKeys))
	if err := c.hits.Set(ctx, timer.Seq, hit); err != nil {
		return err
	}
	return c.records.Move(ctx, timer, func(t *types.Timer) error {
		t.SetAside, t.Due = types.NotSetAside, c.height
		return nil
	})
}

// addToHit adds changes to the hit of a timer that is due already. A timer that was set aside while it waited has no
// hit, and is not notified.
func (c *collector) addToHit(ctx sdk.Context, store string, round *types.WatchRound, seq uint64) error {
	hit, found, err := state.Find(ctx, c.hits, seq)
	if err != nil || !found {
		return err
	}
	if !addMatches(&hit, store, round, int(c.config.MaxMatchedKeys)) {
		return nil
	}
	return c.hits.Set(ctx, seq, hit)
}

// addMatches adds to a hit the changes that count for the timer and are not yet in it, as many as fit. It reports
// whether there were any.
func addMatches(hit *types.WatchHit, store string, round *types.WatchRound, maxKeys int) (added bool) {
	for _, change := range round.Changes {
		key := types.WatchedKey{Store: store, Key: change.Key}
		if change.Height < hit.Since || len(hit.Matched) >= maxKeys || slices.ContainsFunc(hit.Matched, key.Same) {
			continue
		}
		hit.Matched, added = append(hit.Matched, key), true
	}
	return added
}

// sweep finds timers that expired while they waited, at most SWEEP_PER_BLOCK: they are first in the order of expiry
// heights.
func (c *collector) sweep(ctx sdk.Context, cursors *types.WatchCursors) (expired []types.Timer, err error) {
	if cursors.Expiry.Due >= c.height {
		return nil, nil
	}
	limit := int(c.config.SweepPerBlock)
	var seqs []uint64
	ranger := new(collections.Range[collections.Pair[uint64, uint64]]).
		StartInclusive(collections.Join(cursors.Expiry.Due, cursors.Expiry.Seq)).
		EndExclusive(collections.Join(c.height, uint64(0)))
	err = c.expiry.Walk(ctx, ranger, func(at collections.Pair[uint64, uint64]) (bool, error) {
		if len(seqs) == 0 {
			cursors.Expiry = types.QueueKey{Due: at.K1(), Seq: at.K2()}
		}
		seqs = append(seqs, at.K2())
		return len(seqs) >= limit, nil
	})
	if err != nil {
		return nil, err
	}
	for _, seq := range seqs {
		timer, found, err := state.Find(ctx, c.waiting, seq)
		if err != nil {
			ctx.Logger().Error("an expired watch can't be read", "module", types.ModuleName, "seq", seq, "err", err)
		}
		if found {
			expired = append(expired, timer)
		}
	}
	return expired, nil
}

// KeepChanges stores the changes that watched stores have noted and no timer has been notified of: the changes that
// timers made at the end of this block count for the next.
func (w *Watches) KeepChanges(ctx sdk.Context, height uint64, config *types.TimerConfig) error {
	rounds, err := w.addChanges(ctx, height, int(config.MaxMatchedKeys), nil)
	if err != nil {
		return err
	}
	for i := range rounds {
		at := collections.Join(rounds[i].key.Store, rounds[i].key.Prefix)
		if err := w.pending.Set(ctx, at, rounds[i].pending); err != nil {
			return err
		}
	}
	return nil
}
