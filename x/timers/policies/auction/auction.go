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
	rules "github.com/cosmos-timers/timers/x/timers/market/auction"
	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/report"
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

// Accept implements policies.Policy: an integer bid is what is to be locked.
func (p *Policy) Accept(ctx context.Context, config *types.TimerConfig, bid *types.Bid) (policies.Accepted, error) {
	if bid.Price == "" {
		return p.Base.Accept(ctx, config, bid)
	}
	kept, err := bid.Kept()
	return policies.Accepted{Bid: kept}, err
}

// Relock implements policies.Policy. The bid is paid by who scheduled the timer, never from an allowance.
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

// Messages implements policies.Guest.
func (*Policy) Messages() policies.Messages {
	return policies.Messages{
		Params: (*Params)(nil).Defaults(), State: []types.PolicyState{&State{}}, Standing: []types.PolicyStanding{&Standing{}},
	}
}

// Maintain implements policies.Policy: the loop that adjusts λ restarts when the policy comes into force again.
func (*Policy) Maintain(_ sdk.Context, b *policies.Block, inForce bool) error {
	if !inForce {
		b.State.RemovePolicy(&State{})
	}
	return nil
}

// Describe implements policies.Policy: λ, and what it follows.
func (*Policy) Describe(
	_ context.Context, config *types.TimerConfig, lane *types.LaneState, actor sdk.AccAddress,
) (types.PolicyStanding, error) {
	if actor != nil {
		return nil, nil
	}
	decay, deferral := math.LegacyZeroDec(), math.LegacyZeroDec()
	if state := stateIn(lane); state != nil {
		decay, deferral = state.ValueDecay, state.Deferral
	}
	return &Standing{Lambda: rulesIn(config, lane).Lambda.String(), ValueDecay: decay.String(), Deferral: deferral.String()}, nil
}

// Open implements policies.Policy.
func (p *Policy) Open(_ sdk.Context, b *policies.Block) (market.Rules, error) {
	auction := rulesIn(&b.Config, &b.Before)
	return &inForce{Rules: auction, settlement: settlement{policy: p, block: b, rules: &auction}}, nil
}

// inForce are the rules of a block, and the settlement of what its fires bid.
type inForce struct {
	rules.Rules
	settlement
}

// Follow implements policies.Locker: bids that were locked are settled under any policy.
func (p *Policy) Follow(b *policies.Block) policies.Follower {
	return &settlement{policy: p, block: b}
}

// Quote implements policies.Locker: the least bid that passes the first ready timer that the candidate would have to pass to fire
// in the next block, and what the candidate would pay of its own bid.
func (*Policy) Quote(b *policies.Block, c market.Candidate, runnerUp *market.Candidate, response *types.QueryEstimateResponse) {
	auction, least, possible := rulesIn(&b.Config, &b.Before), math.ZeroInt(), true
	if runnerUp != nil {
		least, possible = auction.LeastBid(b.Height, c, *runnerUp)
	}
	if !possible {
		return
	}
	response.LeastBid = least.String()
	if c.Locked.GTE(least) {
		response.BidPayment = auction.Payment(b.Height, c, runnerUp).String()
	}
}
