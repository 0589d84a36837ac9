package state

import (
	"context"

	"cosmossdk.io/collections"

	"github.com/cosmos/cosmos-sdk/codec"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Tombstones are timers that have left for good, and that state still has entries of, under the keys that they watched. Each
// entry lies at another place, and takes longer to remove than all else that a timer leaves by. So a burst that expires or
// fires in one block leaves its entries to later ones.
type Tombstones struct {
	// timers: seq → what is needed to find the entries.
	timers collections.Map[uint64, types.WatchTombstone]
}

// NewTombstones adds their collection to the schema.
func NewTombstones(cdc codec.BinaryCodec, sb *collections.SchemaBuilder) *Tombstones {
	return &Tombstones{collections.NewMap(sb, types.PrefixTombstones, "watch_tombstones", collections.Uint64Key, codec.CollValue[types.WatchTombstone](cdc))}
}

// removals are what the end of a block may still spend on entries.
type removals struct {
	meter *market.Overhead
	// left: a timer has left its entries to later blocks.
	left bool
}

// take takes the keys of a timer out of the budget.
func (b *removals) take(t *types.Timer, atLeastOne bool) bool {
	keys := len(t.WatchKeys())
	if keys > b.meter.Left(market.RemoveKey) && !atLeastOne {
		return false
	}
	b.meter.Consume(market.RemoveKey, keys)
	return true
}

// removalsOf are those of the steps that run under the context; nil for everybody else.
func removalsOf(ctx context.Context) *removals {
	scope := sandbox.ScopeOf(ctx)
	s, _ := scope.Memory.(*steps)
	if s == nil || scope.Left != nil {
		return nil
	}
	return s.removals
}

// Defer reports whether a timer that leaves has to leave its entries to later blocks, and notes it.
func (s *Tombstones) Defer(ctx context.Context, t *types.Timer) (bool, error) {
	b := removalsOf(ctx)
	if b == nil || len(t.WatchKeys()) == 0 || b.take(t, false) {
		return false, nil
	}
	b.left = true
	return true, s.timers.Set(ctx, t.Seq, types.WatchTombstone{
		Seq: t.Seq, Owner: t.Actor, Since: t.Due, Waited: t.AwaitsChange(), Keys: t.WatchKeys(),
	})
}

// timerOfTombstone is the timer, with what its entries follow from.
func timerOfTombstone(left *types.WatchTombstone) types.Timer {
	t := types.Timer{Actor: left.Owner, Seq: left.Seq, Due: left.Since, Spec: types.TimerSpec{Trigger: types.Trigger{Watch: &types.WatchTrigger{Keys: left.Keys}}}}
	if left.Waited {
		t.HoldReason = types.Watching
	}
	return t
}

// Drain removes the entries of timers that left before, with what is left of the block's budget, and of one timer at least.
// It reports whether there are more. A timer whose entries can't be removed is forgotten.
func (s *Tombstones) Drain(ctx sdk.Context, remove func(ctx context.Context, t *types.Timer) error) (more bool, err error) {
	b := removalsOf(ctx)
	if b == nil {
		return true, nil
	}
	var timers []types.Timer
	err = s.timers.Walk(ctx, nil, func(_ uint64, tombstone types.WatchTombstone) (bool, error) {
		t := timerOfTombstone(&tombstone)
		if more = !b.take(&t, len(timers) == 0); !more {
			timers = append(timers, t)
		}
		return more, nil
	})
	if err != nil {
		return false, err
	}
	for i := range timers {
		t := &timers[i]
		if err := sandbox.Run(ctx, func(ctx sdk.Context) error { return remove(ctx, t) }); err != nil {
			ctx.Logger().Error("the watches of a timer that left can't be removed", "module", types.ModuleName, "seq", t.Seq, "err", err)
		}
		if err := s.timers.Remove(ctx, t.Seq); err != nil {
			return false, err
		}
	}
	return more, nil
}

// HasDeferred reports whether a timer has left its entries to later blocks.
func HasDeferred(ctx context.Context) bool {
	b := removalsOf(ctx)
	return b != nil && b.left
}

// Has reports whether a timer has left, and its entries are still there.
func (s *Tombstones) Has(ctx context.Context, seq uint64) (bool, error) {
	return s.timers.Has(ctx, seq)
}

// Walk passes the timers to fn.
func (s *Tombstones) Walk(ctx context.Context, fn func(t *types.Timer) error) error {
	return s.timers.Walk(ctx, nil, func(_ uint64, tombstone types.WatchTombstone) (bool, error) {
		t := timerOfTombstone(&tombstone)
		return false, fn(&t)
	})
}

// InitGenesis stores those of a genesis state.
func (s *Tombstones) InitGenesis(ctx context.Context, genesis *types.GenesisState) error {
	for _, tombstone := range genesis.WatchTombstones {
		if err := s.timers.Set(ctx, tombstone.Seq, tombstone); err != nil {
			return err
		}
	}
	return nil
}

// EachTombstone passes those of a genesis state to a component, which writes the entries that it has of them.
func EachTombstone(ctx context.Context, genesis *types.GenesisState, inserted func(ctx context.Context, t *types.Timer) error) error {
	for i := range genesis.WatchTombstones {
		t := timerOfTombstone(&genesis.WatchTombstones[i])
		if err := inserted(ctx, &t); err != nil {
			return err
		}
	}
	return nil
}

// ExportGenesis adds them to a genesis state.
func (s *Tombstones) ExportGenesis(ctx context.Context, genesis *types.GenesisState) error {
	return s.timers.Walk(ctx, nil, func(_ uint64, tombstone types.WatchTombstone) (bool, error) {
		genesis.WatchTombstones = append(genesis.WatchTombstones, tombstone)
		return false, nil
	})
}
