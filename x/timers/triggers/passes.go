package triggers

import (
	"bytes"
	"cmp"
	"slices"

	"cosmossdk.io/collections"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
	"github.com/cosmos-timers/timers/x/timers/watch"
)

// A pass visits the owners of the watches of one changed prefix that several own, and adds the changes to their rounds. The
// passes that earlier blocks did not finish share a quarter of what the overhead for watches has left, and another quarter is
// for prefixes whose changes are noted: those that waited for longest since their changes were last taken. What a block does
// not take stays noted. So a block stores a bounded number of rounds, and a crowd of changes takes more blocks.

// maxStreak is how many entries of one owner are read one by one, before the rest is passed over.
const maxStreak = 8

// quarter is how many works of a kind take a quarter of what the overhead for watches has left, at least 1.
func (c *collector) quarter(work market.Work) int { return max(1, c.meter.Left(work)/4) }

// pass is the pass of one prefix in this block.
type pass struct {
	key     types.WatchKey
	pending types.WatchPending
	// stored: it is in state.
	stored, done bool
}

// nameOf names a prefix, in the order of the store.
func nameOf(key types.WatchKey) string { return key.Store + "\x00" + string(key.Prefix) }

// runPasses visits the owners of changed prefixes. It returns the prefix that is first in the next block, none if all passes
// are finished.
func (c *collector) runPasses(ctx sdk.Context, turn types.WatchKey) (next types.WatchKey, err error) {
	limit := c.quarter(market.VisitOwner)
	old, err := c.storedPasses(ctx, turn, limit+1)
	if err != nil {
		return next, err
	}
	fresh, err := c.takeChanges(ctx, old, limit)
	if err != nil {
		return next, err
	}
	_, visited, err := c.visitInTurns(ctx, fresh, limit)
	if err != nil {
		return next, err
	}
	c.meter.Consume(market.VisitOwner, visited)
	if err := c.storePasses(ctx, fresh); err != nil {
		return next, err
	}
	for _, p := range old[:min(limit, len(old))] {
		if _, err := c.addNoted(ctx, nil, p.key, &p.pending); err != nil {
			return next, err
		}
	}
	at, visited, err := c.visitInTurns(ctx, old, limit)
	if err != nil {
		return next, err
	}
	c.meter.Consume(market.VisitOwner, visited)
	if next = firstLeft(fresh); at < len(old) {
		next = old[at].key
	}
	return next, c.storePasses(ctx, old)
}

// firstLeft is the prefix of the first pass, in the order of the store, that is unfinished; empty if there is none.
func firstLeft(passes []*pass) (first types.WatchKey) {
	for _, p := range passes {
		if !p.done && (first.Store == "" || nameOf(p.key) < nameOf(first)) {
			first = p.key
		}
	}
	return first
}

// visitInTurns visits at most limit owners of the prefixes of some passes, and returns how many. The passes take turns; at is
// the one whose turn is next.
func (c *collector) visitInTurns(ctx sdk.Context, passes []*pass, limit int) (at, visited int, err error) {
	at, err = share(len(passes), limit, func(i, limit int) (int, bool, error) {
		n, done, err := c.visitOwners(ctx, passes[i], limit)
		visited += n
		return n, done, err
	})
	return at, visited, err
}

// storePasses writes the passes that are unfinished, and removes the others.
func (c *collector) storePasses(ctx sdk.Context, passes []*pass) (err error) {
	for _, p := range passes {
		at := collections.Join(p.key.Store, p.key.Prefix)
		switch {
		case !p.done:
			err = c.pending.Set(ctx, at, p.pending)
		case p.stored:
			err = c.pending.Remove(ctx, at)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// storedPasses reads the stored passes, from the prefix whose turn it is and then from the first one on. There are none if it
// is no one's turn.
func (c *collector) storedPasses(ctx sdk.Context, turn types.WatchKey, limit int) (passes []*pass, err error) {
	read := func(at prefixKey, p types.WatchPending) (bool, error) {
		key := types.WatchKey{Store: at.K1(), Prefix: slices.Clone(at.K2())}
		passes = append(passes, &pass{key: key, pending: p, stored: true})
		return len(passes) >= limit, nil
	}
	if turn.Store == "" {
		return nil, nil
	}
	from := collections.Join(turn.Store, turn.Prefix)
	ranges := []*collections.Range[prefixKey]{
		new(collections.Range[prefixKey]).StartInclusive(from),
		new(collections.Range[prefixKey]).EndExclusive(from),
	}
	for _, ranger := range ranges {
		if len(passes) >= limit {
			break
		}
		if err := c.pending.Walk(ctx, ranger, read); err != nil {
			return nil, err
		}
	}
	return passes, nil
}

// takeChanges returns passes of prefixes that several own and that changed, at most limit. A prefix whose pass is not finished
// has the changes added to that.
func (c *collector) takeChanges(ctx sdk.Context, old []*pass, limit int) (fresh []*pass, err error) {
	maxKeys := int(market.MaxMatchedKeys)
	changed, _, err := c.watcher.Take(ctx, nil, limit, maxKeys)
	if err != nil {
		return nil, err
	}
	atWork := make(map[string]*pass, len(old))
	for _, p := range old {
		atWork[nameOf(p.key)] = p
	}
	for i := range changed {
		key, news := changed[i].Key, roundOfChanges(&changed[i])
		if p, known := atWork[nameOf(key)]; known {
			addToPending(&p.pending, &news, maxKeys)
			continue
		}
		at := collections.Join(key.Store, key.Prefix)
		pending, stored, err := state.Find(ctx, c.pending, at)
		if err != nil {
			return nil, err
		}
		addToPending(&pending, &news, maxKeys)
		if stored {
			if err := c.pending.Set(ctx, at, pending); err != nil {
				return nil, err
			}
			continue
		}
		fresh = append(fresh, &pass{key: key, pending: pending})
	}
	return fresh, nil
}

// addNoted adds what is noted of a prefix to changes that an earlier block took, and reports whether anything is.
func (c *collector) addNoted(ctx sdk.Context, owner []byte, key types.WatchKey, pending *types.WatchPending) (added bool, err error) {
	maxKeys := int(market.MaxMatchedKeys)
	noted, err := c.watcher.TakeOf(ctx, owner, key, maxKeys)
	for i := range noted {
		news := roundOfChanges(&noted[i])
		addToPending(pending, &news, maxKeys)
	}
	return len(noted) > 0, err
}

// roundOfChanges is one that has not begun.
func roundOfChanges(changed *watch.Changed) types.WatchRound {
	return types.WatchRound{Height: changed.Height, Since: changed.Since, Changes: changed.Keys}
}

// addToPending adds changes to the round if it has not begun, or else to the next one. If there are more than maxKeys,
// the latest stay.
func addToPending(pending *types.WatchPending, news *types.WatchRound, maxKeys int) {
	round := &pending.Round
	if round.From > 0 || len(round.FromOwner) > 0 {
		if pending.Next == nil {
			pending.Next = &types.WatchRound{}
		}
		round = pending.Next
	}
	if round.Since == 0 || news.Since < round.Since {
		round.Since = news.Since
	}
	round.Height = max(round.Height, news.Height)
	for _, change := range news.Changes {
		addChange(round, change, maxKeys)
	}
}

func addChange(round *types.WatchRound, change types.WatchChange, maxKeys int) {
	at := slices.IndexFunc(round.Changes, func(c types.WatchChange) bool { return bytes.Equal(c.Key, change.Key) })
	if at >= 0 {
		round.Changes[at].Height = max(round.Changes[at].Height, change.Height)
		return
	}
	if len(round.Changes) < maxKeys {
		round.Changes = append(round.Changes, change)
		return
	}
	oldest := 0
	for i := range round.Changes {
		if round.Changes[i].Height < round.Changes[oldest].Height {
			oldest = i
		}
	}
	if len(round.Changes) > 0 && round.Changes[oldest].Height < change.Height {
		round.Changes[oldest] = change
	}
}

// allChanges are those of the round and those that came since. Who is notified now will have begun to wait after the
// changes of the next round, which therefore does not make it due again.
func allChanges(pending *types.WatchPending) types.WatchRound {
	known := pending.Round
	if next := pending.Next; next != nil {
		known.Height = max(known.Height, next.Height)
		known.Changes = append(slices.Clone(known.Changes), next.Changes...)
	}
	return known
}

// visitOwners adds the changes of a prefix to the rounds of some owners, and returns how many, at least 1.
func (c *collector) visitOwners(ctx sdk.Context, p *pass, limit int) (visited int, done bool, err error) {
	owners, err := c.ownersOf(ctx, p.key, p.pending.Round.FromOwner, limit+1)
	if err != nil {
		return 0, false, err
	}
	ahead := owners[min(limit, len(owners)):]
	owners = owners[:len(owners)-len(ahead)]
	known := allChanges(&p.pending)
	for _, owner := range owners {
		if err := c.enlist(ctx, owner, p.key, &known); err != nil {
			return 0, false, err
		}
	}
	switch {
	case len(ahead) > 0:
		p.pending.Round.FromOwner = ahead[0]
	case p.pending.Next != nil:
		p.pending.Round, p.pending.Next = *p.pending.Next, nil
	default:
		p.done = true
	}
	return max(1, len(owners)), p.done, nil
}

// ownersOf returns owners of watches of a prefix, from one on, at most limit.
func (c *collector) ownersOf(ctx sdk.Context, key types.WatchKey, from []byte, limit int) ([][]byte, error) {
	end := collections.Join4(key.Store, key.Prefix, lastOwner, ^uint64(0))
	return distinct(from, limit, func(owner []byte, past uint64, fn func([]byte) bool) error {
		ranger := new(collections.Range[WatchPlace]).
			StartInclusive(collections.Join4(key.Store, key.Prefix, owner, past)).
			EndInclusive(end)
		return c.watches.Walk(ctx, ranger, func(at WatchPlace, _ []byte) (bool, error) { return fn(at.K3()), nil })
	})
}

// lastOwner comes after every address.
var lastOwner = bytes.Repeat([]byte{0xff}, 255)

// distinct returns the owners of entries that are ordered by owner, from one on, at most limit. walk passes the owners
// of entries to a function until that has enough, from an owner's first entry on (past 0) or after its last (past
// largest). Long runs of one owner are passed over.
func distinct(from []byte, limit int, walk func(owner []byte, past uint64, fn func([]byte) bool) error) (owners [][]byte, err error) {
	past, more := uint64(0), true
	for more && len(owners) < limit {
		streak := 0
		more = false
		err := walk(from, past, func(owner []byte) bool {
			if len(owners) > 0 && bytes.Equal(owner, owners[len(owners)-1]) {
				streak++
				more = streak >= maxStreak
				return more
			}
			streak = 0
			owners = append(owners, slices.Clone(owner))
			return len(owners) >= limit
		})
		if err != nil {
			return nil, err
		}
		if more {
			from, past = owners[len(owners)-1], ^uint64(0)
		}
	}
	return owners, nil
}

// compareOwners orders owners as the store does: shorter addresses come first.
func compareOwners(a, b []byte) int { return cmp.Or(cmp.Compare(len(a), len(b)), bytes.Compare(a, b)) }

// compareCyclic orders owners from the first on and around.
func compareCyclic(first, a, b []byte) int {
	before := func(owner []byte) int {
		if compareOwners(owner, first) < 0 {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(before(a), before(b)), compareOwners(a, b))
}

// A change of a key with conditions passes those between its value before and its value now: the segments of the change. A
// block reads a bounded number of conditions of each, and the owners take turns in being notified, together with their
// rounds. What a block does not notify stays in the segment, and the next block continues there. Each condition that is read
// for nothing is of a timer that counts later changes only; each other makes its timer due, and so leaves the order.

// maxSegments is how many segments of one key a block reads.
const maxSegments = 8

// passing is a segment in this block.
type passing struct {
	*Segment
	found []*passed
	// next is where the conditions that have not been read begin, nil if there are none.
	next []byte
}

// passed is a condition that became true, and whose timer is to be notified.
type passed struct {
	Passed
	segment  *Segment
	notified bool
}

// runConditions finds the conditions that became true, and gives them to the turns of their owners. after gets the key that
// is first in the next block. Of the keys that were written it compares as many as a quarter of the overhead for watches has
// room for, and in any case those of the conditions that it looks at: these are true or not from here on.
func (c *collector) runConditions(ctx sdk.Context, after *types.WatchCursors) error {
	if c.watcher == nil {
		return nil
	}
	changed, err := c.watcher.TakeConditionsOf(ctx, c.lookedAt())
	if err != nil {
		return err
	}
	if after.ConditionsLeft {
		if err := c.readStored(ctx, after); err != nil {
			return err
		}
	}
	written, next, err := c.watcher.TakeConditions(ctx, after.Changed, c.quarter(market.VisitOwner))
	if err != nil {
		return err
	}
	after.Changed = next
	c.meter.Consume(market.VisitOwner, len(written))
	segments, err := c.conditions.Collect(ctx, append(changed, written...), c.height)
	if err != nil {
		return err
	}
	for i := range c.looks {
		c.look(ctx, &c.looks[i])
	}
	fresh := make([]*passing, len(segments))
	for i := range segments {
		fresh[i] = &passing{Segment: segments[i], next: segments[i].From}
	}
	c.passings = append(c.passings, fresh...)
	_, err = share(len(fresh), len(fresh)+c.quarter(market.ReadCondition), func(i, limit int) (int, bool, error) {
		looked, err := c.read(ctx, fresh[i], limit)
		return max(1, looked), fresh[i].next == nil, err
	})
	return err
}

// readStored reads segments of earlier blocks, of the key whose turn it is and those that follow.
func (c *collector) readStored(ctx sdk.Context, after *types.WatchCursors) error {
	limit := c.quarter(market.VisitOwner)
	// One key more than is read, so that it is known which is next.
	keys, err := c.conditions.KeysWithSegments(ctx, after.Condition, limit+1)
	if err != nil {
		return err
	}
	after.Condition, after.ConditionsLeft = types.WatchKey{}, false
	at, err := share(min(len(keys), limit), c.quarter(market.ReadCondition), func(i, limit int) (int, bool, error) {
		return c.readOld(ctx, keys[i], limit, &after.ConditionsLeft)
	})
	if err == nil && at < len(keys) {
		after.Condition, after.ConditionsLeft = keys[at], true
	}
	return err
}

// readLooks reads the watches that are to be looked at, oldest first, as many as half of the overhead for watches has room for. If
// some are left, those of this very block do not wait for them: a quarter is theirs.
func (c *collector) readLooks(ctx sdk.Context) error {
	quarter := c.quarter(market.Notify)
	left, err := c.readLooksFrom(ctx, 0, 2*quarter)
	if err != nil || left == 0 || left == c.height {
		return err
	}
	_, err = c.readLooksFrom(ctx, c.height, quarter)
	return err
}

// readLooksFrom reads those from a height on while their conditions are at most limit, and returns the height of the first that is
// left, 0 if none is.
func (c *collector) readLooksFrom(ctx sdk.Context, from uint64, limit int) (left uint64, err error) {
	err = c.records.Walk(ctx, state.ClassLooked.Between(from, c.height), func(t *types.Timer) (bool, error) {
		if limit <= 0 {
			left = t.Due
			return true, nil
		}
		limit -= t.Conditions()
		c.looks = append(c.looks, *t)
		return false, nil
	})
	return left, err
}

// lookedAt are the keys with conditions of the watches that are looked at, the same one perhaps more than once.
func (c *collector) lookedAt() (keys []types.WatchKey) {
	for i := range c.looks {
		for _, key := range c.looks[i].WatchKeys() {
			if key.When != nil {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// look makes a watch due if one of its conditions holds, or if what it watches without one has changed meanwhile. Else it waits for
// a change.
func (c *collector) look(ctx sdk.Context, timer *types.Timer) {
	c.meter.Consume(market.Notify, timer.Conditions())
	if timer.ExpiredAt(types.Moment{Height: c.height, Time: types.MomentOf(ctx).Time}) {
		c.expired = append(c.expired, *timer)
		return
	}
	c.guard(ctx, timer, func(ctx sdk.Context) error {
		hit, _, err := state.Find(ctx, c.hits, timer.Seq)
		if err != nil {
			return err
		}
		holding, err := c.conditions.Holding(ctx, timer)
		if err != nil {
			return err
		}
		if len(holding)+len(hit.Matched) == 0 {
			return c.records.Move(ctx, timer, func(t *types.Timer) error {
				t.Look = false
				return nil
			})
		}
		hit.Since, hit.Changed = timer.Due, timer.Due
		for _, key := range holding {
			addMatches(&hit, key.Store, c.roundOfKey(key, c.height), int(market.MaxMatchedKeys))
		}
		return c.makeDue(ctx, timer, hit)
	})
}

// roundOfKey is the change of one key at a height.
func (*collector) roundOfKey(key types.WatchKey, height uint64) *types.WatchRound {
	return &types.WatchRound{Height: height, Since: height, Changes: []types.WatchChange{{Key: key.Prefix, Height: height}}}
}

// readOld reads the oldest stored segments of a key. It sets left if the key may have more.
func (c *collector) readOld(ctx sdk.Context, key types.WatchKey, limit int, left *bool) (used int, done bool, err error) {
	most := min(limit, maxSegments)
	segments, err := c.conditions.SegmentsOf(ctx, key, most)
	if err != nil {
		return 0, false, err
	}
	*left = *left || len(segments) == most
	for _, s := range segments {
		if used >= limit {
			*left = true
			break
		}
		p := &passing{Segment: s, next: s.From}
		c.passings = append(c.passings, p)
		looked, err := c.read(ctx, p, limit-used)
		if err != nil {
			return used, false, err
		}
		used += max(1, looked)
	}
	return max(1, used), true, nil
}

// read reads at most limit conditions of a segment, and gives those that are to be notified to their owners.
func (c *collector) read(ctx sdk.Context, p *passing, limit int) (looked int, err error) {
	part := *p.Segment
	part.From = p.next
	found, looked, next, err := c.conditions.Scan(ctx, &part, limit)
	if err != nil {
		return looked, err
	}
	c.meter.Consume(market.ReadCondition, looked)
	p.next = next
	for _, f := range found {
		one := &passed{Passed: f, segment: p.Segment}
		p.found = append(p.found, one)
		turn := c.turnOf(f.Owner)
		turn.passed = append(turn.passed, one)
	}
	return looked, nil
}

// servePassed notifies the timer of the first condition of an owner that became true. It returns what the visit counts as.
func (c *collector) servePassed(ctx sdk.Context, turn *ownerTurn) int {
	one := turn.passed[0]
	turn.passed = turn.passed[1:]
	one.notified = true
	round := c.roundOfKey(one.segment.Key, one.segment.Height)
	return c.notify(ctx, one.segment.Key.Store, round, one.Ref)
}

// storeSegments writes what is left of the segments, and reports whether anything is.
func (c *collector) storeSegments(ctx sdk.Context) (left bool, err error) {
	for _, p := range c.passings {
		from := p.next
		for _, one := range p.found {
			if !one.notified {
				from = one.At
				break
			}
		}
		left = left || from != nil
		if err := c.conditions.Resume(ctx, p.Segment, from); err != nil {
			return left, err
		}
	}
	return left, nil
}
