package rulesof

import (
	"github.com/cosmos-timers/timers/x/timers/policy/tip"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Tip returns the rules of policy tip, which follow from parameters that it shares with others.
func Tip(c *types.TimerConfig) tip.Rules {
	return tip.Rules{Capacity: c.LaneTimerCycles, Tiers: c.Tiers()}
}

// TipWeights returns the rule of policy tip's weights.
func TipWeights(p *types.TipParams) tip.WeightRule {
	return tip.WeightRule{
		Decay: p.Decay.LegacyDec, Min: p.WeightMin.LegacyDec, Max: p.WeightMax.LegacyDec, Neutral: p.WeightNeutral.LegacyDec, Floor: p.StarvationFloor.LegacyDec,
		Inactivity: p.InactivityDecay.LegacyDec,
		Shares:     tip.Shares{Tip: p.ShareTip.LegacyDec, Outcome: p.ShareOutcome.LegacyDec, Lateness: p.ShareLateness.LegacyDec, Budget: p.ShareBudget.LegacyDec},
		LateBlocks: p.LateBlocks, StarvationBlocks: p.StarvationBlocks,
	}
}
