package engine

import (
	"slices"

	"cosmossdk.io/math"

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
// It also holds a crowd that no one is billed for to its share of a block: timers without funds, of former admins, quarantined or
// priced out. The round hands out timers until one of them was tried, and then while the overhead has room for another. Where any
// was, quarantined ones apart, or was put on hold as priced out, and more timers are ready than the round looked at, what remains of the lane is for
// newcomers, the timers that became due in this block, in queue order.
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

// Next implements policies.Round.
func (r *turns) Next(ctx sdk.Context) (policies.Turn, bool, error) {
	if !r.roundOver {
		if r.b.totals.unpaid == 0 || r.b.Overhead.Left(market.Try) > 0 {
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
	if r.b.totals.unpaid-r.b.totals.quarantined+r.b.PricedOut == 0 || !r.b.Overloaded || !r.hasRoom() {
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
func (r *turns) hasRoom() bool { return r.b.Lane.Fits(market.FireBaseCycles) }

// maxReserved bounds the timers of reserved actors that a block reads: more than a share of the default lane can fire.
const maxReserved = 64

// fireReserved tries the ready timers of RESERVED_ACTORS before all others, in the policy's order, while they used less
// than RESERVED_SHARE of the lane. The last of them may exceed the share. They pay like all others. What they leave of
// the share goes to all (x/timers/README.md, "1.6 Lane").
func (e *Engine) fireReserved(ctx sdk.Context, b *block) error {
	share := b.Config.ReservedShare.MulInt(math.NewIntFromUint64(b.Lane.Cycles)).TruncateInt().Uint64()
	if share == 0 || b.Competing == 0 && !b.Storm {
		return nil
	}
	timers, err := e.reservedReady(ctx, b)
	if err != nil {
		return err
	}
	candidates := make([]market.Candidate, len(timers))
	for i := range timers {
		candidates[i] = b.round.Candidate(ctx, &timers[i])
	}
	for _, i := range b.rules.Order(b.Prices, candidates) {
		if b.Lane.UsedSize >= share {
			break
		}
		if !b.round.Withdraw(&timers[i]) {
			b.Competing++
		}
		if err := e.try(ctx, b, policies.Turn{Timer: &timers[i], Reserved: true}); err != nil {
			return err
		}
	}
	return nil
}

// reservedReady are the ready timers of reserved actors that can fire, the oldest of them.
func (e *Engine) reservedReady(ctx sdk.Context, b *block) ([]types.Timer, error) {
	actors, err := e.reservedActors(ctx, &b.Config)
	if err != nil {
		return nil, err
	}
	var due []state.Entry
	for _, actor := range actors {
		entries, err := e.Owners.Of(ctx, actor)
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			if entry.Due > 0 && entry.Due <= b.Height {
				due = append(due, entry)
			}
		}
	}
	slices.SortFunc(due, func(a, b state.Entry) int {
		return state.KeyOf(a.Due, a.Seq).Compare(state.KeyOf(b.Due, b.Seq))
	})
	var ready []types.Timer
	for _, entry := range due[:min(len(due), maxReserved)] {
		t, found, err := e.Records.InQueue(ctx, state.KeyOf(entry.Due, entry.Seq))
		if err != nil {
			return nil, err
		}
		if found && !t.ExpiredAt(b.Now()) && e.Policies.Runnable(&b.Config, b.Height, &t) {
			ready = append(ready, t)
		}
	}
	return ready, nil
}

// CheckConfig refuses a config whose policy is not of this chain, or whose reserved actors are no addresses of it.
func (e *Engine) CheckConfig(config *types.TimerConfig) error {
	if err := e.Policies.Validate(config); err != nil {
		return err
	}
	_, err := e.namedReserved(config)
	return err
}

// reservedActors are RESERVED_ACTORS, or the authority if there are none.
func (e *Engine) reservedActors(ctx sdk.Context, config *types.TimerConfig) ([]sdk.AccAddress, error) {
	if len(config.ReservedActors) > 0 {
		return e.namedReserved(config)
	}
	authority, err := e.Addresses.StringToBytes(e.Authority.In(ctx))
	if err != nil {
		return nil, nil //nolint:nilerr // Consensus params name what is no address of this chain: it has no timers.
	}
	return []sdk.AccAddress{authority}, nil
}

// namedReserved are RESERVED_ACTORS. The error is ErrInvalidConfig.
func (e *Engine) namedReserved(config *types.TimerConfig) ([]sdk.AccAddress, error) {
	actors := make([]sdk.AccAddress, len(config.ReservedActors))
	for i, text := range config.ReservedActors {
		var err error
		if actors[i], err = e.Addresses.StringToBytes(text); err != nil {
			return nil, types.ErrInvalidConfig.Wrapf("reserved_actors: %.120q is no address of this chain", text)
		}
	}
	return actors, nil
}
