package types

import (
	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/types/bounds"
)

// MaxTipBlocks bounds the numbers of blocks among the parameters of policy tip.
const MaxTipBlocks = uint64(1) << 20

// minTipWeight keeps slices apart from nothing.
var minTipWeight = math.LegacyNewDecWithPrec(1, 3)

// DefaultTipParams returns the defaults of policy tip.
func DefaultTipParams() TipParams {
	return TipParams{
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

func (*TipParams) policy() Policy { return PolicyTip }

// Validate checks every bound, and that the shares of the score are a whole.
func (p *TipParams) Validate() error {
	check := bounds.Of(ErrInvalidConfig)
	check.Uint("tip.epoch_blocks", p.EpochBlocks, 1, MaxTipBlocks)
	check.Uint("tip.starvation_blocks", p.StarvationBlocks, 1, MaxTipBlocks)
	check.Uint("tip.late_blocks", p.LateBlocks, 1, MaxTipBlocks)
	zero, one := math.LegacyZeroDec(), math.LegacyOneDec()
	check.Dec("tip.decay", p.Decay.LegacyDec, zero, one)
	check.Dec("tip.inactivity_decay", p.InactivityDecay.LegacyDec, zero, one)
	check.Dec("tip.weight_max", p.WeightMax.LegacyDec, minTipWeight, one)
	check.Dec("tip.weight_min", p.WeightMin.LegacyDec, minTipWeight, p.WeightMax.LegacyDec)
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
		return ErrInvalidConfig.Wrapf("tip.share_tip, _outcome, _lateness and _budget sum to %s, want 1", sum)
	}
	return nil
}

func (*TipParams) validateSelected(*TimerConfig) error { return nil }

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
	case w.Fires > MaxUnits || w.Unfunded > MaxUnits:
		return ErrInvalidGenesis.Wrapf("%d fires and %d unfunded, want at most %d of each", w.Fires, w.Unfunded, MaxUnits)
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
