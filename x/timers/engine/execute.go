package engine

import (
	"errors"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/report"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// execute tries the timers in the policy's order while the lane lasts. Burns and tips are paid once, at the end.
func (e *Engine) execute(ctx sdk.Context, b *block) error {
	if !b.Config.LanePaused {
		if err := e.fireReserved(ctx, b); err != nil {
			return err
		}
	}
	for !b.Config.LanePaused {
		turn, found, err := b.round.Next(ctx)
		if err != nil {
			return err
		}
		if !found {
			break
		}
		if err := e.try(ctx, b, turn); err != nil {
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
	b.tips.add(locked)
	billed, err := b.Agents.Close(ctx)
	if err != nil {
		return err
	}
	b.burned.add(billed)
	return e.Fees.PayOut(ctx, &b.Config, b.burned.amount(), b.tips.amount(), locked)
}

// try fires a timer if it fits the lane and its actor may fire.
func (e *Engine) try(ctx sdk.Context, b *block, turn policies.Turn) error {
	timer := turn.Timer
	if why := b.room(timer); why != (policies.Skip{}) {
		b.noteTurn(ctx, timer, noRoom(why))
		if err := e.noteWaiting(ctx, b, turn, why); err != nil {
			return err
		}
		return b.round.Skipped(ctx, timer, why)
	}
	current := *timer
	if key := state.KeyOf(timer.Due, timer.Seq); !turn.Fresh && e.Records.Queue().MayDiffer(ctx, key) {
		// Earlier handlers may have cancelled or changed it, so that its record is read again. This is not needed for a
		// timer that does not fit: a record never changes its gas limit or its actor where it is stored.
		var found bool
		var err error
		if current, found, err = e.Records.InQueue(ctx, key); err != nil {
			return err
		}
		if !found {
			b.Left++
			return nil
		}
		if current.ExpiredAt(b.Now()) {
			return nil
		}
	}
	turn.Timer = &current
	e.attempt(ctx, b, turn)
	return nil
}

// attempt tries one timer: it fires, leaves the contest for lack of funds, or stays ready.
func (e *Engine) attempt(ctx sdk.Context, b *block, turn policies.Turn) {
	timer := turn.Timer
	c := e.consider(ctx, b, timer)
	if c.verdict != types.VerdictFires {
		b.noteTurn(ctx, timer, c.verdict)
		switch c.verdict {
		case types.VerdictOnHold:
			b.Left++
		case types.VerdictNotAdmin:
			e.disown(ctx, b, timer)
		case types.VerdictPassed:
			e.pass(ctx, b, timer, c.occurrence)
		case types.VerdictNoFunds:
			e.foundNoFunds(ctx, b, timer, c.required)
		default: // It stays ready.
		}
		return
	}
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
		b.Lane.Spend(result.receipt.Cycles, result.receipt.Cells)
	}
	switch {
	case !done:
		b.Left++
		if result.ran {
			e.keepCharge(ctx, b, timer, &result)
		}
	case unfunded:
		b.noteTurn(ctx, timer, types.VerdictNoFunds)
		e.foundNoFunds(ctx, b, timer, c.required)
	default:
		b.outcomes.turns[types.VerdictFires]++
		b.Left++
		b.Agents.Fired(timer)
		report.LogFire(ctx.Logger(), result.runtime, &result.receipt)
		fire := policies.Fire{
			Timer: timer, Receipt: b.book(timer.Actor, result), Priority: result.price.Priority, Left: result.left, Reserved: turn.Reserved,
		}
		for _, f := range b.followers {
			f.Fired(ctx, fire)
		}
	}
}
