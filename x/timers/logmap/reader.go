package logmap

import (
	"context"

	"github.com/cosmos-timers/timers/x/timers/logmap/wire"
)

// Reader looks up many keys and pages of a map that nobody else changes meanwhile. It reads each value of the store once, and
// decodes it once: a map with few entries has most of them in a few chunks.
type Reader struct{ opened *opened }

// Reader opens the map for lookups.
func (m *Map) Reader(ctx context.Context) *Reader {
	o := m.open(ctx)
	o.store, o.memory = remembering{o.store, map[string][]byte{}}, newMemory()
	return &Reader{o}
}

// Get returns the value of a key.
func (r *Reader) Get(key []byte) (value []byte, found bool, err error) { return r.opened.get(key) }

// Page returns the first n entries whose keys are at least from and below to, by key. A nil to has no end.
func (r *Reader) Page(from, to []byte, n int) ([]Entry, error) {
	return r.opened.page(wire.Span{From: from, To: to}, n)
}

// ForgetLog makes the reader read the log again, which others have changed alone.
func (r *Reader) ForgetLog() {
	known := r.opened.memory
	known.log, known.logRead, known.logLookups = nil, false, 0
	if known, ok := r.opened.store.(remembering); ok {
		delete(known.values, string(headKey(front)))
		for number := range 2 * r.opened.opts.MergeLogs {
			delete(known.values, string(logKey(uint32(number))))
		}
	}
}

// Apply is that of the map.
func (r *Reader) Apply(changes ...Change) error {
	// Merges change the directories that they read.
	r.opened.memory = newMemory()
	writer := opened{store: r.opened.store, opts: r.opened.opts}
	return writer.apply(changes)
}

// remembering is a store that is read once for each key.
type remembering struct {
	Store
	// values are looked up, never ranged over.
	values map[string][]byte
}

// Get implements Store.
func (s remembering) Get(key []byte) ([]byte, error) {
	if value, known := s.values[string(key)]; known {
		return value, nil
	}
	value, err := s.Store.Get(key)
	if err == nil {
		s.values[string(key)] = value
	}
	return value, err
}

// Set implements Store.
func (s remembering) Set(key, value []byte) error {
	delete(s.values, string(key))
	return s.Store.Set(key, value)
}

// Delete implements Store.
func (s remembering) Delete(key []byte) error {
	delete(s.values, string(key))
	return s.Store.Delete(key)
}
