package market

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/decimal"
)

// EIP1559 of policy eip1559 with their parameters.
type EIP1559 struct {
	// Basefee is how the lane's basefee follows the lane's use.
	Basefee Basefee
	// Multiplier is the part of the lane basefee that a fire pays: LANE_FEE_MULTIPLIER. Invariant: it is from 0 to
	// 2, so that the default bid's headroom covers the fee.
	Multiplier math.LegacyDec
	// Tiers are what the tiers of an ask multiply the median tip by.
	Tiers Tiers
}

var _ Rules = EIP1559{}

// LaneBasefee implements Rules. It depends on the lane's own use, and not on the chain's basefee.
func (r EIP1559) LaneBasefee(_ math.LegacyDec, last Last) math.LegacyDec {
	return r.Basefee.Next(last.Basefee, last.Use)
}

// Fee is what a fire pays per unit of size for the lane, rounded down in favour of the payer. At a Multiplier of 0 the fee is
// 0: then no ask except one that cells price out is priced out, and tips alone decide.
func (r EIP1559) Fee(prices Prices) math.LegacyDec { return prices.Lane.MulTruncate(r.Multiplier) }

// Bid is what an ask comes to at these prices: the stated bid as it is, and the estimator's for the other kinds. An
// ask that cells price out has a bid as well; it is Priority that prices it out.
func (r EIP1559) Bid(prices Prices, ask Ask) Bid {
	if ask.Kind == Stated {
		return ask.Stated
	}
	return Estimate(prices, ask.Kind, r.Tiers)
}

// Priority is the tip per unit of size that the ask pays: what its max fee leaves above the lane's fee, and at most what
// it states. It is false if the ask is priced out, because its max fee or its spend cap is below the lane's fee, or cells
// price it out. Invariant: the lane's fee and the tip together exceed neither the max fee nor the spend cap.
func (r EIP1559) Priority(prices Prices, ask Ask) (math.LegacyDec, bool) {
	return r.priority(prices, r.Fee(prices), ask)
}

// priority is Priority, given the lane's fee.
func (r EIP1559) priority(prices Prices, fee math.LegacyDec, ask Ask) (math.LegacyDec, bool) {
	if ask.Kind == CellPricedOut {
		return math.LegacyZeroDec(), false
	}
	bid := r.Bid(prices, ask)
	remaining := ask.SpendCap.Lower(bid.MaxFee).Sub(fee)
	if remaining.IsNegative() {
		return math.LegacyZeroDec(), false
	}
	return math.LegacyMinDec(bid.MaxPriority, remaining), true
}

// Price implements Rules: the chain's basefees, the lane's fee, which is burned with them, and the tip.
func (r EIP1559) Price(prices Prices, candidate Candidate) (Price, bool) {
	fee := r.Fee(prices)
	priority, ok := r.priority(prices, fee, candidate.Ask)
	return prices.Price(fee, priority), ok
}

// Rank is the place of the candidate among others. It is false if the candidate is priced out. The size has no
// part in it: a large fire pays its tip for more of the lane, and a small one finds room more often.
func (r EIP1559) Rank(prices Prices, candidate Candidate) (Rank, bool) {
	return r.rank(prices, r.Fee(prices), candidate)
}

func (r EIP1559) rank(prices Prices, fee math.LegacyDec, candidate Candidate) (Rank, bool) {
	priority, ok := r.priority(prices, fee, candidate.Ask)
	return NewRank(priority, candidate.Weight, candidate.Due, candidate.Seq), ok
}

// Order implements Rules: by rank. Candidates that are priced out are left out. Ranks are computed once for each
// candidate, not for each comparison. It is used when a block can read all ready timers; Index serves overload.
func (r EIP1559) Order(prices Prices, candidates []Candidate) []int {
	ranks := make([]Rank, len(candidates))
	order := make([]int, 0, len(candidates))
	fee := r.Fee(prices)
	for i := range candidates {
		var ok bool
		if ranks[i], ok = r.rank(prices, fee, candidates[i]); ok {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(i, j int) int { return ranks[i].Compare(ranks[j]) })
	return order
}

// Headroom is what a lane needs above its target. Without it the lane may have no room for a waiting timer while it is
// used below the target: a crowd could keep others out at a basefee that does not rise.
type Headroom struct {
	Capacity Capacity
	// Target is the use at which the basefee stays, Reserved the share of reserved actors, both fractions of the lane.
	Target, Reserved math.LegacyDec
	// Cycles and Cells are the most that one fire may reserve.
	Cycles, Cells uint64
	// Least is the smallest gas limit: no fire may be capped below it.
	Least uint64
}

// Largest is the largest size of a fire, in cycles.
func (h Headroom) Largest() uint64 { return h.Capacity.Size(h.Cycles, h.Cells) }

// Check returns an error unless TARGET × lane + the largest size of a fire is at most what the reserved actors leave of
// the lane. The error says which values would do.
func (h Headroom) Check() error {
	capacity := inCycles(h.Capacity.Cycles)
	needed := h.Target.Mul(capacity).Add(inCycles(h.Largest()))
	left := math.LegacyOneDec().Sub(h.Reserved).Mul(capacity)
	if needed.LTE(left) {
		return nil
	}
	return fmt.Errorf("eip1559.target × lane_timer_cycles + the largest size of a fire (%d cycles) is %s, "+
		"want at most (1 - reserved_share) × lane_timer_cycles, which is %s: %s",
		h.Largest(), needed.Ceil().TruncateInt(), left.TruncateInt(), h.wouldDo(left, capacity))
}

// wouldDo names the largest target that passes, and the largest fires that do under today's target.
func (h Headroom) wouldDo(left, capacity math.LegacyDec) string {
	var ways []string
	// A target of less than a hundredth is out of bounds.
	if target := left.Sub(inCycles(h.Largest())).QuoTruncate(capacity); target.GTE(math.LegacyNewDecWithPrec(1, 2)) {
		ways = append(ways, "eip1559.target at most "+decimal.Of(target).Text()+" would do")
	}
	if size := left.Sub(h.Target.Mul(capacity)); size.GTE(inCycles(h.Least)) {
		cells := size.Mul(inCycles(h.Capacity.Cells)).QuoTruncate(capacity)
		ways = append(ways, fmt.Sprintf("eip1559.max_cycles_per_fire_auction at most %s with max_cells_per_fire at most %s would do",
			size.TruncateInt(), cells.TruncateInt()))
	}
	if len(ways) == 0 {
		return "a lower eip1559.target with smaller fires would do"
	}
	return strings.Join(ways, "; ")
}

func inCycles(n uint64) math.LegacyDec { return math.LegacyNewDecFromInt(math.NewIntFromUint64(n)) }

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
	// firstStated is the first kind of lists of stated asks; the kinds below are those of Kind.
	firstStated = 16
	// firstCapped is the first kind of lists of asks with a spend cap, cappedKinds the number of lists for each Kind.
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
func statedList(weight, bucket uint32, by order) List {
	return MakeList(weight, firstStated+bucket<<1|uint32(by))
}

// cappedList is the list of the asks of a kind with spend caps of a bucket. The buckets of a kind are adjacent, in the order
// of their spend caps, as are the two lists of a bucket.
func cappedList(weight uint32, kind Kind, bucket uint32, by order) List {
	return MakeList(weight, firstCapped+uint32(kind)*cappedKinds+bucket<<1|uint32(by))
}

// isStated reports whether the list is one of stated asks, isCapped whether it is one of asks with a spend cap.
func isStated(l List) bool { return l.Kind() >= firstStated && l.Kind() < firstCapped }

func isCapped(l List) bool { return l.Kind() >= firstCapped }

// cappedKind is the kind of the asks of a list of asks with a spend cap.
func cappedKind(l List) Kind { return Kind((l.Kind() - firstCapped) / cappedKinds) }

// isByFee reports whether the list is ordered by max fee or by spend cap: the second of a bucket.
func isByFee(l List) bool { return l.Kind() >= firstStated && order(l.Kind()&1) == byFee }

// Leads reports whether a list stands for a source in a summary of the index: the first of a bucket stands for both, as no
// timer pays more than what that one is ordered by.
func Leads(l List) bool { return !isByFee(l) }

// bucketOf is the bucket of a list of stated asks or of asks with a spend cap. It inverts statedList and cappedList.
func bucketOf(l List) uint32 {
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
// lane is of kind CellPricedOut. The weight is in sixteenths. Invariant: it is below WideWeight.
func EntriesOf(ask Ask, weight uint32, due, seq uint64) []ListEntry {
	zero := math.LegacyZeroDec()
	kind := ask.Kind
	if ask.SpendCap.Exhausted() {
		kind = CellPricedOut
	}
	switch {
	case kind == Stated:
		fee := ask.SpendCap.Lower(ask.Stated.MaxFee)
		tip := math.LegacyMinDec(ask.Stated.MaxPriority, fee)
		bucket := slackBucket(fee.Sub(tip).BigInt())
		return []ListEntry{
			{List: statedList(weight, bucket, byTip), Price: tip, Other: fee, Due: due, Seq: seq},
			{List: statedList(weight, bucket, byFee), Price: fee, Other: tip, Due: due, Seq: seq},
		}
	case kind == CellPricedOut || ask.SpendCap.Unbounded():
		return []ListEntry{{List: MakeList(weight, uint32(kind)), Price: zero, Other: zero, Due: due, Seq: seq}}
	default:
		spendCap := ask.SpendCap.PerSize
		bucket := slackBucket(spendCap.BigInt())
		return []ListEntry{
			{List: cappedList(weight, kind, bucket, byTip), Price: zero, Other: spendCap, Due: due, Seq: seq},
			{List: cappedList(weight, kind, bucket, byFee), Price: spendCap, Other: zero, Due: due, Seq: seq},
		}
	}
}

// AskOf is what the timer of the entry asks for. It inverts EntriesOf: an entry has all that ranks its timer, so
// that no record is read for timers that are not taken.
func AskOf(entry ListEntry) Ask {
	first, second := entry.Price, entry.Other
	if isByFee(entry.List) {
		first, second = second, first
	}
	switch {
	case isCapped(entry.List):
		return Ask{Kind: cappedKind(entry.List), SpendCap: SpendCap{PerSize: second}}
	case isStated(entry.List):
		return Ask{Kind: Stated, Stated: Bid{MaxFee: second, MaxPriority: first}}
	case Kind(entry.List.Kind()) == Stated:
		// EntriesOf makes no such list. A genesis file may name it.
		return Ask{Kind: CellPricedOut}
	default:
		return Ask{Kind: Kind(entry.List.Kind())}
	}
}

// candidateOf is the entry as the rules see it. Its actor, gas limit and id are not known, and have no part in the
// rank.
func candidateOf(entry ListEntry) Candidate {
	return Candidate{Due: entry.Due, Seq: entry.Seq, Ask: AskOf(entry), Weight: entry.List.Weight()}
}

// EIP1559Index returns the admitted timers by rank at the prices of one block, best first. With it a block orders more
// timers than it can read. Heads and Read count what it read.
type EIP1559Index struct {
	*Merge[Rank]
}

// OpenEIP1559Index announces the lists at the prices of a block, and opens those that can still win as Next comes to them. At most
// maxReads entries are read beyond the heads of the lists. After that, only timers already read are returned, and heads.
// So an actor can overtake the best timer of a bucket by filling the bucket with timers that hide it, at the price of the
// lane's fee for each. It can't prevent the lane from being filled.
//
// A bucket has two lists. If its slacks are at or above the lane's fee, only the list by tip is read. If they are
// below it, only the list by max fee is read. If the lane's fee is within the bucket, both are read: some of its
// timers pay their tip and others what the fee leaves, and neither order alone is that of their ranks.
//
// Asks with a spend cap have two such lists as well. Below the lane's fee nothing of them is read. From there to what the
// kind pays, only the list by spend cap is read, and above it only the one by age.
//
// The summary is read whole; it has at most one entry for each weight and bucket in use. The number of heads is bounded by
// the number of lists, and is usually that of the lists that win.
func OpenEIP1559Index(ctx context.Context, store ListSummary, rules EIP1559, prices Prices, maxReads int) (*EIP1559Index, error) {
	ranker := ranker{rules, prices}
	o := &opener{store: store, merge: NewMerge(store, ranker, maxReads), ranker: ranker, fee: rules.Fee(prices)}
	err := store.Bounds(ctx, func(list List, price math.LegacyDec) {
		o.merge.Announce(o.bound(list, price), func(ctx context.Context) ([]ListEntry, error) {
			return o.open(ctx, list, price)
		})
	})
	return &EIP1559Index{o.merge}, err
}

// Return puts back a timer that was returned under an outdated placement, with the entry that it has now. Next returns it
// once more, whether its entries in the store change or not.
func (x *EIP1559Index) Return(entry ListEntry) { x.Merge.Return(entry) }

// opener opens the sources of an index when their turn comes.
type opener struct {
	store  ListSummary
	merge  *Merge[Rank]
	ranker ranker
	// fee of the lane.
	fee math.LegacyDec
}

// bound is at or before the rank of every timer of a source, by the list that stands for it and a bound on its prices. A
// stated ask pays at most its tip, and at most what the lane's fee leaves of tip and slack. An ask with a spend cap pays at
// most what its kind pays, and at most what the fee leaves of the spend cap.
func (o *opener) bound(list List, price math.LegacyDec) Rank {
	if !isStated(list) && !isCapped(list) {
		return o.ranker.Bound(ListEntry{List: list})
	}
	_, most := slackEdges(bucketOf(list))
	if isStated(list) {
		return NewRank(math.LegacyMinDec(price, price.Add(most).Sub(o.fee)), list.Weight(), 0, 0)
	}
	usual, ok := o.usual(list)
	if !ok {
		return NewRank(math.LegacyOneDec().Neg(), list.Weight(), 0, 0)
	}
	return NewRank(math.LegacyMinDec(usual, most.Sub(o.fee)), list.Weight(), 0, 0)
}

// usual is what asks of the kind of a list with spend caps pay where these do not bind; false if nothing.
func (o *opener) usual(list List) (math.LegacyDec, bool) {
	return o.ranker.rules.Priority(o.ranker.prices, Ask{Kind: cappedKind(list)})
}

// open reads the heads of a source, and corrects the summary where it bounds the source badly.
func (o *opener) open(ctx context.Context, list List, price math.LegacyDec) ([]ListEntry, error) {
	if !isStated(list) && !isCapped(list) {
		// All timers of such a list ask for the same, so that the list alone is in the order of their ranks.
		head, err := o.head(ctx, list, list)
		if err != nil || head == nil {
			return nil, err
		}
		return []ListEntry{*head}, nil
	}
	// Only the first list of a bucket is needed from full on, and only the second below it.
	full := o.fee
	if isCapped(list) {
		if usual, ok := o.usual(list); ok {
			full = full.Add(usual)
		}
	}
	least, most := slackEdges(bucketOf(list))
	var first, second *ListEntry
	var err error
	if least.LT(full) {
		if second, err = o.head(ctx, list+1, list); err != nil || second == nil {
			return nil, err
		}
		if most.LT(full) {
			return []ListEntry{*second}, o.correct(ctx, list, price, second.Price.Sub(least))
		}
	}
	if first, err = o.head(ctx, list, list); err != nil || first == nil {
		return nil, err
	}
	heads := []ListEntry{*first}
	if second != nil {
		heads = append(heads, *second)
	}
	return heads, o.correct(ctx, list, price, first.Price)
}

// head reads the first entry of a list. If there is none, the source that a list stands for is forgotten: the two lists of
// a bucket hold the same timers.
func (o *opener) head(ctx context.Context, list, source List) (*ListEntry, error) {
	head, found, err := o.merge.Head(ctx, list)
	if err != nil {
		return nil, err
	}
	if !found || head.List != list {
		return nil, o.store.Drop(ctx, source)
	}
	return &head, nil
}

// correct lowers the bound of a list of stated asks. Others are not in the order of a price.
func (o *opener) correct(ctx context.Context, list List, bound, price math.LegacyDec) error {
	if !isStated(list) || price.GTE(bound) {
		return nil
	}
	return o.store.Lower(ctx, list, price)
}

// ranker ranks entries at the prices of a block. It ranks by Rules.Rank, so that an index and a sort of the same
// timers agree: overload changes how the order is computed, not the order.
type ranker struct {
	rules  EIP1559
	prices Prices
}

var _ Ranker[Rank] = ranker{}

// Rank implements Ranker.
func (r ranker) Rank(entry ListEntry) (Rank, bool) {
	return r.rules.Rank(r.prices, candidateOf(entry))
}

// Bound implements Ranker. A later entry of a list has at most the same price, and at an equal price a later
// place. In a list by tip a timer pays at most its tip, and in one by age what its kind pays. In a list by max fee or by
// spend cap it pays at most what the lane's fee leaves of that; a negative bound means that the rest of the list is priced
// out.
func (r ranker) Bound(last ListEntry) Rank {
	weight := last.List.Weight()
	if isStated(last.List) && !isByFee(last.List) {
		return NewRank(last.Price, weight, last.Due, last.Seq)
	}
	left := math.LegacyOneDec().Neg()
	if isByFee(last.List) {
		left = last.Price.Sub(r.rules.Fee(r.prices))
	}
	if isStated(last.List) {
		return NewRank(left, weight, last.Due, last.Seq)
	}
	ask := AskOf(last)
	ask.SpendCap = SpendCap{}
	usual, ok := r.rules.Priority(r.prices, ask)
	switch {
	case !ok:
		return NewRank(math.LegacyOneDec().Neg(), weight, last.Due, last.Seq)
	case !isByFee(last.List):
		return NewRank(usual, weight, last.Due, last.Seq)
	case left.GTE(usual):
		// The spend cap does not bind. A later entry with a lower one may pay as much and be older.
		return NewRank(usual, weight, 0, 0)
	default:
		return NewRank(left, weight, last.Due, last.Seq)
	}
}
