package branch

import (
	"bytes"
	"io"
	"slices"
	"sync"

	"cosmossdk.io/store/cachekv"
	"cosmossdk.io/store/tracekv"
	storetypes "cosmossdk.io/store/types"
)

// few is how many entries a store keeps in its slice: a search of them takes no longer than one in a map.
const few = 16

// kv is a branch of one store. It keeps what was read and written in a slice, until that is full or somebody iterates.
// Then the SDK's own cache takes its place.
type kv struct {
	mtx     sync.Mutex
	parent  storetypes.KVStore
	entries []entry
	// full is nil while the entries suffice.
	full *cachekv.Store
}

// entry is a value that was read, or written if it is dirty. A nil value is that of a key that is absent or removed.
type entry struct {
	key, value []byte
	dirty      bool
}

// writeTo writes the entry to another store if it was written.
func (e *entry) writeTo(store storetypes.KVStore) {
	switch {
	case !e.dirty:
	case e.value == nil:
		store.Delete(e.key)
	default:
		store.Set(e.key, e.value)
	}
}

var _ storetypes.CacheKVStore = (*kv)(nil)

func newKV(parent storetypes.KVStore) *kv { return &kv{parent: parent} }

// Get implements types.KVStore.
func (s *kv) Get(key []byte) []byte {
	storetypes.AssertValidKey(key)
	s.mtx.Lock()
	defer s.mtx.Unlock()
	if at := find(s.entries, key); at >= 0 {
		return s.entries[at].value
	}
	if !s.hasRoom() {
		return s.full.Get(key)
	}
	value := s.parent.Get(key)
	s.entries = append(s.entries, entry{key: key, value: value})
	return value
}

// Has implements types.KVStore.
func (s *kv) Has(key []byte) bool { return s.Get(key) != nil }

// Set implements types.KVStore.
func (s *kv) Set(key, value []byte) {
	storetypes.AssertValidKey(key)
	storetypes.AssertValidValue(value)
	s.write(key, value)
}

// Delete implements types.KVStore.
func (s *kv) Delete(key []byte) {
	storetypes.AssertValidKey(key)
	s.write(key, nil)
}

// write notes a value, nil for a removal.
func (s *kv) write(key, value []byte) {
	s.mtx.Lock()
	defer s.mtx.Unlock()
	e := entry{key, value, true}
	if at := find(s.entries, key); at >= 0 {
		s.entries[at] = e
		return
	}
	if s.hasRoom() {
		s.entries = append(s.entries, e)
		return
	}
	e.writeTo(s.full)
}

// hasRoom reports whether the slice takes a further entry. If not, the SDK's cache has taken its place.
func (s *kv) hasRoom() bool {
	if s.full == nil && len(s.entries) < few {
		if s.entries == nil {
			s.entries = make([]entry, 0, few/4)
		}
		return true
	}
	s.fill()
	return false
}

// fill hands the entries over to the SDK's cache.
func (s *kv) fill() {
	if s.full != nil {
		return
	}
	s.full = cachekv.NewStore(readBefore{s.parent, s.entries})
	for _, e := range s.entries {
		e.writeTo(s.full)
	}
	s.entries = nil
}

// Write implements types.CacheKVStore: it writes to the parent in the order of keys, as the SDK's cache does.
func (s *kv) Write() {
	s.mtx.Lock()
	defer s.mtx.Unlock()
	if s.full != nil {
		s.full.Write()
		// What was read before the write may have changed since.
		s.full = nil
		return
	}
	slices.SortFunc(s.entries, func(a, b entry) int { return bytes.Compare(a.key, b.key) })
	for _, e := range s.entries {
		e.writeTo(s.parent)
	}
	s.entries = nil
}

// Iterator implements types.KVStore.
func (s *kv) Iterator(start, end []byte) storetypes.Iterator {
	return s.filled().Iterator(start, end)
}

// ReverseIterator implements types.KVStore.
func (s *kv) ReverseIterator(start, end []byte) storetypes.Iterator {
	return s.filled().ReverseIterator(start, end)
}

func (s *kv) filled() *cachekv.Store {
	s.mtx.Lock()
	defer s.mtx.Unlock()
	s.fill()
	return s.full
}

// GetStoreType implements types.Store.
func (s *kv) GetStoreType() storetypes.StoreType { return s.parent.GetStoreType() }

// CacheWrap implements types.CacheWrapper.
func (s *kv) CacheWrap() storetypes.CacheWrap { return newKV(s) }

// CacheWrapWithTrace implements types.CacheWrapper.
func (s *kv) CacheWrapWithTrace(w io.Writer, context storetypes.TraceContext) storetypes.CacheWrap {
	return newKV(tracekv.NewStore(s, w, context))
}

// readBefore is the parent of a cache that takes the place of a slice. A key that was read keeps its value, as in a cache
// from the start.
type readBefore struct {
	storetypes.KVStore
	entries []entry
}

// Get implements types.KVStore.
func (r readBefore) Get(key []byte) []byte {
	if at := find(r.entries, key); at >= 0 && !r.entries[at].dirty {
		return r.entries[at].value
	}
	return r.KVStore.Get(key)
}

// find is the place of a key, -1 if it is not there.
func find(entries []entry, key []byte) int {
	for i := range entries {
		if bytes.Equal(entries[i].key, key) {
			return i
		}
	}
	return -1
}
