package keeper

import (
	"errors"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/policy"
	"github.com/cosmos-timers/timers/x/timers/policy/tip"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// selectOrder sets aside what the config can't run and asks the policy for the order of the rest (SPEC §6). What a
// candidate bids follows from what its owner asked for and this block's prices, so that bids and order are one question.
func (k *Keeper) selectOrder(ctx sdk.Context, b *block) error {
	if b.storm {
		return k.openContest(ctx, b)
	}
	runnable := b.ready[:0]
	for i := range b.ready {
		if b.config.Runnable(b.height, b.ready[i].GasLimit) {
			runnable = append(runnable, b.ready[i])
			continue
		}
		k.setUnrunnableAside(ctx, b, &b.ready[i])
	}
	b.ready = runnable
	if err := k.askReady(ctx, b); err != nil {
		return err
	}
	k.prepareTip(ctx, b)
	candidates := make([]policy.Candidate, len(b.ready))
	for i := range b.ready {
		candidates[i] = k.candidateOf(ctx, b, &b.ready[i])
	}
	b.order = b.policy.Order(b.prices, candidates)
	if rules, ok := b.policy.(tip.Rules); ok {
		b.slices = rules.Slices(candidates, b.order)
	}
	return nil
}

func (k *Keeper) setUnrunnableAside(ctx sdk.Context, b *block, t *types.Timer) {
	k.guard(ctx, b, t, func(ctx sdk.Context) error { return k.setTimerAside(ctx, b, t, types.Unrunnable, nil) })
}

// execute tries the candidates in order while the lane lasts. Burns and tips are paid once, at the end.
func (k *Keeper) execute(ctx sdk.Context, b *block) error {
	if b.config.LanePaused {
		return nil
	}
	run := k.executeWindow
	switch {
	case b.storm:
		run = k.executeStorm
	case b.unread != nil && b.inQueueOrder():
		run = k.executeQueue
	}
	if err := run(ctx, b); err != nil {
		return err
	}
	if err := k.settleBids(ctx, b); err != nil {
		return err
	}
	return k.payOut(ctx, b)
}

// executeWindow tries the timers of the window in the policy's order: first those that are within their actors' slices of the
// lane, then those that were passed over for that.
func (k *Keeper) executeWindow(ctx sdk.Context, b *block) error {
	passedOver, err := k.executeOrder(ctx, b, b.order, b.slices)
	if err != nil {
		return err
	}
	_, err = k.executeOrder(ctx, b, passedOver, nil)
	return err
}

// executeOrder tries timers of the window, given as indices, and returns those that their actors' slices did not admit.
func (k *Keeper) executeOrder(ctx sdk.Context, b *block, order []int, slices tip.Slices) (passedOver []int, err error) {
	for _, i := range order {
		if !b.lane.Fits(b.config.FireBaseCycles) && b.rivalled == len(b.bids) {
			break
		}
		// What does not fit is not read again: in a crowd that is most of the window. A record never changes its gas limit or
		// its actor where it lies, since an update moves it.
		candidate := &b.ready[i]
		fits := b.lane.Fits(candidate.GasLimit)
		if !fits {
			b.passedOver++
		}
		if !b.actorMayFire(candidate.Actor) {
			continue
		}
		if !fits {
			if err := k.seekRival(ctx, b, candidate); err != nil {
				return nil, err
			}
			continue
		}
		if !slices.Admits(string(candidate.Actor), candidate.GasLimit) {
			passedOver = append(passedOver, i)
			continue
		}
		// Handlers that ran before may have cancelled, moved or shortened it: state knows, the list does not.
		timer, found, err := k.calendar.Get(ctx, keyOf(candidate.Due, candidate.Seq))
		if err != nil {
			return nil, err
		}
		if !found {
			b.left++
			continue
		}
		if before := b.lane; !timer.ExpiredAt(b.height) {
			k.attempt(ctx, b, &timer)
			if b.lane.Fires > before.Fires {
				slices.Spend(string(candidate.Actor), b.lane.Cycles-before.Cycles)
			}
		}
	}
	return passedOver, nil
}

// attempt gives a timer its turn: it fires, leaves for lack of funds, or stays ready.
func (k *Keeper) attempt(ctx sdk.Context, b *block, timer *types.Timer) {
	candidate := k.candidateOf(ctx, b, timer)
	price, willing := b.policy.Price(b.prices, candidate)
	if !willing {
		return
	}
	var result fireResult
	var unfunded bool
	done := k.guard(ctx, b, timer, func(ctx sdk.Context) error {
		var err error
		result, err = k.fire(ctx, b, timer, price)
		if unfunded = errors.Is(err, types.ErrInsufficientFunds); unfunded {
			return nil
		}
		return err
	})
	switch {
	case !done:
		b.left++
	case unfunded && b.tip != nil:
		k.deferUnfunded(ctx, b, timer, price.Cost(timer.GasLimit, b.config.MaxCellsPerFire))
	case unfunded:
		k.removeUnfunded(ctx, b, timer, price.Cost(timer.GasLimit, b.config.MaxCellsPerFire))
	default:
		b.left++
		b.book(timer.Actor, result)
		b.noteFire(timer, result)
		b.bookBid(timer, candidate)
	}
}

// removeUnfunded removes or suspends a timer whose payer can't cover the pre-charge, under the GC lane; if that has nothing
// left, the timer stays ready (SPEC §6).
func (k *Keeper) removeUnfunded(ctx sdk.Context, b *block, timer *types.Timer, required math.Int) {
	if !b.cleanup.Take() {
		return
	}
	b.left++
	available := k.bank.SpendableCoin(ctx, timer.Payer(), b.config.FeeDenom).Amount
	suspends := timer.OnUnfunded == types.OnUnfundedSuspend
	done := k.guard(ctx, b, timer, func(ctx sdk.Context) error {
		if suspends {
			return k.suspend(ctx, timer, required, available)
		}
		if err := k.remove(ctx, timer); err != nil {
			return err
		}
		return k.emit(ctx, &types.TimerCancelledInsufficientFunds{
			Id: timer.IDHex(), Actor: k.bech32(timer.Actor), Payer: k.bech32(timer.Payer()),
			Required: required.String(), Available: available.String(), AllowanceRefused: available.GTE(required),
		})
	})
	switch {
	case done && suspends:
		b.setAside++
	case done:
		b.unfunded++
	}
}

// payOut burns the basefees of the block's fires and pays their tips: one burn and one transfer a block (SPEC §5).
// Invariant: afterwards the module's account holds nothing of them.
func (k *Keeper) payOut(ctx sdk.Context, b *block) error {
	if b.burned.IsPositive() {
		if err := k.bank.BurnCoins(ctx, types.ModuleName, b.feeCoins(b.burned)); err != nil {
			return err
		}
	}
	if !b.tips.IsPositive() {
		return nil
	}
	tips := b.feeCoins(b.tips)
	err := sandbox(ctx, func(ctx sdk.Context) error { return k.tips.PayTips(ctx, types.ModuleName, tips) })
	if err == nil {
		return nil
	}
	// A collector that fails must not undo the block's fires: the tips go where they go without one.
	ctx.Logger().Error("the tip collector failed", "module", types.ModuleName, "err", err)
	return feeCollectorTips{k.bank}.PayTips(ctx, types.ModuleName, tips)
}
