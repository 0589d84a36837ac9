package metrics_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/stretchr/testify/require"

	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos-timers/timers/x/timers/actors"
	"github.com/cosmos-timers/timers/x/timers/client/metrics"
	"github.com/cosmos-timers/timers/x/timers/report"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// filled returns a registry in which every metric has a series.
func filled(t *testing.T) (*prometheus.Registry, *metrics.Metrics) {
	t.Helper()
	registry := prometheus.NewRegistry()
	m := metrics.New(registry)
	m.CountPendingBy(func() (uint64, error) { return 7, nil })
	m.Count(&report.Block{
		TimerLaneSummary: &types.TimerLaneSummary{LaneBasefee: "0.0025", Burned: "10"},
		Fires:            []report.Fire{{Receipt: &types.Receipt{Success: true, Late: 3}, Runtime: "account"}},
		Held:             []types.HoldReason{types.Quarantined}, Released: []types.HoldReason{types.Unfunded},
	})
	m.Start().Lap("execute")
	return registry, m
}

func value(t *testing.T, registry *prometheus.Registry, name string) (sum float64, series int) {
	t.Helper()
	families, err := registry.Gather()
	require.NoError(t, err)
	for _, family := range families {
		if family.GetName() == name {
			for _, metric := range family.GetMetric() {
				sum += metric.GetCounter().GetValue() + metric.GetGauge().GetValue()
			}
			series = len(family.GetMetric())
		}
	}
	return sum, series
}

var row = regexp.MustCompile("^\\| `(timers_[a-z0-9_]+)` \\| (counter|gauge|histogram) \\| ([^|]*) \\| [^|]+ \\|$")

// TestTheTableOfMetricsIsWhole holds the table of docs/operate/operate.md to the code: names, kinds and labels.
func TestTheTableOfMetricsIsWhole(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "docs", "operate", "operate.md"))
	require.NoError(t, err)
	documented := map[string]string{}
	for _, line := range strings.Split(string(raw), "\n") {
		if m := row.FindStringSubmatch(line); m != nil {
			documented[m[1]] = m[2] + strings.ReplaceAll(" "+strings.TrimSpace(m[3]), "`", "")
		}
	}
	registry, _ := filled(t)
	families, err := registry.Gather()
	require.NoError(t, err)
	coded := map[string]string{}
	for _, family := range families {
		var labels []string
		for _, label := range family.GetMetric()[0].GetLabel() {
			labels = append(labels, label.GetName())
		}
		coded[family.GetName()] = strings.ToLower(family.GetType().String()) + " " + strings.Join(labels, ", ")
	}
	require.Equal(t, coded, documented)
}

// TestNamesFollowPrometheusConventions: units, suffixes, help.
func TestNamesFollowPrometheusConventions(t *testing.T) {
	registry, _ := filled(t)
	families, err := registry.Gather()
	require.NoError(t, err)
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	require.NoError(t, err)
	require.Empty(t, problems)
}

// TestSeriesExistBeforeAnythingHappens: the first failure of a chain must be a step of a series, not a series that begins at 1.
func TestSeriesExistBeforeAnythingHappens(t *testing.T) {
	registry := prometheus.NewRegistry()
	metrics.New(registry)
	for name, want := range map[string]int{
		"timers_failures_total": 4, "timers_removed_total": 3, "timers_agent_calls_total": 3, "timers_store_operations_total": 4,
		"timers_fire_lateness_blocks": 1, "timers_lane_basefee": 1, "timers_fires_total": 9,
	} {
		sum, series := value(t, registry, name)
		require.Equal(t, want, series, name)
		require.Zero(t, sum, name)
	}
}

// TestSeriesOfFiresAreThoseOfTheRuntimes: they go by the names that the module's runtimes have.
func TestSeriesOfFiresAreThoseOfTheRuntimes(t *testing.T) {
	registry := prometheus.NewRegistry()
	metrics.New(registry)
	families, err := registry.Gather()
	require.NoError(t, err)
	found := map[string]int{}
	for _, family := range families {
		for _, series := range family.GetMetric() {
			for _, label := range series.GetLabel() {
				if label.GetName() == "runtime" {
					found[label.GetValue()]++
				}
			}
		}
	}
	require.Equal(t, map[string]int{
		(*actors.AccountRuntime)(nil).Name(): 2, (*actors.ModuleRuntime)(nil).Name(): 2, (*actors.WasmRuntime)(nil).Name(): 2,
		report.NoRuntime: 3,
	}, found)
}

// TestRareFiguresCount: those that no history of random operations moves.
func TestRareFiguresCount(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := metrics.New(registry)
	m.Count(&report.Block{
		TimerLaneSummary: &types.TimerLaneSummary{}, Fires: []report.Fire{
			{Receipt: &types.Receipt{Success: true}, Runtime: report.NoRuntime}, {Receipt: &types.Receipt{}, Runtime: report.NoRuntime},
		},
		Held: []types.HoldReason{types.NotAdmin},
	})
	m.Failed(report.KindWatch)
	families, err := registry.Gather()
	require.NoError(t, err)
	moved := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			name := family.GetName()
			for _, label := range metric.GetLabel() {
				name += " " + label.GetValue()
			}
			if n := metric.GetCounter().GetValue(); n > 0 {
				moved[name] = n
			}
		}
	}
	require.Equal(t, map[string]float64{
		"timers_fires_total success none": 1, "timers_fires_total failure none": 1, "timers_held_total not_admin": 1,
		"timers_failures_total watch": 1,
	}, moved)
}

func TestPendingIsCountedWhenAskedAndRemembered(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := metrics.New(registry)
	_, series := value(t, registry, "timers_pending")
	require.Zero(t, series, "nothing counts yet")

	counts := uint64(0)
	m.CountPendingBy(func() (uint64, error) { counts++; return 40 + counts, nil })
	for range 3 {
		sum, _ := value(t, registry, "timers_pending")
		require.Equal(t, 41.0, sum, "a scraper that asks often gets the last count")
	}
	m.CountPendingBy(func() (uint64, error) { return 0, errors.New("no state yet") })
	_, series = value(t, registry, "timers_pending")
	require.Zero(t, series, "what can't be counted is missing, not 0")
}

func TestOperationsAreAdded(t *testing.T) {
	registry, m := filled(t)
	var o report.Operations
	meter := o.Meter(storetypes.NewInfiniteGasMeter())
	meter.ConsumeGas(10, storetypes.GasReadCostFlatDesc)
	meter.ConsumeGas(10, storetypes.GasDeleteDesc)
	m.CountOperations(&o)
	sum, series := value(t, registry, "timers_store_operations_total")
	require.Equal(t, 2.0, sum)
	require.Equal(t, 4, series)
}
