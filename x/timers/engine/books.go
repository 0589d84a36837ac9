package engine

import (
	"slices"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/lane"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// fireResult is what one fire did, for the block's books.
type fireResult struct {
	receipt    types.Receipt
	price      lane.Price
	settlement lane.Settlement
}

// books sum up the fires and the cleanup of one block.
type books struct {
	// receipts of the fires, in their order.
	receipts []*types.Receipt
	// firesOf counts fires by actor, actors names them in the order of their first fire. Maps are looked up, never
	// ranged over.
	firesOf map[string]uint32
	actors  []sdk.AccAddress
	// priorities are what the fires paid per cycle as tips, in their order.
	priorities []math.LegacyDec
	// burned and tips are the sums of the fires.
	burned, tips math.Int
	// failed counts fires whose handler failed. expired, unfunded and setAside count the timers with that outcome,
	// deferred those that stay ready.
	failed, expired, unfunded, setAside, deferred uint32
}

func newBooks() books {
	return books{firesOf: map[string]uint32{}, burned: math.ZeroInt(), tips: math.ZeroInt()}
}

// mayFire reports whether MAX_FIRES_PER_ACTOR allows the actor another fire in this block.
func (b *books) mayFire(config *types.TimerConfig, actor sdk.AccAddress) bool {
	return config.MaxFiresPerActor == 0 || b.firesOf[string(actor)] < config.MaxFiresPerActor
}

// book enters a fire and returns its receipt.
func (b *books) book(actor sdk.AccAddress, result fireResult) *types.Receipt {
	if b.firesOf[string(actor)]++; b.firesOf[string(actor)] == 1 {
		b.actors = append(b.actors, actor)
	}
	b.priorities = append(b.priorities, result.price.Priority)
	b.receipts = append(b.receipts, &result.receipt)
	b.burned = b.burned.Add(result.settlement.Burned)
	b.tips = b.tips.Add(result.settlement.Tip)
	if !result.receipt.Success {
		b.failed++
	}
	return &result.receipt
}

// p50 is the median tip per cycle of the block's fires, the lower of the two middle ones; 0 if there are none.
func (b *books) p50() math.LegacyDec {
	if len(b.priorities) == 0 {
		return math.LegacyZeroDec()
	}
	tips := slices.Clone(b.priorities)
	slices.SortFunc(tips, func(a, b math.LegacyDec) int { return a.BigIntMut().Cmp(b.BigIntMut()) })
	return tips[(len(tips)-1)/2]
}

// fires by actor, in the order of their first fire.
func (b *books) fires() []state.ActorFires {
	fires := make([]state.ActorFires, len(b.actors))
	for i, actor := range b.actors {
		fires[i] = state.ActorFires{Actor: actor, Fires: b.firesOf[string(actor)]}
	}
	return fires
}

// settled are the receipts as they are stored.
func (b *books) settled() []types.Receipt {
	receipts := make([]types.Receipt, len(b.receipts))
	for i, receipt := range b.receipts {
		receipts[i] = *receipt
	}
	return receipts
}
