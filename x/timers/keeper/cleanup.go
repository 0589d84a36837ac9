package keeper

import (
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// cleanUp removes expired timers in queue order while the GC lane lasts (SPEC §6). What it can't clear today it clears
// later: expired is still expired.
func (k *Keeper) cleanUp(ctx sdk.Context, b *block) error {
	for len(b.expired) > 0 && b.cleanup.Take() {
		timer := b.expired[0]
		b.expired = b.expired[1:]
		if !k.expire(ctx, b, &timer) && timer.SetAside == types.NotSetAside && b.unswept == nil {
			// It could not even be set aside: the head of the queue stays before it.
			key := keyOf(timer.Due, timer.Seq)
			b.unswept = &key
		}
	}
	b.state.Head = b.firstLeft()
	return nil
}

// expire removes an expired timer, and tells whether it did.
func (k *Keeper) expire(ctx sdk.Context, b *block, timer *types.Timer) bool {
	done := k.guard(ctx, b, timer, func(ctx sdk.Context) error {
		if err := k.remove(ctx, timer); err != nil {
			return err
		}
		return k.emit(ctx, &types.TimerExpired{Id: timer.IDHex(), Actor: k.bech32(timer.Actor), ExpiresAt: timer.ExpiresAt})
	})
	if done {
		b.expiredOut++
	}
	return done
}

// firstLeft is the new head of the queue: the first expired timer that stays, or the first live one.
func (b *block) firstLeft() types.QueueKey {
	first := calendarKey(b.state.Live)
	for i := range b.expired {
		if t := &b.expired[i]; t.SetAside == types.NotSetAside {
			if key := keyOf(t.Due, t.Seq); key.Compare(first) < 0 {
				first = key
			}
			break
		}
	}
	if b.unswept != nil && b.unswept.Compare(first) < 0 {
		first = *b.unswept
	}
	return queueKey(first)
}

// guard runs what the module does for one timer in a sandbox of its own, and tells whether it was done. An unexpected
// error concerns that timer alone: it is quarantined, that is kept, reported, and not tried again until the authority
// releases or cancels it (SPEC §4).
func (k *Keeper) guard(ctx sdk.Context, b *block, timer *types.Timer, fn func(sdk.Context) error) (done bool) {
	before, admitted := *timer, b.admitted
	cause := sandbox(ctx, fn)
	if cause == nil {
		return true
	}
	*timer, b.admitted = before, admitted
	ctx.Logger().Error("a timer is quarantined", "module", types.ModuleName, "id", timer.IDHex(), "err", cause)
	err := sandbox(ctx, func(ctx sdk.Context) error { return k.setTimerAside(ctx, b, timer, types.Quarantined, cause) })
	if err != nil {
		// Not even that can be done, since what is broken is where it lies: it stays there, and others go on.
		*timer, b.admitted = before, admitted
		ctx.Logger().Error("a timer can't be quarantined", "module", types.ModuleName, "id", timer.IDHex(), "err", err)
	}
	return false
}

// setTimerAside moves a timer out of the queue and says why.
func (k *Keeper) setTimerAside(
	ctx sdk.Context, b *block, timer *types.Timer, reason types.SetAsideReason, cause error,
) error {
	if err := k.putAside(ctx, timer, reason); err != nil {
		return err
	}
	event := &types.TimerSetAside{Id: timer.IDHex(), Actor: k.bech32(timer.Actor), Reason: reason}
	if cause != nil {
		event.Codespace, event.Code = codeOf(cause)
	}
	if err := k.emit(ctx, event); err != nil {
		return err
	}
	b.setAside++
	return nil
}
