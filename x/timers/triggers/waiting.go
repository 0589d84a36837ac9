package triggers

import (
	"bytes"
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
	// places: (store, key, place ‖ seq) → since ‖ beginning of the id ‖ owner, of each condition of a timer that waits.
	places collections.Map[placeKey, []byte]
	// segments: (store, key, height, list) → conditions that a change passed and that have not been visited.
	segments collections.Map[segmentKey, types.WatchSegment]

	watcher    *watch.Watcher
	records    *state.Records
	tombstones *state.Tombstones
}

var (
	_ state.Component = (*Conditions)(nil)
	_ state.Hook      = (*Conditions)(nil)
)

// WatchPlace is (store, prefix, owner, seq).
type WatchPlace = collections.Quad[string, []byte, []byte, uint64]

type (
	// prefixKey is (store, prefix).
	prefixKey  = collections.Pair[string, []byte]
	placeKey   = collections.Triple[string, []byte, []byte]
	segmentKey = collections.Quad[string, []byte, uint64, uint64]
)

// NewConditions adds the component's collections to the schema.
func NewConditions(
	cdc codec.BinaryCodec, sb *collections.SchemaBuilder, records *state.Records, tombstones *state.Tombstones, watcher *watch.Watcher,
) *Conditions {
	region := func(n byte) collections.Prefix { return collections.NewPrefix([]byte{types.PrefixConditions, n}) }
	c := &Conditions{
		values: watch.NewValues(cdc, sb),
		all: collections.NewKeySet(sb, region(2), "watch_conditions",
			collections.QuadKeyCodec(collections.StringKey, collections.BytesKey, collections.BytesKey, collections.Uint64Key)),
		places: collections.NewMap(sb, region(3), "watch_places",
			collections.TripleKeyCodec(collections.StringKey, collections.BytesKey, collections.BytesKey), collections.BytesValue),
		segments: collections.NewMap(sb, region(4), "watch_segments",
			collections.QuadKeyCodec(collections.StringKey, collections.BytesKey, collections.Uint64Key, collections.Uint64Key),
			codec.CollValue[types.WatchSegment](cdc)),
		watcher: watcher, records: records, tombstones: tombstones,
	}
	records.Register(c)
	return c
}

// conditional is a key with a condition.
type conditional struct {
	types.WatchKey
	place []byte
}

// conditionsOf are those of a timer.
func conditionsOf(t *types.Timer) (all []conditional, err error) {
	for _, key := range t.WatchKeys() {
		if key.When == nil {
			continue
		}
		place, err := watch.PlaceOf(key)
		if err != nil {
			return nil, err
		}
		all = append(all, conditional{key, place})
	}
	return all, nil
}

// at is where the condition of a timer with that seq is in the order of its key.
func (c conditional) at(seq uint64) placeKey {
	return collections.Join3(c.Store, c.Prefix, binary.BigEndian.AppendUint64(slices.Clip(c.place), seq))
}

// waits is what a place says of its timer.
type waits struct {
	// since is the first block whose changes count.
	since     uint64
	id, owner []byte
}

func waitsFor(t *types.Timer) []byte {
	return slices.Concat(binary.BigEndian.AppendUint64(nil, t.Due), state.IDStart(t), t.Actor)
}

func waitsOf(value []byte) (waits, error) {
	owner := 8 + state.IDStartBytes
	if len(value) <= owner {
		return waits{}, types.ErrInternal.Wrapf("the value of a place has %d bytes", len(value))
	}
	value = slices.Clone(value)
	return waits{binary.BigEndian.Uint64(value), value[8:owner], value[owner:]}, nil
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
		if !t.AwaitsChange() {
			continue
		}
		if err := c.places.Set(ctx, k.at(t.Seq), waitsFor(t)); err != nil {
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
		if !t.AwaitsChange() {
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
		return c.Inserted(ctx, t)
	}
	if before.AwaitsChange() == t.AwaitsChange() && before.Seq == t.Seq {
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
	return nil
}

// move is Moved for one condition.
func (c *Conditions) move(ctx context.Context, k conditional, before, t *types.Timer) error {
	if before.AwaitsChange() {
		if err := c.places.Remove(ctx, k.at(before.Seq)); err != nil {
			return err
		}
	}
	if t.AwaitsChange() {
		if err := c.places.Set(ctx, k.at(t.Seq), waitsFor(t)); err != nil {
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

// Segment is a part of the conditions of a key that a change at a height made true.
type Segment struct {
	Key    types.WatchKey
	Height uint64
	types.WatchSegment
	// Stored: it is in state.
	Stored bool
}

// Passed is a condition that a change made true.
type Passed struct {
	Ref
	// At is its place, with seq.
	At []byte
}

// Ref finds the timer of a watch: by its owner, the beginning of its id, and its seq.
type Ref struct {
	Owner, ID []byte
	Seq       uint64
}

// Collect compares the values of keys with those of the last collection. It returns a segment for each list with
// conditions that became true.
func (c *Conditions) Collect(ctx context.Context, keys []types.WatchKey, height uint64) (segments []*Segment, err error) {
	slices.SortFunc(keys, types.WatchKey.Compare)
	keys = slices.CompactFunc(keys, func(a, b types.WatchKey) bool { return a.Compare(b) == 0 })
	for _, key := range keys {
		ranges, err := c.compare(ctx, key)
		if err != nil {
			return nil, err
		}
		for _, r := range ranges {
			segments = append(segments, &Segment{Key: key, Height: height, WatchSegment: types.WatchSegment{From: r.From, To: r.To}})
		}
	}
	return segments, nil
}

// compare keeps the value of a key, and returns the ranges of conditions that became true.
func (c *Conditions) compare(ctx context.Context, key types.WatchKey) (ranges []condition.Range, err error) {
	at := collections.Join(key.Store, key.Prefix)
	kept, found, err := state.Find(ctx, c.values, at)
	if err != nil || !found {
		return nil, err
	}
	now, known, err := c.watcher.Value(ctx, key)
	if err != nil || !known {
		return nil, err
	}
	before := valueOf(kept)
	if before.Exists == now.Exists && before.Number == now.Number && bytes.Equal(before.Bytes, now.Bytes) {
		return nil, nil
	}
	if err := c.values.Set(ctx, at, keep(kept, now)); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(condition.Crossed(before, now), func(r condition.Range) bool {
		list := condition.ListOf(r.From) - 1
		return list >= len(kept.Conditions) || kept.Conditions[list] == 0
	}), nil
}

// Scan reads at most limit conditions of a segment from its beginning on. It returns those whose timers count the change,
// how many it read, and the place of the next one; nil if there is none.
func (c *Conditions) Scan(ctx context.Context, s *Segment, limit int) (passed []Passed, looked int, next []byte, err error) {
	ranger := new(collections.Range[placeKey]).
		StartInclusive(collections.Join3(s.Key.Store, s.Key.Prefix, s.From)).
		EndExclusive(collections.Join3(s.Key.Store, s.Key.Prefix, s.To))
	err = c.places.Walk(ctx, ranger, func(at placeKey, value []byte) (bool, error) {
		place := slices.Clone(at.K3())
		if looked == limit {
			next = place
			return true, nil
		}
		looked++
		w, err := waitsOf(value)
		if err == nil && w.since <= s.Height {
			passed = append(passed, Passed{Ref{w.owner, w.id, binary.BigEndian.Uint64(place[len(place)-8:])}, place})
		}
		return false, err
	})
	return passed, looked, next, err
}

// Resume stores a segment from a place on; nil: nothing of it is left.
func (c *Conditions) Resume(ctx context.Context, s *Segment, from []byte) error {
	at := collections.Join4(s.Key.Store, s.Key.Prefix, s.Height, uint64(condition.ListOf(s.From)))
	switch {
	case from == nil && s.Stored:
		return c.segments.Remove(ctx, at)
	case from == nil, s.Stored && bytes.Equal(from, s.From):
		return nil
	default:
		return c.segments.Set(ctx, at, types.WatchSegment{From: from, To: s.To})
	}
}

// KeysWithSegments returns keys with stored segments, from a key on and around, at most limit.
func (c *Conditions) KeysWithSegments(ctx context.Context, from types.WatchKey, limit int) (keys []types.WatchKey, err error) {
	first := collections.Join4(from.Store, from.Prefix, uint64(0), uint64(0))
	keys, err = c.distinctKeys(ctx, new(collections.Range[segmentKey]).StartInclusive(first), limit)
	if err != nil || len(keys) >= limit || from.Store == "" {
		return keys, err
	}
	before, err := c.distinctKeys(ctx, new(collections.Range[segmentKey]).EndExclusive(first), limit-len(keys))
	return append(keys, before...), err
}

// distinctKeys reads the keys of a range of segments, at most limit.
func (c *Conditions) distinctKeys(
	ctx context.Context, ranger *collections.Range[segmentKey], limit int,
) (keys []types.WatchKey, err error) {
	for len(keys) < limit {
		var last segmentKey
		found := false
		err := c.segments.Walk(ctx, ranger, func(at segmentKey, _ types.WatchSegment) (bool, error) {
			last, found = at, true
			return true, nil
		})
		if err != nil || !found {
			return keys, err
		}
		key := types.WatchKey{Store: last.K1(), Prefix: slices.Clone(last.K2())}
		keys = append(keys, key)
		ranger = ranger.StartExclusive(collections.Join4(key.Store, key.Prefix, ^uint64(0), ^uint64(0)))
	}
	return keys, nil
}

// SegmentsOf reads the oldest stored segments of a key, at most limit.
func (c *Conditions) SegmentsOf(ctx context.Context, key types.WatchKey, limit int) (segments []*Segment, err error) {
	ranger := collections.NewSuperPrefixedQuadRange[string, []byte, uint64, uint64](key.Store, key.Prefix)
	err = c.segments.Walk(ctx, ranger, func(at segmentKey, s types.WatchSegment) (bool, error) {
		segments = append(segments, &Segment{Key: key, Height: at.K3(), WatchSegment: s, Stored: true})
		return len(segments) >= limit, nil
	})
	return segments, err
}

// Holding are the keys whose conditions a timer states and that are true of their values at the last collection.
func (c *Conditions) Holding(ctx context.Context, t *types.Timer) (keys []types.WatchKey, err error) {
	all, err := conditionsOf(t)
	if err != nil {
		return nil, err
	}
	for _, k := range all {
		kept, err := c.values.Get(ctx, collections.Join(k.Store, k.Prefix))
		if err != nil {
			return nil, err
		}
		if condition.Holds(k.place, valueOf(kept)) {
			keys = append(keys, k.WatchKey)
		}
	}
	return keys, nil
}
