package report

import (
	storetypes "cosmossdk.io/store/types"
)

// Kinds of operations on state.
const (
	opRead = iota
	opWrite
	opDelete
	opIterate
	opKinds
)

var operationNames = [opKinds]string{"read", "write", "delete", "iterate"}

// Operations counts the operations on state that a gas meter is charged for. It belongs to one block.
type Operations struct{ of [opKinds]uint64 }

// Meter returns a gas meter that counts what it is charged for and is otherwise like the given one.
func (o *Operations) Meter(inner storetypes.GasMeter) storetypes.GasMeter {
	return &countingMeter{inner, o}
}

// Each calls fn for each kind of operation.
func (o *Operations) Each(fn func(kind string, n uint64)) {
	for kind, n := range o.of {
		fn(operationNames[kind], n)
	}
}

// countingMeter tells the operations of a store by the descriptors of their flat charges.
type countingMeter struct {
	storetypes.GasMeter

	counts *Operations
}

// ConsumeGas counts the operation and charges for it.
func (m *countingMeter) ConsumeGas(amount storetypes.Gas, descriptor string) {
	switch descriptor {
	case storetypes.GasReadCostFlatDesc, storetypes.GasHasDesc:
		m.counts.of[opRead]++
	case storetypes.GasWriteCostFlatDesc:
		m.counts.of[opWrite]++
	case storetypes.GasDeleteDesc:
		m.counts.of[opDelete]++
	case storetypes.GasIterNextCostFlatDesc:
		m.counts.of[opIterate]++
	}
	m.GasMeter.ConsumeGas(amount, descriptor)
}

// Unmetered returns a meter without a limit that counts the same operations (types.Unmetered).
func (m *countingMeter) Unmetered() storetypes.GasMeter {
	return m.counts.Meter(storetypes.NewInfiniteGasMeter())
}
