package triggers

import (
	"context"
	"slices"

	"cosmossdk.io/collections"

	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// InitGenesis implements state.Component. The conditions follow from the timers, which come afterwards.
func (c *Conditions) InitGenesis(ctx context.Context, genesis *types.GenesisState) error {
	for i := range genesis.WatchValues {
		v := &genesis.WatchValues[i]
		if err := c.values.Set(ctx, collections.Join(v.Key.Store, v.Key.Prefix), v.Value); err != nil {
			return err
		}
	}
	if err := state.EachTombstone(ctx, genesis, c.Inserted); err != nil {
		return err
	}
	for i := range genesis.WatchSegments {
		s := &genesis.WatchSegments[i]
		segment := Segment{Key: s.Key, Height: s.Height, WatchSegment: s.Segment}
		if err := c.Resume(ctx, &segment, s.Segment.From); err != nil {
			return err
		}
	}
	for i := range genesis.WatchStarts {
		s := &genesis.WatchStarts[i]
		if err := c.starts.Set(ctx, collections.Join(s.Since, s.Seq), s.Held); err != nil {
			return err
		}
	}
	for i := range genesis.WatchChanged {
		key := &genesis.WatchChanged[i]
		if err := c.changed.Set(ctx, collections.Join(key.Store, key.Prefix)); err != nil {
			return err
		}
	}
	return nil
}

// ExportGenesis implements state.Component.
func (c *Conditions) ExportGenesis(ctx context.Context, genesis *types.GenesisState) error {
	keyOf := func(store string, key []byte) types.WatchKey {
		return types.WatchKey{Store: store, Prefix: slices.Clone(key)}
	}
	err := c.values.Walk(ctx, nil, func(at prefixKey, v types.WatchValue) (bool, error) {
		v.Conditions = nil
		genesis.WatchValues = append(genesis.WatchValues, types.KeyWatchValue{Key: keyOf(at.K1(), at.K2()), Value: v})
		return false, nil
	})
	if err != nil {
		return err
	}
	err = c.segments.Walk(ctx, nil, func(at segmentKey, s types.WatchSegment) (bool, error) {
		genesis.WatchSegments = append(genesis.WatchSegments,
			types.KeyWatchSegment{Key: keyOf(at.K1(), at.K2()), Height: at.K3(), Segment: s})
		return false, nil
	})
	if err != nil {
		return err
	}
	err = c.starts.Walk(ctx, nil, func(at startKey, held []byte) (bool, error) {
		genesis.WatchStarts = append(genesis.WatchStarts, types.WatchStart{Since: at.K1(), Seq: at.K2(), Held: slices.Clone(held)})
		return false, nil
	})
	if err != nil {
		return err
	}
	return c.changed.Walk(ctx, nil, func(at prefixKey) (bool, error) {
		genesis.WatchChanged = append(genesis.WatchChanged, keyOf(at.K1(), at.K2()))
		return false, nil
	})
}
