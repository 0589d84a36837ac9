package life_test

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/lab/life"
)

// recorded are the blocks of a node under `lab load`, with timers of each kind: TestLife_OfARealNode in
// testutil/system writes them with -life.record. laneOf is the lane that it had, suspends max_unfunded_skips.
const recorded, laneOf, suspends = "testdata/node.json", 640_000, 8

func blocks(t testing.TB) (all []life.Block) {
	t.Helper()
	raw, err := os.ReadFile(recorded)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &all))
	require.NotEmpty(t, all)
	return all
}

// follow returns the first block's error.
func follow(all []life.Block, lane int64) (*life.Checker, error) {
	c := &life.Checker{SuspendsAfter: suspends, Lane: lane}
	for _, b := range all {
		if err := c.Block(b); err != nil {
			return c, err
		}
	}
	return c, nil
}

// TestChecker_FollowsARealNode holds a recorded run to the model: steps of all kinds, and no timer waits where it
// finds room.
func TestChecker_FollowsARealNode(t *testing.T) {
	c, err := follow(blocks(t), laneOf)
	require.NoError(t, err)
	require.Greater(t, c.Steps["TimerFired"], 300)
	require.Greater(t, c.Waits, 500)
	kinds := map[string]int{}
	for _, b := range blocks(t) {
		for _, e := range b.Events {
			if e.Terms != nil {
				kinds[e.Terms.Kind]++
			}
		}
	}
	for _, kind := range []string{life.Once, life.Interval, life.OnChange, life.AtTime, life.Calendar, life.Rhythm} {
		require.NotZero(t, kinds[kind], kind)
	}
	_, err = follow(blocks(t), laneOf+100_000)
	require.ErrorContains(t, err, "are used", "in a larger lane they would have found room")
}

// TestChecker_RefusesOtherRuns: each change of one event of a timer that repeats is noticed, then or later.
func TestChecker_RefusesOtherRuns(t *testing.T) {
	all := blocks(t)
	plus := func(name string) func(life.Event) []life.Event {
		return func(e life.Event) []life.Event {
			n, _ := strconv.ParseInt(e.Attributes[name], 10, 64)
			e.Attributes = maps.Clone(e.Attributes)
			e.Attributes[name] = strconv.FormatInt(n+1, 10)
			return []life.Event{e}
		}
	}
	changes := map[string]func(life.Event) []life.Event{
		"twice":    func(e life.Event) []life.Event { return []life.Event{e, e} },
		"left out": func(life.Event) []life.Event { return nil },
		"no number": func(e life.Event) []life.Event {
			e.Attributes = maps.Clone(e.Attributes)
			e.Attributes["fire_seq"] = "many"
			return []life.Event{e}
		},
		"fire_seq": plus("fire_seq"), "next_due": plus("next_due"), "late": plus("late"), "occurrence": plus("occurrence"),
		"index": plus("index"), "retries": plus("retries"), "next_time": plus("next_time"),
	}
	tried := 0
	for i, b := range all {
		for j, e := range b.Events {
			if e.Kind != "TimerFired" || e.Attributes["fire_seq"] == "" || tried >= 20 {
				continue
			}
			tried++
			for name, change := range changes {
				other := slices.Clone(all)
				other[i].Events = slices.Replace(slices.Clone(b.Events), j, j+1, change(e)...)
				_, err := follow(other, laneOf)
				require.Error(t, err, "%s, %+v", name, e)
			}
		}
	}
	require.Equal(t, 20, tried)
	_, err := follow(append(slices.Clone(all[:5]), all[6:]...), laneOf)
	require.ErrorContains(t, err, "follows block")
}

// FuzzChecker: whatever a trace says, the checker ends without a panic.
func FuzzChecker(f *testing.F) {
	for _, b := range blocks(f)[:20] {
		raw, err := json.Marshal([]life.Block{b})
		require.NoError(f, err)
		f.Add(raw)
	}
	f.Add([]byte(`[{"height":1,"events":[{"kind":"TimerScheduled","attributes":{"id":"a","due":"2"},` +
		`"terms":{"kind":"rhythm","due":2,"every":9223372036854775807}}]},` +
		`{"height":2,"time":9223372036854775807,"events":[{"kind":"TimerFired","attributes":{"id":"a"}}]}]`))
	f.Fuzz(func(_ *testing.T, raw []byte) {
		var all []life.Block
		if json.Unmarshal(raw, &all) == nil {
			_, _ = follow(all, 100)
		}
	})
}
