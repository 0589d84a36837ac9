package auction

import (
	"cmp"
	"math/big"
	"slices"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market"
)

// Rules of policy auction with their parameters. Cycles and cells are charged as under fifo; the payment for the
// place is a sum in addition, taken from the locked bid.
type Rules struct {
	market.FIFO
	// Lambda is λ in this block. Invariant: it is above 0, so that every timer's bias grows.
	Lambda math.LegacyDec
	// FirstPrice selects the payment rule first_price: a fire pays its bid. Otherwise the rule is vcg: it pays the
	// least bid that would have won its place.
	FirstPrice bool
	// Reserve is the least that a fire pays, unless it bids less: RESERVE_PRICE.
	Reserve math.Int
	// Loop computes λ for the next block.
	Loop LambdaLoop
}

var _ market.Rules = Rules{}

// Bias is what n blocks of waiting are worth, in fee denom. aged reports that the bias has reached its largest value,
// which is above every bid.
func (r Rules) Bias(n uint64) (bias math.LegacyDec, aged bool) {
	exponent := r.Lambda.MulInt(math.NewIntFromUint64(n))
	return Exp(exponent), exponent.GTE(math.LegacyNewDec(MaxExponent))
}

// deferred is how many blocks the candidate has been ready: 0 at its due height, and also before it, where queries
// ask.
func deferred(height uint64, c market.Candidate) uint64 {
	if height <= c.Due {
		return 0
	}
	return height - c.Due
}

// Standing is the place of a candidate in the auction: its score, and what decides between equal scores.
type Standing struct {
	// worth is the sum of bid and bias, in units of the 18th decimal. It has up to 185 bits.
	worth *big.Int
	// size is what the candidate reserves of the lane, in cycles, above 0.
	size *big.Int
	// aged candidates come first, the oldest of them first. Their biases no longer differ, so that worth per
	// size would rank them by size and no longer by how long they have waited.
	aged     bool
	due, seq uint64
}

// Standing of a candidate in a block. Exp rounds the bias, but equally for all candidates that have waited as long, so
// that no order among those depends on rounding.
func (r Rules) Standing(height uint64, c market.Candidate) Standing {
	bias, aged := r.Bias(deferred(height, c))
	return standingOf(c, bias, aged)
}

// standingOf is the standing of a candidate whose bias is known.
func standingOf(c market.Candidate, bias math.LegacyDec, aged bool) Standing {
	return Standing{
		worth: bias.Add(math.LegacyNewDecFromInt(c.LockedBid())).BigInt(), size: new(big.Int).SetUint64(c.Size),
		aged: aged, due: c.Due, seq: c.Seq,
	}
}

// Compare is negative if s comes before other: by age if either is aged, then by worth per gas, then by (due, seq).
// Worth per gas is compared by cross products, a ÷ b against c ÷ d as a × d against c × b. Without a division there is
// no rounding.
func (s Standing) Compare(other Standing) int { return s.compare(other, new(big.Int), new(big.Int)) }

// compare does the same, and uses own and others as space for the two products, so that a sort allocates nothing
// for each comparison.
func (s Standing) compare(other Standing, own, others *big.Int) int {
	if s.aged != other.aged {
		if s.aged {
			return -1
		}
		return 1
	}
	if !s.aged {
		if c := others.Mul(other.worth, s.size).Cmp(own.Mul(s.worth, other.size)); c != 0 {
			return c
		}
	}
	return s.compareAge(other)
}

// compareAge is the order among equals, and the whole order among the aged.
func (s Standing) compareAge(other Standing) int {
	return cmp.Or(cmp.Compare(s.due, other.due), cmp.Compare(s.seq, other.seq))
}

// Price implements market.Rules: as under fifo. A spend cap that does not cover the locked bid prices a candidate out, since
// the fire may cost that in addition.
func (Rules) Price(prices market.Prices, candidate market.Candidate) (market.Price, bool) {
	return prices.Price(math.LegacyZeroDec(), math.LegacyZeroDec()), candidate.Ask.SpendCap.Covers(candidate.Locked)
}

// Order implements market.Rules: by standing. Candidates that are priced out are left out. A bias is computed once for each due height,
// since candidates of one height share it. Exp is by far the most expensive step, and a backlog has fewer due heights
// than timers.
func (r Rules) Order(prices market.Prices, candidates []market.Candidate) []int {
	type bias struct {
		value math.LegacyDec
		aged  bool
	}
	standings, order := make([]Standing, len(candidates)), make([]int, 0, len(candidates))
	biases := map[uint64]bias{}
	for i, c := range candidates {
		if !c.Ask.SpendCap.Covers(c.Locked) {
			continue
		}
		known, found := biases[c.Due]
		if !found {
			known.value, known.aged = r.Bias(deferred(prices.Height, c))
			biases[c.Due] = known
		}
		standings[i] = standingOf(c, known.value, known.aged)
		order = append(order, i)
	}
	// One pair of scratch integers serves all comparisons of the sort.
	own, others := new(big.Int), new(big.Int)
	slices.SortFunc(order, func(i, j int) int { return standings[i].compare(standings[j], own, others) })
	return order
}

// LeastBid is the least bid with which c would come before the runner-up in a block. It is false if no bid would do,
// because the runner-up is aged. The quotient is rounded up, since a smaller bid would not pass the runner-up.
func (r Rules) LeastBid(height uint64, c, runnerUp market.Candidate) (math.Int, bool) {
	c.Locked = math.ZeroInt()
	own, other := r.Standing(height, c), r.Standing(height, runnerUp)
	switch {
	// By waiting alone c is first already.
	case own.Compare(other) < 0:
		return math.ZeroInt(), true
	case other.aged:
		return math.Int{}, false
	}
	// bid ≥ worth of the runner-up × own size ÷ its size − own bias, both sides multiplied by its size.
	divisor := new(big.Int).Mul(other.size, decimalOne)
	missing := new(big.Int).Mul(other.worth, own.size)
	missing.Sub(missing, new(big.Int).Mul(own.worth, other.size))
	bid, rest := missing.QuoRem(missing, divisor, new(big.Int))
	// An exact quotient ties with the runner-up, and the tie goes to the older timer.
	if rest.Sign() > 0 || own.compareAge(other) > 0 {
		bid.Add(bid, big.NewInt(1))
	}
	return math.NewIntFromBigInt(bid), true
}

// Payment is what the fire of a winner pays of its bid. The runner-up is the first candidate behind the winner that
// did not fit; nil if there was none. Without a runner-up, or with one that no bid could pass, the price is the
// reserve price. Invariant: the payment is never more than the bid, whatever the reserve price.
func (r Rules) Payment(height uint64, winner market.Candidate, runnerUp *market.Candidate) math.Int {
	bid := winner.LockedBid()
	if r.FirstPrice {
		return bid
	}
	price := r.Reserve
	if runnerUp != nil {
		if least, possible := r.LeastBid(height, winner, *runnerUp); possible {
			price = math.MaxInt(price, least)
		}
	}
	return math.MinInt(price, bid)
}
