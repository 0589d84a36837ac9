package market

import "math/bits"

// Capacity is what the lane of one block holds: LANE_TIMER_CYCLES and LANE_TIMER_CELLS, both above 0. It is the measure by
// which cycles and cells are compared (x/timers/README.md, "1.1 Units").
type Capacity struct{ Cycles, Cells uint64 }

// Size is the share of the lane that a fire takes, in cycles: its cycles, or its cells in proportion to the lane's, if
// those are more. So a fire is measured by the resource of which it takes the larger share. The proportion is rounded
// down. It is bounded by the largest integer, which no lane holds.
func (c Capacity) Size(cycles, cells uint64) uint64 {
	high, low := bits.Mul64(cells, c.Cycles)
	if high >= c.Cells {
		return ^uint64(0)
	}
	inCycles, _ := bits.Div64(high, low, c.Cells)
	return max(cycles, inCycles)
}

// Budget is what a block's lane may spend, and what it has spent so far (x/timers/README.md, "1.6 Lane"). No sum here
// overflows: the config bounds every part far below 64 bits.
type Budget struct {
	// Capacity of the lane. Sizes are compared with its cycles.
	Capacity
	// MaxFires is MAX_FIRES_PER_BLOCK; 0 means no cap.
	MaxFires uint32

	// UsedSize is the sum of the sizes of this block's fires. Invariant: at most the capacity's cycles.
	UsedSize uint64
	// UsedCycles and UsedCells are what they used. Invariant: each is at most its capacity.
	UsedCycles, UsedCells uint64
	// Fires is how many there were.
	Fires uint32
}

// Fits reports whether a fire that may take up to size can be taken now. It counts the most that this fire may take,
// and what earlier fires actually took. So the lane is never exceeded, and what fires leave of their limits is used by
// others.
func (b *Budget) Fits(size uint64) bool {
	return size <= b.Cycles-b.UsedSize && (b.MaxFires == 0 || b.Fires < b.MaxFires)
}

// Spend books a fire that used so many cycles and cells. Their size must be at most what Fits counted for it. Then the
// invariants hold, and the subtractions of callers that compute what is left do not underflow.
func (b *Budget) Spend(cycles, cells uint64) {
	b.UsedSize += b.Size(cycles, cells)
	b.UsedCycles += cycles
	b.UsedCells += cells
	b.Fires++
}

// Cleanup is the budget of a block for removing timers (x/timers/README.md, "5.3 Cleanup"). It is independent of the
// lane's, so that fires cannot delay removals, nor removals fires.
type Cleanup struct {
	// MaxCycles is GC_CYCLES_PER_BLOCK, PerRemoval what a removal takes of it, above 0.
	MaxCycles, PerRemoval uint64
	// Cycles are what the removals of this block used so far. Invariant: at most MaxCycles.
	Cycles uint64
}

// Remaining is the number of single removals that still fit: the quotient is rounded down, and the rest of the budget is not
// carried over to the next block.
func (c *Cleanup) Remaining() uint64 { return (c.MaxCycles - c.Cycles) / c.PerRemoval }

// Take books a removal that counts as so many, 1 at least. It is false, and books nothing, if that does not fit. The first of a
// block always fits, and uses up the budget if it counts as more than that holds: otherwise it would never leave.
func (c *Cleanup) Take(removals uint64) bool {
	switch left := c.Remaining(); {
	case removals <= left:
		c.Cycles += removals * c.PerRemoval
	case c.Cycles == 0:
		c.Cycles = c.MaxCycles
	default:
		return false
	}
	return true
}
