package policy

import (
	"cmp"
	"math/big"
	"slices"

	"cosmossdk.io/math"
)

// Auction fires by what a timer bids and how long it has waited, per unit of gas: (bid + e^(λ × n)) ÷ gas limit, n being
// the blocks since it became due (SPEC §6). Who waits is sure to pass any bid in the end. Cycles and cells are charged as
// under fifo; the bid is a sum beside them.
type Auction struct {
	FIFO
	// Lambda is λ in this block.
	Lambda math.LegacyDec
	// FirstPrice: a fire pays its bid. Otherwise it pays what it would have had to bid.
	FirstPrice bool
	// Reserve is RESERVE_PRICE: the least that a fire pays that bids as much.
	Reserve math.Int
	Loop    LambdaLoop
}

var _ Policy = Auction{}

// Bias is what waiting n blocks is worth, in fee denom. Aged tells that it grows no more: that much no bid comes to.
func (a Auction) Bias(n uint64) (bias math.LegacyDec, aged bool) {
	exponent := a.Lambda.MulInt(math.NewIntFromUint64(n))
	return Exp(exponent), exponent.GTE(math.LegacyNewDec(MaxExponent))
}

// deferred is for how many blocks the candidate has been ready.
func deferred(height uint64, c Candidate) uint64 {
	if height <= c.Due {
		return 0
	}
	return height - c.Due
}

// Standing is the place of a candidate in the auction: its score, and what decides between equal ones.
type Standing struct {
	// worth is bid and bias together, in units of the 18th decimal.
	worth *big.Int
	gas   *big.Int
	// aged candidates come first, the oldest of them first: age alone decides where bias grows no more.
	aged     bool
	due, seq uint64
}

// Standing of a candidate in a block.
func (a Auction) Standing(height uint64, c Candidate) Standing {
	bias, aged := a.Bias(deferred(height, c))
	return standingOf(c, bias, aged)
}

func standingOf(c Candidate, bias math.LegacyDec, aged bool) Standing {
	return Standing{
		worth: bias.Add(math.LegacyNewDecFromInt(c.bid())).BigInt(), gas: new(big.Int).SetUint64(c.GasLimit),
		aged: aged, due: c.Due, seq: c.Seq,
	}
}

// Compare is negative if s comes before other: by age if either is aged, then by worth per gas, which cross products
// compare without rounding, then by (due, seq).
func (s Standing) Compare(other Standing) int { return s.compare(other, new(big.Int), new(big.Int)) }

// compare does so with room for the two products.
func (s Standing) compare(other Standing, own, others *big.Int) int {
	if s.aged != other.aged {
		if s.aged {
			return -1
		}
		return 1
	}
	if !s.aged {
		if c := others.Mul(other.worth, s.gas).Cmp(own.Mul(s.worth, other.gas)); c != 0 {
			return c
		}
	}
	return s.compareAge(other)
}

func (s Standing) compareAge(other Standing) int {
	return cmp.Or(cmp.Compare(s.due, other.due), cmp.Compare(s.seq, other.seq))
}

// Order implements Policy.
func (a Auction) Order(prices Prices, candidates []Candidate) []int {
	type bias struct {
		value math.LegacyDec
		aged  bool
	}
	standings, order := make([]Standing, len(candidates)), make([]int, len(candidates))
	biases := map[uint64]bias{}
	for i, c := range candidates {
		known, found := biases[c.Due]
		if !found {
			known.value, known.aged = a.Bias(deferred(prices.Height, c))
			biases[c.Due] = known
		}
		standings[i], order[i] = standingOf(c, known.value, known.aged), i
	}
	own, others := new(big.Int), new(big.Int)
	slices.SortFunc(order, func(i, j int) int { return standings[i].compare(standings[j], own, others) })
	return order
}

// LeastBid is the least bid with which c would come before rival in a block; false if none would do, since rival is aged.
func (a Auction) LeastBid(height uint64, c, rival Candidate) (math.Int, bool) {
	c.Locked = math.ZeroInt()
	own, other := a.Standing(height, c), a.Standing(height, rival)
	switch {
	case own.Compare(other) < 0:
		return math.ZeroInt(), true
	case other.aged:
		return math.Int{}, false
	}
	// bid ≥ worth of the rival × own gas ÷ its gas − own bias
	divisor := new(big.Int).Mul(other.gas, decimalOne)
	missing := new(big.Int).Mul(other.worth, own.gas)
	missing.Sub(missing, new(big.Int).Mul(own.worth, other.gas))
	bid, rest := missing.QuoRem(missing, divisor, new(big.Int))
	if rest.Sign() > 0 || own.compareAge(other) > 0 {
		bid.Add(bid, big.NewInt(1))
	}
	return math.NewIntFromBigInt(bid), true
}

// Payment is what the fire of a winner pays of its bid, never more than that. Runner-up is the first candidate behind it
// that did not fit; nil if there was none.
func (a Auction) Payment(height uint64, winner Candidate, runnerUp *Candidate) math.Int {
	bid := winner.bid()
	if a.FirstPrice {
		return bid
	}
	price := a.Reserve
	if runnerUp != nil {
		if least, possible := a.LeastBid(height, winner, *runnerUp); possible {
			price = math.MaxInt(price, least)
		}
	}
	return math.MinInt(price, bid)
}

// bid is what the candidate has locked; none is nothing.
func (c Candidate) bid() math.Int {
	if c.Locked.IsNil() {
		return math.ZeroInt()
	}
	return c.Locked
}
