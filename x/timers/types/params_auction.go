package types

import (
	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/types/bounds"
)

// minLambda and maxLambda bound λ. Below, hardly any timer would live to see its bias count. Above, one block of waiting
// would pass any bid that is honestly made.
var minLambda, maxLambda = math.LegacyNewDecWithPrec(1, 4), math.LegacyNewDec(10)

// DefaultAuctionParams returns the defaults of policy auction.
func DefaultAuctionParams() AuctionParams {
	return AuctionParams{
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

func (*AuctionParams) policy() Policy { return PolicyAuction }

// Validate checks every bound.
func (p *AuctionParams) Validate() error {
	check := bounds.Of(ErrInvalidConfig)
	check.Uint("auction.auction_window_blocks", p.AuctionWindowBlocks, 1, MaxBlocks)
	check.Dec("auction.lambda_min", p.LambdaMin.LegacyDec, minLambda, maxLambda)
	check.Dec("auction.lambda_max", p.LambdaMax.LegacyDec, minLambda, maxLambda)
	check.Dec("auction.lambda_start", p.LambdaStart.LegacyDec, minLambda, maxLambda)
	check.Dec("auction.lambda_step", p.LambdaStep.LegacyDec, math.LegacyZeroDec(), math.LegacyNewDecWithPrec(5, 1))
	if err := check.Err(); err != nil {
		return err
	}
	if p.LambdaMin.GT(p.LambdaStart.LegacyDec) || p.LambdaStart.GT(p.LambdaMax.LegacyDec) {
		return ErrInvalidConfig.Wrapf("auction.lambda_start (%s) must be from auction.lambda_min (%s) to auction.lambda_max (%s)",
			p.LambdaStart, p.LambdaMin, p.LambdaMax)
	}
	if p.PaymentRule != PaymentVCG && p.PaymentRule != PaymentFirstPrice {
		return ErrInvalidConfig.Wrapf("auction.payment_rule %d is unknown; want %s or %s",
			int32(p.PaymentRule), PaymentVCG, PaymentFirstPrice)
	}
	if p.ReservePrice.IsNil() || p.ReservePrice.IsNegative() || p.ReservePrice.BigIntMut().BitLen() > MaxBidBits {
		return ErrInvalidConfig.Wrapf("auction.reserve_price is %s, want 0 to 2^%d - 1", p.ReservePrice, MaxBidBits)
	}
	return nil
}

func (*AuctionParams) validateSelected(*TimerConfig) error { return nil }

// maxValueDecay is the largest bias that the rules of the auction give: e to the power of their largest exponent, 128.
var maxValueDecay = math.LegacyMustNewDecFromStr("38877084059945950922226736883574780727281750630829988857.729684183082856273")

// Validate checks the state of the auction; absent is valid.
func (s *AuctionState) Validate() error {
	if s == nil {
		return nil
	}
	for _, value := range []struct {
		name  string
		value math.LegacyDec
		most  math.LegacyDec
	}{
		{"lambda", s.Lambda, maxLambda},
		{"value_decay", s.ValueDecay, maxValueDecay},
		{"deferral", s.Deferral, maxPrice},
	} {
		if value.value.IsNil() || value.value.IsNegative() || value.value.GT(value.most) {
			return ErrInvalidGenesis.Wrapf("lane.auction.%s is %s, want 0 to %s", value.name, value.value, value.most)
		}
	}
	if s.Blocks > MaxBlocks {
		return ErrInvalidGenesis.Wrapf("lane.auction.blocks is %d, want at most %d", s.Blocks, MaxBlocks)
	}
	return nil
}
