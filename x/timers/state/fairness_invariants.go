package state

import (
	"context"
	"fmt"
	"slices"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// CheckInvariants implements Component: the units' counts and those in the lane's state are the sums of the fires
// in the window.
func (f *Fairness) CheckInvariants(ctx context.Context) error {
	lane, err := f.lane.Get(ctx)
	if err != nil {
		return err
	}
	recent := map[string]uint64{}
	err = f.fires.Walk(ctx, nil, func(height uint64, fires types.BlockFires) (bool, error) {
		if height < lane.Fairness.From || len(fires.Units) == 0 {
			return true, fmt.Errorf("%d units fired at height %d; the window begins at %d", len(fires.Units), height, lane.Fairness.From)
		}
		for i := range fires.Units {
			recent[string(HashOf(fires.Units[i].Unit))] += uint64(fires.Units[i].Fires)
		}
		return false, nil
	})
	if err != nil {
		return err
	}
	if err := f.recents.Check(ctx); err != nil {
		return fmt.Errorf("recent fires: %w", err)
	}
	counted, err := f.recents.Page(ctx, nil, nil, 1<<30)
	if err != nil {
		return err
	}
	for _, unit := range counted {
		if want, fires := recent[string(unit.Key)], ParseNumber(unit.Value); fires != want {
			return fmt.Errorf("unit %x has %d recent fires, the window %d", unit.Key, fires, want)
		}
	}
	if len(counted) != len(recent) {
		return fmt.Errorf("%d units have recent fires, in the window %d", len(counted), len(recent))
	}
	all := make([]uint64, 0, len(recent))
	for _, fires := range recent {
		all = append(all, fires)
	}
	return f.checkMedian(ctx, &lane.Fairness, all)
}

// checkMedian: the counts and the median are those of the units' fires.
func (f *Fairness) checkMedian(ctx context.Context, state *types.FairnessState, all []uint64) error {
	slices.Sort(all)
	want := types.FairnessState{From: state.From, Units: uint64(len(all)), Smoothed: state.Smoothed}
	if len(all) > 0 {
		want.Median = all[(len(all)-1)/2]
		want.Below = uint64(slices.Index(all, want.Median))
	}
	if !state.Equal(want) {
		return fmt.Errorf("the fairness window sums up to %v, the state says %v", want, *state)
	}
	counts := map[uint64]uint64{}
	for _, fires := range all {
		counts[fires]++
	}
	err := f.counts.Walk(ctx, nil, func(fires, units uint64) (bool, error) {
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
