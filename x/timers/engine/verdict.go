package engine

import (
	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/contest"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/recurrence"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// considered is what is known of a timer that is tried.
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

// consider decides whether a ready timer may fire in what a lane has left, or why not (x/timers/README.md, "5.6 Verdict"). Nothingthing
// else does. Funds are looked up when they are taken: here it is asked alone whether the block knows already that they
// are missing.
func (e *Engine) consider(ctx sdk.Context, b *block, lane *market.Budget, entrant contest.Entrant) (c considered, err error) {
	c.timer = entrant.Timer
	limit := b.Config.MaxFiresPerActor
	c.capped = limit > 0 && b.totals.firesOf[string(c.timer.Actor)] >= limit
	switch {
	case b.Config.LanePaused:
		c.verdict = types.VerdictLanePaused
		return c, nil
	case !lane.Fits(b.contest.SizeOf(c.timer)):
		c.verdict = types.VerdictNoRoom
		return c, nil
	case c.capped:
		c.verdict = types.VerdictCapped
		return c, nil
	}
	// A record never changes its gas limit or its actor where it is stored, so that the above need not look at it again.
	c.timer, err = b.contest.Current(ctx, entrant)
	switch {
	case err != nil:
		return c, err
	case c.timer == nil:
		b.contest.Left++
		return c, nil
	case c.timer.ExpiredAt(b.contest.Now):
		c.timer = nil
		return c, nil
	}
	t, willing := c.timer, false
	if c.price, willing = b.contest.Price(t); !willing {
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
	if c.occurrence = recurrence.Of(t, b.contest.Now); !c.occurrence.Open {
		c.verdict = types.VerdictPassed
		return c, nil
	}
	c.required = c.price.Cost(t.GasLimit, t.CellLimit)
	// What the payer was charged for the call of the timer's agent counts toward the fire.
	if c.verdict = types.VerdictFires; b.funds.Known(t, b.less(c.required, t)) {
		c.verdict = types.VerdictNoFunds
	}
	return c, nil
}

// less is an amount without what the payer was charged for the call of a timer's agent.
func (b *block) less(amount math.Int, t *types.Timer) math.Int {
	if call := b.calls.Of(t); call != nil {
		return amount.Sub(call.Charged)
	}
	return amount
}
