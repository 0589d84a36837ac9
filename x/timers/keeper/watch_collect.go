package keeper

import (
	"context"
	"slices"

	"cosmossdk.io/collections"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Changes find the timers that watch them in rounds, one for each watched prefix below which something changed: a round
// looks at the watches of its prefix by seq. A block looks at MAX_WATCH_HITS_PER_BLOCK watches; what is left is kept in
// state and goes on in the next block. Prefixes take turns, so that a prefix that everybody watches does
// not keep others waiting. A change that comes while a round is on its way is told to those that are still to be told, and
// to the others by the next round: the round does not begin anew, so that a prefix that changes in every block reaches its
// last watch.

// turnsPerBlock is how many prefixes have a turn in a block at least, if so many have something pending.
const turnsPerBlock = 8

// watchRound is a prefix below which something changed, at work.
type watchRound struct {
	key     types.WatchKey
	pending types.WatchPending
	// stored: it lies in state.
	stored bool
	done   bool
}

// collectWatches makes due what watches something that this block's transactions changed, and what earlier blocks left;
// and it finds expired timers among those that wait.
func (k *Keeper) collectWatches(ctx sdk.Context, b *block) error {
	before, _, err := findItem(ctx, k.state.watchCursors)
	if err != nil {
		return err
	}
	after := before
	rounds, err := k.pendingRounds(ctx, before.Turn, int(b.config.MaxWatchHitsPerBlock)+1)
	if err != nil {
		return err
	}
	if rounds, err = k.addChanges(ctx, b.height, int(b.config.MaxMatchedKeys), rounds); err != nil {
		return err
	}
	if after.Turn, err = k.runRounds(ctx, b, rounds); err != nil {
		return err
	}
	b.seeThisHeight()
	if err := k.sweepWatching(ctx, b, &after); err != nil {
		return err
	}
	return k.setCursors(ctx, before, after)
}

// seeThisHeight holds the lane's cursors to what may lie before the block's own height at most, where hits are put. They are
// not past it as blocks leave them; a genesis file may say anything.
func (b *block) seeThisHeight() {
	for _, cursor := range []*types.QueueKey{&b.state.Head, &b.state.Live, &b.state.Admit} {
		if own := (types.QueueKey{Due: b.height}); own.Before(*cursor) {
			*cursor = own
		}
	}
}

// setCursors writes them if they have changed; at the start is no entry.
func (k *Keeper) setCursors(ctx context.Context, before, after types.WatchCursors) error {
	switch {
	case after.Equal(before):
		return nil
	case after.Equal(types.WatchCursors{}):
		return k.state.watchCursors.Remove(ctx)
	default:
		return k.state.watchCursors.Set(ctx, after)
	}
}

// pendingRounds reads what earlier blocks left, from the prefix whose turn it is and then from the first one on.
func (k *Keeper) pendingRounds(ctx sdk.Context, turn types.WatchKey, limit int) (rounds []watchRound, err error) {
	read := func(at collections.Pair[string, []byte], p types.WatchPending) (bool, error) {
		key := types.WatchKey{Store: at.K1(), Prefix: slices.Clone(at.K2())}
		rounds = append(rounds, watchRound{key: key, pending: p, stored: true})
		return len(rounds) >= limit, nil
	}
	if turn.Store == "" {
		return rounds, k.state.watchPending.Walk(ctx, nil, read)
	}
	from := collections.Join(turn.Store, turn.Prefix)
	ranges := []*collections.Range[collections.Pair[string, []byte]]{
		new(collections.Range[collections.Pair[string, []byte]]).StartInclusive(from),
		new(collections.Range[collections.Pair[string, []byte]]).EndExclusive(from),
	}
	for _, ranger := range ranges {
		if len(rounds) >= limit {
			break
		}
		if err := k.state.watchPending.Walk(ctx, ranger, read); err != nil {
			return nil, err
		}
	}
	return rounds, nil
}

// addChanges adds what the watched stores noted since they were last asked, for timers of that height. A prefix whose
// pending round is not at work in this block gets it in state.
func (k *Keeper) addChanges(ctx sdk.Context, height uint64, maxKeys int, rounds []watchRound) ([]watchRound, error) {
	if k.watcher == nil {
		return rounds, nil
	}
	changed, err := k.watcher.Take(ctx, maxKeys)
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
		pending, stored, err := find(ctx, k.state.watchPending, at)
		if err != nil {
			return nil, err
		}
		addToPending(&pending, change.Keys, height, maxKeys)
		if stored {
			if err := k.state.watchPending.Set(ctx, at, pending); err != nil {
				return nil, err
			}
			continue
		}
		rounds = append(rounds, watchRound{key: change.Key, pending: pending})
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

// runRounds gives the rounds turns while the block's bound lasts, writes back what is left, and returns whose turn comes
// first in the next block.
func (k *Keeper) runRounds(ctx sdk.Context, b *block, rounds []watchRound) (turn types.WatchKey, err error) {
	left := int(b.config.MaxWatchHitsPerBlock)
	perTurn := max(1, left/turnsPerBlock)
	open, next := len(rounds), 0
	for open > 0 && left > 0 {
		round := &rounds[next]
		next = (next + 1) % len(rounds)
		if round.done {
			continue
		}
		looked, err := k.turn(ctx, b, round, min(perTurn, left))
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
			err = k.state.watchPending.Set(ctx, at, round.pending)
		case round.stored:
			err = k.state.watchPending.Remove(ctx, at)
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

// turn looks at some watches of a prefix, and returns at how many, at least 1. It reads one more, to know whether the round
// has ended.
func (k *Keeper) turn(ctx sdk.Context, b *block, w *watchRound, limit int) (looked int, err error) {
	round := &w.pending.Round
	seqs := make([]uint64, 0, limit+1)
	ranger := new(collections.Range[collections.Triple[string, []byte, uint64]]).
		StartInclusive(collections.Join3(w.key.Store, w.key.Prefix, round.From)).
		EndInclusive(collections.Join3(w.key.Store, w.key.Prefix, ^uint64(0)))
	err = k.state.watches.Walk(ctx, ranger, func(at collections.Triple[string, []byte, uint64], _ []byte) (bool, error) {
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
		k.tell(ctx, b, w.key.Store, &known, seq)
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

// allChanges are those of the round and those that came since: who is told now need not be told of them by the next round,
// for which it will have begun to wait too late.
func allChanges(pending *types.WatchPending) types.WatchRound {
	known := pending.Round
	if next := pending.Next; next != nil {
		known.Height = max(known.Height, next.Height)
		known.Changes = append(slices.Clone(known.Changes), next.Changes...)
	}
	return known
}

// tell lets a change make one timer due, or adds it to what a timer that is due already will be told. What goes wrong
// concerns that timer alone.
func (k *Keeper) tell(ctx sdk.Context, b *block, store string, round *types.WatchRound, seq uint64) {
	timer, waits, err := find(ctx, k.state.watching, seq)
	if err == nil && waits {
		if timer.Due <= round.Height && !timer.ExpiredAt(b.height) {
			k.guard(ctx, b, &timer, func(ctx sdk.Context) error { return k.hit(ctx, b, store, round, &timer) })
		}
		return
	}
	if err == nil {
		err = sandbox(ctx, func(ctx sdk.Context) error { return k.addToHit(ctx, b, store, round, seq) })
	}
	if err != nil {
		ctx.Logger().Error("a watch can't be told of a change", "module", types.ModuleName, "seq", seq, "err", err)
	}
}

// hit makes a timer that waits due in this block. What is put into the queue is never due already but for this: it is
// done before the lane reads the queue, whose cursors do not pass the beginning of a height before its block.
func (k *Keeper) hit(ctx sdk.Context, b *block, store string, round *types.WatchRound, timer *types.Timer) error {
	hit := types.WatchHit{Since: timer.Due}
	addMatches(&hit, store, round, int(b.config.MaxMatchedKeys))
	if err := k.state.watchHits.Set(ctx, timer.Seq, hit); err != nil {
		return err
	}
	return k.move(ctx, timer, func(t *types.Timer) error {
		t.SetAside, t.Due = types.NotSetAside, b.height
		return nil
	})
}

// addToHit adds to what a timer will be told that was made due before. A timer that was set aside as it waited has no hit
// and is told nothing.
func (k *Keeper) addToHit(ctx sdk.Context, b *block, store string, round *types.WatchRound, seq uint64) error {
	hit, found, err := find(ctx, k.state.watchHits, seq)
	if err != nil || !found {
		return err
	}
	if !addMatches(&hit, store, round, int(b.config.MaxMatchedKeys)) {
		return nil
	}
	return k.state.watchHits.Set(ctx, seq, hit)
}

// addMatches adds the changes that count for a timer and that it has not been told, as many as fit; it tells whether
// there were any.
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

// sweepWatching finds timers that expired as they waited, SWEEP_PER_BLOCK at most: they come first by the height at which
// they expire.
func (k *Keeper) sweepWatching(ctx sdk.Context, b *block, cursors *types.WatchCursors) error {
	if cursors.Expiry.Due >= b.height {
		return nil
	}
	limit := int(b.config.SweepPerBlock)
	var expired []uint64
	ranger := new(collections.Range[collections.Pair[uint64, uint64]]).
		StartInclusive(collections.Join(cursors.Expiry.Due, cursors.Expiry.Seq)).
		EndExclusive(collections.Join(b.height, uint64(0)))
	err := k.state.watchExpiry.Walk(ctx, ranger, func(at collections.Pair[uint64, uint64]) (bool, error) {
		if len(expired) == 0 {
			cursors.Expiry = types.QueueKey{Due: at.K1(), Seq: at.K2()}
		}
		expired = append(expired, at.K2())
		return len(expired) >= limit, nil
	})
	if err != nil {
		return err
	}
	for _, seq := range expired {
		timer, found, err := find(ctx, k.state.watching, seq)
		if err != nil {
			ctx.Logger().Error("an expired watch can't be read", "module", types.ModuleName, "seq", seq, "err", err)
		}
		if found {
			b.expired = append(b.expired, timer)
		}
	}
	return nil
}

// keepChanges keeps for a later block what watched stores have noted and nobody has been told: what timers did at the
// end of this block counts for the next.
func (k *Keeper) keepChanges(ctx sdk.Context, height uint64, config *types.TimerConfig) error {
	rounds, err := k.addChanges(ctx, height, int(config.MaxMatchedKeys), nil)
	if err != nil {
		return err
	}
	for i := range rounds {
		at := collections.Join(rounds[i].key.Store, rounds[i].key.Prefix)
		if err := k.state.watchPending.Set(ctx, at, rounds[i].pending); err != nil {
			return err
		}
	}
	return nil
}

// saveChanges keeps what a block changed whose end failed as a whole, so that no watch misses it.
func (k *Keeper) saveChanges(ctx sdk.Context) {
	err := sandbox(ctx, func(ctx sdk.Context) error {
		config, err := k.Config(ctx)
		if err != nil {
			return err
		}
		return k.keepChanges(ctx, heightOf(ctx), &config)
	})
	if err != nil {
		ctx.Logger().Error("changes of watched state are lost", "module", types.ModuleName, "height", ctx.BlockHeight(), "err", err)
	}
}
