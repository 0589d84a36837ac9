package genesis

import (
	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// validateLane checks the totals and prices of the lane.
func validateLane(l *types.LaneState) error {
	for _, total := range []struct {
		name  string
		value math.Int
	}{{"burned", l.Burned}, {"lane_burned", l.LaneBurned}, {"tips", l.Tips}} {
		if err := types.CheckTotal("lane."+total.name, total.value); err != nil {
			return err
		}
	}
	// The lane basefee is absent before the first block, the other two without a fee market.
	for _, price := range []struct {
		name  string
		value *math.LegacyDec
	}{
		{"lane_basefee", l.LaneBasefee},
		{"cycle_basefee", l.CycleBasefee},
		{"cell_basefee", l.CellBasefee},
		{"p50", &l.P50},
		{"fairness.smoothed", &l.Fairness.Smoothed},
	} {
		if price.value == nil {
			continue
		}
		if err := types.ValidatePrice(types.ErrInvalidGenesis, "lane."+price.name, *price.value); err != nil {
			return err
		}
	}
	if l.TimesBehind < 0 || l.TimesBehind > types.MaxTime {
		return types.ErrInvalidGenesis.Wrapf("lane.times_behind is %d, want 0 to %d", l.TimesBehind, types.MaxTime)
	}
	return nil
}
