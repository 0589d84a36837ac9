package engine

import (
	"context"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/report"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// hopeless reports whether the payer can't cover the timer at the lowest price either.
func (f *funds) hopeless(ctx sdk.Context, t *types.Timer) bool {
	return !f.Covers(ctx, t, f.leastCost(t))
}

func (f *funds) leastCost(t *types.Timer) math.Int { return f.least().Cost(t.GasLimit, t.CellLimit) }

// foundNoFunds takes a timer out of the contest that was tried without funds.
func (e *Engine) foundNoFunds(ctx sdk.Context, b *block, timer *types.Timer, required math.Int) {
	b.tryUnpaid()
	e.lacksFunds(ctx, b, timer, required)
}

// lacksFunds takes a timer out of the contest whose payer can't cover the pre-charge, unless the policy lets it wait.
func (e *Engine) lacksFunds(ctx sdk.Context, b *block, timer *types.Timer, required math.Int) {
	if b.round.Unfunded(ctx, timer, required) != policies.Leaves {
		return
	}
	b.Left++
	if b.removable(ctx, timer) && b.GC.TakeFor(timer) {
		e.removeUnfunded(ctx, b, timer)
		return
	}
	e.guard(ctx, b, timer, func(ctx sdk.Context) error { return e.holdUnfunded(ctx, b, timer, types.Unfunded, required) })
}

// look looks at the payer of a timer that is to be admitted: once a block, or once for each timer that an allowance pays for. A
// paused lane needs no funds.
func (e *Engine) look(ctx sdk.Context, b *block, timer *types.Timer, price market.Price) policies.Funds {
	if b.Config.LanePaused {
		return policies.Enough
	}
	f, payer, needed := &b.funds, string(timer.Payer()), price.Cost(timer.GasLimit, timer.CellLimit)
	pledged, looked := f.pledged[payer]
	switch {
	case looked && !timer.Sponsored():
	case !b.Overhead.TryConsume(market.LookAtPayer):
		return policies.NotLooked
	case !looked:
		pledged = math.ZeroInt()
		f.pledged[payer] = pledged
	}
	has, sum := f.Spendable(ctx, timer.Payer()), pledged.Add(needed)
	switch {
	case has.LT(needed), timer.Sponsored() && !f.Covers(ctx, timer, needed):
		return policies.TooLittle
	case has.LT(sum):
		return policies.Pledged
	default:
		f.pledged[payer] = sum
		return policies.Enough
	}
}

// removable reports whether a timer that lacks funds is removed or suspended, and not only on hold.
func (b *block) removable(ctx sdk.Context, timer *types.Timer) bool {
	stays := timer.Spec.OnUnfunded == types.OnUnfundedSuspend || timer.Spec.OnUnfunded == types.OnUnfundedSkip
	return (!b.policy.DefersUnfunded() || stays) && b.funds.hopeless(ctx, timer)
}

// sweepPricedOut looks at a timer that was on hold as priced out. It returns to the queue if it can fire at the prices of
// the block.
func (e *Engine) sweepPricedOut(ctx sdk.Context, b *block, timer *types.Timer) {
	if _, willing := b.round.Price(timer); willing {
		e.release(ctx, b, timer)
	}
}

// sweepUnfunded looks at a timer that was on hold for lack of funds. It returns to the queue if its payer can cover it
// now, in addition to the payer's others that return in this block. It reports whether it is hopeless, and left to the cleanup.
func (e *Engine) sweepUnfunded(ctx sdk.Context, b *block, timer *types.Timer) (hopeless bool) {
	if price, willing := b.round.Price(timer); willing {
		needed, payer := price.Cost(timer.GasLimit, timer.CellLimit), string(timer.Payer())
		if promised, some := b.funds.promised[payer]; some {
			needed = needed.Add(promised)
		}
		if b.funds.Covers(ctx, timer, needed) {
			b.funds.promised[payer] = needed
			e.release(ctx, b, timer)
			return false
		}
	}
	return b.removable(ctx, timer)
}

// removeUnfunded removes or suspends an unfunded timer, for which the GC lane has been charged.
func (e *Engine) removeUnfunded(ctx sdk.Context, b *block, timer *types.Timer) {
	required := b.funds.leastCost(timer)
	if timer.Spec.OnUnfunded == types.OnUnfundedSuspend {
		e.guard(ctx, b, timer, func(ctx sdk.Context) error { return e.holdUnfunded(ctx, b, timer, types.Suspended, required) })
		return
	}
	if timer.Spec.OnUnfunded == types.OnUnfundedSkip {
		e.guard(ctx, b, timer, func(ctx sdk.Context) error { return e.skipUnfunded(ctx, b, timer) })
		return
	}
	available := b.funds.Spendable(ctx, timer.Payer())
	done := e.guard(ctx, b, timer, func(ctx sdk.Context) error {
		if err := e.remove(ctx, b, timer); err != nil {
			return err
		}
		actor := e.Addresses.Text(timer.Actor)
		return report.Emit(ctx, &types.TimerCancelledInsufficientFunds{
			Id: timer.IDHex(), Actor: actor, Payer: e.payerText(timer, actor),
			Required: required.String(), Available: available.String(), AllowanceRefused: available.GTE(required),
			Name: timer.Spec.Name,
		})
	})
	if done {
		b.totals.unfunded++
		report.LogTimer(ctx.Logger(), timer, "an unfunded timer left", "required", required, "available", available)
	}
}

// holdUnfunded puts on hold a timer whose payer can't cover it, and reports the required and the available amount.
func (e *Engine) holdUnfunded(ctx sdk.Context, b *block, timer *types.Timer, reason types.HoldReason, required math.Int) error {
	goCtx := context.Context(ctx)
	if err := e.Records.PutOnHold(goCtx, timer, reason); err != nil {
		return err
	}
	available := b.funds.Spendable(ctx, timer.Payer())
	actor := e.Addresses.Text(timer.Actor)
	event := &types.TimerHeld{
		Id: timer.IDHex(), Actor: actor, Reason: reason, Payer: e.payerText(timer, actor),
		Required: required.String(), Available: available.String(), AllowanceRefused: available.GTE(required),
		Name: timer.Spec.Name,
	}
	event.Codespace, event.Code = types.CodeOf(types.ErrInsufficientFunds)
	if err := report.Emit(goCtx, event); err != nil {
		return err
	}
	b.totals.noteHeld(ctx, timer, reason)
	return nil
}

// remove removes a timer for good. Its departure may return what was locked for it.
func (e *Engine) remove(ctx sdk.Context, b *block, timer *types.Timer) error {
	b.funds.ForgetPayer(timer.Principal())
	return e.Records.Remove(ctx, timer)
}
