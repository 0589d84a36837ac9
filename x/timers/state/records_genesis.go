package state

import (
	"context"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// InitGenesis implements Component: it writes the timers, whose places must agree with the lane's cursors. Actors' pages and
// the keys of payloads are derived.
func (r *Records) InitGenesis(ctx context.Context, genesis *types.GenesisState) error {
	if err := r.seq.Set(ctx, genesis.NextSeq); err != nil {
		return err
	}
	if genesis.Config.Calendar == types.CalendarTiered {
		if err := r.calendar.Begin(ctx); err != nil {
			return err
		}
	}
	now := types.HeightOf(ctx)
	for i := range genesis.Timers {
		timer := genesis.Timers[i]
		if timer.AdmittedWeight > 0 && timer.Due > now {
			return types.ErrInvalidGenesis.Wrapf("timer %d is admitted at height %d and due at %d", i, now, timer.Due)
		}
		if timer.SetAside == types.NotSetAside && !timer.ExpiredAt(now) {
			if timer.IsBefore(genesis.Lane.LiveCursor) {
				return types.ErrInvalidGenesis.Wrapf("timer %d can fire at height %d and is stored before the live cursor", i, now)
			}
			// Admission does not come back to what it has passed.
			if timer.IsBefore(genesis.Lane.AdmitCursor) && timer.AdmittedWeight == 0 {
				return types.ErrInvalidGenesis.Wrapf("timer %d can fire at height %d and was passed by admission", i, now)
			}
		}
		// The limit that holds at scheduling may have been lowered since: live timers stay.
		if err := r.Insert(ctx, &timer, Unlimited); err != nil {
			return types.ErrInvalidGenesis.Wrapf("timer %d: %v", i, err)
		}
	}
	return r.calendar.Close(ctx)
}

// ExportGenesis implements Component: every live timer with its payload.
func (r *Records) ExportGenesis(ctx context.Context, genesis *types.GenesisState) (err error) {
	if genesis.NextSeq, err = r.seq.Peek(ctx); err != nil {
		return err
	}
	timers, err := r.All(ctx)
	if err != nil {
		return err
	}
	for i := range timers {
		t := &timers[i]
		if t.Payload, err = r.Payload(ctx, t); err != nil {
			return err
		}
		t.PayloadSeq, t.PayloadBytes = 0, 0
	}
	genesis.Timers = timers
	return nil
}
