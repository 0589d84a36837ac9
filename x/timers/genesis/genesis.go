// Package genesis checks the module's genesis state (x/timers/README.md, Genesis).
//
// It checks each record by itself, and what only the whole state shows: that records are in order, that none occurs twice,
// and that those that belong together agree.
package genesis

import (
	"bytes"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Validate checks that a genesis state does not contradict itself. It does not ask whether its timers could be scheduled
// under the config in force: they were, under an earlier one.
func Validate(g *types.GenesisState) error {
	if err := g.Config.Validate(); err != nil {
		return err
	}
	if g.NextConfig != nil {
		if err := g.Config.ValidateChange(g.NextConfig); err != nil {
			return err
		}
	}
	if g.NextSeq == 0 {
		return types.ErrInvalidGenesis.Wrap("next_seq is 0, want at least 1")
	}
	if err := validateLane(&g.Lane); err != nil {
		return err
	}
	for _, validate := range []func(*types.GenesisState) error{
		validateTimers, validateAgents, validateFairness, validateWatches, validateTipMarket, validateReceipts,
	} {
		if err := validate(g); err != nil {
			return err
		}
	}
	return nil
}

// validateFairness checks the fires of the window one by one; what sums them up is derived from them.
func validateFairness(g *types.GenesisState) error {
	for i := range g.Fairness {
		fires := &g.Fairness[i]
		if err := sdk.VerifyAddressFormat(fires.Unit); err != nil {
			return types.ErrInvalidGenesis.Wrapf("fairness %d: unit: %v", i, err)
		}
		if fires.Fires == 0 || fires.Height < g.Lane.Fairness.From {
			return types.ErrInvalidGenesis.Wrapf("fairness %d: %d fires at height %d, want at least 1, at %d or later",
				i, fires.Fires, fires.Height, g.Lane.Fairness.From)
		}
		if i == 0 {
			continue
		}
		if before := &g.Fairness[i-1]; before.Height > fires.Height ||
			before.Height == fires.Height && bytes.Compare(before.Unit, fires.Unit) >= 0 {
			return types.ErrInvalidGenesis.Wrapf("fairness %d: not above the one before in (height, unit)", i)
		}
	}
	return nil
}

// validateAgents checks the default agents, which are in the order of their actors.
func validateAgents(g *types.GenesisState) error {
	for i := range g.Agents {
		a := &g.Agents[i]
		for _, address := range []struct {
			name  string
			bytes []byte
		}{{"actor", a.Actor}, {"agent", a.Agent}} {
			if err := sdk.VerifyAddressFormat(address.bytes); err != nil {
				return types.ErrInvalidGenesis.Wrapf("agents %d: %s: %v", i, address.name, err)
			}
		}
		if i > 0 && bytes.Compare(g.Agents[i-1].Actor, a.Actor) >= 0 {
			return types.ErrInvalidGenesis.Wrapf("agents %d: not above the one before by actor", i)
		}
	}
	return nil
}
