package bench_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/testutil/bench/workload"
)

func TestMedianIsTheLowerMiddleValue(t *testing.T) {
	require.InDelta(t, 2, workload.Median([]float64{3, 1, 2}), 0)
	require.InDelta(t, 2, workload.Median([]float64{4, 3, 1, 2}), 0)
}
