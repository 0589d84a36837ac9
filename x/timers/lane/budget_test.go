package lane_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cosmos-timers/timers/x/timers/lane"
)

// budgetProperty: fires that fit and use no more than they may never exceed any of the lane's three bounds, and a fire
// is refused only if it could.
func budgetProperty(t *rapid.T) {
	b := lane.Budget{
		MaxCycles:    drawUnits(t, "max cycles", maxUnits),
		MaxCells:     drawUnits(t, "max cells", maxUnits),
		CellsPerFire: drawUnits(t, "cells per fire", maxUnits),
		MaxFires:     rapid.Uint32Max(4).Draw(t, "max fires"),
	}
	var cycles, cells uint64
	var fires uint32
	for range rapid.IntRange(0, 30).Draw(t, "candidates") {
		gasLimit := rapid.OneOf(rapid.Uint64Range(1, maxUnits), rapid.Uint64Range(1, b.MaxCycles/3+1)).Draw(t, "gas limit")
		withinCap := b.MaxFires == 0 || fires < b.MaxFires
		want := withinCap && gasLimit <= b.MaxCycles-cycles && b.CellsPerFire <= b.MaxCells-cells
		require.Equal(t, want, b.Fits(gasLimit))
		if !want {
			continue
		}
		usedCycles, usedCells := drawUnits(t, "cycles", gasLimit), drawUnits(t, "cells", b.CellsPerFire)
		b.Spend(usedCycles, usedCells)
		cycles, cells, fires = cycles+usedCycles, cells+usedCells, fires+1
		require.Equal(t, []uint64{cycles, cells, uint64(fires)}, []uint64{b.Cycles, b.Cells, uint64(b.Fires)})
		require.LessOrEqual(t, b.Cycles, b.MaxCycles)
		require.LessOrEqual(t, b.Cells, b.MaxCells)
	}
}

func TestBudgetIsNeverExceeded(t *testing.T) { rapid.Check(t, budgetProperty) }

func FuzzBudgetIsNeverExceeded(f *testing.F) { f.Fuzz(rapid.MakeFuzz(budgetProperty)) }

func TestBudgetFitsToTheLastUnit(t *testing.T) {
	full := lane.Budget{MaxCycles: 100, MaxCells: 10, CellsPerFire: 5, MaxFires: 2, Cycles: 60, Cells: 5, Fires: 1}
	for name, c := range map[string]struct {
		change   func(*lane.Budget)
		gasLimit uint64
		want     bool
	}{
		"all of what is left":  {func(*lane.Budget) {}, 40, true},
		"a cycle too many":     {func(*lane.Budget) {}, 41, false},
		"a cell too many":      {func(b *lane.Budget) { b.Cells++ }, 40, false},
		"a fire too many":      {func(b *lane.Budget) { b.Fires++ }, 40, false},
		"no cap on fires":      {func(b *lane.Budget) { b.Fires, b.MaxFires = 1_000, 0 }, 40, true},
		"a lane that is spent": {func(b *lane.Budget) { b.Cycles = 100 }, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := full
			c.change(&b)
			require.Equal(t, c.want, b.Fits(c.gasLimit))
		})
	}
}

// cleanupProperty: the GC lane removes exactly as many as its budget holds, never more.
func cleanupProperty(t *rapid.T) {
	perRemoval := rapid.Uint64Range(1, 1_000).Draw(t, "per removal")
	c := lane.Cleanup{PerRemoval: perRemoval, MaxCycles: rapid.Uint64Range(perRemoval, 50*perRemoval).Draw(t, "max cycles")}
	want := c.MaxCycles / perRemoval
	taken := uint64(0)
	for range want + 5 {
		require.Equal(t, want-taken, c.Remaining())
		if c.Take() {
			taken++
		}
		require.LessOrEqual(t, c.Cycles, c.MaxCycles)
		require.Equal(t, taken*perRemoval, c.Cycles)
	}
	require.Equal(t, want, taken)
	require.False(t, c.Take())
}

func TestCleanupIsNeverExceeded(t *testing.T) { rapid.Check(t, cleanupProperty) }

func FuzzCleanupIsNeverExceeded(f *testing.F) { f.Fuzz(rapid.MakeFuzz(cleanupProperty)) }

func BenchmarkBudget(b *testing.B) {
	budget := lane.Budget{MaxCycles: maxUnits, MaxCells: maxUnits, CellsPerFire: 550_000}
	fitted := 0
	for range b.N {
		if budget.Fits(550_000) {
			budget.Spend(0, 0)
			fitted++
		}
	}
	require.Equal(b, b.N, fitted)
}
