package types

import (
	"cosmossdk.io/math"
)

// DefaultGenesis returns an empty module that charges in the chain's own denom: its keeper knows it
// (keeper.WithFeeDenom, keeper.WithBondDenom).
func DefaultGenesis() *GenesisState { return NewGenesis("") }

// NewGenesis returns an empty module that charges in feeDenom; if that is empty, in the chain's own denom.
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
