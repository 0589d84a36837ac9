package lane

// Budget is what a block's lane may spend, and what it has spent so far (x/timers/README.md, "1.6 Lane"). No sum here
// overflows: the config bounds every part far below 64 bits.
type Budget struct {
	// MaxCycles and MaxCells are the lane's capacity: LANE_TIMER_CYCLES and LANE_TIMER_CELLS.
	MaxCycles, MaxCells uint64
	// CellsPerFire is what one fire may write at most: MAX_CELLS_PER_FIRE.
	CellsPerFire uint64
	// MaxFires is MAX_FIRES_PER_BLOCK; 0 means no cap.
	MaxFires uint32

	// Cycles and Cells are what the fires of this block used so far. Invariant: at most MaxCycles and MaxCells.
	Cycles, Cells uint64
	// Fires is how many there were.
	Fires uint32
}

// Fits reports whether a fire that may use gasLimit cycles can be taken now. It counts the most that this fire may
// use, and what earlier fires actually used. So the lane is never exceeded, and what fires leave of their limits is
// used by others.
func (b *Budget) Fits(gasLimit uint64) bool {
	return b.Cycles+gasLimit <= b.MaxCycles && b.Cells+b.CellsPerFire <= b.MaxCells &&
		(b.MaxFires == 0 || b.Fires < b.MaxFires)
}

// Spend books a fire that used so many cycles and cells. They must be within what Fits counted for it: at most its gas
// limit and CellsPerFire. Then the invariant of Cycles and Cells holds, and the subtractions of callers that compute
// what is left do not underflow.
func (b *Budget) Spend(cycles, cells uint64) {
	b.Cycles += cycles
	b.Cells += cells
	b.Fires++
}

// Cleanup is the budget of a block for removing timers (x/timers/README.md, "5.3 Cleanup"). It is independent of the
// lane's, so that fires cannot delay removals, nor removals fires.
type Cleanup struct {
	// MaxCycles is GC_CYCLES_PER_BLOCK, PerRemoval GC_CYCLES_PER_REMOVAL, above 0.
	MaxCycles, PerRemoval uint64
	// Cycles are what the removals of this block used so far. Invariant: at most MaxCycles.
	Cycles uint64
}

// Remaining is the number of removals that still fit: the quotient is rounded down, and the rest of the budget is not
// carried over to the next block.
func (c *Cleanup) Remaining() uint64 { return (c.MaxCycles - c.Cycles) / c.PerRemoval }

// Take books a removal. It is false, and books nothing, if no further one fits.
func (c *Cleanup) Take() bool {
	if c.Remaining() == 0 {
		return false
	}
	c.Cycles += c.PerRemoval
	return true
}
