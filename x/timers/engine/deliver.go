package engine

import (
	"context"
	"errors"

	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/engine/tags"
	"github.com/cosmos-timers/timers/x/timers/report"
	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/sandbox/meter"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// deliver runs the handler on a branch of state and with a meter of its own, on which the intrinsic cycles are counted
// first. It returns the name of the runtime that served, what is billed, and the error of the handler. A failure drops the handler's writes and events; the
// charge stands. If the gas limit does not cover the intrinsic cycles, nothing is decoded and no handler runs.
func (e *Engine) deliver(
	ctx sdk.Context, b *block, timer *types.Timer, delivery types.Delivery, intrinsic uint64,
) (served string, cycles, cells uint64, failure error) {
	served = report.NoRuntime
	if intrinsic >= timer.GasLimit {
		return served, timer.GasLimit, 0, types.ErrOutOfCycles
	}
	fire := meter.New(timer.GasLimit-intrinsic, timer.CellLimit, ctx.KVGasConfig().WriteCostPerByte)
	failure = sandbox.Run(handlerContext(ctx, fire), func(ctx sdk.Context) error {
		goCtx := context.Context(ctx)
		runtime, err := e.Router.Route(goCtx, delivery.Actor)
		if errors.Is(err, types.ErrUnknownActor) {
			return types.ErrActorGone
		}
		if err != nil {
			return err
		}
		served = report.RuntimeName(runtime)
		messages, err := MessageBytes(&b.Config, runtime, delivery.Call)
		if err != nil {
			return err
		}
		fire.ConsumeGas(b.Config.MessageCyclesPerByte*messages, "messages")
		if err := runtime.Deliver(goCtx, &b.Config, delivery); err != nil {
			return err
		}
		tags.Charge(fire, ctx.EventManager().Events())
		return fire.Exceeded()
	})
	if failure != nil && fire.Exceeded() != nil {
		failure = fire.Exceeded()
	}
	cycles, cells = fire.Used()
	return served, intrinsic + cycles, cells, failure
}

// handlerContext is a fresh context. It has the gas of the fire only, and nothing of a transaction. A mark in it makes
// the module refuse a handler that tries to run timers.
func handlerContext(ctx sdk.Context, fire *meter.Meter) sdk.Context {
	return sandbox.WithinFire(ctx).WithGasMeter(fire).WithBlockGasMeter(storetypes.NewInfiniteGasMeter()).WithTxBytes(nil)
}
