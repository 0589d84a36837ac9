package sandbox

import (
	"bytes"
	"slices"
	"sync"

	"cosmossdk.io/store/cachekv"
	"cosmossdk.io/store/cachemulti"
	storetypes "cosmossdk.io/store/types"
)

// NewBranch returns a branch of a multistore, as its CacheMultiStore does, for a caller that changes nothing in the multistore
// that was read through the branch, as long as that is used. So the branch need not keep what was read: to read it again gives
// the same. What the caller does change, and the branch has not written, the branch sees from then on: a block's session is
// written that way, under the branch of a fire that asks for it (state.WithSession). Branches of the branch are for anybody, and
// keep what was read.
//
// A multistore that is neither the SDK's branch nor one of this package, or that traces its operations, branches by itself.
func NewBranch(parent storetypes.MultiStore) storetypes.CacheMultiStore {
	if traces(parent) {
		return parent.CacheMultiStore()
	}
	switch known := parent.(type) {
	case cachemulti.Store:
		return newMulti(parent, false)
	case *multi:
		return known.branch(false)
	default:
		return parent.CacheMultiStore()
	}
}

// multi is a branch of a multistore.
type multi struct {
	parent storetypes.MultiStore
	// keepsReads: its stores keep what was read.
	keepsReads bool
	// opened are the stores used so far. A multistore with another tracer shares them.
	opened *openedStores
	own    openedStores

	tracing
}

// openedStores are in the order of their first use. They are few, so that a search is as fast as a map.
type openedStores struct {
	mtx    sync.Mutex
	stores []openedStore
	// room is where the stores are while they are as few as most fires use.
	room [6]openedStore
}

type openedStore struct {
	key   storetypes.StoreKey
	store storetypes.CacheWrap
}

var _ storetypes.CacheMultiStore = (*multi)(nil)

func newMulti(parent storetypes.MultiStore, keepsReads bool) *multi {
	m := &multi{parent: parent, keepsReads: keepsReads}
	m.opened, m.own.stores = &m.own, m.own.room[:0]
	return m
}

// CacheMultiStore implements types.MultiStore.
func (m *multi) CacheMultiStore() storetypes.CacheMultiStore {
	return m.branch(true)
}

func (m *multi) branch(keepsReads bool) *multi {
	child := newMulti(m, keepsReads)
	child.tracing = m.ofBranch()
	return child
}

// GetKVStore implements types.MultiStore. It panics if no such store is mounted.
func (m *multi) GetKVStore(key storetypes.StoreKey) storetypes.KVStore {
	return m.open(key, (*multi).branchKV).(storetypes.KVStore) //nolint:errcheck // what branchKV returns is one
}

func (m *multi) branchKV(key storetypes.StoreKey) storetypes.CacheWrap {
	return newKV(m.traced(key, m.parent.GetKVStore(key)), m.keepsReads)
}

// open returns a store, which it branches when it is first used.
func (m *multi) open(key storetypes.StoreKey, branch func(*multi, storetypes.StoreKey) storetypes.CacheWrap) storetypes.CacheWrap {
	m.opened.mtx.Lock()
	defer m.opened.mtx.Unlock()
	for i := range m.opened.stores {
		if m.opened.stores[i].key == key {
			return m.opened.stores[i].store
		}
	}
	store := branch(m, key)
	m.opened.stores = append(m.opened.stores, openedStore{key, store})
	return store
}

// GetStore implements types.MultiStore. It panics if no such store is mounted.
func (m *multi) GetStore(key storetypes.StoreKey) storetypes.Store { return m.GetKVStore(key) }

// Write implements types.CacheMultiStore.
func (m *multi) Write() {
	m.opened.mtx.Lock()
	defer m.opened.mtx.Unlock()
	for i := range m.opened.stores {
		m.opened.stores[i].store.Write()
	}
}

// GetStoreType implements types.Store.
func (m *multi) GetStoreType() storetypes.StoreType { return storetypes.StoreTypeMulti }

// CacheWrap implements types.CacheWrapper.
func (m *multi) CacheWrap() storetypes.CacheWrap { return m.branch(true) }

// CacheMultiStoreWithVersion implements types.MultiStore. It panics: a branch has no versions.
func (m *multi) CacheMultiStoreWithVersion(int64) (storetypes.CacheMultiStore, error) {
	panic("cannot branch cached multi-store with a version")
}

// LatestVersion implements types.MultiStore. It panics: a branch has no versions.
func (m *multi) LatestVersion() int64 {
	panic("cannot get latest version from branch cached multi-store")
}

const (
	// few is up to how many entries a search takes no longer than one in a map.
	few = 16
	// usual is how many entries of a store most fires need. A branch of a store has room for them from the first.
	usual = 6
)

// kv is a branch of one store. It keeps what was written in a slice, with a map of their places when they are more than a
// few, until somebody iterates. Then the SDK's own cache, which is sorted, takes its place.
type kv struct {
	mtx    sync.Mutex
	parent storetypes.KVStore
	// keepsReads: what was read is kept too.
	keepsReads bool
	entries    []entry
	// places of the entries by their keys; nil while they are few. They are looked up, never ranged over.
	places map[string]int
	// sorted is nil until somebody iterates.
	sorted *cachekv.Store
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

func newKV(parent storetypes.KVStore, keepsReads bool) *kv {
	return &kv{parent: parent, keepsReads: keepsReads}
}

// Get implements types.KVStore.
func (s *kv) Get(key []byte) []byte {
	storetypes.AssertValidKey(key)
	s.mtx.Lock()
	defer s.mtx.Unlock()
	if s.sorted != nil {
		return s.sorted.Get(key)
	}
	if at, found := s.find(key); found {
		return s.entries[at].value
	}
	value := s.parent.Get(key)
	if s.keepsReads {
		s.add(entry{key: key, value: value})
	}
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
	s.put(entry{key, value, true})
}

// put notes a dirty entry.
func (s *kv) put(e entry) {
	if s.sorted != nil {
		e.writeTo(s.sorted)
		return
	}
	if at, found := s.find(e.key); found {
		s.entries[at] = e
		return
	}
	s.add(e)
}

// find is the place of a key among the entries.
func (s *kv) find(key []byte) (at int, found bool) {
	if s.places != nil {
		at, found = s.places[string(key)]
		return at, found
	}
	for at = range s.entries {
		if bytes.Equal(s.entries[at].key, key) {
			return at, true
		}
	}
	return 0, false
}

// add adds an entry for a key that has none.
func (s *kv) add(e entry) {
	if s.entries == nil {
		s.entries = make([]entry, 0, usual)
	}
	s.entries = append(s.entries, e)
	switch {
	case s.places != nil:
		s.places[string(e.key)] = len(s.entries) - 1
	case len(s.entries) > few:
		s.places = make(map[string]int, 4*few)
		for at := range s.entries {
			s.places[string(s.entries[at].key)] = at
		}
	}
}

// sort hands the entries over to the SDK's cache. A key that was read keeps its value, as in a cache from the start.
func (s *kv) sort() *cachekv.Store {
	s.mtx.Lock()
	defer s.mtx.Unlock()
	if s.sorted != nil {
		return s.sorted
	}
	before := readBefore{KVStore: s.parent, values: map[string][]byte{}}
	s.sorted = cachekv.NewStore(before)
	for i := range s.entries {
		if e := &s.entries[i]; e.dirty {
			e.writeTo(s.sorted)
		} else {
			before.values[string(e.key)] = e.value
		}
	}
	s.forget()
	return s.sorted
}

// Write implements types.CacheKVStore: it writes to the parent in the order of keys, as the SDK's cache does. A parent that is
// a branch itself does not show in which order it was written, and is given the entries as they are.
func (s *kv) Write() {
	s.mtx.Lock()
	defer s.mtx.Unlock()
	if s.sorted != nil {
		s.sorted.Write()
		// What was read before the write may have changed since.
		s.sorted = nil
		return
	}
	if below, branches := s.parent.(*kv); branches {
		below.take(s)
	} else {
		written := slices.DeleteFunc(s.entries, func(e entry) bool { return !e.dirty })
		slices.SortFunc(written, func(a, b entry) int { return bytes.Compare(a.key, b.key) })
		for i := range written {
			written[i].writeTo(s.parent)
		}
	}
	s.forget()
}

// take notes what was written to a branch of this one, which forgets its entries then. What the branch read is not handed
// over.
func (s *kv) take(branch *kv) {
	s.mtx.Lock()
	defer s.mtx.Unlock()
	if !branch.keepsReads && len(s.entries) == 0 && s.sorted == nil {
		s.entries, s.places = branch.entries, branch.places
		return
	}
	for i := range branch.entries {
		if branch.entries[i].dirty {
			s.put(branch.entries[i])
		}
	}
}

// forget drops the entries.
func (s *kv) forget() { s.entries, s.places = nil, nil }

// Iterator implements types.KVStore.
func (s *kv) Iterator(start, end []byte) storetypes.Iterator {
	return s.iterable(start, end).Iterator(start, end)
}

// ReverseIterator implements types.KVStore.
func (s *kv) ReverseIterator(start, end []byte) storetypes.Iterator {
	return s.iterable(start, end).ReverseIterator(start, end)
}

// iterable is what has all entries of an interval: the parent, if none of them was written here.
func (s *kv) iterable(start, end []byte) storetypes.KVStore {
	if s.leaves(start, end) {
		return s.parent
	}
	return s.sort()
}

// leaves reports whether an interval is certainly as the parent has it. Where many entries would have to be searched, it
// does not search.
func (s *kv) leaves(start, end []byte) bool {
	s.mtx.Lock()
	defer s.mtx.Unlock()
	return s.sorted == nil && len(s.entries) <= few && !slices.ContainsFunc(s.entries, func(e entry) bool {
		return e.dirty && bytes.Compare(e.key, start) >= 0 && (end == nil || bytes.Compare(e.key, end) < 0)
	})
}

// GetStoreType implements types.Store.
func (s *kv) GetStoreType() storetypes.StoreType { return s.parent.GetStoreType() }

// CacheWrap implements types.CacheWrapper.
func (s *kv) CacheWrap() storetypes.CacheWrap { return newKV(s, true) }

// readBefore is the parent of a cache that takes the place of a slice: it gives what was read before.
type readBefore struct {
	storetypes.KVStore
	// values are looked up, never ranged over.
	values map[string][]byte
}

// Get implements types.KVStore.
func (r readBefore) Get(key []byte) []byte {
	if value, read := r.values[string(key)]; read {
		return value
	}
	return r.KVStore.Get(key)
}

// BranchOf returns a branch of any multistore, which keeps what was read. It asks the multistore for each store that is used, and
// writes back through it. So it serves those that wrap stores, and branches multistores that hand out themselves where they are
// asked for a branch, as the one does in which cosmos/evm runs precompiles.
func BranchOf(parent storetypes.MultiStore) storetypes.CacheMultiStore { return newMulti(parent, true) }
