package outlook

import (
	"fmt"
	"time"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	// month is for how long costs are summed up.
	month = 30 * 24 * time.Hour
	// mostFires is how many fires are looked at one by one.
	mostFires = 10_000
)

// NoteCosts says what a timer that repeats costs in a month, and until when its payer's balance and allowance last. Each fire
// counts as dear as it can be at today's prices.
func (o *Outlook) NoteCosts(j *job.Job, p Plan, s *Sponsor, e *types.QueryEstimateResponse) error {
	cost, known := types.ParseAmount(e.PreCharge)
	if !p.Course.Recurs() || !known || !cost.IsPositive() || !p.Course.Known() {
		return nil
	}
	c, err := j.Clock()
	if err != nil {
		return err
	}
	unit := plain.Clean(e.FeeDenom)
	if n, exact := p.Course.Count(c.Present().Add(month)); n > 0 {
		atLeast := ""
		if !exact {
			atLeast = "more than "
		}
		moved := ""
		if !p.Leaves.IsZero() {
			moved = fmt.Sprintf(", and move %s%s", atLeast, p.Leaves.MulInt(math.NewIntFromUint64(n)))
		}
		j.Notef("30 days cost %sat most %s%s for %s at today's prices%s", atLeast, cost.Mul(math.NewIntFromUint64(n)), unit, plain.Count(n, "fire"), moved)
	}
	lasts, err := o.Lasts(j, p, s, e)
	if text := lasts.Text(c); text != "" && (lasts.Fires > 0 || !p.Leaves.IsZero()) { // That the first is not covered is said already of fees.
		j.Notef("%s", text)
	}
	return err
}

// Lasting is for how many fires the funds of a payer last, each at the most that it can cost at today's prices.
type Lasting struct {
	// of says whose funds they are; empty where nothing is known of them.
	of string
	// Fires that are covered, the last of them at a time, and the next that is not, none if all are.
	Fires      uint64
	last, next time.Time
	// more: there are further fires, which were not looked at.
	more bool
}

// RunsDry tells whether fewer than so many further fires are covered, of more that there are.
func (l Lasting) RunsDry(fires uint64) bool { return l.of != "" && !l.next.IsZero() && l.Fires < fires }

// Text says it; nothing where it is not known.
func (l Lasting) Text(c timespan.Clock) string {
	switch {
	case l.of == "":
		return ""
	case l.Fires == 0 && l.next.IsZero():
		return ""
	case l.Fires == 0:
		return fmt.Sprintf("%s for no fire at today's prices: the next, at %s, is not covered", l.of, c.Stamp(l.next))
	case !l.next.IsZero():
		return fmt.Sprintf("%s for %s at today's prices, until %s: the next, at %s, is not covered",
			l.of, plain.Count(l.Fires, "fire"), c.Stamp(l.last), c.Stamp(l.next))
	case l.more:
		return fmt.Sprintf("%s for more than %s at today's prices, until after %s", l.of, plain.Count(l.Fires, "fire"), c.Stamp(l.last))
	case l.Fires == 1:
		return l.of + " for its one fire at today's prices"
	}
	return fmt.Sprintf("%s for all %s at today's prices, until %s", l.of, plain.Count(l.Fires, "fire"), c.Stamp(l.last))
}

// need is what each fire takes from an account, and what that has left.
type need struct {
	account string
	cost    sdk.Coin
	left    math.Int
	// known: the node tells what it has.
	known bool
}

// needs are what a fire takes, of the payer first: its price, and what its messages move.
func (o *Outlook) needs(j *job.Job, p Plan, price sdk.Coin) (needs []need) {
	bank := banktypes.NewQueryClient(j.Context)
	needs = append(needs, need{account: p.Payer, cost: price})
	for _, coin := range p.Leaves {
		if p.Actor == p.Payer && coin.Denom == price.Denom {
			needs[0].cost = needs[0].cost.Add(coin)
			continue
		}
		needs = append(needs, need{account: p.Actor, cost: coin})
	}
	for i := range needs {
		n := &needs[i]
		answer, err := bank.SpendableBalanceByDenom(j.Ctx, &banktypes.QuerySpendableBalanceByDenomRequest{Address: n.account, Denom: n.cost.Denom})
		if n.known = err == nil && answer.Balance != nil; n.known {
			n.left = answer.Balance.Amount
		}
	}
	return needs
}

// Lasts finds out for how many fires a payer's balance and allowance last, of an estimate's price and what the messages move.
func (o *Outlook) Lasts(j *job.Job, p Plan, s *Sponsor, e *types.QueryEstimateResponse) (l Lasting, err error) {
	amount, known := types.ParseAmount(e.PreCharge)
	if !known || !amount.IsPositive() {
		return l, nil
	}
	cost := sdk.NewCoin(e.FeeDenom, amount)
	needs := o.needs(j, p, cost)
	if !needs[0].known {
		return l, nil
	}
	l.of = j.Name(p.Payer) + "'s balance lasts"
	allowance := func(time.Time) bool { return true }
	if s != nil {
		asked, err := s.allowance(j)
		if err != nil {
			return Lasting{}, err
		}
		l.of = j.Name(p.Payer) + "'s balance and the allowance last"
		allowance = func(at time.Time) bool { return accept(asked, sdk.NewCoins(cost), at) == nil }
	}
	for at := range p.Course.Fires() {
		for i := range needs {
			n := &needs[i]
			if !n.known || n.left.GTE(n.cost.Amount) {
				continue
			}
			l.next = at
			if i > 0 {
				l.of = fmt.Sprintf("%s's balance of %s lasts", j.Name(n.account), plain.Clean(n.cost.Denom))
			}
			return l, nil
		}
		if !allowance(at) {
			l.next = at
			return l, nil
		}
		for i := range needs {
			if needs[i].known {
				needs[i].left = needs[i].left.Sub(needs[i].cost.Amount)
			}
		}
		l.last = at
		if l.Fires++; l.Fires == mostFires {
			l.more = true
			return l, nil
		}
	}
	return l, nil
}
