package logmap

import (
	"context"
)

// Reader looks up many keys and pages of a map that no one else changes meanwhile. It reads each value of the store once, and
// decodes it once: a map with few entries has most of them in a few chunks.
type Reader struct {
	opened *opened
	store  *remembering
}

// Reader opens the map for lookups.
func (m *Map) Reader(ctx context.Context) *Reader {
	store := &remembering{opener: m.stores, ctx: ctx, values: map[string][]byte{}}
	return &Reader{&opened{store: store, opts: &m.opts, memory: newMemory()}, store}
}

// under makes the reader read the store as another context sees it, where that has what it has read already.
func (r *Reader) under(ctx context.Context) { r.store.ctx, r.store.beneath = ctx, nil }

// IsNew reports whether the map has nothing, not even what is to be merged.
func (r *Reader) IsNew() (bool, error) {
	h, err := r.opened.head(front)
	return err == nil && h.isNew(), err
}

// Get returns the value of a key.
func (r *Reader) Get(key []byte) (value []byte, found bool, err error) { return r.opened.get(key) }

// Page returns the first n entries whose keys are at least from and below to, by key. A nil to has no end.
func (r *Reader) Page(from, to []byte, n int) ([]Entry, error) {
	return r.opened.page(Span{From: from, To: to}, n)
}

// ForgetLog makes the reader read the log again, which others have changed alone.
func (r *Reader) ForgetLog() {
	known := r.opened.memory
	known.log, known.logRead, known.logLookups = nil, false, 0
	delete(r.store.values, string(headKey(front)))
	for number := range 2 * r.opened.opts.MergeLogs {
		delete(r.store.values, string(logKey(uint32(number))))
	}
}

// Apply is that of the map.
func (r *Reader) Apply(changes ...Change) error {
	// Merges change the directories that they read.
	r.opened.memory = newMemory()
	writer := opened{store: r.store, opts: r.opened.opts}
	return writer.apply(changes)
}

// remembering is a store that is opened when it is first needed, and read once for each key.
type remembering struct {
	opener Opener
	ctx    context.Context
	// beneath is nil until it is needed.
	beneath Store
	// values are looked up, never ranged over.
	values map[string][]byte
}

func (s *remembering) open() Store {
	if s.beneath == nil {
		s.beneath = s.opener.Open(s.ctx)
	}
	return s.beneath
}

// Get implements Store.
func (s *remembering) Get(key []byte) ([]byte, error) {
	if value, known := s.values[string(key)]; known {
		return value, nil
	}
	value, err := s.open().Get(key)
	if err == nil {
		s.values[string(key)] = value
	}
	return value, err
}

// Scan implements Store.
func (s *remembering) Scan(from []byte, fn func(key, value []byte) (more bool)) error {
	return s.open().Scan(from, fn)
}

// Set implements Store.
func (s *remembering) Set(key, value []byte) error {
	delete(s.values, string(key))
	return s.open().Set(key, value)
}

// Delete implements Store.
func (s *remembering) Delete(key []byte) error {
	delete(s.values, string(key))
	return s.open().Delete(key)
}
