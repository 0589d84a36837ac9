package outlook

import (
	"math/big"

	"github.com/cosmos-timers/timers/x/timers/client/bids"
	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// defaultCharges is how many of today's pre-charges one fire may cost where nothing is stated.
const defaultCharges = 10

// DefaultMaxCharge is the most that one fire may cost where nothing is stated: ten times what it may cost today, of an estimate,
// a bid that is locked included. It says so. It is empty, which is no bound, where there is no estimate, and where a fire is free.
func (o *Outlook) DefaultMaxCharge(j *job.Job, e *types.QueryEstimateResponse, bid *types.Bid) string {
	if e == nil {
		NoDefaultMaxCharge(j)
		return ""
	}
	today, known := types.ParseAmount(e.PreCharge)
	if !known {
		return ""
	}
	if bids.RuleOf(e.Policy).Locks {
		today = today.Add(bid.Stated())
	}
	most := new(big.Int).Mul(today.BigInt(), big.NewInt(defaultCharges))
	if most.Sign() == 0 || most.BitLen() > types.MaxBidBits {
		return ""
	}
	j.Notef("never costs more than %s%s a fire, ten times what it may cost today: above that it waits until prices fall (--%s %s removes the bound)",
		most, plain.Clean(e.FeeDenom), bids.FlagMaxCharge, bids.NoMaxCharge)
	return most.String()
}

// NoDefaultMaxCharge says that there is no bound, since no price of today is known.
func NoDefaultMaxCharge(j *job.Job) {
	j.Notef("no price of today is known, so that nothing bounds what one fire may cost: --%s would", bids.FlagMaxCharge)
}
