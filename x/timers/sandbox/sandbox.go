// Package sandbox holds every recover and every branch of state of the module.
//
// One sandbox serves three levels: the end-of-block step as a whole, one timer, and the handler of one fire. A failure
// inside has no effect outside: its writes and events are dropped, and the caller decides what that means at its level
// (x/timers/README.md, "5.5 Failures").
//
// Not every failure can be caught: a stack overflow or exhausted memory ends the process. Code that runs inside is
// therefore bounded by gas, so that it does not come to that.
package sandbox

import (
	"context"
	"errors"
	"runtime/debug"

	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/sandbox/branch"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Run runs fn on a branch of ctx. If fn succeeds, its writes and events are kept. If it fails or panics, they are
// dropped and the error is returned: a panic of a gas meter as ErrOutOfCycles, any other panic as ErrPanicked.
func Run(ctx sdk.Context, fn func(sdk.Context) error) (err error) {
	defer recoverInto(ctx, &err)
	own, branch := branchOf(ctx)
	if err := fn(own); err != nil {
		return err
	}
	ctx.EventManager().EmitEvents(own.EventManager().Events())
	branch.Write()
	return nil
}

// Probe runs fn on a branch of ctx and always drops the branch. It reports whether fn would succeed.
func Probe(ctx sdk.Context, fn func(sdk.Context) error) (err error) {
	defer recoverInto(ctx, &err)
	own, _ := branchOf(ctx)
	return fn(own)
}

// branchOf is ctx.CacheContext with a branch that costs less while few keys are written.
func branchOf(ctx sdk.Context) (sdk.Context, storetypes.CacheMultiStore) {
	own := branch.New(ctx.MultiStore())
	return ctx.WithMultiStore(own).WithEventManager(sdk.NewEventManager()), own
}

// ErrTooLarge is returned by ReadAtMost.
var ErrTooLarge = errors.New("more bytes than may be read")

// ReadAtMost runs a function that reads state, and returns how many bytes it read, keys and values together. A value
// that exceeds the limit is not handed out, so that nothing decodes it; then the error is ErrTooLarge, and read tells
// the size. The gas meter of ctx is charged for the bytes at the store's price, but has no part in the limit.
func ReadAtMost(ctx sdk.Context, limit uint64, fn func(sdk.Context) error) (read uint64, err error) {
	prices, meter := ctx.KVGasConfig(), storetypes.NewGasMeter(limit)
	defer func() {
		read = meter.GasConsumed()
		ctx.GasMeter().ConsumeGas(prices.ReadCostFlat+prices.ReadCostPerByte*read, storetypes.GasReadPerByteDesc)
	}()
	defer func() {
		if meter.IsPastLimit() {
			err = ErrTooLarge
		}
	}()
	defer recoverInto(ctx, &err)
	// At a price of one for each byte that is read, the gas is the number of bytes.
	return 0, fn(ctx.WithGasMeter(meter).WithKVGasConfig(storetypes.GasConfig{ReadCostPerByte: 1}))
}

// recoverInto turns a panic into an error. The stack goes to the node's log; the error is a registered one, the same on
// every node.
func recoverInto(ctx sdk.Context, err *error) {
	switch r := recover().(type) {
	case nil:
	case storetypes.ErrorOutOfGas, storetypes.ErrorGasOverflow:
		*err = types.ErrOutOfCycles
	default:
		ctx.Logger().Error("panic in a sandbox", "module", types.ModuleName, "panic", r, "stack", string(debug.Stack()))
		*err = types.ErrPanicked
	}
}

type firingKey struct{}

// WithinFire marks a context as that of a handler, in which timers can't be run.
func WithinFire(ctx sdk.Context) sdk.Context { return ctx.WithValue(firingKey{}, true) }

// IsWithinFire reports whether ctx is that of a handler, or stems from one.
func IsWithinFire(ctx context.Context) bool { return ctx.Value(firingKey{}) != nil }
