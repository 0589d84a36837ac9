package state

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/cosmos-timers/timers/x/timers/schedule"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// CheckInvariants implements Component.
func (r *Records) CheckInvariants(ctx context.Context) error {
	return errors.Join(r.checkTimers(ctx), r.checkOwners(ctx), r.checkNames(ctx), r.checkPayloads(ctx))
}

// checkTimers: every record is stored where its fields say, within the cursors.
func (r *Records) checkTimers(ctx context.Context) error {
	lane, err := r.lane.Get(ctx)
	if err != nil {
		return err
	}
	nextSeq, err := r.seq.Peek(ctx)
	if err != nil {
		return err
	}
	var wrong error
	err = r.scan(ctx, Range{}, func(e schedule.Entry[types.Timer]) bool {
		switch t := &e.Value; {
		case RecordKey(t) != e.Key:
			wrong = fmt.Errorf("timer %s of seq %d, on hold as %s, is stored at (%d, %d)", t.IDHex(), t.Seq, t.HoldReason, e.Key.Due, e.Key.Seq)
		case t.Seq >= nextSeq:
			wrong = fmt.Errorf("timer %s has seq %d, the next is %d", t.IDHex(), t.Seq, nextSeq)
		default:
			wrong = checkRecord(t, &lane, types.MomentOf(ctx))
		}
		return wrong == nil
	})
	return errors.Join(err, wrong, r.timers.Stored().Check(ctx))
}

// checkRecord holds what a record must be by itself, at import and afterwards. A genesis file is checked record by record as
// it is read, and so in as much memory whatever its length.
func checkRecord(t *types.Timer, lane *types.LaneState, now types.Moment) error {
	if err := checkQueued(t, lane, now); err != nil {
		return err
	}
	if err := checkRecurrence(t, now.Height); err != nil {
		return fmt.Errorf("timer %s: %w", t.IDHex(), err)
	}
	if t.UnfundedSince > now.Height {
		return fmt.Errorf("timer %s is unfunded since height %d, now is %d", t.IDHex(), t.UnfundedSince, now.Height)
	}
	return nil
}

// checkQueued: a record of the queue is stored where the lane's cursors expect it.
func checkQueued(t *types.Timer, lane *types.LaneState, now types.Moment) error {
	switch {
	case t.HoldReason != types.NotOnHold:
		return nil
	case t.Due > lastOrder:
		return fmt.Errorf("timer %s is due at %d, want at most %d", t.IDHex(), t.Due, lastOrder)
	case t.IsBefore(lane.HeadCursor):
		return fmt.Errorf("timer %s at (%d, %d) is stored before the head %v", t.IDHex(), t.Due, t.Seq, lane.HeadCursor)
	case t.ExpiredAt(now):
		return nil
	case t.IsBefore(lane.LiveCursor):
		return fmt.Errorf("timer %s at (%d, %d) can fire and is stored before the live cursor %v", t.IDHex(), t.Due, t.Seq, lane.LiveCursor)
	}
	return nil
}

// checkRecurrence: what a record says of its fires to come can be, and its outcome is in the past.
func checkRecurrence(t *types.Timer, now uint64) error {
	if err := t.ValidateRecurrence(); err != nil {
		return err
	}
	if o := t.LastOutcome; o != nil && (o.Height > now || t.FireSeq == 0) {
		return types.ErrInternal.Wrapf("last_outcome is of height %d, after %d fires (fire_seq); want none, or a height of at most %d of "+
			"a timer that has fired", o.Height, t.FireSeq, now)
	}
	return nil
}

// checkNames: every timer with a name has its entry, and there are no others.
func (r *Records) checkNames(ctx context.Context) error {
	if err := r.names.entries.Stored().Check(ctx); err != nil {
		return fmt.Errorf("names: %w", err)
	}
	stored, err := r.names.entries.Page(ctx, nil, nil, 1<<30)
	if err != nil {
		return err
	}
	entries := map[string]bool{}
	for _, entry := range stored {
		entries[string(entry.Key)] = true
	}
	err = r.Walk(ctx, Range{}, func(t *types.Timer) (bool, error) {
		if t.Spec.Name == "" {
			return false, nil
		}
		key := nameKey(t)
		if !entries[string(key)] {
			return true, fmt.Errorf("timer %s has the name %q and no entry of it", t.IDHex(), t.Spec.Name)
		}
		delete(entries, string(key))
		return false, nil
	})
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("%d names have no timer", len(entries))
	}
	return err
}

// checkOwners: every entry has its timer, and there are as many as timers. So every timer has its entry too.
func (r *Records) checkOwners(ctx context.Context) error {
	if err := r.owners.entries.Stored().Check(ctx); err != nil {
		return fmt.Errorf("owner index: %w", err)
	}
	found, err := r.owners.entries.Page(ctx, nil, nil, 1<<30)
	if err != nil {
		return err
	}
	for i := range found {
		entry, err := parseEntry(found[i])
		if err != nil {
			return err
		}
		timer, err := r.Load(ctx, entry)
		if err != nil {
			return fmt.Errorf("entry (%d, %d) of the owner index has no timer: %w", entry.Due, entry.Seq, err)
		}
		if EntryOf(&timer) != entry || !bytes.Equal(found[i].Key, entry.key(timer.Owner())) {
			return fmt.Errorf("entry (%d, %d) of the owner index names another timer", entry.Due, entry.Seq)
		}
	}
	timers, err := r.All(ctx)
	if err != nil {
		return err
	}
	total, err := r.owners.Total(ctx)
	if err == nil && (total != uint64(len(timers)) || len(found) != len(timers)) {
		err = fmt.Errorf("the owner index has %d entries and counts %d, of %d timers", len(found), total, len(timers))
	}
	return err
}

// checkPayloads: every payload at a key of its own belongs to a live timer, and the reverse.
func (r *Records) checkPayloads(ctx context.Context) error {
	wanted := map[uint64]bool{}
	timers, err := r.All(ctx)
	if err != nil {
		return err
	}
	for i := range timers {
		if seq := timers[i].PayloadSeq; seq != 0 {
			wanted[seq] = true
		}
	}
	err = r.payloads.Walk(ctx, nil, func(seq uint64, payload []byte) (bool, error) {
		if !wanted[seq] || len(payload) <= types.InlinePayloadBytes {
			return true, fmt.Errorf("payload %d, %d bytes long, belongs to no timer or is short enough for a record", seq, len(payload))
		}
		delete(wanted, seq)
		return false, nil
	})
	if err == nil && len(wanted) > 0 {
		err = fmt.Errorf("%d payloads are missing", len(wanted))
	}
	return err
}
