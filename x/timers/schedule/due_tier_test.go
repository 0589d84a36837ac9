package schedule_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cosmos-timers/timers/x/timers/schedule"
)

// sizes are the default ones.
var sizes = schedule.TierSizes{RingSize: 256, EpochBlocks: 3_600, EpochHorizon: 720}

// Rule: 2.4-tier-of-a-timer
func TestTierOfAtItsEdges(t *testing.T) {
	const now = 1_000_000
	horizon := sizes.EpochBlocks * sizes.EpochHorizon
	for name, c := range map[string]struct {
		due, now uint64
		want     schedule.Tier
	}{
		"overdue":                       {1, now, schedule.Near},
		"due now":                       {now, now, schedule.Near},
		"due next":                      {now + 1, now, schedule.Near},
		"the last of the ring":          {now + sizes.RingSize, now, schedule.Near},
		"the first of the epochs":       {now + sizes.RingSize + 1, now, schedule.Epoch},
		"the last of the epochs":        {now + horizon, now, schedule.Epoch},
		"beyond":                        {now + horizon + 1, now, schedule.Far},
		"at the end of all heights":     {math.MaxUint64, now, schedule.Far},
		"from the start":                {math.MaxUint64, 0, schedule.Far},
		"overdue at the end of heights": {0, math.MaxUint64, schedule.Near},
		"due at the end of heights":     {math.MaxUint64, math.MaxUint64 - 1, schedule.Near},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, sizes.TierOf(c.due, c.now)) })
	}
}

// tierProperty: the tier follows from the distance alone, an entry only ever comes nearer as blocks pass, and of two
// entries the later is never nearer.
func tierProperty(t *rapid.T) {
	height := rapid.OneOf(rapid.Uint64(), rapid.Uint64Max(2*sizes.EpochBlocks*sizes.EpochHorizon))
	due, now := height.Draw(t, "due"), height.Draw(t, "now")
	tier := sizes.TierOf(due, now)
	require.Contains(t, []schedule.Tier{schedule.Near, schedule.Epoch, schedule.Far}, tier)
	if due > now {
		require.Equal(t, sizes.TierOf(due-now, 0), tier, "another tier at the same distance")
	}
	later := now + rapid.Uint64Max(math.MaxUint64-now).Draw(t, "blocks that pass")
	require.LessOrEqual(t, sizes.TierOf(due, later), tier, "it went away as blocks passed")
	further := due + rapid.Uint64Max(math.MaxUint64-due).Draw(t, "further away")
	require.GreaterOrEqual(t, sizes.TierOf(further, now), tier, "what is further away is nearer")
}

func TestTierFollowsFromTheDistance(t *testing.T) { rapid.Check(t, tierProperty) }

func FuzzTierFollowsFromTheDistance(f *testing.F) { f.Fuzz(rapid.MakeFuzz(tierProperty)) }

// keyProperty: keys are ordered totally, by due height and then by insertion.
func keyProperty(t *rapid.T) {
	a, b := drawKey(t), drawKey(t)
	require.Equal(t, a.Compare(b), -b.Compare(a))
	require.Equal(t, a == b, a.Compare(b) == 0)
	if a.Due != b.Due {
		require.Equal(t, a.Due < b.Due, a.Compare(b) < 0)
	} else {
		require.Equal(t, a.Seq < b.Seq, a.Compare(b) < 0)
	}
}

func TestKeysAreOrdered(t *testing.T) { rapid.Check(t, keyProperty) }

func drawKey(t *rapid.T) schedule.Key {
	return schedule.Key{Due: rapid.Uint64Range(0, 3).Draw(t, "due"), Seq: rapid.Uint64Range(0, 3).Draw(t, "seq")}
}

// TestRead_ReturnsEachDueEntryOnce: pages of any size, one after the other, are what is due, in order.
func TestRead_ReturnsEachDueEntryOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all, want []schedule.Entry[int]
		height := rapid.Uint64Range(0, 12).Draw(t, "height")
		for seq, due := range rapid.SliceOfN(rapid.Uint64Range(0, 12), 0, 30).Draw(t, "dues") {
			all = append(all, schedule.Entry[int]{Key: schedule.Key{Due: due, Seq: uint64(seq)}, Value: seq})
		}
		slices.SortFunc(all, func(a, b schedule.Entry[int]) int { return a.Key.Compare(b.Key) })
		for _, entry := range all {
			if entry.Key.Due <= height && entry.Value%3 > 0 {
				want = append(want, entry)
			}
		}
		var got []schedule.Entry[int]
		from := schedule.Key{}
		for complete := false; !complete; {
			room := rapid.IntRange(1, 5).Draw(t, "room")
			page, next, last, err := schedule.ReadDue(height, func(e schedule.Entry[int]) schedule.Decision {
				switch {
				case room == 0:
					return schedule.Stop
				case e.Value%3 == 0:
					return schedule.Pass
				}
				room--
				return schedule.Take
			}, func(fn func(schedule.Entry[int]) bool) error {
				for _, entry := range all {
					if entry.Key.Compare(from) >= 0 && !fn(entry) {
						break
					}
				}
				return nil
			})
			require.NoError(t, err)
			got, from, complete = append(got, page...), next, last
		}
		require.Equal(t, want, got)
		require.Equal(t, schedule.Key{Due: height + 1}, from)
	})
}
