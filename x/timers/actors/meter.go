package actors

import (
	"context"

	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"
)

type fireMeterKey struct{}

// withFireMeter stores the fire's meter in the context, for code inside the handler that runs on another meter.
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

type sudoKey struct{}

// withSudoOf stores in the context whose sudo a fire runs.
func withSudoOf(ctx sdk.Context, contract sdk.AccAddress) sdk.Context {
	return ctx.WithValue(sudoKey{}, string(contract))
}

// runsSudoOf reports whether the context belongs to a fire that runs the sudo of this contract.
func runsSudoOf(ctx context.Context, contract sdk.AccAddress) bool {
	running, ok := ctx.Value(sudoKey{}).(string)
	return ok && running == string(contract)
}
