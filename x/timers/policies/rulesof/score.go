package rulesof

import (
	"github.com/cosmos-timers/timers/x/timers/policy/score"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Score returns the rules of policy score.
func Score(p *types.ScoreParams) score.Rules {
	return score.Rules{Age: p.WAge.LegacyDec, Bid: p.WBid.LegacyDec, Rank: p.WFifo.LegacyDec}
}
