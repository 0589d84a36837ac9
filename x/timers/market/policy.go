package market

import (
	"cmp"
	"context"
	"math/big"
	"slices"

	"cosmossdk.io/math"
)

// Candidate is what a policy may know of a ready timer. Each policy reads the fields that it needs, and ignores the
// others.
type Candidate struct {
	// Due is the height at which the timer became due this time, Seq its place in the order of insertion.
	// Invariant: no two timers share a Seq, so that (due, seq) breaks every tie.
	Due, Seq uint64
	// Size of the lane that its gas limit and its cell limit reserve, in cycles.
	Size uint64
	// Actor is the address that owns it, ID the timer's: bytes, as strings so that they compare.
	Actor, ID string
	// Ask is what its owner asked for when it was scheduled.
	Ask Ask
	// Weight of its actor. Under eip1559 it is the fairness weight, in sixteenths; under tip it is the weight of
	// package tip, in tip.WeightUnits; under other policies it is 0.
	Weight uint32
	// Unfunded is used by policy tip. It means that the payer could not cover the fire, and is not known to have
	// funds again.
	Unfunded bool
	// Locked is the bid in fee denom that the module's account holds for the timer; nil if there is none.
	Locked math.Int
	// Unit and Recent are used by policy score. The fires of all actors of a Unit count together; Recent is how
	// many there were in the fairness window.
	Unit   string
	Recent uint64
}

// LockedBid is the bid that the module's account holds for the timer, 0 if there is none.
func (c Candidate) LockedBid() math.Int {
	if c.Locked.IsNil() {
		return math.ZeroInt()
	}
	return c.Locked
}

// Prices are those of a block, in fee denom.
type Prices struct {
	// Height of the block.
	Height uint64
	// Capacity of the lane, by which sizes are measured.
	Capacity Capacity
	// Cycle and Cell are the chain's basefees, Lane is the lane's own, per unit of size.
	Cycle, Cell, Lane math.LegacyDec
	// P50 is the usual tip per unit of size.
	P50 math.LegacyDec
}

// Price is that of a fire which pays this fee and this tip per unit of size in addition to the chain's prices.
func (p Prices) Price(laneFee, priority math.LegacyDec) Price {
	return Price{Capacity: p.Capacity, Cycle: p.Cycle, Cell: p.Cell, Lane: laneFee, Priority: priority}
}

// Last is what the block before left of the lane's market.
type Last struct {
	// Basefee of the lane, and what its fires used of the lane.
	Basefee math.LegacyDec
	Use     Use
}

// Rules are the rules of one policy.
type Rules interface {
	// LaneBasefee is the lane basefee of a block, computed from the chain's cycle basefee and the block before.
	LaneBasefee(cycleBasefee math.LegacyDec, last Last) math.LegacyDec
	// Order puts the candidates that may fire at these prices into the order in which they are tried. It returns
	// indices into the slice, and leaves the slice as it is. Candidates that may not fire are left out.
	Order(prices Prices, candidates []Candidate) []int
	// Price is what a fire of the candidate pays. It is false if the prices exceed what the candidate is willing to
	// pay. It follows from the ask and the locked bid: nothing else of the candidate may be set.
	Price(prices Prices, candidate Candidate) (Price, bool)
}

// Traits are what is known of a policy in addition to its rules.
type Traits struct {
	// From is the first height at which the policy, if the config selects it, is in force. Until then fifo is.
	From uint64
	// GasCap is the largest gas limit that may fire, and the default one.
	GasCap uint64
	// WeightUnit is how much a candidate's weight of 1 is; 0 if the order does not depend on weights.
	WeightUnit int64
	// CountsFires: the order depends on the fairness window, so that fires are counted.
	CountsFires bool
	// DefersUnfunded: a timer whose payer lacks funds waits for as long as it may live, and is not removed.
	DefersUnfunded bool
	// AsksAgents: a timer's bid decides its place and its price per cycle, so that agents are called.
	AsksAgents bool
	// QueueOrder: the order is that of the queue, so that a backlog is read as far as it fires.
	QueueOrder bool
	// SharesWindow: a window that does not hold all that is ready is not of the oldest alone.
	SharesWindow bool
	// SlicesLane: the fires of an actor stay within its slice of the lane while others wait.
	SlicesLane bool
}

// Runs reports whether a timer can fire within its limits.
func (t Traits) Runs(gasLimit, cellLimit, maxCells uint64) bool {
	return gasLimit > FireBaseCycles && gasLimit <= t.GasCap && cellLimit <= maxCells
}

// Ranking returns the timers of a ready index, best first, each by one of its entries.
type Ranking interface {
	Next(ctx context.Context) (ListEntry, bool, error)
	// Return puts back a timer that was returned under an outdated placement, with the entry that it has now.
	Return(entry ListEntry)
}

// Least is the least that a fire ever pays per unit at the chain's prices: with the lane basefee at its floor, without a
// tip or a bid. A payer that can't cover a timer at this price can't cover it at any.
func Least(rules Rules, prices Prices) Price {
	prices.Lane = rules.LaneBasefee(prices.Cycle, Last{Basefee: math.LegacyZeroDec()})
	prices.P50 = math.LegacyZeroDec()
	price, _ := rules.Price(prices, Candidate{})
	return price
}

// Ask is what a timer's owner asked for. It is kept as asked, and becomes a bid only at the prices of a block.
type Ask struct {
	Kind Kind
	// Stated is the stated bid of kind Stated, and zero otherwise. Invariant: neither price is negative.
	Stated Bid
	// Price is the integer bid, a lump sum for a fire; nil if there is none. Invariant: it is not negative.
	Price math.Int
	// SpendCap bounds what a fire pays, whatever is asked.
	SpendCap SpendCap
}

// States reports whether the ask states anything but its kind.
func (a Ask) States() bool { return a.Kind == Stated || !a.Price.IsNil() || !a.SpendCap.Unbounded() }

// Kind determines how an ask becomes a bid. The values of the kinds below Stated name lists of the index of admitted
// timers, so that they are part of the state and must not change.
type Kind uint8

const (
	// Estimated leaves the bid to the default estimator.
	Estimated Kind = iota
	// Economy, Standard, Fast and Urgent are the tiers.
	Economy
	Standard
	Fast
	Urgent
	// Stated has prices of its own.
	Stated
	// CellPricedOut does not fire in this block: a cell costs more than its agent allows, or the chain's prices alone exceed
	// its max_charge.
	CellPricedOut
)

// Bid is what a timer is willing to pay per unit of size, in fee denom.
type Bid struct {
	// MaxFee is the most that the lane's fee and the tip together may be, MaxPriority the most that the tip may be.
	MaxFee, MaxPriority math.LegacyDec
}

// StatedAsk is an ask with prices of its own. A tip above the whole fee has the same effect as one of the whole
// fee.
func StatedAsk(maxFee, maxPriority math.LegacyDec) Ask {
	return Ask{Kind: Stated, Stated: Bid{MaxFee: maxFee, MaxPriority: math.LegacyMinDec(maxFee, maxPriority)}}
}

// WithTipAtMost is the ask with a tip of at most so much per unit of size, and without a lump sum. The other kinds need no
// bound: their tips follow from the lane basefee.
func (a Ask) WithTipAtMost(tip math.LegacyDec) Ask {
	a.Price = math.Int{}
	if a.Kind == Stated {
		a.Stated.MaxPriority = math.LegacyMinDec(a.Stated.MaxPriority, tip)
	}
	return a
}

// Tiers are what a tier stands for.
type Tiers struct {
	// Economy, Standard, Fast and Urgent are multiples of p50: PRIORITY_TIERS.
	Economy, Standard, Fast, Urgent math.LegacyDec
	// TipCap bounds a tier's tip to this multiple of the lane basefee: TIER_TIP_CAP. Tiers multiply what others paid: if
	// most fires of a few blocks were urgent, their tips would grow without end, at the cost of those who left the price
	// to the estimator. The default bid needs no such bound, since its fee bounds it.
	TipCap math.LegacyDec
}

// Estimate is the default estimator: the bid of an ask without prices of its own. The tip is p50, or the tier's
// multiple of it, rounded down in favour of the payer. The fee is twice the lane's, which leaves headroom for about
// five blocks of a rising basefee; a tier's fee leaves room for its tip in addition.
func Estimate(prices Prices, kind Kind, tiers Tiers) Bid {
	headroom := prices.Lane.MulInt64(2)
	var multiplier math.LegacyDec
	switch kind {
	case Economy:
		multiplier = tiers.Economy
	case Standard:
		multiplier = tiers.Standard
	case Fast:
		multiplier = tiers.Fast
	case Urgent:
		multiplier = tiers.Urgent
	default:
		return Bid{MaxFee: headroom, MaxPriority: prices.P50}
	}
	tip := math.LegacyMinDec(prices.P50.MulTruncate(multiplier), prices.Lane.MulTruncate(tiers.TipCap))
	return Bid{MaxFee: headroom.Add(tip), MaxPriority: tip}
}

// Rank orders candidates by effective priority, the tip per cycle times the weight of the actor: the highest first.
// Equal ones go by weight, descending, then by (due, seq). It is total, since no two timers share a seq.
type Rank struct {
	// effective priority in units of the 18th decimal, in sixteenths: an integer product, which loses nothing to
	// rounding.
	effective *big.Int
	weight    uint32
	due, seq  uint64
}

// NewRank is the rank of a tip per cycle with a weight in sixteenths. The rank keeps no reference to the tip.
func NewRank(priority math.LegacyDec, weight uint32, due, seq uint64) Rank {
	effective := priority.BigInt()
	return Rank{effective: effective.Mul(effective, big.NewInt(int64(weight))), weight: weight, due: due, seq: seq}
}

// Negative reports whether the tip is negative. No candidate has such a rank, but a bound on the rest of a list may:
// then all timers in the rest are priced out.
func (r Rank) Negative() bool { return r.effective.Sign() < 0 }

// Compare is negative if r comes before other.
func (r Rank) Compare(other Rank) int {
	return cmp.Or(
		other.effective.Cmp(r.effective), cmp.Compare(other.weight, r.weight),
		cmp.Compare(r.due, other.due), cmp.Compare(r.seq, other.seq),
	)
}

// Tipped is what a fire tipped per unit of size, and the size for which it did.
type Tipped struct {
	Priority math.LegacyDec
	Size     uint64
}

// MedianTip is the median tip of fires, weighted by their sizes: the least tip at which half of the size paid as much or
// less. It is 0 if there are none.
func MedianTip(fires []Tipped) math.LegacyDec {
	sorted, total := slices.Clone(fires), uint64(0)
	slices.SortStableFunc(sorted, func(a, b Tipped) int { return a.Priority.BigIntMut().Cmp(b.Priority.BigIntMut()) })
	for _, fire := range sorted {
		total += fire.Size
	}
	reached := uint64(0)
	for _, fire := range sorted {
		if reached += fire.Size; 2*reached >= total {
			return fire.Priority
		}
	}
	return math.LegacyZeroDec()
}

// NextP50 is the usual tip in the next block, from that of this block and its fires (x/timers/README.md, "1.8 Bid"). If
// no willing timer waits for room, tips bought nothing in this block. Then the usual tip falls to half at least, so that
// tips paid once do not stay the price of an idle lane.
func NextP50(before math.LegacyDec, fires []Tipped, waiting bool) math.LegacyDec {
	median := MedianTip(fires)
	if waiting {
		return median
	}
	return math.LegacyMinDec(median, before.QuoInt64(2))
}

// SpendCap is what a timer's max_charge leaves above the chain's prices: the most that the lane's fee, the tip and a lump sum
// may come to. The zero value is no bound.
type SpendCap struct {
	// PerFire is for the fire as a whole, nil if unknown. PerSize is for each unit of its size, rounded down and at most the
	// largest price; nil for no bound. Invariant: PerSize is Exhausted exactly where PerFire is negative.
	PerFire, PerSize math.LegacyDec
}

// largestPrice bounds the prices of the module.
var largestPrice = math.LegacyNewDec(1_000_000_000_000_000_000)

// SpendCapOf is the spend cap of a fire at most at maxCharge, with these limits in cycles and cells. A pre-charge is within
// maxCharge exactly if the lane's fee and the tip per unit of size are within PerSize, and a lump sum alone is within
// PerFire: the pre-charge is rounded up to a whole number, which maxCharge is.
func SpendCapOf(maxCharge math.Int, prices Prices, gasLimit, cellLimit uint64) SpendCap {
	left := math.LegacyNewDecFromInt(maxCharge).
		Sub(prices.Cycle.MulInt(math.NewIntFromUint64(gasLimit))).
		Sub(prices.Cell.MulInt(math.NewIntFromUint64(cellLimit)))
	if left.IsNegative() {
		return SpendCap{PerFire: left, PerSize: math.LegacyOneDec().Neg()}
	}
	size := math.LegacyNewDecFromInt(math.NewIntFromUint64(max(1, prices.Capacity.Size(gasLimit, cellLimit))))
	return SpendCap{PerFire: left, PerSize: math.LegacyMinDec(left.QuoTruncate(size), largestPrice)}
}

// Unbounded reports that there is no max_charge.
func (c SpendCap) Unbounded() bool { return c.PerSize.IsNil() }

// Exhausted reports that the chain's prices alone exceed the max_charge.
func (c SpendCap) Exhausted() bool { return !c.Unbounded() && c.PerSize.IsNegative() }

// Lower is the lesser of a price per unit of size and the spend cap.
func (c SpendCap) Lower(price math.LegacyDec) math.LegacyDec {
	if c.Unbounded() {
		return price
	}
	return math.LegacyMinDec(price, c.PerSize)
}

// Covers reports whether a fire that pays nothing per unit of size may pay this lump sum; nil stands for 0.
func (c SpendCap) Covers(lumpSum math.Int) bool {
	switch {
	case c.Unbounded():
		return true
	case lumpSum.IsNil():
		return !c.PerFire.IsNegative()
	default:
		return c.PerFire.GTE(math.LegacyNewDecFromInt(lumpSum))
	}
}
