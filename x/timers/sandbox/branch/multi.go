// Package branch makes branches of a multistore that are cheap while they are used little.
//
// The SDK's own branch makes a cache for every mounted store, and each cache consists of maps. A fire uses few stores and
// writes few keys. A branch of this package makes the cache of a store when the store is first used, and keeps its entries
// in a slice until somebody iterates. To those who use it, it is the SDK's branch: a property test holds the two to the same
// results.
package branch

import (
	"io"
	"maps"
	"sync"

	"cosmossdk.io/store/cachemulti"
	"cosmossdk.io/store/tracekv"
	storetypes "cosmossdk.io/store/types"
)

// New returns a branch of a multistore, as its CacheMultiStore does. A multistore that is neither the SDK's branch nor
// one of this package, or that traces its operations, branches by itself.
func New(parent storetypes.MultiStore) storetypes.CacheMultiStore {
	if _, ok := parent.(cachemulti.Store); ok && !parent.TracingEnabled() {
		return newMulti(parent)
	}
	return parent.CacheMultiStore()
}

// storeNameKey is the part of a trace's context that names the store.
const storeNameKey = "store_name"

// multi is a branch of a multistore.
type multi struct {
	parent storetypes.MultiStore
	// opened are the stores used so far. A multistore with another tracer shares them.
	opened *openedStores
	own    openedStores

	// traceWriter and traceContext are for the branches of this one. Its own stores trace what they do to the parent's
	// if below is set, in the context as it was when this branch was made.
	traceWriter  io.Writer
	traceContext storetypes.TraceContext
	below        io.Writer
	belowContext storetypes.TraceContext
}

// openedStores are in the order of their first use. They are few, so that a search is as fast as a map.
type openedStores struct {
	mtx    sync.Mutex
	stores []openedStore
}

type openedStore struct {
	key   storetypes.StoreKey
	store *kv
}

var _ storetypes.CacheMultiStore = (*multi)(nil)

func newMulti(parent storetypes.MultiStore) *multi {
	m := &multi{parent: parent}
	m.opened = &m.own
	return m
}

// CacheMultiStore implements types.MultiStore.
func (m *multi) CacheMultiStore() storetypes.CacheMultiStore {
	child := newMulti(m)
	child.traceWriter, child.traceContext = m.traceWriter, m.traceContext
	if m.TracingEnabled() {
		child.below, child.belowContext = m.traceWriter, m.traceContext.Clone()
	}
	return child
}

// GetKVStore implements types.MultiStore. It panics if no such store is mounted.
func (m *multi) GetKVStore(key storetypes.StoreKey) storetypes.KVStore {
	m.opened.mtx.Lock()
	defer m.opened.mtx.Unlock()
	for i := range m.opened.stores {
		if m.opened.stores[i].key == key {
			return m.opened.stores[i].store
		}
	}
	parent := m.parent.GetKVStore(key)
	if m.below != nil {
		parent = tracekv.NewStore(parent, m.below, m.belowContext.Clone().Merge(storetypes.TraceContext{storeNameKey: key.Name()}))
	}
	store := newKV(parent)
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
func (m *multi) CacheWrap() storetypes.CacheWrap { return m.CacheMultiStore().(storetypes.CacheWrap) }

// CacheWrapWithTrace implements types.CacheWrapper.
func (m *multi) CacheWrapWithTrace(io.Writer, storetypes.TraceContext) storetypes.CacheWrap {
	return m.CacheWrap()
}

// CacheMultiStoreWithVersion implements types.MultiStore. It panics: a branch has no versions.
func (m *multi) CacheMultiStoreWithVersion(int64) (storetypes.CacheMultiStore, error) {
	panic("cannot branch cached multi-store with a version")
}

// LatestVersion implements types.MultiStore. It panics: a branch has no versions.
func (m *multi) LatestVersion() int64 {
	panic("cannot get latest version from branch cached multi-store")
}

// TracingEnabled implements types.MultiStore.
func (m *multi) TracingEnabled() bool { return m.traceWriter != nil }

// SetTracer implements types.MultiStore: the branches of the multistore that it returns trace.
func (m *multi) SetTracer(w io.Writer) storetypes.MultiStore {
	traced := m.sharing()
	traced.traceWriter = w
	return traced
}

// SetTracingContext implements types.MultiStore.
func (m *multi) SetTracingContext(context storetypes.TraceContext) storetypes.MultiStore {
	traced := m.sharing()
	if traced.traceContext == nil {
		traced.traceContext = context
		return traced
	}
	maps.Copy(traced.traceContext, context)
	return traced
}

// sharing is a multistore with the same stores, which may be given another tracer.
func (m *multi) sharing() *multi {
	return &multi{
		parent: m.parent, opened: m.opened, traceWriter: m.traceWriter, traceContext: m.traceContext,
		below: m.below, belowContext: m.belowContext,
	}
}
