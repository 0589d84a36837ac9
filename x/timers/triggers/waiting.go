package triggers

import (
	"context"
	"encoding/binary"
	"slices"

	"cosmossdk.io/collections"

	"github.com/cosmos/cosmos-sdk/codec"

	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
	"github.com/cosmos-timers/timers/x/timers/watch"
	"github.com/cosmos-timers/timers/x/timers/watch/condition"
)

// Conditions stores the conditions of watches (x/timers/README.md, "1.10 Watch"). It is a hook of the records: what happens to
// a timer it does to its conditions.
//
// The conditions of a key are ordered by their places (package watch/condition), and the value that the key had at the last
// collection is kept with them. So a change reads those alone that it makes true, however many there are.
//
// A condition has a place while its timer waits. A timer that is due, or on hold, has none: changes do not read it again
// and again.
type Conditions struct {
	state.NoHook
	// values: (store, key) → value at the last collection, and how many conditions the key has.
	values watch.Values
	// all: (store, key, owner, seq) of each condition of a live timer.
	all collections.KeySet[WatchPlace]
	// places: (store, key, place ‖ seq) → since ‖ owner, of each condition of a timer that waits.
	places collections.Map[placeKey, []byte]
	// segments: (store, key, height, list) → conditions that a change passed and that have not been visited.
	segments collections.Map[segmentKey, types.WatchSegment]
	// starts: (since, seq) → which conditions were true when the timer was scheduled.
	starts collections.Map[startKey, []byte]
	// changed: (store, key) of keys with conditions that changed after the collection of a block.
	changed collections.KeySet[prefixKey]

	watcher    *watch.Watcher
	records    *state.Records
	tombstones *state.Tombstones
}

var (
	_ state.Component = (*Conditions)(nil)
	_ state.Hook      = (*Conditions)(nil)
)

type (
	placeKey   = collections.Triple[string, []byte, []byte]
	segmentKey = collections.Quad[string, []byte, uint64, uint64]
	startKey   = collections.Pair[uint64, uint64]
)

// NewConditions adds the component's collections to the schema.
func NewConditions(
	cdc codec.BinaryCodec, sb *collections.SchemaBuilder, records *state.Records, tombstones *state.Tombstones, watcher *watch.Watcher,
) *Conditions {
	region := func(n byte) collections.Prefix { return collections.NewPrefix([]byte{types.PrefixConditions, n}) }
	keys := collections.PairKeyCodec(collections.StringKey, collections.BytesKey)
	c := &Conditions{
		values: watch.NewValues(cdc, sb),
		all: collections.NewKeySet(sb, region(2), "watch_conditions",
			collections.QuadKeyCodec(collections.StringKey, collections.BytesKey, collections.BytesKey, collections.Uint64Key)),
		places: collections.NewMap(sb, region(3), "watch_places",
			collections.TripleKeyCodec(collections.StringKey, collections.BytesKey, collections.BytesKey), collections.BytesValue),
		segments: collections.NewMap(sb, region(4), "watch_segments",
			collections.QuadKeyCodec(collections.StringKey, collections.BytesKey, collections.Uint64Key, collections.Uint64Key),
			codec.CollValue[types.WatchSegment](cdc)),
		starts: collections.NewMap(sb, region(5), "watch_starts",
			collections.PairKeyCodec(collections.Uint64Key, collections.Uint64Key), collections.BytesValue),
		changed: collections.NewKeySet(sb, region(6), "watch_changed", keys),
		watcher: watcher, records: records, tombstones: tombstones,
	}
	records.Register(c)
	return c
}

// conditional is a key with a condition, and its number among the keys of its timer.
type conditional struct {
	types.WatchKey
	i     int
	place []byte
}

// conditionsOf are those of a timer.
func conditionsOf(t *types.Timer) (all []conditional, err error) {
	for i, key := range t.WatchKeys() {
		if key.When == nil {
			continue
		}
		place, err := watch.PlaceOf(key)
		if err != nil {
			return nil, err
		}
		all = append(all, conditional{key, i, place})
	}
	return all, nil
}

// CountOf is how many conditions a timer has.
func CountOf(t *types.Timer) (n int) {
	for _, key := range t.WatchKeys() {
		if key.When != nil {
			n++
		}
	}
	return n
}

// at is where the condition of a timer with that seq is in the order of its key.
func (c conditional) at(seq uint64) placeKey {
	return collections.Join3(c.Store, c.Prefix, binary.BigEndian.AppendUint64(slices.Clip(c.place), seq))
}

// waits is what a place says of its timer.
type waits struct {
	// since is the first block whose changes count.
	since uint64
	owner []byte
}

func (w waits) bytes() []byte { return append(binary.BigEndian.AppendUint64(nil, w.since), w.owner...) }

func waitsOf(value []byte) (waits, error) {
	if len(value) <= 8 {
		return waits{}, types.ErrInternal.Wrapf("the value of a place has %d bytes", len(value))
	}
	return waits{binary.BigEndian.Uint64(value), slices.Clone(value[8:])}, nil
}

// Scheduled implements state.Hook. The first collection of the timer is compared with the values of now. A timer that is
// read from a genesis file has its start there, if it still needs one.
func (c *Conditions) Scheduled(ctx context.Context, t *types.Timer) error {
	all, err := conditionsOf(t)
	if err != nil || len(all) == 0 {
		return err
	}
	held := make([]byte, (len(t.WatchKeys())+7)/8)
	for _, k := range all {
		value, _, err := c.watcher.Value(ctx, k.WatchKey)
		if err != nil {
			return err
		}
		if condition.Holds(k.place, value) {
			held[k.i/8] |= 1 << (k.i % 8)
		}
	}
	if err := c.watcher.NoteStart(ctx); err != nil {
		return err
	}
	return c.starts.Set(ctx, collections.Join(t.Due, t.Seq), held)
}

// Inserted implements state.Hook. The first condition of a key begins with the value of now.
func (c *Conditions) Inserted(ctx context.Context, t *types.Timer) error {
	all, err := conditionsOf(t)
	if err != nil {
		return err
	}
	for _, k := range all {
		kept, found, err := state.Find(ctx, c.values, collections.Join(k.Store, k.Prefix))
		if err != nil {
			return err
		}
		if !found {
			value, _, err := c.watcher.Value(ctx, k.WatchKey)
			if err != nil {
				return err
			}
			kept = keep(kept, value)
		}
		if err := c.count(ctx, k, kept, 1); err != nil {
			return err
		}
		if err := c.all.Set(ctx, collections.Join4(k.Store, k.Prefix, t.Actor, t.Seq)); err != nil {
			return err
		}
		if t.HoldReason != types.Watching {
			continue
		}
		if err := c.places.Set(ctx, k.at(t.Seq), waits{t.Due, t.Actor}.bytes()); err != nil {
			return err
		}
	}
	return nil
}

// Remove removes the conditions of a timer that has left.
func (c *Conditions) Remove(ctx context.Context, t *types.Timer) error {
	all, err := conditionsOf(t)
	if err != nil {
		return err
	}
	for _, k := range all {
		kept, err := c.values.Get(ctx, collections.Join(k.Store, k.Prefix))
		if err != nil {
			return err
		}
		if err := c.count(ctx, k, kept, -1); err != nil {
			return err
		}
		if err := c.all.Remove(ctx, collections.Join4(k.Store, k.Prefix, t.Actor, t.Seq)); err != nil {
			return err
		}
		if t.HoldReason != types.Watching {
			continue
		}
		if err := c.places.Remove(ctx, k.at(t.Seq)); err != nil {
			return err
		}
	}
	return nil
}

// count writes the record of a key with one condition more or less. A key without conditions has none.
func (c *Conditions) count(ctx context.Context, k conditional, kept types.WatchValue, by int64) error {
	counts := make([]uint64, condition.Lists)
	copy(counts, kept.Conditions)
	list := condition.ListOf(k.place) - 1
	counts[list] = uint64(int64(counts[list]) + by)
	kept.Conditions = counts
	at, sum := collections.Join(k.Store, k.Prefix), uint64(0)
	for _, n := range counts {
		sum += n
	}
	if sum == 0 {
		return c.values.Remove(ctx, at)
	}
	return c.values.Set(ctx, at, kept)
}

// Rewatches tells whether a timer that takes a fresh seq watches something else than before.
func Rewatches(before, t *types.Timer) bool {
	same := func(a, b types.WatchKey) bool { return a.Equal(b) }
	return before.Seq != t.Seq && !slices.EqualFunc(before.WatchKeys(), t.WatchKeys(), same)
}

// Moved implements state.Hook: conditions have places while their timer waits.
func (c *Conditions) Moved(ctx context.Context, before, t *types.Timer) error {
	if Rewatches(before, t) {
		if err := c.Remove(ctx, before); err != nil {
			return err
		}
		if err := c.Scheduled(ctx, t); err != nil {
			return err
		}
		return c.Inserted(ctx, t)
	}
	waited, stays := before.HoldReason == types.Watching, t.HoldReason == types.Watching
	if waited == stays && before.Seq == t.Seq {
		return nil
	}
	all, err := conditionsOf(t)
	if err != nil {
		return err
	}
	for _, k := range all {
		if err := c.move(ctx, k, before, t); err != nil {
			return err
		}
	}
	if before.Seq == t.Seq || len(all) == 0 {
		return nil
	}
	held, found, err := state.Find(ctx, c.starts, collections.Join(before.Due, before.Seq))
	if err != nil || !found {
		return err
	}
	if err := c.starts.Remove(ctx, collections.Join(before.Due, before.Seq)); err != nil {
		return err
	}
	return c.starts.Set(ctx, collections.Join(before.Due, t.Seq), held)
}

// move is Moved for one condition.
func (c *Conditions) move(ctx context.Context, k conditional, before, t *types.Timer) error {
	value := waits{t.Due, t.Actor}.bytes()
	if before.HoldReason == types.Watching {
		var err error
		if t.HoldReason == types.Watching {
			if value, err = c.places.Get(ctx, k.at(before.Seq)); err != nil {
				return err
			}
		}
		if err = c.places.Remove(ctx, k.at(before.Seq)); err != nil {
			return err
		}
	}
	if t.HoldReason == types.Watching {
		if err := c.places.Set(ctx, k.at(t.Seq), value); err != nil {
			return err
		}
	}
	if before.Seq == t.Seq {
		return nil
	}
	if err := c.all.Remove(ctx, collections.Join4(k.Store, k.Prefix, t.Actor, before.Seq)); err != nil {
		return err
	}
	return c.all.Set(ctx, collections.Join4(k.Store, k.Prefix, t.Actor, t.Seq))
}

// keep is the record of a key with another value.
func keep(kept types.WatchValue, v condition.Value) types.WatchValue {
	return types.WatchValue{Exists: v.Exists, Number: v.Number, Bytes: v.Bytes, Conditions: kept.Conditions}
}

// valueOf is the value that a record has.
func valueOf(kept types.WatchValue) condition.Value {
	return condition.Value{Exists: kept.Exists, Number: kept.Number, Bytes: kept.Bytes}
}

// WalkFrom passes the conditions of live timers from a position on to fn until fn reports that it has enough.
func (c *Conditions) WalkFrom(ctx context.Context, from WatchPlace, fn func(at WatchPlace) (bool, error)) error {
	return c.all.Walk(ctx, new(collections.Range[WatchPlace]).StartInclusive(from), fn)
}

// Value is the value that a key had at the last collection; false if it has no conditions.
func (c *Conditions) Value(ctx context.Context, key types.WatchKey) (types.WatchValue, bool, error) {
	return state.Find(ctx, c.values, collections.Join(key.Store, key.Prefix))
}
