package campaign

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
)

// figures are the largest value that each series of the module has had.
type figures map[string]float64

// read looks at what a node would show to Prometheus now.
func (f figures) read(tb testing.TB) {
	tb.Helper()
	families, err := prometheus.DefaultGatherer.Gather()
	require.NoError(tb, err)
	for _, family := range families {
		if !strings.HasPrefix(family.GetName(), "timers_") {
			continue
		}
		for _, metric := range family.GetMetric() {
			var labels []string
			for _, l := range metric.GetLabel() {
				labels = append(labels, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
			}
			name := fmt.Sprintf("%s{%s}", family.GetName(), strings.Join(labels, ","))
			// Of a histogram, the sum of what it observed.
			value := metric.GetCounter().GetValue() + metric.GetGauge().GetValue() + metric.GetHistogram().GetSampleSum()
			f[name] = max(f[name], value)
		}
	}
}

// unmoved are the series that these histories leave at zero: no node breaks in them, what has no runtime is refused before it
// fires, and where a timer is put on hold since its admin left, the GC lane was used up.
var unmoved = []string{
	`timers_failures_total{kind="lane"}`, `timers_failures_total{kind="watch"}`,
	`timers_fires_total{outcome="failure",runtime="none"}`, `timers_fires_total{outcome="success",runtime="none"}`,
	`timers_held_total{reason="not_admin"}`,
}

// TestLongHistoriesMoveEveryFigure plays histories until each figure that a node shows of its timers has had a value, and looks
// for values that can't be: more timers that are ready, for example, than there are.
func TestLongHistoriesMoveEveryFigure(t *testing.T) {
	seen := figures{}
	for seed := uint64(1); ; seed++ {
		require.Less(t, seed, uint64(30), "not moved: %v", seen.still())
		height := uint64(0)
		_, err := play(t, seed, drawOps(seed, 700), func(w *world) {
			if at := w.height(); at != height {
				height = at
				seen.read(t)
			}
		})
		require.NoError(t, err)
		if len(seen.still()) == 0 {
			break
		}
	}
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		t.Logf("%-80s %g", name, seen[name])
	}
	for _, name := range unmoved {
		require.Contains(t, seen, name)
	}
	require.LessOrEqual(t, seen["timers_ready{}"], seen["timers_competing{}"])
	require.LessOrEqual(t, seen["timers_competing{}"], 700.0)
}

// still are the series that have not moved, and should.
func (f figures) still() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if f[name] == 0 && !slices.Contains(unmoved, name) {
			names = append(names, name)
		}
	}
	return names
}
