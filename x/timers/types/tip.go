package types

import (
	"bytes"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/policy/tip"
)

// This file holds what policy tip adds to the config and to state (SPEC §6).

// defaultTip sets the defaults of policy tip; the comments give the reason for each that the spec leaves open.
func (c *TimerConfig) defaultTip() {
	// Some minutes: long enough for a score to say something, short enough for it to be of use.
	c.TipEpochBlocks = 100
	// What the source suggests.
	c.TipDecay = math.LegacyNewDecWithPrec(2, 1)
	// Slices go by the weight: ten to one is the most that one actor has before another.
	c.TipWeightMin, c.TipWeightMax = math.LegacyNewDecWithPrec(1, 1), math.LegacyOneDec()
	// Between the bounds, a little below what ordinary fires score: who comes and goes stands behind who stays and pays.
	c.TipWeightNeutral = math.LegacyNewDecWithPrec(5, 1)
	// Above what ordinary fires score, so that waiting helps; below the best.
	c.TipStarvationFloor = math.LegacyNewDecWithPrec(75, 2)
	c.TipStarvationBlocks = 20
	// Half of the way back takes about three epochs, as λ does.
	c.TipInactivityDecay = math.LegacyNewDecWithPrec(2, 1)
	// Paying and doing what was booked come first; waiting and thrift tip the scales.
	c.TipShareTip, c.TipShareOutcome = math.LegacyNewDecWithPrec(4, 1), math.LegacyNewDecWithPrec(3, 1)
	c.TipShareLateness, c.TipShareBudget = math.LegacyNewDecWithPrec(1, 1), math.LegacyNewDecWithPrec(2, 1)
	c.TipLateBlocks = 100
}

// Bounds of the parameters of policy tip.
const maxTipBlocks = uint64(1) << 20

// minTipWeight keeps slices apart from nothing.
var minTipWeight = math.LegacyNewDecWithPrec(1, 3)

// validateTip checks the parameters of policy tip.
func (c *TimerConfig) validateTip(bool) error {
	for _, b := range []struct {
		name  string
		value uint64
	}{
		{"tip_epoch_blocks", c.TipEpochBlocks},
		{"tip_starvation_blocks", c.TipStarvationBlocks},
		{"tip_late_blocks", c.TipLateBlocks},
	} {
		if b.value < 1 || b.value > maxTipBlocks {
			return ErrInvalidConfig.Wrapf("%s is %d, want 1 to %d", b.name, b.value, maxTipBlocks)
		}
	}
	zero, one := math.LegacyZeroDec(), math.LegacyOneDec()
	sum := zero
	for _, b := range []struct {
		decimalBounds
		share bool
	}{
		{decimalBounds{"tip_decay", c.TipDecay, zero, one}, false},
		{decimalBounds{"tip_inactivity_decay", c.TipInactivityDecay, zero, one}, false},
		{decimalBounds{"tip_weight_max", c.TipWeightMax, minTipWeight, one}, false},
		{decimalBounds{"tip_weight_min", c.TipWeightMin, minTipWeight, c.TipWeightMax}, false},
		{decimalBounds{"tip_weight_neutral", c.TipWeightNeutral, c.TipWeightMin, c.TipWeightMax}, false},
		{decimalBounds{"tip_starvation_floor", c.TipStarvationFloor, c.TipWeightMin, c.TipWeightMax}, false},
		{decimalBounds{"tip_share_tip", c.TipShareTip, zero, one}, true},
		{decimalBounds{"tip_share_outcome", c.TipShareOutcome, zero, one}, true},
		{decimalBounds{"tip_share_lateness", c.TipShareLateness, zero, one}, true},
		{decimalBounds{"tip_share_budget", c.TipShareBudget, zero, one}, true},
	} {
		if b.value.IsNil() {
			return ErrInvalidConfig.Wrapf("%s is missing", b.name)
		}
		if b.value.LT(b.min) || b.value.GT(b.max) {
			return ErrInvalidConfig.Wrapf("%s is %s, want %s to %s", b.name, b.value, b.min, b.max)
		}
		if b.share {
			sum = sum.Add(b.value)
		}
	}
	if !sum.Equal(one) {
		return ErrInvalidConfig.Wrapf("tip_share_tip, _outcome, _lateness and _budget sum up to %s, want 1", sum)
	}
	return nil
}

// Tip is the policy of that name with the parameters of c.
func (c *TimerConfig) Tip() tip.Rules {
	return tip.Rules{Capacity: c.LaneTimerCycles, Tiers: c.tiers()}
}

// WeightRule is the rule of its weights.
func (c *TimerConfig) WeightRule() tip.WeightRule {
	return tip.WeightRule{
		Decay: c.TipDecay, Min: c.TipWeightMin, Max: c.TipWeightMax, Neutral: c.TipWeightNeutral, Floor: c.TipStarvationFloor,
		Inactivity: c.TipInactivityDecay,
		Shares: tip.Shares{
			Tip: c.TipShareTip, Outcome: c.TipShareOutcome, Lateness: c.TipShareLateness, Budget: c.TipShareBudget,
		},
		LateBlocks: c.TipLateBlocks, StarvationBlocks: c.TipStarvationBlocks,
	}
}

// EpochAt is the epoch of a height, not before the start of the state's; 0 if the policy was never in force.
func (s *TipState) EpochAt(height uint64) uint64 {
	if s.EpochBlocks == 0 {
		return 0
	}
	return s.Epoch + (height-s.Start)/s.EpochBlocks
}

// EndOf is the last height of the epoch of a height.
func (s *TipState) EndOf(height uint64) uint64 {
	return s.Start + ((height-s.Start)/s.EpochBlocks+1)*s.EpochBlocks - 1
}

// Follow has epochs go on with another length, if it is another: from the height on, in a new epoch, so that what was
// counted with the old length stands.
func (s *TipState) Follow(epochBlocks, height uint64) {
	if s.EpochBlocks == epochBlocks {
		return
	}
	s.Epoch, s.Start, s.EpochBlocks = s.EpochAt(max(height, s.Start+1)-1)+1, height, epochBlocks
}

// Stats are what the record says of its epoch.
func (w *TipWeight) Stats() tip.EpochStats {
	return tip.EpochStats{
		Fires: w.Fires, Blocks: w.Blocks, Unfunded: w.Unfunded,
		Tip: w.Tip, Outcome: w.Outcome, Lateness: w.Lateness, Use: w.Use, Starved: w.Starved,
	}
}

// SetStats has the record say this of its epoch.
func (w *TipWeight) SetStats(o tip.EpochStats) {
	w.Fires, w.Blocks, w.Unfunded = o.Fires, o.Blocks, o.Unfunded
	w.Tip, w.Outcome, w.Lateness, w.Use, w.Starved = o.Tip, o.Outcome, o.Lateness, o.Use, o.Starved
}

// History is the record as the rule of weights reads it.
func (w *TipWeight) History() tip.History {
	return tip.History{Weight: w.Weight, Epoch: w.Epoch, Stats: w.Stats()}
}

// Validate checks a record by itself: a weight within what any config allows, and sums within what they sum up.
func (w *TipWeight) Validate() error {
	for _, b := range []struct {
		name  string
		value math.LegacyDec
		most  uint64
	}{
		{"weight", w.Weight, 1},
		{"tip", w.Tip, w.Fires},
		{"outcome", w.Outcome, w.Fires},
		{"lateness", w.Lateness, w.Fires},
		{"use", w.Use, w.Blocks},
	} {
		if b.value.IsNil() {
			return ErrInvalidGenesis.Wrapf("%s is missing", b.name)
		}
		if most := math.LegacyNewDecFromInt(math.NewIntFromUint64(b.most)); b.value.IsNegative() || b.value.GT(most) {
			return ErrInvalidGenesis.Wrapf("%s is %s, want 0 to %s", b.name, b.value, most)
		}
	}
	switch {
	case w.Fires > maxUnits || w.Unfunded > maxUnits:
		return ErrInvalidGenesis.Wrapf("%d fires and %d unfunded, want at most %d of each", w.Fires, w.Unfunded, maxUnits)
	case w.Blocks > w.Fires || w.Fires > 0 && w.Blocks == 0:
		return ErrInvalidGenesis.Wrapf("%d blocks with %d fires", w.Blocks, w.Fires)
	case w.Fires == 0 && w.Unfunded == 0:
		return ErrInvalidGenesis.Wrap("nothing to score: no fires, none unfunded")
	case w.Fires > 0 && w.LastFire == 0:
		return ErrInvalidGenesis.Wrapf("last_fire is 0 after %d fires", w.Fires)
	case w.Epoch == 0:
		return ErrInvalidGenesis.Wrap("epoch is 0, want at least 1")
	}
	return nil
}

// validateTipMarket checks the weights of policy tip, and the epochs that they are of.
func (g *GenesisState) validateTipMarket() error {
	state := &g.Lane.TipMarket
	if (state.Epoch == 0) != (state.EpochBlocks == 0) || state.EpochBlocks > maxTipBlocks || state.Epoch > maxBlocks {
		return ErrInvalidGenesis.Wrapf("lane.tip_market: epoch %d of %d blocks; want both 0, or up to %d and %d",
			state.Epoch, state.EpochBlocks, maxBlocks, maxTipBlocks)
	}
	for i := range g.TipWeights {
		entry := &g.TipWeights[i]
		if err := sdk.VerifyAddressFormat(entry.Actor); err != nil {
			return ErrInvalidGenesis.Wrapf("tip_weights %d: actor: %v", i, err)
		}
		if i > 0 && bytes.Compare(g.TipWeights[i-1].Actor, entry.Actor) >= 0 {
			return ErrInvalidGenesis.Wrapf("tip_weights %d: not above the one before by actor", i)
		}
		if err := entry.Weight.Validate(); err != nil {
			return ErrInvalidGenesis.Wrapf("tip_weights %d: %v", i, err)
		}
		if state.Oldest == 0 || entry.Weight.Epoch < state.Oldest {
			return ErrInvalidGenesis.Wrapf("tip_weights %d: epoch %d lies before lane.tip_market.oldest %d", i, entry.Weight.Epoch, state.Oldest)
		}
	}
	return nil
}
