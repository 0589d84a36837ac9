package lab

import (
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// SetRemovals makes a config under which a block removes n timers. What is left for other work stays.
func SetRemovals(c *types.TimerConfig, n int) {
	rest := c.OverheadCyclesPerBlock - c.GcCyclesPerBlock
	c.GcCyclesPerBlock = uint64(n) * market.RemovalCycles
	c.OverheadCyclesPerBlock = c.GcCyclesPerBlock + rest
}

// SetOverhead makes a config under which a block has room for n works of a kind, and for all else in proportion.
func SetOverhead(c *types.TimerConfig, work market.Work, n int) {
	c.OverheadCyclesPerBlock = c.GcCyclesPerBlock + market.CyclesFor(work, n)
}

// Overhead is the meter of a block in which no timer is due by time.
func Overhead(c *types.TimerConfig) *market.Overhead {
	meter := c.Overhead()
	meter.Lend(market.Times)
	return meter
}
