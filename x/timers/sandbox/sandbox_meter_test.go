package sandbox

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

const largest = ^uint64(0)

func used(m *Meter) [2]uint64 {
	cycles, cells := m.Used()
	return [2]uint64{cycles, cells}
}

// Rule: 1.1-cycle, 1.1-cell
func TestWritesPerByteAreCellsAndAllElseIsCycles(t *testing.T) {
	m := NewMeter(10_000, 100, 30)
	m.ConsumeGas(2_000, storetypes.GasWriteCostFlatDesc)
	m.ConsumeGas(90, storetypes.GasReadPerByteDesc)
	m.ConsumeGas(7*30, storetypes.GasWritePerByteDesc)
	m.ConsumeGas(1_000, storetypes.GasDeleteDesc)
	m.ConsumeGas(1, "")
	require.Equal(t, [2]uint64{3_091, 7}, used(m))
	require.Equal(t, uint64(3_091), m.GasConsumed(), "to those who look, it is a meter of cycles")
	require.Equal(t, uint64(10_000-3_091), m.GasRemaining())
	require.Equal(t, uint64(10_000), m.Limit())

	// A transient store charges 3 a byte under the same name: ten such bytes are one cell, and what is left over are
	// cycles.
	m.ConsumeGas(32*3, storetypes.GasWritePerByteDesc)
	require.Equal(t, [2]uint64{3_091 + 6, 7 + 3}, used(m))
}

func TestAMeterWithoutWriteCostCountsCyclesAlone(t *testing.T) {
	m := NewMeter(100, 0, 0)
	m.ConsumeGas(60, storetypes.GasWritePerByteDesc)
	require.Equal(t, [2]uint64{60, 0}, used(m))
}

func TestALimitPassedIsRemembered(t *testing.T) {
	for name, tc := range map[string]struct {
		amount     uint64
		descriptor string
		want       error
		billed     [2]uint64
	}{
		"one cycle too many":  {101, "x", types.ErrOutOfCycles, [2]uint64{100, 0}},
		"all at once":         {largest, "x", types.ErrOutOfCycles, [2]uint64{100, 0}},
		"one cell too many":   {30 * 11, storetypes.GasWritePerByteDesc, types.ErrOutOfCells, [2]uint64{0, 10}},
		"all cells at once":   {largest, storetypes.GasWritePerByteDesc, types.ErrOutOfCells, [2]uint64{largest % 30, 10}},
		"cells keep the rest": {30*11 + 29, storetypes.GasWritePerByteDesc, types.ErrOutOfCells, [2]uint64{29, 10}},
	} {
		m := NewMeter(100, 10, 30)
		require.PanicsWithValue(t, storetypes.ErrorOutOfGas{Descriptor: tc.descriptor}, func() { m.ConsumeGas(tc.amount, tc.descriptor) }, name)
		require.ErrorIs(t, m.exceeded, tc.want, name)
		require.Equal(t, tc.billed, used(m), name)
		require.True(t, m.IsPastLimit(), name)
		require.True(t, m.IsOutOfGas(), name)

		// Whatever is given back, and however often it is asked again: it was exceeded.
		if m.GasConsumed() > 0 {
			m.RefundGas(m.GasConsumed(), "x")
		}
		require.ErrorIs(t, m.exceeded, tc.want, name)
		require.True(t, m.IsPastLimit(), name)
	}
}

func TestMeterAtItsLimit(t *testing.T) {
	m := NewMeter(100, 10, 30)
	m.ConsumeGas(100, "x")
	m.ConsumeGas(300, storetypes.GasWritePerByteDesc)
	require.NoError(t, m.exceeded)
	require.False(t, m.IsPastLimit())
	require.True(t, m.IsOutOfGas())
	require.Zero(t, m.GasRemaining())
	require.Equal(t, [2]uint64{100, 10}, used(m))
	m.ConsumeGas(0, "x")
	require.Panics(t, func() { m.ConsumeGas(1, "x") })
}

func TestAMeterSaturates(t *testing.T) {
	m := NewMeter(1_000, 10, 1)
	for range 3 {
		require.Panics(t, func() { m.ConsumeGas(largest, "x") })
		require.Panics(t, func() { m.ConsumeGas(largest, storetypes.GasWritePerByteDesc) })
	}
	require.Equal(t, largest, m.GasConsumed())
	require.Equal(t, uint64(1_000), m.GasConsumedToLimit())
	require.Equal(t, [2]uint64{1_000, 10}, used(m))
}

func TestRefundsGiveBackCyclesUsed(t *testing.T) {
	m := NewMeter(100, 10, 30)
	m.ConsumeGas(60, "x")
	m.RefundGas(20, "x")
	require.Equal(t, uint64(40), m.GasConsumed())
	require.PanicsWithValue(t, storetypes.ErrorNegativeGasConsumed{Descriptor: "y"}, func() { m.RefundGas(41, "y") })
	require.Equal(t, uint64(40), m.GasConsumed())
	require.NotEmpty(t, m.String())
}

// TestGasIsCyclesAndCells: gas = cycles + WriteCostPerByte × cells, exactly, whatever is consumed (x/timers/README.md,
// "1.1 Units").
//
// Rule: 1.1-gas-is-cycles-and-cells
func TestGasIsCyclesAndCells(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		perByte := rapid.Uint64Range(1, 100).Draw(t, "per byte")
		m := NewMeter(1<<50, 1<<50, perByte)
		total := uint64(0)
		for _, amount := range rapid.SliceOf(rapid.Uint64Range(0, 1<<40)).Draw(t, "amounts") {
			descriptor := rapid.SampledFrom([]string{storetypes.GasWritePerByteDesc, "other"}).Draw(t, "descriptor")
			m.ConsumeGas(amount, descriptor)
			total += amount
		}
		cycles, cells := m.Used()
		if total != cycles+perByte*cells {
			t.Fatalf("consumed %d, booked %d cycles and %d cells at %d", total, cycles, cells, perByte)
		}
	})
}
