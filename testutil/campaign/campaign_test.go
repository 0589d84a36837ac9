package campaign

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	seeds = flag.Int("campaign.seeds", 2, "how many histories are drawn")
	first = flag.Uint64("campaign.seed", 1, "seed of the first")
	count = flag.Int("campaign.ops", 700, "operations of each")
)

func sorted[T cmp.Ordered](list []T) []T {
	slices.Sort(list)
	return list
}

// TestCampaign runs histories of random operations, two applications side by side.
func TestCampaign(t *testing.T) {
	for seed := *first; seed < *first+uint64(*seeds); seed++ {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			started := time.Now()
			w, err := play(t, seed, drawOps(seed, *count))
			if err != nil {
				t.Fatal(explain(t, seed, *count, err))
			}
			t.Logf("%d operations in %s: %s", *count, time.Since(started).Round(time.Millisecond), w.tally())
			for _, what := range slices.Sorted(maps.Keys(w.done)) {
				t.Logf("%6d %s", w.done[what], what)
			}
		})
	}
}

// triesToShrink bounds how often a failing history is run again.
const triesToShrink = 300

// explain shrinks a failing history, and says what it takes to fail so.
func explain(tb testing.TB, seed uint64, count int, failure error) string {
	tb.Helper()
	var last error = failure
	ops := shrink(drawOps(seed, count), triesToShrink, func(ops []op) bool {
		_, err := play(tb, seed, ops)
		if kindOf(err) != kindOf(failure) {
			return false
		}
		last = err
		return true
	})
	text := fmt.Sprintf("seed %d fails: %v\nIt takes %d of %d operations:\n", seed, failure, len(ops), count)
	for _, o := range ops {
		text += "  " + o.String() + "\n"
	}
	return text + "and then fails so: " + last.Error()
}

// play runs a history until it fails, or to its end.
func play(tb testing.TB, seed uint64, ops []op) (w *world, err error) {
	tb.Helper()
	var at op
	defer func() {
		if caught := recover(); caught != nil {
			err = fmt.Errorf("%s: panic: %v\n%s", at, caught, debug.Stack())
		}
	}()
	w = newWorld(tb, seed)
	for _, at = range ops {
		if err := w.apply(at); err != nil {
			return w, fmt.Errorf("%s: %w", at, err)
		}
	}
	return w, nil
}

func cutFields(text string) (first, last string, found bool) {
	first, rest, _ := strings.Cut(text, " ")
	_, last, found = strings.Cut(rest, " ")
	return first, last, found
}

var _ = require.NoError
