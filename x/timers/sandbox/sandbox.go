// Package sandbox holds every recover and every branch of state of the module.
//
// One sandbox serves three levels: the end-of-block step as a whole, one timer, and the handler of one fire. A failure
// inside has no effect outside: its writes and events are dropped, and the caller decides what that means at its level
// (x/timers/README.md, "5.5 Failures").
//
// Not every failure can be caught: a stack overflow or exhausted memory ends the process. Code that runs inside is
// therefore bounded by gas, so that it does not come to that: Meter counts the cycles and cells of a fire.
//
// # Branches
//
// The SDK's own branch makes a cache for every mounted store, and each cache consists of maps. A fire uses few stores and
// writes few keys. NewBranch makes the cache of a store when the store is first used, and keeps its entries
// in a slice until somebody iterates. To those who use it, it is the SDK's branch: a property test holds the two to the same
// results.
package sandbox

import (
	"context"
	"errors"
	"runtime/debug"

	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Run runs fn on a branch of ctx. If fn succeeds, its writes and events are kept. If it fails or panics, they are
// dropped and the error is returned: a panic of a gas meter as ErrOutOfCycles, any other panic as ErrPanicked.
func Run(ctx sdk.Context, fn func(sdk.Context) error) (err error) {
	if s := ScopeOf(ctx); s.Memory != nil && s.Left == nil {
		mark := s.Memory.Mark()
		defer func() {
			if err != nil {
				s.Memory.Undo(mark)
			}
		}()
	}
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
	if s := ScopeOf(ctx); s.Memory != nil && s.Left == nil {
		mark := s.Memory.Mark()
		defer func() { s.Memory.Undo(mark) }()
	}
	defer recoverInto(ctx, &err)
	own, _ := branchOf(ctx)
	return fn(own)
}

// branchOf is ctx.CacheContext with a branch that costs less while few keys are written.
func branchOf(ctx sdk.Context) (sdk.Context, storetypes.CacheMultiStore) {
	own := NewBranch(ctx.MultiStore())
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

// Memory is what the steps of a block know of state, and have not written yet. What a sandbox drops is undone in it too.
type Memory interface {
	// Mark is where Undo returns to.
	Mark() int
	Undo(mark int)
}

// Scope is where a context stands: in a block's steps, which have a memory, in what they have called, or in neither, as
// transactions and queries are.
type Scope struct {
	Memory Memory
	// Left is the context in which the steps called a handler, an agent or a fee market; nil in the steps. What those do may be
	// undone without the memory, and must not change it.
	Left *sdk.Context
	// firing: a handler or the like runs, whether steps with a memory have called it or not.
	firing bool
}

type scopeKey struct{}

// ScopeOf returns the scope of a context.
func ScopeOf(ctx context.Context) Scope {
	s, _ := ctx.Value(scopeKey{}).(Scope)
	return s
}

// WithMemory gives a context, and those that stem from it, a memory.
func WithMemory(ctx sdk.Context, m Memory) sdk.Context {
	s := ScopeOf(ctx)
	s.Memory, s.Left = m, nil
	return ctx.WithValue(scopeKey{}, s)
}

// WithinFire marks a context as that of a handler, in which timers can't be run. It leaves the memory.
func WithinFire(ctx sdk.Context) sdk.Context {
	s := ScopeOf(ctx)
	if s.firing = true; s.Memory != nil && s.Left == nil {
		s.Left = &ctx
	}
	return ctx.WithValue(scopeKey{}, s)
}

// IsWithinFire reports whether ctx is that of a handler, or stems from one.
func IsWithinFire(ctx context.Context) bool { return ScopeOf(ctx).firing }
