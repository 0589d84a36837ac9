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
// Asks without prices of their own have equal priority, and are ordered by age. Stated asks are sorted into buckets
// by their slack, which is max fee − max priority. Each bucket has two lists that hold the same timers. One is ordered
// by tip, which the timers pay while their slack covers the lane's fee. The other is ordered by max fee, of which
// they pay what the lane's fee leaves when it does not.

// Asks without prices of their own that have a spend cap pay the lesser of what all of their kind pay and of what the
// spend cap leaves. They are sorted into buckets by their spend cap, as stated asks are by their slack. Each bucket has two
// lists as well: by age, for the spend caps that do not bind, and by spend cap, for those that do.

const (
	// firstStated is the first kind of lists of stated asks; the kinds below are those of policy.Kind.
	firstStated = 16
	// firstCapped is the first kind of lists of asks with a spend cap, cappedKinds the number of lists for each policy.Kind.
	firstCapped = 1 << 10
	cappedKinds = 1 << 10
)

// order of a list of stated asks: the lowest bit of its kind.
type order uint32

const (
	// byTip orders by the whole tip, and asks with a spend cap by age alone. byFee orders by the max fee or the spend cap. They
	// are part of the names of lists, and so of the state.
	byTip order = iota
	byFee
)

// statedList is the list of the stated asks of a bucket. The kind of its name is firstStated + 2 × bucket + order: the
// two lists of a bucket are adjacent, so that the head of the first leads to the second, and buckets follow in the order
// of their slacks.
func statedList(weight, bucket uint32, by order) merge.List {
	return merge.MakeList(weight, firstStated+bucket<<1|uint32(by))
}

// cappedList is the list of the asks of a kind with spend caps of a bucket. The buckets of a kind are adjacent, in the order
// of their spend caps, as are the two lists of a bucket.
func cappedList(weight uint32, kind policy.Kind, bucket uint32, by order) merge.List {
	return merge.MakeList(weight, firstCapped+uint32(kind)*cappedKinds+bucket<<1|uint32(by))
}

// isStated reports whether the list is one of stated asks, isCapped whether it is one of asks with a spend cap.
func isStated(l merge.List) bool { return l.Kind() >= firstStated && l.Kind() < firstCapped }

func isCapped(l merge.List) bool { return l.Kind() >= firstCapped }

// cappedKind is the kind of the asks of a list of asks with a spend cap.
func cappedKind(l merge.List) policy.Kind { return policy.Kind((l.Kind() - firstCapped) / cappedKinds) }

// isByFee reports whether the list is ordered by max fee or by spend cap: the second of a bucket.
func isByFee(l merge.List) bool { return l.Kind() >= firstStated && order(l.Kind()&1) == byFee }

// Leads reports whether a list stands for a source in a summary of the index: the first of a bucket stands for both, as no
// timer pays more than what that one is ordered by.
func Leads(l merge.List) bool { return !isByFee(l) }

// bucketOf is the bucket of a list of stated asks or of asks with a spend cap. It inverts statedList and cappedList.
func bucketOf(l merge.List) uint32 {
	if isCapped(l) {
		return (l.Kind() - firstCapped) % cappedKinds >> 1
	}
	return (l.Kind() - firstStated) >> 1
}

// slackBucket is the bucket of a slack, in units of the 18th decimal. There are four buckets to each power of two;
// below 4, each value is a bucket. So a bucket is at most a quarter of its least slack wide, and at any price few
// timers are in the bucket that holds the lane's fee. Slacks are below 2^120, so that there are fewer than 480
// buckets.
func slackBucket(slack *big.Int) uint32 {
	if slack.BitLen() < 3 {
		return uint32(slack.Uint64())
	}
	// The bucket is the length of the number and the two bits after its leading one.
	bits := uint(slack.BitLen())
	second := new(big.Int).Rsh(slack, bits-3).Uint64() & 3
	return uint32(bits)<<2 | uint32(second)
}

// slackEdges returns the least and the largest slack of a bucket. Buckets are adjacent, so that comparing the edges
// with the lane's fee determines which lists of the bucket are needed.
func slackEdges(bucket uint32) (least, most math.LegacyDec) {
	low, width := new(big.Int).SetUint64(uint64(bucket)), big.NewInt(1)
	// Beyond the buckets of one value each, the three leading bits are 1 and the two in the bucket; the others vary.
	if bucket >= 4 {
		shift := uint(bucket>>2) - 3
		low.SetUint64(uint64(4|bucket&3)).Lsh(low, shift)
		width.Lsh(width, shift)
	}
	high := new(big.Int).Add(low, width.Sub(width, big.NewInt(1)))
	return math.LegacyNewDecFromBigIntWithPrec(low, math.LegacyPrecision),
		math.LegacyNewDecFromBigIntWithPrec(high, math.LegacyPrecision)
}

// EntriesOf are the entries of a timer at its place in the queue: two for a stated ask, by tip and by max fee, two for
// another ask with a spend cap, by age and by spend cap, and one for any other. An entry without a price of its own has the
// price 0, so that its list is ordered by age alone. Each of two entries holds the prices of both, so that one entry is
// enough to rank the timer. A spend cap lowers the max fee of a stated ask. An ask that a spend cap prices out at any fee of the
// lane is of kind CellPricedOut. The weight is in sixteenths. Invariant: it is below merge.WideWeight.
func EntriesOf(ask policy.Ask, weight uint32, due, seq uint64) []merge.Entry {
	zero := math.LegacyZeroDec()
	kind := ask.Kind
	if ask.SpendCap.Exhausted() {
		kind = policy.CellPricedOut
	}
	switch {
	case kind == policy.Stated:
		fee := ask.SpendCap.Lower(ask.Stated.MaxFee)
		tip := math.LegacyMinDec(ask.Stated.MaxPriority, fee)
		bucket := slackBucket(fee.Sub(tip).BigInt())
		return []merge.Entry{
			{List: statedList(weight, bucket, byTip), Price: tip, Other: fee, Due: due, Seq: seq},
			{List: statedList(weight, bucket, byFee), Price: fee, Other: tip, Due: due, Seq: seq},
		}
	case kind == policy.CellPricedOut || ask.SpendCap.Unbounded():
		return []merge.Entry{{List: merge.MakeList(weight, uint32(kind)), Price: zero, Other: zero, Due: due, Seq: seq}}
	default:
		spendCap := ask.SpendCap.PerSize
		bucket := slackBucket(spendCap.BigInt())
		return []merge.Entry{
			{List: cappedList(weight, kind, bucket, byTip), Price: zero, Other: spendCap, Due: due, Seq: seq},
			{List: cappedList(weight, kind, bucket, byFee), Price: spendCap, Other: zero, Due: due, Seq: seq},
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
		return policy.Ask{Kind: cappedKind(entry.List), SpendCap: policy.SpendCap{PerSize: second}}
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
