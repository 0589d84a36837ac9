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

// maxTotalBits bounds the totals since the start of the chain, so that they can't overflow. A block adds less than 2^128:
// prices of at most 2^60, times a multiplier below 2^16, for each of at most 2^50 units of three kinds, and bids below 2^96 of
// at most 2^17 timers. There are at most 2^40 blocks: less than 2^168 is added, of the 2^256 that there is room for.
const maxTotalBits = 192

// CheckTotal checks a sum since the start of the chain, which a genesis states. The error is ErrInvalidGenesis.
func CheckTotal(name string, total math.Int) error {
	if total.IsNil() {
		return ErrInvalidGenesis.Wrapf("%s is missing", name)
	}
	if total.IsNegative() || total.BigIntMut().BitLen() > maxTotalBits {
		return ErrInvalidGenesis.Wrapf("%s is %s, want 0 to 2^%d - 1", name, total, maxTotalBits)
	}
	return nil
}
