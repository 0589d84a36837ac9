package engine

import (
	"slices"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/state"
)

// medianTip is the median tip of fires, weighted by their sizes: the least tip at which half of the size paid as much or
// less. It is 0 if there are none.
func medianTip(fires []tipped) math.LegacyDec {
	sorted, total := slices.Clone(fires), uint64(0)
	slices.SortStableFunc(sorted, func(a, b tipped) int { return a.priority.BigIntMut().Cmp(b.priority.BigIntMut()) })
	for _, fire := range sorted {
		total += fire.size
	}
	reached := uint64(0)
	for _, fire := range sorted {
		if reached += fire.size; 2*reached >= total {
			return fire.priority
		}
	}
	return math.LegacyZeroDec()
}

// nextP50 is the usual tip in the next block (x/timers/README.md, "1.8 Bid"). If no willing timer waits for room, tips
// bought nothing in this block. Then the usual tip falls to half at least, so that tips paid once do not stay the price
// of an idle lane.
func (b *block) nextP50() math.LegacyDec {
	median := medianTip(b.tipped)
	if b.Waiting {
		return median
	}
	return math.LegacyMinDec(median, b.Before.P50.QuoInt64(2))
}

// noteWaiting notes whether a timer that is passed over waits for room: one that is willing to pay, and no larger than
// the default. A larger one could not fire even if nobody else bid.
func (e *Engine) noteWaiting(ctx sdk.Context, b *block, turn policies.Turn, why policies.Skip) error {
	if b.Waiting || !why.NoRoom || why.Capped || b.SizeOf(turn.Timer) > e.defaultSize(b) {
		return nil
	}
	timer := turn.Timer
	if !turn.Fresh {
		current, found, err := e.Records.InQueue(ctx, state.KeyOf(timer.Due, timer.Seq))
		if err != nil || !found || current.ExpiredAt(b.Height) {
			return err
		}
		timer = &current
	}
	_, b.Waiting = b.rules.Price(b.Prices, b.round.Candidate(ctx, timer))
	return nil
}

// defaultSize is the size that a timer reserves which states no limits.
func (e *Engine) defaultSize(b *block) uint64 {
	return b.Lane.Size(e.Policies.DefaultGasLimit(&b.Config, b.Height), b.Config.CellLimit())
}
