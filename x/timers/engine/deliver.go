package engine

import (
	"errors"

	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// deliver runs the handler on a branch of state and with a meter of its own, and returns what is billed and why it failed, if
// it did. A failure drops the handler's writes and events; the charge stands.
func (e *Engine) deliver(
	ctx sdk.Context, b *block, delivery types.Delivery, maxCycles uint64,
) (cycles, cells uint64, failure error) {
	meter := newFireMeter(maxCycles, b.Config.MaxCellsPerFire, ctx.KVGasConfig().WriteCostPerByte)
	failure = sandbox.Run(handlerContext(ctx, meter), func(ctx sdk.Context) error {
		runtime, err := e.Router.Route(ctx, delivery.Actor)
		if errors.Is(err, types.ErrUnknownActor) {
			return types.ErrActorGone
		}
		if err != nil {
			return err
		}
		if err := runtime.Deliver(ctx, &b.Config, delivery); err != nil {
			return err
		}
		return meter.exceeded
	})
	if failure != nil && meter.exceeded != nil {
		failure = meter.exceeded
	}
	cycles, cells = meter.used()
	return cycles, cells, failure
}

// handlerContext is a fresh context: no gas but the fire's own, nothing of a transaction, and a mark by which a handler that
// tries to run timers is refused.
func handlerContext(ctx sdk.Context, meter *fireMeter) sdk.Context {
	return sandbox.WithinFire(ctx).WithGasMeter(meter).WithBlockGasMeter(storetypes.NewInfiniteGasMeter()).WithTxBytes(nil)
}
