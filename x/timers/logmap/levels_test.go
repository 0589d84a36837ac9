package logmap_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/logmap"
)

// TestChangesGoDownTheLevels: the owner index's sizes, eight full chunks make a run of level 1, eight runs move down, and
// in the end the bottom alone is left. A log that the bottom is small enough for goes there at once.
//
// Rule: 2.3-levels
func TestChangesGoDownTheLevels(t *testing.T) {
	m := logmap.New(newStore(), logmap.Options{Range: func([]byte) uint64 { return 0 }, LogBytes: 64, ChunkBytes: 256, MergeLogs: 8, Runs: 8})
	keys, live := newKeys(), [][]byte{}
	var bottomFirst bool
	var most []int
	for height := range uint64(3_000) {
		live = append(live, insert(t, m, keys, 20)...)
		for ; len(live) > 5_000; live = live[1:] {
			require.NoError(t, m.Delete(ctx, live[0]))
		}
		for {
			idle, err := m.Maintain(ctx, height)
			require.NoError(t, err)
			if idle {
				break
			}
		}
		full, runs, err := m.Shape(ctx, 0)
		require.NoError(t, err)
		require.Less(t, full, 8, "a log of eight full chunks is made a run")
		bottomFirst = bottomFirst || len(runs) == 1 && runs[0] > 0
		for level, n := range runs {
			if level == len(most) {
				most = append(most, 0)
			}
			most[level] = max(most[level], n)
			if level > 0 {
				require.Less(t, n, 8, "eight runs of a level move down")
			}
		}
	}
	require.True(t, bottomFirst, "the first logs go to the bottom at once")
	require.GreaterOrEqual(t, len(most), 2)
	require.Equal(t, 7, most[1], "runs of level 1 wait until there are eight")
	require.NoError(t, m.Check(ctx))
	n, err := m.Count(ctx, nil, nil)
	require.NoError(t, err)
	require.EqualValues(t, len(live), n)
}
