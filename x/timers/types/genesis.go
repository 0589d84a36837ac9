package types

import (
	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
)

// DefaultGenesis returns an empty module that charges in the chain's bond denom.
func DefaultGenesis() *GenesisState { return NewGenesis(sdk.DefaultBondDenom) }

// NewGenesis returns an empty module that charges in feeDenom.
func NewGenesis(feeDenom string) *GenesisState {
	return &GenesisState{
		Config: DefaultTimerConfig(feeDenom),
		// From 1, so that no number that anyone sees is zero.
		NextSeq: 1,
		Lane: LaneState{
			Burned: math.ZeroInt(), LaneBurned: math.ZeroInt(), Tips: math.ZeroInt(), P50: math.LegacyZeroDec(),
			Fairness: FairnessState{Smoothed: math.LegacyZeroDec()},
		},
	}
}

// validate checks the sum of the bills for agents' calls, and the payer whose turn it is.
func (a *AgentBooks) validate() error {
	switch {
	case a == nil:
		return nil
	case a.Billed.IsNil() || a.Billed.IsNegative():
		return ErrInvalidGenesis.Wrap("lane.agents.billed is missing or negative")
	case len(a.Payer) > maxAddressBytes:
		return ErrInvalidGenesis.Wrapf("lane.agents.payer has %d bytes, want at most %d", len(a.Payer), maxAddressBytes)
	}
	return nil
}

// maxAddressBytes bounds an address as the SDK does.
const maxAddressBytes = 255

// Validate checks the totals and prices of the lane, and what agents and the auction left.
func (l *LaneState) Validate() error {
	for _, total := range []struct {
		name  string
		value math.Int
	}{{"burned", l.Burned}, {"lane_burned", l.LaneBurned}, {"tips", l.Tips}} {
		if total.value.IsNil() || total.value.IsNegative() {
			return ErrInvalidGenesis.Wrapf("lane.%s is missing or negative", total.name)
		}
	}
	// The lane basefee is absent before the first block, the other two without a fee market.
	for _, price := range []struct {
		name  string
		value *math.LegacyDec
	}{
		{"lane_basefee", l.LaneBasefee}, {"cycle_basefee", l.CycleBasefee}, {"cell_basefee", l.CellBasefee},
		{"p50", &l.P50}, {"fairness.smoothed", &l.Fairness.Smoothed},
	} {
		if price.value == nil {
			continue
		}
		if err := validatePrice(ErrInvalidGenesis, "lane."+price.name, *price.value); err != nil {
			return err
		}
	}
	if err := l.Agents.validate(); err != nil {
		return err
	}
	return l.Auction.validate()
}
