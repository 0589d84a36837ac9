package triggers

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"cosmossdk.io/collections"

	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
	"github.com/cosmos-timers/timers/x/timers/watch/condition"
)

// InitGenesis implements state.Component. The conditions follow from the timers, which come afterwards.
func (c *Conditions) InitGenesis(ctx context.Context, genesis *types.GenesisState) error {
	for i := range genesis.WatchValues {
		v := &genesis.WatchValues[i]
		if err := c.values.Set(ctx, collections.Join(v.Key.Store, v.Key.Prefix), v.Value); err != nil {
			return err
		}
	}
	if err := state.EachTombstone(ctx, genesis, c.Inserted); err != nil {
		return err
	}
	for i := range genesis.WatchSegments {
		s := &genesis.WatchSegments[i]
		segment := Segment{Key: s.Key, Height: s.Height, WatchSegment: s.Segment}
		if err := c.Resume(ctx, &segment, s.Segment.From); err != nil {
			return err
		}
	}
	return nil
}

// ExportGenesis implements state.Component.
func (c *Conditions) ExportGenesis(ctx context.Context, genesis *types.GenesisState) error {
	keyOf := func(store string, key []byte) types.WatchKey {
		return types.WatchKey{Store: store, Prefix: slices.Clone(key)}
	}
	err := c.values.Walk(ctx, nil, func(at prefixKey, v types.WatchValue) (bool, error) {
		v.Conditions = nil
		genesis.WatchValues = append(genesis.WatchValues, types.KeyWatchValue{Key: keyOf(at.K1(), at.K2()), Value: v})
		return false, nil
	})
	if err != nil {
		return err
	}
	return c.segments.Walk(ctx, nil, func(at segmentKey, s types.WatchSegment) (bool, error) {
		genesis.WatchSegments = append(genesis.WatchSegments,
			types.KeyWatchSegment{Key: keyOf(at.K1(), at.K2()), Height: at.K3(), Segment: s})
		return false, nil
	})
}

// CheckInvariants implements state.Component: each condition of a timer that is live, or has left its entries, has its entry,
// and a place while the timer waits. The counts of each key are right, and there is nothing else.
func (c *Conditions) CheckInvariants(ctx context.Context) error {
	timers, err := c.records.All(ctx)
	if err != nil {
		return err
	}
	if err := c.tombstones.Walk(ctx, func(t *types.Timer) error {
		timers = append(timers, *t)
		return nil
	}); err != nil {
		return err
	}
	entries, places := 0, 0
	counts := map[string]*[condition.Lists]uint64{}
	for i := range timers {
		t := &timers[i]
		all, err := conditionsOf(t)
		if err != nil {
			return err
		}
		for _, k := range all {
			if err := c.checkOne(ctx, t, k); err != nil {
				return fmt.Errorf("timer %s, key %s %x: %w", t.IDHex(), k.Store, k.Prefix, err)
			}
			entries++
			if t.AwaitsChange() {
				places++
			}
			name := k.Store + "\x00" + string(k.Prefix)
			if counts[name] == nil {
				counts[name] = new([condition.Lists]uint64)
			}
			counts[name][condition.ListOf(k.place)-1]++
		}
	}
	err = c.all.Walk(ctx, nil, func(WatchPlace) (bool, error) { entries--; return false, nil })
	if err == nil && entries != 0 {
		err = fmt.Errorf("%d conditions without a timer", -entries)
	}
	if err != nil {
		return err
	}
	err = c.places.Walk(ctx, nil, func(placeKey, []byte) (bool, error) { places--; return false, nil })
	if err == nil && places != 0 {
		err = fmt.Errorf("%d places without a timer that waits", -places)
	}
	if err != nil {
		return err
	}
	return c.checkCounts(ctx, counts)
}

// checkCounts: each key with conditions has a value that counts them, and there are no other values.
func (c *Conditions) checkCounts(ctx context.Context, counts map[string]*[condition.Lists]uint64) error {
	keys := len(counts)
	err := c.values.Walk(ctx, nil, func(at prefixKey, v types.WatchValue) (bool, error) {
		keys--
		want := counts[at.K1()+"\x00"+string(at.K2())]
		if want == nil || len(v.Conditions) != condition.Lists || [condition.Lists]uint64(v.Conditions) != *want {
			return true, fmt.Errorf("%s %x has conditions %v, the timers %v", at.K1(), at.K2(), v.Conditions, want)
		}
		return false, nil
	})
	if err == nil && keys != 0 {
		err = fmt.Errorf("%d keys with conditions have no value", keys)
	}
	return err
}

// checkOne: a condition has an entry, and a place exactly while its timer waits.
func (c *Conditions) checkOne(ctx context.Context, t *types.Timer, k conditional) error {
	found, err := c.all.Has(ctx, collections.Join4(k.Store, k.Prefix, t.Actor, t.Seq))
	if err == nil && !found {
		err = errors.New("its condition has no entry")
	}
	if err != nil {
		return err
	}
	placed, err := c.places.Has(ctx, k.at(t.Seq))
	if err == nil && placed != t.AwaitsChange() {
		err = fmt.Errorf("on hold as %s, has a place: %t", t.HoldReason, placed)
	}
	return err
}

// Count is the number of conditions of live timers in a range.
func (c *Conditions) Count(ctx context.Context, in collections.Ranger[WatchPlace]) (n uint64, err error) {
	err = c.all.Walk(ctx, in, func(WatchPlace) (bool, error) { n++; return false, nil })
	return n, err
}
