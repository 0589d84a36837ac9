package tip

import (
	"testing"

	"github.com/stretchr/testify/require"

	rules "github.com/cosmos-timers/timers/x/timers/market/tip"
)

// TestAForgottenRecordHasNoLastFire, whether it has been removed yet or not.
func TestAForgottenRecordHasNoLastFire(t *testing.T) {
	record := &Weight{Epoch: 7, LastFire: 40}
	require.Equal(t, uint64(40), lastFire(record, 7+rules.ForgottenAfter))
	require.Zero(t, lastFire(record, 7+rules.ForgottenAfter+1))
	require.Zero(t, lastFire(nil, 7))
}
