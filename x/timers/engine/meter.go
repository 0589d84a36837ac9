package engine

import (
	"fmt"

	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// fireMeter counts cycles and cells of one fire on one gas meter (x/timers/README.md, "1.1 Units"). The gas that the
// store charges per written byte is booked as cells, all other gas as cycles, so that gas = cycles + WriteCostPerByte ×
// cells holds exactly.
//
// As a gas meter it reports cycles only: limit, use and rest are cycles. Otherwise a virtual machine that asks for the
// rest could compute with the gas of the cells.
type fireMeter struct {
	cycles, cells       uint64
	maxCycles, maxCells uint64
	costPerByte         uint64
	// exceeded is sticky: a handler that catches the panic of an exhausted meter fails nevertheless.
	exceeded error
}

var _ storetypes.GasMeter = (*fireMeter)(nil)

func newFireMeter(maxCycles, maxCells, writeCostPerByte uint64) *fireMeter {
	return &fireMeter{maxCycles: maxCycles, maxCells: maxCells, costPerByte: writeCostPerByte}
}

// used returns what is billed. It is never more than the limits, although the last charge, which stops the handler, may
// exceed them.
func (m *fireMeter) used() (cycles, cells uint64) {
	return min(m.cycles, m.maxCycles), min(m.cells, m.maxCells)
}

// ConsumeGas books the amount by its descriptor and panics, as gas meters do, when a limit is passed.
func (m *fireMeter) ConsumeGas(amount storetypes.Gas, descriptor string) {
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
func (m *fireMeter) RefundGas(amount storetypes.Gas, descriptor string) {
	if amount > m.cycles {
		panic(storetypes.ErrorNegativeGasConsumed{Descriptor: descriptor})
	}
	m.cycles -= amount
}

// GasConsumed returns the cycles consumed, beyond the limit if the last charge overshot it.
func (m *fireMeter) GasConsumed() storetypes.Gas { return m.cycles }

// GasConsumedToLimit returns the cycles consumed, at most the limit.
func (m *fireMeter) GasConsumedToLimit() storetypes.Gas { return min(m.cycles, m.maxCycles) }

// GasRemaining returns the cycles left.
func (m *fireMeter) GasRemaining() storetypes.Gas { return m.maxCycles - m.GasConsumedToLimit() }

// Limit returns the most cycles that may be consumed.
func (m *fireMeter) Limit() storetypes.Gas { return m.maxCycles }

// IsPastLimit reports whether a limit was passed.
func (m *fireMeter) IsPastLimit() bool { return m.exceeded != nil }

// IsOutOfGas reports whether a limit was reached.
func (m *fireMeter) IsOutOfGas() bool { return m.exceeded != nil || m.cycles >= m.maxCycles }

func (m *fireMeter) String() string {
	return fmt.Sprintf("fireMeter: cycles %d of %d, cells %d of %d", m.cycles, m.maxCycles, m.cells, m.maxCells)
}

func addSaturating(a, b uint64) uint64 {
	if sum := a + b; sum >= a {
		return sum
	}
	return ^uint64(0)
}
