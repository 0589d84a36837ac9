package engine

import (
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/report"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// keepBasefees keeps the prices of the chain's fee market as the last good ones, or reports that it gave none and which
// prices hold instead.
func (b *block) keepBasefees(ctx sdk.Context) error {
	b.basefees.Keep(&b.State)
	failure := b.basefees.Failure
	if failure == nil {
		return nil
	}
	ctx.Logger().Error("the basefee source failed", "module", types.ModuleName, "height", b.Height, "err", failure)
	event := &types.TimerBasefeeSourceFailed{
		Height: b.Height, CycleBasefee: b.basefees.Cycle.String(), CellBasefee: b.basefees.Cell.String(),
		FromConfig: b.basefees.FromConfig,
	}
	event.Codespace, event.Code = types.CodeOf(failure)
	return report.Emit(ctx, event)
}
