package engine

import (
	"context"
	"errors"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/contest"
	"github.com/cosmos-timers/timers/x/timers/fees"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/recurrence"
	"github.com/cosmos-timers/timers/x/timers/report"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// execute tries the timers in the policy's order while the lane lasts. Burns and tips are paid once, at the end.
func (e *Engine) execute(ctx sdk.Context, b *block) error {
	if !b.Config.LanePaused {
		if err := e.tryAll(ctx, b); err != nil {
			return err
		}
	}
	b.Overhead.Lend(market.NewlyDue)
	b.Overhead.Lend(market.Tries)
	locked := math.ZeroInt()
	for _, f := range b.followers {
		tips, err := f.Close(ctx)
		if err != nil {
			return err
		}
		locked = locked.Add(tips)
	}
	if err := b.contest.Close(ctx); err != nil {
		return err
	}
	b.totals.tips.add(locked)
	var err error
	if b.called, err = b.calls.Close(ctx); err != nil {
		return err
	}
	b.totals.burned.add(b.called.Billed)
	return e.Fees.PayOut(ctx, &b.Config, b.totals.burned.amount(), b.totals.tips.amount(), locked)
}

func (e *Engine) tryAll(ctx sdk.Context, b *block) error {
	if err := e.tryReserved(ctx, b); err != nil {
		return err
	}
	for {
		entrant, found, err := b.contest.Next(ctx)
		if err != nil || !found {
			return err
		}
		if err := e.try(ctx, b, entrant); err != nil {
			return err
		}
	}
}

// maxLooks bounds the timers without room that a block reads again for a policy that wants to know of them.
const maxLooks = 64

// try tries one timer: it fires, leaves the contest, or stays ready.
func (e *Engine) try(ctx sdk.Context, b *block, entrant contest.Entrant) error {
	c, err := e.consider(ctx, b, &b.lane, entrant)
	if err != nil {
		return err
	}
	if c.timer == nil {
		return nil
	}
	if c.verdict == types.VerdictFires {
		e.attempt(ctx, b, entrant, &c)
		return nil
	}
	b.totals.noteVerdict(ctx, c.timer, c.verdict)
	switch c.verdict {
	case types.VerdictNoRoom:
		return e.passOver(ctx, b, entrant, c.capped)
	case types.VerdictOnHold:
		b.contest.Left++
	case types.VerdictNotAdmin:
		e.disown(ctx, b, c.timer)
	case types.VerdictPassed:
		e.pass(ctx, b, c.timer, c.occurrence)
	case types.VerdictNoFunds:
		e.foundNoFunds(ctx, b, c.timer, c.required)
	default: // It stays ready.
	}
	return nil
}

// passOver passes over a timer that does not fit what is left of the lane. A policy that wants to know of others gets it as it is
// now, unless too many were read again: one that has left or moved is none.
func (e *Engine) passOver(ctx sdk.Context, b *block, entrant contest.Entrant, capped bool) error {
	b.contest.PassedOver++
	if capped {
		return nil
	}
	if err := e.noteWaiting(ctx, b, entrant); err != nil {
		return err
	}
	attempt := policies.Attempt{Verdict: types.VerdictNoRoom, Timer: entrant.Timer, Fresh: b.contest.Wanted && b.totals.looks < maxLooks}
	if attempt.Fresh {
		b.totals.looks++
		var err error
		if attempt.Timer, err = b.contest.Current(ctx, entrant); err != nil || attempt.Timer == nil || attempt.Timer.ExpiredAt(b.contest.Now) {
			return err
		}
	}
	b.tell(ctx, attempt)
	return nil
}

// attempt fires a timer that may fire. It leaves the contest if its payer lacks the funds.
func (e *Engine) attempt(ctx sdk.Context, b *block, entrant contest.Entrant, c *considered) {
	timer := c.timer
	var result fireResult
	var unfunded bool
	before := ctx
	done := e.guard(ctx, b, timer, func(ctx sdk.Context) error {
		err := e.fire(before, ctx, b, timer, c.occurrence, c.price, c.required, &result)
		if unfunded = !result.ran && errors.Is(err, types.ErrInsufficientFunds); unfunded {
			return nil
		}
		return err
	})
	if result.ran {
		b.funds.Forget()
		b.lane.Spend(result.receipt.Cycles, result.receipt.Cells)
	}
	switch {
	case !done:
		b.contest.Left++
		if result.ran {
			e.keepCharge(ctx, b, timer, &result)
		}
	case unfunded:
		b.totals.noteVerdict(ctx, timer, types.VerdictNoFunds)
		e.foundNoFunds(ctx, b, timer, c.required)
	default:
		b.totals.verdicts[types.VerdictFires]++
		b.contest.Left++
		b.contest.Spent(timer.Actor, result.receipt.Cycles)
		report.LogFire(ctx.Logger(), result.runtime, &result.receipt)
		if timer.BidLocked != "" && !b.settles {
			b.settles, b.followers = true, append(e.Policies.Follow(b.Block, b.policy), b.followers...)
		}
		b.tell(ctx, policies.Attempt{
			Verdict: types.VerdictFires, Timer: timer, Receipt: b.enter(timer, result), Priority: result.price.Priority, Left: result.left,
			Reserved: entrant.Reserved,
		})
	}
}

// tell tells the followers of an attempt.
func (b *block) tell(ctx sdk.Context, attempt policies.Attempt) {
	b.contest.Wanted = false
	for _, f := range b.followers {
		b.contest.Wanted = f.Tried(ctx, attempt) || b.contest.Wanted
	}
}

// fire settles and executes one selected timer: pre-charge, conditions, handler, refund; before is the state before it. The
// timer is removed or made due again before its handler runs (recurrence.go): it can't fire twice, whatever that does. The
// pre-charge at this price is what is required. ErrInsufficientFunds means that nothing was changed. fire runs in a sandbox of
// its own: any other error undoes everything. If conditions or the handler have run by then, result says so, and is charged.
func (e *Engine) fire(
	before, ctx sdk.Context, b *block, timer *types.Timer, o recurrence.Occurrence, price market.Price, required math.Int, result *fireResult,
) error {
	// Each conversion to the interface copies the context, which is large.
	goCtx := context.Context(ctx)
	preCharge, payer, err := e.preCharge(goCtx, b, timer, required)
	if err != nil {
		return err
	}
	payload, intrinsic, err := e.readPayload(ctx, b, timer, payer.Cycles+timer.Spec.Trigger.Cycles())
	if err != nil {
		return err
	}
	run := e.begin(before, timer, intrinsic)
	if run.guarded && !timer.Tried {
		o.Index = 0 // Nothing is delivered.
	}
	next, moving := e.setNextDue(goCtx, b, timer, o, run.guarded)
	delivery := types.Delivery{
		Call:      timer.CallWith(payload),
		TimerID:   timer.Id,
		DeliverID: types.DeliverID(b.Height, ctx.BlockHeader().AppHash, timer.Id, timer.FireSeq),
		Height:    b.Height,
		Due:       next.due(timer),
		Scheduler: timer.Scheduler,
		Trigger:   e.Triggers.Of(&timer.Spec.Trigger).Name(),
		FireSeq:   timer.FireSeq,
		Matched:   next.hit.Matched,

		Occurrence: o.At, Index: o.Index,
	}
	if moving == nil {
		e.deliver(ctx, b, delivery, run)
	}
	cycles, cells := run.used()
	cycles, call := b.billedCycles(timer, cycles, run.short)
	*result = fireResult{
		ran:     moving == nil || len(timer.Spec.OnlyIf) > 0, // What conditions read has been read.
		runtime: run.served, price: price, settlement: b.withCall(price.Settle(preCharge, cycles, cells), call),
		receipt: types.Receipt{
			TimerId: timer.Id, DeliverId: delivery.DeliverID, Actor: timer.Actor, FireSeq: timer.FireSeq,
			Success: run.failure == nil && !run.guarded, Guarded: run.guarded, Cycles: cycles, Cells: cells,
			Matched: next.hit.Matched, Late: b.Height - delivery.Due, ScoreBid: lumpSumPaid(price),
			Occurrence: o.At, Index: o.Index,
		},
	}
	if run.failure != nil {
		result.receipt.Codespace, result.receipt.Code = types.CodeOf(run.failure)
	}
	if moving != nil {
		return moving
	}
	if err := e.refund(ctx, b, timer, &payer, preCharge, result); err != nil {
		return err
	}
	survivor, err := e.afterFire(goCtx, b, timer, o, &next, &result.receipt, run.short)
	if err != nil {
		return err
	}
	if err := e.NoteSkipped(goCtx, timer, survivor, next.next.Passed); err != nil { // Why it left is told of the fire.
		return err
	}
	result.left = survivor == nil
	fired := e.firedEvent(b, timer, survivor, &next.next, &result.receipt, result.settlement)
	addTags(ctx.EventManager().Events(), fired.Id, fired.DeliverId)
	return report.Emit(goCtx, fired)
}

// preCharge takes the most that a fire can cost. What was charged for the call of the timer's agent counts toward it. It
// returns what is held for the fire, which may be more if the call cost more than the fire can, and the payer.
func (e *Engine) preCharge(
	ctx context.Context, b *block, timer *types.Timer, amount math.Int,
) (held math.Int, payer fees.Payer, err error) {
	missing := b.less(amount, timer)
	if missing.IsNegative() {
		missing = math.ZeroInt()
	}
	payer, err = b.funds.PreCharge(ctx, timer, missing)
	if call := b.calls.Of(timer); call != nil {
		return call.Charged.Add(missing), payer, err
	}
	return amount, payer, err
}

// refund returns what is left of what was held for the fire, and enters in its receipt what it was charged. The call of the
// timer's agent has been settled. What can't be returned is burned: the handler has run, and its fire stands.
func (e *Engine) refund(ctx sdk.Context, b *block, timer *types.Timer, payer *fees.Payer, held math.Int, result *fireResult) error {
	goCtx, held := context.Context(ctx), b.less(held, timer)
	err := e.Fees.RefundTo(goCtx, &b.Config, timer, payer, held, result.settlement.Refund)
	if err != nil {
		ctx.Logger().Error("a refund failed and is burned", "module", types.ModuleName, "id", timer.IDHex(), "err", err)
		result.settlement = result.settlement.Keep(result.settlement.Refund)
		err = e.Fees.RefundTo(goCtx, &b.Config, timer, payer, held, result.settlement.Refund)
	}
	result.receipt.Paid, result.receipt.Tip = result.settlement.Charged, result.settlement.Tip
	return err
}

// keepCharge charges for a fire that has worked, and which the module could not finish: all that it did is undone, and its
// timer is quarantined. It is a failed fire nevertheless, since its work was done: else whoever brings about that the module
// fails has it for nothing. If not even that can be written, the lane has been spent.
func (e *Engine) keepCharge(ctx sdk.Context, b *block, timer *types.Timer, result *fireResult) {
	r := &result.receipt
	r.Success, r.Guarded, r.Codespace, r.Code = false, false, types.ModuleName, types.ErrInternal.ABCICode()
	err := e.undoing(ctx, b, timer, func(ctx sdk.Context) error {
		held, payer, err := e.preCharge(ctx, b, timer, result.settlement.Charged)
		if err != nil {
			return err
		}
		result.settlement.Refund = held.Sub(result.settlement.Charged)
		if err := e.refund(ctx, b, timer, &payer, held, result); err != nil {
			return err
		}
		if err := report.Emit(ctx, e.firedEvent(b, timer, timer, nil, r, result.settlement)); err != nil {
			return err
		}
		if timer.HoldReason != types.Quarantined {
			return nil // It could not be moved, nor can it be written.
		}
		timer.FireSeq++
		return e.Records.Put(ctx, timer)
	})
	if err != nil {
		ctx.Logger().Error("a fire that failed can't be charged", "module", types.ModuleName, "id", timer.IDHex(), "err", err)
		return
	}
	b.enter(timer, *result)
}

// lumpSumPaid is what a fire at this price pays in addition, nil for 0.
func lumpSumPaid(price market.Price) *math.Int {
	if price.LumpSum.IsNil() || price.LumpSum.IsZero() {
		return nil
	}
	paid := price.LumpSum
	return &paid
}
