package keeper

import (
	"context"

	"github.com/cosmos-timers/timers/x/timers/calendar"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// The record of a live timer lies in one of three places: in the queue, set aside, or with those that wait for a change of
// state. Whatever moves it goes through the functions of this file, which keep the actor's record in step.
//
// Invariant: every timer has one record and one entry, and every entry has its timer.

func keyOf(due, seq uint64) calendar.Key { return calendar.Key{Due: due, Seq: seq} }

// put writes the record where its SetAside says.
func (k *Keeper) put(ctx context.Context, t *types.Timer) error {
	switch t.SetAside {
	case types.NotSetAside:
		return k.calendar.Insert(ctx, keyOf(t.Due, t.Seq), *t)
	case types.Watching:
		return k.putWatching(ctx, t)
	default:
		return k.state.setAside.Set(ctx, t.Seq, *t)
	}
}

// take removes the record from where its SetAside says, and from the ready index.
func (k *Keeper) take(ctx context.Context, t *types.Timer) error {
	switch t.SetAside {
	case types.NotSetAside:
		if err := k.unfile(ctx, t); err != nil {
			return err
		}
		return k.calendar.Remove(ctx, keyOf(t.Due, t.Seq))
	case types.Watching:
		return k.takeWatching(ctx, t)
	default:
		return k.state.setAside.Remove(ctx, t.Seq)
	}
}

// insert adds a new timer, whose payload is within; one from genesis may be admitted already.
func (k *Keeper) insert(ctx context.Context, t *types.Timer, maxTimers uint32) error {
	if err := k.addEntry(ctx, t.Actor, entryOf(t), maxTimers); err != nil {
		return err
	}
	if err := k.storePayload(ctx, t); err != nil {
		return err
	}
	if t.AdmittedWeight > 0 {
		if err := k.file(ctx, t, filingOf(t)); err != nil {
			return err
		}
	}
	if err := k.addWatches(ctx, t); err != nil {
		return err
	}
	return k.put(ctx, t)
}

// remove takes a timer out for good, with all that belongs to it.
func (k *Keeper) remove(ctx context.Context, t *types.Timer) error {
	if err := k.forget(ctx, t); err != nil {
		return err
	}
	return k.lift(ctx, t)
}

// forget drops what belongs to a timer beside its record, and returns what is locked for it.
func (k *Keeper) forget(ctx context.Context, t *types.Timer) error {
	if err := k.returnLock(ctx, t); err != nil {
		return err
	}
	if err := k.dropPayload(ctx, t); err != nil {
		return err
	}
	return k.dropWatches(ctx, t)
}

// move changes a timer that may lie elsewhere afterwards; its payload stays. One that was admitted to the ready index and
// stays due stays admitted: admission does not come by again.
func (k *Keeper) move(ctx context.Context, t *types.Timer, change func(*types.Timer) error) error {
	from, filed, bid := entryOf(t), filingOf(t), t.Bid
	if err := k.take(ctx, t); err != nil {
		return err
	}
	if err := change(t); err != nil {
		return err
	}
	if to := entryOf(t); to != from {
		if err := k.moveEntry(ctx, t.Actor, from, to); err != nil {
			return err
		}
	}
	if filed.weight > 0 && t.SetAside == types.NotSetAside && t.Due == from.Due {
		if !t.Bid.Equal(bid) {
			filed.quote = nil
		}
		if err := k.file(ctx, t, filed.moved()); err != nil {
			return err
		}
	}
	if err := k.renameWatches(ctx, t, from.Seq); err != nil {
		return err
	}
	return k.put(ctx, t)
}

// putAside moves a timer out of the queue without losing it.
func (k *Keeper) putAside(ctx context.Context, t *types.Timer, reason types.SetAsideReason) error {
	return k.move(ctx, t, func(t *types.Timer) error {
		t.SetAside = reason
		return nil
	})
}

// release moves a timer that was set aside back into the queue. One that is overdue is due in the next block: what is
// put into the queue is never due already, so that the lane's cursors need not look back. A watch timer that nothing has
// made due waits on.
func (k *Keeper) release(ctx context.Context, t *types.Timer, height uint64) error {
	return k.move(ctx, t, func(t *types.Timer) (err error) {
		t.SetAside, err = k.restingPlace(ctx, t)
		t.Due = max(t.Due, height+1)
		return err
	})
}

// storePayload keeps a long payload at its own key, so that moving the record stays cheap.
func (k *Keeper) storePayload(ctx context.Context, t *types.Timer) error {
	if len(t.Payload) <= types.InlinePayloadBytes {
		t.PayloadSeq = 0
		return nil
	}
	t.PayloadSeq = t.Seq
	payload := t.Payload
	t.Payload = nil
	return k.state.payloads.Set(ctx, t.PayloadSeq, payload)
}

func (k *Keeper) dropPayload(ctx context.Context, t *types.Timer) error {
	if t.PayloadSeq == 0 {
		return nil
	}
	return k.state.payloads.Remove(ctx, t.PayloadSeq)
}

// payloadOf reads the payload from where it lies.
func (k *Keeper) payloadOf(ctx context.Context, t *types.Timer) ([]byte, error) {
	if t.PayloadSeq == 0 {
		return t.Payload, nil
	}
	return k.state.payloads.Get(ctx, t.PayloadSeq)
}
