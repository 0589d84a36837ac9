package eip1559

import (
	"context"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/merge"
	"github.com/cosmos-timers/timers/x/timers/policy"
)

// Index hands out the admitted timers by rank at the prices of one block, best first. It is how a block orders more
// timers than it can read. Heads and Read count what it read.
type Index struct {
	*merge.Merge[policy.Rank]
}

// OpenIndex opens the lists at the prices of a block. At most maxReads entries are read beyond the heads of the
// lists. When that is used up, the order is that of what was read: an actor that fills a class with timers that
// hide the best one can overtake it so, at the price of the lane's fee, but can't keep the lane from being filled.
//
// Of the two lists of a class, a slack at or above the lane's fee needs the one by tip alone, and a slack below it
// the one by max fee alone. Both are read where the lane's fee is within the class: then some of its timers pay
// their tip and others what their fee leaves, and neither order alone is that of their ranks.
func OpenIndex(ctx context.Context, store merge.Store, rules Rules, prices policy.Prices, maxReads int) (*Index, error) {
	m := merge.New(store, ranker{rules, prices}, maxReads)
	fee := rules.Fee(prices)
	for from := merge.List(0); ; {
		head, found, err := m.Head(ctx, from)
		if err != nil {
			return nil, err
		}
		// Wide lists belong to other policies, and come after all narrow ones.
		if !found || head.List.Wide() {
			return &Index{m}, nil
		}
		if !isStated(head.List) {
			m.Open(head)
			from = head.List + 1
			continue
		}
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
		case !found:
			return &Index{m}, nil
		case most.LT(fee):
			m.Open(second)
		default:
			m.Open(head, second)
		}
	}
}

// Return puts a timer back that was handed out under an outdated weight. It is handed out once more by its present
// weight, in sixteenths, whether its entries in the store change or not.
func (x *Index) Return(entry merge.Entry, weight uint32) {
	x.Merge.Return(EntriesOf(AskOf(entry), weight, entry.Due, entry.Seq)[0])
}

// ranker ranks entries at the prices of a block. It ranks by Rules.Rank, so that an index and a sort of the same
// timers agree.
type ranker struct {
	rules  Rules
	prices policy.Prices
}

var _ merge.Ranker[policy.Rank] = ranker{}

// Rank implements merge.Ranker.
func (r ranker) Rank(entry merge.Entry) (policy.Rank, bool) {
	return r.rules.Rank(r.prices, candidateOf(entry))
}

// Bound implements merge.Ranker. What comes after an entry has no more of the price that orders the list, and at an
// equal price no earlier place. By tip, a timer pays at most its tip; by max fee, at most what the lane's fee
// leaves of it, which is negative for lists whose rest is priced out.
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
