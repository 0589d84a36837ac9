package policy

import (
	"cmp"
	"math/big"
	"slices"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/lane"
)

// Score fires by a weighted sum of age, bid and rank, and by turns where that is equal (SPEC §6):
//
//	score = Age × (height − due) + Bid × bid − Rank × seq
//
// The rank of the source grows with age in the order of creation or renewal. Here it is −seq, which does so without an end to
// count from: only differences matter, and an update, which renews seq, puts a timer behind all others.
//
// Every block adds the same to every score, so that the order of two timers never changes while they wait: Static is the
// part that they differ in.
type Score struct {
	// Age, Bid and Rank are W_AGE, W_BID and W_FIFO. Invariant: none is negative.
	Age, Bid, Rank math.LegacyDec
}

var _ Policy = Score{}

// LaneBasefee implements Policy: like fifo, it has none beside the chain's cycle basefee.
func (Score) LaneBasefee(cycleBasefee math.LegacyDec, _ Last) math.LegacyDec { return cycleBasefee }

// Price implements Policy. The bid is paid at each fire, whatever the fire uses and whether it succeeds: an ask that costs
// nothing would be cheap talk.
func (Score) Price(prices Prices, candidate Candidate) (lane.Price, bool) {
	return lane.Price{
		Basefee: prices.Cycle, Priority: math.LegacyZeroDec(), Cell: prices.Cell, Once: candidate.Ask.Price,
	}, true
}

// Static is the score less Age × height, in units of the 18th decimal: exact, since it is a sum of products of a decimal and
// an integer.
func (s Score) Static(candidate Candidate) *big.Int {
	score := new(big.Int)
	if bid := candidate.Ask.Price; !bid.IsNil() {
		score.Mul(s.Bid.BigIntMut(), bid.BigIntMut())
	}
	part := new(big.Int).SetUint64(candidate.Due)
	score.Sub(score, part.Mul(part, s.Age.BigIntMut()))
	part.SetUint64(candidate.Seq)
	return score.Sub(score, part.Mul(part, s.Rank.BigIntMut()))
}

// Order implements Policy: by score, descending, and by turns among equal ones. The source's priority bucket, an optional
// layer between the two, is left out: nothing is derived from it there.
func (s Score) Order(_ Prices, candidates []Candidate) []int {
	scores := make([]*big.Int, len(candidates))
	order := make([]int, len(candidates))
	for i := range candidates {
		scores[i], order[i] = s.Static(candidates[i]), i
	}
	slices.SortFunc(order, func(i, j int) int { return scores[j].Cmp(scores[i]) })
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

// TakeTurns orders candidates of equal score, given as indices. A unit that fired r times in the fairness window has its turns
// r, r + 1, … in the order of its timers' (due, seq), so that whoever fired least comes first, and none fires twice while
// another that fired as little waits. Equal turns go by due, then by the actor's address. The source ends with the timer's
// id or the order of creation; this is the latter, since an owner can grind the former.
func TakeTurns(candidates []Candidate, equal []int) {
	if len(equal) < 2 {
		return
	}
	slices.SortFunc(equal, func(i, j int) int {
		a, b := &candidates[i], &candidates[j]
		return cmp.Or(cmp.Compare(a.Due, b.Due), cmp.Compare(a.Seq, b.Seq))
	})
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

// Weighs implements Policy: turns follow from the fires of the fairness window.
func (Score) Weighs() bool { return true }

// Indexed implements Policy: Static is the order.
func (Score) Indexed() bool { return true }
