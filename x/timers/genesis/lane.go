package genesis

import (
	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// maxTotalBits bounds the totals since the start of the chain, so that they can't overflow. A block adds less than 2^128:
// prices of at most 2^60, times a multiplier below 2^16, for each of at most 2^50 units of three kinds, and bids below 2^96 of
// at most 2^17 timers. There are at most 2^40 blocks: less than 2^168 is added, of the 2^256 that there is room for.
const maxTotalBits = 192

// validateTotal checks a sum since the start of the chain.
func validateTotal(name string, total math.Int) error {
	if total.IsNil() {
		return types.ErrInvalidGenesis.Wrapf("%s is missing", name)
	}
	if total.IsNegative() || total.BigIntMut().BitLen() > maxTotalBits {
		return types.ErrInvalidGenesis.Wrapf("%s is %s, want 0 to 2^%d - 1", name, total, maxTotalBits)
	}
	return nil
}

// validateLane checks the totals and prices of the lane, and what agents left.
func validateLane(l *types.LaneState) error {
	for _, total := range []struct {
		name  string
		value math.Int
	}{{"burned", l.Burned}, {"lane_burned", l.LaneBurned}, {"tips", l.Tips}} {
		if err := validateTotal("lane."+total.name, total.value); err != nil {
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
	return validateAgentTotals(l.Agents)
}

// validateAgentTotals checks the sum of the bills for agents' calls, and the payer whose turn it is.
func validateAgentTotals(a *types.AgentTotals) error {
	switch {
	case a == nil:
		return nil
	case len(a.Payer) > maxAddressBytes:
		return types.ErrInvalidGenesis.Wrapf("lane.agents.payer has %d bytes, want at most %d", len(a.Payer), maxAddressBytes)
	}
	return validateTotal("lane.agents.billed", a.Billed)
}
