package engine

import (
	"cmp"
	"context"
	"slices"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

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
	waits := b.traits.DefersUnfunded && !b.contest.Overloaded
	if waits && b.contest.GC.Remaining() == 0 {
		return
	}
	b.tell(ctx, policies.Attempt{Verdict: types.VerdictNoFunds, Timer: timer})
	if waits && timer.Spec.OnUnfunded != types.OnUnfundedSuspend {
		e.deferUnfunded(ctx, b, timer, required)
		return
	}
	b.contest.Left++
	if b.removable(ctx, timer) && b.contest.GC.TakeFor(timer) {
		e.removeUnfunded(ctx, b, timer)
		return
	}
	e.guard(ctx, b, timer, func(ctx sdk.Context) error { return e.holdUnfunded(ctx, b, timer, types.Unfunded, required) })
}

// deferUnfunded lets a timer wait in the queue that lacks funds. It does not compete again until its payer can cover it, so that it
// costs one try. If more timers are ready than the window holds, it is put on hold instead. Otherwise the GC lane bounds how many
// timers are marked so in a block; the others stay as they are.
func (e *Engine) deferUnfunded(ctx sdk.Context, b *block, timer *types.Timer, required math.Int) {
	b.contest.GC.Take(1)
	available := e.Fees.Spendable(ctx, &b.Config, timer.Payer())
	done := e.guard(ctx, b, timer, func(ctx sdk.Context) error {
		timer.UnfundedSince = b.Height
		if err := e.Records.Put(ctx, timer); err != nil {
			return err
		}
		return report.Emit(ctx, &types.TimerDeferredInsufficientFunds{
			Id: timer.IDHex(), Actor: e.Addresses.Text(timer.Actor), Payer: e.Addresses.Text(timer.Payer()),
			Required: required.String(), Available: available.String(), AllowanceRefused: available.GTE(required),
		})
	})
	if !done {
		b.contest.Left++
	}
}

// maxFundChecks bounds the timers that wait for their payers of which a block looks whether these have funds again.
const maxFundChecks = 16

// checkFunds looks at the payers of timers that wait for them, of as many at once in the order of their seqs: the height says of which.
// Timers whose payers have funds again compete from this block on.
func (e *Engine) checkFunds(ctx sdk.Context, b *block) {
	var waiting []*types.Timer
	for i := range b.contest.Ready {
		if t := &b.contest.Ready[i]; t.UnfundedSince > 0 {
			waiting = append(waiting, t)
		}
	}
	slices.SortFunc(waiting, func(a, b *types.Timer) int { return cmp.Compare(a.Seq, b.Seq) })
	groups := slices.Collect(slices.Chunk(waiting, maxFundChecks))
	if len(groups) == 0 {
		return
	}
	for _, t := range groups[b.Height%uint64(len(groups))] {
		e.guard(ctx, b, t, func(ctx sdk.Context) error {
			price, willing := b.contest.Price(t)
			if !willing || !e.Fees.Covers(ctx, &b.Config, t, price.Cost(t.GasLimit, t.CellLimit)) {
				return nil
			}
			t.UnfundedSince = 0
			return e.Records.Put(ctx, t)
		})
	}
	// What could not be marked is quarantined.
	b.contest.Keep(func(t *types.Timer) bool { return t.HoldReason == types.NotOnHold })
}

// removable reports whether a timer that lacks funds is removed or suspended, and not only on hold.
func (b *block) removable(ctx sdk.Context, timer *types.Timer) bool {
	stays := timer.Spec.OnUnfunded == types.OnUnfundedSuspend || timer.Spec.OnUnfunded == types.OnUnfundedSkip
	return (!b.traits.DefersUnfunded || stays) && b.funds.hopeless(ctx, timer)
}

// sweepPricedOut looks at a timer that was on hold as priced out. It returns to the queue if it can fire at the prices of
// the block.
func (e *Engine) sweepPricedOut(ctx sdk.Context, b *block, timer *types.Timer) {
	if _, willing := b.contest.Price(timer); willing {
		e.release(ctx, b, timer)
	}
}

// sweepUnfunded looks at a timer that was on hold for lack of funds. It returns to the queue if its payer can cover it
// now, in addition to the payer's others that return in this block. It reports whether it is hopeless, and left to the cleanup.
func (e *Engine) sweepUnfunded(ctx sdk.Context, b *block, timer *types.Timer) (hopeless bool) {
	if price, willing := b.contest.Price(timer); willing {
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
