package lab

import (
	"github.com/cosmos-timers/timers/x/timers/overhead"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// SetRemovals makes a config under which a block removes n timers. What is left for other work stays.
func SetRemovals(c *types.TimerConfig, n int) {
	rest := c.OverheadCyclesPerBlock - c.GcCyclesPerBlock
	c.GcCyclesPerBlock = uint64(n) * overhead.RemovalCycles
	c.OverheadCyclesPerBlock = c.GcCyclesPerBlock + rest
}

// SetOverhead makes a config under which a block has room for n works of a kind, and for all else in proportion.
func SetOverhead(c *types.TimerConfig, work overhead.Work, n int) {
	c.OverheadCyclesPerBlock = c.GcCyclesPerBlock + overhead.CyclesFor(work, n)
}

// Overhead is the meter of a block in which no timer is due by time.
func Overhead(c *types.TimerConfig) *overhead.Meter {
	meter := c.Overhead()
	meter.Lend(overhead.Times)
	return meter
}
