package keeper

import (
	"context"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// LaneState is what the last block left: external tests need it.
func (k *Keeper) LaneState(ctx context.Context) (types.LaneState, error) {
	return k.engine.Lane.Get(ctx)
}
