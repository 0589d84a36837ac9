package keeper

import (
	"context"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// What external tests need of the inside: the pages of an actor's record, and the lane's state.

// AddEntry adds an entry to an actor's pages.
func (k *Keeper) AddEntry(ctx context.Context, actor sdk.AccAddress, entry types.ActorEntry, maxTimers uint32) error {
	return k.engine.Actors.AddEntry(ctx, actor, entry, maxTimers)
}

// ActorPage reads a page of an actor.
func (k *Keeper) ActorPage(ctx context.Context, actor sdk.AccAddress, page uint16) (types.ActorPage, error) {
	return k.engine.Actors.Page(ctx, actor, page)
}

// LaneState is what the last block left.
func (k *Keeper) LaneState(ctx context.Context) (types.LaneState, error) {
	return k.engine.Lane.Get(ctx)
}

// DropActorPage breaks an invariant: the actor's first page is gone while its timers are there.
func (k *Keeper) DropActorPage(ctx context.Context, actor sdk.AccAddress) error {
	return k.engine.Actors.SetPage(ctx, actor, 0, types.ActorPage{})
}

// RestoreActorPages writes the records of actors that have none anew.
func (k *Keeper) RestoreActorPages(ctx context.Context) error {
	timers, err := k.engine.Records.All(ctx)
	if err != nil {
		return err
	}
	for i := range timers {
		if _, err := k.engine.Records.Lookup(ctx, timers[i].Actor, timers[i].Id); err == nil {
			continue
		}
		if err := k.AddEntry(ctx, timers[i].Actor, state.EntryOf(&timers[i]), state.Unlimited); err != nil {
			return err
		}
	}
	return nil
}
