package genesis

import (
	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// validateLane checks the totals and prices of the lane, and what agents and the auction left.
func validateLane(l *types.LaneState) error {
	for _, total := range []struct {
		name  string
		value math.Int
	}{{"burned", l.Burned}, {"lane_burned", l.LaneBurned}, {"tips", l.Tips}} {
		if total.value.IsNil() || total.value.IsNegative() {
			return types.ErrInvalidGenesis.Wrapf("lane.%s is missing or negative", total.name)
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
	if err := validateAgentBooks(l.Agents); err != nil {
		return err
	}
	return l.Auction.Validate()
}

// validateAgentBooks checks the sum of the bills for agents' calls, and the payer whose turn it is.
func validateAgentBooks(a *types.AgentBooks) error {
	switch {
	case a == nil:
		return nil
	case a.Billed.IsNil() || a.Billed.IsNegative():
		return types.ErrInvalidGenesis.Wrap("lane.agents.billed is missing or negative")
	case len(a.Payer) > maxAddressBytes:
		return types.ErrInvalidGenesis.Wrapf("lane.agents.payer has %d bytes, want at most %d", len(a.Payer), maxAddressBytes)
	}
	return nil
}
