// Package state holds what the module stores. Each component owns its collections, its part of genesis and its
// invariants; x/timers/README.md, "2. State", lists the collections with their keys, writers and bounds.
//
//   - Configs: the config in force and the next one.
//   - Lane: what one block passes to the next.
//   - Owners: the timers of each actor.
//   - Records: the timers themselves, in one map by their classes, and their long payloads.
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

	"github.com/cosmos/cosmos-sdk/codec"

	"github.com/cosmos-timers/timers/x/timers/schedule"
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

// Lane holds the state that one block passes to the next: prices, use, totals and the cursors of bounded work. It is
// one value, written at most once a block. For that reason the policies keep their few numbers in it.
type Lane struct {
	collections.Item[types.LaneState]
}

var _ Component = (*Lane)(nil)

// NewLane adds the component's collection to the schema.
func NewLane(cdc codec.BinaryCodec, sb *collections.SchemaBuilder) *Lane {
	return &Lane{collections.NewItem(sb, types.PrefixLane, "lane", codec.CollValue[types.LaneState](cdc))}
}

// InitGenesis implements Component. What sums up the fairness window is derived from it afterwards.
func (l *Lane) InitGenesis(ctx context.Context, genesis *types.GenesisState) error {
	// Cursors ahead of the first block would stop admission until the chain reaches them, or pass over receipts for good.
	admit, receipts, latest := genesis.Lane.AdmitCursor.Due, genesis.Lane.ReceiptsFrom, types.HeightOf(ctx)+1
	if admit > latest || receipts > latest {
		return types.ErrInvalidGenesis.Wrapf("lane.admit_cursor.due is %d and receipts_from %d, want at most %d", admit, receipts, latest)
	}
	return l.Set(ctx, genesis.Lane)
}

// ExportGenesis implements Component.
func (l *Lane) ExportGenesis(ctx context.Context, genesis *types.GenesisState) (err error) {
	genesis.Lane, err = l.Get(ctx)
	return err
}

// CheckInvariants implements Component: the value is there. What its parts must agree with is checked by those who keep
// them.
func (l *Lane) CheckInvariants(ctx context.Context) error {
	_, err := l.Get(ctx)
	return err
}

// KeyOf is a place in the queue.
func KeyOf(due, seq uint64) schedule.Key { return schedule.Key{Due: due, Seq: seq} }

// CalendarKey is a stored cursor as a key of the queue.
func CalendarKey(q types.QueueKey) schedule.Key { return schedule.Key{Due: q.Due, Seq: q.Seq} }

// QueueKey is a place in the queue as a cursor stores it.
func QueueKey(c schedule.Key) types.QueueKey { return types.QueueKey{Due: c.Due, Seq: c.Seq} }

// Configs holds the config in force and the one that follows it. One config is in force throughout a block, for its
// transactions and its end.
type Configs struct {
	// current is in force in this block. Written by BeginBlock and genesis.
	current collections.Item[types.TimerConfig]
	// next is in force from the next block. Written by the authority, removed by BeginBlock.
	next collections.Item[types.TimerConfig]
}

var _ Component = (*Configs)(nil)

// NewConfigs adds the component's collections to the schema.
func NewConfigs(cdc codec.BinaryCodec, sb *collections.SchemaBuilder) *Configs {
	return &Configs{
		current: collections.NewItem(sb, types.PrefixConfig, "config", newMemo(codec.CollValue[types.TimerConfig](cdc))),
		next:    collections.NewItem(sb, types.PrefixNextConfig, "next_config", codec.CollValue[types.TimerConfig](cdc)),
	}
}

// Get returns the config in force. Reading it costs no gas; SCHEDULE_CYCLES and similar charges cover it. Otherwise a
// new version of the module with more parameters would make schedules dearer, and handlers could exceed their gas
// limits.
func (c *Configs) Get(ctx context.Context) (types.TimerConfig, error) {
	return c.current.Get(types.Unmetered(ctx))
}

// Next returns the config that is in force from the next block on, if one was accepted.
func (c *Configs) Next(ctx context.Context) (types.TimerConfig, bool, error) {
	return FindItem(ctx, c.next)
}

// Latest returns what a further change changes: the config that was accepted for the next block, else the one in force.
func (c *Configs) Latest(ctx context.Context) (types.TimerConfig, error) {
	next, found, err := c.Next(ctx)
	if err != nil || found {
		return next, err
	}
	return c.Get(ctx)
}

// SetNext accepts a config for the next block.
func (c *Configs) SetNext(ctx context.Context, config types.TimerConfig) error {
	return c.next.Set(ctx, config)
}

// Activate puts the next config in force, if there is one. It first calls changing with both configs.
func (c *Configs) Activate(ctx context.Context, changing func(before, after *types.TimerConfig) error) error {
	next, found, err := c.Next(ctx)
	if err != nil || !found {
		return err
	}
	before, err := c.Get(ctx)
	if err != nil {
		return err
	}
	if err := changing(&before, &next); err != nil {
		return err
	}
	if err := c.current.Set(ctx, next); err != nil {
		return err
	}
	return c.next.Remove(ctx)
}

// InitGenesis implements Component.
func (c *Configs) InitGenesis(ctx context.Context, genesis *types.GenesisState) error {
	if err := c.current.Set(ctx, genesis.Config); err != nil {
		return err
	}
	if genesis.NextConfig == nil {
		return nil
	}
	return c.next.Set(ctx, *genesis.NextConfig)
}

// ExportGenesis implements Component.
func (c *Configs) ExportGenesis(ctx context.Context, genesis *types.GenesisState) (err error) {
	if genesis.Config, err = c.Get(ctx); err != nil {
		return err
	}
	next, found, err := c.Next(ctx)
	if found {
		genesis.NextConfig = &next
	}
	return err
}

// CheckInvariants implements Component: every config that was accepted is valid.
func (c *Configs) CheckInvariants(ctx context.Context) error {
	config, err := c.Get(ctx)
	if err != nil {
		return err
	}
	return config.Validate()
}
