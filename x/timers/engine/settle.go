package engine

import (
	"errors"

	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/lane"
	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// fireResult is what one fire did, for the block's books.
type fireResult struct {
	receipt    types.Receipt
	price      lane.Price
	settlement lane.Settlement
}

// fire settles and executes one timer that was selected: pre-charge, handler, refund. The timer is removed or made due again
// before its handler runs (recurrence.go), so that it can't fire again whatever its handler does. ErrInsufficientFunds means
// that nothing happened. It runs in a sandbox of its own: any other error leaves no trace, the pre-charge included.
func (e *Engine) fire(ctx sdk.Context, b *block, timer *types.Timer, price lane.Price) (fireResult, error) {
	preCharge := price.Cost(timer.GasLimit, b.Config.MaxCellsPerFire)
	if err := e.Fees.PreCharge(ctx, &b.Config, timer, preCharge); err != nil {
		return fireResult{}, err
	}
	payload, err := e.Records.Payload(ctx, timer)
	if err != nil {
		return fireResult{}, err
	}
	next, err := e.setNextDue(ctx, b, timer)
	if err != nil {
		return fireResult{}, err
	}

	delivery := types.Delivery{
		Call:      types.Call{Actor: timer.Actor, Handler: timer.HandlerName(), Payload: payload},
		TimerID:   timer.Id,
		DeliverID: types.DeliverID(b.Height, ctx.BlockHeader().AppHash, timer.Id, timer.FireSeq),
		Height:    b.Height,
		FireSeq:   timer.FireSeq,
		Matched:   next.hit.Matched,
	}
	cycles, cells, failure := e.deliver(ctx, b, delivery, timer.GasLimit-b.Config.FireBaseCycles)
	cycles = b.billedCycles(timer, cycles)

	settlement := price.Settle(preCharge, cycles, cells)
	if err := e.Fees.Refund(ctx, &b.Config, timer, settlement); err != nil {
		return fireResult{}, err
	}
	receipt := types.Receipt{
		TimerId: timer.Id, DeliverId: delivery.DeliverID, Actor: timer.Actor, FireSeq: timer.FireSeq,
		Success: failure == nil, Cycles: cycles, Cells: cells, Paid: settlement.Charged, Tip: settlement.Tip,
		Matched: next.hit.Matched, ScoreBid: lumpSumPaid(price),
	}
	if failure != nil {
		receipt.Codespace, receipt.Code = types.CodeOf(failure)
	}
	survivor, err := e.afterFire(ctx, b, timer, next, &receipt)
	if err != nil {
		return fireResult{}, err
	}
	ctx.EventManager().EmitEvent(typedFired(e.firedEvent(b, timer, survivor, &receipt, settlement)))
	return fireResult{receipt, price, settlement}, nil
}

// billedCycles is what a fire is billed for its handler's cycles: the intrinsic ones and those of its agent's call come on
// top, up to its gas limit, for which it was pre-charged.
func (b *block) billedCycles(t *types.Timer, handler uint64) uint64 {
	return min(handler+b.Config.FireBaseCycles+b.Agents.CyclesFor(t), t.GasLimit)
}

// lumpSumPaid is what a fire at this price pays for its place, nil for nothing.
func lumpSumPaid(price lane.Price) *math.Int {
	if price.LumpSum.IsNil() || price.LumpSum.IsZero() {
		return nil
	}
	paid := price.LumpSum
	return &paid
}

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
