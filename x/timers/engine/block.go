package engine

import (
	"github.com/cosmos-timers/timers/x/timers/fees"
	"github.com/cosmos-timers/timers/x/timers/logmap"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/report"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// block is the state of the end of one block. It exists only during that block.
type block struct {
	*policies.Block
	// policy in force, its rules and its round.
	policy policies.Policy
	rules  market.Rules
	round  policies.Round
	// followers are notified of each fire: those of other policies, and the round.
	followers []policies.Follower
	// basefees are the chain's part of the prices, and whether its fee market gave them.
	basefees fees.Basefees

	// funds of the payers.
	funds funds
	// session is what the block's steps change, until it is written.
	session *logmap.Session
	// watch times the steps.
	watch report.Stopwatch
	totals
}

// clampCursors clamps the lane's cursors to the beginning of the block's own height, where watches insert the timers
// that they make due. Blocks leave the cursors before it; a genesis file may hold any value.
func (b *block) clampCursors() {
	for _, cursor := range []*types.QueueKey{&b.State.HeadCursor, &b.State.LiveCursor, &b.State.AdmitCursor} {
		if own := (types.QueueKey{Due: b.Height}); own.Before(*cursor) {
			*cursor = own
		}
	}
}

// firstRemaining is the new head of the queue: the first expired timer that was not removed, or the first live one. Under overload
// the block may have met later ones before.
func (b *block) firstRemaining() types.QueueKey {
	first := state.CalendarKey(b.State.LiveCursor)
	for i := range b.GC.Expired {
		t := &b.GC.Expired[i]
		if key := state.KeyOf(t.Due, t.Seq); t.HoldReason == types.NotOnHold && key.Compare(first) < 0 {
			first = key
		}
	}
	if b.GC.Unswept != nil && b.GC.Unswept.Compare(first) < 0 {
		first = *b.GC.Unswept
	}
	return state.QueueKey(first)
}

// billedCycles is the sum that a fire is billed: its own cycles, those of its agent's call, and what was prepaid for the
// repetitions that passed without funds, which it restores. It is at most the gas limit, for which the fire was pre-charged.
func (b *block) billedCycles(t *types.Timer, cycles uint64) uint64 {
	return min(cycles+b.Agents.CyclesFor(t)+b.Config.LapseCycles*uint64(t.Skips), t.GasLimit)
}
