package cli

import (
	"fmt"
	"regexp"

	"github.com/spf13/pflag"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// flagBid states what a fire may cost beside its fees under policies auction and score.
const flagBid = "bid"

var wholeNumber = regexp.MustCompile(`^(0|[1-9][0-9]*)$`)

func addPriceFlag(f *pflag.FlagSet) {
	f.String(flagBid, "", "bid for one fire, a whole amount in the fee denom: locked when stated under policy auction, paid at each fire under score")
}

// price is what --bid says, or nil.
func (j *job) price() (*types.Bid, error) {
	text, given := j.stated(flagBid)
	if !given {
		return nil, nil
	}
	for _, other := range []string{flagMaxFee, flagMaxPriority, flagTier} {
		if _, twice := j.stated(other); twice {
			return nil, fmt.Errorf("--%s %.80q is stated beside --%s: want one kind of bid", flagBid, text, other)
		}
	}
	bid := &types.Bid{Price: text}
	if !wholeNumber.MatchString(text) {
		return nil, fmt.Errorf("--%s %.80q is no whole amount such as 5000", flagBid, text)
	}
	if _, err := bid.ForAuction(); err != nil {
		return nil, fmt.Errorf("--%s: %w", flagBid, err)
	}
	return bid, nil
}

// notePolicy says what the policy in force makes of a bid that is stated, where it does not use it.
func (j *job) notePolicy(o *outlook, bid *types.Bid) {
	name := policyName(o.prices.Policy)
	priced := bid.Static != nil || bid.Tier != types.TierUnspecified
	switch policy := o.prices.Policy; {
	case priced && (policy == types.PolicyAuction || policy == types.PolicyScore):
		j.notef("the chain gives places by --%s (policy %s): prices and tiers are kept, and not used as long as that is so", flagBid, name)
	case priced && policy == types.PolicyFIFO:
		j.notef("the chain fires in order of height (policy %s): the bid is kept, and not used as long as that is so", name)
	case bid.Price == "" || policy == types.PolicyAuction || policy == types.PolicyScore:
	case policy == types.PolicyEIP1559:
		j.notef("--%s has no use under policy %s: the chain ignores it, or refuses it once the time for that is over; want --%s and --%s, or --%s",
			flagBid, name, flagMaxFee, flagMaxPriority, flagTier)
	default:
		j.notef("--%s has no use under policy %s: the chain ignores it", flagBid, name)
	}
}

// noteAuction says what is locked, and what it takes to win.
func (j *job) noteAuction(e *types.QueryEstimateResponse, p plan) {
	if e.Policy != types.PolicyAuction {
		return
	}
	unit := clean(e.FeeDenom)
	if stated := p.bid.Stated(); p.bidStated && stated.IsPositive() {
		j.notef("locks %s%s of yours at once; what the fire does not pay of it comes back", stated, unit)
	}
	if e.LeastBid == "" {
		j.notef("no bid would make it fire in the next block: who has waited longest comes first")
		return
	}
	j.notef("a bid of %s%s would make it fire in the next block", clean(e.LeastBid), unit)
}

// auctionRows are the rows that the estimate has under policy auction.
func auctionRows(e *types.QueryEstimateResponse) [][2]string {
	if e.Policy != types.PolicyAuction {
		return nil
	}
	least, pays := "none: who has waited longest comes first", "nothing now: it would wait"
	if e.LeastBid != "" {
		least = clean(e.LeastBid) + clean(e.FeeDenom) + ", to fire in the next block"
	}
	if e.BidPayment != "" {
		pays = clean(e.BidPayment) + clean(e.FeeDenom) + " beside its fees"
	}
	return [][2]string{{"least bid", least}, {"pays of its bid", pays}}
}

// timerBid is a timer's bid in few words, with what is locked for it where that is another sum than it states.
func timerBid(t *types.TimerInfo) string {
	stated := t.Bid.Stated().String()
	switch {
	case t.BidLocked == "" && stated == "0":
		return bidText(t.Bid)
	case t.BidLocked == "":
		return "0/" + stated
	case t.BidLocked == stated:
		return clean(t.BidLocked)
	default:
		return clean(t.BidLocked) + "/" + stated
	}
}
