package bench_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/testutil/bench/lifetime"
	"github.com/cosmos-timers/timers/testutil/bench/overhead"
	"github.com/cosmos-timers/timers/testutil/bench/workload"
)

func TestOverheadComparesFiresThatSendWithSends(t *testing.T) {
	o, err := overhead.MeasureOverhead(5, 3)
	require.NoError(t, err)
	require.Positive(t, o.FireMicros)
	require.Positive(t, o.SendMicros)
	require.Positive(t, o.Ratio)
}

func TestWhatRepeatsAndWhatCanBeWatchedIsComparedWithWhatIsNot(t *testing.T) {
	r, err := overhead.MeasureRepeating(5, 3, 2_000, 1)
	require.NoError(t, err)
	require.Positive(t, r.Ratio)
	require.Positive(t, r.Nodes)
	once, err := lifetime.MeasureLifetime(lifetime.DefaultWorkload(2_000, workload.FIFO, 4, 1))
	require.NoError(t, err)
	// Few fires share what a block writes in any case: the heads of logs, the lane, the receipts.
	require.Less(t, r.Nodes, once.Nodes+2, "%+v", r)
	for _, watching := range []int{0, 20} {
		w, err := overhead.MeasureWatchable(5, 3, watching)
		require.NoError(t, err)
		require.Positive(t, w.Ratio)
	}
}
