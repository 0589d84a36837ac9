package market_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market"
)

// dumbSize is the size by its definition, in integers without bounds.
func dumbSize(c market.Capacity, cycles, cells uint64) math.Int {
	inCycles := math.NewIntFromUint64(cells).Mul(math.NewIntFromUint64(c.Cycles)).Quo(math.NewIntFromUint64(c.Cells))
	return math.MaxInt(math.NewIntFromUint64(cycles), inCycles)
}

// sizeProperty: the size is that of the definition, or beyond 64 bits one that fits no lane.
func sizeProperty(t *rapid.T) {
	c := market.Capacity{Cycles: 1 + drawUnits(t, "lane cycles", maxUnits-1), Cells: 1 + drawUnits(t, "lane cells", maxUnits-1)}
	cycles, cells := drawUnits(t, "cycles", 1<<64-1), drawUnits(t, "cells", 1<<64-1)
	want := dumbSize(c, cycles, cells)
	if !want.IsUint64() {
		want = math.NewIntFromUint64(1<<64 - 1)
	}
	require.Equal(t, want.String(), math.NewIntFromUint64(c.Size(cycles, cells)).String())
}

// Rule: 1.1-size, 1.1-small-size
func TestSizeIsThatOfTheDominantResource(t *testing.T) { rapid.Check(t, sizeProperty) }

func FuzzSizeIsThatOfTheDominantResource(f *testing.F) { f.Fuzz(rapid.MakeFuzz(sizeProperty)) }

// budgetProperty: fires that fit and use no more than they may never exceed the lane in size, cycles, cells or number, and a
// fire is refused only if it could.
func budgetProperty(t *rapid.T) {
	capacity := market.Capacity{Cycles: 1 + drawUnits(t, "lane cycles", maxUnits-1), Cells: 1 + drawUnits(t, "lane cells", maxUnits-1)}
	b := market.Budget{Capacity: capacity, MaxFires: rapid.Uint32Max(4).Draw(t, "max fires")}
	var size, cycles, cells uint64
	var fires uint32
	for range rapid.IntRange(0, 30).Draw(t, "candidates") {
		gasLimit := rapid.OneOf(rapid.Uint64Range(1, maxUnits), rapid.Uint64Range(1, capacity.Cycles/3+1)).Draw(t, "gas limit")
		cellLimit := rapid.OneOf(rapid.Uint64Max(maxUnits), rapid.Uint64Max(capacity.Cells/3+1)).Draw(t, "cell limit")
		withinCap := b.MaxFires == 0 || fires < b.MaxFires
		limit := capacity.Size(gasLimit, cellLimit)
		want := withinCap && limit <= capacity.Cycles-size
		require.Equal(t, want, b.Fits(limit))
		if !want {
			continue
		}
		usedCycles, usedCells := drawUnits(t, "cycles", gasLimit), drawUnits(t, "cells", cellLimit)
		b.Spend(usedCycles, usedCells)
		size += capacity.Size(usedCycles, usedCells)
		cycles, cells, fires = cycles+usedCycles, cells+usedCells, fires+1
		require.Equal(t, []uint64{size, cycles, cells, uint64(fires)}, []uint64{b.UsedSize, b.UsedCycles, b.UsedCells, uint64(b.Fires)})
		require.LessOrEqual(t, b.UsedSize, capacity.Cycles)
		require.LessOrEqual(t, b.UsedCycles, capacity.Cycles)
		// The proportion is rounded down for each fire: the cells may exceed the lane's by what that leaves.
		slack := math.NewIntFromUint64(capacity.Cells).QuoRaw(int64(capacity.Cycles)).AddRaw(1).MulRaw(int64(b.Fires))
		require.True(t, math.NewIntFromUint64(b.UsedCells).LTE(math.NewIntFromUint64(capacity.Cells).Add(slack)))
	}
}

// Rule: 1.1-sized-by-size, 1.6-lane-budget
func TestBudgetIsNeverExceeded(t *testing.T) { rapid.Check(t, budgetProperty) }

func FuzzBudgetIsNeverExceeded(f *testing.F) { f.Fuzz(rapid.MakeFuzz(budgetProperty)) }

// Rule: 1.6-fits
func TestBudgetFitsToTheLastUnit(t *testing.T) {
	full := market.Budget{Capacity: market.Capacity{Cycles: 100, Cells: 10}, MaxFires: 2, UsedSize: 60, UsedCycles: 60, UsedCells: 5, Fires: 1}
	for name, c := range map[string]struct {
		change func(*market.Budget)
		size   uint64
		want   bool
	}{
		"all of what is left":  {func(*market.Budget) {}, 40, true},
		"a cycle too many":     {func(*market.Budget) {}, 41, false},
		"all cells":            {func(*market.Budget) {}, full.Size(1, 4), true},
		"a cell too many":      {func(*market.Budget) {}, full.Size(1, 5), false},
		"a fire too many":      {func(b *market.Budget) { b.Fires++ }, 40, false},
		"no cap on fires":      {func(b *market.Budget) { b.Fires, b.MaxFires = 1_000, 0 }, 40, true},
		"a lane that is spent": {func(b *market.Budget) { b.UsedSize = 100 }, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := full
			c.change(&b)
			require.Equal(t, c.want, b.Fits(c.size))
		})
	}
}

// cleanupProperty: the GC lane removes exactly as many as its budget holds, never more; one that is larger than the budget
// leaves alone.
func cleanupProperty(t *rapid.T) {
	perRemoval := rapid.Uint64Range(1, 1_000).Draw(t, "per removal")
	c := market.Cleanup{PerRemoval: perRemoval, MaxCycles: rapid.Uint64Range(perRemoval, 50*perRemoval).Draw(t, "max cycles")}
	most, taken := c.MaxCycles/perRemoval, uint64(0)
	for range most + 5 {
		require.Equal(t, most-taken, c.Remaining())
		removals := rapid.Uint64Range(1, 10).Draw(t, "removals")
		fits := removals <= most-taken
		require.Equal(t, fits || taken == 0, c.Take(removals))
		switch {
		case fits:
			taken += removals
			require.Equal(t, taken*perRemoval, c.Cycles)
		case taken == 0:
			require.Equal(t, c.MaxCycles, c.Cycles)
			return
		}
	}
	for range most - taken {
		require.True(t, c.Take(1))
	}
	require.False(t, c.Take(1))
}

// Rule: 1.6-gc-budget
func TestCleanupIsNeverExceeded(t *testing.T) { rapid.Check(t, cleanupProperty) }

func FuzzCleanupIsNeverExceeded(f *testing.F) { f.Fuzz(rapid.MakeFuzz(cleanupProperty)) }

func BenchmarkBudget(b *testing.B) {
	budget := market.Budget{Capacity: market.Capacity{Cycles: maxUnits, Cells: maxUnits}}
	fitted := 0
	for range b.N {
		if budget.Fits(550_000) {
			budget.Spend(0, 0)
			fitted++
		}
	}
	require.Equal(b, b.N, fitted)
}
