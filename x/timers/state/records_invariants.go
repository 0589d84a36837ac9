package state

import (
	"context"
	"errors"
	"fmt"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/calendar"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// CheckInvariants implements Component.
func (r *Records) CheckInvariants(ctx context.Context) error {
	if err := r.checkTimers(ctx); err != nil {
		return err
	}
	if err := r.checkActors(ctx); err != nil {
		return err
	}
	return r.checkPayloads(ctx)
}

// checkTimers: every record is stored where its fields say, within the cursors, and its actor's pages name it.
func (r *Records) checkTimers(ctx context.Context) error {
	lane, err := r.lane.Get(ctx)
	if err != nil {
		return err
	}
	nextSeq, err := r.seq.Peek(ctx)
	if err != nil {
		return err
	}
	check := func(t *types.Timer, aside bool) error {
		if t.Seq >= nextSeq {
			return fmt.Errorf("timer %s has seq %d, the next is %d", t.IDHex(), t.Seq, nextSeq)
		}
		if err := checkPlace(t, aside, &lane, types.HeightOf(ctx)); err != nil {
			return err
		}
		if err := checkRecurrence(t, types.HeightOf(ctx)); err != nil {
			return fmt.Errorf("timer %s: %w", t.IDHex(), err)
		}
		found, err := r.Lookup(ctx, t.Actor, t.Id)
		if err != nil || found.Seq != t.Seq {
			return fmt.Errorf("timer %s is not what its actor's record says: %w", t.IDHex(), err)
		}
		return nil
	}
	var wrong error
	err = r.calendar.Walk(ctx, func(e calendar.Entry[types.Timer]) bool {
		if t := &e.Value; KeyOf(t.Due, t.Seq) != e.Key {
			wrong = fmt.Errorf("timer %s is stored at (%d, %d), not at (%d, %d)", t.IDHex(), e.Key.Due, e.Key.Seq, t.Due, t.Seq)
		} else {
			wrong = check(t, false)
		}
		return wrong == nil
	})
	if err = errors.Join(err, wrong); err != nil {
		return err
	}
	if err := r.calendar.Check(ctx); err != nil {
		return err
	}
	asideAs := func(waiting bool) func(uint64, types.Timer) error {
		return func(seq uint64, t types.Timer) error {
			if seq != t.Seq || waiting != (t.SetAside == types.Watching) {
				return fmt.Errorf("timer %s of seq %d, set aside as %s, is stored at %d", t.IDHex(), t.Seq, t.SetAside, seq)
			}
			return check(&t, true)
		}
	}
	err = r.setAside.Walk(ctx, nil, func(seq uint64, t types.Timer) (bool, error) { return false, asideAs(false)(seq, t) })
	if err != nil {
		return err
	}
	return r.waiting.Walk(ctx, asideAs(true))
}

// checkPlace: a record is stored where the lane's cursors expect it.
func checkPlace(t *types.Timer, aside bool, lane *types.LaneState, now uint64) error {
	switch {
	case aside != (t.SetAside != types.NotSetAside):
		return fmt.Errorf("timer %s is stored where its set_aside %s does not say", t.IDHex(), t.SetAside)
	case aside && t.AdmittedWeight > 0:
		return fmt.Errorf("timer %s is set aside and admitted", t.IDHex())
	case aside:
		return nil
	case t.AdmittedWeight > 0 && t.Due > now:
		return fmt.Errorf("timer %s is admitted at height %d and due at %d", t.IDHex(), now, t.Due)
	case t.IsBefore(lane.HeadCursor):
		return fmt.Errorf("timer %s at (%d, %d) is stored before the head %v", t.IDHex(), t.Due, t.Seq, lane.HeadCursor)
	case t.ExpiredAt(now):
		return nil
	case t.IsBefore(lane.LiveCursor):
		return fmt.Errorf("timer %s at (%d, %d) can fire and is stored before the live cursor %v", t.IDHex(), t.Due, t.Seq, lane.LiveCursor)
	case t.IsBefore(lane.AdmitCursor) && t.AdmittedWeight == 0:
		return fmt.Errorf("timer %s at (%d, %d) was passed by admission %v", t.IDHex(), t.Due, t.Seq, lane.AdmitCursor)
	}
	return nil
}

// checkRecurrence: what a record says of its fires to come can be, and its outcome is in the past.
func checkRecurrence(t *types.Timer, now uint64) error {
	if err := t.ValidateRecurrence(); err != nil {
		return err
	}
	if o := t.LastOutcome; o != nil && (o.Height > now || t.FireSeq == 0 || !t.Repeats()) {
		return types.ErrInternal.Wrapf("last outcome of height %d after %d fires", o.Height, t.FireSeq)
	}
	return nil
}

// checkActors: every entry has its timer, counts are right, and no page is empty.
func (r *Records) checkActors(ctx context.Context) error {
	counts := map[string]int64{}
	err := r.actors.Walk(ctx, func(actor sdk.AccAddress, number uint16, page types.ActorPage) error {
		if isEmpty(page) {
			return fmt.Errorf("page %d of %s is empty", number, actor)
		}
		counts[string(actor)] += int64(len(page.Entries)) - int64(page.Timers)
		for _, entry := range page.Entries {
			timer, err := r.Load(ctx, entry)
			if err != nil {
				return fmt.Errorf("entry (%d, %d) of %s has no timer: %w", entry.Due, entry.Seq, actor, err)
			}
			if !timer.Owner().Equals(actor) || EntryOf(&timer) != entry {
				return fmt.Errorf("entry (%d, %d) of %s names another timer", entry.Due, entry.Seq, actor)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for actor, excess := range counts {
		if excess != 0 {
			return fmt.Errorf("actor %s has %d entries more than its count says", sdk.AccAddress(actor), excess)
		}
	}
	return nil
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
