package genesis

import (
	"bytes"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// validateTipMarket checks the weights of policy tip, and the epochs that they are of.
func validateTipMarket(g *types.GenesisState) error {
	state := &g.Lane.TipMarket
	if err := validateTipState(state); err != nil {
		return err
	}
	for i := range g.TipWeights {
		entry := &g.TipWeights[i]
		if err := sdk.VerifyAddressFormat(entry.Actor); err != nil {
			return types.ErrInvalidGenesis.Wrapf("tip_weights %d: actor: %v", i, err)
		}
		if i > 0 && bytes.Compare(g.TipWeights[i-1].Actor, entry.Actor) >= 0 {
			return types.ErrInvalidGenesis.Wrapf("tip_weights %d: not above the one before by actor", i)
		}
		if err := entry.Weight.Validate(); err != nil {
			return types.ErrInvalidGenesis.Wrapf("tip_weights %d: %v", i, err)
		}
		if state.Oldest == 0 || entry.Weight.Epoch < state.Oldest {
			return types.ErrInvalidGenesis.Wrapf("tip_weights %d: epoch %d is before lane.tip_market.oldest %d", i, entry.Weight.Epoch, state.Oldest)
		}
	}
	return nil
}

// validateTipState checks the epochs: none yet, or both their number and their length.
func validateTipState(s *types.TipState) error {
	if (s.Epoch == 0) != (s.EpochBlocks == 0) || s.EpochBlocks > types.MaxTipBlocks || s.Epoch > types.MaxBlocks {
		return types.ErrInvalidGenesis.Wrapf("lane.tip_market: epoch %d of %d blocks; want both 0, or up to %d and %d",
			s.Epoch, s.EpochBlocks, types.MaxBlocks, types.MaxTipBlocks)
	}
	return nil
}
