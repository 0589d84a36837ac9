package keeper

import (
	"context"

	"cosmossdk.io/collections"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// CountTimers counts the live timers at the end of a block, and those of them that are due and wait for the lane. It
// reads every actor's first page and the whole backlog: tests and the lab call it between blocks; no block does.
func (k *Keeper) CountTimers(ctx context.Context) (live, ready uint64, err error) {
	err = k.state.actors.Walk(ctx, nil, func(_ collections.Pair[sdk.AccAddress, uint16], page types.ActorPage) (bool, error) {
		live += uint64(page.Timers)
		return false, nil
	})
	if err != nil {
		return 0, 0, err
	}
	now := heightOf(ctx)
	err = k.state.queue.Walk(ctx, nil, func(key collections.Pair[uint64, uint64], t types.Timer) (bool, error) {
		if statusOf(&t, now) == types.TimerStatusReady {
			ready++
		}
		return key.K1() > now, nil
	})
	return live, ready, err
}
