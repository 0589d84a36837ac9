package engine

import (
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/calendar"
	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// turns holds a policy's round to what the engine builds on: a timer has one turn in a block, and is ready when it has it.
// So a block ends even if the policy hands out the same timers for ever, and no timer fires before its time. A round that
// breaks this fails the step as a whole, until the authority selects another policy.
type turns struct {
	policies.Round
	*policies.Block
	// had are the places in the queue of the timers that had their turn. The map is looked up, never ranged over.
	had map[calendar.Key]bool
}

func newTurns(round policies.Round, b *policies.Block) *turns {
	return &turns{round, b, map[calendar.Key]bool{}}
}

// Next implements policies.Round.
func (r *turns) Next(ctx sdk.Context) (policies.Turn, bool, error) {
	turn, found, err := r.Round.Next(ctx)
	if err != nil || !found {
		return turn, false, err
	}
	t := turn.Timer
	if t.Due > r.Height || t.ExpiredAt(r.Height) || t.SetAside != types.NotSetAside {
		return turn, false, types.ErrInternal.Wrapf("the policy handed out timer %s, which is not ready", t.IDHex())
	}
	key := state.KeyOf(t.Due, t.Seq)
	if r.had[key] {
		return turn, false, types.ErrInternal.Wrapf("the policy handed out timer %s twice in a block", t.IDHex())
	}
	r.had[key] = true
	return turn, true, nil
}
