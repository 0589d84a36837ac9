package sandbox

import (
	"fmt"

	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

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
