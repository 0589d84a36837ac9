package policies

import (
	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// AskOf is what a timer asks for at the prices of the block. What another account pays for is bounded: its owner could
// agree with a proposer to turn the payer's allowance into tips (x/timers/README.md, "1.11 Fee payer").
func (b *Block) AskOf(t *types.Timer) market.Ask { return b.ask(t, b.Storm) }

// IndexedAsk is AskOf under overload: the timer's entry in the ready index is what it asks for, and what its agent answered last.
func (b *Block) IndexedAsk(t *types.Timer) market.Ask { return b.ask(t, true) }

func (b *Block) ask(t *types.Timer, storm bool) market.Ask {
	ask := b.Agents.Ask(t, storm)
	if t.Sponsored() {
		ask = ask.WithTipAtMost(b.sponsoredTip())
	}
	ask.SpendCap = b.SpendCapOf(t)
	return ask
}

// sponsoredTip is the most per unit of size that a payer other than the actor tips: TIER_TIP_CAP × the lane basefee.
func (b *Block) sponsoredTip() math.LegacyDec {
	return b.Prices.Lane.MulTruncate(b.Config.TierTipCap.LegacyDec)
}
