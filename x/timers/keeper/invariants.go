package keeper

import (
	"context"
	"fmt"

	"cosmossdk.io/collections"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// CheckInvariants returns the first thing about the module's state that can't be, if any. It reads everything: tests,
// the lab and simulations call it between blocks; no block does.
func (k *Keeper) CheckInvariants(ctx context.Context) error {
	for _, check := range []func(context.Context) error{k.checkTimers, k.checkActors, k.checkPayloads, k.checkWatches, k.checkMoney} {
		if err := check(ctx); err != nil {
			return fmt.Errorf("x/timers invariant: %w", err)
		}
	}
	return nil
}

// checkTimers: every record lies where its fields say, within the cursors, and its actor's record names it.
func (k *Keeper) checkTimers(ctx context.Context) error {
	lane, err := k.state.lane.Get(ctx)
	if err != nil {
		return err
	}
	nextSeq, err := k.state.seq.Peek(ctx)
	if err != nil {
		return err
	}
	now := heightOf(ctx)
	check := func(t *types.Timer, aside bool) error {
		switch {
		case t.Seq >= nextSeq:
			return fmt.Errorf("timer %s has seq %d, the next is %d", t.IDHex(), t.Seq, nextSeq)
		case aside != (t.SetAside != types.NotSetAside):
			return fmt.Errorf("timer %s lies where its set_aside %s does not say", t.IDHex(), t.SetAside)
		case !aside && t.IsBefore(lane.Head):
			return fmt.Errorf("timer %s at (%d, %d) lies before the head %v", t.IDHex(), t.Due, t.Seq, lane.Head)
		case !aside && t.IsBefore(lane.Live) && !t.ExpiredAt(now):
			return fmt.Errorf("timer %s at (%d, %d) can fire and lies before the live cursor %v", t.IDHex(), t.Due, t.Seq, lane.Live)
		}
		found, err := k.lookup(ctx, t.Actor, t.Id)
		if err != nil || found.Seq != t.Seq {
			return fmt.Errorf("timer %s is not what its actor's record says: %w", t.IDHex(), err)
		}
		return nil
	}
	err = k.state.queue.Walk(ctx, nil, func(key collections.Pair[uint64, uint64], t types.Timer) (bool, error) {
		if keyOf(t.Due, t.Seq) != keyOf(key.K1(), key.K2()) {
			return true, fmt.Errorf("timer %s lies at (%d, %d), not at (%d, %d)", t.IDHex(), key.K1(), key.K2(), t.Due, t.Seq)
		}
		return false, check(&t, false)
	})
	if err != nil {
		return err
	}
	for _, place := range []struct {
		timers  collections.Map[uint64, types.Timer]
		waiting bool
	}{{k.state.setAside, false}, {k.state.watching, true}} {
		err := place.timers.Walk(ctx, nil, func(seq uint64, t types.Timer) (bool, error) {
			if seq != t.Seq || place.waiting != (t.SetAside == types.Watching) {
				return true, fmt.Errorf("timer %s of seq %d, set aside as %s, lies at %d", t.IDHex(), t.Seq, t.SetAside, seq)
			}
			return false, check(&t, true)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// checkActors: every entry has its timer, counts are right, and no page says nothing.
func (k *Keeper) checkActors(ctx context.Context) error {
	counts := map[string]int64{}
	err := k.state.actors.Walk(ctx, nil, func(key collections.Pair[sdk.AccAddress, uint16], page types.ActorPage) (bool, error) {
		if page.Timers == 0 && len(page.Entries) == 0 {
			return true, fmt.Errorf("page %d of %s says nothing", key.K2(), key.K1())
		}
		counts[string(key.K1())] += int64(len(page.Entries)) - int64(page.Timers)
		for _, entry := range page.Entries {
			timer, err := k.load(ctx, entry)
			if err != nil {
				return true, fmt.Errorf("entry (%d, %d) of %s has no timer: %w", entry.Due, entry.Seq, key.K1(), err)
			}
			if !timer.Owner().Equals(key.K1()) || entryOf(&timer) != entry {
				return true, fmt.Errorf("entry (%d, %d) of %s names another timer", entry.Due, entry.Seq, key.K1())
			}
		}
		return false, nil
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

// checkPayloads: every payload that lies apart belongs to a live timer, and the reverse.
func (k *Keeper) checkPayloads(ctx context.Context) error {
	wanted := map[uint64]bool{}
	timers, err := k.records(ctx)
	if err != nil {
		return err
	}
	for i := range timers {
		if seq := timers[i].PayloadSeq; seq != 0 {
			wanted[seq] = true
		}
	}
	err = k.state.payloads.Walk(ctx, nil, func(seq uint64, payload []byte) (bool, error) {
		if !wanted[seq] || len(payload) <= types.InlinePayloadBytes {
			return true, fmt.Errorf("payload %d, %d bytes long, belongs to nobody or lies apart needlessly", seq, len(payload))
		}
		delete(wanted, seq)
		return false, nil
	})
	if err == nil && len(wanted) > 0 {
		err = fmt.Errorf("%d payloads are missing", len(wanted))
	}
	return err
}

// checkMoney: between blocks the module's account holds nothing (SPEC §5).
func (k *Keeper) checkMoney(ctx context.Context) error {
	config, err := k.Config(ctx)
	if err != nil {
		return err
	}
	if held := k.bank.GetBalance(ctx, k.address, config.FeeDenom); !held.IsZero() {
		return fmt.Errorf("the module's account holds %s", held)
	}
	return nil
}
