// Package state holds what the module stores. Each component owns its collections, its part of genesis and its
// invariants; x/timers/README.md, "2. State", lists the collections with their keys, writers and bounds.
//
//   - Configs: the config in force and the next one.
//   - Lane: what one block passes to the next.
//   - Owners: the timers of each actor.
//   - Records: the timers themselves, in the queue or on hold (Queue), and their long payloads.
//   - Index: the timers that compete under overload.
//   - Fairness: the number of fires of each actor or deployer within the fairness window.
//   - Receipts: the result of each delivery.
//
// Region and LogMap put a log-structured map (package logmap) into a region of the module's store.
//
// No value in state grows with the number of timers.
package state

import (
	"context"
	"errors"

	"cosmossdk.io/collections"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Component is a part of the module's state that owns its collections, genesis and invariants.
type Component interface {
	// InitGenesis writes the component's part of a genesis state that has been validated. The timers are not within: they
	// come afterwards, one at a time (TimerReader).
	InitGenesis(ctx context.Context, genesis *types.GenesisState) error
	// ExportGenesis adds the component's part but for the timers, in an order that depends on nothing but state.
	ExportGenesis(ctx context.Context, genesis *types.GenesisState) error
	// CheckInvariants returns the first broken invariant of the component's state. It may read everything: tests, the
	// lab and simulations call it between blocks, no block does.
	CheckInvariants(ctx context.Context) error
}

// TimerReader is a Component that reads the timers of a genesis state. There may be millions: none is kept.
type TimerReader interface {
	// ReadTimers begins to read. Head is the state without its timers.
	ReadTimers(ctx context.Context, head *types.GenesisState) TimerReading
}

// TimerReading is the reading of the timers of one genesis state.
type TimerReading struct {
	// Timer is called for each timer after it has been validated, in order, with its position. The timer must stay as it is.
	Timer func(i int, t *types.Timer) error
	// Done is called after the last timer; nil for nothing to do.
	Done func() error
}

// Find reads a map entry that may be absent.
func Find[K, V any](ctx context.Context, m collections.Map[K, V], key K) (V, bool, error) {
	value, err := m.Get(ctx, key)
	if errors.Is(err, collections.ErrNotFound) {
		return value, false, nil
	}
	return value, err == nil, err
}

// FindItem reads an item that may be absent.
func FindItem[V any](ctx context.Context, item collections.Item[V]) (V, bool, error) {
	value, err := item.Get(ctx)
	if errors.Is(err, collections.ErrNotFound) {
		return value, false, nil
	}
	return value, err == nil, err
}
