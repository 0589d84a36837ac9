package actors

import (
	"context"

	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"
)

// fire is what a context knows of the fire that it belongs to.
type fire struct {
	// meter of the fire, for code inside the handler that runs on another meter.
	meter storetypes.GasMeter
	// sudoOf is the contract whose sudo it runs, empty if it runs messages.
	sudoOf sdk.AccAddress
}

type fireKey struct{}

// withFire marks a context as that of a fire, which runs the sudo of a contract unless that is empty.
func withFire(ctx context.Context, sudoOf sdk.AccAddress) sdk.Context {
	sdkCtx := sdk.UnwrapSDKContext(ctx)
	return sdkCtx.WithValue(fireKey{}, fire{sdkCtx.GasMeter(), sudoOf})
}

// FireMeter returns the meter of the fire that the context belongs to, if it belongs to one. It books what is consumed
// with the descriptor of written bytes as cells, all else as cycles (x/timers/README.md, "1.1 Units"). Code that runs a
// part of a handler on a meter of its own reports the two separately.
func FireMeter(ctx context.Context) (storetypes.GasMeter, bool) {
	f, ok := ctx.Value(fireKey{}).(fire)
	return f.meter, ok
}

// runsSudoOf reports whether the context belongs to a fire that runs the sudo of this contract.
func runsSudoOf(ctx context.Context, contract sdk.AccAddress) bool {
	f, _ := ctx.Value(fireKey{}).(fire)
	return len(contract) > 0 && f.sudoOf.Equals(contract)
}
