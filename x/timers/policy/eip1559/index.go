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
// The number of heads is bounded by the number of lists: at most two for each weight and class in use.
func OpenIndex(ctx context.Context, store merge.Store, rules Rules, prices policy.Prices, maxReads int) (*Index, error) {
	m := merge.New(store, ranker{rules, prices}, maxReads)
	fee := rules.Fee(prices)
	for from := merge.List(0); ; {
		head, found, err := m.Head(ctx, from)
		if err != nil {
			return nil, err
		}
		// Wide lists belong to other policies, and are stored after all narrow ones.
		if !found || head.List.Wide() {
			return &Index{m}, nil
		}
		// All timers of such a list ask for the same, so that the list alone is in the order of their ranks.
		if !isStated(head.List) {
			m.Open(head)
			from = head.List + 1
			continue
		}
		// A class that is not empty has both lists, and the one by tip is stored first.
		weight, class := head.List.Weight(), classOf(head.List)
		from = statedList(weight, class+1, byTip)
		least, most := slackEdges(class)
		if least.GTE(fee) {
			m.Open(head)
			continue
		}
		second, found, err := m.Head(ctx, statedList(weight, class, byFee))
		if err != nil {
			return nil, err
		}
		switch {
		// Neither the second list nor any later one: only an inconsistent store is so, and there is no more to open.
		case !found:
			return &Index{m}, nil
		case most.LT(fee):
			m.Open(second)
		default:
			m.Open(head, second)
		}
	}
}

// Return puts back a timer that was returned under an outdated weight. Next returns it once more by its current
// weight, in sixteenths, whether its entries in the store change or not.
func (x *Index) Return(entry merge.Entry, weight uint32) {
	x.Merge.Return(EntriesOf(AskOf(entry), weight, entry.Due, entry.Seq)[0])
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
// place. In a list by tip a timer pays at most its tip. In a list by max fee it pays at most what the lane's fee
// leaves of that; a negative bound means that the rest of the list is priced out.
func (r ranker) Bound(last merge.Entry) policy.Rank {
	priority := last.Price
	switch {
	case !isStated(last.List):
		var ok bool
		if priority, ok = r.rules.Priority(r.prices, AskOf(last)); !ok {
			priority = math.LegacyOneDec().Neg()
		}
	case isByFee(last.List):
		priority = last.Price.Sub(r.rules.Fee(r.prices))
	}
	return policy.NewRank(priority, last.List.Weight(), last.Due, last.Seq)
}
