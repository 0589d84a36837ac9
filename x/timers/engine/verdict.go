package engine

import (
	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/triggers"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// considered is what is known of a timer whose turn it is.
type considered struct {
	verdict types.Verdict
	// price and occurrence of its fire, and what that may cost.
	price      market.Price
	occurrence triggers.Occurrence
	required   math.Int
}

// room says why a timer has no room in the block; nothing if it has.
func (b *block) room(t *types.Timer) policies.Skip {
	return policies.Skip{NoRoom: !b.Lane.Fits(b.SizeOf(t)), Capped: !b.mayFire(&b.Config, t.Actor)}
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
	if c.occurrence = e.Triggers.Occurrence(t, b.Now()); !c.occurrence.Open {
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

// Next returns the turn of the timer that the block tries next, and what the block makes of it. Where it fires, the most
// that it may use, and that its payer may be charged, is taken as used.
func (p *Preview) Next(ctx sdk.Context) (turn policies.Turn, verdict types.Verdict, found bool, err error) {
	turn, found, err = p.Round.Next(ctx)
	if err != nil || !found {
		return turn, 0, found, err
	}
	return turn, p.verdict(ctx, turn.Timer), true, nil
}

func (p *Preview) verdict(ctx sdk.Context, t *types.Timer) types.Verdict {
	if p.Config.LanePaused {
		return types.VerdictLanePaused
	}
	c := p.engine.consider(ctx, p.block, t)
	if c.verdict != types.VerdictFires {
		return c.verdict
	}
	if spent, some := p.spent[string(t.Payer())]; some {
		c.required = c.required.Add(spent)
	}
	if !p.block.funds.Covers(ctx, t, c.required) {
		return types.VerdictNoFunds
	}
	p.spent[string(t.Payer())] = c.required
	p.Lane.Spend(t.GasLimit, t.CellLimit)
	p.block.firesOf[string(t.Actor)]++
	if len(t.OnlyIf) == 0 {
		return types.VerdictFires
	}
	r := p.engine.begin(ctx, t, p.Config.FireBaseCycles)
	ctx.GasMeter().ConsumeGas(r.meter.GasConsumed(), "read conditions")
	if r.guarded {
		return types.VerdictGuarded
	}
	return types.VerdictFires
}

// Missed is the verdict on a ready timer that the block does not try.
func (p *Preview) Missed(ctx sdk.Context, t *types.Timer) types.Verdict {
	price, willing := p.Round.Price(t)
	switch {
	case p.Config.LanePaused:
		return types.VerdictLanePaused
	case !willing:
		return types.VerdictPricedOut
	case !p.block.funds.Covers(ctx, t, price.Cost(t.GasLimit, t.CellLimit)):
		return types.VerdictNoFunds
	case p.block.room(t).NoRoom:
		return types.VerdictNoRoom // The policy stops reading when the lane is full.
	default:
		return types.VerdictNotRead
	}
}
