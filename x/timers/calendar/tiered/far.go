package tiered

import (
	"context"

	"github.com/cosmos-timers/timers/x/timers/calendar"
)

// far is the far tier. It keeps nothing in memory between calls.
//
// Invariant: a key has at most one live entry. It is in the inbox, or in one run and not dead.
type far struct {
	store Store
	shape *shape
}

func (f far) directory(ctx context.Context) (*directory, error) {
	bz, err := f.store.Get(ctx, []byte{directoryRegion})
	if err != nil || bz == nil {
		return &directory{}, err
	}
	return decodeDirectory(bz)
}

func (f far) setDirectory(ctx context.Context, d *directory) error {
	return f.store.Set(ctx, []byte{directoryRegion}, d.encode())
}

// frontier returns the key before which nothing is in the far tier; found is false if there is no far tier.
func (f far) frontier(ctx context.Context) (key calendar.Key, found bool, err error) {
	bz, err := f.store.Get(ctx, []byte{frontierRegion})
	if err != nil || bz == nil {
		return key, false, err
	}
	key, err = parseKey(bz)
	return key, err == nil, err
}

func (f far) setFrontier(ctx context.Context, key calendar.Key) error {
	return f.store.Set(ctx, []byte{frontierRegion}, appendKey(nil, key))
}

func (f far) isDead(ctx context.Context, key calendar.Key) (bool, error) {
	bz, err := f.store.Get(ctx, regionKey(deadRegion, key))
	return bz != nil, err
}

// bury marks an entry of a run as removed.
func (f far) bury(ctx context.Context, key calendar.Key) error {
	return f.store.Set(ctx, regionKey(deadRegion, key), []byte{1})
}

// get returns nil if there is no live entry at the key.
func (f far) get(ctx context.Context, key calendar.Key) ([]byte, error) {
	value, err := f.store.Get(ctx, regionKey(inboxRegion, key))
	if err != nil || value != nil {
		return value, err
	}
	if dead, err := f.isDead(ctx, key); err != nil || dead {
		return nil, err
	}
	d, err := f.directory(ctx)
	if err != nil {
		return nil, err
	}
	// Entries that were scheduled together are in one run. Those that returned may be in any of theirs.
	for _, returned := range []bool{false, true} {
		for _, r := range d.runs {
			if r.returned != returned || r.remaining == 0 || key.Seq < r.minSeq || key.Seq > r.maxSeq || key.Compare(r.first) < 0 {
				continue
			}
			entries, err := chunkOf(ctx, f.store, r, key)
			if err != nil {
				return nil, err
			}
			if len(entries) > 0 && entries[0].key == key {
				return entries[0].value, nil
			}
		}
	}
	return nil, nil
}

// scanInbox passes the entries of the inbox to fn in order. It copies them in pages, so that fn may use the store.
func (f far) scanInbox(ctx context.Context, until calendar.Key, fn func(entry) error) error {
	from, to := regionKey(inboxRegion, calendar.Key{}), regionKey(inboxRegion, until)
	for {
		page, err := f.inboxPage(ctx, from, to)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, e := range page {
			if err := fn(e); err != nil {
				return err
			}
		}
		from = after(regionKey(inboxRegion, page[len(page)-1].key))
	}
}

// inboxPage reads some entries of the inbox between two keys of the store.
func (f far) inboxPage(ctx context.Context, from, to []byte) (page []entry, err error) {
	scanErr := f.store.Scan(ctx, from, to, func(k, v []byte) bool {
		var key calendar.Key
		if key, err = parseKey(k); err != nil {
			return false
		}
		page = append(page, entry{key, v})
		return len(page) < 4*maxChunkEntries
	})
	if scanErr != nil {
		return nil, scanErr
	}
	return page, err
}

// endKey is after the keys of all entries.
var endKey = calendar.Key{Due: ^uint64(0), Seq: ^uint64(0)}

// pack writes the inbox to new runs: one of entries that are new, with a seq above all before, and one of those that
// return. It returns the number of entries.
func (f far) pack(ctx context.Context, d *directory) (int, error) {
	var writers [2]*writer
	maxSeq, packed, isFirst := d.maxSeq, 0, d.nextRun == 0
	err := f.scanInbox(ctx, endKey, func(e entry) error {
		kind := 0
		if e.key.Seq <= d.maxSeq && !isFirst {
			kind = 1
		}
		if writers[kind] == nil {
			writers[kind] = &writer{store: f.store, shape: f.shape, run: d.add(0, kind == 1)}
		}
		maxSeq, packed = max(maxSeq, e.key.Seq), packed+1
		if err := writers[kind].add(ctx, e); err != nil {
			return err
		}
		return f.store.Delete(ctx, regionKey(inboxRegion, e.key))
	})
	if err != nil {
		return 0, err
	}
	for _, w := range writers {
		if w != nil {
			w.run.level = f.shape.levelOf(w.run.remaining)
			if err := w.flush(ctx); err != nil {
				return 0, err
			}
		}
	}
	d.maxSeq = maxSeq
	return packed, nil
}

// merge goes on with the merges, the lowest level first, over at most budget entries and those of one chunk.
func (f far) merge(ctx context.Context, d *directory, budget int) error {
	d.startMerges(f.shape)
	for _, m := range d.merges {
		if budget <= 0 {
			break
		}
		inputs := newDrains(f.store)
		for _, id := range m.inputs {
			if input := d.find(id); input != nil {
				inputs.add(input)
			}
		}
		output := &writer{store: f.store, shape: f.shape, run: d.find(m.output)}
		var err error
		if budget, err = f.mergeInto(ctx, output, inputs, budget); err != nil {
			return err
		}
	}
	d.settle()
	return nil
}

// mergeInto moves entries from the inputs of a merge to its output, and returns what is left of the budget. It stops between
// two chunks, so that chunks are full, unless too many entries are dead for that.
func (f far) mergeInto(ctx context.Context, output *writer, inputs *drains, budget int) (left int, err error) {
	for budget > 0 || len(output.entries) > 0 && budget > -f.shape.chunkEntries {
		first, err := inputs.first(ctx)
		if err != nil {
			return budget, err
		}
		if first == nil {
			break
		}
		e, live, err := inputs.take(ctx, first)
		if err != nil {
			return budget, err
		}
		budget--
		if !live {
			continue
		}
		if err := output.add(ctx, e); err != nil {
			return budget, err
		}
	}
	return budget, output.flush(ctx)
}

// migrate hands out the entries that are due at or before the height, in order and at most budget of them, and consumes
// them. It returns how many it consumed, and a key before which none is left in any run.
func (f far) migrate(
	ctx context.Context, d *directory, height uint64, budget int, fn func(entry) error,
) (consumed int, until calendar.Key, err error) {
	runs := newDrains(f.store)
	for _, r := range d.runs {
		if r.first.Due <= height {
			runs.add(r)
		}
	}
	for {
		first, err := runs.first(ctx)
		if err != nil {
			return consumed, until, err
		}
		if first == nil || first.next().Due > height {
			return consumed, successor(calendar.Key{Due: height, Seq: ^uint64(0)}), nil
		}
		if consumed >= budget {
			return consumed, first.next(), nil
		}
		e, live, err := runs.take(ctx, first)
		if err != nil {
			return consumed, until, err
		}
		consumed++
		if !live {
			continue
		}
		if err := fn(e); err != nil {
			return consumed, until, err
		}
	}
}

// forgetDead forgets at most limit dead keys before the given one, which no run holds any more.
func (f far) forgetDead(ctx context.Context, until calendar.Key, limit int) error {
	var keys [][]byte
	from, to := regionKey(deadRegion, calendar.Key{}), regionKey(deadRegion, until)
	err := f.store.Scan(ctx, from, to, func(key, _ []byte) bool {
		keys = append(keys, key)
		return len(keys) < limit
	})
	if err != nil {
		return err
	}
	for _, key := range keys {
		if err := f.store.Delete(ctx, key); err != nil {
			return err
		}
	}
	return nil
}
