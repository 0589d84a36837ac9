package types_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// TestOnFailure_CountsFailuresForSuspensionAlone: a number of failures that ends nothing is refused.
func TestOnFailure_CountsFailuresForSuspensionAlone(t *testing.T) {
	require.NoError(t, types.OnFailureSuspend.CheckMaxFailures(3))
	for _, other := range []types.OnFailure{types.OnFailureUnspecified, types.OnFailureRoll, types.OnFailureStop} {
		require.NoError(t, other.CheckMaxFailures(0))
		require.ErrorContains(t, other.CheckMaxFailures(3), "max_failures is 3 and on_failure not suspend")
	}
}
