package workload

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMedianIsTheLowerMiddleValue(t *testing.T) {
	require.InDelta(t, 2, Median([]float64{3, 1, 2}), 0)
	require.InDelta(t, 2, Median([]float64{4, 3, 1, 2}), 0)
}
