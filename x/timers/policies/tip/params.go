package tip

import (
	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	rules "github.com/cosmos-timers/timers/x/timers/market/tip"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// maxBlocks bounds the numbers of blocks among the parameters of policy tip.
const maxBlocks = uint64(1) << 20

// minWeight keeps slices apart from nothing.
var minWeight = math.LegacyNewDecWithPrec(1, 3)

// DefaultParams returns the defaults of policy tip.
func DefaultParams() Params {
	return Params{
		// Some minutes: long enough for a score to say something, short enough for it to be of use.
		EpochBlocks: 100,
		// Half of the way to the score takes about three epochs.
		Decay: decimal.Of(math.LegacyNewDecWithPrec(2, 1)),
		// Slices are in proportion to the weights: the slice of one actor is at most ten times that of another.
		WeightMin: decimal.Of(math.LegacyNewDecWithPrec(1, 1)), WeightMax: decimal.Of(math.LegacyOneDec()),
		// Between the bounds, slightly below what ordinary fires score: a new address ranks below an actor that stays.
		WeightNeutral: decimal.Of(math.LegacyNewDecWithPrec(5, 1)),
		// Above what ordinary fires score, so that waiting helps; below the best.
		StarvationFloor:  decimal.Of(math.LegacyNewDecWithPrec(75, 2)),
		StarvationBlocks: 20,
		// Half of the way back takes about three epochs, as decay does.
		InactivityDecay: decimal.Of(math.LegacyNewDecWithPrec(2, 1)),
		// Paying and succeeding count most; lateness and thrift less.
		ShareTip: decimal.Of(math.LegacyNewDecWithPrec(4, 1)), ShareOutcome: decimal.Of(math.LegacyNewDecWithPrec(3, 1)),
		ShareLateness: decimal.Of(math.LegacyNewDecWithPrec(1, 1)), ShareBudget: decimal.Of(math.LegacyNewDecWithPrec(2, 1)),
		LateBlocks: 100,
	}
}

// Defaults implements types.PolicyParams.
func (*Params) Defaults() types.PolicyParams {
	params := DefaultParams()
	return &params
}

// Validate implements types.PolicyParams. It also checks that the shares of the score are a whole.
func (p *Params) Validate() error {
	check := types.CheckFor(types.ErrInvalidConfig)
	check.Uint("tip.epoch_blocks", p.EpochBlocks, 1, maxBlocks)
	check.Uint("tip.starvation_blocks", p.StarvationBlocks, 1, maxBlocks)
	check.Uint("tip.late_blocks", p.LateBlocks, 1, maxBlocks)
	zero, one := math.LegacyZeroDec(), math.LegacyOneDec()
	check.Dec("tip.decay", p.Decay.LegacyDec, zero, one)
	check.Dec("tip.inactivity_decay", p.InactivityDecay.LegacyDec, zero, one)
	check.Dec("tip.weight_max", p.WeightMax.LegacyDec, minWeight, one)
	check.Dec("tip.weight_min", p.WeightMin.LegacyDec, minWeight, p.WeightMax.LegacyDec)
	check.Dec("tip.weight_neutral", p.WeightNeutral.LegacyDec, p.WeightMin.LegacyDec, p.WeightMax.LegacyDec)
	check.Dec("tip.starvation_floor", p.StarvationFloor.LegacyDec, p.WeightMin.LegacyDec, p.WeightMax.LegacyDec)
	check.Dec("tip.share_tip", p.ShareTip.LegacyDec, zero, one)
	check.Dec("tip.share_outcome", p.ShareOutcome.LegacyDec, zero, one)
	check.Dec("tip.share_lateness", p.ShareLateness.LegacyDec, zero, one)
	check.Dec("tip.share_budget", p.ShareBudget.LegacyDec, zero, one)
	if err := check.Err(); err != nil {
		return err
	}
	if sum := p.ShareTip.Add(p.ShareOutcome.LegacyDec).Add(p.ShareLateness.LegacyDec).Add(p.ShareBudget.LegacyDec); !sum.Equal(one) {
		return types.ErrInvalidConfig.Wrapf("tip.share_tip, _outcome, _lateness and _budget sum to %s, want 1", sum)
	}
	return nil
}

// RulesOf returns the rules, which follow from parameters that the policy shares with others.
func RulesOf(c *types.TimerConfig) rules.Rules {
	return rules.Rules{Tiers: c.Tiers()}
}

// WeightsOf returns the rule of the weights with these parameters.
func WeightsOf(p *Params) rules.WeightRule {
	return rules.WeightRule{
		Decay: p.Decay.LegacyDec, Min: p.WeightMin.LegacyDec, Max: p.WeightMax.LegacyDec, Neutral: p.WeightNeutral.LegacyDec, Floor: p.StarvationFloor.LegacyDec,
		Inactivity: p.InactivityDecay.LegacyDec,
		Shares:     rules.Shares{Tip: p.ShareTip.LegacyDec, Outcome: p.ShareOutcome.LegacyDec, Lateness: p.ShareLateness.LegacyDec, Budget: p.ShareBudget.LegacyDec},
		LateBlocks: p.LateBlocks, StarvationBlocks: p.StarvationBlocks,
	}
}

// Drawn implements simulation.Drawn: epochs and starvations within a few blocks.
func (p *Params) Drawn(intn func(int) int) types.PolicyParams {
	drawn := DefaultParams()
	drawn.EpochBlocks, drawn.StarvationBlocks = uint64(1+intn(7)), uint64(1+intn(7))
	return &drawn
}
