package storecount

import (
	storetypes "cosmossdk.io/store/types"
)

// Multi are the operations done to each store of a chain, by its name. Like Counts it is not safe for concurrent use.
type Multi struct {
	stores map[string]*Counts
	read   func(store string, key []byte)
}

// WrapMulti returns a multistore that counts what is done to its stores and to those of every branch made of it, once
// each: what a branch reads from below, or writes back when it is kept, is no operation of its own. Each key that is read, by
// itself or by a scan, is shown to read with the name of its store, unless that is nil. It may not be kept.
func WrapMulti(multi storetypes.MultiStore, read func(store string, key []byte)) (storetypes.MultiStore, *Multi) {
	counts := &Multi{stores: map[string]*Counts{}, read: read}
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
	return countingKV{store, key.Name(), m.of(key.Name()), m.read}
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
	read   func(store string, key []byte)
}

func (s countingKV) show(key []byte) {
	if s.read != nil {
		s.read(s.name, key)
	}
}

func (s countingKV) Get(key []byte) []byte {
	s.counts.Gets++
	s.show(key)
	return s.KVStore.Get(key)
}

func (s countingKV) Has(key []byte) bool {
	s.counts.Gets++
	s.show(key)
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
	return s.scan(s.KVStore.Iterator(start, end))
}

func (s countingKV) ReverseIterator(start, end []byte) storetypes.Iterator {
	return s.scan(s.KVStore.ReverseIterator(start, end))
}

// scan counts the entry that a new iterator stands on, as Wrap does.
func (s countingKV) scan(iterator storetypes.Iterator) storetypes.Iterator {
	s.counts.Iterators++
	counting := countingKVIterator{iterator, s}
	counting.visited()
	return counting
}

type countingKVIterator struct {
	storetypes.Iterator
	store countingKV
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
	i.store.show(i.Key())
}
