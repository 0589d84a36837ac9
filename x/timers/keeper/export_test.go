package keeper

import (
	"context"

	"cosmossdk.io/collections"
	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/lane"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// What external tests need of the inside: the meter, the pages of an actor's record, and a fire at a price that policy
// fifo never asks.

const (
	FirstPageEntries    = firstPageEntries
	OverflowPages       = overflowPages
	OverflowPageEntries = overflowPageEntries
	CursorLag           = cursorLag
	MaxPageEntries      = maxPageEntries
)

// FireMeter is a gas meter that tells what is billed.
type FireMeter interface {
	storetypes.GasMeter
	Used() (cycles, cells uint64)
	Exceeded() error
}

func (m *fireMeter) Used() (cycles, cells uint64) { return m.used() }
func (m *fireMeter) Exceeded() error              { return m.exceeded }

func NewFireMeter(maxCycles, maxCells, writeCostPerByte uint64) FireMeter {
	return newFireMeter(maxCycles, maxCells, writeCostPerByte)
}

func (k *Keeper) AddEntry(ctx context.Context, actor sdk.AccAddress, entry types.ActorEntry, maxTimers uint32) error {
	return k.addEntry(ctx, actor, entry, maxTimers)
}

func (k *Keeper) ActorPage(ctx context.Context, actor sdk.AccAddress, page uint16) (types.ActorPage, error) {
	return k.actorPage(ctx, actor, page)
}

func (k *Keeper) LaneState(ctx context.Context) (types.LaneState, error) {
	return k.state.lane.Get(ctx)
}

// FireAt fires one timer at a price and pays out, as the end of a block does with those that it selects.
func (k *Keeper) FireAt(ctx sdk.Context, actor sdk.AccAddress, id []byte, price lane.Price) (types.Receipt, lane.Settlement, error) {
	timer, err := k.lookup(ctx, actor, id)
	if err != nil {
		return types.Receipt{}, lane.Settlement{}, err
	}
	b, err := k.newBlock(ctx)
	if err != nil {
		return types.Receipt{}, lane.Settlement{}, err
	}
	result, err := k.fire(ctx, b, &timer, price)
	if err != nil {
		return types.Receipt{}, lane.Settlement{}, err
	}
	b.book(timer.Actor, result)
	if err := k.payOut(ctx, b); err != nil {
		return types.Receipt{}, lane.Settlement{}, err
	}
	b.state.Burned, b.state.Tips = b.before.Burned.Add(b.burned), b.before.Tips.Add(b.tips)
	return result.receipt, result.settlement, k.state.lane.Set(ctx, b.state)
}

// DropActorPage breaks an invariant: the actor's first page is gone while its timers are there.
func (k *Keeper) DropActorPage(ctx context.Context, actor sdk.AccAddress) error {
	return k.state.actors.Remove(ctx, collections.Join(actor, uint16(0)))
}

// RestoreActorPages writes the records of actors that have none anew.
func (k *Keeper) RestoreActorPages(ctx context.Context) error {
	timers, err := k.records(ctx)
	if err != nil {
		return err
	}
	for i := range timers {
		if _, err := k.lookup(ctx, timers[i].Actor, timers[i].Id); err == nil {
			continue
		}
		if err := k.addEntry(ctx, timers[i].Actor, entryOf(&timers[i]), ^uint32(0)); err != nil {
			return err
		}
	}
	return nil
}
