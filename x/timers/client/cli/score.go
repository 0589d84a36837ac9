package cli

import (
	"fmt"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// flagBid states the integer bid, which counts under policy score.
const flagBid = "bid"

const bidUsage = "under policy score: what each fire pays for its place, in whole units of the fee denom, beside what it uses"

// parsePriceBid reads an integer bid.
func parsePriceBid(text string) (*types.Bid, error) {
	bid := &types.Bid{Price: text}
	if text == "" || bid.Validate() != nil {
		return nil, fmt.Errorf("--%s %.80q is no whole number from 0, such as 250", flagBid, text)
	}
	return bid, nil
}

// notePriceBid says what the policy in force makes of a stated bid that it does not use.
func (j *job) notePriceBid(o *outlook, bid *types.Bid) {
	policy := policyName(o.prices.Policy)
	switch {
	case o.prices.Policy == types.PolicyScore:
		if bid.Static != nil || bid.Tier != types.TierUnspecified {
			j.notef("the chain fires by score (policy %s), which knows --%s alone: the bid is kept, and not used as long as that is so",
				policy, flagBid)
		}
	case bid.Price == "":
	case o.market():
		j.notef("--%s has no use under policy %s: the chain ignores it, or refuses it once the time for that is over; want --%s and --%s, or --%s",
			flagBid, policy, flagMaxFee, flagMaxPriority, flagTier)
	default:
		j.notef("--%s has no use under policy %s: the chain ignores it", flagBid, policy)
	}
}
