package engine

import (
	"context"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/engine/tags"
	"github.com/cosmos-timers/timers/x/timers/events"
	"github.com/cosmos-timers/timers/x/timers/fees"
	"github.com/cosmos-timers/timers/x/timers/lane"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// fire settles and executes one selected timer: pre-charge, handler, refund. The timer is removed or made due again
// before its handler runs (recurrence.go), so that it can't fire twice, whatever its handler does. The pre-charge at this
// price is what is required. ErrInsufficientFunds means that nothing was changed. fire runs in a sandbox of its own: any
// other error undoes everything, the pre-charge included.
func (e *Engine) fire(ctx sdk.Context, b *block, timer *types.Timer, price lane.Price, required math.Int) (fireResult, error) {
	// Each conversion to the interface copies the context, which is large.
	goCtx := context.Context(ctx)
	preCharge, payer, err := e.preCharge(goCtx, b, timer, required)
	if err != nil {
		return fireResult{}, err
	}
	payload, intrinsic, err := e.readPayload(ctx, b, timer, payer.Cycles)
	if err != nil {
		return fireResult{}, err
	}
	next, err := e.setNextDue(goCtx, b, timer)
	if err != nil {
		return fireResult{}, err
	}
	if err := e.Records.BeforeHandlers(goCtx); err != nil {
		return fireResult{}, err
	}
	delivery := types.Delivery{
		Call:      timer.CallWith(payload),
		TimerID:   timer.Id,
		DeliverID: types.DeliverID(b.Height, ctx.BlockHeader().AppHash, timer.Id, timer.FireSeq),
		Height:    b.Height,
		Due:       next.due(timer),
		Scheduler: timer.Scheduler,
		Trigger:   e.Triggers.Of(&timer.Trigger).Name(),
		FireSeq:   timer.FireSeq,
		Matched:   next.hit.Matched,
	}
	served, cycles, cells, failure := e.deliver(ctx, b, timer, delivery, intrinsic)
	cycles = b.billedCycles(timer, cycles)

	settlement := price.Settle(preCharge, cycles, cells)
	if err := e.refund(goCtx, b, timer, &payer, preCharge, settlement.Refund); err != nil {
		return fireResult{}, err
	}
	receipt := types.Receipt{
		TimerId: timer.Id, DeliverId: delivery.DeliverID, Actor: timer.Actor, FireSeq: timer.FireSeq,
		Success: failure == nil, Cycles: cycles, Cells: cells, Paid: settlement.Charged, Tip: settlement.Tip,
		Matched: next.hit.Matched, Late: b.Height - delivery.Due, ScoreBid: lumpSumPaid(price),
	}
	if failure != nil {
		receipt.Codespace, receipt.Code = types.CodeOf(failure)
	}
	survivor, err := e.afterFire(goCtx, b, timer, next, &receipt)
	if err != nil {
		return fireResult{}, err
	}
	fired := e.firedEvent(b, timer, survivor, &receipt, settlement)
	tags.Add(ctx.EventManager().Events(), fired.Id, fired.DeliverId)
	return fireResult{receipt, served, price, settlement, survivor == nil}, events.Emit(goCtx, fired)
}

// preCharge takes the most that a fire can cost. What was charged for the call of the timer's agent counts toward it. It
// returns what is held for the fire, which may be more if the call cost more than the fire can, and the payer.
func (e *Engine) preCharge(
	ctx context.Context, b *block, timer *types.Timer, amount math.Int,
) (held math.Int, payer fees.Payer, err error) {
	charged := b.Agents.ChargedFor(timer)
	if charged.IsZero() {
		payer, err = b.funds.PreCharge(ctx, timer, amount)
		return amount, payer, err
	}
	missing := math.MaxInt(math.ZeroInt(), amount.Sub(charged))
	payer, err = b.funds.PreCharge(ctx, timer, missing)
	return charged.Add(missing), payer, err
}

// refund returns what is left of what was held for the fire. The call of the timer's agent has been settled.
func (e *Engine) refund(ctx context.Context, b *block, timer *types.Timer, payer *fees.Payer, held, refund math.Int) error {
	return e.Fees.RefundTo(ctx, &b.Config, timer, payer, less(held, b.Agents.ChargedFor(timer)), refund)
}

// less is an amount without what was charged, which most often is nothing.
func less(amount, charged math.Int) math.Int {
	if charged.IsZero() {
		return amount
	}
	return amount.Sub(charged)
}

// lumpSumPaid is what a fire at this price pays for its place, nil for 0.
func lumpSumPaid(price lane.Price) *math.Int {
	if price.LumpSum.IsNil() || price.LumpSum.IsZero() {
		return nil
	}
	paid := price.LumpSum
	return &paid
}
