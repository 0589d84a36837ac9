package eip1559

import (
	"context"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/merge"
	"github.com/cosmos-timers/timers/x/timers/policy"
)

// Index returns the admitted timers by rank at the prices of one block, best first. With it a block orders more
// timers than it can read. Heads and Read count what it read.
type Index struct {
	*merge.Merge[policy.Rank]
}

// OpenIndex opens the lists at the prices of a block. At most maxReads entries are read beyond the heads of the
// lists. After that, only timers already read are returned. So an actor can overtake the best timer of a class by
// filling the class with timers that hide it, at the price of the lane's fee for each. It can't prevent the lane from
// being filled.
//
// A class has two lists. If its slacks are at or above the lane's fee, only the list by tip is read. If they are
// below it, only the list by max fee is read. If the lane's fee is within the class, both are read: some of its
// timers pay their tip and others what the fee leaves, and neither order alone is that of their ranks.
//
// Asks with a ceiling have two such lists as well. Below the lane's fee nothing of them is read: their classes are passed
// over in one step. From there to what the kind pays, only the list by ceiling is read, and above it only the one by age.
//
// The number of heads is bounded by the number of lists: at most two for each weight and class in use.
func OpenIndex(ctx context.Context, store merge.Store, rules Rules, prices policy.Prices, maxReads int) (*Index, error) {
	m := merge.New(store, ranker{rules, prices}, maxReads)
	o := opener{m, rules, prices, rules.Fee(prices)}
	for from := merge.List(0); ; {
		head, found, err := m.Head(ctx, from)
		if err != nil {
			return nil, err
		}
		// Wide lists belong to other policies, and are stored after all narrow ones.
		if !found || head.List.Wide() {
			return &Index{m}, nil
		}
		if from, err = o.open(ctx, head); err != nil {
			return nil, err
		}
	}
}

// Return puts back a timer that was returned under an outdated placement, with the entry that it has now. Next returns it
// once more, whether its entries in the store change or not.
func (x *Index) Return(entry merge.Entry) { x.Merge.Return(entry) }

// opener opens the lists at the prices of a block, of which fee is the lane's.
type opener struct {
	*merge.Merge[policy.Rank]
	rules  Rules
	prices policy.Prices
	fee    math.LegacyDec
}

// open opens the source that begins with a head, if it is needed, and returns the list after it.
func (o opener) open(ctx context.Context, head merge.Entry) (next merge.List, err error) {
	if !isStated(head.List) && !isCapped(head.List) {
		// All timers of such a list ask for the same, so that the list alone is in the order of their ranks.
		o.Open(head)
		return head.List + 1, nil
	}
	weight, class := head.List.Weight(), classOf(head.List)
	least, most := slackEdges(class)
	if isStated(head.List) {
		return statedList(weight, class+1, byTip), o.openClass(ctx, head, least.GTE(o.fee), most.LT(o.fee))
	}
	kind := cappedKind(head.List)
	// A list of a class below that of the fee holds nothing that may fire.
	if lowest := slackClass(o.fee.BigInt()); class < lowest {
		return cappedList(weight, kind, lowest, byTip), nil
	}
	full := o.fee
	if tip, ok := o.rules.Priority(o.prices, policy.Ask{Kind: kind}); ok {
		full = full.Add(tip)
	}
	return cappedList(weight, kind, class+1, byTip), o.openClass(ctx, head, least.GTE(full), most.LT(full))
}

// openClass opens the first list of a class, the second, or both. A class that is not empty has both lists, and head is
// the first entry of the first one.
func (o opener) openClass(ctx context.Context, head merge.Entry, firstOnly, secondOnly bool) error {
	if firstOnly {
		o.Open(head)
		return nil
	}
	second, found, err := o.Head(ctx, head.List+1)
	switch {
	case err != nil:
		return err
	case !found || second.List != head.List+1:
		// Only an inconsistent store is so.
		o.Open(head)
	case secondOnly:
		o.Open(second)
	default:
		o.Open(head, second)
	}
	return nil
}

// ranker ranks entries at the prices of a block. It ranks by Rules.Rank, so that an index and a sort of the same
// timers agree: overload changes how the order is computed, not the order.
type ranker struct {
	rules  Rules
	prices policy.Prices
}

var _ merge.Ranker[policy.Rank] = ranker{}

// Rank implements merge.Ranker.
func (r ranker) Rank(entry merge.Entry) (policy.Rank, bool) {
	return r.rules.Rank(r.prices, candidateOf(entry))
}

// Bound implements merge.Ranker. A later entry of a list has at most the same price, and at an equal price a later
// place. In a list by tip a timer pays at most its tip, and in one by age what its kind pays. In a list by max fee or by
// ceiling it pays at most what the lane's fee leaves of that; a negative bound means that the rest of the list is priced
// out.
func (r ranker) Bound(last merge.Entry) policy.Rank {
	weight := last.List.Weight()
	if isStated(last.List) && !isByFee(last.List) {
		return policy.NewRank(last.Price, weight, last.Due, last.Seq)
	}
	left := math.LegacyOneDec().Neg()
	if isByFee(last.List) {
		left = last.Price.Sub(r.rules.Fee(r.prices))
	}
	if isStated(last.List) {
		return policy.NewRank(left, weight, last.Due, last.Seq)
	}
	ask := AskOf(last)
	ask.Ceiling = policy.Ceiling{}
	usual, ok := r.rules.Priority(r.prices, ask)
	switch {
	case !ok:
		return policy.NewRank(math.LegacyOneDec().Neg(), weight, last.Due, last.Seq)
	case !isByFee(last.List):
		return policy.NewRank(usual, weight, last.Due, last.Seq)
	case left.GTE(usual):
		// The ceiling does not bind. A later entry with a lower one may pay as much and be older.
		return policy.NewRank(usual, weight, 0, 0)
	default:
		return policy.NewRank(left, weight, last.Due, last.Seq)
	}
}
