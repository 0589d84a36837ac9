package wait

import (
	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/market/auction"
)

// Lane is what decides how many timers fire in a full block. Sizes are in cycles, and above 0.
type Lane struct {
	// Capacity is LANE_TIMER_CYCLES, Largest the largest size that a timer may reserve. Invariant: Largest ≤ Capacity.
	Capacity, Largest uint64
	// MaxFires is MAX_FIRES_PER_BLOCK; 0 means no cap.
	MaxFires uint32
}

// PerBlock is how many timers fire, at the least, before a timer of this size in a block in which it finds no room:
// they use more than the capacity less the size, each no more than Largest.
func (l Lane) PerBlock(size uint64) uint64 {
	fires := (l.Capacity-size)/l.Largest + 1
	if l.MaxFires > 0 {
		fires = min(fires, uint64(l.MaxFires))
	}
	return fires
}

// FIFO bounds the wait by the older timers, of which each block of the wait fires perBlock.
func FIFO(older, perBlock uint64) uint64 { return older / perBlock }

// EIP1559 bounds the wait while no ready timer tips more and its actor fires nothing else. Others may pass since they
// weigh more: each of the other actors in no more blocks than the timer's actor had recent fires, and all of them in no
// more blocks than the fairness window holds.
func EIP1559(older, perBlock, window, actors, recent uint64) uint64 {
	return min(window, (actors-1)*recent) + older/perBlock
}

// EIP1559Spent bounds the wait of a timer that is not priced out by what all others spend on the lane's fee, whatever
// they tip: each block of the wait uses more than the lane less the timer's size, and raises the basefee for the
// next. The rule is that of the lane, from is the basefee in the first block of the wait, above 0. It is false where
// there is no such bound: a use like this does not raise the basefee, or a cap on fires makes small ones fill a
// block.
func EIP1559Spent(rule market.Basefee, from, multiplier math.LegacyDec, size uint64, spent math.Int) (uint64, bool) {
	if rule.MaxFires > 0 {
		return 0, false
	}
	use := market.Use{Size: rule.Capacity - size + 1}
	for blocks, left := uint64(0), math.LegacyNewDecFromInt(spent); ; blocks++ {
		if left = left.Sub(from.MulTruncate(multiplier).MulInt64(int64(use.Size))); left.IsNegative() {
			return blocks, true
		}
		next := rule.Next(from, use)
		if !next.GT(from) {
			return 0, false
		}
		from = next
	}
}

// Score bounds the wait by bids: only timers that become due within so many blocks of it may pass, as many as a bid of
// highest is worth more than its own. After these blocks others is how many timers there are at most. It is false where
// waiting counts nothing. W_FIFO must be 0: it would let a timer of a small seq that repeats pass for ever.
func Score(age, weight math.LegacyDec, own, highest math.Int, others, perBlock uint64) (uint64, bool) {
	if !age.IsPositive() {
		return 0, false
	}
	lead := weight.MulInt(math.MaxInt(math.ZeroInt(), highest.Sub(own))).Quo(age).TruncateInt()
	return lead.Uint64() + others/perBlock, true
}

// Auction bounds the wait by bids: after as many blocks as it takes for the bias of λ to reach twice the highest bid,
// times the ratio of the timer's size to the smallest, no timer passes that is not there yet. At the largest exponent
// none passes anyway. After these blocks others is how many timers there are at most.
func Auction(lambda math.LegacyDec, highest math.Int, size, smallest, others, perBlock uint64) uint64 {
	enough := math.LegacyNewDecFromInt(math.MaxInt(math.OneInt(), highest)).MulInt64(2).
		MulInt(math.NewIntFromUint64(size)).QuoRoundUp(math.LegacyNewDecFromInt(math.NewIntFromUint64(smallest)))
	for n := uint64(0); ; n++ {
		exponent := lambda.MulInt(math.NewIntFromUint64(n))
		if exponent.GTE(math.LegacyNewDec(auction.MaxExponent)) || auction.Exp(exponent).GTE(enough) {
			return n + others/perBlock
		}
	}
}

// Tip bounds the wait under policy tip, whatever others tip: slice is the least that the timer's actor gets of the
// lane, and own are the timers of that actor that come before it. It is false where some timer may be larger than a
// slice.
func Tip(slice, size, largest, own uint64) (uint64, bool) {
	if largest > slice {
		return 0, false
	}
	return own / ((slice-size)/largest + 1), true
}

// Slice is the least part of the lane that one of so many actors gets, with weights from lightest to heaviest.
func Slice(capacity, actors, lightest, heaviest uint64) uint64 {
	return capacity * lightest / (lightest + (actors-1)*heaviest)
}
