package keeper

import (
	"context"
	"errors"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// This file holds what lets a timer live on after a fire: intervals and retries (SPEC §8).
//
// State is put as if the fire succeeded before the handler runs: a timer that repeats lies at its next due height
// already, and one that does not is gone. So a handler that looks for its own timer finds what will be, and what it does
// to it is honoured: a timer that it cancels, pauses or moves stays so. A handler that fails leaves no writes behind, so
// that what a failure means is decided upon the record as it was put.

// checkRepeats checks what a request says of further fires, and fills in the defaults.
func checkRepeats(config *types.TimerConfig, timer *types.Timer, req *ScheduleRequest, now uint64) error {
	if i := req.Trigger.Interval; i != nil {
		if req.Trigger.Height != 0 {
			return types.ErrInvalidInterval.Wrapf("height %d is stated beside an interval: state one trigger", req.Trigger.Height)
		}
		if err := i.Validate(config); err != nil {
			return err
		}
		interval := *i
		if interval.First == 0 {
			interval.First = now + interval.Every
		}
		if interval.OnFailure == types.OnFailureUnspecified {
			interval.OnFailure = types.OnFailureRoll
		}
		timer.Trigger.Interval = &interval
	}
	if err := req.Retry.Validate(config); err != nil {
		return err
	}
	timer.Retry = req.Retry
	if err := req.OnUnfunded.Validate(); err != nil {
		return err
	}
	// The default is left out of the record, since most timers have it and every byte is paid for.
	if req.OnUnfunded == types.OnUnfundedSuspend {
		timer.OnUnfunded = types.OnUnfundedSuspend
	}
	return nil
}

// rolled is where a timer was put before its handler ran: one of the two is set.
type rolled struct {
	// next lies where it is due again.
	next *types.Timer
	// lifted lies nowhere; what belongs to it is still there, for a retry.
	lifted *types.Timer
	// hit is what a watch timer is told.
	hit types.WatchHit
}

// roll puts a timer that fires where it is due again, or takes it out.
func (k *Keeper) roll(ctx context.Context, b *block, timer *types.Timer) (r rolled, err error) {
	if r.hit, err = k.takeHit(ctx, timer); err != nil {
		return r, err
	}
	next := *timer
	next.UnfundedSince = 0
	// What was bid for this fire is settled when the block's fires are over: its handler can't run off with it.
	next.BidLocked = ""
	if !timer.RollsAt(b.height) {
		r.lifted = &next
		return r, k.lift(ctx, &next)
	}
	r.next = &next
	return r, k.move(ctx, &next, func(t *types.Timer) error {
		t.Roll(b.height)
		return nil
	})
}

// afterFire decides what a fire means for what comes, and returns the timer as it stays; nil if it left.
func (k *Keeper) afterFire(
	ctx context.Context, b *block, timer *types.Timer, r rolled, receipt *types.Receipt,
) (*types.Timer, error) {
	outcome := &types.Outcome{
		Success: receipt.Success, Codespace: receipt.Codespace, Code: receipt.Code, Height: b.height,
		Cycles: receipt.Cycles, Paid: receipt.Paid,
	}
	retries := !receipt.Success && timer.MayRetry(b.height)
	if again := r.lifted; again != nil {
		if !retries {
			return nil, k.forget(ctx, again)
		}
		again.TryAgain(b.height)
		again.LastOutcome = outcome
		if err := k.putHit(ctx, again, r.hit); err != nil {
			return nil, err
		}
		return again, k.lay(ctx, again)
	}
	left, err := k.lookup(ctx, timer.Actor, timer.Id)
	if errors.Is(err, types.ErrTimerNotFound) {
		// Its handler cancelled it.
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	failed := !receipt.Success && left.Equal(r.next)
	switch {
	case failed && retries:
		if err := k.putHit(ctx, &left, r.hit); err != nil {
			return nil, err
		}
		return &left, k.move(ctx, &left, func(t *types.Timer) error {
			t.Trigger, t.SetAside, t.Retries, t.FireSeq = timer.Trigger, timer.SetAside, timer.Retries, timer.FireSeq
			t.TryAgain(b.height)
			t.LastOutcome = outcome
			return nil
		})
	case failed && timer.StopsOnFailure():
		return nil, k.remove(ctx, &left)
	default:
		left.LastOutcome = outcome
		return &left, k.put(ctx, &left)
	}
}

// lift takes a timer's record out and leaves what belongs to it.
func (k *Keeper) lift(ctx context.Context, t *types.Timer) error {
	if err := k.removeEntry(ctx, t.Actor, entryOf(t)); err != nil {
		return err
	}
	return k.take(ctx, t)
}

// lay puts back what was lifted. It counted against the actor's limit before, and nothing took its place since.
func (k *Keeper) lay(ctx context.Context, t *types.Timer) error {
	if err := k.addEntry(ctx, t.Actor, entryOf(t), ^uint32(0)); err != nil {
		return err
	}
	return k.put(ctx, t)
}

// livesOn completes the event of a fire by what comes.
func livesOn(event *types.TimerFired, timer, next *types.Timer) *types.TimerFired {
	event.FireSeq = timer.FireSeq
	if next != nil {
		event.NextDue, event.Retries = next.Due, next.Retries
	}
	return event
}

// lifeInfo is what queries show of further fires.
func lifeInfo(info *types.TimerInfo, t *types.Timer) {
	info.Retry, info.Retries, info.LastOutcome = t.Retry, t.Retries, t.LastOutcome
	info.OnUnfunded = types.OnUnfundedDestroy
	if t.OnUnfunded == types.OnUnfundedSuspend {
		info.OnUnfunded = types.OnUnfundedSuspend
	}
}

// checkLife: a record says of its fires to come what can be, and its outcome lies in the past.
func checkLife(t *types.Timer, now uint64) error {
	if err := t.ValidateLife(); err != nil {
		return err
	}
	if o := t.LastOutcome; o != nil && (o.Height > now || t.FireSeq == 0 || !t.Repeats()) {
		return types.ErrInternal.Wrapf("last outcome of height %d after %d fires", o.Height, t.FireSeq)
	}
	return nil
}
