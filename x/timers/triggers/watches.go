package triggers

import (
	"context"
	"slices"

	"cosmossdk.io/collections"

	"github.com/cosmos/cosmos-sdk/codec"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
	"github.com/cosmos-timers/timers/x/timers/watch"
)

// Watches holds what watch timers need in addition to their records.
//
// A watch timer is in one of two states. While it waits, its record is outside the queue, since it has no due height. A change makes it due: its record moves to the queue, and its hit collects the changes to deliver. From
// then on it is due like any other timer, and further changes are added to the same fire. After a fire with repetitions
// left it waits again. rounds.go finds the timers that a change triggers.
//
// Invariant: a watch timer that waits has no hit, and one in the queue has one. Where passes or rounds are stored, the cursors
// say with which the next block continues.
type Watches struct {
	state.NoHook
	// counts: (store, prefix) → how often it is watched; with an empty prefix, all watches of the store. Read by every
	// write to a watchable store.
	counts watch.Counts
	// watches: (store, prefix, owner, seq) → beginning of the id, of each watch without a condition, by owner so that the owners take
	// turns.
	watches collections.Map[WatchPlace, []byte]
	// hits: seq → the changes that a triggered timer will deliver.
	hits collections.Map[uint64, types.WatchHit]
	// pending: (store, prefix) → changes of which not all owners of its watches have been visited.
	pending collections.Map[prefixKey, types.WatchPending]
	// rounds: (owner, store, prefix) → changes of which not all the owner's watches have been notified.
	rounds collections.Map[roundKey, types.WatchPending]
	// turns: (owner, height of the first change, store, prefix) of each round, so that each owner's oldest is first.
	turns collections.KeySet[turnKey]
	// cursors are the positions at which bounded work continues. Without a turn there is no pass, without an owner no round, so
	// that a quiet block looks for neither.
	cursors collections.Item[types.WatchCursors]

	// watcher is nil on a chain that makes no store watchable.
	watcher    *watch.Watcher
	records    *state.Records
	conditions *Conditions
	tombstones *state.Tombstones
}

var (
	_ state.Component = (*Watches)(nil)
	_ state.Hook      = (*Watches)(nil)
	_ Kind            = (*Watches)(nil)
)

type (
	// roundKey is (owner, store, prefix).
	roundKey = collections.Triple[[]byte, string, []byte]
	// turnKey is (owner, since, store, prefix).
	turnKey = collections.Quad[[]byte, uint64, string, []byte]
)

// placeOf is the place of a timer's watch of a key.
func placeOf(t *types.Timer, key types.WatchKey) WatchPlace {
	return collections.Join4(key.Store, key.Prefix, t.Actor, t.Seq)
}

// NewWatches adds the component's collections to the schema.
func NewWatches(
	cdc codec.BinaryCodec, sb *collections.SchemaBuilder, records *state.Records, tombstones *state.Tombstones,
	watcher *watch.Watcher, conditions *Conditions,
) *Watches {
	w := &Watches{
		counts: watch.NewCounts(cdc, sb),
		watches: collections.NewMap(sb, types.PrefixWatches, "watches",
			collections.QuadKeyCodec(collections.StringKey, collections.BytesKey, collections.BytesKey, collections.Uint64Key), collections.BytesValue),
		hits: collections.NewMap(sb, types.PrefixWatchHits, "watch_hits", collections.Uint64Key, codec.CollValue[types.WatchHit](cdc)),
		pending: collections.NewMap(sb, types.PrefixWatchPending, "watch_pending",
			collections.PairKeyCodec(collections.StringKey, collections.BytesKey), codec.CollValue[types.WatchPending](cdc)),
		rounds: collections.NewMap(sb, types.PrefixWatchRounds, "watch_rounds",
			collections.TripleKeyCodec(collections.BytesKey, collections.StringKey, collections.BytesKey), codec.CollValue[types.WatchPending](cdc)),
		turns: collections.NewKeySet(sb, types.PrefixWatchTurns, "watch_turns",
			collections.QuadKeyCodec(collections.BytesKey, collections.Uint64Key, collections.StringKey, collections.BytesKey)),
		cursors: collections.NewItem(sb, types.PrefixWatchCursors, "watch_cursors", codec.CollValue[types.WatchCursors](cdc)),
		watcher: watcher, records: records, conditions: conditions, tombstones: tombstones,
	}
	records.Register(w)
	return w
}

// Watcher returns the chain's watchable stores, nil if there are none.
func (w *Watches) Watcher() *watch.Watcher { return w.watcher }

// CheckOnlyIf refuses conditions that can't be read when a timer fires.
func (w *Watches) CheckOnlyIf(conditions []types.WatchKey) error {
	if err := types.ValidateOnlyIf(conditions); err != nil {
		return err
	}
	for _, key := range conditions {
		if err := w.watcher.CheckCondition(key); err != nil {
			return err
		}
	}
	return nil
}

// Name implements Kind.
func (*Watches) Name() string { return "watch" }

// Matches implements Kind.
func (*Watches) Matches(trigger *types.Trigger) bool { return trigger.Watch != nil }

// Prepare implements Kind: it refuses what can't be watched, or not by one timer.
func (w *Watches) Prepare(config *types.TimerConfig, t *types.Timer, now types.Moment) error {
	trigger := &t.Spec.Trigger
	if err := trigger.Watch.Validate(); err != nil {
		return err
	}
	for _, key := range trigger.Watch.Keys {
		if err := w.watcher.Check(key); err != nil {
			return err
		}
	}
	if trigger.Watch.Cooldown > config.MaxTtlBlocks {
		return types.ErrInvalidWatch.Wrapf("cooldown is %d, want at most %d, the longest that a timer lives", trigger.Watch.Cooldown, config.MaxTtlBlocks)
	}
	t.Watch(now.Height+1, true)
	return nil
}

// Waits reports whether a timer that is no longer on hold waits for a change: a watch timer without a hit still does.
func (w *Watches) Waits(ctx context.Context, t *types.Timer) (bool, error) {
	if t.Spec.Trigger.Watch == nil {
		return false, nil
	}
	hit, err := w.hits.Has(ctx, t.Seq)
	return err == nil && !hit, err
}

// Scheduled implements state.Hook: it refuses watches of keys that too many timers watch without a condition. What is read for
// that is paid for by scheduling. A genesis has been held to it by the chain that wrote it.
func (w *Watches) Scheduled(ctx context.Context, t *types.Timer) error {
	if t.Look {
		if err := w.beginLook(ctx, t, t.Due); err != nil {
			return err
		}
	}
	ctx = types.Unmetered(ctx)
	for _, key := range t.WatchKeys() {
		if key.When != nil {
			continue
		}
		count, _, err := state.Find(ctx, w.counts, collections.Join(key.Store, key.Prefix))
		if err != nil {
			return err
		}
		if count.Plain >= types.MaxWatchesPerKey {
			return types.ErrInvalidWatch.Wrapf("%d timers watch %x in store %s, the most that one key can have: state a condition "+
				"(when), or watch another key", types.MaxWatchesPerKey, key.Prefix, key.Store)
		}
	}
	return nil
}

// Inserted implements state.Hook: it adds a timer's watches, of which the wrapped stores read the counts.
func (w *Watches) Inserted(ctx context.Context, t *types.Timer) error {
	for _, key := range t.WatchKeys() {
		if key.When == nil {
			if err := w.watches.Set(ctx, placeOf(t, key), state.IDStart(t)); err != nil {
				return err
			}
		}
	}
	return watch.Count(ctx, w.counts, t, 1)
}

// Deleted implements state.Hook: it removes a timer's hit and, now or in a later block, its watches.
func (w *Watches) Deleted(ctx context.Context, t *types.Timer) error {
	if deferred, err := w.tombstones.Defer(ctx, t); err != nil {
		return err
	} else if !deferred {
		if err := w.removeWatches(ctx, t); err != nil {
			return err
		}
	}
	if t.Spec.Trigger.Watch == nil || t.AwaitsChange() {
		return nil
	}
	return w.hits.Remove(ctx, t.Seq)
}

// noticesWhileLooking tells whether changes count for a watch while it waits for a look: of keys that it watches without a condition.
// It has a hit from the beginning on, which notes them.
func noticesWhileLooking(t *types.Timer) bool { return t.Look && t.Conditions() < len(t.WatchKeys()) }

// beginLook charges whoever lets a watch wait for a look, and lets it notice changes from a height on meanwhile. A fire has counted
// its look.
func (w *Watches) beginLook(ctx context.Context, t *types.Timer, since uint64) error {
	sdk.UnwrapSDKContext(ctx).GasMeter().ConsumeGas(t.Spec.Trigger.LookCycles(), "look")
	if !noticesWhileLooking(t) {
		return nil
	}
	return w.hits.Set(ctx, t.Seq, types.WatchHit{Since: since})
}

// endLook forgets the hit of a watch that waits for no look any more and is not due, if it has noticed nothing.
func (w *Watches) endLook(ctx context.Context, before, t *types.Timer) error {
	if !noticesWhileLooking(before) || t.HoldReason == types.NotOnHold {
		return nil
	}
	hit, found, err := state.Find(ctx, w.hits, before.Seq)
	if err != nil || !found || len(hit.Matched) > 0 {
		return err
	}
	return w.hits.Remove(ctx, before.Seq)
}

// removeWatches removes the watches of a timer that has left.
func (w *Watches) removeWatches(ctx context.Context, t *types.Timer) error {
	if err := w.conditions.Remove(ctx, t); err != nil {
		return err
	}
	return w.removePlain(ctx, t)
}

// removePlain removes the watches without a condition, and all from the counts.
func (w *Watches) removePlain(ctx context.Context, t *types.Timer) error {
	for _, key := range t.WatchKeys() {
		if key.When == nil {
			if err := w.watches.Remove(ctx, placeOf(t, key)); err != nil {
				return err
			}
		}
	}
	return watch.Count(ctx, w.counts, t, -1)
}

// Moved implements state.Hook: it follows a timer that took a fresh seq, or watches something else. The lateness of one that
// returns to the queue counts from its new due height.
func (w *Watches) Moved(ctx context.Context, before, t *types.Timer) error {
	if t.Spec.Trigger.Watch == nil {
		return nil
	}
	if Rewatches(before, t) {
		if err := w.removePlain(ctx, before); err != nil {
			return err
		}
		if err := w.hits.Remove(ctx, before.Seq); err != nil {
			return err
		}
		if err := w.Scheduled(ctx, t); err != nil {
			return err
		}
		return w.Inserted(ctx, t)
	}
	switch {
	case before.Look && !t.Look:
		if err := w.endLook(ctx, before, t); err != nil {
			return err
		}
	case t.Look && !before.Look:
		since := t.Due
		if before.AwaitsChange() {
			since = min(since, before.Due)
		}
		if err := w.beginLook(ctx, t, since); err != nil {
			return err
		}
	}
	if t.Seq == before.Seq {
		if t.HoldReason != types.NotOnHold || before.HoldReason == types.NotOnHold || before.HoldReason == types.Watching {
			return nil
		}
		hit, found, err := state.Find(ctx, w.hits, t.Seq)
		if err != nil || !found {
			return err
		}
		return w.PutHit(ctx, t, hit)
	}
	for _, key := range t.WatchKeys() {
		if key.When != nil {
			continue
		}
		if err := w.watches.Remove(ctx, placeOf(before, key)); err != nil {
			return err
		}
		if err := w.watches.Set(ctx, placeOf(t, key), state.IDStart(t)); err != nil {
			return err
		}
	}
	hit, found, err := state.Find(ctx, w.hits, before.Seq)
	if err != nil || !found {
		return err
	}
	if err := w.hits.Remove(ctx, before.Seq); err != nil {
		return err
	}
	return w.hits.Set(ctx, t.Seq, hit)
}

// Forget removes what a watch has noticed, and reports whether there was anything.
func (w *Watches) Forget(ctx context.Context, t *types.Timer) (noticed bool, err error) {
	if t.Spec.Trigger.Watch == nil {
		return false, nil
	}
	if noticed, err = w.hits.Has(ctx, t.Seq); err != nil || !noticed {
		return noticed, err
	}
	return noticed, w.hits.Remove(ctx, t.Seq)
}

// TakeHit removes and returns the hit of a timer that fires; it is empty for a timer that does not watch.
func (w *Watches) TakeHit(ctx context.Context, t *types.Timer) (types.WatchHit, error) {
	if t.Spec.Trigger.Watch == nil {
		return types.WatchHit{}, nil
	}
	hit, _, err := state.Find(ctx, w.hits, t.Seq)
	if err != nil {
		return hit, err
	}
	return hit, w.hits.Remove(ctx, t.Seq)
}

// PutHit restores the hit of a watch timer for a fire whose lateness counts from the timer's due height, such as a
// retry.
func (w *Watches) PutHit(ctx context.Context, t *types.Timer, hit types.WatchHit) error {
	if t.Spec.Trigger.Watch == nil {
		return nil
	}
	hit.Changed = 0
	return w.hits.Set(ctx, t.Seq, hit)
}

// MatchedSoFar are the changes that a timer delivers if it fires now.
func (w *Watches) MatchedSoFar(ctx context.Context, t *types.Timer) ([]types.WatchedKey, error) {
	if t.Spec.Trigger.Watch == nil || t.AwaitsChange() {
		return nil, nil
	}
	hit, _, err := state.Find(ctx, w.hits, t.Seq)
	return hit.Matched, err
}

// Tombstones are timers that are gone, and whose watches are still here.
func (w *Watches) Tombstones() *state.Tombstones { return w.tombstones }

// Conditions are the watches with a condition.
func (w *Watches) Conditions() *Conditions { return w.conditions }

// WalkFrom passes the watches without a condition from a position on to fn until fn reports that it has enough.
func (w *Watches) WalkFrom(ctx context.Context, from WatchPlace, fn func(at WatchPlace) (bool, error)) error {
	return w.watches.Walk(ctx, new(collections.Range[WatchPlace]).StartInclusive(from),
		func(at WatchPlace, _ []byte) (bool, error) { return fn(at) })
}

// InitGenesis implements state.Component: what genesis keeps of watches in addition to their timers.
func (w *Watches) InitGenesis(ctx context.Context, genesis *types.GenesisState) error {
	for i := range genesis.WatchHits {
		if err := w.hits.Set(ctx, genesis.WatchHits[i].Seq, genesis.WatchHits[i].Hit); err != nil {
			return err
		}
	}
	for i := range genesis.WatchPending {
		p := &genesis.WatchPending[i]
		if err := w.pending.Set(ctx, collections.Join(p.Key.Store, p.Key.Prefix), p.Pending); err != nil {
			return err
		}
	}
	for i := range genesis.WatchRounds {
		p := &genesis.WatchRounds[i]
		if err := w.file(ctx, p.Owner, p.Key, &p.Pending); err != nil {
			return err
		}
	}
	for i := range genesis.WatchCounts {
		count := &genesis.WatchCounts[i]
		at := collections.Join(count.Key.Store, count.Key.Prefix)
		if err := w.counts.Set(ctx, at, types.WatchCount{Owner: count.Owner, Served: count.Served}); err != nil {
			return err
		}
	}
	if err := w.watcher.InitGenesis(ctx, genesis); err != nil {
		return err
	}
	if err := w.tombstones.InitGenesis(ctx, genesis); err != nil {
		return err
	}
	if err := state.EachTombstone(ctx, genesis, w.Inserted); err != nil {
		return err
	}
	cursors := genesis.WatchCursors
	cursors.TombstonesLeft = cursors.TombstonesLeft || len(genesis.WatchTombstones) > 0
	cursors.ConditionsLeft = cursors.ConditionsLeft || len(genesis.WatchSegments)+len(genesis.WatchChanged) > 0
	if err := w.setCursors(ctx, types.WatchCursors{}, cursors); err != nil {
		return err
	}
	return w.deriveCursors(ctx)
}

// file stores the round of an owner, and its turn.
func (w *Watches) file(ctx context.Context, owner []byte, key types.WatchKey, pending *types.WatchPending) error {
	if err := w.rounds.Set(ctx, collections.Join3(owner, key.Store, key.Prefix), *pending); err != nil {
		return err
	}
	return w.turns.Set(ctx, collections.Join4(owner, pending.Round.Since, key.Store, key.Prefix))
}

// ExportGenesis implements state.Component.
func (w *Watches) ExportGenesis(ctx context.Context, genesis *types.GenesisState) error {
	err := w.hits.Walk(ctx, nil, func(seq uint64, hit types.WatchHit) (bool, error) {
		genesis.WatchHits = append(genesis.WatchHits, types.SeqWatchHit{Seq: seq, Hit: hit})
		return false, nil
	})
	if err != nil {
		return err
	}
	if err := w.exportChanges(ctx, genesis); err != nil {
		return err
	}
	if err := w.tombstones.ExportGenesis(ctx, genesis); err != nil {
		return err
	}
	genesis.WatchCursors, _, err = state.FindItem(ctx, w.cursors)
	return err
}

// exportChanges exports who owns the watches of a prefix, and the changes that wait: what is noted, and those of passes and
// rounds.
func (w *Watches) exportChanges(ctx context.Context, genesis *types.GenesisState) error {
	err := w.counts.Walk(ctx, nil, func(at prefixKey, count types.WatchCount) (bool, error) {
		if count.Served > 0 {
			genesis.WatchCounts = append(genesis.WatchCounts, types.KeyWatchCount{
				Key: types.WatchKey{Store: at.K1(), Prefix: slices.Clone(at.K2())}, Owner: count.Owner, Served: count.Served,
			})
		}
		return false, nil
	})
	if err != nil {
		return err
	}
	if err := w.watcher.ExportGenesis(ctx, genesis); err != nil {
		return err
	}
	err = w.pending.Walk(ctx, nil, func(at prefixKey, p types.WatchPending) (bool, error) {
		key := types.WatchKey{Store: at.K1(), Prefix: slices.Clone(at.K2())}
		genesis.WatchPending = append(genesis.WatchPending, types.KeyWatchPending{Key: key, Pending: p})
		return false, nil
	})
	if err != nil {
		return err
	}
	return w.rounds.Walk(ctx, nil, func(at roundKey, p types.WatchPending) (bool, error) {
		key := types.WatchKey{Store: at.K2(), Prefix: slices.Clone(at.K3())}
		genesis.WatchRounds = append(genesis.WatchRounds, types.KeyWatchPending{Owner: slices.Clone(at.K1()), Key: key, Pending: p})
		return false, nil
	})
}
