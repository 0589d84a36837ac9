package engine

import (
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/schedule"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// turns holds a policy's round to what the engine builds on: a timer has one turn in a block, and is ready when it has it.
// So a block ends even if the policy hands out the same timers for ever, and no timer fires before its time. A round that
// breaks this fails the step as a whole, until the authority selects another policy.
//
// It also holds a crowd of timers without funds, or priced out, to its share of a block. The round hands out timers until one
// lacked funds, and then while the overhead has room for another. Where any did, or was put on hold as priced out, and more
// timers are ready than the round looked at, what remains of the lane is for newcomers, the timers that became due in this
// block, in queue order.
type turns struct {
	policies.Round
	b       *block
	records *state.Records
	// had are the places in the queue of the timers that had their turn. The map is looked up, never ranged over.
	had map[schedule.Key]bool
	// roundOver: the round has had its share. Newcomers are those that have their turn after it.
	roundOver bool
	newcomers []types.Timer
}

func newTurns(round policies.Round, b *block, records *state.Records) *turns {
	return &turns{Round: round, b: b, records: records, had: map[schedule.Key]bool{}}
}

// Next implements policies.Round.
func (r *turns) Next(ctx sdk.Context) (policies.Turn, bool, error) {
	if !r.roundOver {
		if r.b.funds.lacking == 0 || r.b.Overhead.Left(market.Try) > 0 {
			turn, found, err := r.Round.Next(ctx)
			if err != nil {
				return turn, false, err
			}
			if found {
				return turn, true, r.claim(turn.Timer)
			}
		}
		r.roundOver = true
		if err := r.readNewcomers(ctx); err != nil {
			return policies.Turn{}, false, err
		}
	}
	turn, found := r.newcomer()
	return turn, found, nil
}

// claim notes a timer's turn, and returns an error unless the timer is ready and had none.
func (r *turns) claim(t *types.Timer) error {
	if t.Due > r.b.Height || t.ExpiredAt(r.b.Now()) || t.HoldReason != types.NotOnHold {
		return types.ErrInternal.Wrapf("the policy handed out timer %s, which is not ready", t.IDHex())
	}
	key := state.KeyOf(t.Due, t.Seq)
	if r.had[key] {
		return types.ErrInternal.Wrapf("the policy handed out timer %s twice in a block", t.IDHex())
	}
	r.had[key] = true
	return nil
}

// readNewcomers reads the oldest timers that became due in this block and are still in the queue.
func (r *turns) readNewcomers(ctx sdk.Context) (err error) {
	if r.b.funds.lacking+r.b.PricedOut == 0 || !r.b.Overfull || !r.hasRoom() {
		return nil
	}
	first, end := schedule.Key{Due: r.b.Height}, schedule.Key{Due: r.b.Height + 1}
	r.newcomers, _, err = r.b.ReadMore(ctx, r.records, first, end, r.b.Config.CandidateWindow, market.AdmitNewlyDue)
	return err
}

// newcomer is the next newcomer that had no turn. It competes now, if the round had not read it.
func (r *turns) newcomer() (policies.Turn, bool) {
	for len(r.newcomers) > 0 && r.hasRoom() {
		t := &r.newcomers[0]
		r.newcomers = r.newcomers[1:]
		if r.b.Hands.Runnable(t) && r.claim(t) == nil {
			if !r.Withdraw(t) {
				r.b.Competing++
			}
			return policies.Turn{Timer: t}, true
		}
	}
	return policies.Turn{}, false
}

// hasRoom reports whether the lane has room for any fire.
func (r *turns) hasRoom() bool { return r.b.Lane.Fits(r.b.Config.FireBaseCycles) }
