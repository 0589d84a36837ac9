package keeper

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"

	"cosmossdk.io/collections"

	"github.com/cosmos/cosmos-sdk/codec"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
	"github.com/cosmos-timers/timers/x/timers/watch"
)

// A timer that watches is in one of two states. While it waits, its record lies in `watching`, outside the queue: it is due
// at no height. A change makes it due: its record goes into the queue, and `watchHits` gathers what it will be told; it
// is due from then on like any other, and what changes meanwhile is told with the same fire. After a fire with
// repetitions left it waits again. watch_collect.go is how changes find the timers.
//
// Invariant: a watch timer that waits has no hit, and one in the queue has one.

// watchState is the part of the state that watch timers alone use.
type watchState struct {
	// watched: (store, prefix) → number of watches; with an empty prefix, of all watches of the store. Read by every write
	// to a watchable store.
	watched watch.Counts
	// watches: (store, prefix, seq) → owner of the timer with that seq.
	watches collections.Map[collections.Triple[string, []byte, uint64], []byte]
	// watching: seq → timer that waits for a change. Its due height is the first whose changes count.
	watching collections.Map[uint64, types.Timer]
	// watchExpiry: (expires_at, seq) of those that wait, so that the expired ones come first.
	watchExpiry collections.KeySet[collections.Pair[uint64, uint64]]
	// watchHits: seq → what a timer that is to fire will be told.
	watchHits collections.Map[uint64, types.WatchHit]
	// watchPending: (store, prefix) → what its watches are still to be told.
	watchPending collections.Map[collections.Pair[string, []byte], types.WatchPending]
	// watchCursors are where bounded work goes on.
	watchCursors collections.Item[types.WatchCursors]
}

func newWatchState(cdc codec.BinaryCodec, sb *collections.SchemaBuilder) watchState {
	prefix := collections.PairKeyCodec(collections.StringKey, collections.BytesKey)
	return watchState{
		watched: watch.NewCounts(sb),
		watches: collections.NewMap(sb, types.PrefixWatches, "watches",
			collections.TripleKeyCodec(collections.StringKey, collections.BytesKey, collections.Uint64Key), collections.BytesValue),
		watching: collections.NewMap(sb, types.PrefixWatching, "watching", collections.Uint64Key, codec.CollValue[types.Timer](cdc)),
		watchExpiry: collections.NewKeySet(sb, types.PrefixWatchExpiry, "watch_expiry",
			collections.PairKeyCodec(collections.Uint64Key, collections.Uint64Key)),
		watchHits:    collections.NewMap(sb, types.PrefixWatchHits, "watch_hits", collections.Uint64Key, codec.CollValue[types.WatchHit](cdc)),
		watchPending: collections.NewMap(sb, types.PrefixWatchPending, "watch_pending", prefix, codec.CollValue[types.WatchPending](cdc)),
		watchCursors: collections.NewItem(sb, types.PrefixWatchCursors, "watch_cursors", codec.CollValue[types.WatchCursors](cdc)),
	}
}

// checkWatch refuses what can't be watched, or not by one timer.
func (k *Keeper) checkWatch(config *types.TimerConfig, trigger *types.Trigger) error {
	if trigger.Height != 0 {
		return types.ErrUnsupportedTimerType.Wrapf("height %d is stated beside a watch: state one of them", trigger.Height)
	}
	if err := trigger.Watch.Validate(config.MaxWatchKeys); err != nil {
		return err
	}
	for _, key := range trigger.Watch.Keys {
		if err := k.watcher.Check(key); err != nil {
			return err
		}
	}
	return nil
}

// putWatching writes the record of a timer that waits, and when it expires.
func (k *Keeper) putWatching(ctx context.Context, t *types.Timer) error {
	if err := k.state.watchExpiry.Set(ctx, collections.Join(t.ExpiresAt, t.Seq)); err != nil {
		return err
	}
	return k.state.watching.Set(ctx, t.Seq, *t)
}

func (k *Keeper) takeWatching(ctx context.Context, t *types.Timer) error {
	if err := k.state.watchExpiry.Remove(ctx, collections.Join(t.ExpiresAt, t.Seq)); err != nil {
		return err
	}
	return k.state.watching.Remove(ctx, t.Seq)
}

// setExpiry writes a timer with another last height.
func (k *Keeper) setExpiry(ctx context.Context, t *types.Timer, expiresAt uint64) error {
	if t.SetAside != types.Watching {
		t.ExpiresAt = expiresAt
		return k.put(ctx, t)
	}
	return k.move(ctx, t, func(t *types.Timer) error {
		t.ExpiresAt = expiresAt
		return nil
	})
}

// addWatches makes a timer's keys known to the stores that they lie in.
func (k *Keeper) addWatches(ctx context.Context, t *types.Timer) error {
	for _, key := range t.WatchKeys() {
		if err := k.state.watches.Set(ctx, collections.Join3(key.Store, key.Prefix, t.Seq), t.Actor); err != nil {
			return err
		}
		for _, prefix := range [][]byte{{}, key.Prefix} {
			at := collections.Join(key.Store, prefix)
			count, _, err := find(ctx, k.state.watched, at)
			if err != nil {
				return err
			}
			if err := k.state.watched.Set(ctx, at, count+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// dropWatches forgets a timer's keys, and what it would have been told.
func (k *Keeper) dropWatches(ctx context.Context, t *types.Timer) error {
	for _, key := range t.WatchKeys() {
		if err := k.state.watches.Remove(ctx, collections.Join3(key.Store, key.Prefix, t.Seq)); err != nil {
			return err
		}
		for _, prefix := range [][]byte{{}, key.Prefix} {
			if err := k.dropCount(ctx, collections.Join(key.Store, prefix)); err != nil {
				return err
			}
		}
	}
	if t.Trigger.Watch == nil || t.SetAside == types.Watching {
		return nil
	}
	return k.state.watchHits.Remove(ctx, t.Seq)
}

// dropCount counts one watch less; none is no entry.
func (k *Keeper) dropCount(ctx context.Context, at collections.Pair[string, []byte]) error {
	count, _, err := find(ctx, k.state.watched, at)
	if err != nil {
		return err
	}
	if count <= 1 {
		return k.state.watched.Remove(ctx, at)
	}
	return k.state.watched.Set(ctx, at, count-1)
}

// renameWatches follows a timer that took a fresh seq.
func (k *Keeper) renameWatches(ctx context.Context, t *types.Timer, before uint64) error {
	if t.Trigger.Watch == nil || t.Seq == before {
		return nil
	}
	for _, key := range t.WatchKeys() {
		if err := k.state.watches.Remove(ctx, collections.Join3(key.Store, key.Prefix, before)); err != nil {
			return err
		}
		if err := k.state.watches.Set(ctx, collections.Join3(key.Store, key.Prefix, t.Seq), t.Actor); err != nil {
			return err
		}
	}
	hit, found, err := find(ctx, k.state.watchHits, before)
	if err != nil || !found {
		return err
	}
	if err := k.state.watchHits.Remove(ctx, before); err != nil {
		return err
	}
	return k.state.watchHits.Set(ctx, t.Seq, hit)
}

// restingPlace is where a timer belongs that is not set aside any more: in the queue, unless it watches and nothing has
// made it due.
func (k *Keeper) restingPlace(ctx context.Context, t *types.Timer) (types.SetAsideReason, error) {
	if t.Trigger.Watch == nil {
		return types.NotSetAside, nil
	}
	hit, err := k.state.watchHits.Has(ctx, t.Seq)
	if err != nil || hit {
		return types.NotSetAside, err
	}
	return types.Watching, nil
}

// takeHit takes what a timer that fires is told; nothing for one that does not watch.
func (k *Keeper) takeHit(ctx context.Context, t *types.Timer) (types.WatchHit, error) {
	if t.Trigger.Watch == nil {
		return types.WatchHit{}, nil
	}
	hit, _, err := find(ctx, k.state.watchHits, t.Seq)
	if err != nil {
		return hit, err
	}
	return hit, k.state.watchHits.Remove(ctx, t.Seq)
}

// putHit gives a watch timer that is tried again what it was told.
func (k *Keeper) putHit(ctx context.Context, t *types.Timer, hit types.WatchHit) error {
	if t.Trigger.Watch == nil {
		return nil
	}
	return k.state.watchHits.Set(ctx, t.Seq, hit)
}

// matchedSoFar is what a timer will be told if it fires now.
func (k *Keeper) matchedSoFar(ctx context.Context, t *types.Timer) ([]types.WatchedKey, error) {
	if t.Trigger.Watch == nil || t.SetAside == types.Watching {
		return nil, nil
	}
	hit, _, err := find(ctx, k.state.watchHits, t.Seq)
	return hit.Matched, err
}

// jsonWatchedKeys writes them as protobuf's JSON does.
func jsonWatchedKeys(keys []types.WatchedKey) string {
	parts := make([]string, len(keys))
	for i, key := range keys {
		parts[i] = `{"store":` + jsonString(key.Store) + `,"key":"` + base64.StdEncoding.EncodeToString(key.Key) + `"}`
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// mutedBank moves the module's own money unseen by watches: pre-charges, refunds, burns and tips are neither a
// transaction's doing nor a handler's, and a timer that watches its payer's balance must not be made due by its own fee.
type mutedBank struct{ types.BankKeeper }

func (m mutedBank) SendCoins(ctx context.Context, from, to sdk.AccAddress, amt sdk.Coins) error {
	return m.BankKeeper.SendCoins(watch.Muted(ctx), from, to, amt)
}

func (m mutedBank) SendCoinsFromModuleToModule(ctx context.Context, sender, recipient string, amt sdk.Coins) error {
	return m.BankKeeper.SendCoinsFromModuleToModule(watch.Muted(ctx), sender, recipient, amt)
}

func (m mutedBank) BurnCoins(ctx context.Context, moduleName string, amt sdk.Coins) error {
	return m.BankKeeper.BurnCoins(watch.Muted(ctx), moduleName, amt)
}

type mutedTips struct{ types.TipCollector }

func (m mutedTips) PayTips(ctx context.Context, from string, tips sdk.Coins) error {
	return m.TipCollector.PayTips(watch.Muted(ctx), from, tips)
}

// initWatches writes what genesis keeps of watches beside their timers.
func (k *Keeper) initWatches(ctx context.Context, genesis *types.GenesisState) error {
	for i := range genesis.WatchHits {
		if err := k.state.watchHits.Set(ctx, genesis.WatchHits[i].Seq, genesis.WatchHits[i].Hit); err != nil {
			return err
		}
	}
	for i := range genesis.WatchPending {
		p := &genesis.WatchPending[i]
		if err := k.state.watchPending.Set(ctx, collections.Join(p.Key.Store, p.Key.Prefix), p.Pending); err != nil {
			return err
		}
	}
	return k.setCursors(ctx, types.WatchCursors{}, genesis.WatchCursors)
}

func (k *Keeper) exportWatches(ctx context.Context, genesis *types.GenesisState) error {
	err := k.state.watchHits.Walk(ctx, nil, func(seq uint64, hit types.WatchHit) (bool, error) {
		genesis.WatchHits = append(genesis.WatchHits, types.SeqWatchHit{Seq: seq, Hit: hit})
		return false, nil
	})
	if err != nil {
		return err
	}
	err = k.state.watchPending.Walk(ctx, nil, func(at collections.Pair[string, []byte], p types.WatchPending) (bool, error) {
		key := types.WatchKey{Store: at.K1(), Prefix: slices.Clone(at.K2())}
		genesis.WatchPending = append(genesis.WatchPending, types.KeyWatchPending{Key: key, Pending: p})
		return false, nil
	})
	if err != nil {
		return err
	}
	genesis.WatchCursors, _, err = findItem(ctx, k.state.watchCursors)
	return err
}
