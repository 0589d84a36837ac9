package engine

import (
	"math/big"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/report"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// fireResult is what one fire did, for the block's totals.
type fireResult struct {
	// ran: the handler was called, so that the fire is charged whatever fails afterwards.
	ran     bool
	receipt types.Receipt
	// runtime is the name of what served the actor.
	runtime    string
	price      market.Price
	settlement market.Settlement
	// left: the timer has left for good.
	left bool
}

// total is a sum that grows in place: the sums of integers are copies, one for each addition.
type total struct{ sum big.Int }

func (t *total) add(amount math.Int) { t.sum.Add(&t.sum, amount.BigIntMut()) }

func (t *total) amount() math.Int { return math.NewIntFromBigInt(&t.sum) }

// totals sum up the fires and the cleanup of one block.
type totals struct {
	// made are the fires, in their order.
	made []report.Fire
	// firesOf counts fires by actor, actors names them in the order of their first fire. Maps are looked up, never
	// ranged over.
	firesOf map[string]uint32
	actors  []sdk.AccAddress
	// tipped is what the fires paid per unit of size as tips, in their order.
	tipped []market.Tipped
	// burned, laneBurned and tips are the sums of the fires.
	burned, laneBurned, tips total
	// outcomes counts the fires whose handler failed, and those that ran none; and the timers whose turn came, by what became of it.
	outcomes struct {
		failed, guarded uint32
		turns           types.Verdicts
	}
	// expired, unfunded and notAdmin count the timers that left so, deferred those that stay ready.
	expired, unfunded, notAdmin, deferred uint32
	// held and released are the reasons of the timers that were put on hold, and of those that returned.
	held, released []types.HoldReason
	// watchHits counts the watches that a change was found for.
	watchHits uint64
}

func newTotals() totals {
	return totals{firesOf: map[string]uint32{}}
}

// noteHeld books a timer that was on hold.
func (b *totals) noteHeld(ctx sdk.Context, timer *types.Timer, reason types.HoldReason) {
	b.held = append(b.held, reason)
	report.LogTimer(ctx.Logger(), timer, "a timer was put on hold", "reason", reason)
}

// noteTurn books the turn of a timer that does not fire.
func (b *totals) noteTurn(ctx sdk.Context, timer *types.Timer, verdict types.Verdict) {
	b.outcomes.turns[verdict]++
	report.LogTimer(ctx.Logger(), timer, "a timer does not fire", "verdict", verdict.Word())
}

// mayFire reports whether MAX_FIRES_PER_ACTOR allows the actor another fire in this block.
func (b *totals) mayFire(config *types.TimerConfig, actor sdk.AccAddress) bool {
	return config.MaxFiresPerActor == 0 || b.firesOf[string(actor)] < config.MaxFiresPerActor
}

// book enters a fire and returns its receipt.
func (b *totals) book(actor sdk.AccAddress, result fireResult) *types.Receipt {
	if b.firesOf[string(actor)]++; b.firesOf[string(actor)] == 1 {
		b.actors = append(b.actors, actor)
	}
	size := result.price.Capacity.Size(result.receipt.Cycles, result.receipt.Cells)
	b.tipped = append(b.tipped, market.Tipped{Priority: result.price.Priority, Size: size})
	b.made = append(b.made, report.Fire{Receipt: &result.receipt, Runtime: result.runtime})
	b.burned.add(result.settlement.Burned)
	b.laneBurned.add(result.settlement.LaneBurned)
	b.tips.add(result.settlement.Tip)
	switch r := &result.receipt; {
	case r.Guarded:
		b.outcomes.guarded++
	case !r.Success:
		b.outcomes.failed++
	}
	return &result.receipt
}

// fires by actor, in the order of their first fire.
func (b *totals) fires() []state.ActorFires {
	fires := make([]state.ActorFires, len(b.actors))
	for i, actor := range b.actors {
		fires[i] = state.ActorFires{Actor: actor, Fires: b.firesOf[string(actor)]}
	}
	return fires
}

// settled are the receipts as they are stored.
func (b *totals) settled() []types.Receipt {
	receipts := make([]types.Receipt, len(b.made))
	for i, fire := range b.made {
		receipts[i] = *fire.Receipt
	}
	return receipts
}
