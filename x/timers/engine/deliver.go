package engine

import (
	"context"
	"errors"

	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/report"
	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// run is the run of one fire's handler, on a meter of its own.
type run struct {
	meter *sandbox.Meter
	// intrinsic cycles are counted before anything that is metered.
	intrinsic uint64
	// served is the name of the runtime that served.
	served string
	// guarded: a condition of only_if does not hold, so that the handler is not run. failure is its error, or that of the conditions.
	guarded bool
	failure error
}

// begin reads the conditions of a timer's only_if, on the cycles of the fire and on the state before its pre-charge, so that a
// condition on the payer's balance means what the payer sees. If the gas limit does not cover the intrinsic cycles, nothing is
// read.
func (e *Engine) begin(before sdk.Context, timer *types.Timer, intrinsic uint64) *run {
	r := &run{served: report.NoRuntime, intrinsic: min(intrinsic, timer.GasLimit)}
	r.meter = sandbox.NewMeter(timer.GasLimit-r.intrinsic, timer.CellLimit, before.KVGasConfig().WriteCostPerByte)
	if r.intrinsic == timer.GasLimit {
		r.failure = types.ErrOutOfCycles
		return r
	}
	if len(timer.OnlyIf) == 0 {
		return r
	}
	r.failure = sandbox.Probe(handlerContext(before, r.meter), func(ctx sdk.Context) error {
		for _, key := range timer.OnlyIf {
			holds, err := e.Watches.Watcher().Holds(ctx, key)
			if err != nil {
				return err
			}
			if !holds {
				r.guarded = true
				return nil
			}
		}
		return nil
	})
	r.guarded = r.guarded && r.failure == nil
	return r
}

// used is what is billed.
func (r *run) used() (cycles, cells uint64) {
	cycles, cells = r.meter.Used()
	return r.intrinsic + cycles, cells
}

// deliver runs the handler on a branch of state, unless a condition did not hold or could not be read. A failure drops the
// handler's writes and events; the charge stands.
func (e *Engine) deliver(ctx sdk.Context, b *block, delivery types.Delivery, r *run) {
	if r.guarded || r.failure != nil {
		return
	}
	var runtime types.Runtime
	failure := sandbox.Run(handlerContext(ctx, r.meter), func(ctx sdk.Context) (err error) {
		goCtx := context.Context(ctx)
		runtime, err = e.Router.Route(goCtx, delivery.Actor)
		if errors.Is(err, types.ErrUnknownActor) {
			return types.ErrActorGone
		}
		if err != nil {
			return err
		}
		r.served = report.RuntimeName(runtime)
		messages, err := MessageBytes(&b.Config, runtime, delivery.Call)
		if err != nil {
			return err
		}
		r.meter.ConsumeGas(b.Config.MessageCyclesPerByte*messages, "messages")
		if err := runtime.Deliver(goCtx, &b.Config, delivery); err != nil {
			return err
		}
		chargeEvents(r.meter, ctx.EventManager().Events())
		return r.meter.Exceeded()
	})
	if failure != nil && r.meter.Exceeded() != nil {
		failure = r.meter.Exceeded()
	}
	r.failure = failure
	if reporter, reports := runtime.(types.FailureReporter); reports && failure != nil {
		cycles, cells := r.used()
		meter := *r.meter
		// What a panic leaves is dropped, and the fire is settled.
		_ = sandbox.Run(handlerContext(ctx, &meter), func(ctx sdk.Context) error {
			reporter.Failed(ctx, delivery, cycles, cells, failure)
			return nil
		})
	}
}

// handlerContext is a fresh context. It has the gas of the fire only, and nothing of a transaction. A mark in it makes
// the module refuse a handler that tries to run timers.
func handlerContext(ctx sdk.Context, fire *sandbox.Meter) sdk.Context {
	return sandbox.WithinFire(ctx).WithGasMeter(fire).WithBlockGasMeter(storetypes.NewInfiniteGasMeter()).WithTxBytes(nil)
}
