package engine

import (
	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/recurrence"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// considered is what is known of a timer whose turn it is.
type considered struct {
	verdict types.Verdict
	// timer as it is now. It is as it was read where there is no room for it, and nil if it left meanwhile or has expired.
	timer *types.Timer
	// capped: its actor has fired MAX_FIRES_PER_ACTOR times in this block.
	capped bool
	// price and occurrence of its fire, and what that may cost.
	price      market.Price
	occurrence recurrence.Occurrence
	required   math.Int
}

// consider decides whether a ready timer may fire in what a lane has left, or why not (x/timers/README.md, "5.6 Verdict"). No
// other place does. Funds are looked up when they are taken: here it is asked alone whether the block knows already that they
// are missing.
func (e *Engine) consider(ctx sdk.Context, b *block, lane *market.Budget, turn policies.Turn) (c considered, err error) {
	c.timer = turn.Timer
	limit := b.Config.MaxFiresPerActor
	c.capped = limit > 0 && b.totals.firesOf[string(c.timer.Actor)] >= limit
	switch {
	case b.Config.LanePaused:
		c.verdict = types.VerdictLanePaused
		return c, nil
	case !lane.Fits(b.SizeOf(c.timer)):
		c.verdict = types.VerdictNoRoom
		return c, nil
	case c.capped:
		c.verdict = types.VerdictCapped
		return c, nil
	}
	if c.timer, err = e.current(ctx, b, turn); err != nil || c.timer == nil {
		return c, err
	}
	t, willing := c.timer, false
	if c.price, willing = b.round.Price(t); !willing {
		c.verdict = types.VerdictPricedOut
		return c, nil
	}
	if len(t.Scheduler) > 0 {
		if isAdmin, known := e.scheduledByAdmin(ctx, b, t); !known {
			c.verdict = types.VerdictOnHold
			return c, nil
		} else if !isAdmin {
			c.verdict = types.VerdictNotAdmin
			return c, nil
		}
	}
	if c.occurrence = recurrence.Of(t, b.Now()); !c.occurrence.Open {
		c.verdict = types.VerdictPassed
		return c, nil
	}
	c.required = c.price.Cost(t.GasLimit, t.CellLimit)
	// What the payer was charged for the call of the timer's agent counts toward the fire.
	if c.verdict = types.VerdictFires; b.funds.Known(t, less(c.required, b.Agents.ChargedFor(t))) {
		c.verdict = types.VerdictNoFunds
	}
	return c, nil
}

// current is a timer as it is now, nil if it left meanwhile or has expired. Earlier handlers may have cancelled or changed it, so
// that its record is read again. This is not needed for one that does not fit: a record never changes its gas limit or its
// actor where it is stored.
func (e *Engine) current(ctx sdk.Context, b *block, turn policies.Turn) (*types.Timer, error) {
	current := *turn.Timer
	if key := state.KeyOf(current.Due, current.Seq); !turn.Fresh && e.Records.Queue().MayDiffer(ctx, key) {
		var found bool
		var err error
		if current, found, err = e.Records.InQueue(ctx, key); err != nil {
			return nil, err
		}
		if !found {
			b.Left++
			return nil, nil
		}
		if current.ExpiredAt(b.Now()) {
			return nil, nil
		}
	}
	return &current, nil
}

// less is an amount without what was charged, which most often is nothing.
func less(amount, charged math.Int) math.Int {
	if charged.IsZero() {
		return amount
	}
	return amount.Sub(charged)
}
