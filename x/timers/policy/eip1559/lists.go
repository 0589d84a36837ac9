package eip1559

import (
	"math/big"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/merge"
	"github.com/cosmos-timers/timers/x/timers/policy"
)

// The admitted timers of actors of one weight, whose asks are of one kind, are stored in one list. The weight of a
// list is the fairness weight in sixteenths.
//
// Asks without prices of their own have equal priority, and are ordered by age. Stated asks are sorted into classes
// by their slack, which is max fee − max priority. Each class has two lists that hold the same timers. One is ordered
// by tip, which the timers pay while their slack covers the lane's fee. The other is ordered by max fee, of which
// they pay what the lane's fee leaves when it does not.

// firstStated is the first kind of lists of stated asks; the kinds below are those of policy.Kind.
const firstStated = 16

// order of a list of stated asks: the lowest bit of its kind.
type order uint32

const (
	// byTip orders by the whole tip, byFee by the max fee. They are part of the names of lists, and so of the
	// state.
	byTip order = iota
	byFee
)

// statedList is the list of the stated asks of a class. The kind of its name is firstStated + 2 × class + order: the
// two lists of a class are adjacent, so that the head of the first leads to the second, and classes follow in the order
// of their slacks.
func statedList(weight, class uint32, by order) merge.List {
	return merge.MakeList(weight, firstStated+class<<1|uint32(by))
}

// isStated reports whether the list is one of stated asks.
func isStated(l merge.List) bool { return l.Kind() >= firstStated }

// isByFee reports whether the list is one of stated asks by max fee.
func isByFee(l merge.List) bool { return isStated(l) && order((l.Kind()-firstStated)&1) == byFee }

// Leads reports whether a list stands for a source in a summary of the index: the one by tip for both lists of a class, as
// no timer pays more than its tip.
func Leads(l merge.List) bool { return !isStated(l) || !isByFee(l) }

// classOf is the slack class of a list of stated asks. It inverts statedList.
func classOf(l merge.List) uint32 { return (l.Kind() - firstStated) >> 1 }

// slackClass is the class of a slack, in units of the 18th decimal. There are four classes to each power of two;
// below 4, each value is a class. So a class is at most a quarter of its least slack wide, and at any price few
// timers are in the class that holds the lane's fee. Slacks are below 2^120, so that there are fewer than 480
// classes.
func slackClass(slack *big.Int) uint32 {
	if slack.BitLen() < 3 {
		return uint32(slack.Uint64())
	}
	// The class is the length of the number and the two bits after its leading one.
	bits := uint(slack.BitLen())
	second := new(big.Int).Rsh(slack, bits-3).Uint64() & 3
	return uint32(bits)<<2 | uint32(second)
}

// slackEdges returns the least and the largest slack of a class. Classes are adjacent, so that comparing the edges
// with the lane's fee determines which lists of the class are needed.
func slackEdges(class uint32) (least, most math.LegacyDec) {
	low, width := new(big.Int).SetUint64(uint64(class)), big.NewInt(1)
	// Beyond the classes of one value each, the three leading bits are 1 and the two in the class; the others vary.
	if class >= 4 {
		shift := uint(class>>2) - 3
		low.SetUint64(uint64(4|class&3)).Lsh(low, shift)
		width.Lsh(width, shift)
	}
	high := new(big.Int).Add(low, width.Sub(width, big.NewInt(1)))
	return math.LegacyNewDecFromBigIntWithPrec(low, math.LegacyPrecision),
		math.LegacyNewDecFromBigIntWithPrec(high, math.LegacyPrecision)
}

// EntriesOf are the entries of a timer at its place in the queue: two for a stated ask, by tip and by max fee, and one
// for any other. An ask that is not stated has the price 0 in its list, so that the list is ordered by age alone. Each
// entry of a stated ask holds both of its prices, so that one entry is enough to rank the timer. The weight is in
// sixteenths. Invariant: it is below merge.WideWeight.
func EntriesOf(ask policy.Ask, weight uint32, due, seq uint64) []merge.Entry {
	if ask.Kind != policy.Stated {
		zero := math.LegacyZeroDec()
		return []merge.Entry{{List: merge.MakeList(weight, uint32(ask.Kind)), Price: zero, Other: zero, Due: due, Seq: seq}}
	}
	fee, tip := ask.Stated.MaxFee, ask.Stated.MaxPriority
	class := slackClass(fee.Sub(tip).BigInt())
	return []merge.Entry{
		{List: statedList(weight, class, byTip), Price: tip, Other: fee, Due: due, Seq: seq},
		{List: statedList(weight, class, byFee), Price: fee, Other: tip, Due: due, Seq: seq},
	}
}

// AskOf is what the timer of the entry asks for. It inverts EntriesOf: an entry has all that ranks its timer, so
// that no record is read for timers that are not taken.
func AskOf(entry merge.Entry) policy.Ask {
	switch {
	case !isStated(entry.List):
		return policy.Ask{Kind: policy.Kind(entry.List.Kind())}
	case isByFee(entry.List):
		return policy.Ask{Kind: policy.Stated, Stated: policy.Bid{MaxFee: entry.Price, MaxPriority: entry.Other}}
	default:
		return policy.Ask{Kind: policy.Stated, Stated: policy.Bid{MaxFee: entry.Other, MaxPriority: entry.Price}}
	}
}

// candidateOf is the entry as the rules see it. Its actor, gas limit and id are not known, and have no part in the
// rank.
func candidateOf(entry merge.Entry) policy.Candidate {
	return policy.Candidate{Due: entry.Due, Seq: entry.Seq, Ask: AskOf(entry), Weight: entry.List.Weight()}
}
