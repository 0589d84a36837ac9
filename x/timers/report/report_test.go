package report_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos-timers/timers/x/timers/report"
)

func TestOperationsAreCountedByKind(t *testing.T) {
	var o report.Operations
	inner := storetypes.NewGasMeter(1_000)
	meter := o.Meter(inner)
	for _, descriptor := range []string{
		storetypes.GasReadCostFlatDesc, storetypes.GasHasDesc, storetypes.GasReadPerByteDesc, storetypes.GasWriteCostFlatDesc,
		storetypes.GasWritePerByteDesc, storetypes.GasDeleteDesc, storetypes.GasIterNextCostFlatDesc, "anything else",
	} {
		meter.ConsumeGas(10, descriptor)
	}
	require.Equal(t, uint64(80), inner.GasConsumed(), "it charges what it counts")

	counted := map[string]uint64{}
	o.Each(func(kind string, n uint64) { counted[kind] = n })
	require.Equal(t, map[string]uint64{"read": 2, "write": 1, "delete": 1, "iterate": 1}, counted)

	unmetered, ok := meter.(interface{ Unmetered() storetypes.GasMeter })
	require.True(t, ok)
	unmetered.Unmetered().ConsumeGas(5_000, storetypes.GasDeleteDesc)
	o.Each(func(kind string, n uint64) { counted[kind] = n })
	require.Equal(t, map[string]uint64{"read": 2, "write": 1, "delete": 2, "iterate": 1}, counted, "what is not charged is counted")
	require.Equal(t, uint64(80), inner.GasConsumed())
}

func TestRuntimesWithoutANameShareOne(t *testing.T) {
	require.Equal(t, "other", report.RuntimeName(struct{}{}))
	require.Equal(t, "mine", report.RuntimeName(named("mine")))
	require.NotEmpty(t, report.NoRuntime)
}

type named string

func (n named) Name() string { return string(n) }
