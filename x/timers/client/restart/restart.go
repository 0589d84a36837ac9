// Package restart lets a node take transactions after it was started again, before its first block.
package restart

import (
	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"
)

// App is what of an application tells its last block.
type App interface {
	LastBlockHeight() int64
	CommitMultiStore() storetypes.CommitMultiStore
}

// Ante lets an application check and try transactions before its first block as after its last one. The SDK begins with an empty
// header: it would refuse all signatures, which it takes for those of genesis, and read the time as 1970, so that each timer by
// time lives too long. In blocks the height is never 0, and at genesis there is no last one.
func Ante(app App, next sdk.AnteHandler) sdk.AnteHandler {
	return func(ctx sdk.Context, tx sdk.Tx, simulate bool) (sdk.Context, error) {
		if ctx.BlockHeight() != 0 {
			return next(ctx, tx, simulate)
		}
		last := app.LastBlockHeight() // It hashes what each store committed.
		if last == 0 {
			return next(ctx, tx, simulate)
		}
		store, keeps := app.CommitMultiStore().(interface {
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
}
