package sandbox

import (
	"io"
	"maps"

	"cosmossdk.io/store/tracekv"
	storetypes "cosmossdk.io/store/types"
)

// This file holds what branches have to do with traces of store operations, which later lines of the SDK do not have.

// storeNameKey is the part of a trace's context that names the store.
const storeNameKey = "store_name"

// traces reports whether a multistore's branches trace their operations.
func traces(parent storetypes.MultiStore) bool { return parent.TracingEnabled() }

// tracing is what a branch traces.
type tracing struct {
	// traceWriter and traceContext are for the branches of this one. Its own stores trace what they do to the parent's
	// if below is set, in the context as it was when this branch was made.
	traceWriter  io.Writer
	traceContext storetypes.TraceContext
	below        io.Writer
	belowContext storetypes.TraceContext
}

// ofBranch is what a branch of this one traces.
func (t *tracing) ofBranch() tracing {
	child := tracing{traceWriter: t.traceWriter, traceContext: t.traceContext}
	if t.TracingEnabled() {
		child.below, child.belowContext = t.traceWriter, t.traceContext.Clone()
	}
	return child
}

// traced is a store of the parent, which notes what is done to it if the branch traces.
func (t *tracing) traced(key storetypes.StoreKey, parent storetypes.KVStore) storetypes.KVStore {
	if t.below == nil {
		return parent
	}
	return tracekv.NewStore(parent, t.below, t.belowContext.Clone().Merge(storetypes.TraceContext{storeNameKey: key.Name()}))
}

// TracingEnabled implements types.MultiStore.
func (t *tracing) TracingEnabled() bool { return t.traceWriter != nil }

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
	return &multi{parent: m.parent, keepsReads: m.keepsReads, opened: m.opened, tracing: m.tracing}
}

// CacheWrapWithTrace implements types.CacheWrapper.
func (m *multi) CacheWrapWithTrace(io.Writer, storetypes.TraceContext) storetypes.CacheWrap {
	return m.CacheWrap()
}

// CacheWrapWithTrace implements types.CacheWrapper.
func (s *kv) CacheWrapWithTrace(w io.Writer, context storetypes.TraceContext) storetypes.CacheWrap {
	return newKV(tracekv.NewStore(s, w, context), true)
}
