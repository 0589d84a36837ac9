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
func (a *AgentBooks) Validate() error {
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
