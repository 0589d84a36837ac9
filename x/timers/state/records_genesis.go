package state

import (
	"context"
	"errors"

	"cosmossdk.io/collections"

	"github.com/cosmos-timers/timers/x/timers/types"
)

var _ TimerReader = (*Records)(nil)

// InitGenesis implements Component.
func (r *Records) InitGenesis(ctx context.Context, genesis *types.GenesisState) error {
	return r.seq.Set(ctx, genesis.NextSeq)
}

// ReadTimers implements TimerReader: it writes the timers, whose places must agree with the lane's cursors. The owner index
// and the keys of payloads are derived.
func (r *Records) ReadTimers(ctx context.Context, head *types.GenesisState) TimerReading {
	now := types.MomentOf(ctx)
	return TimerReading{Timer: func(i int, t *types.Timer) error {
		if err := checkRecord(t, &head.Lane, now); err != nil {
			return types.ErrInvalidGenesis.Wrapf("timer %d: %s", i, err)
		}
		timer := *t
		// The limit that holds at scheduling may have been lowered since: live timers stay.
		if err := r.add(ctx, &timer, Unlimited); err != nil {
			return types.ErrInvalidGenesis.Wrapf("timer %d: %s", i, err)
		}
		return nil
	}, Done: func() error {
		return errors.Join(r.timers.Settle(ctx), r.owners.entries.Settle(ctx), r.names.entries.Settle(ctx))
	}}
}

// ExportGenesis implements Component.
func (r *Records) ExportGenesis(ctx context.Context, genesis *types.GenesisState) (err error) {
	genesis.NextSeq, err = r.seq.Peek(ctx)
	return err
}

// ExportTimers passes every live timer to fn as a genesis state has it: with its payload, in the order of Walk.
func (r *Records) ExportTimers(ctx context.Context, fn func(i int, t *types.Timer) error) error {
	i := 0
	return r.Walk(ctx, Range{}, func(t *types.Timer) (bool, error) {
		payload, err := r.exportedPayload(ctx, t)
		if err != nil {
			return true, err
		}
		t.Spec.Call.Payload, t.PayloadSeq, t.PayloadBytes = payload, 0, 0
		i++
		return false, fn(i-1, t)
	})
}

// exportedPayload reads a payload by an iterator: what is read by its key stays in the cache of the context's branch, as
// long as that lives.
func (r *Records) exportedPayload(ctx context.Context, t *types.Timer) (payload []byte, err error) {
	if t.PayloadSeq == 0 {
		return t.Spec.Call.Payload, nil
	}
	found, one := false, new(collections.Range[uint64]).StartInclusive(t.PayloadSeq).EndInclusive(t.PayloadSeq)
	err = r.payloads.Walk(ctx, one, func(_ uint64, bz []byte) (bool, error) {
		payload, found = bz, true
		return true, nil
	})
	if err == nil && !found {
		err = types.ErrInternal.Wrapf("timer %s has no payload %d", t.IDHex(), t.PayloadSeq)
	}
	return payload, err
}
