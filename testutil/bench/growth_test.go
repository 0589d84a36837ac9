package bench_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/testutil/bench/growth"
)

// The model is checked where a tree of the size is made; beyond it is all there is.
func TestTheModelOfGrowthIsTheTrees(t *testing.T) {
	for _, pending := range []int{10_000, 50_000} {
		for _, timers := range []int{50, 500} {
			nodes, err := growth.Nodes(pending, timers, 1)
			require.NoError(t, err)
			require.InEpsilon(t, growth.Model(pending, timers), nodes, 0.05, "%d pending, %d a block", pending, timers)
		}
	}
}
