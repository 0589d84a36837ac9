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

// Asks without prices of their own that have a ceiling pay the lesser of what all of their kind pay and of what the
// ceiling leaves. They are sorted into classes by their ceiling, as stated asks are by their slack. Each class has two
// lists as well: by age, for the ceilings that do not bind, and by ceiling, for those that do.

const (
	// firstStated is the first kind of lists of stated asks; the kinds below are those of policy.Kind.
	firstStated = 16
	// firstCapped is the first kind of lists of asks with a ceiling, cappedKinds the number of lists for each policy.Kind.
	firstCapped = 1 << 10
	cappedKinds = 1 << 10
)

// order of a list of stated asks: the lowest bit of its kind.
type order uint32

const (
	// byTip orders by the whole tip, and asks with a ceiling by age alone. byFee orders by the max fee or the ceiling. They
	// are part of the names of lists, and so of the state.
	byTip order = iota
	byFee
)

// statedList is the list of the stated asks of a class. The kind of its name is firstStated + 2 × class + order: the
// two lists of a class are adjacent, so that the head of the first leads to the second, and classes follow in the order
// of their slacks.
func statedList(weight, class uint32, by order) merge.List {
	return merge.MakeList(weight, firstStated+class<<1|uint32(by))
}

// cappedList is the list of the asks of a kind with ceilings of a class. The classes of a kind are adjacent, in the order
// of their ceilings, as are the two lists of a class.
func cappedList(weight uint32, kind policy.Kind, class uint32, by order) merge.List {
	return merge.MakeList(weight, firstCapped+uint32(kind)*cappedKinds+class<<1|uint32(by))
}

// isStated reports whether the list is one of stated asks, isCapped whether it is one of asks with a ceiling.
func isStated(l merge.List) bool { return l.Kind() >= firstStated && l.Kind() < firstCapped }

func isCapped(l merge.List) bool { return l.Kind() >= firstCapped }

// cappedKind is the kind of the asks of a list of asks with a ceiling.
func cappedKind(l merge.List) policy.Kind { return policy.Kind((l.Kind() - firstCapped) / cappedKinds) }

// isByFee reports whether the list is ordered by max fee or by ceiling: the second of a class.
func isByFee(l merge.List) bool { return l.Kind() >= firstStated && order(l.Kind()&1) == byFee }

// Leads reports whether a list stands for a source in a summary of the index: the first of a class stands for both, as no
// timer pays more than what that one is ordered by.
func Leads(l merge.List) bool { return !isByFee(l) }

// classOf is the class of a list of stated asks or of asks with a ceiling. It inverts statedList and cappedList.
func classOf(l merge.List) uint32 {
	if isCapped(l) {
		return (l.Kind() - firstCapped) % cappedKinds >> 1
	}
	return (l.Kind() - firstStated) >> 1
}

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

// EntriesOf are the entries of a timer at its place in the queue: two for a stated ask, by tip and by max fee, two for
// another ask with a ceiling, by age and by ceiling, and one for any other. An entry without a price of its own has the
// price 0, so that its list is ordered by age alone. Each of two entries holds the prices of both, so that one entry is
// enough to rank the timer. A ceiling lowers the max fee of a stated ask. An ask that a ceiling prices out at any fee of the
// lane is of kind CellPricedOut. The weight is in sixteenths. Invariant: it is below merge.WideWeight.
func EntriesOf(ask policy.Ask, weight uint32, due, seq uint64) []merge.Entry {
	zero := math.LegacyZeroDec()
	kind := ask.Kind
	if ask.Ceiling.Exhausted() {
		kind = policy.CellPricedOut
	}
	switch {
	case kind == policy.Stated:
		fee := ask.Ceiling.Lower(ask.Stated.MaxFee)
		tip := math.LegacyMinDec(ask.Stated.MaxPriority, fee)
		class := slackClass(fee.Sub(tip).BigInt())
		return []merge.Entry{
			{List: statedList(weight, class, byTip), Price: tip, Other: fee, Due: due, Seq: seq},
			{List: statedList(weight, class, byFee), Price: fee, Other: tip, Due: due, Seq: seq},
		}
	case kind == policy.CellPricedOut || ask.Ceiling.Unbounded():
		return []merge.Entry{{List: merge.MakeList(weight, uint32(kind)), Price: zero, Other: zero, Due: due, Seq: seq}}
	default:
		ceiling := ask.Ceiling.PerSize
		class := slackClass(ceiling.BigInt())
		return []merge.Entry{
			{List: cappedList(weight, kind, class, byTip), Price: zero, Other: ceiling, Due: due, Seq: seq},
			{List: cappedList(weight, kind, class, byFee), Price: ceiling, Other: zero, Due: due, Seq: seq},
		}
	}
}

// AskOf is what the timer of the entry asks for. It inverts EntriesOf: an entry has all that ranks its timer, so
// that no record is read for timers that are not taken.
func AskOf(entry merge.Entry) policy.Ask {
	first, second := entry.Price, entry.Other
	if isByFee(entry.List) {
		first, second = second, first
	}
	switch {
	case isCapped(entry.List):
		return policy.Ask{Kind: cappedKind(entry.List), Ceiling: policy.Ceiling{PerSize: second}}
	case isStated(entry.List):
		return policy.Ask{Kind: policy.Stated, Stated: policy.Bid{MaxFee: second, MaxPriority: first}}
	case policy.Kind(entry.List.Kind()) == policy.Stated:
		// EntriesOf makes no such list. A genesis file may name it.
		return policy.Ask{Kind: policy.CellPricedOut}
	default:
		return policy.Ask{Kind: policy.Kind(entry.List.Kind())}
	}
}

// candidateOf is the entry as the rules see it. Its actor, gas limit and id are not known, and have no part in the
// rank.
func candidateOf(entry merge.Entry) policy.Candidate {
	return policy.Candidate{Due: entry.Due, Seq: entry.Seq, Ask: AskOf(entry), Weight: entry.List.Weight()}
}
