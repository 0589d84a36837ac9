package types

import (
	"context"

	errorsmod "cosmossdk.io/errors"
	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"
)

// HeightOf is the height of the block that ctx belongs to.
func HeightOf(ctx context.Context) uint64 { return uint64(sdk.UnwrapSDKContext(ctx).BlockHeight()) }

// Moment is the height and the time of a block, by which triggers and lives are measured.
type Moment struct {
	Height uint64
	// Time is that of the header in whole seconds since 1970, rounded down, and at least 0.
	Time int64
}

// MomentOf is that of the block that ctx belongs to.
func MomentOf(ctx context.Context) Moment {
	unwrapped := sdk.UnwrapSDKContext(ctx)
	return Moment{uint64(unwrapped.BlockHeight()), max(0, unwrapped.BlockTime().Unix())}
}

// Next is the first moment at which the next block can be.
func (m Moment) Next() Moment { return Moment{m.Height + 1, m.Time} }

// Unmetered is a context in which the store charges nothing: for reads and writes of which the cost must not depend on
// what they happen to meet, and is charged apart or covered by another charge.
func Unmetered(ctx context.Context) sdk.Context {
	unwrapped := sdk.UnwrapSDKContext(ctx)
	if counting, counts := unwrapped.GasMeter().(interface{ Unmetered() storetypes.GasMeter }); counts {
		return unwrapped.WithGasMeter(counting.Unmetered())
	}
	return unwrapped.WithGasMeter(storetypes.NewInfiniteGasMeter())
}

// CodeOf is how state and events keep an error: without its text, which may differ between nodes.
func CodeOf(err error) (codespace string, code uint32) {
	codespace, code, _ = errorsmod.ABCIInfo(err, false)
	return codespace, code
}
