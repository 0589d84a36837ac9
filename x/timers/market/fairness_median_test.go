package market_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/btree"
	"pgregory.net/rapid"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/testutil/policytest"
)

var errStore = errors.New("the store is broken")

// treeCounts are counts in a B-tree. Calls are counted, and the one that makes fail zero fails, as all after it.
type treeCounts struct {
	tree  *btree.Map[uint64, uint64]
	calls int
	// fail is how many calls are left until one fails; negative means that none does.
	fail int
}

var _ market.MedianCounts = (*treeCounts)(nil)

func newTreeCounts() *treeCounts { return &treeCounts{tree: &btree.Map[uint64, uint64]{}, fail: -1} }

func (c *treeCounts) call() error {
	c.calls++
	if c.fail == 0 {
		return errStore
	}
	c.fail = max(c.fail-1, -1)
	return nil
}

func (c *treeCounts) Get(_ context.Context, fires uint64) (uint64, error) {
	units, _ := c.tree.Get(fires)
	return units, c.call()
}

func (c *treeCounts) Set(_ context.Context, fires, units uint64) error {
	if units == 0 {
		c.tree.Delete(fires)
	} else {
		c.tree.Set(fires, units)
	}
	return c.call()
}

func (c *treeCounts) Next(_ context.Context, fires uint64) (above uint64, err error) {
	found := false
	if fires < math.MaxUint64 {
		c.tree.Ascend(fires+1, func(key, _ uint64) bool {
			above, found = key, true
			return false
		})
	}
	if !found {
		return 0, errors.New("nothing above")
	}
	return above, c.call()
}

func (c *treeCounts) Prev(_ context.Context, fires uint64) (below uint64, err error) {
	found := false
	if fires > 0 {
		c.tree.Descend(fires-1, func(key, _ uint64) bool {
			below, found = key, true
			return false
		})
	}
	if !found {
		return 0, errors.New("nothing below")
	}
	return below, c.call()
}

// recount is the median from all units, the lower middle of those with any fires.
func recount(units []uint64) (active, median uint64) {
	var fires []uint64
	for _, n := range units {
		if n > 0 {
			fires = append(fires, n)
		}
	}
	if len(fires) == 0 {
		return 0, 0
	}
	slices.Sort(fires)
	return uint64(len(fires)), fires[(len(fires)-1)/2]
}

// requireCounts holds what is stored to a recount of all units: every entry is right, and none is zero.
func requireCounts(t require.TestingT, counts *treeCounts, m market.Median, units []uint64) {
	want := map[uint64]uint64{}
	below := uint64(0)
	for _, n := range units {
		if n > 0 {
			want[n]++
		}
	}
	stored := map[uint64]uint64{}
	counts.tree.Scan(func(fires, units uint64) bool {
		stored[fires] = units
		if fires < m.Value {
			below += units
		}
		return true
	})
	require.Equal(t, want, stored)
	active, median := recount(units)
	require.Equal(t, market.Median{Units: active, Value: median, Below: below}, m)
}

const (
	// callsPerMove are one Get and one Set for each end of a move.
	callsPerMove = 4
	// callsPerStep are one Prev or Next and one Get.
	callsPerStep = 2
)

// medianProperty moves units about at random, some of them many at a time, and settles now and then.
func medianProperty(t *rapid.T) {
	ctx := context.Background()
	counts, m := newTreeCounts(), market.Median{}
	units := make([]uint64, rapid.IntRange(1, 30).Draw(t, "units"))
	value := rapid.OneOf(rapid.Uint64Max(3), rapid.Uint64Max(40), rapid.SampledFrom([]uint64{0, math.MaxUint64}))
	for range rapid.IntRange(0, 40).Draw(t, "blocks") {
		moves := rapid.IntRange(0, 12).Draw(t, "moves")
		for range moves {
			unit := rapid.IntRange(0, len(units)-1).Draw(t, "unit")
			to := value.Draw(t, "to")
			counts.calls = 0
			require.NoError(t, m.Move(ctx, counts, units[unit], to))
			require.LessOrEqual(t, counts.calls, callsPerMove, "a move")
			units[unit] = to
		}
		counts.calls = 0
		require.NoError(t, m.Settle(ctx, counts))
		require.LessOrEqual(t, counts.calls, callsPerStep*(moves+1)+1, "%d moves", moves)
		requireCounts(t, counts, m, units)

		settled := m
		counts.calls = 0
		require.NoError(t, m.Settle(ctx, counts))
		require.Equal(t, settled, m, "it settles twice")
		require.LessOrEqual(t, counts.calls, 1)
	}
}

// Rule: 1.9-median
func TestMedianMatchesARecount(t *testing.T) { rapid.Check(t, medianProperty) }

func FuzzMedianIsThatOfARecount(f *testing.F) { f.Fuzz(rapid.MakeFuzz(medianProperty)) }

// windowProperty runs a whole window: in each block some units fire, once or more, and what is a window old is taken
// back. What is kept by moves is what a recount of the blocks in the window gives.
func windowProperty(t *rapid.T) {
	ctx := context.Background()
	window := rapid.IntRange(1, 12).Draw(t, "window")
	units := rapid.IntRange(1, 20).Draw(t, "units")
	counts, m := newTreeCounts(), market.Median{}
	recent := make([]uint64, units)
	var blocks [][]uint64
	for range rapid.IntRange(1, 40).Draw(t, "blocks") {
		fired := make([]uint64, units)
		for range rapid.IntRange(0, 15).Draw(t, "fires") {
			// The first units are busier than the last.
			fired[min(rapid.IntRange(0, units-1).Draw(t, "unit"), rapid.IntRange(0, units-1).Draw(t, "or unit"))]++
		}
		blocks = append(blocks, fired)
		var gone []uint64
		if len(blocks) > window {
			gone = blocks[len(blocks)-1-window]
		}
		moves := 0
		counts.calls = 0
		for unit := range units {
			to := recent[unit] + fired[unit]
			if gone != nil {
				to -= gone[unit]
			}
			if to != recent[unit] {
				require.NoError(t, m.Move(ctx, counts, recent[unit], to))
				recent[unit] = to
				moves++
			}
		}
		require.NoError(t, m.Settle(ctx, counts))
		require.LessOrEqual(t, counts.calls, (callsPerMove+callsPerStep)*moves+callsPerStep+1)

		inWindow := make([]uint64, units)
		for _, block := range blocks[max(0, len(blocks)-window):] {
			for unit, n := range block {
				inWindow[unit] += n
			}
		}
		requireCounts(t, counts, m, inWindow)
	}
}

// Rule: 1.9-window
func TestTheWindowIsThatOfARecount(t *testing.T) { rapid.Check(t, windowProperty) }

func FuzzTheWindowIsThatOfARecount(f *testing.F) { f.Fuzz(rapid.MakeFuzz(windowProperty)) }

// TestCallsDoNotGrowWithTheUnits: a move and a settlement among a hundred thousand units cost what they cost among ten.
func TestCallsDoNotGrowWithTheUnits(t *testing.T) {
	ctx := context.Background()
	for _, units := range []int{10, 1_000, 100_000} {
		counts, m := newTreeCounts(), market.Median{}
		for i := range units {
			require.NoError(t, m.Move(ctx, counts, 0, uint64(1+i*7_919%units)))
		}
		require.NoError(t, m.Settle(ctx, counts))
		most := 0
		for i := range 200 {
			counts.calls = 0
			require.NoError(t, m.Move(ctx, counts, uint64(1+i%10), uint64(1+i%10)))
			require.NoError(t, m.Move(ctx, counts, uint64(units-i%5), 1))
			require.NoError(t, m.Move(ctx, counts, 1, uint64(units-i%5)))
			require.NoError(t, m.Settle(ctx, counts))
			most = max(most, counts.calls)
		}
		require.LessOrEqual(t, most, 3*(callsPerMove+callsPerStep)+callsPerStep+1, "%d units", units)
	}
}

func TestMedianAgreesWithTheVectors(t *testing.T) {
	ctx := context.Background()
	for _, v := range policytest.ReadVectors[struct {
		Name   string
		Fires  []uint64
		Median uint64
	}](t, "median.json") {
		t.Run(v.Name, func(t *testing.T) {
			counts, m := newTreeCounts(), market.Median{}
			for _, fires := range v.Fires {
				require.NoError(t, m.Move(ctx, counts, 0, fires))
			}
			require.NoError(t, m.Settle(ctx, counts))
			require.Equal(t, v.Median, m.Value)
			for _, fires := range v.Fires {
				require.NoError(t, m.Move(ctx, counts, fires, 0))
			}
			require.NoError(t, m.Settle(ctx, counts))
			require.Equal(t, market.Median{}, m)
			require.Zero(t, counts.tree.Len())
		})
	}
}

// TestMedianPropagatesStoreErrors: whichever call fails, its error comes out.
func TestMedianPropagatesStoreErrors(t *testing.T) {
	ctx := context.Background()
	run := func(counts *treeCounts) error {
		m := market.Median{}
		for _, move := range [][2]uint64{{0, 5}, {0, 6}, {0, 7}, {0, 8}, {0, 9}, {5, 6}} {
			if err := m.Move(ctx, counts, move[0], move[1]); err != nil {
				return err
			}
		}
		if err := m.Settle(ctx, counts); err != nil {
			return err
		}
		for _, from := range []uint64{7, 8, 9} {
			if err := m.Move(ctx, counts, from, 1); err != nil {
				return err
			}
		}
		return m.Settle(ctx, counts)
	}
	sound := newTreeCounts()
	require.NoError(t, run(sound))
	require.Greater(t, sound.calls, 30)
	for i := range sound.calls {
		broken := newTreeCounts()
		broken.fail = i
		require.ErrorIs(t, run(broken), errStore, "call %d", i)
	}
}

// BenchmarkMedian moves a hundred of ten thousand units and settles, as a full block does in which fifty fire and fifty
// leave the window.
func BenchmarkMedian(b *testing.B) {
	ctx := context.Background()
	counts, m := newTreeCounts(), market.Median{}
	recent := make([]uint64, 10_000)
	move := func(unit int, to uint64) {
		if err := m.Move(ctx, counts, recent[unit], to); err != nil {
			b.Fatal(err)
		}
		recent[unit] = to
	}
	for unit := range recent {
		move(unit, uint64(1+unit%97))
	}
	b.ResetTimer()
	at := 0
	for range b.N {
		for range 100 {
			unit := at * 7_919 % len(recent)
			move(unit, uint64(1+unit%97+at/len(recent)%2))
			at++
		}
		if err := m.Settle(ctx, counts); err != nil {
			b.Fatal(err)
		}
	}
}
