package triggers

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"

	"cosmossdk.io/collections"

	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
	"github.com/cosmos-timers/timers/x/timers/watch/condition"
)

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
	Owner []byte
	Seq   uint64
	// At is its place, with seq.
	At []byte
}

// Keep notes that keys were changed after the collection of their block, so that the next one looks at them. It reports
// whether any of them has conditions.
func (c *Conditions) Keep(ctx context.Context, keys []types.WatchKey) (kept bool, err error) {
	for _, key := range keys {
		at := collections.Join(key.Store, key.Prefix)
		found, err := c.values.Has(ctx, at)
		if err != nil {
			return kept, err
		}
		if !found {
			continue
		}
		kept = true
		if err := c.changed.Set(ctx, at); err != nil {
			return kept, err
		}
	}
	return kept, nil
}

// TakeChanged returns the keys that Keep noted, and forgets them.
func (c *Conditions) TakeChanged(ctx context.Context) (keys []types.WatchKey, err error) {
	err = c.changed.Walk(ctx, nil, func(at prefixKey) (bool, error) {
		keys = append(keys, types.WatchKey{Store: at.K1(), Prefix: slices.Clone(at.K2())})
		return false, nil
	})
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	return keys, c.changed.Clear(ctx, nil)
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
			passed = append(passed, Passed{Owner: w.owner, Seq: binary.BigEndian.Uint64(place[len(place)-8:]), At: place})
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

// Timers finds a timer that waits by its seq.
type Timers func(ctx context.Context, seq uint64) (types.Timer, bool, error)

// Start is a condition that became true between scheduling and the timer's first collection.
type Start struct {
	Key types.WatchKey
	Seq uint64
}

// Begin looks at the timers whose first collection this is, and which conditions were true of the values at scheduling
// unlike of those at the collection of that block. It returns those that are true now and were not; those that are true now
// and were are not passed at this height.
func (c *Conditions) Begin(ctx context.Context, height uint64, timers Timers) (started []Start, err error) {
	err = c.eachStart(ctx, height, timers, func(t *types.Timer, k conditional, held bool, v condition.Value) (bool, error) {
		switch {
		case !condition.Holds(k.place, v):
			return true, nil
		case !held:
			started = append(started, Start{k.WatchKey, t.Seq})
			return true, nil
		default:
			return true, c.places.Set(ctx, k.at(t.Seq), waits{height + 1, t.Actor}.bytes())
		}
	})
	return started, err
}

// Settle forgets of the timers that were scheduled in this block those whose conditions are as true of the values at its
// collection as they were at scheduling. It reports whether any other is left.
func (c *Conditions) Settle(ctx context.Context, height uint64, timers Timers) (left bool, err error) {
	err = c.eachStart(ctx, height+1, timers, func(_ *types.Timer, k conditional, held bool, v condition.Value) (bool, error) {
		same := condition.Holds(k.place, v) == held
		left = left || !same
		return same, nil
	})
	return left, err
}

// eachStart passes the conditions of each timer with a start at a height or before, whether they were true at scheduling and
// the value at the last collection. It removes the start if fn is done with all of them.
func (c *Conditions) eachStart(
	ctx context.Context, height uint64, timers Timers,
	fn func(t *types.Timer, k conditional, held bool, v condition.Value) (done bool, err error),
) error {
	ranger := new(collections.Range[startKey]).EndInclusive(collections.Join(height, ^uint64(0)))
	var starts []startKey
	var helds [][]byte
	err := c.starts.Walk(ctx, ranger, func(at startKey, held []byte) (bool, error) {
		starts, helds = append(starts, at), append(helds, slices.Clone(held))
		return false, nil
	})
	if err != nil {
		return err
	}
	for i, at := range starts {
		t, found, err := timers(ctx, at.K2())
		if err != nil {
			return err
		}
		done := true
		if found {
			done, err = c.eachOf(ctx, &t, func(k conditional, v condition.Value) (bool, error) {
				held := k.i/8 < len(helds[i]) && helds[i][k.i/8]&(1<<(k.i%8)) != 0
				return fn(&t, k, held, v)
			})
		}
		if err != nil {
			return err
		}
		if !done {
			continue
		}
		if err := c.starts.Remove(ctx, at); err != nil {
			return err
		}
	}
	return nil
}

// eachOf passes the conditions of a timer, with the last values of their keys. It reports whether fn is done with all.
func (c *Conditions) eachOf(
	ctx context.Context, t *types.Timer, fn func(k conditional, v condition.Value) (done bool, err error),
) (done bool, err error) {
	all, err := conditionsOf(t)
	if err != nil {
		return false, err
	}
	done = true
	for _, k := range all {
		kept, err := c.values.Get(ctx, collections.Join(k.Store, k.Prefix))
		if err != nil {
			return false, err
		}
		one, err := fn(k, valueOf(kept))
		if err != nil {
			return false, err
		}
		done = done && one
	}
	return done, nil
}
