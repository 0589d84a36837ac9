package score

import (
	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	rules "github.com/cosmos-timers/timers/x/timers/market/score"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// maxWeight bounds w_age, w_bid and w_fifo.
const maxWeight = 1_000_000

// DefaultParams returns the defaults of policy score: only the ratios of the weights matter. A block of waiting is
// worth a bid of 100 units, about what the cycles of a usual fire cost at the default basefee: a bid of as much again as
// the fire costs is one block ahead, and no timer is ahead for long for little. Rank is off: with it hardly two scores are
// equal, the actor that schedules a thousand timers first fires them all first, and units never alternate.
func DefaultParams() Params {
	return Params{WAge: decimal.Of(math.LegacyOneDec()), WBid: decimal.Of(math.LegacyNewDecWithPrec(1, 2)), WFifo: decimal.Of(math.LegacyZeroDec())}
}

// Defaults implements types.PolicyParams.
func (*Params) Defaults() types.PolicyParams {
	params := DefaultParams()
	return &params
}

// Validate implements types.PolicyParams.
func (p *Params) Validate() error {
	zero, most := math.LegacyZeroDec(), math.LegacyNewDec(maxWeight)
	check := types.CheckFor(types.ErrInvalidConfig)
	check.Dec("score.w_age", p.WAge.LegacyDec, zero, most)
	check.Dec("score.w_bid", p.WBid.LegacyDec, zero, most)
	check.Dec("score.w_fifo", p.WFifo.LegacyDec, zero, most)
	return check.Err()
}

// Same reports whether other weighs as p does. A config of a binary that did not know the weights has none.
func (p *Params) Same(other *Params) bool {
	same := func(a, b math.LegacyDec) bool { return a.IsNil() == b.IsNil() && (a.IsNil() || a.Equal(b)) }
	return same(p.WAge.LegacyDec, other.WAge.LegacyDec) && same(p.WBid.LegacyDec, other.WBid.LegacyDec) && same(p.WFifo.LegacyDec, other.WFifo.LegacyDec)
}

// RulesOf returns the rules with these parameters.
func RulesOf(p *Params) rules.Rules {
	return rules.Rules{Age: p.WAge.LegacyDec, Bid: p.WBid.LegacyDec, Rank: p.WFifo.LegacyDec}
}

// stateIn is what the policy carries.
func stateIn(lane *types.LaneState) State {
	if state := types.MessageOf[State](lane.Policies); state != nil {
		return *state
	}
	return State{}
}

// Validate implements types.PolicyState.
func (s *State) Validate(*types.GenesisState) error {
	if s.Epoch > types.MaxBlocks {
		return types.ErrInvalidGenesis.Wrapf("score.State: epoch is %d, want at most %d", s.Epoch, types.MaxBlocks)
	}
	return nil
}

// MovedBack implements types.PolicyState: it has no heights.
func (s *State) MovedBack(uint64, uint64) types.PolicyState { return s }

// Drawn implements simulation.Drawn: units that alternate among equal scores, or none.
func (p *Params) Drawn(intn func(int) int) types.PolicyParams {
	drawn := DefaultParams()
	drawn.WFifo = decimal.Of(math.LegacyNewDecWithPrec(int64(intn(2)), 1))
	return &drawn
}
