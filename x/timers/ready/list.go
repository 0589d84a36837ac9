// Package ready orders the timers that wait in a storm, when more are ready than a block can read (SPEC §6, candidates).
//
// Admitted timers lie in lists, and each list is kept in an order that never changes. What a timer is worth depends on the
// basefee, which changes every block; but the order of a list does not, and its head bounds what any of its timers is worth.
// So the best of all are found by reading the lists side by side, hardly more entries than are taken, and no entry moves
// when the basefee does.
package ready

import (
	"math/big"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/policy"
)

// List names a list: timers whose actors have the same weight and whose asks are of one kind.
//
// Asks without own prices are worth the same and lie by age. Stated asks whose slack is alike, which is what the max fee
// leaves beside the whole tip, lie in two lists: by tip, which is what they pay while their slack covers the lane's fee, and
// by max fee, of which they pay the rest when it does not.
type List uint32

const (
	// kindBits is the part of a list's name beside the weight.
	kindBits = 16
	// firstStated is the first kind of stated asks; those below are policy.Kinds.
	firstStated = 16
)

// order of a list of stated asks, the lowest bit of its kind.
type order uint32

const (
	byTip order = iota
	byFee
)

func listOf(weight, kind uint32) List { return List(weight<<kindBits | kind) }

func statedList(weight, class uint32, by order) List {
	return listOf(weight, firstStated+class<<1|uint32(by))
}

// Weight in sixteenths of the list's actors.
func (l List) Weight() uint32 { return uint32(l) >> kindBits }

func (l List) kind() uint32 { return uint32(l) & (1<<kindBits - 1) }

// stated tells whether the list is one of stated asks.
func (l List) stated() bool { return l.kind() >= firstStated }

func (l List) order() order { return order((l.kind() - firstStated) & 1) }

func (l List) class() uint32 { return (l.kind() - firstStated) >> 1 }

// slackClass sorts slacks, in units of the 18th decimal, into classes, four to each power of two; below 4, each value is a
// class.
func slackClass(slack *big.Int) uint32 {
	if slack.BitLen() < 3 {
		return uint32(slack.Uint64())
	}
	bits := uint(slack.BitLen())
	second := new(big.Int).Rsh(slack, bits-3).Uint64() & 3
	return uint32(bits)<<2 | uint32(second)
}

// slackEdges returns the least and the largest slack of a class.
func slackEdges(class uint32) (least, most math.LegacyDec) {
	low, width := new(big.Int).SetUint64(uint64(class)), big.NewInt(1)
	if class >= 4 {
		shift := uint(class>>2) - 3
		low.SetUint64(uint64(4|class&3)).Lsh(low, shift)
		width.Lsh(width, shift)
	}
	high := new(big.Int).Add(low, width.Sub(width, big.NewInt(1)))
	return math.LegacyNewDecFromBigIntWithPrec(low, math.LegacyPrecision),
		math.LegacyNewDecFromBigIntWithPrec(high, math.LegacyPrecision)
}

// Entry is one timer in one list.
type Entry struct {
	List List
	// MaxFee and MaxPriority are the stated prices; zero in lists of asks without own prices.
	MaxFee, MaxPriority math.LegacyDec
	// Due and Seq are the timer's place in the queue.
	Due, Seq uint64
}

// EntriesOf are the entries of a timer at its place in the queue: two for a stated ask, one for another. The weight is in
// sixteenths, below 2^15.
func EntriesOf(ask policy.Ask, weight uint32, due, seq uint64) []Entry {
	if ask.Kind != policy.Stated {
		zero := math.LegacyZeroDec()
		return []Entry{{listOf(weight, uint32(ask.Kind)), zero, zero, due, seq}}
	}
	fee, tip := ask.Stated.MaxFee, ask.Stated.MaxPriority
	class := slackClass(fee.Sub(tip).BigInt())
	return []Entry{
		{statedList(weight, class, byTip), fee, tip, due, seq},
		{statedList(weight, class, byFee), fee, tip, due, seq},
	}
}

// Price is what its list orders the entry by, descending and before (due, seq).
func (e Entry) Price() math.LegacyDec {
	if e.List.stated() && e.List.order() == byFee {
		return e.MaxFee
	}
	return e.MaxPriority
}

// Other is the stated price that its list does not order by.
func (e Entry) Other() math.LegacyDec {
	if e.List.stated() && e.List.order() == byFee {
		return e.MaxPriority
	}
	return e.MaxFee
}

// NewEntry is the entry that Price and Other take apart.
func NewEntry(list List, price, other math.LegacyDec, due, seq uint64) Entry {
	if list.stated() && list.order() == byFee {
		return Entry{list, price, other, due, seq}
	}
	return Entry{list, other, price, due, seq}
}

// Ask is what the timer of the entry asks for.
func (e Entry) Ask() policy.Ask {
	if !e.List.stated() {
		return policy.Ask{Kind: policy.Kind(e.List.kind())}
	}
	return policy.Ask{Kind: policy.Stated, Stated: policy.Bid{MaxFee: e.MaxFee, MaxPriority: e.MaxPriority}}
}

// candidate is the entry as the policy sees it; its gas limit does not rank.
func (e Entry) candidate() policy.Candidate {
	return policy.Candidate{Due: e.Due, Seq: e.Seq, Ask: e.Ask(), Weight: e.List.Weight()}
}
