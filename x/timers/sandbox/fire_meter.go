package sandbox

import (
	"fmt"

	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

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
