package agents

import (
	"fmt"

	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// quoteMeter meters the call of an agent. It refuses the store's charges for writing, so that an agent that tries to
// write fails.
type quoteMeter struct {
	storetypes.GasMeter
	// exceeded is sticky: an agent that catches the panic of its meter fails nevertheless.
	exceeded error
}

func newQuoteMeter(limit uint64) *quoteMeter {
	return &quoteMeter{GasMeter: storetypes.NewGasMeter(limit)}
}

// ConsumeGas panics, as gas meters do, when the limit is passed, and at the first write.
func (m *quoteMeter) ConsumeGas(amount storetypes.Gas, descriptor string) {
	switch descriptor {
	case storetypes.GasWriteCostFlatDesc, storetypes.GasWritePerByteDesc, storetypes.GasDeleteDesc:
		m.exceeded = types.ErrAgentWrote
		panic(storetypes.ErrorOutOfGas{Descriptor: descriptor})
	}
	if m.exceeded == nil && amount > m.GasRemaining() {
		m.exceeded = types.ErrOutOfCycles
	}
	m.GasMeter.ConsumeGas(amount, descriptor)
}

func (m *quoteMeter) String() string {
	return fmt.Sprintf("quoteMeter: cycles %d of %d", m.GasConsumedToLimit(), m.Limit())
}
