package triggers

import (
	"bytes"
	"slices"

	"cosmossdk.io/collections"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// A round belongs to one owner and one watched prefix below which something changed. It visits the owner's watches of
// that prefix by seq. A block visits as many watches as its overhead for them has room for. Owners take turns: each gets an equal share of
// that before any gets more, and the next block starts with the owner at whom this one ended. An owner's own rounds come
// in the order of their first changes. So a crowd of watches delays the fires of its owner alone. Unfinished rounds are
// stored and continue in the next block.
//
// A change during a round is delivered to the timers that the round has not reached, and to the others by the next
// round. The round does not restart. So even if a prefix changes in every block, its last watch is reached.

// ownerRound is the round of one owner and prefix in this block.
type ownerRound struct {
	owner   []byte
	key     types.WatchKey
	pending types.WatchPending
	// filed is the height under which its turn is stored, 0 if it is not in state.
	filed uint64
	// changed: it differs from what is stored.
	changed, done bool
}

// ownerTurn is the turn of one owner in this block.
type ownerTurn struct {
	owner []byte
	// after is where the owner's stored turns are read on. all: they have been read.
	after turnKey
	all   bool
	// read are stored rounds, oldest first. fresh are those of this block, which come after them, of passes and of what is noted
	// for this owner alone. taken: all that is noted has been taken.
	read, fresh []*ownerRound
	taken       bool
	// passed are conditions that became true. They come before the rounds.
	passed []*passed
}

// roundOf returns the round of an owner and prefix.
func (c *collector) roundOf(ctx sdk.Context, owner []byte, key types.WatchKey) (*ownerRound, error) {
	name := string(owner) + "\x00" + nameOf(key)
	if r, known := c.named[name]; known {
		return r, nil
	}
	pending, stored, err := state.Find(ctx, c.rounds, collections.Join3(owner, key.Store, key.Prefix))
	if err != nil {
		return nil, err
	}
	r := &ownerRound{owner: owner, key: key, pending: pending}
	if stored {
		r.filed = pending.Round.Since
	}
	c.named[name], c.all = r, append(c.all, r)
	return r, nil
}

// enlist adds changes to the round of an owner.
func (c *collector) enlist(ctx sdk.Context, owner []byte, key types.WatchKey, changes *types.WatchRound) error {
	r, err := c.roundOf(ctx, owner, key)
	if err != nil {
		return err
	}
	if r.done || r.filed == 0 && !r.changed {
		turn := c.turnOf(owner)
		turn.fresh = append(turn.fresh, r)
	}
	if r.done {
		r.pending, r.done = types.WatchPending{}, false
	}
	r.changed = true
	addToPending(&r.pending, changes, int(market.MaxMatchedKeys))
	return nil
}

// turnOf returns the turn of an owner.
func (c *collector) turnOf(owner []byte) *ownerTurn {
	turn, known := c.byOwner[string(owner)]
	if !known {
		turn = &ownerTurn{owner: owner, after: collections.Join4(owner, uint64(0), "", []byte{})}
		c.byOwner[string(owner)], c.ownerTurns = turn, append(c.ownerTurns, turn)
	}
	return turn
}

// runRounds gives the owners turns, from the given one on, up to the block's bound. It returns the owner who has the
// first turn in the next block, none if nothing is left to do.
func (c *collector) runRounds(ctx sdk.Context, first []byte) (next []byte, err error) {
	limit := c.meter.Left(market.Notify)
	// One owner more than there is room for, so that it is known who is next.
	stored, err := c.storedOwners(ctx, first, limit+1)
	if err != nil {
		return nil, err
	}
	for _, owner := range stored {
		c.turnOf(owner)
	}
	slices.SortFunc(c.ownerTurns, func(a, b *ownerTurn) int {
		return compareCyclic(first, a.owner, b.owner)
	})
	at, err := share(len(c.ownerTurns), limit, func(i, limit int) (int, bool, error) {
		return c.serveOwner(ctx, c.ownerTurns[i], limit)
	})
	if err != nil || at == len(c.ownerTurns) {
		return nil, err
	}
	return c.ownerTurns[at].owner, nil
}

// storedOwners returns owners with stored turns or with notes of their own, from one on and around, at most limit. There are no
// stored turns if it is no one's turn.
func (c *collector) storedOwners(ctx sdk.Context, first []byte, limit int) ([][]byte, error) {
	owners, err := around(first, limit, func(owner []byte, past uint64, fn func([]byte) bool) error {
		return c.watcher.Owners(ctx, owner, past > 0, fn)
	})
	if err != nil || len(first) == 0 {
		return owners, err
	}
	turns, err := around(first, limit, func(owner []byte, past uint64, fn func([]byte) bool) error {
		ranger := new(collections.Range[turnKey]).StartInclusive(collections.Join4(owner, past, "", []byte{}))
		return c.turns.Walk(ctx, ranger, func(at turnKey) (bool, error) { return fn(at.K1()), nil })
	})
	owners = append(owners, turns...)
	slices.SortFunc(owners, func(a, b []byte) int { return compareCyclic(first, a, b) })
	owners = slices.CompactFunc(owners, bytes.Equal)
	return owners[:min(limit, len(owners))], err
}

// around is distinct from an owner on, and then from the first one to that.
func around(first []byte, limit int, walk func(owner []byte, past uint64, fn func([]byte) bool) error) ([][]byte, error) {
	owners, err := distinct(first, limit, walk)
	if err != nil || len(owners) >= limit || len(first) == 0 {
		return owners, err
	}
	before, err := distinct(nil, limit-len(owners), func(owner []byte, past uint64, fn func([]byte) bool) error {
		return walk(owner, past, func(owner []byte) bool { return compareOwners(owner, first) >= 0 || fn(owner) })
	})
	return append(owners, before...), err
}

// serveOwner visits some watches of an owner, at least 1, oldest round first.
func (c *collector) serveOwner(ctx sdk.Context, turn *ownerTurn, limit int) (used int, done bool, err error) {
	for used < limit {
		if !c.meter.Fits(market.Notify) {
			return limit, false, nil
		}
		if len(turn.passed) > 0 {
			used += c.servePassed(ctx, turn)
			continue
		}
		r, err := c.nextRound(ctx, turn, limit-used)
		if err != nil || r == nil {
			return max(1, used), r == nil, err
		}
		looked, err := c.serveRound(ctx, r, limit-used)
		if err != nil {
			return used, false, err
		}
		used += looked
	}
	// Whether anything is left need not be known exactly: an owner without rounds ends the turn with its next share.
	return used, turn.all && turn.taken && len(turn.passed) == 0 && !hasOpen(turn.read) && !hasOpen(turn.fresh), nil
}

func hasOpen(rounds []*ownerRound) bool {
	return slices.ContainsFunc(rounds, func(r *ownerRound) bool { return !r.done })
}

// nextRound returns the oldest unfinished round of an owner, nil if there is none. It reads at most limit more.
func (c *collector) nextRound(ctx sdk.Context, turn *ownerTurn, limit int) (*ownerRound, error) {
	for {
		for len(turn.read) > 0 {
			if !turn.read[0].done {
				return turn.read[0], nil
			}
			turn.read = turn.read[1:]
		}
		if turn.all {
			break
		}
		if err := c.readRounds(ctx, turn, limit); err != nil {
			return nil, err
		}
	}
	for {
		for len(turn.fresh) > 0 {
			if !turn.fresh[0].done {
				return turn.fresh[0], nil
			}
			turn.fresh = turn.fresh[1:]
		}
		if turn.taken {
			return nil, nil
		}
		if err := c.takeNoted(ctx, turn, limit); err != nil {
			return nil, err
		}
	}
}

// takeNoted begins rounds of what is noted for an owner alone, at most limit.
func (c *collector) takeNoted(ctx sdk.Context, turn *ownerTurn, limit int) error {
	limit = max(1, min(limit, c.meter.Left(market.VisitOwner)))
	noted, more, err := c.watcher.Take(ctx, turn.owner, limit, int(market.MaxMatchedKeys))
	if err != nil {
		return err
	}
	turn.taken = !more
	c.meter.Consume(market.VisitOwner, len(noted))
	for i := range noted {
		news := roundOfChanges(&noted[i])
		if err := c.enlist(ctx, turn.owner, noted[i].Key, &news); err != nil {
			return err
		}
	}
	return nil
}

// readRounds reads at most limit stored rounds of an owner.
func (c *collector) readRounds(ctx sdk.Context, turn *ownerTurn, limit int) error {
	var found []turnKey
	ranger := new(collections.Range[turnKey]).
		StartInclusive(turn.after).
		EndInclusive(collections.Join4(turn.owner, ^uint64(0), "", []byte{}))
	err := c.turns.Walk(ctx, ranger, func(at turnKey) (bool, error) {
		found = append(found, at)
		return len(found) > limit, nil
	})
	if err != nil {
		return err
	}
	if turn.all = len(found) <= limit; !turn.all {
		turn.after, found = found[limit], found[:limit]
	}
	c.meter.Consume(market.VisitOwner, len(found))
	for _, at := range found {
		r, err := c.roundOf(ctx, turn.owner, types.WatchKey{Store: at.K3(), Prefix: slices.Clone(at.K4())})
		if err != nil {
			return err
		}
		added, err := c.addNoted(ctx, turn.owner, r.key, &r.pending)
		if err != nil {
			return err
		}
		r.changed = r.changed || added
		turn.read = append(turn.read, r)
	}
	return nil
}

// storeRounds writes the rounds that are unfinished, and removes the others.
func (c *collector) storeRounds(ctx sdk.Context) error {
	for _, r := range c.all {
		if !r.changed {
			continue
		}
		since := r.pending.Round.Since
		if r.filed != 0 && (r.done || r.filed != since) {
			if err := c.turns.Remove(ctx, collections.Join4(r.owner, r.filed, r.key.Store, r.key.Prefix)); err != nil {
				return err
			}
		}
		var err error
		switch {
		case !r.done:
			err = c.file(ctx, r.owner, r.key, &r.pending)
		case r.filed != 0:
			err = c.rounds.Remove(ctx, collections.Join3(r.owner, r.key.Store, r.key.Prefix))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// serveRound visits some watches of an owner and prefix, and returns how many, at least 1. It reads one more, to know
// whether the round has ended.
func (c *collector) serveRound(ctx sdk.Context, w *ownerRound, limit int) (looked int, err error) {
	round := &w.pending.Round
	found := make([]Ref, 0, min(limit, 8)+1)
	ranger := new(collections.Range[WatchPlace]).
		StartInclusive(collections.Join4(w.key.Store, w.key.Prefix, w.owner, round.From)).
		EndInclusive(collections.Join4(w.key.Store, w.key.Prefix, w.owner, ^uint64(0)))
	err = c.watches.Walk(ctx, ranger, func(at WatchPlace, id []byte) (bool, error) {
		found = append(found, Ref{w.owner, slices.Clone(id), at.K4()})
		return len(found) > limit, nil
	})
	if err != nil {
		return 0, err
	}
	known := allChanges(&w.pending)
	for len(found) > 0 && looked < limit {
		looked += c.notify(ctx, w.key.Store, &known, found[0])
		found = found[1:]
	}
	w.changed = true
	switch {
	case len(found) > 0:
		round.From = found[0].Seq
	case w.pending.Next != nil:
		w.pending.Round, w.pending.Next = *w.pending.Next, nil
	default:
		w.done = true
	}
	return max(1, looked), nil
}

// notify makes one timer due by a change, or adds the change to the hit of a timer that is due already. An error
// affects that timer alone. It returns what the visit counts as: 1, or the places that a timer which became due leaves.
func (c *collector) notify(ctx sdk.Context, store string, round *types.WatchRound, of Ref) (counts int) {
	defer func() { c.meter.Consume(market.Notify, counts) }()
	timer, waits, err := c.records.Watching(ctx, of.Owner, of.ID, of.Seq)
	if err == nil && waits {
		if timer.Due > round.Height || timer.ExpiredAt(types.Moment{Height: c.height, Time: types.MomentOf(ctx).Time}) {
			return 1
		}
		c.guard(ctx, &timer, func(ctx sdk.Context) error { return c.markDue(ctx, store, round, &timer) })
		return max(1, timer.Conditions())
	}
	if err == nil {
		err = sandbox.Run(ctx, func(ctx sdk.Context) error { return c.addToHit(ctx, store, round, of.Seq) })
	}
	if err != nil {
		ctx.Logger().Error("a watch can't be notified of a change", "module", types.ModuleName, "seq", of.Seq, "err", err)
	}
	return 1
}

// markDue makes a waiting timer due in this block, and notes since when it should have been. Only here does a timer
// enter the queue when it is already due. This is safe because it happens before the lane reads the queue, and because
// the queue's cursors do not pass the beginning of a height before its block. For the same reason its place in the queue
// is that of this block, although its lateness counts from the change: the cursors have passed earlier heights.
func (c *collector) markDue(ctx sdk.Context, store string, round *types.WatchRound, timer *types.Timer) error {
	hit := types.WatchHit{Since: timer.Due, Changed: max(round.Since, timer.Due)}
	addMatches(&hit, store, round, int(market.MaxMatchedKeys))
	return c.makeDue(ctx, timer, hit)
}

// makeDue moves a watch to the queue, with what it will deliver.
func (c *collector) makeDue(ctx sdk.Context, timer *types.Timer, hit types.WatchHit) error {
	if err := c.hits.Set(ctx, timer.Seq, hit); err != nil {
		return err
	}
	return c.records.Move(ctx, timer, func(t *types.Timer) error {
		t.HoldReason, t.Look, t.Due = types.NotOnHold, false, c.height
		return nil
	})
}

// addToHit adds changes to the hit of a timer that is due already. A timer that was on hold while it waited has no
// hit, and is not notified.
func (c *collector) addToHit(ctx sdk.Context, store string, round *types.WatchRound, seq uint64) error {
	hit, found, err := state.Find(ctx, c.hits, seq)
	if err != nil || !found {
		return err
	}
	added := addMatches(&hit, store, round, int(market.MaxMatchedKeys))
	if since := max(round.Since, hit.Since); since < hit.Changed && round.Height >= hit.Since {
		hit.Changed, added = since, true
	}
	if !added {
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
