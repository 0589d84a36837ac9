package outlook

import (
	"fmt"
	"time"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
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
		j.Notef("30 days cost %sat most %s%s for %s at today's prices", atLeast, cost.Mul(math.NewIntFromUint64(n)), unit, plain.Count(n, "fire"))
	}
	text, err := o.lasts(j, p, s, sdk.NewCoin(e.FeeDenom, cost))
	if text != "" {
		j.Notef("%s", text)
	}
	return err
}

// lasts says for how many fires a payer's funds last; nothing where they are not known or not enough for the first.
func (o *Outlook) lasts(j *job.Job, p Plan, s *Sponsor, cost sdk.Coin) (string, error) {
	response, err := banktypes.NewQueryClient(j.Context).SpendableBalanceByDenom(j.Ctx,
		&banktypes.QuerySpendableBalanceByDenomRequest{Address: p.Payer, Denom: cost.Denom})
	if err != nil || response.Balance == nil {
		// A chain may keep its balances to itself.
		return "", nil
	}
	c, err := j.Clock()
	if err != nil {
		return "", err
	}
	balance, lasts := response.Balance.Amount, j.Name(p.Payer)+"'s balance lasts"
	allowance := func(time.Time) bool { return true }
	if s != nil {
		asked, err := s.allowance(j)
		if err != nil {
			return "", err
		}
		lasts = j.Name(p.Payer) + "'s balance and the allowance last"
		allowance = func(at time.Time) bool { return accept(asked, sdk.NewCoins(cost), at) == nil }
	}
	fires, last := uint64(0), time.Time{}
	for at := range p.Course.Fires() {
		if balance.LT(cost.Amount) || !allowance(at) {
			if fires == 0 {
				return "", nil
			}
			return fmt.Sprintf("%s for %s at today's prices, until %s: the next, at %s, is not covered",
				lasts, plain.Count(fires, "fire"), c.Stamp(last), c.Stamp(at)), nil
		}
		balance, last = balance.Sub(cost.Amount), at
		if fires++; fires == mostFires {
			return fmt.Sprintf("%s for more than %s at today's prices, until after %s", lasts, plain.Count(fires, "fire"), c.Stamp(at)), nil
		}
	}
	switch fires {
	case 0:
		return "", nil
	case 1:
		return lasts + " for its one fire at today's prices", nil
	}
	return fmt.Sprintf("%s for all %s at today's prices, until %s", lasts, plain.Count(fires, "fire"), c.Stamp(last)), nil
}
