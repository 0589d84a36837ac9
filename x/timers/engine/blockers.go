package engine

import (
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/report"
	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// BeginBlock adopts a config accepted in an earlier block, so that one config is in force throughout a block. It never
// fails: timers must not halt the chain.
func (e *Engine) BeginBlock(ctx sdk.Context) {
	if err := sandbox.Run(ctx, e.activateConfig); err != nil {
		e.laneFailed(ctx, err)
	}
}

// EndBlock fires the timers that are due and fit. It never fails: if the step fails as a whole, its writes are dropped,
// TimerLaneFailed is emitted, and no timer has changed.
func (e *Engine) EndBlock(ctx sdk.Context) {
	if err := sandbox.Run(ctx, e.step); err != nil {
		e.laneFailed(ctx, err)
		e.saveChanges(ctx)
	}
}

// laneFailed reports a step that failed and was rolled back.
func (e *Engine) laneFailed(ctx sdk.Context, cause error) {
	ctx.Logger().Error("the timer lane failed and was rolled back", "module", types.ModuleName, "height", ctx.BlockHeight(), "err", cause)
	codespace, code := types.CodeOf(cause)
	event := &types.TimerLaneFailed{Height: types.HeightOf(ctx), Codespace: codespace, Code: code}
	if err := report.Emit(ctx, event); err != nil {
		ctx.Logger().Error("can't emit TimerLaneFailed", "module", types.ModuleName, "err", err)
	}
	e.Reporter.Failed(report.KindLane)
}

// saveChanges keeps the changes of watched state of a block whose end failed as a whole, so that no watch misses them.
func (e *Engine) saveChanges(ctx sdk.Context) {
	err := sandbox.Run(ctx, func(ctx sdk.Context) error {
		config, err := e.Configs.Get(ctx)
		if err != nil {
			return err
		}
		return e.Watches.KeepChanges(ctx, types.HeightOf(ctx), &config, config.Overhead())
	})
	if err != nil {
		e.Reporter.Failed(report.KindWatch)
		ctx.Logger().Error("changes of watched state are lost", "module", types.ModuleName, "height", ctx.BlockHeight(), "err", err)
		// Else the notes of failing blocks would pile up, and the first block that succeeds had to read them all.
		if err := sandbox.Run(ctx, func(ctx sdk.Context) error { return e.Watches.Forget(ctx) }); err != nil {
			ctx.Logger().Error("the notes of watched state can't be removed", "module", types.ModuleName, "err", err)
		}
	}
}
