package bench_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/testutil/bench/blocks"
	"github.com/cosmos-timers/timers/testutil/bench/workload"
)

func TestAnEmptyBlockCostsTheSameWhateverIsPending(t *testing.T) {
	few, err := blocks.MeasureEmpty(10, 1)
	require.NoError(t, err)
	many, err := blocks.MeasureEmpty(10_000, 1)
	require.NoError(t, err)
	require.Equal(t, few.PerBlock, many.PerBlock)
	require.LessOrEqual(t, few.Most.Reads(), 15)
	require.Zero(t, few.Sum.Deletes)
	require.LessOrEqual(t, few.Sum.Sets, 1+few.Blocks/100, "a quiet block writes nothing, but for the cursors from time to time")
}

func TestGasOfSchedulingIsBoundedWhateverTheActorHas(t *testing.T) {
	sizes, err := blocks.MeasureSizes()
	require.NoError(t, err)
	gas := map[string]uint64{}
	for _, g := range sizes.Gas {
		gas[g.Message] = g.Gas
	}
	require.Len(t, gas, 14)
	require.Equal(t, gas["schedule the 1st"], gas["schedule the 10th"])
	require.Less(t, gas["schedule the 100th"], uint64(40_000))
	require.Less(t, gas["cancel the 100th"], uint64(32_000))
	require.Greater(t, sizes.RecordBytes, workload.PayloadBytes)
	require.Less(t, sizes.RecordBytes, 256)
	require.Less(t, sizes.EntryBytes, 32)
}
