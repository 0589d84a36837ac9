package types

import (
	"bytes"

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
			Burned: math.ZeroInt(), Tips: math.ZeroInt(), P50: math.LegacyZeroDec(),
			Fairness: FairnessState{Smoothed: math.LegacyZeroDec()},
		},
	}
}

// Validate checks that the state does not contradict itself. It does not ask whether timers could be scheduled under the
// config as it is: they were, under the config as it was.
func (g *GenesisState) Validate() error {
	if err := g.Config.Validate(); err != nil {
		return err
	}
	if g.NextConfig != nil {
		if err := g.Config.ValidateChange(g.NextConfig); err != nil {
			return err
		}
	}
	if g.NextSeq == 0 {
		return ErrInvalidGenesis.Wrap("next_seq is 0, want at least 1")
	}
	if err := g.Lane.validate(); err != nil {
		return err
	}
	if err := g.validateTimers(); err != nil {
		return err
	}
	if err := g.validateAgents(); err != nil {
		return err
	}
	if err := g.validateFairness(); err != nil {
		return err
	}
	if err := g.validateWatches(); err != nil {
		return err
	}
	if err := g.validateTipMarket(); err != nil {
		return err
	}
	return g.validateReceipts()
}

func (l *LaneState) validate() error {
	for _, total := range []struct {
		name  string
		value math.Int
	}{{"burned", l.Burned}, {"tips", l.Tips}} {
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

// validateFairness checks the fires of the window one by one; what sums them up is derived from them.
func (g *GenesisState) validateFairness() error {
	for i := range g.Fairness {
		fires := &g.Fairness[i]
		if err := sdk.VerifyAddressFormat(fires.Unit); err != nil {
			return ErrInvalidGenesis.Wrapf("fairness %d: unit: %v", i, err)
		}
		if fires.Fires == 0 || fires.Height < g.Lane.Fairness.From {
			return ErrInvalidGenesis.Wrapf("fairness %d: %d fires at height %d, want at least 1, at %d or later",
				i, fires.Fires, fires.Height, g.Lane.Fairness.From)
		}
		if i == 0 {
			continue
		}
		if before := &g.Fairness[i-1]; before.Height > fires.Height ||
			before.Height == fires.Height && bytes.Compare(before.Unit, fires.Unit) >= 0 {
			return ErrInvalidGenesis.Wrapf("fairness %d: not above the one before in (height, unit)", i)
		}
	}
	return nil
}

func (g *GenesisState) validateTimers() error {
	seqs := make(map[uint64]struct{}, len(g.Timers))
	ids := make(map[string]struct{}, len(g.Timers))
	for i := range g.Timers {
		t := &g.Timers[i]
		if err := t.validate(); err != nil {
			return ErrInvalidGenesis.Wrapf("timer %d: %v", i, err)
		}
		if t.Seq >= g.NextSeq {
			return ErrInvalidGenesis.Wrapf("timer %d: seq %d is not below next_seq %d", i, t.Seq, g.NextSeq)
		}
		if t.SetAside == NotSetAside && t.IsBefore(g.Lane.Head) {
			return ErrInvalidGenesis.Wrapf("timer %d lies before the head of the queue", i)
		}
		if _, twice := seqs[t.Seq]; twice {
			return ErrInvalidGenesis.Wrapf("timer %d: seq %d stands twice", i, t.Seq)
		}
		if _, twice := ids[string(t.Id)]; twice {
			return ErrInvalidGenesis.Wrapf("timer %d: id %x stands twice", i, t.Id)
		}
		seqs[t.Seq], ids[string(t.Id)] = struct{}{}, struct{}{}
	}
	return nil
}

// validateAgents checks the default agents, which are in the order of their actors.
func (g *GenesisState) validateAgents() error {
	for i := range g.Agents {
		a := &g.Agents[i]
		for _, address := range []struct {
			name  string
			bytes []byte
		}{{"actor", a.Actor}, {"agent", a.Agent}} {
			if err := sdk.VerifyAddressFormat(address.bytes); err != nil {
				return ErrInvalidGenesis.Wrapf("agents %d: %s: %v", i, address.name, err)
			}
		}
		if i > 0 && bytes.Compare(g.Agents[i-1].Actor, a.Actor) >= 0 {
			return ErrInvalidGenesis.Wrapf("agents %d: not above the one before by actor", i)
		}
	}
	return nil
}
