package keeper

import (
	"errors"

	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/lane"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// fireResult is what one fire did, for the block's books.
type fireResult struct {
	receipt    types.Receipt
	price      lane.Price
	settlement lane.Settlement
}

// fire settles and executes one timer that was selected (SPEC §5): pre-charge, handler, refund. The timer is removed or
// rolled before its handler runs (repeat.go), so that it can't fire again whatever its handler does. ErrInsufficientFunds
// means that nothing happened. It runs in a sandbox of its own: any other error leaves no trace, the pre-charge included.
func (k *Keeper) fire(ctx sdk.Context, b *block, timer *types.Timer, price lane.Price) (fireResult, error) {
	preCharge := price.Cost(timer.GasLimit, b.config.MaxCellsPerFire)
	if err := k.preCharge(ctx, b, timer, preCharge); err != nil {
		return fireResult{}, err
	}
	payload, err := k.payloadOf(ctx, timer)
	if err != nil {
		return fireResult{}, err
	}
	roll, err := k.roll(ctx, b, timer)
	if err != nil {
		return fireResult{}, err
	}

	delivery := types.Delivery{
		Call:      types.Call{Actor: timer.Actor, Handler: timer.HandlerName(), Payload: payload},
		TimerID:   timer.Id,
		DeliverID: types.DeliverID(b.height, ctx.BlockHeader().AppHash, timer.Id, timer.FireSeq),
		Height:    b.height,
		FireSeq:   timer.FireSeq,
		Matched:   roll.hit.Matched,
	}
	cycles, cells, failure := k.deliver(ctx, b, delivery, timer.GasLimit-b.config.FireBaseCycles)
	cycles = b.billedCycles(timer, cycles)

	settlement := price.Settle(preCharge, cycles, cells)
	if err := k.refund(ctx, b, timer, settlement); err != nil {
		return fireResult{}, err
	}
	receipt := types.Receipt{
		TimerId: timer.Id, DeliverId: delivery.DeliverID, Actor: timer.Actor, FireSeq: timer.FireSeq,
		Success: failure == nil, Cycles: cycles, Cells: cells, Paid: settlement.Charged, Tip: settlement.Tip,
		Matched: roll.hit.Matched, ScoreBid: bidPaid(price),
	}
	if failure != nil {
		receipt.Codespace, receipt.Code = codeOf(failure)
	}
	next, err := k.afterFire(ctx, b, timer, roll, &receipt)
	if err != nil {
		return fireResult{}, err
	}
	ctx.EventManager().EmitEvent(typedFired(livesOn(k.firedEvent(b, timer, &receipt, settlement), timer, next)))
	return fireResult{receipt, price, settlement}, nil
}

// preCharge debits the payer for the most that the fire can cost, or returns ErrInsufficientFunds.
func (k *Keeper) preCharge(ctx sdk.Context, b *block, timer *types.Timer, amount math.Int) error {
	if !k.covers(ctx, b, timer, amount) {
		return types.ErrInsufficientFunds
	}
	fee := b.feeCoins(amount)
	if fee.IsZero() {
		return nil
	}
	return k.bank.SendCoins(ctx, timer.Payer(), k.address, fee)
}

// covers tells whether the payer can be debited for the amount, and has consented to it.
func (k *Keeper) covers(ctx sdk.Context, b *block, timer *types.Timer, amount math.Int) bool {
	payer := timer.Payer()
	if k.bank.SpendableCoin(ctx, payer, b.config.FeeDenom).Amount.LT(amount) {
		return false
	}
	return payer.Equals(timer.Owner()) || k.allowanceCovers(ctx, payer, timer.Actor, b.feeCoins(amount)) == nil
}

// refund gives back what the fire did not use, and draws the rest on the allowance if there is one. Only what was
// charged is drawn, not the pre-charge: an allowance is for what is paid.
func (k *Keeper) refund(ctx sdk.Context, b *block, timer *types.Timer, s lane.Settlement) error {
	payer := timer.Payer()
	if s.Refund.IsPositive() {
		if err := k.bank.SendCoins(ctx, k.address, payer, b.feeCoins(s.Refund)); err != nil {
			return err
		}
	}
	if payer.Equals(timer.Owner()) || s.Charged.IsZero() {
		return nil
	}
	// The allowance stood for more when the fire began. A handler that spent or revoked it meanwhile does not undo its own
	// fire: the payer had consented, and was charged once.
	_ = sandbox(ctx, func(ctx sdk.Context) error {
		return k.drawAllowance(ctx, payer, timer.Actor, b.feeCoins(s.Charged))
	})
	return nil
}

// deliver runs the handler on a branch of state and with a meter of its own, and returns what is billed and why it
// failed, if it did. A failure drops the handler's writes and events; the charge stands (SPEC §5).
func (k *Keeper) deliver(
	ctx sdk.Context, b *block, delivery types.Delivery, maxCycles uint64,
) (cycles, cells uint64, failure error) {
	meter := newFireMeter(maxCycles, b.config.MaxCellsPerFire, ctx.KVGasConfig().WriteCostPerByte)
	failure = sandbox(handlerContext(ctx, meter), func(ctx sdk.Context) error {
		runtime, err := k.router.Route(ctx, delivery.Actor)
		if errors.Is(err, types.ErrUnknownActor) {
			return types.ErrActorGone
		}
		if err != nil {
			return err
		}
		if err := runtime.Deliver(ctx, &b.config, delivery); err != nil {
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

// handlerContext is a fresh context: no gas but the fire's own, nothing of a transaction, and a mark by which a handler
// that tries to run timers is refused.
func handlerContext(ctx sdk.Context, meter *fireMeter) sdk.Context {
	return withinFire(ctx).WithGasMeter(meter).WithBlockGasMeter(storetypes.NewInfiniteGasMeter()).WithTxBytes(nil)
}
