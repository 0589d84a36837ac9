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

// Validate checks the totals and prices of the lane, and what the auction left.
func (l *LaneState) Validate() error {
	for _, total := range []struct {
		name  string
		value math.Int
	}{{"burned", l.Burned}, {"lane_burned", l.LaneBurned}, {"tips", l.Tips}} {
		if total.value.IsNil() || total.value.IsNegative() {
			return ErrInvalidGenesis.Wrapf("lane.%s is missing or negative", total.name)
		}
	}
	// The lane basefee is absent before the first block.
	for _, price := range []struct {
		name  string
		value *math.LegacyDec
	}{{"lane_basefee", l.LaneBasefee}, {"p50", &l.P50}, {"fairness.smoothed", &l.Fairness.Smoothed}} {
		if price.value == nil {
			continue
		}
		if err := validatePrice(ErrInvalidGenesis, "lane."+price.name, *price.value); err != nil {
			return err
		}
	}
	return l.Auction.validate()
}
