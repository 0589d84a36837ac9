package engine

import (
	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/recurrence"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// considered is what is known of a timer whose turn it is.
type considered struct {
	verdict types.Verdict
	// price and occurrence of its fire, and what that may cost.
	price      market.Price
	occurrence recurrence.Occurrence
	required   math.Int
}

// room says why a timer has no room in the block; nothing if it has.
func (b *block) room(t *types.Timer) policies.Skip {
	limit := b.Config.MaxFiresPerActor
	return policies.Skip{NoRoom: !b.Lane.Fits(b.SizeOf(t)), Capped: limit > 0 && b.totals.firesOf[string(t.Actor)] >= limit}
}

// noRoom is the verdict on a timer that has none.
func noRoom(why policies.Skip) types.Verdict {
	if why.NoRoom {
		return types.VerdictNoRoom
	}
	return types.VerdictCapped
}

// consider decides whether a ready timer whose turn it is may fire, or why not (x/timers/README.md, "5.6 Verdict"). Funds are
// looked up when they are taken: here it is asked alone whether the block knows already that they are missing.
func (e *Engine) consider(ctx sdk.Context, b *block, t *types.Timer) (c considered) {
	var willing bool
	c.price, willing = b.round.Price(t)
	switch why := b.room(t); {
	case why != (policies.Skip{}):
		c.verdict = noRoom(why)
		return c
	case !willing:
		c.verdict = types.VerdictPricedOut
		return c
	}
	if len(t.Scheduler) > 0 {
		if isAdmin, known := e.scheduledByAdmin(ctx, b, t); !known {
			c.verdict = types.VerdictOnHold
			return c
		} else if !isAdmin {
			c.verdict = types.VerdictNotAdmin
			return c
		}
	}
	if c.occurrence = recurrence.Of(t, b.Now()); !c.occurrence.Open {
		c.verdict = types.VerdictPassed
		return c
	}
	c.required = c.price.Cost(t.GasLimit, t.CellLimit)
	// What the payer was charged for the call of the timer's agent counts toward the fire.
	if c.verdict = types.VerdictFires; b.funds.Known(t, less(c.required, b.Agents.ChargedFor(t))) {
		c.verdict = types.VerdictNoFunds
	}
	return c
}

// less is an amount without what was charged, which most often is nothing.
func less(amount, charged math.Int) math.Int {
	if charged.IsZero() {
		return amount
	}
	return amount.Sub(charged)
}
