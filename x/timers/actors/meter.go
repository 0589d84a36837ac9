package actors

import (
	"context"

	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"
)

type fireMeterKey struct{}

// withFireMeter keeps the fire's meter within reach of what runs deep inside the handler on another one.
func withFireMeter(ctx context.Context) sdk.Context {
	sdkCtx := sdk.UnwrapSDKContext(ctx)
	return sdkCtx.WithValue(fireMeterKey{}, sdkCtx.GasMeter())
}

// FireMeter returns the meter of the fire that the context belongs to, if it belongs to one. It books what is consumed
// with the descriptor of written bytes as cells, all else as cycles (x/timers/README.md, "1.1 Units"). Code that runs a
// part of a handler on a meter of its own reports the two separately.
func FireMeter(ctx context.Context) (storetypes.GasMeter, bool) {
	meter, ok := ctx.Value(fireMeterKey{}).(storetypes.GasMeter)
	return meter, ok
}
