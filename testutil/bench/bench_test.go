package bench_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/testutil/bench"
	"github.com/cosmos-timers/timers/testutil/bench/figure"
)

func TestReportPrintsTablesAndJSON(t *testing.T) {
	report, err := bench.Run(bench.Options{Options: figure.Options{Quick: true, Seed: 1}, Only: "sizes"})
	require.NoError(t, err)
	var text bytes.Buffer
	require.NoError(t, report.WriteText(&text))
	require.Contains(t, text.String(), report.Machine.GoVersion)
	require.Contains(t, text.String(), "schedule the 100th")
	require.NotContains(t, text.String(), "pending", "a figure that was not measured prints no table")

	bz, err := json.Marshal(report)
	require.NoError(t, err)
	var again bench.Report
	require.NoError(t, json.Unmarshal(bz, &again))
	require.Equal(t, report, &again)

	_, err = bench.Run(bench.Options{Only: "sizes,bytes"})
	require.ErrorContains(t, err, "bytes")
}
