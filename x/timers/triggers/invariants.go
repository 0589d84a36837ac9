package triggers

import (
	"bytes"
	"context"
	"fmt"

	"cosmossdk.io/collections"

	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// CheckInvariants implements state.Component: every key that a timer watches has an entry, and every entry has a timer.
// The counts are right. A waiting timer has no hit, and one in the queue has one. There are no other entries but those of timers
// that left them. No cursor has passed what it looks for.
func (w *Watches) CheckInvariants(ctx context.Context) error {
	timers, err := w.records.All(ctx)
	if err != nil {
		return err
	}
	var watches, plain, hits, tombstones uint64
	countKeys := func(t *types.Timer) {
		for _, key := range t.WatchKeys() {
			watches++
			if key.When == nil {
				plain++
			}
		}
	}
	err = w.tombstones.Walk(ctx, func(t *types.Timer) error {
		tombstones++
		countKeys(t)
		return w.checkEntries(ctx, t)
	})
	if err != nil {
		return err
	}
	for i := range timers {
		t := &timers[i]
		hit, err := w.checkTimer(ctx, t)
		if err != nil {
			return err
		}
		countKeys(t)
		if hit {
			hits++
		}
	}
	for _, c := range []struct {
		name string
		want uint64
		of   func(func()) error
	}{
		{"watches", plain, func(count func()) error {
			return w.watches.Walk(ctx, nil, func(WatchPlace, []byte) (bool, error) { count(); return false, nil })
		}},
		{"hits", hits, func(count func()) error {
			return w.hits.Walk(ctx, nil, func(uint64, types.WatchHit) (bool, error) { count(); return false, nil })
		}},
	} {
		got := uint64(0)
		if err := c.of(func() { got++ }); err != nil {
			return err
		}
		if got != c.want {
			return fmt.Errorf("there are %d %s, the timers want %d", got, c.name, c.want)
		}
	}
	if err := w.checkRounds(ctx); err != nil {
		return err
	}
	if err := w.checkCursors(ctx, tombstones); err != nil {
		return err
	}
	return w.checkCounts(ctx, watches)
}

// checkRounds: each round has a turn, and there are no other turns.
func (w *Watches) checkRounds(ctx context.Context) error {
	rounds := 0
	err := w.rounds.Walk(ctx, nil, func(at roundKey, p types.WatchPending) (bool, error) {
		rounds++
		found, err := w.turns.Has(ctx, collections.Join4(at.K1(), p.Round.Since, at.K2(), at.K3()))
		if err == nil && !found {
			err = fmt.Errorf("the round of %x for %s %x has no turn at %d", at.K1(), at.K2(), at.K3(), p.Round.Since)
		}
		return false, err
	})
	if err != nil {
		return err
	}
	err = w.turns.Walk(ctx, nil, func(turnKey) (bool, error) { rounds--; return false, nil })
	if err == nil && rounds != 0 {
		err = fmt.Errorf("there are %d turns without a round", -rounds)
	}
	return err
}

// checkCursors: the next block continues with the passes, rounds and tombstones that are stored.
func (w *Watches) checkCursors(ctx context.Context, tombstones uint64) error {
	cursors, _, err := state.FindItem(ctx, w.cursors)
	if err != nil {
		return err
	}
	if tombstones > 0 && !cursors.TombstonesLeft {
		return fmt.Errorf("%d timers left entries, and no cursor says so", tombstones)
	}
	if cursors.Turn.Store == "" {
		err = w.pending.Walk(ctx, nil, func(at prefixKey, _ types.WatchPending) (bool, error) {
			return true, fmt.Errorf("the pass of %s %x is stored, and no cursor says that there is one", at.K1(), at.K2())
		})
	}
	if err == nil && len(cursors.Owner) == 0 {
		err = w.turns.Walk(ctx, nil, func(at turnKey) (bool, error) {
			return true, fmt.Errorf("a round of %x is stored, and no cursor says that there is one", at.K1())
		})
	}
	return err
}

// checkTimer checks the entries of one timer. It also reports whether the timer has a hit.
func (w *Watches) checkTimer(ctx context.Context, t *types.Timer) (hit bool, err error) {
	hit, err = w.hits.Has(ctx, t.Seq)
	if err != nil {
		return hit, err
	}
	waits := t.AwaitsChange()
	switch {
	case hit && (waits || t.Spec.Trigger.Watch == nil):
		return hit, fmt.Errorf("timer %s has a hit although it waits or does not watch", t.IDHex())
	case t.Look && hit != noticesWhileLooking(t):
		return hit, fmt.Errorf("timer %s is to be looked at and has a hit: %t", t.IDHex(), hit)
	case !hit && t.Spec.Trigger.Watch != nil && t.HoldReason == types.NotOnHold:
		return hit, fmt.Errorf("timer %s is in the queue without a hit", t.IDHex())
	case waits && t.Spec.Trigger.Watch == nil:
		return hit, fmt.Errorf("timer %s waits for a change and watches nothing", t.IDHex())
	}
	return hit, w.checkEntries(ctx, t)
}

// checkEntries: every key that a timer watches has an entry, which finds the timer.
func (w *Watches) checkEntries(ctx context.Context, t *types.Timer) error {
	for _, key := range t.WatchKeys() {
		if key.When != nil {
			continue
		}
		id, err := w.watches.Get(ctx, placeOf(t, key))
		if err != nil || len(t.Id) > 0 && !bytes.Equal(id, state.IDStart(t)) {
			return fmt.Errorf("timer %s of seq %d watches %s %x, which has no entry, or one with another id: %w", t.IDHex(), t.Seq, key.Store, key.Prefix, err)
		}
	}
	return nil
}

// checkCounts: each count is the number of its watches, and none is missing.
func (w *Watches) checkCounts(ctx context.Context, watches uint64) error {
	var ofStores, ofPrefixes uint64
	err := w.counts.Walk(ctx, nil, func(at collections.Pair[string, []byte], count types.WatchCount) (bool, error) {
		ranger := collections.NewSuperPrefixedQuadRange[string, []byte, []byte, uint64](at.K1(), at.K2())
		if len(at.K2()) == 0 {
			ranger = collections.NewPrefixedQuadRange[string, []byte, []byte, uint64](at.K1())
			ofStores += count.Plain
		} else {
			ofPrefixes += count.Plain + count.Conditional
		}
		got, err := w.countEntries(ctx, ranger, &count)
		if err != nil {
			return true, err
		}
		want := types.WatchCount{Plain: got.Plain, Conditional: got.Conditional, Owner: count.Owner, Served: count.Served}
		if len(at.K2()) == 0 {
			want = types.WatchCount{Plain: got.Plain + got.Conditional}
		}
		if !want.Equal(count) || count.Plain+count.Conditional == 0 {
			err = fmt.Errorf("%s %x has watches %v, its count says %v", at.K1(), at.K2(), want, count)
		}
		return false, err
	})
	if err == nil && (ofStores != watches || ofPrefixes != watches) {
		err = fmt.Errorf("counts of stores add up to %d and of prefixes to %d, there are %d watches", ofStores, ofPrefixes, watches)
	}
	return err
}

// countEntries counts the watches in a range. The owner that a count names has all of those without a condition.
func (w *Watches) countEntries(ctx context.Context, in collections.Ranger[WatchPlace], count *types.WatchCount) (got types.WatchCount, err error) {
	if got.Conditional, err = w.conditions.Count(ctx, in); err != nil {
		return got, err
	}
	err = w.watches.Walk(ctx, in, func(at WatchPlace, _ []byte) (bool, error) {
		if got.Plain++; len(count.Owner) > 0 && !bytes.Equal(at.K3(), count.Owner) {
			return true, fmt.Errorf("%x watches %s %x, which is said to be watched by %x alone", at.K3(), at.K1(), at.K2(), count.Owner)
		}
		return false, nil
	})
	return got, err
}
