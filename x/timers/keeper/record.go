package keeper

import (
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// cursorLag is how many blocks the stored cursors may fall behind while nothing happens: a quiet block writes nothing,
// and a scan still never passes over more than what was cancelled in so many blocks.
const cursorLag = 100

// deferRest leaves the rest ready. Deferral touches nothing: a timer that stays is a key that stays (SPEC §4).
func (k *Keeper) deferRest(ctx sdk.Context, b *block) error {
	if !b.storm {
		b.deferred = uint32(len(b.ready)) - b.left
		return nil
	}
	admitted, _, err := findItem(ctx, k.state.admitted)
	b.deferred = uint32(int64(admitted) + b.admitted)
	return err
}

// record writes what this block leaves to the next (SPEC §4, step 10).
func (k *Keeper) record(ctx sdk.Context, b *block) error {
	if b.config.ReceiptRetentionBlocks > 0 {
		if err := k.putReceipts(ctx, b.height, b.receipts); err != nil {
			return err
		}
	}
	if err := k.pruneReceipts(ctx, b); err != nil {
		return err
	}
	b.state.Cycles, b.state.Cells = b.lane.Cycles, b.lane.Cells
	b.state.Burned = b.before.Burned.Add(b.burned)
	b.state.Tips = b.before.Tips.Add(b.tips)
	if err := k.changeAdmitted(ctx, b.admitted); err != nil {
		return err
	}
	b.recordMarket()
	if b.changed() {
		if err := k.state.lane.Set(ctx, b.state); err != nil {
			return err
		}
	}
	countBlock(b)
	return k.emit(ctx, b.summary())
}

// changed tells whether the lane's state must be written. Cursors alone that moved on a little need not be: an older one is
// as true.
func (b *block) changed() bool {
	after, before := b.state, b.before
	if b.height < before.Live.Due+cursorLag && len(b.ready) == 0 && b.expiredOut == 0 && !b.storm && !after.Head.Before(before.Head) {
		after.Head, after.Live = before.Head, before.Live
	}
	return !after.Equal(before)
}

// summary is the one event of the block.
func (b *block) summary() *types.TimerLaneSummary {
	return &types.TimerLaneSummary{
		Height:      b.height,
		Fired:       uint32(len(b.receipts)),
		Failed:      b.failed,
		Expired:     b.expiredOut,
		Unfunded:    b.unfunded,
		SetAside:    b.setAside,
		Deferred:    b.deferred,
		Cycles:      b.lane.Cycles,
		Cells:       b.lane.Cells,
		GcCycles:    b.cleanup.Cycles,
		LaneBasefee: b.prices.Lane.String(),
		Burned:      b.burned.String(),
		Tips:        b.tips.String(),
		Policy:      b.config.PolicyAt(b.height),
		P50:         b.prices.P50.String(),
		Storm:       b.storm,
		AgentCycles: b.agents.cycles,
		Unasked:     b.agents.unasked,
	}
}
