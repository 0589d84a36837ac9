package outlook

import (
	"fmt"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/client/bids"
	"github.com/cosmos-timers/timers/x/timers/client/course"
	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Plan is what a timer will be when the transaction is through, as far as its price depends on it.
type Plan struct {
	Limits bids.Limits
	Bid    *types.Bid
	// BidStated: the transaction states the bid; one that the timer has already is not checked again.
	BidStated bool
	Payer     string
	// Repeats: it may fire more than once.
	Repeats bool
	// Course is when it fires.
	Course course.Course
	// Leaves is what leaves Actor with each fire, beside what the payer is charged.
	Leaves sdk.Coins
	Actor  string
	// Suspends: it is suspended where its payer lacks the funds for a fire.
	Suspends bool
}

// checkStatic refuses stated prices that the chain would refuse when the transaction arrives, and says what would do.
// Where they leave less for the tip than is stated, it says to what the chain lowers it.
func (o *Outlook) checkStatic(j *job.Job, bid *types.Bid) error {
	covered, err := o.covered()
	if err != nil {
		return err
	}
	maxFee, priority := bid.Static.MaxFeePerCycle, bid.Static.MaxPriorityFeePerCycle
	left := maxFee.Sub(covered.fee)
	switch {
	case left.IsNegative():
		return fmt.Errorf("--%s %s is below %s, %s: the chain would refuse it. Want that at least; "+
			"%s, twice that and the tip, leaves room for it to rise", bids.FlagMaxFee, plain.Dec(maxFee.String()), plain.Dec(covered.fee.String()), covered.now,
			plain.Dec(covered.fee.MulInt64(2).Add(priority.LegacyDec).String()))
	case priority.GT(left):
		j.Notef("--%s %s leaves %s beside %s: the chain lowers --%s %s to that",
			bids.FlagMaxFee, plain.Dec(maxFee.String()), plain.Dec(left.String()), covered.name, bids.FlagMaxPriority, plain.Dec(priority.String()))
	}
	return nil
}

// Advise says what a fire will cost at today's prices and how long it would wait, and returns the estimate; nil if there is
// none. It refuses a bid that the chain would refuse, and objects to one that does nothing, to a payer who can't cover a
// fire now, and to a max charge that no fire keeps to now.
func (o *Outlook) Advise(j *job.Job, p Plan) (*types.QueryEstimateResponse, error) {
	if p.BidStated {
		switch note := bids.Note(o.Prices.Policy, p.Bid); {
		case note == "":
		case p.Bid.Price != "":
			j.Object("%s", note)
		default:
			j.Notef("%s", note)
		}
	}
	if p.Bid != nil && p.Bid.Agent != "" {
		j.Notef("the agent %s says at each fire what the timer bids; what is said of its price here is the default bid's", p.Bid.Agent)
	}
	if p.BidStated && p.Bid.Static != nil && o.bidRule().MaxFee != bids.MaxFeeUnused {
		if err := o.checkStatic(j, p.Bid); err != nil {
			return nil, err
		}
	}
	request := Request(p.Limits, p.Bid)
	request.Actor = j.Signer.Text
	e, err := Estimate(j, request)
	if err != nil && request.MaxCharge != "" {
		// No price is low enough for it. What a fire costs without it says by how much.
		request.MaxCharge = ""
		e, err = Estimate(j, request)
	}
	if err != nil {
		j.Notef("no estimate: %v", err)
		return nil, nil
	}
	unit := plain.Clean(e.FeeDenom)
	fire := "the fire"
	if p.Repeats {
		fire = "each fire"
	}
	j.Notef("pre-charges at most %s%s at %s, and gives back what is not used", e.PreCharge, unit, fire)
	j.Notef("pays %s a cycle now (chain %s, lane %s, tip %s), %s%s if it uses all of them",
		perCycle(e), plain.Dec(e.CycleBasefee), plain.Dec(e.LaneFee), plain.Dec(e.Priority), e.CostOfCycles, unit)
	if e.ScoreBid != "" {
		j.Notef("pays its bid of %s%s at %s, within these sums", plain.Clean(e.ScoreBid), unit, fire)
	}
	c, err := j.Clock()
	if err != nil {
		c.PaceErr = err
	}
	j.Notef("%s", WaitNote(e, c))
	noteLocks(j, e, p)
	unfunded := bids.RuleOf(e.Policy).Unfunded
	if p.Suspends {
		unfunded = "the timer is suspended until its owner resumes it or it expires"
	}
	o.objectToFunds(j, e, p.Payer, unfunded)
	if !p.Limits.DefaultCharge {
		objectToMaxCharge(j, e, p.Limits.MaxCharge)
	}
	return e, nil
}

// objectToMaxCharge tells when one fire may cost more than it is allowed to at today's prices: the timer would wait until they fall.
func objectToMaxCharge(j *job.Job, e *types.QueryEstimateResponse, text string) {
	most, stated := types.ParseAmount(text)
	needs, known := types.ParseAmount(e.PreCharge)
	if !stated || !known || !most.IsPositive() || most.GTE(needs) {
		return
	}
	unit := plain.Clean(e.FeeDenom)
	j.Object("--%s %s%s is less than the %s%s that one fire may cost now: it would wait until prices fall, or expire",
		bids.FlagMaxCharge, most, unit, needs, unit)
}

// objectToFunds tells when the payer has less now than the fire will ask for, and what becomes of the timer then: there is time
// to change that.
func (o *Outlook) objectToFunds(j *job.Job, e *types.QueryEstimateResponse, payer, unfunded string) {
	balance, known := o.Balance(j.Ctx, banktypes.NewQueryClient(j.Context), payer)
	if !known {
		return
	}
	required, known := types.ParseAmount(e.PreCharge)
	if unit := plain.Clean(e.FeeDenom); known && balance.LT(required) {
		j.Object("%s can spend %s%s now, less than the %s%s pre-charged: without more by then, %s",
			j.Name(payer), balance, unit, e.PreCharge, unit, unfunded)
	}
}

// noteLocks says what is locked, and what it takes to win, under a policy that locks bids.
func noteLocks(j *job.Job, e *types.QueryEstimateResponse, p Plan) {
	if !bids.RuleOf(e.Policy).Locks {
		return
	}
	unit := plain.Clean(e.FeeDenom)
	if stated := p.Bid.Stated(); p.BidStated && stated.IsPositive() {
		j.Notef("locks %s%s of yours at once; what the fire does not pay of it comes back", stated, unit)
	}
	if e.LeastBid == "" {
		j.Notef("no bid would make it fire in the next block: who has waited longest comes first")
		return
	}
	j.Notef("a bid of %s%s would make it fire in the next block", plain.Clean(e.LeastBid), unit)
}
