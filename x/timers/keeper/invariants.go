package keeper

import (
	"context"
	"fmt"
	"slices"

	"cosmossdk.io/collections"
	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// CheckInvariants returns the first thing about the module's state that can't be, if any. It reads everything: tests,
// the lab and simulations call it between blocks; no block does.
func (k *Keeper) CheckInvariants(ctx context.Context) error {
	for _, check := range []func(context.Context) error{
		k.checkTimers, k.checkActors, k.checkPayloads, k.checkWatches, k.checkReadyIndex, k.checkAgents, k.checkFairness,
		k.checkTips, k.checkMoney,
	} {
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
	check := func(t *types.Timer, aside bool) error {
		if t.Seq >= nextSeq {
			return fmt.Errorf("timer %s has seq %d, the next is %d", t.IDHex(), t.Seq, nextSeq)
		}
		if err := checkPlace(t, aside, &lane, heightOf(ctx)); err != nil {
			return err
		}
		if err := checkLife(t, heightOf(ctx)); err != nil {
			return fmt.Errorf("timer %s: %w", t.IDHex(), err)
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

// checkPlace: a record lies where the lane's cursors expect it.
func checkPlace(t *types.Timer, aside bool, lane *types.LaneState, now uint64) error {
	switch {
	case aside != (t.SetAside != types.NotSetAside):
		return fmt.Errorf("timer %s lies where its set_aside %s does not say", t.IDHex(), t.SetAside)
	case t.UnfundedSince > now:
		return fmt.Errorf("timer %s is unfunded since height %d, now is %d", t.IDHex(), t.UnfundedSince, now)
	case aside && t.AdmittedWeight > 0:
		return fmt.Errorf("timer %s is set aside and admitted", t.IDHex())
	case aside:
		return nil
	case t.AdmittedWeight > 0 && t.Due > now:
		return fmt.Errorf("timer %s is admitted at height %d and due at %d", t.IDHex(), now, t.Due)
	case t.IsBefore(lane.Head):
		return fmt.Errorf("timer %s at (%d, %d) lies before the head %v", t.IDHex(), t.Due, t.Seq, lane.Head)
	case t.ExpiredAt(now):
		return nil
	case t.IsBefore(lane.Live):
		return fmt.Errorf("timer %s at (%d, %d) can fire and lies before the live cursor %v", t.IDHex(), t.Due, t.Seq, lane.Live)
	case t.IsBefore(lane.Admit) && t.AdmittedWeight == 0:
		return fmt.Errorf("timer %s at (%d, %d) was passed by admission %v", t.IDHex(), t.Due, t.Seq, lane.Admit)
	}
	return nil
}

// checkActors: every entry has its timer, counts are right, and no page says nothing.
func (k *Keeper) checkActors(ctx context.Context) error {
	counts := map[string]int64{}
	err := k.state.actors.Walk(ctx, nil, func(key collections.Pair[sdk.AccAddress, uint16], page types.ActorPage) (bool, error) {
		if saysNothing(page) {
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

// checkReadyIndex: every admitted timer has its entries, nobody else has any, and their number is right.
func (k *Keeper) checkReadyIndex(ctx context.Context) error {
	timers, err := k.records(ctx)
	if err != nil {
		return err
	}
	want, admitted := map[string]bool{}, uint64(0)
	config, err := k.Config(ctx)
	if err != nil {
		return err
	}
	lane, err := k.state.lane.Get(ctx)
	if err != nil {
		return err
	}
	for i := range timers {
		if err := checkFiling(&timers[i], &config, &lane); err != nil {
			return fmt.Errorf("timer %s: %w", timers[i].IDHex(), err)
		}
		if timers[i].AdmittedWeight == 0 {
			continue
		}
		admitted++
		for _, entry := range entriesOf(&timers[i]) {
			want[readyKeyCodec.Stringify(readyKeyOf(entry))+entry.Other.String()] = true
		}
	}
	err = k.state.ready.Walk(ctx, nil, func(key readyKey, other math.LegacyDec) (bool, error) {
		name := readyKeyCodec.Stringify(key) + other.String()
		if !want[name] {
			return true, fmt.Errorf("the ready index has an entry (%d, %d) that is nobody's", key.K3(), key.K4())
		}
		delete(want, name)
		return false, nil
	})
	if err != nil {
		return err
	}
	counted, found, err := findItem(ctx, k.state.admitted)
	switch {
	case err != nil:
		return err
	case len(want) > 0:
		return fmt.Errorf("the ready index lacks %d entries", len(want))
	case counted != admitted || found != (admitted > 0):
		return fmt.Errorf("%d timers are admitted, %d are counted", admitted, counted)
	}
	return nil
}

// checkFairness: what the actors' records and the lane's state say of the window is what its fires come to.
func (k *Keeper) checkFairness(ctx context.Context) error {
	lane, err := k.state.lane.Get(ctx)
	if err != nil {
		return err
	}
	recent := map[string]uint64{}
	err = k.state.fires.Walk(ctx, nil, func(height uint64, fires types.BlockFires) (bool, error) {
		if height < lane.Fairness.From || len(fires.Units) == 0 {
			return true, fmt.Errorf("%d units fired at height %d; the window begins at %d", len(fires.Units), height, lane.Fairness.From)
		}
		for i := range fires.Units {
			recent[string(fires.Units[i].Unit)] += uint64(fires.Units[i].Fires)
		}
		return false, nil
	})
	if err != nil {
		return err
	}
	err = k.state.actors.Walk(ctx, nil, func(key collections.Pair[sdk.AccAddress, uint16], page types.ActorPage) (bool, error) {
		if want := recent[string(key.K1())]; key.K2() == 0 && uint64(page.Recent) != want || key.K2() > 0 && page.Recent > 0 {
			return true, fmt.Errorf("page %d of %s counts %d recent fires, the window %d", key.K2(), key.K1(), page.Recent, want)
		}
		return false, nil
	})
	if err != nil {
		return err
	}
	counts, all := map[uint64]uint64{}, make([]uint64, 0, len(recent))
	for _, fires := range recent {
		counts[fires]++
		all = append(all, fires)
	}
	slices.Sort(all)
	want := types.FairnessState{From: lane.Fairness.From, Units: uint64(len(all)), Smoothed: lane.Fairness.Smoothed}
	if len(all) > 0 {
		want.Median = all[(len(all)-1)/2]
		want.Below = uint64(slices.Index(all, want.Median))
	}
	if !lane.Fairness.Equal(want) {
		return fmt.Errorf("the fairness window sums up to %v, the state says %v", want, lane.Fairness)
	}
	err = k.state.fireCounts.Walk(ctx, nil, func(fires, units uint64) (bool, error) {
		if counts[fires] != units {
			return true, fmt.Errorf("%d units fired %d times, %d are counted", counts[fires], fires, units)
		}
		delete(counts, fires)
		return false, nil
	})
	if err == nil && len(counts) > 0 {
		err = fmt.Errorf("%d counts of fires are missing", len(counts))
	}
	return err
}

// checkMoney: between blocks the module's account holds the bids that are locked, and nothing else (SPEC §5).
func (k *Keeper) checkMoney(ctx context.Context) error {
	config, err := k.Config(ctx)
	if err != nil {
		return err
	}
	locked, err := k.lockedBids(ctx)
	if err != nil {
		return err
	}
	if held := k.bank.GetBalance(ctx, k.address, config.FeeDenom); !held.Amount.Equal(locked) {
		return fmt.Errorf("the module's account holds %s, its timers say %s", held, locked)
	}
	return nil
}
