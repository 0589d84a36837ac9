package rulesof

import (
	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/policy/auction"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Auction returns the rules of policy auction, after what the block before left; nil means nothing.
func Auction(p *types.AuctionParams, state *types.AuctionState) auction.Rules {
	rules := auction.Rules{
		Lambda: p.LambdaStart.LegacyDec, FirstPrice: p.PaymentRule == types.PaymentFirstPrice, Reserve: p.ReservePrice.Int,
		Loop: auction.LambdaLoop{Min: p.LambdaMin.LegacyDec, Max: p.LambdaMax.LegacyDec, Step: p.LambdaStep.LegacyDec, Window: p.AuctionWindowBlocks},
	}
	if state != nil {
		// The bounds may have been changed since.
		rules.Lambda = math.LegacyMinDec(math.LegacyMaxDec(state.Lambda, p.LambdaMin.LegacyDec), p.LambdaMax.LegacyDec)
	}
	return rules
}
