package eip1559

import (
	"fmt"
	"strings"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/lane"
)

// Headroom is what a lane needs above its target. Without it the lane may have no room for a waiting timer while it is
// used below the target: a crowd could keep others out at a basefee that does not rise.
type Headroom struct {
	Capacity lane.Capacity
	// Target is the use at which the basefee stays, Reserved the share of reserved actors, both fractions of the lane.
	Target, Reserved math.LegacyDec
	// Cycles and Cells are the most that one fire may reserve.
	Cycles, Cells uint64
	// Least is the smallest gas limit: no fire may be capped below it.
	Least uint64
}

// Largest is the largest size of a fire, in cycles.
func (h Headroom) Largest() uint64 { return h.Capacity.Size(h.Cycles, h.Cells) }

// Check returns an error unless TARGET × lane + the largest size of a fire is at most what the reserved actors leave of
// the lane. The error says which values would do.
func (h Headroom) Check() error {
	capacity := inCycles(h.Capacity.Cycles)
	needed := h.Target.Mul(capacity).Add(inCycles(h.Largest()))
	left := math.LegacyOneDec().Sub(h.Reserved).Mul(capacity)
	if needed.LTE(left) {
		return nil
	}
	return fmt.Errorf("eip1559.target × lane_timer_cycles + the largest size of a fire (%d cycles) is %s, "+
		"want at most (1 - reserved_share) × lane_timer_cycles, which is %s: %s",
		h.Largest(), needed.Ceil().TruncateInt(), left.TruncateInt(), h.wouldDo(left, capacity))
}

// wouldDo names the largest target that passes, and the largest fires that do under today's target.
func (h Headroom) wouldDo(left, capacity math.LegacyDec) string {
	var ways []string
	// A target of less than a hundredth is out of bounds.
	if target := left.Sub(inCycles(h.Largest())).QuoTruncate(capacity); target.GTE(math.LegacyNewDecWithPrec(1, 2)) {
		ways = append(ways, "eip1559.target at most "+decimal.Of(target).Text()+" would do")
	}
	if size := left.Sub(h.Target.Mul(capacity)); size.GTE(inCycles(h.Least)) {
		cells := size.Mul(inCycles(h.Capacity.Cells)).QuoTruncate(capacity)
		ways = append(ways, fmt.Sprintf("eip1559.max_cycles_per_fire_auction at most %s with max_cells_per_fire at most %s would do",
			size.TruncateInt(), cells.TruncateInt()))
	}
	if len(ways) == 0 {
		return "a lower eip1559.target with smaller fires would do"
	}
	return strings.Join(ways, "; ")
}

func inCycles(n uint64) math.LegacyDec { return math.LegacyNewDecFromInt(math.NewIntFromUint64(n)) }
