package keeper

import (
	"context"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// BeginBlock puts a config accepted in an earlier block in force, so that one config holds throughout a block (SPEC §4).
// It never fails: a chain must not halt over its timers.
func (k *Keeper) BeginBlock(goCtx context.Context) error {
	ctx := sdk.UnwrapSDKContext(goCtx)
	if err := sandbox(ctx, k.adoptConfig); err != nil {
		k.laneFailed(ctx, err)
	}
	return nil
}

func (k *Keeper) adoptConfig(ctx sdk.Context) error {
	next, found, err := findItem(ctx, k.state.nextConfig)
	if err != nil || !found {
		return err
	}
	if err := k.countScoreEpoch(ctx, &next); err != nil {
		return err
	}
	if err := k.state.config.Set(ctx, next); err != nil {
		return err
	}
	return k.state.nextConfig.Remove(ctx)
}

// EndBlock fires the timers that are due and fit. It never fails: if the step fails as a whole, its writes are dropped,
// TimerLaneFailed is emitted, and the chain goes on with every timer where it was (SPEC §4). Only a handler that calls it
// gets an error.
func (k *Keeper) EndBlock(goCtx context.Context) error {
	if isWithinFire(goCtx) {
		return types.ErrReentered
	}
	ctx := sdk.UnwrapSDKContext(goCtx)
	if err := sandbox(ctx, k.step); err != nil {
		k.laneFailed(ctx, err)
		k.saveChanges(ctx)
	}
	return nil
}

// step is the end of a block as SPEC §4 numbers it.
func (k *Keeper) step(ctx sdk.Context) error {
	b, err := k.newBlock(ctx)
	if err != nil {
		return err
	}
	b.readInPages()
	ctx = withBlock(ctx, b)
	for _, do := range []func(sdk.Context, *block) error{
		k.maintain,    // 1. move entries between the calendar's tiers
		k.collect,     // 2. read what is due
		k.cleanUp,     // 3. remove what has expired
		k.setBasefee,  // 4. this block's prices
		k.selectOrder, // 5 and 6. what each candidate is willing to pay, and the order in which they are tried
		k.execute,     // 7. settle and fire while the lane lasts
		k.deferRest,   // 8. the rest stays ready
		k.countFires,  // 9. fairness
		k.record,      // 10. state for the next block, receipts, summary
	} {
		if err := do(ctx, b); err != nil {
			return err
		}
	}
	return k.keepChanges(ctx, b.height+1, &b.config)
}

// maintain is bounded work of the calendar on its own order; the flat calendar has none.
func (k *Keeper) maintain(ctx sdk.Context, b *block) error { return k.calendar.Maintain(ctx, b.height) }

// setBasefee fixes the prices of this block (SPEC §6).
func (k *Keeper) setBasefee(ctx sdk.Context, b *block) (err error) {
	b.prices, err = k.pricesOf(ctx, &b.config, &b.before)
	return err
}

// laneFailed reports a step that left no trace.
func (k *Keeper) laneFailed(ctx sdk.Context, cause error) {
	ctx.Logger().Error("the timer lane failed and left no trace", "module", types.ModuleName, "height", ctx.BlockHeight(), "err", cause)
	codespace, code := codeOf(cause)
	event := &types.TimerLaneFailed{Height: heightOf(ctx), Codespace: codespace, Code: code}
	if err := k.emit(ctx, event); err != nil {
		ctx.Logger().Error("can't emit TimerLaneFailed", "module", types.ModuleName, "err", err)
	}
	countLaneFailed()
}
