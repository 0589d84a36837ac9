package state

import (
	"context"

	"cosmossdk.io/collections"
	corestore "cosmossdk.io/core/store"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/logmap"
	"github.com/cosmos-timers/timers/x/timers/sandbox"
)

// LogMap is a log-structured map in a region of the module's store. It charges no gas.
//
// The steps at the end of a block change it in their session, which is written at the block's end. Everybody else changes it at
// once. Before a handler, an agent or a query in the middle of a block uses any map, the session is written, in the context of
// the steps that called it: so that nothing that runs on a branch that is dropped takes anything from them.
type LogMap struct{ m *logmap.Map }

// NewLogMap adds the region to the schema, as a collection, for tools that decode state.
func NewLogMap(sb *collections.SchemaBuilder, service corestore.KVStoreService, prefix collections.Prefix, name string, opts logmap.Options) *LogMap {
	return &LogMap{logmap.New(NewRegion(sb, service, prefix, name), opts)}
}

// WithSession gives the steps of a block a session.
func WithSession(ctx sdk.Context) (sdk.Context, *logmap.Session) {
	s := logmap.NewSession()
	return sandbox.WithMemory(ctx, s), s
}

// session is that of the steps that run under the context; nil for everybody else. What the steps of a block that calls have
// changed is written then.
func session(ctx context.Context) (*logmap.Session, error) {
	scope := sandbox.ScopeOf(ctx)
	s, _ := scope.Memory.(*logmap.Session)
	if scope.Left == nil {
		return s, nil
	}
	return nil, s.Flush(*scope.Left)
}

// Write writes, for a handler, an agent or a query in the middle of a block, what the steps that called it have changed.
func Write(ctx context.Context) error {
	_, err := session(ctx)
	return err
}

// NoteChange notes that a handler has changed something of what the session's maps hold together.
func NoteChange(ctx context.Context) {
	if scope := sandbox.ScopeOf(ctx); scope.Left != nil {
		scope.Memory.(*logmap.Session).Advance()
	}
}

// IsNew reports whether the map has nothing, not even what is to be merged.
func (m *LogMap) IsNew(ctx context.Context) (bool, error) {
	s, err := session(ctx)
	switch {
	case err != nil:
		return false, err
	case s != nil:
		return s.IsNew(ctx, m.m)
	}
	return m.m.IsNew(ctx)
}

// Get returns the value of a key.
func (m *LogMap) Get(ctx context.Context, key []byte) (value []byte, found bool, err error) {
	s, err := session(ctx)
	switch {
	case err != nil:
		return nil, false, err
	case s != nil:
		return s.Get(ctx, m.m, key)
	}
	return m.m.Get(ctx, key)
}

// Page returns the first n entries whose keys are at least from and below to, by key. A nil to has no end.
func (m *LogMap) Page(ctx context.Context, from, to []byte, n int) ([]logmap.Entry, error) {
	s, err := session(ctx)
	switch {
	case err != nil:
		return nil, err
	case s != nil:
		return s.Page(ctx, m.m, from, to, n)
	}
	return m.m.Page(ctx, from, to, n)
}

// Count returns how many entries have keys that are at least from and below to.
func (m *LogMap) Count(ctx context.Context, from, to []byte) (uint64, error) {
	s, err := session(ctx)
	switch {
	case err != nil:
		return 0, err
	case s != nil:
		return s.Count(ctx, m.m, from, to)
	}
	return m.m.Count(ctx, from, to)
}

// Apply makes changes.
func (m *LogMap) Apply(ctx context.Context, changes ...logmap.Change) error {
	s, err := session(ctx)
	switch {
	case err != nil:
		return err
	case s != nil:
		s.Apply(m.m, changes...)
		return nil
	}
	if err := m.m.Apply(ctx, changes...); err != nil {
		return err
	}
	if scope := sandbox.ScopeOf(ctx); scope.Left != nil {
		scope.Memory.(*logmap.Session).Invalidate(m.m)
	}
	return nil
}

// MayDiffer reports whether the value of a key may not be what the steps of the block have read: they, or somebody whom they
// called, may have changed it since.
func (m *LogMap) MayDiffer(ctx context.Context, key []byte) bool {
	scope := sandbox.ScopeOf(ctx)
	s, _ := scope.Memory.(*logmap.Session)
	return s == nil || scope.Left != nil || s.Generation() > 0 || s.Has(m.m, key)
}

// Stored is the map beneath, for the end of a block, after the session was written, and for tools.
func (m *LogMap) Stored() *logmap.Map { return m.m }

// Lookups is a context in which the maps are looked up many times, and not changed: what is read is read once. It is of use for
// queries and lists.
func Lookups(ctx context.Context) (sdk.Context, error) {
	sdkCtx := sdk.UnwrapSDKContext(ctx)
	s, err := session(ctx)
	if s == nil && err == nil {
		sdkCtx, _ = WithSession(sdkCtx)
	}
	return sdkCtx, err
}

// Idle reports of a queue, at the end of a block whose session was written, whether nothing below a key is left and nothing waits
// to be merged.
func (m *LogMap) Idle(ctx context.Context, key []byte) (bool, error) {
	s, err := session(ctx)
	switch {
	case err != nil:
		return false, err
	case s != nil:
		return s.Idle(ctx, m.m, key)
	}
	return m.m.Idle(ctx, key)
}

// Settle merges all that waits to be merged, at genesis.
func (m *LogMap) Settle(ctx context.Context) error { return Settle(ctx, m.m) }

// Maintain ends a block whose session was written: it merges, and where nothing is left, nothing is.
func (m *LogMap) Maintain(ctx context.Context, height uint64) error {
	if none, err := m.IsNew(ctx); none || err != nil {
		return err
	}
	idle, err := m.m.Maintain(ctx, height)
	if !idle || err != nil {
		return err
	}
	left, err := m.m.Page(ctx, nil, nil, 1)
	if len(left) > 0 || err != nil {
		return err
	}
	return m.m.Clear(ctx)
}
