package sandbox

import (
	"sync"

	"cosmossdk.io/store/cachemulti"
	storetypes "cosmossdk.io/store/types"
)

// NewBranch returns a branch of a multistore, as its CacheMultiStore does, for a caller that changes nothing in the multistore that
// was read through the branch, as long as that is used. So the branch need not keep what was read: to read it again gives the
// same. What the caller does change, and the branch has not written, the branch sees from then on: a block's session is written
// that way, under the branch of a fire that asks for it (state.WithSession). Branches of the branch are for anybody, and
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
