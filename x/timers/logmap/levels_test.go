package logmap_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/logmap"
)

// TestChangesGoDownTheLevels: with the counts of the owner index a full log makes a run of level 1, and eight runs move
// down: to the next level, or into the ranges once that is worth it. There they go to the bottom at once while it is small,
// and eight of them later.
//
// Rule: 2.3-levels
func TestChangesGoDownTheLevels(t *testing.T) {
	opts := logmap.Options{Range: sixtyFour, LogBytes: 64, ChunkBytes: 256, MergeLogs: 4, Runs: 8, Split: 48}
	m := logmap.New(newStore(), opts)
	keys, live := newKeys(), [][]byte{}
	bottomFirst := false
	// The most runs of each level, in the front and in a range.
	var most [2][]int
	for height := range uint64(4_000) {
		live = append(live, insert(t, m, keys, 20)...)
		for ; len(live) > 10_000; live = live[1:] {
			require.NoError(t, m.Delete(ctx, live[0]))
		}
		for {
			idle, err := m.Maintain(ctx, height)
			require.NoError(t, err)
			if idle {
				break
			}
		}
		for r := range most {
			full, runs, err := m.Shape(ctx, uint64(r))
			require.NoError(t, err)
			require.Less(t, full, 4, "a log of four full chunks is made a run")
			bottomFirst = bottomFirst || r > 0 && len(runs) == 1 && runs[0] > 0
			for level, n := range runs {
				if level == len(most[r]) {
					most[r] = append(most[r], 0)
				}
				most[r][level] = max(most[r][level], n)
				require.Less(t, n, 8, "eight runs of a level move down")
			}
		}
	}
	require.True(t, bottomFirst, "what a range receives first goes to the bottom at once")
	require.Equal(t, [2][]int{{0, 7, 7}, {1, 7}}, most, "runs wait until there are eight")
	require.NoError(t, m.Check(ctx))
	n, err := m.Count(ctx, nil, nil)
	require.NoError(t, err)
	require.EqualValues(t, len(live), n)
}
