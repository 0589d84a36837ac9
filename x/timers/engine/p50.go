package engine

import (
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/state"
)

// noteWaiting notes whether a timer that is passed over waits for room: one that is willing to pay, and no larger than
// the default. A larger one could not fire even if no one else bid.
func (e *Engine) noteWaiting(ctx sdk.Context, b *block, turn policies.Turn, why policies.Skip) error {
	if b.Waiting || !why.NoRoom || why.Capped || b.SizeOf(turn.Timer) > e.defaultSize(b) {
		return nil
	}
	timer := turn.Timer
	if !turn.Fresh {
		current, found, err := e.Records.InQueue(ctx, state.KeyOf(timer.Due, timer.Seq))
		if err != nil || !found || current.ExpiredAt(b.Now()) {
			return err
		}
		timer = &current
	}
	_, b.Waiting = b.round.Price(timer)
	return nil
}

// defaultSize is the size that a timer reserves which states no limits.
func (e *Engine) defaultSize(b *block) uint64 {
	return b.Lane.Size(e.Policies.DefaultGasLimit(&b.Config, b.Height), b.Config.CellLimit())
}
