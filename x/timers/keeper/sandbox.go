package keeper

import (
	"context"
	"runtime/debug"

	errorsmod "cosmossdk.io/errors"
	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// This file holds every recover and every branch of the module. One sandbox serves three levels: the end-of-block step
// as a whole, one timer, and the handler of one fire. What fails inside leaves no trace outside: its writes and events
// are dropped, and the caller decides what that means at its level (SPEC §4, "The lane never halts the chain").
//
// Not every failure can be caught: a stack that overflows or memory that runs out ends the process. What runs inside is
// therefore bounded by gas before it gets there.

// sandbox runs fn on a branch of ctx. If fn succeeds its writes and events are kept; if it fails or panics they are
// dropped and the error is returned, a panic as ErrOutOfCycles (gas) or ErrPanicked (anything else).
func sandbox(ctx sdk.Context, fn func(sdk.Context) error) (err error) {
	defer recoverInto(ctx, &err)
	branch, commit := ctx.CacheContext()
	if err := fn(branch); err != nil {
		return err
	}
	commit()
	return nil
}

// probe runs fn on a branch of ctx and drops the branch whatever happens: would this succeed?
func probe(ctx sdk.Context, fn func(sdk.Context) error) (err error) {
	defer recoverInto(ctx, &err)
	branch, _ := ctx.CacheContext()
	return fn(branch)
}

// recoverInto turns a panic into an error. The stack goes to the node's log; what goes on is a registered error, the
// same on every node.
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

// codeOf is how state and events keep an error: without its text, which may differ between nodes.
func codeOf(err error) (codespace string, code uint32) {
	codespace, code, _ = errorsmod.ABCIInfo(err, false)
	return codespace, code
}

type firingKey struct{}

// withinFire marks a context as that of a handler, in which timers can't be run.
func withinFire(ctx sdk.Context) sdk.Context { return ctx.WithValue(firingKey{}, true) }

func isWithinFire(ctx context.Context) bool { return ctx.Value(firingKey{}) != nil }
