package engine

import (
	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// removeUnfunded removes or suspends a timer whose payer can't cover the pre-charge, within the budget of the GC lane.
// If that is used up, the timer stays ready.
func (e *Engine) removeUnfunded(ctx sdk.Context, b *block, timer *types.Timer, required math.Int) {
	if !b.GC.Take() {
		return
	}
	b.Departed++
	available := e.Fees.Spendable(ctx, &b.Config, timer.Payer())
	suspends := timer.OnUnfunded == types.OnUnfundedSuspend
	done := e.guard(ctx, b, timer, func(ctx sdk.Context) error {
		if suspends {
			return e.suspend(ctx, timer, required, available)
		}
		if err := e.Records.Remove(ctx, timer); err != nil {
			return err
		}
		return types.Emit(ctx, &types.TimerCancelledInsufficientFunds{
			Id: timer.IDHex(), Actor: e.Addresses.Text(timer.Actor), Payer: e.Addresses.Text(timer.Payer()),
			Required: required.String(), Available: available.String(), AllowanceRefused: available.GTE(required),
		})
	})
	switch {
	case done && suspends:
		b.setAside++
	case done:
		b.unfunded++
	}
}

// suspend sets aside a timer whose payer can't cover the pre-charge, and reports the required and the available amount.
func (e *Engine) suspend(ctx sdk.Context, timer *types.Timer, required, available math.Int) error {
	if err := e.Records.PutAside(ctx, timer, types.Suspended); err != nil {
		return err
	}
	event := &types.TimerSetAside{
		Id: timer.IDHex(), Actor: e.Addresses.Text(timer.Actor), Reason: types.Suspended, Payer: e.Addresses.Text(timer.Payer()),
		Required: required.String(), Available: available.String(), AllowanceRefused: available.GTE(required),
	}
	event.Codespace, event.Code = types.CodeOf(types.ErrInsufficientFunds)
	return types.Emit(ctx, event)
}
