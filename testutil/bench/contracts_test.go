package bench_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/testutil/bench/contracts"
)

func TestPinningMakesContractsCheaperAndTheirCostIsBounded(t *testing.T) {
	measured, err := contracts.MeasureContracts(10, 1)
	require.NoError(t, err)
	rows := map[string]contracts.ContractCall{}
	for _, row := range measured.Rows {
		require.Positive(t, row.Micros, row.What)
		rows[row.What] = row
	}
	require.Len(t, rows, 8)
	for _, kind := range []string{"fire", "bid query"} {
		pinned, unpinned := rows[kind+" of a contract, pinned"], rows[kind+" of a contract, not pinned"]
		require.InDelta(t, 58_000, unpinned.Cycles-pinned.Cycles, 1e-9, kind)
		require.InDelta(t, unpinned.Gas, rows[kind+" of a contract, not pinned, from disk"].Gas, 1e-9, "gas knows nothing of caches")
		require.InDelta(t, unpinned.All, pinned.All, 1e-9, "nor does pinning read less of the state")
	}
	beat, send := rows["fire of a contract, pinned"], rows["fire of a bank send"]
	require.Less(t, beat.Cycles, 65_000.0)
	require.LessOrEqual(t, beat.Cells, 570.0)
	require.Less(t, send.Cycles, 39_000.0)
	// It schedules by itself: its block writes what it has changed before, and reads the logs to which both append.
	require.Less(t, beat.All, send.All+28)
	require.Less(t, rows["bid query of a contract, pinned"].Cycles, 7_000.0)
	require.LessOrEqual(t, rows["bid query of a contract, pinned"].All, 3.0)
	require.Less(t, rows["a bank send through the router"].All, send.All/2)
}
