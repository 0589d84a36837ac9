package triggers

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOwnersAreInTheStoresOrder(t *testing.T) {
	short, a, b := []byte("z"), []byte("aa"), []byte("bb")
	require.Negative(t, compareOwners(short, a))
	require.Negative(t, compareOwners(a, b))
	require.Zero(t, compareOwners(a, a))
	require.Negative(t, compareCyclic(b, b, a), "from the first on")
	require.Negative(t, compareCyclic(b, short, a), "and around")
	require.Negative(t, compareCyclic(nil, short, a))
}

// TestDistinctPassesOverLongRuns: each owner is returned once, and few entries of a crowd are read.
func TestDistinctPassesOverLongRuns(t *testing.T) {
	entries := map[byte]int{1: 1, 2: 10_000, 3: 2, 5: maxStreak, 6: maxStreak + 1, 7: 1}
	read := 0
	walk := func(owner []byte, past uint64, fn func([]byte) bool) error {
		for o := byte(1); o < 9; o++ {
			if o < owner[0] || o == owner[0] && past > 0 {
				continue
			}
			for range entries[o] {
				read++
				if fn([]byte{o}) {
					return nil
				}
			}
		}
		return nil
	}
	owners, err := distinct([]byte{1}, 10, walk)
	require.NoError(t, err)
	require.Equal(t, [][]byte{{1}, {2}, {3}, {5}, {6}, {7}}, owners)
	require.Less(t, read, 6*(maxStreak+2))
	owners, err = distinct([]byte{2}, 2, walk)
	require.NoError(t, err)
	require.Equal(t, [][]byte{{2}, {3}}, owners)
}
