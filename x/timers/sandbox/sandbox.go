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
	"fmt"
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
	// Fire is the one whose actor runs, empty if none does.
	Fire Fire
}

// Fire is what code knows of the fire that it belongs to.
type Fire struct {
	// Meter of the fire, for code inside the handler that runs on another meter.
	Meter storetypes.GasMeter
	// SudoOf is the contract whose sudo it runs, empty if it runs messages.
	SudoOf sdk.AccAddress
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

// WithFire marks a context as that of an actor's part of a fire, which runs the sudo of a contract unless that is empty.
func WithFire(ctx context.Context, sudoOf sdk.AccAddress) sdk.Context {
	sdkCtx, s := sdk.UnwrapSDKContext(ctx), ScopeOf(ctx)
	s.Fire = Fire{sdkCtx.GasMeter(), sudoOf}
	return sdkCtx.WithValue(scopeKey{}, s)
}

// IsWithinFire reports whether ctx is that of a handler, or stems from one.
func IsWithinFire(ctx context.Context) bool { return ScopeOf(ctx).firing }

// ReadMeter meters code that may only read, such as a bidding agent. It refuses the store's charges for writing, so that
// code that tries to write fails.
type ReadMeter struct {
	storetypes.GasMeter
	// wrote is the error of code that tried to write.
	wrote error
	// exceeded is sticky: code that catches the panic of its meter fails nevertheless.
	exceeded error
}

// NewReadMeter returns a meter of so many cycles. Code that tries to write fails with the error.
func NewReadMeter(limit uint64, wrote error) *ReadMeter {
	return &ReadMeter{GasMeter: storetypes.NewGasMeter(limit), wrote: wrote}
}

// ConsumeGas panics, as gas meters do, when the limit is passed, and at the first write.
func (m *ReadMeter) ConsumeGas(amount storetypes.Gas, descriptor string) {
	switch descriptor {
	case storetypes.GasWriteCostFlatDesc, storetypes.GasWritePerByteDesc, storetypes.GasDeleteDesc:
		m.exceeded = m.wrote
		panic(storetypes.ErrorOutOfGas{Descriptor: descriptor})
	}
	if m.exceeded == nil && amount > m.GasRemaining() {
		m.exceeded = types.ErrOutOfCycles
	}
	m.GasMeter.ConsumeGas(amount, descriptor)
}

// Exceeded is why the code failed on its meter: the error of a write, types.ErrOutOfCycles, or nil if it did not.
func (m *ReadMeter) Exceeded() error { return m.exceeded }

func (m *ReadMeter) String() string {
	return fmt.Sprintf("ReadMeter: cycles %d of %d", m.GasConsumedToLimit(), m.Limit())
}

// Meter counts cycles and cells of one fire on one gas meter (x/timers/README.md, "1.1 Units"). The gas that the
// store charges per written byte is booked as cells, all other gas as cycles, so that gas = cycles + WriteCostPerByte ×
// cells holds exactly.
//
// As a gas meter it reports cycles only: limit, use and rest are cycles. Otherwise a virtual machine that asks for the
// rest could compute with the gas of the cells.
type Meter struct {
	cycles, cells       uint64
	maxCycles, maxCells uint64
	costPerByte         uint64
	// exceeded is sticky: a handler that catches the panic of an exhausted meter fails nevertheless.
	exceeded error
}

var _ storetypes.GasMeter = (*Meter)(nil)

// NewMeter returns a meter with these limits, for a store that charges so much gas for a written byte.
func NewMeter(maxCycles, maxCells, writeCostPerByte uint64) *Meter {
	return &Meter{maxCycles: maxCycles, maxCells: maxCells, costPerByte: writeCostPerByte}
}

// Exceeded is the error of the limit that was passed, nil if none was.
func (m *Meter) Exceeded() error { return m.exceeded }

// Used returns what is billed. It is never more than the limits, although the last charge, which stops the handler, may
// exceed them.
func (m *Meter) Used() (cycles, cells uint64) {
	return min(m.cycles, m.maxCycles), min(m.cells, m.maxCells)
}

// ConsumeGas books the amount by its descriptor and panics, as gas meters do, when a limit is passed.
func (m *Meter) ConsumeGas(amount storetypes.Gas, descriptor string) {
	cycles := amount
	if descriptor == storetypes.GasWritePerByteDesc && m.costPerByte > 0 {
		cells := amount / m.costPerByte
		cycles = amount % m.costPerByte
		m.cells = addSaturating(m.cells, cells)
	}
	m.cycles = addSaturating(m.cycles, cycles)
	switch {
	case m.cycles > m.maxCycles:
		m.exceeded = types.ErrOutOfCycles
	case m.cells > m.maxCells:
		m.exceeded = types.ErrOutOfCells
	default:
		return
	}
	panic(storetypes.ErrorOutOfGas{Descriptor: descriptor})
}

// RefundGas gives cycles back.
func (m *Meter) RefundGas(amount storetypes.Gas, descriptor string) {
	if amount > m.cycles {
		panic(storetypes.ErrorNegativeGasConsumed{Descriptor: descriptor})
	}
	m.cycles -= amount
}

// GasConsumed returns the cycles consumed, beyond the limit if the last charge overshot it.
func (m *Meter) GasConsumed() storetypes.Gas { return m.cycles }

// GasConsumedToLimit returns the cycles consumed, at most the limit.
func (m *Meter) GasConsumedToLimit() storetypes.Gas { return min(m.cycles, m.maxCycles) }

// GasRemaining returns the cycles left.
func (m *Meter) GasRemaining() storetypes.Gas { return m.maxCycles - m.GasConsumedToLimit() }

// Limit returns the most cycles that may be consumed.
func (m *Meter) Limit() storetypes.Gas { return m.maxCycles }

// IsPastLimit reports whether a limit was passed.
func (m *Meter) IsPastLimit() bool { return m.exceeded != nil }

// IsOutOfGas reports whether a limit was reached.
func (m *Meter) IsOutOfGas() bool { return m.exceeded != nil || m.cycles >= m.maxCycles }

func (m *Meter) String() string {
	return fmt.Sprintf("fire meter: cycles %d of %d, cells %d of %d", m.cycles, m.maxCycles, m.cells, m.maxCells)
}

func addSaturating(a, b uint64) uint64 {
	if sum := a + b; sum >= a {
		return sum
	}
	return ^uint64(0)
}
