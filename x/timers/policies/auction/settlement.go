package auction

import (
	"errors"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	rules "github.com/cosmos-timers/timers/x/timers/market/auction"
	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/report"
	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// settlement holds the bids of a block's fires until they are settled. It follows the fires of every policy.
type settlement struct {
	policy *Policy
	block  *policies.Block
	// rules in force, nil under another policy: then no fire pays its bid.
	rules *rules.Rules
	// bids of the fires, in their order. Those before settledThrough are settled as far as others' bids matter: their
	// runner-up is known, or none decides what they pay.
	bids           []firedBid
	settledThrough int
	// seen is the observation for the loop that adjusts λ.
	seen rules.Observation
}

// firedBid is the bid of a timer that fired, until it is settled.
type firedBid struct {
	// candidate as it won, with what was locked.
	candidate market.Candidate
	// runnerUp is the first candidate behind it that did not fit.
	runnerUp *market.Candidate
	receipt  *types.Receipt
	// expires is the last height at which it could have fired.
	expires uint64
	// principal locked the bid.
	principal sdk.AccAddress
	// left: the timer has left, so that nothing can be kept for its next fire.
	left bool
}

// settled reports whether the runner-up of each winner is known.
func (b *settlement) settled() bool { return b.settledThrough == len(b.bids) }

// settleAgainst sets the runner-up of all winners that have none.
func (b *settlement) settleAgainst(runnerUp *market.Candidate) {
	for ; b.settledThrough < len(b.bids); b.settledThrough++ {
		b.bids[b.settledThrough].runnerUp = runnerUp
	}
}

// Tried implements policies.Follower: it records a fire's bid, and as long as winners have no runner-up wants to know who does not
// fit. Without a locked bid there is nothing to settle.
func (b *settlement) Tried(ctx sdk.Context, a policies.Attempt) (wanted bool) {
	switch a.Verdict {
	case types.VerdictFires:
		b.fired(&a)
	case types.VerdictNoRoom:
		b.findRunnerUp(ctx, &a)
	default:
	}
	return !b.settled()
}

// candidateOf is a timer as it competed. None bids for less of the lane than it reserves.
func (b *settlement) candidateOf(t *types.Timer) market.Candidate {
	return market.Candidate{
		Due: t.DueSince(), Seq: t.Seq, Size: b.block.SizeOf(t), Actor: string(t.Actor), ID: string(t.Id), Ask: t.Ask(), Locked: t.Locked(),
	}
}

// findRunnerUp makes a timer that did not fit the runner-up of the winners before it that have none yet. One that is known to be
// unable to pay for its fire is no runner-up.
func (b *settlement) findRunnerUp(ctx sdk.Context, a *policies.Attempt) {
	if b.settled() {
		return
	}
	runnerUp := b.candidateOf(a.Timer)
	if a.Fresh {
		price, _ := b.rules.Price(b.block.Prices, runnerUp)
		if !b.policy.parts.Fees.Covers(ctx, &b.block.Config, a.Timer, price.Cost(a.Timer.GasLimit, a.Timer.CellLimit)) {
			return
		}
	}
	b.settleAgainst(&runnerUp)
}

func (b *settlement) fired(f *policies.Attempt) {
	t := f.Timer
	if t.BidLocked == "" && (b.rules == nil || t.Spec.Bid.Stated().IsZero()) {
		return
	}
	candidate := b.candidateOf(t)
	b.bids = append(b.bids, firedBid{
		candidate: candidate, receipt: f.Receipt, expires: t.ExpiresAt, principal: t.Principal(), left: f.Left,
	})
	// No other bid decides what it pays. Reserved fires come before all others, and have passed no one by their bids.
	if b.rules == nil || b.rules.FirstPrice || f.Reserved {
		b.settledThrough = len(b.bids)
	}
}

// Close implements policies.Follower: it settles the bids of the block's fires, in their order. What they pay is added
// to the tips.
func (b *settlement) Close(ctx sdk.Context) (tips math.Int, err error) {
	tips = math.ZeroInt()
	for i := range b.bids {
		fired := &b.bids[i]
		payment := math.ZeroInt()
		if b.rules != nil {
			payment = b.rules.Payment(b.block.Height, fired.candidate, fired.runnerUp)
			b.seen.Add(b.block.Height, fired.candidate, fired.expires)
		}
		paid, err := b.settle(ctx, fired, payment)
		if err != nil {
			return tips, err
		}
		tips = tips.Add(paid)
	}
	if b.rules != nil {
		b.block.State.SetPolicy(lambdaAfter(stateIn(&b.block.Before), b.rules, b.seen))
	}
	return tips, nil
}

// lambdaAfter is the state that a block leaves, from what the block before left, if anything.
func lambdaAfter(last *State, in *rules.Rules, seen rules.Observation) *State {
	before := rules.LambdaState{Lambda: in.Lambda, ValueDecay: math.LegacyZeroDec(), Deferral: math.LegacyZeroDec()}
	if last != nil {
		before.ValueDecay, before.Deferral, before.Blocks = last.ValueDecay, last.Deferral, last.Blocks
	}
	after := in.Loop.Next(before, seen)
	return &State{Lambda: after.Lambda, ValueDecay: after.ValueDecay, Deferral: after.Deferral, Blocks: after.Blocks}
}

// settle pays a bid. For a repeating timer the rest stays locked, and is topped up to the stated bid if its actor can
// spend as much. Otherwise the rest is returned. If the bank refuses to return it, it is added to the tips: the timer
// that it was locked for no longer exists.
func (b *settlement) settle(ctx sdk.Context, fired *firedBid, payment math.Int) (paid math.Int, err error) {
	bid := fired.candidate.Locked
	event := &types.TimerBidSettled{Bid: bid.String(), Returned: "0", Locked: "0"}
	rest := bid.Sub(payment)
	kept := false
	err = sandbox.Run(ctx, func(ctx sdk.Context) (err error) {
		kept, err = b.keep(ctx, fired, rest, event)
		return err
	})
	if err != nil || !kept {
		event.Locked, event.Returned = "0", rest.String()
		err := sandbox.Run(ctx, func(ctx sdk.Context) error {
			if rest.IsZero() {
				return nil
			}
			return b.policy.parts.Fees.Unlock(ctx, &b.block.Config, fired.principal, rest)
		})
		if err != nil {
			ctx.Logger().Error("a bid can't be returned", "module", types.ModuleName, "amount", rest, "err", err)
			payment, event.Returned = bid, "0"
		}
	}
	if bid.IsPositive() {
		fired.receipt.Bid, fired.receipt.BidPaid = bid.String(), payment.String()
	}
	if bid.IsZero() && event.Locked == "0" {
		return payment, nil
	}
	timer := types.Timer{Id: []byte(fired.candidate.ID)}
	event.Id, event.Actor = timer.IDHex(), b.policy.parts.Addresses.Text(sdk.AccAddress(fired.candidate.Actor))
	event.Paid = payment.String()
	return payment, report.Emit(ctx, event)
}

// keep puts the rest of a bid back on the record of a repeating timer. It does nothing for a timer that has left, or
// whose bid was replaced meanwhile.
func (b *settlement) keep(ctx sdk.Context, fired *firedBid, rest math.Int, event *types.TimerBidSettled) (bool, error) {
	if fired.left {
		return false, nil
	}
	records := b.policy.parts.Records
	timer, err := records.Lookup(ctx, sdk.AccAddress(fired.candidate.Actor), []byte(fired.candidate.ID))
	if errors.Is(err, types.ErrTimerNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if timer.BidLocked != "" || !timer.Spec.Bid.Stated().IsPositive() {
		return false, nil
	}
	timer.SetLocked(rest)
	if missing := timer.Spec.Bid.Stated().Sub(rest); b.rules != nil && missing.IsPositive() {
		topped := timer
		// Without the funds it competes with the rest of its bid.
		if sandbox.Run(ctx, func(ctx sdk.Context) error { return b.policy.lock(ctx, &b.block.Config, &topped, missing) }) == nil {
			timer = topped
		}
	}
	if timer.BidLocked == "" {
		return false, nil
	}
	event.Locked = timer.Locked().String()
	return true, records.Put(ctx, &timer)
}
