// Package leavers bounds what a block removes of the timers that watched keys and have left for good
// (x/timers/README.md, "1.10 Watch").
package leavers

import (
	"context"

	"cosmossdk.io/collections"

	"github.com/cosmos/cosmos-sdk/codec"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/overhead"
	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Leavers are timers that have left for good, and that state still has entries of, under the keys that they watched. Each
// entry lies at another place, and takes longer to remove than all else that a timer leaves by. So a crowd that expires or
// fires in one block leaves its entries to later ones.
type Leavers struct {
	// timers: seq → what is needed to find the entries.
	timers collections.Map[uint64, types.WatchLeaver]
}

// New adds their collection to the schema.
func New(cdc codec.BinaryCodec, sb *collections.SchemaBuilder) *Leavers {
	return &Leavers{collections.NewMap(sb, types.PrefixLeavers, "watch_leavers", collections.Uint64Key, codec.CollValue[types.WatchLeaver](cdc))}
}

// budget is what the end of a block may still spend on entries.
type budget struct {
	meter *overhead.Meter
	// left: a timer has left its entries to later blocks.
	left bool
}

// take takes the keys of a timer out of the budget.
func (b *budget) take(t *types.Timer, atLeastOne bool) bool {
	keys := len(t.WatchKeys())
	if keys > b.meter.Left(overhead.RemoveKey) && !atLeastOne {
		return false
	}
	b.meter.Consume(overhead.RemoveKey, keys)
	return true
}

type budgetKey struct{}

// WithBudget gives the end of a block a budget. Who removes a timer without one, such as a transaction, pays for it and
// removes its entries too.
func WithBudget(ctx sdk.Context, meter *overhead.Meter) sdk.Context {
	return ctx.WithValue(budgetKey{}, &budget{meter: meter})
}

func budgetOf(ctx context.Context) *budget {
	b, _ := ctx.Value(budgetKey{}).(*budget)
	if sandbox.IsWithinFire(ctx) {
		return nil
	}
	return b
}

// Defer reports whether a timer that leaves has to leave its entries to later blocks, and notes it.
func (l *Leavers) Defer(ctx context.Context, t *types.Timer) (bool, error) {
	b := budgetOf(ctx)
	if b == nil || len(t.WatchKeys()) == 0 || b.take(t, false) {
		return false, nil
	}
	b.left = true
	return true, l.timers.Set(ctx, t.Seq, types.WatchLeaver{
		Seq: t.Seq, Owner: t.Actor, Since: t.Due, Waited: t.HoldReason == types.Watching, Keys: t.WatchKeys(),
	})
}

// timerOf is the timer, with what its entries follow from.
func timerOf(l *types.WatchLeaver) types.Timer {
	t := types.Timer{Actor: l.Owner, Seq: l.Seq, Due: l.Since, Trigger: types.Trigger{Watch: &types.WatchTrigger{Keys: l.Keys}}}
	if l.Waited {
		t.HoldReason = types.Watching
	}
	return t
}

// Sweep removes the entries of timers that left before, with what is left of the block's budget, and of one timer at least.
// It reports whether there are more. A timer whose entries can't be removed is forgotten.
func (l *Leavers) Sweep(ctx sdk.Context, remove func(ctx context.Context, t *types.Timer) error) (more bool, err error) {
	b := budgetOf(ctx)
	if b == nil {
		return true, nil
	}
	var timers []types.Timer
	err = l.timers.Walk(ctx, nil, func(_ uint64, leaver types.WatchLeaver) (bool, error) {
		t := timerOf(&leaver)
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
		if err := l.timers.Remove(ctx, t.Seq); err != nil {
			return false, err
		}
	}
	return more, nil
}

// Left reports whether a timer has left its entries to later blocks.
func Left(ctx context.Context) bool {
	b := budgetOf(ctx)
	return b != nil && b.left
}

// Has reports whether a timer has left, and its entries are still there.
func (l *Leavers) Has(ctx context.Context, seq uint64) (bool, error) { return l.timers.Has(ctx, seq) }

// Walk passes the timers to fn.
func (l *Leavers) Walk(ctx context.Context, fn func(t *types.Timer) error) error {
	return l.timers.Walk(ctx, nil, func(_ uint64, leaver types.WatchLeaver) (bool, error) {
		t := timerOf(&leaver)
		return false, fn(&t)
	})
}

// InitGenesis stores those of a genesis state.
func (l *Leavers) InitGenesis(ctx context.Context, genesis *types.GenesisState) error {
	for _, leaver := range genesis.WatchLeavers {
		if err := l.timers.Set(ctx, leaver.Seq, leaver); err != nil {
			return err
		}
	}
	return nil
}

// Each passes those of a genesis state to a component, which writes the entries that it has of them.
func Each(ctx context.Context, genesis *types.GenesisState, inserted func(ctx context.Context, t *types.Timer) error) error {
	for i := range genesis.WatchLeavers {
		t := timerOf(&genesis.WatchLeavers[i])
		if err := inserted(ctx, &t); err != nil {
			return err
		}
	}
	return nil
}

// ExportGenesis adds them to a genesis state.
func (l *Leavers) ExportGenesis(ctx context.Context, genesis *types.GenesisState) error {
	return l.timers.Walk(ctx, nil, func(_ uint64, leaver types.WatchLeaver) (bool, error) {
		genesis.WatchLeavers = append(genesis.WatchLeavers, leaver)
		return false, nil
	})
}
