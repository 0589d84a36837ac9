package score

import (
	"cmp"
	"math/big"
	"slices"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market"
)

// Rules of policy score with their parameters.
type Rules struct {
	// Age is W_AGE, in score per block of waiting. Bid is W_BID, in score per unit of the fee denom. Rank is W_FIFO, in
	// score per timer scheduled earlier. Only their ratios matter for the order. Invariant: none is negative, and none
	// is above a million, so that every score has a key.
	Age, Bid, Rank math.LegacyDec
}

var _ market.Rules = Rules{}

// LaneBasefee implements market.Rules. As under fifo, the lane has no basefee of its own: the chain's is reported, and
// is not charged in addition.
func (Rules) LaneBasefee(cycleBasefee math.LegacyDec, _ market.Last) math.LegacyDec {
	return cycleBasefee
}

// Price implements market.Rules. The bid is paid at each fire, whatever the fire uses and whether it succeeds. If bids
// were free, every owner would state the largest one. Only a spend cap prices a candidate out.
func (Rules) Price(prices market.Prices, candidate market.Candidate) (market.Price, bool) {
	price := prices.Price(math.LegacyZeroDec(), math.LegacyZeroDec())
	price.LumpSum = candidate.Ask.Price
	return price, candidate.Ask.SpendCap.Covers(candidate.Ask.Price)
}

// TimelessScore is the score less Age × height, in units of the 18th decimal. It is exact, since it is a sum of
// products of a decimal and an integer. Big integers are used because W_BID × bid has up to 176 bits.
func (r Rules) TimelessScore(candidate market.Candidate) *big.Int {
	score := new(big.Int)
	if bid := candidate.Ask.Price; !bid.IsNil() {
		score.Mul(r.Bid.BigIntMut(), bid.BigIntMut())
	}
	part := new(big.Int).SetUint64(candidate.Due)
	score.Sub(score, part.Mul(part, r.Age.BigIntMut()))
	part.SetUint64(candidate.Seq)
	return score.Sub(score, part.Mul(part, r.Rank.BigIntMut()))
}

// Order implements market.Rules: by score, descending, and by turns among equal scores. Candidates that are priced out are
// left out.
// The first sort need not be stable, since TakeTurns gives the timers of each score an order of their own.
func (r Rules) Order(_ market.Prices, candidates []market.Candidate) []int {
	scores := make([]*big.Int, len(candidates))
	order := make([]int, 0, len(candidates))
	for i := range candidates {
		if c := &candidates[i]; c.Ask.SpendCap.Covers(c.Ask.Price) {
			scores[i] = r.TimelessScore(candidates[i])
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(i, j int) int { return scores[j].Cmp(scores[i]) })
	// Each round is one run of equal scores: order[from:to].
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && scores[order[to]].Cmp(scores[order[from]]) == 0 {
			to++
		}
		TakeTurns(candidates, order[from:to])
		from = to
	}
	return order
}

// TakeTurns orders candidates of equal score, given as indices, in place. A unit that fired r times in the fairness
// window has its turns r, r + 1, … in the order of its timers' (due, seq). So the unit with the fewest fires is
// first, and no unit fires twice while another with as few fires waits.
//
// Equal turns go by due, then by the actor's address, then by seq. Timer ids are not used, since an owner can search
// for an id that sorts first. The cost is that of two sorts.
func TakeTurns(candidates []market.Candidate, equal []int) {
	if len(equal) < 2 {
		return
	}
	slices.SortFunc(equal, func(i, j int) int {
		a, b := &candidates[i], &candidates[j]
		return cmp.Or(cmp.Compare(a.Due, b.Due), cmp.Compare(a.Seq, b.Seq))
	})
	// A turn is a number of fires: those that the unit had before, and those of its timers that precede this one.
	type place struct {
		turn      uint64
		candidate int
	}
	taken := make(map[string]uint64, len(equal))
	places := make([]place, len(equal))
	for n, i := range equal {
		c := &candidates[i]
		places[n] = place{c.Recent + taken[c.Unit], i}
		taken[c.Unit]++
	}
	slices.SortFunc(places, func(p, q place) int {
		a, b := &candidates[p.candidate], &candidates[q.candidate]
		return cmp.Or(
			cmp.Compare(p.turn, q.turn), cmp.Compare(a.Due, b.Due), cmp.Compare(a.Actor, b.Actor), cmp.Compare(a.Seq, b.Seq),
		)
	})
	for n := range places {
		equal[n] = places[n].candidate
	}
}
