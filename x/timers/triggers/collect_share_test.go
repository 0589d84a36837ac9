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
