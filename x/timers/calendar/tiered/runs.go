package tiered

import (
	"context"

	"github.com/cosmos-timers/timers/x/timers/calendar"
)

// firstChunk returns the first chunk of the run from a key of the store on; no entries if there is none.
func firstChunk(ctx context.Context, store Store, id uint32, start []byte) (key []byte, entries []entry, err error) {
	var value []byte
	err = store.Scan(ctx, start, runEnd(id), func(k, v []byte) bool {
		key, value = k, v
		return false
	})
	if err != nil || key == nil {
		return nil, nil, err
	}
	entries, err = decodeChunk(value)
	return key, entries, err
}

// chunkOf returns the entries, from the key on, of the chunk of the run in which the key would be.
func chunkOf(ctx context.Context, store Store, r *run, at calendar.Key) ([]entry, error) {
	key, value, err := store.Last(ctx, chunkKey(r.id, calendar.Key{}), after(chunkKey(r.id, at)))
	if err != nil || key == nil {
		return nil, err
	}
	entries, err := decodeChunk(value)
	return from(entries, at), err
}

// writer appends entries to a run.
type writer struct {
	store   Store
	shape   *shape
	run     *run
	entries []entry
	bytes   int
}

func (w *writer) add(ctx context.Context, e entry) error {
	w.entries, w.bytes = append(w.entries, e), w.bytes+len(e.value)
	w.run.wrote(e.key, w.shape)
	if len(w.entries) == w.shape.chunkEntries || w.bytes >= chunkBytes {
		return w.flush(ctx)
	}
	return nil
}

// flush writes the last chunk.
func (w *writer) flush(ctx context.Context) error {
	if len(w.entries) == 0 {
		return nil
	}
	err := w.store.Set(ctx, chunkKey(w.run.id, w.entries[0].key), encodeChunk(w.entries))
	w.entries, w.bytes = nil, 0
	return err
}

// drain consumes a run from its beginning.
type drain struct {
	store   Store
	run     *run
	chunk   []byte
	entries []entry
}

// next is a lower bound of the next entry's key, and the key itself once the chunk is read.
func (d *drain) next() calendar.Key {
	if len(d.entries) > 0 {
		return d.entries[0].key
	}
	return d.run.first
}

// fill reads the next chunk: the first, or the first after the one that was consumed, so that no scan passes over what the block
// has deleted.
func (d *drain) fill(ctx context.Context) (err error) {
	start := chunkKey(d.run.id, calendar.Key{})
	if d.chunk != nil {
		start = after(d.chunk)
	}
	d.chunk, d.entries, err = firstChunk(ctx, d.store, d.run.id, start)
	d.entries = from(d.entries, d.run.first)
	if err == nil && len(d.entries) == 0 {
		err = errCorrupt // The run has entries left, and they are in its chunks.
	}
	return err
}

func (d *drain) take(ctx context.Context) (entry, error) {
	e := d.entries[0]
	d.entries = d.entries[1:]
	d.run.took(e.key)
	if len(d.entries) > 0 {
		return e, nil
	}
	return e, d.store.Delete(ctx, d.chunk)
}

// drains consumes several runs in order of the keys, without the dead.
type drains struct {
	store Store
	runs  []*drain
	dead  deadKeys
}

func newDrains(store Store) *drains { return &drains{store: store, dead: deadKeys{store: store}} }

func (d *drains) add(r *run) {
	if r.remaining > 0 {
		d.runs = append(d.runs, &drain{store: d.store, run: r})
	}
}

// first returns the run with the least key, its chunk read; nil if all are consumed.
func (d *drains) first(ctx context.Context) (*drain, error) {
	for {
		var least *drain
		for _, it := range d.runs {
			if it.run.remaining > 0 && (least == nil || it.next().Compare(least.next()) < 0) {
				least = it
			}
		}
		if least == nil || len(least.entries) > 0 {
			return least, nil
		}
		if err := least.fill(ctx); err != nil {
			return nil, err
		}
	}
}

// take consumes the first entry of a run that first returned. A dead one is forgotten: live is false.
func (d *drains) take(ctx context.Context, from *drain) (e entry, live bool, err error) {
	if e, err = from.take(ctx); err != nil {
		return e, false, err
	}
	dead, err := d.dead.has(ctx, e.key)
	if err != nil || !dead {
		return e, err == nil, err
	}
	return e, false, d.store.Delete(ctx, regionKey(deadRegion, e.key))
}

// deadKeys tells which keys are dead, for keys in ascending order. It reads the store only where it has to.
type deadKeys struct {
	store Store
	// next is the first dead key at or after the last one asked for, if known and found.
	next         calendar.Key
	known, found bool
}

func (d *deadKeys) has(ctx context.Context, key calendar.Key) (bool, error) {
	if !d.known || d.found && d.next.Compare(key) < 0 {
		d.known, d.found = true, false
		err := d.store.Scan(ctx, regionKey(deadRegion, key), regionEnd(deadRegion), func(stored, _ []byte) bool {
			d.found = true
			d.next, _ = parseKey(stored)
			return false
		})
		if err != nil {
			return false, err
		}
	}
	return d.found && d.next == key, nil
}
