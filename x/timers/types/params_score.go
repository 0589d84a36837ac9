package types

import (
	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/types/bounds"
)

// maxScoreWeight bounds w_age, w_bid and w_fifo.
const maxScoreWeight = 1_000_000

// DefaultScoreParams returns the defaults of policy score: only the ratios of the weights matter. A block of waiting is
// worth a bid of 100 units, about what the cycles of a usual fire cost at the default basefee: a bid of as much again as
// the fire costs is one block ahead, and no timer is ahead for long for little. Rank is off: with it hardly two scores are
// equal, the actor that schedules a thousand timers first fires them all first, and turns never come.
func DefaultScoreParams() ScoreParams {
	return ScoreParams{WAge: decimal.Of(math.LegacyOneDec()), WBid: decimal.Of(math.LegacyNewDecWithPrec(1, 2)), WFifo: decimal.Of(math.LegacyZeroDec())}
}

func (*ScoreParams) policy() Policy { return PolicyScore }

// Validate checks every bound.
func (p *ScoreParams) Validate() error {
	zero, most := math.LegacyZeroDec(), math.LegacyNewDec(maxScoreWeight)
	check := bounds.Of(ErrInvalidConfig)
	check.Dec("score.w_age", p.WAge.LegacyDec, zero, most)
	check.Dec("score.w_bid", p.WBid.LegacyDec, zero, most)
	check.Dec("score.w_fifo", p.WFifo.LegacyDec, zero, most)
	return check.Err()
}

func (*ScoreParams) validateSelected(*TimerConfig) error { return nil }

// Same reports whether other weighs as p does. A config of a binary that did not know the weights has none.
func (p *ScoreParams) Same(other *ScoreParams) bool {
	same := func(a, b math.LegacyDec) bool { return a.IsNil() == b.IsNil() && (a.IsNil() || a.Equal(b)) }
	return same(p.WAge.LegacyDec, other.WAge.LegacyDec) && same(p.WBid.LegacyDec, other.WBid.LegacyDec) && same(p.WFifo.LegacyDec, other.WFifo.LegacyDec)
}
