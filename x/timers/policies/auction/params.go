package auction

import (
	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	rules "github.com/cosmos-timers/timers/x/timers/market/auction"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// minLambda and maxLambda bound λ. Below, hardly any timer would live to see its bias count. Above, one block of waiting
// would pass any bid that is honestly made.
var minLambda, maxLambda = math.LegacyNewDecWithPrec(1, 4), math.LegacyNewDec(10)

// DefaultParams returns the defaults of policy auction.
func DefaultParams() Params {
	return Params{
		PaymentRule: PaymentVCG,
		// With any floor it is better to bid nothing than to bid what the fire is worth where no other timer competes,
		// and the fees cover what a fire costs the chain.
		ReservePrice: decimal.IntOf(math.ZeroInt()),
		// A bid of a million units is passed after 330 blocks at the start, 1,650 at the minimum and 33 at the maximum, by
		// timers of a gas limit up to 14 times as large.
		LambdaStart: decimal.Of(math.LegacyNewDecWithPrec(5, 2)),
		LambdaMin:   decimal.Of(math.LegacyNewDecWithPrec(1, 2)),
		LambdaMax:   decimal.Of(math.LegacyNewDecWithPrec(5, 1)),
		// From the start to either bound in some 200 blocks of bidding, so that λ follows the bidders and not one of them.
		LambdaStep:          decimal.Of(math.LegacyNewDecWithPrec(1, 2)),
		AuctionWindowBlocks: 100,
	}
}

// Defaults implements types.PolicyParams.
func (*Params) Defaults() types.PolicyParams {
	params := DefaultParams()
	return &params
}

// Validate implements types.PolicyParams.
func (p *Params) Validate() error {
	check := types.CheckFor(types.ErrInvalidConfig)
	check.Uint("auction.auction_window_blocks", p.AuctionWindowBlocks, 1, types.MaxBlocks)
	check.Dec("auction.lambda_min", p.LambdaMin.LegacyDec, minLambda, maxLambda)
	check.Dec("auction.lambda_max", p.LambdaMax.LegacyDec, minLambda, maxLambda)
	check.Dec("auction.lambda_start", p.LambdaStart.LegacyDec, minLambda, maxLambda)
	check.Dec("auction.lambda_step", p.LambdaStep.LegacyDec, math.LegacyZeroDec(), math.LegacyNewDecWithPrec(5, 1))
	if err := check.Err(); err != nil {
		return err
	}
	if p.LambdaMin.GT(p.LambdaStart.LegacyDec) || p.LambdaStart.GT(p.LambdaMax.LegacyDec) {
		return types.ErrInvalidConfig.Wrapf("auction.lambda_start (%s) must be from auction.lambda_min (%s) to auction.lambda_max (%s)",
			p.LambdaStart, p.LambdaMin, p.LambdaMax)
	}
	if p.PaymentRule != PaymentVCG && p.PaymentRule != PaymentFirstPrice {
		return types.ErrInvalidConfig.Wrapf("auction.payment_rule %d is unknown; want %s or %s",
			int32(p.PaymentRule), PaymentVCG, PaymentFirstPrice)
	}
	if p.ReservePrice.IsNil() || p.ReservePrice.IsNegative() || p.ReservePrice.BigIntMut().BitLen() > types.MaxBidBits {
		return types.ErrInvalidConfig.Wrapf("auction.reserve_price is %s, want 0 to 2^%d - 1", p.ReservePrice, types.MaxBidBits)
	}
	return nil
}

// RulesOf returns the rules with these parameters, after what the block before left; nil means nothing.
func RulesOf(p *Params, state *State) rules.Rules {
	r := rules.Rules{
		Lambda: p.LambdaStart.LegacyDec, FirstPrice: p.PaymentRule == PaymentFirstPrice, Reserve: p.ReservePrice.Int,
		Loop: rules.LambdaLoop{Min: p.LambdaMin.LegacyDec, Max: p.LambdaMax.LegacyDec, Step: p.LambdaStep.LegacyDec, Window: p.AuctionWindowBlocks},
	}
	if state != nil {
		// The bounds may have been changed since.
		r.Lambda = math.LegacyMinDec(math.LegacyMaxDec(state.Lambda, p.LambdaMin.LegacyDec), p.LambdaMax.LegacyDec)
	}
	return r
}

// rulesIn are the rules that a config and the lane's state make.
func rulesIn(config *types.TimerConfig, lane *types.LaneState) rules.Rules {
	return RulesOf(types.ParamsOf[Params](config), stateIn(lane))
}

// stateIn is what the policy carries, nil before its first block.
func stateIn(lane *types.LaneState) *State { return types.MessageOf[State](lane.Policies) }

// maxValueDecay is the largest bias that the rules of the auction give: e to the power of their largest exponent, 128.
var maxValueDecay = math.LegacyMustNewDecFromStr("38877084059945950922226736883574780727281750630829988857.729684183082856273")

// Validate implements types.PolicyState.
func (s *State) Validate(*types.GenesisState) error {
	for _, value := range []struct {
		name  string
		value math.LegacyDec
		most  math.LegacyDec
	}{
		{"lambda", s.Lambda, maxLambda},
		{"value_decay", s.ValueDecay, maxValueDecay},
		{"deferral", s.Deferral, types.MaxPrice()},
	} {
		if value.value.IsNil() || value.value.IsNegative() || value.value.GT(value.most) {
			return types.ErrInvalidGenesis.Wrapf("auction.State: %s is %s, want 0 to %s", value.name, value.value, value.most)
		}
	}
	if s.Blocks > types.MaxBlocks {
		return types.ErrInvalidGenesis.Wrapf("auction.State: blocks is %d, want at most %d", s.Blocks, types.MaxBlocks)
	}
	return nil
}

// MovedBack implements types.PolicyState: it has no heights.
func (s *State) MovedBack(uint64, uint64) types.PolicyState { return s }

// Drawn implements simulation.Drawn: both payment rules, a reserve that some bids miss, and a λ that moves.
func (p *Params) Drawn(intn func(int) int) types.PolicyParams {
	drawn := DefaultParams()
	if intn(3) == 0 {
		drawn.PaymentRule = PaymentFirstPrice
	}
	drawn.ReservePrice = decimal.IntOf(math.NewInt(int64(intn(500))))
	drawn.LambdaMin = decimal.Of(math.LegacyNewDecWithPrec(int64(1+intn(99)), 3))
	drawn.LambdaStart = decimal.Of(drawn.LambdaMin.MulInt64(int64(1 + intn(4))))
	drawn.LambdaMax = decimal.Of(drawn.LambdaStart.MulInt64(int64(1 + intn(9))))
	drawn.LambdaStep = decimal.Of(math.LegacyNewDecWithPrec(int64(intn(50)), 2))
	drawn.AuctionWindowBlocks = uint64(1 + intn(49))
	return &drawn
}
