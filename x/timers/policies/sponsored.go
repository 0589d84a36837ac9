package policies

import (
	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/policy"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// AskOf is what a timer asks for at the prices of the block. What another account pays for is bounded: its owner could
// agree with a proposer to turn the payer's allowance into tips (x/timers/README.md, "1.11 Fee payer").
func (b *Block) AskOf(t *types.Timer) policy.Ask {
	ask := b.Agents.Ask(t, b.Storm)
	if t.Sponsored() {
		ask = ask.WithTipAtMost(b.sponsoredTip())
	}
	ask.Ceiling = b.CeilingOf(t)
	return ask
}

// sponsoredTip is the most per unit of size that a payer other than the actor tips: TIER_TIP_CAP × the lane basefee.
func (b *Block) sponsoredTip() math.LegacyDec {
	return b.Prices.Lane.MulTruncate(b.Config.TierTipCap.LegacyDec)
}

// SponsoredQuote is the quote under which a timer with stated prices is indexed if another account pays for it: its
// prices with the tip of this block at most. For all other timers it is the agent's quote as it is.
func (b *Block) SponsoredQuote(t *types.Timer, quote *types.AgentQuote) *types.AgentQuote {
	if !t.Sponsored() {
		return quote
	}
	ask, capped := t.Bid.Ask(), types.AgentQuote{MaxFeePerCell: types.MaxPrice()}
	if ask.Kind != policy.Stated {
		if quote == nil || quote.CellPricedOut {
			return quote
		}
		ask, capped = quote.Ask(), *quote
	}
	ask = ask.WithTipAtMost(b.sponsoredTip())
	capped.MaxFeePerCycle, capped.MaxPriorityFeePerCycle = ask.Stated.MaxFee, ask.Stated.MaxPriority
	return &capped
}
