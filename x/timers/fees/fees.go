// Package fees moves the money of fires: who may pay, what is charged in advance, returned, burned and tipped
// (x/timers/README.md, "5.2 Settlement").
//
// Invariant: between blocks the module's account holds the bids that are locked, and nothing else.
package fees

import (
	"context"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"

	"github.com/cosmos-timers/timers/x/timers/lane"
	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/types"
	"github.com/cosmos-timers/timers/x/timers/watch"
)

// Fees makes the module's transfers. Watches do not see them: they belong neither to a transaction nor to a handler,
// and a timer that watches its payer's balance must not be made due by its own fee.
type Fees struct {
	// Accounts and Addresses of the chain.
	Accounts  types.AccountKeeper
	Addresses types.Addresses
	// Bank moves the coins.
	Bank types.BankKeeper
	// Feegrant is nil on a chain without fee allowances.
	Feegrant types.FeegrantKeeper
	// Tips collects the tips; Defaults fills it in.
	Tips types.TipCollector
	// Basefees is the chain's fee market; nil on a chain without one, whose config has the prices.
	Basefees types.BasefeeSource
	// Account is the module's own.
	Account sdk.AccAddress
}

// Defaults fills in the optional parts: tips go to the fee collector.
func (f *Fees) Defaults() {
	if f.Tips == nil {
		f.Tips = feeCollectorTips{f.Bank}
	}
}

// CheckPayer returns an error unless the payer may be charged for the actor's timers. The payer is the actor itself, or
// an account that has granted the actor a fee allowance for the module's messages. It is never a module account or a
// blocked address, since a refund could not reach it. An empty payer is the actor.
func (f *Fees) CheckPayer(ctx context.Context, config *types.TimerConfig, payer, actor sdk.AccAddress) error {
	if len(payer) == 0 {
		payer = actor
	}
	if f.Bank.BlockedAddr(payer) {
		return types.ErrInvalidFeePayer.Wrapf("%s is blocked from receiving funds, refunds included", f.Addresses.Text(payer))
	}
	if _, isModule := f.Accounts.GetAccount(ctx, payer).(sdk.ModuleAccountI); isModule {
		return types.ErrInvalidFeePayer.Wrapf("%s is a module account; name an account that grants an allowance", f.Addresses.Text(payer))
	}
	if payer.Equals(actor) {
		return nil
	}
	// The cost of a fire is not known yet. So the check is for one unit: is there an allowance for the module's
	// messages?
	if err := f.allowanceCovers(sdk.UnwrapSDKContext(ctx), payer, actor, coins(config, math.OneInt())); err != nil {
		return types.ErrInvalidFeePayer.Wrapf("%s has granted %s no fee allowance that covers %s: %v",
			f.Addresses.Text(payer), f.Addresses.Text(actor), sdk.MsgTypeURL(&types.MsgScheduleTimer{}), err)
	}
	return nil
}

// Spendable is what an account can spend of the fee denom.
func (f *Fees) Spendable(ctx context.Context, config *types.TimerConfig, addr sdk.AccAddress) math.Int {
	return f.Bank.SpendableCoin(ctx, addr, config.FeeDenom).Amount
}

// Covers reports whether the payer can be debited for the amount, and has consented to it.
func (f *Fees) Covers(ctx sdk.Context, config *types.TimerConfig, t *types.Timer, amount math.Int) bool {
	payer := t.Payer()
	if f.Spendable(ctx, config, payer).LT(amount) {
		return false
	}
	return payer.Equals(t.Owner()) || f.allowanceCovers(ctx, payer, t.Actor, coins(config, amount)) == nil
}

// PreCharge debits the payer for the most that the fire can cost, or returns ErrInsufficientFunds.
func (f *Fees) PreCharge(ctx sdk.Context, config *types.TimerConfig, t *types.Timer, amount math.Int) error {
	if !f.Covers(ctx, config, t, amount) {
		return types.ErrInsufficientFunds
	}
	fee := coins(config, amount)
	if fee.IsZero() {
		return nil
	}
	return f.Bank.SendCoins(watch.Muted(ctx), t.Payer(), f.Account, fee)
}

// Refund returns what the fire did not use, and draws the charge on the allowance if there is one. The charge is drawn,
// and not the pre-charge, because an allowance limits what is paid.
func (f *Fees) Refund(ctx sdk.Context, config *types.TimerConfig, t *types.Timer, s lane.Settlement) error {
	payer := t.Payer()
	if s.Refund.IsPositive() {
		if err := f.Bank.SendCoins(watch.Muted(ctx), f.Account, payer, coins(config, s.Refund)); err != nil {
			return err
		}
	}
	if payer.Equals(t.Owner()) || s.Charged.IsZero() {
		return nil
	}
	// The allowance covered the pre-charge when the fire began. If the handler has spent or revoked it meanwhile, the
	// fire stands: the payer had consented, and was charged once.
	_ = sandbox.Run(ctx, func(ctx sdk.Context) error {
		return f.drawAllowance(ctx, payer, t.Actor, coins(config, s.Charged))
	})
	return nil
}

// Lock takes an amount from an account into the module's.
func (f *Fees) Lock(ctx context.Context, config *types.TimerConfig, from sdk.AccAddress, amount math.Int) error {
	return f.Bank.SendCoins(watch.Muted(ctx), from, f.Account, coins(config, amount))
}

// Unlock gives an amount of the module's account to another.
func (f *Fees) Unlock(ctx context.Context, config *types.TimerConfig, to sdk.AccAddress, amount math.Int) error {
	return f.Bank.SendCoins(watch.Muted(ctx), f.Account, to, coins(config, amount))
}

// Held is the balance of the module's account.
func (f *Fees) Held(ctx context.Context, config *types.TimerConfig) sdk.Coin {
	return f.Bank.GetBalance(ctx, f.Account, config.FeeDenom)
}

// PayOut burns the basefees of a block's fires and pays their tips: one burn and one transfer a block.
func (f *Fees) PayOut(ctx sdk.Context, config *types.TimerConfig, burned, tips math.Int) error {
	if burned.IsPositive() {
		if err := f.Bank.BurnCoins(watch.Muted(ctx), types.ModuleName, coins(config, burned)); err != nil {
			return err
		}
	}
	if !tips.IsPositive() {
		return nil
	}
	owed := coins(config, tips)
	err := sandbox.Run(ctx, func(ctx sdk.Context) error { return f.Tips.PayTips(watch.Muted(ctx), types.ModuleName, owed) })
	if err == nil {
		return nil
	}
	// A failing collector must not undo the block's fires: the tips go to the fee collector, as without one.
	ctx.Logger().Error("the tip collector failed", "module", types.ModuleName, "err", err)
	return feeCollectorTips{f.Bank}.PayTips(watch.Muted(ctx), types.ModuleName, owed)
}

// allowanceCovers returns nil if the payer's allowance to the actor covers this fee. It draws nothing.
func (f *Fees) allowanceCovers(ctx sdk.Context, payer, actor sdk.AccAddress, fee sdk.Coins) error {
	if f.Feegrant == nil {
		return types.ErrInvalidFeePayer.Wrap("this chain has no fee allowances")
	}
	return sandbox.Probe(ctx, func(ctx sdk.Context) error { return f.drawAllowance(ctx, payer, actor, fee) })
}

// drawAllowance draws a fee on the payer's allowance to the actor, as for a message that schedules a timer.
func (f *Fees) drawAllowance(ctx context.Context, payer, actor sdk.AccAddress, fee sdk.Coins) error {
	return f.Feegrant.UseGrantedFees(ctx, payer, actor, fee, []sdk.Msg{&types.MsgScheduleTimer{}})
}

func coins(config *types.TimerConfig, amount math.Int) sdk.Coins {
	return sdk.NewCoins(sdk.NewCoin(config.FeeDenom, amount))
}

// feeCollectorTips gives tips to the fee collector, which x/distribution shares out.
type feeCollectorTips struct{ bank types.BankKeeper }

// PayTips implements types.TipCollector.
func (t feeCollectorTips) PayTips(ctx context.Context, from string, tips sdk.Coins) error {
	return t.bank.SendCoinsFromModuleToModule(ctx, from, authtypes.FeeCollectorName, tips)
}
