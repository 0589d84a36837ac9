// Package auction binds policy auction to state: the money of its bids.
//
// What a timer bids for a fire is locked in the module's account when it is stated, and paid, kept or returned
// whichever way the timer goes. A record says how much is locked for it. Whatever removes a record returns that. A fire
// takes it off the record before the handler runs, and what becomes of it is decided when the block's fires are over:
// under vcg a winner pays what it would have had to bid. A change of policy touches no lock: under another policy the
// fire pays nothing of it, and it is returned when its timer leaves, or when its owner states another bid.
//
// Invariant: between blocks the module's account holds what the records say, and nothing else.
package auction

import (
	"context"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/report"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Policy auction.
type Policy struct {
	policies.Base
	parts *policies.Parts
}

var _ policies.Locker = (*Policy)(nil)

// New binds the policy.
func New(parts *policies.Parts) policies.Policy { return &Policy{parts: parts} }

// ID implements policies.Policy.
func (*Policy) ID() types.Policy { return types.PolicyAuction }

// Rules implements policies.Policy.
func (*Policy) Rules(config *types.TimerConfig, lane *types.LaneState) market.Rules {
	return rulesIn(config, lane)
}

// Accept implements policies.BidRules: an integer bid is what is to be locked.
func (p *Policy) Accept(ctx context.Context, config *types.TimerConfig, bid *types.Bid) (policies.Accepted, error) {
	if bid.Price == "" {
		return p.Base.Accept(ctx, config, bid)
	}
	kept, err := bid.Kept()
	return policies.Accepted{Bid: kept}, err
}

// Relock implements policies.BidRules. The bid is paid by who scheduled the timer, never from an allowance.
func (p *Policy) Relock(ctx context.Context, config *types.TimerConfig, t *types.Timer, inForce bool) error {
	stated := math.ZeroInt()
	if inForce {
		stated = t.Spec.Bid.Stated()
	}
	missing := stated.Sub(t.Locked())
	switch {
	case missing.IsPositive():
		return p.lock(ctx, config, t, missing)
	case missing.IsNegative():
		return p.unlock(ctx, config, t, missing.Neg())
	}
	return nil
}

// lock takes an amount of the principal's for the timer.
func (p *Policy) lock(ctx context.Context, config *types.TimerConfig, t *types.Timer, amount math.Int) error {
	payments, principal := p.parts.Fees, t.Principal()
	// An account that may not pay for fires may not bid either: what is returned could not reach it.
	if _, err := payments.CheckPayer(ctx, config, principal, principal); err != nil {
		return err
	}
	coin := sdk.NewCoin(config.FeeDenom, payments.Spendable(ctx, config, principal))
	if coin.Amount.LT(amount) {
		return types.ErrBidNotCovered.Wrapf("%s must lock %s more and can spend %s", p.parts.Addresses.Text(principal), amount, coin)
	}
	if err := payments.Lock(ctx, config, principal, amount); err != nil {
		return types.ErrBidNotCovered.Wrapf("x/bank refuses to move %s%s from %s: %s", amount, config.FeeDenom, p.parts.Addresses.Text(principal), types.ReasonOf(err))
	}
	t.SetLocked(t.Locked().Add(amount))
	return report.Emit(ctx, &types.TimerBidLocked{
		Id: t.IDHex(), Actor: p.parts.Addresses.Text(t.Actor), Amount: amount.String(), Locked: t.Locked().String(),
	})
}

// unlock returns an amount of what is locked for the timer.
func (p *Policy) unlock(ctx context.Context, config *types.TimerConfig, t *types.Timer, amount math.Int) error {
	if !amount.IsPositive() {
		return nil
	}
	if err := p.parts.Fees.Unlock(ctx, config, t.Principal(), amount); err != nil {
		return err
	}
	bid := t.Locked()
	t.SetLocked(bid.Sub(amount))
	return report.Emit(ctx, &types.TimerBidSettled{
		Id: t.IDHex(), Actor: p.parts.Addresses.Text(t.Actor), Bid: bid.String(), Paid: "0",
		Returned: amount.String(), Locked: t.Locked().String(),
	})
}

// Return implements policies.Locker.
func (p *Policy) Return(ctx context.Context, t *types.Timer) error {
	config, err := p.parts.Configs.Get(ctx)
	if err != nil {
		return err
	}
	return p.unlock(ctx, &config, t, t.Locked())
}

// Params implements policies.Policy.
func (*Policy) Params() types.PolicyParams { return (*Params)(nil).Defaults() }

// Messages implements policies.Policy.
func (*Policy) Messages() policies.Messages {
	return policies.Messages{State: []types.PolicyState{&State{}}, Standing: []types.PolicyStanding{&Standing{}}}
}

// Maintain implements policies.Policy: the loop that adjusts λ restarts when the policy comes into force again.
func (*Policy) Maintain(_ sdk.Context, b *policies.Block, inForce bool) error {
	if !inForce {
		b.State.RemovePolicy(&State{})
	}
	return nil
}

// Describe implements policies.Policy: λ, and what it follows.
func (*Policy) Describe(config *types.TimerConfig, lane *types.LaneState) types.PolicyStanding {
	decay, deferral := math.LegacyZeroDec(), math.LegacyZeroDec()
	if state := stateIn(lane); state != nil {
		decay, deferral = state.ValueDecay, state.Deferral
	}
	return &Standing{Lambda: rulesIn(config, lane).Lambda.String(), ValueDecay: decay.String(), Deferral: deferral.String()}
}

// Open implements policies.Policy.
func (p *Policy) Open(_ sdk.Context, b *policies.Block) (policies.Round, error) {
	auction := rulesIn(&b.Config, &b.Before)
	window := policies.Window{Block: b, Parts: p.parts, Rules: auction}
	return &round{Window: window, book: book{policy: p, block: b, rules: &auction}}, nil
}

// Follow implements policies.Locker: bids that were locked are settled under any policy.
func (p *Policy) Follow(b *policies.Block) policies.Follower {
	return &book{policy: p, block: b}
}

// round is the policy at work in one block.
type round struct {
	policies.Window
	book
	// runnerUpReads counts the timers read in search of a runner-up.
	runnerUpReads int
}

// maxRunnerUpReads bounds the timers that a block reads again to find runners-up. Beyond that, the next timer that did
// not fit is taken as it was read.
const maxRunnerUpReads = 64

// Next implements policies.Round: after the lane is full it continues until the runner-up of each winner is known.
func (r *round) Next(sdk.Context) (policies.Turn, bool, error) {
	if !r.HasRoom() && r.settled() {
		return policies.Turn{}, false, nil
	}
	turn, found := r.Take()
	return turn, found, nil
}

// Skipped implements policies.Round.
func (r *round) Skipped(ctx sdk.Context, t *types.Timer, why policies.Skip) error {
	if why.Capped || !why.NoRoom {
		return nil
	}
	return r.findRunnerUp(ctx, t)
}

// findRunnerUp makes a timer that did not fit the runner-up of the winners before it that have none yet. A timer that
// has left or moved since it was read is no runner-up, nor is one that could not have paid for its fire.
func (r *round) findRunnerUp(ctx sdk.Context, read *types.Timer) error {
	if r.settled() {
		return nil
	}
	if r.runnerUpReads < maxRunnerUpReads {
		r.runnerUpReads++
		timer, found, err := r.Parts.Records.InQueue(ctx, state.KeyOf(read.Due, read.Seq))
		if err != nil || !found || timer.ExpiredAt(r.Now()) {
			return err
		}
		price, _ := r.Price(&timer)
		if !r.Parts.Fees.Covers(ctx, &r.Config, &timer, price.Cost(timer.GasLimit, timer.CellLimit)) {
			return nil
		}
		read = &timer
	}
	runnerUp := r.Candidate(ctx, read)
	r.settleAgainst(&runnerUp)
	return nil
}

// Fired implements policies.Round.
func (r *round) Fired(ctx sdk.Context, f policies.Fire) { r.book.Fired(ctx, f) }

// Close implements policies.Round.
func (r *round) Close(ctx sdk.Context) (math.Int, error) { return r.book.Close(ctx) }

// LockedBid implements policies.Estimator.
func (*round) LockedBid(bid string) (math.Int, error) { return (&types.Bid{Price: bid}).Stated(), nil }

// Bidding implements policies.Estimator. It finds the first ready timer that the candidate would have to pass to fire
// in the next block, if all fires use their gas limits. From that it computes the least bid that passes it, and what
// the candidate would pay of its own bid.
func (r *round) Bidding(ctx sdk.Context, candidate market.Candidate, response *types.QueryEstimateResponse) error {
	budget := r.Lane
	var runnerUp *market.Candidate
	for _, i := range r.Order {
		c := r.Candidate(ctx, &r.Ready[i])
		// Room for the candidate is kept free: the first timer that does not fit in addition to it is the one to pass.
		with := budget
		with.Spend(candidate.Size, 0)
		if !with.Fits(c.Size) {
			runnerUp = &c
			break
		}
		budget.Spend(c.Size, 0)
	}
	least, possible := math.ZeroInt(), true
	if runnerUp != nil {
		least, possible = r.rules.LeastBid(r.Height, candidate, *runnerUp)
	}
	if !possible {
		return nil
	}
	response.LeastBid = least.String()
	if candidate.Locked.GTE(least) {
		response.BidPayment = r.rules.Payment(r.Height, candidate, runnerUp).String()
	}
	return nil
}
