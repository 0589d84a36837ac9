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
