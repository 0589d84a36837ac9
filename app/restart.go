package app

import (
	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"
)

// afterRestart lets a node check and try transactions before its first block as after its last one. The SDK begins with an
// empty header: it would refuse all signatures, which it takes for those of genesis, and read the time as 1970.
// In blocks the height is never 0, and at genesis there is no last one.
type afterRestart struct{ app *App }

func (d afterRestart) AnteHandle(ctx sdk.Context, tx sdk.Tx, simulate bool, next sdk.AnteHandler) (sdk.Context, error) {
	if ctx.BlockHeight() != 0 {
		return next(ctx, tx, simulate)
	}
	last := d.app.LastBlockHeight() // It hashes what each store committed.
	if last == 0 {
		return next(ctx, tx, simulate)
	}
	store, keeps := d.app.CommitMultiStore().(interface {
		GetCommitInfo(height int64) (*storetypes.CommitInfo, error)
	})
	if !keeps {
		return next(ctx, tx, simulate)
	}
	info, err := store.GetCommitInfo(last)
	if err != nil {
		return ctx, err
	}
	return next(ctx.WithBlockHeight(last).WithBlockTime(info.Timestamp), tx, simulate)
}
