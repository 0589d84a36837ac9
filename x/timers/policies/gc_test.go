package policies

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// TestGC_ACrowdOfOneKindLeavesTheOthersAThird: what one kind leaves goes to the others, each in its order, and the first of a block
// always leaves.
//
// Rule: 5.3-shared
func TestGC_ACrowdOfOneKindLeavesTheOthersAThird(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		removals := rapid.Uint64Range(1, 40).Draw(t, "removals")
		g := GC{Cleanup: market.Cleanup{MaxCycles: removals * market.RemovalCycles, PerRemoval: market.RemovalCycles}}
		seq, waiting := uint64(0), [3]int{}
		for kind, reason := range []types.HoldReason{types.NotOnHold, types.Watching, types.Paused} {
			waiting[kind] = rapid.IntRange(0, 60).Draw(t, "waiting")
			for range waiting[kind] {
				seq++
				g.Meet(types.Timer{Seq: seq, HoldReason: reason})
			}
		}
		var left [3]int
		last := [3]uint64{}
		for timer, fits := g.Next(); fits; timer, fits = g.Next() {
			kind := kindOf(&timer)
			require.Greater(t, timer.Seq, last[kind], "each in its order")
			last[kind] = timer.Seq
			left[kind]++
		}
		all := waiting[0] + waiting[1] + waiting[2]
		require.Equal(t, min(all, int(removals)), left[0]+left[1]+left[2], "nothing of the budget is left unused")
		for kind := range left {
			require.GreaterOrEqual(t, left[kind], min(waiting[kind], int(removals)/3), "a third is guaranteed")
		}
	})
}
