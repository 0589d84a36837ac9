package campaign

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
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
	fixed = flag.Int("campaign.frozen", 5, "of how many frozen histories the blocks are compared")
	again = flag.String("campaign.file", "", "a history that failed before, in the file that was written then, instead of drawn ones")
)

func sorted[T cmp.Ordered](list []T) []T {
	slices.Sort(list)
	return list
}

// TestCampaign runs histories of random operations, two applications side by side.
func TestCampaign(t *testing.T) {
	if *again != "" {
		h, err := readHistory(*again)
		require.NoError(t, err)
		_, err = play(t, h.seed, h.ops)
		require.NoError(t, err)
		return
	}
	for seed := *first; seed < *first+uint64(*seeds); seed++ {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			started := time.Now()
			w, err := play(t, seed, drawOps(seed, *count))
			if err != nil {
				ops, text := explain(t, seed, drawOps(seed, *count), triesToShrink, err)
				file := filepath.Join(os.TempDir(), fmt.Sprintf("timers-history-%d.txt", seed))
				require.NoError(t, history{seed, ops}.write(file))
				t.Fatalf("%s\n-campaign.file=%s runs it again", text, file)
			}
			t.Logf("%d operations in %s: %s", *count, time.Since(started).Round(time.Millisecond), w.tally())
			for _, what := range slices.Sorted(maps.Keys(w.done)) {
				t.Logf("%6d %s", w.done[what], what)
			}
		})
	}
}

// TestHistories_BlocksAreFrozen holds the hash of the state and the events of each block. After an intended change:
// go test ./testutil/campaign -run Frozen -args -campaign.frozen=50 -frozen.update
func TestHistories_BlocksAreFrozen(t *testing.T) {
	for seed := range *fixed {
		w, err := play(t, uint64(seed), drawOps(uint64(seed), 200))
		require.NoError(t, err)
		w.blocks.Compare(t, filepath.Join("testdata", fmt.Sprintf("%02d.frozen", seed)))
	}
}

// triesToShrink bounds how often a failing history is run again.
const triesToShrink = 300

// explain shrinks a failing history, and says what it takes to fail so.
func explain(tb testing.TB, seed uint64, drawn []op, tries int, failure error) (ops []op, text string) {
	tb.Helper()
	last := failure
	ops = shrink(drawn, tries, func(ops []op) bool {
		_, err := play(tb, seed, ops)
		if kindOf(err) != kindOf(failure) {
			return false
		}
		last = err
		return true
	})
	text = fmt.Sprintf("seed %d fails: %v\nIt takes %d of %d operations:\n", seed, failure, len(ops), len(drawn))
	for _, o := range ops {
		text += "  " + o.String() + "\n"
	}
	return ops, text + "and then fails so: " + last.Error()
}

// A chain whose bank adds a coin whenever a fire is charged is found, and the history is shrunk. Few tries keep the test short.
func TestASabotagedChainIsFoundAndShrunk(t *testing.T) {
	var (
		seed uint64
		ops  []op
		err  error
	)
	// A history whose lane is paused fires nothing.
	for err == nil && seed < 6 {
		seed++
		ops = slices.Insert(drawOps(seed, 300), 50, op{kind: "sabotage"})
		_, err = play(t, seed, ops)
	}
	require.ErrorContains(t, err, "holds 1utmr, its timers have locked 0")
	least, text := explain(t, seed, ops, 12, err)
	t.Log(text)
	require.Less(t, len(least), len(ops)/2)
	require.True(t, slices.ContainsFunc(least, func(o op) bool { return o.kind == "sabotage" }))

	file := filepath.Join(t.TempDir(), "history.txt")
	require.NoError(t, history{seed, least}.write(file))
	kept, err := readHistory(file)
	require.NoError(t, err)
	require.Equal(t, history{seed, least}, kept)
	_, again := play(t, kept.seed, kept.ops)
	require.ErrorContains(t, again, "holds 1utmr, its timers have locked 0")
}

func TestBadHistoriesNameTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "line 1: want the seed",
		"seed x\n":                          "line 1: want the seed",
		"seed 1\n1 0 0x5 send\n2 0 send\n":  "line 3: want number, target, dice and kind, not \"2 0 send\"",
		"seed 1\n1 0 0x5 fly to the moon\n": "line 2: no kind \"fly to the moon\"",
	} {
		file := filepath.Join(t.TempDir(), "history.txt")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		_, err := readHistory(file)
		require.ErrorContains(t, err, want)
	}
}

func TestShrinkLeavesWhatIsNeeded(t *testing.T) {
	list := make([]int, 1_000)
	for i := range list {
		list[i] = i
	}
	runs := 0
	least := shrink(list, 10_000, func(list []int) bool {
		runs++
		return slices.Contains(list, 17) && slices.Contains(list, 18) && slices.Contains(list, 800)
	})
	require.Equal(t, []int{17, 18, 800}, least)
	require.Less(t, runs, 200)
	require.Len(t, shrink(list, 3, func(list []int) bool { return slices.Contains(list, 999) }), 250, "its tries are bounded")
}

// play runs a history until it fails, or to its end, and calls after behind each operation.
func play(tb testing.TB, seed uint64, ops []op, after ...func(w *world)) (w *world, err error) {
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
		for _, look := range after {
			look(w)
		}
	}
	return w, nil
}

func cutFields(text string) (first, last string, found bool) {
	first, rest, _ := strings.Cut(text, " ")
	_, last, found = strings.Cut(rest, " ")
	return first, last, found
}
