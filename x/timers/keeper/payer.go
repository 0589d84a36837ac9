package keeper

import (
	"context"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// checkFeePayer says whether the payer may be debited for the actor's timers (SPEC §3, who may pay): the actor itself,
// or an account that has granted the actor a fee allowance that covers our messages. Module accounts and blocked
// addresses never: a refund could not reach them.
func (k *Keeper) checkFeePayer(ctx context.Context, payer, actor sdk.AccAddress) error {
	if len(payer) == 0 {
		payer = actor
	}
	if k.bank.BlockedAddr(payer) {
		return types.ErrInvalidFeePayer.Wrapf("%s is blocked from receiving funds, refunds included", k.bech32(payer))
	}
	if _, isModule := k.accounts.GetAccount(ctx, payer).(sdk.ModuleAccountI); isModule {
		return types.ErrInvalidFeePayer.Wrapf("%s is a module account; name an account that grants an allowance", k.bech32(payer))
	}
	if payer.Equals(actor) {
		return nil
	}
	config, err := k.Config(ctx)
	if err != nil {
		return err
	}
	// One unit is asked for, since what a fire will cost is not known yet: does an allowance for our messages exist?
	least := sdk.NewCoins(sdk.NewCoin(config.FeeDenom, math.OneInt()))
	if err := k.allowanceCovers(sdk.UnwrapSDKContext(ctx), payer, actor, least); err != nil {
		return types.ErrInvalidFeePayer.Wrapf("%s has granted %s no fee allowance that covers %s: %v",
			k.bech32(payer), k.bech32(actor), sdk.MsgTypeURL(&types.MsgScheduleTimer{}), err)
	}
	return nil
}

// allowanceCovers tells whether the payer's allowance to the actor would stand for this fee, and draws nothing.
func (k *Keeper) allowanceCovers(ctx sdk.Context, payer, actor sdk.AccAddress, fee sdk.Coins) error {
	if k.feegrant == nil {
		return types.ErrInvalidFeePayer.Wrap("this chain has no fee allowances")
	}
	return probe(ctx, func(ctx sdk.Context) error { return k.drawAllowance(ctx, payer, actor, fee) })
}

// drawAllowance draws a fee on the payer's allowance to the actor, as for a message that schedules a timer.
func (k *Keeper) drawAllowance(ctx context.Context, payer, actor sdk.AccAddress, fee sdk.Coins) error {
	return k.feegrant.UseGrantedFees(ctx, payer, actor, fee, []sdk.Msg{&types.MsgScheduleTimer{}})
}
