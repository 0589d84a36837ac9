package storecount

import (
	storetypes "cosmossdk.io/store/types"
)

// Multi are the operations done to each store of a chain, by its name. Like Counts it is not safe for concurrent use.
type Multi struct {
	stores map[string]*Counts
	visit  func(Visit)
}

// Visit is one entry that a scan visited.
type Visit struct {
	// Store is its name, Start where the scan began and Key the entry that it stood on. Neither may be kept.
	Store      string
	Start, Key []byte
}

// WrapMulti returns a multistore that counts what is done to its stores and to those of every branch made of it, once
// each: what a branch reads from below, or writes back when it is kept, is no operation of its own. Each visited entry is
// shown to visit, unless that is nil.
func WrapMulti(multi storetypes.MultiStore, visit func(Visit)) (storetypes.MultiStore, *Multi) {
	counts := &Multi{stores: map[string]*Counts{}, visit: visit}
	return countingMulti{multi, counts}, counts
}

// Store returns the counts of one store.
func (m *Multi) Store(name string) Counts { return *m.of(name) }

// All returns the counts of all stores together.
func (m *Multi) All() Counts {
	var all Counts
	for _, counts := range m.stores {
		all.Add(*counts)
	}
	return all
}

func (m *Multi) of(name string) *Counts {
	counts, known := m.stores[name]
	if !known {
		counts = &Counts{}
		m.stores[name] = counts
	}
	return counts
}

func (m *Multi) wrap(key storetypes.StoreKey, store storetypes.KVStore) storetypes.KVStore {
	return countingKV{store, key.Name(), m.of(key.Name()), m.visit}
}

type countingMulti struct {
	storetypes.MultiStore
	counts *Multi
}

func (m countingMulti) GetKVStore(key storetypes.StoreKey) storetypes.KVStore {
	return m.counts.wrap(key, m.MultiStore.GetKVStore(key))
}

func (m countingMulti) CacheMultiStore() storetypes.CacheMultiStore {
	return countingBranch{m.MultiStore.CacheMultiStore(), m.counts}
}

// branch is embedded under another name than that of the method that must be shadowed.
type branch = storetypes.CacheMultiStore

type countingBranch struct {
	branch
	counts *Multi
}

func (b countingBranch) GetKVStore(key storetypes.StoreKey) storetypes.KVStore {
	return b.counts.wrap(key, b.branch.GetKVStore(key))
}

func (b countingBranch) CacheMultiStore() storetypes.CacheMultiStore {
	return countingBranch{b.branch.CacheMultiStore(), b.counts}
}

type countingKV struct {
	storetypes.KVStore
	name   string
	counts *Counts
	visit  func(Visit)
}

func (s countingKV) Get(key []byte) []byte {
	s.counts.Gets++
	return s.KVStore.Get(key)
}

func (s countingKV) Has(key []byte) bool {
	s.counts.Gets++
	return s.KVStore.Has(key)
}

func (s countingKV) Set(key, value []byte) {
	s.counts.Sets++
	s.KVStore.Set(key, value)
}

func (s countingKV) Delete(key []byte) {
	s.counts.Deletes++
	s.KVStore.Delete(key)
}

func (s countingKV) Iterator(start, end []byte) storetypes.Iterator {
	return s.scan(start, s.KVStore.Iterator(start, end))
}

func (s countingKV) ReverseIterator(start, end []byte) storetypes.Iterator {
	return s.scan(end, s.KVStore.ReverseIterator(start, end))
}

// scan counts the entry that a new iterator stands on, as Wrap does.
func (s countingKV) scan(start []byte, iterator storetypes.Iterator) storetypes.Iterator {
	s.counts.Iterators++
	counting := countingKVIterator{iterator, s, start}
	counting.visited()
	return counting
}

type countingKVIterator struct {
	storetypes.Iterator
	store countingKV
	start []byte
}

func (i countingKVIterator) Next() {
	i.Iterator.Next()
	i.visited()
}

func (i countingKVIterator) visited() {
	if !i.Valid() {
		return
	}
	i.store.counts.Nexts++
	if i.store.visit != nil {
		i.store.visit(Visit{i.store.name, i.start, i.Key()})
	}
}
