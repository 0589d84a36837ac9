package triggers

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestSharesAreEqual: each party gets an equal share of the budget before any gets more, the budget is used up while
// anybody wants more, and a party that wants more is next.
//
// Rule: 1.10-owners-take-turns
func TestSharesAreEqual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		wants := rapid.SliceOfN(rapid.IntRange(1, 40), 0, 30).Draw(t, "wants")
		budget := rapid.IntRange(1, 300).Draw(t, "budget")
		got := make([]int, len(wants))
		next, err := share(len(wants), budget, func(party, limit int) (int, bool, error) {
			require.Positive(t, limit)
			used := min(limit, wants[party]-got[party])
			got[party] += used
			return used, got[party] == wants[party], nil
		})
		require.NoError(t, err)
		total, wanted, most := 0, 0, 0
		for i := range wants {
			total, wanted, most = total+got[i], wanted+wants[i], max(most, got[i])
		}
		require.Equal(t, min(budget, wanted), total)
		if total == wanted {
			require.Equal(t, len(wants), next)
			return
		}
		require.Less(t, got[next], wants[next])
		if budget >= len(wants) {
			for i := range wants {
				require.GreaterOrEqual(t, got[i], min(wants[i], budget/len(wants)), "an equal share comes first")
			}
		} else {
			require.Equal(t, 1, most)
			require.Equal(t, budget, next, "the turn goes on where it ended")
		}
	})
}

func TestSharingStopsAtAnError(t *testing.T) {
	failure := errors.New("fails")
	calls := 0
	_, err := share(5, 10, func(party, _ int) (int, bool, error) {
		if calls++; party == 2 {
			return 0, false, failure
		}
		return 1, true, nil
	})
	require.ErrorIs(t, err, failure)
	require.Equal(t, 3, calls)
}

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
