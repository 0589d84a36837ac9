package keeper

import (
	"context"
	"errors"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/policy"
	"github.com/cosmos-timers/timers/x/timers/policy/auction"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// This file holds the money of policy auction: what a timer bids for a fire is locked in the module's account when it is
// stated, and paid, kept or returned whichever way the timer goes (SPEC §6).
//
// A record says how much is locked for it. Whatever removes a record returns that (forget). A fire takes it off the record
// before the handler runs, and what becomes of it is decided when the block's fires are over: under vcg a winner pays what
// others would have had to bid. A change of policy touches no lock: under another policy the fire pays nothing of it, and it
// is returned when its timer leaves, or when its owner states another bid.
//
// Invariant: between blocks the module's account holds what the records say, and nothing else.

// maxRivalReads bounds how many timers a block looks at again to find who competes for a place that has been won. Beyond
// that, the next that did not fit is taken as it was read.
const maxRivalReads = 64

// auctionAt is the auction in force at the height, if it is.
func auctionAt(p policy.Rules) (auction.Rules, bool) {
	auction, ok := p.(auction.Rules)
	return auction, ok
}

// acceptPrice checks a price that is to be locked.
func (k *Keeper) acceptPrice(bid *types.Bid) (acceptedBid, error) {
	kept, err := bid.ForAuction()
	return acceptedBid{bid: kept}, err
}

// relock locks what the timer's bid states by the policy in force, and returns what was locked before and is not any more.
// It is the actor's own money, of which no allowance speaks; the record must be written afterwards.
func (k *Keeper) relock(ctx context.Context, config *types.TimerConfig, t *types.Timer) error {
	stated := math.ZeroInt()
	if config.PolicyAt(heightOf(ctx)) == types.PolicyAuction {
		stated = t.Bid.Stated()
	}
	missing := stated.Sub(t.Locked())
	switch {
	case missing.IsPositive():
		return k.lock(ctx, config, t, missing)
	case missing.IsNegative():
		return k.unlock(ctx, config, t, missing.Neg())
	}
	return nil
}

// lock takes an amount of the actor's for the timer.
func (k *Keeper) lock(ctx context.Context, config *types.TimerConfig, t *types.Timer, amount math.Int) error {
	// Who may not pay for fires may not bid either: what is returned could not reach them.
	if err := k.checkFeePayer(ctx, t.Owner(), t.Owner()); err != nil {
		return err
	}
	if available := k.bank.SpendableCoin(ctx, t.Owner(), config.FeeDenom); available.Amount.LT(amount) {
		return types.ErrBidNotCovered.Wrapf("%s must lock %s more and can spend %s", k.bech32(t.Actor), amount, available)
	}
	coins := sdk.NewCoins(sdk.NewCoin(config.FeeDenom, amount))
	if err := k.bank.SendCoins(ctx, t.Owner(), k.address, coins); err != nil {
		return types.ErrBidNotCovered.Wrapf("the bank does not take %s from %s: %v", coins, k.bech32(t.Actor), err)
	}
	t.SetLocked(t.Locked().Add(amount))
	return k.emit(ctx, &types.TimerBidLocked{
		Id: t.IDHex(), Actor: k.bech32(t.Actor), Amount: amount.String(), Locked: t.Locked().String(),
	})
}

// unlock returns an amount of what is locked for the timer.
func (k *Keeper) unlock(ctx context.Context, config *types.TimerConfig, t *types.Timer, amount math.Int) error {
	if !amount.IsPositive() {
		return nil
	}
	if err := k.bank.SendCoins(ctx, k.address, t.Owner(), sdk.NewCoins(sdk.NewCoin(config.FeeDenom, amount))); err != nil {
		return err
	}
	bid := t.Locked()
	t.SetLocked(bid.Sub(amount))
	return k.emit(ctx, &types.TimerBidSettled{
		Id: t.IDHex(), Actor: k.bech32(t.Actor), Bid: bid.String(), Paid: "0", Returned: amount.String(), Locked: t.Locked().String(),
	})
}

// returnLock returns all that is locked for a timer that leaves. If the bank refuses, the timer does not leave: who wanted
// to remove it is told, or it is quarantined and keeps its lock.
func (k *Keeper) returnLock(ctx context.Context, t *types.Timer) error {
	if t.BidLocked == "" {
		return nil
	}
	config, err := k.Config(ctx)
	if err != nil {
		return err
	}
	return k.unlock(ctx, &config, t, t.Locked())
}

// firedBid is the bid of a timer that fired, until it is settled.
type firedBid struct {
	// candidate as it won, with what was locked.
	candidate policy.Candidate
	// rival is the first candidate behind it that did not fit.
	rival *policy.Candidate
	// receipt is the position of the fire among those of the block.
	receipt int
	// expires is the last height at which it could have fired.
	expires uint64
}

// bookBid remembers a fire's bid. A timer that bids nothing has nothing to settle.
func (b *block) bookBid(timer *types.Timer, candidate policy.Candidate) {
	auction, inForce := auctionAt(b.policy)
	if timer.BidLocked == "" && (!inForce || timer.Bid.Stated().IsZero()) {
		return
	}
	candidate.Locked = timer.Locked()
	b.bids = append(b.bids, firedBid{candidate: candidate, receipt: len(b.receipts) - 1, expires: timer.ExpiresAt})
	if !inForce || auction.FirstPrice {
		b.rivalled = len(b.bids) // Nobody's bid decides what it pays.
	}
}

// seekRival notes a timer that did not fit as the one that those who fired before it since the last such one won against.
// One that has left or moved since it was read is none, nor is one that could not have paid for its fire.
func (k *Keeper) seekRival(ctx sdk.Context, b *block, read *types.Timer) error {
	if b.rivalled == len(b.bids) {
		return nil
	}
	if b.rivalReads < maxRivalReads {
		b.rivalReads++
		timer, found, err := k.calendar.Get(ctx, keyOf(read.Due, read.Seq))
		if err != nil || !found || timer.ExpiredAt(b.height) {
			return err
		}
		price, _ := b.policy.Price(b.prices, k.candidateOf(ctx, b, &timer))
		if !k.covers(ctx, b, &timer, price.Cost(timer.GasLimit, b.config.MaxCellsPerFire)) {
			return nil
		}
		read = &timer
	}
	rival := k.candidateOf(ctx, b, read)
	for ; b.rivalled < len(b.bids); b.rivalled++ {
		b.bids[b.rivalled].rival = &rival
	}
	return nil
}

// settleBids decides what becomes of the bids of the block's fires, in their order. What they pay goes with the tips.
func (k *Keeper) settleBids(ctx sdk.Context, b *block) error {
	auction, inForce := auctionAt(b.policy)
	for i := range b.bids {
		fired := &b.bids[i]
		payment := math.ZeroInt()
		if inForce {
			payment = auction.Payment(b.height, fired.candidate, fired.rival)
			b.seen.Add(b.height, fired.candidate, fired.expires)
		}
		if err := k.settleBid(ctx, b, fired, payment, inForce); err != nil {
			return err
		}
	}
	return nil
}

// settleBid pays a bid, and keeps the rest for a timer that goes on, topped up to what it states for its next fire if its
// actor can spend as much; else the rest is returned. What the bank refuses to return goes with the tips: the fire was
// made, and nothing is left to hold it for.
func (k *Keeper) settleBid(ctx sdk.Context, b *block, fired *firedBid, payment math.Int, inForce bool) error {
	event := &types.TimerBidSettled{Bid: fired.candidate.Locked.String(), Returned: "0", Locked: "0"}
	rest := fired.candidate.Locked.Sub(payment)
	kept := false
	err := sandbox(ctx, func(ctx sdk.Context) (err error) {
		kept, err = k.keepLocked(ctx, b, fired, rest, inForce, event)
		return err
	})
	if err != nil || !kept {
		event.Locked, event.Returned = "0", rest.String()
		err := sandbox(ctx, func(ctx sdk.Context) error {
			if rest.IsZero() {
				return nil
			}
			return k.bank.SendCoins(ctx, k.address, sdk.AccAddress(fired.candidate.Actor), b.feeCoins(rest))
		})
		if err != nil {
			ctx.Logger().Error("a bid can't be returned", "module", types.ModuleName, "amount", rest, "err", err)
			payment, event.Returned = fired.candidate.Locked, "0"
		}
	}
	b.tips = b.tips.Add(payment)
	receipt := &b.receipts[fired.receipt]
	if fired.candidate.Locked.IsPositive() {
		receipt.Bid, receipt.BidPaid = fired.candidate.Locked.String(), payment.String()
	}
	if fired.candidate.Locked.IsZero() && event.Locked == "0" {
		return nil
	}
	timer := types.Timer{Id: []byte(fired.candidate.ID)}
	event.Id, event.Actor, event.Paid = timer.IDHex(), k.bech32(sdk.AccAddress(fired.candidate.Actor)), payment.String()
	return k.emit(ctx, event)
}

// keepLocked puts the rest of a bid back on the record of a timer that goes on. One that has left, or whose bid was stated
// anew meanwhile, does not want it.
func (k *Keeper) keepLocked(
	ctx sdk.Context, b *block, fired *firedBid, rest math.Int, inForce bool, event *types.TimerBidSettled,
) (bool, error) {
	timer, err := k.lookup(ctx, sdk.AccAddress(fired.candidate.Actor), []byte(fired.candidate.ID))
	if errors.Is(err, types.ErrTimerNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if timer.BidLocked != "" || !timer.Bid.Stated().IsPositive() {
		return false, nil
	}
	timer.SetLocked(rest)
	if missing := timer.Bid.Stated().Sub(rest); inForce && missing.IsPositive() {
		topped := timer
		// Without the money it competes with what is left.
		if sandbox(ctx, func(ctx sdk.Context) error { return k.lock(ctx, &b.config, &topped, missing) }) == nil {
			timer = topped
		}
	}
	if timer.BidLocked == "" {
		return false, nil
	}
	event.Locked = timer.Locked().String()
	return true, k.put(ctx, &timer)
}

// checkBacking: the module's account holds what the records of a new chain say is locked. More does no harm.
func (k *Keeper) checkBacking(ctx context.Context, genesis *types.GenesisState) error {
	locked := math.ZeroInt()
	for i := range genesis.Timers {
		locked = locked.Add(genesis.Timers[i].Locked())
	}
	held := k.bank.GetBalance(ctx, k.address, genesis.Config.FeeDenom)
	if held.Amount.LT(locked) {
		return types.ErrInvalidGenesis.Wrapf("the account %s of the module holds %s, its timers have locked %s: want as much, "+
			"and bank before %s in the order of genesis", k.bech32(k.address), held, locked, types.ModuleName)
	}
	return nil
}

// lockedBids sums up what the records say is locked.
func (k *Keeper) lockedBids(ctx context.Context) (math.Int, error) {
	locked := math.ZeroInt()
	timers, err := k.records(ctx)
	for i := range timers {
		locked = locked.Add(timers[i].Locked())
	}
	return locked, err
}
