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

// OpenIndex announces the lists at the prices of a block, and opens those that can still win as Next comes to them. At most
// maxReads entries are read beyond the heads of the lists. After that, only timers already read are returned, and heads.
// So an actor can overtake the best timer of a class by filling the class with timers that hide it, at the price of the
// lane's fee for each. It can't prevent the lane from being filled.
//
// A class has two lists. If its slacks are at or above the lane's fee, only the list by tip is read. If they are
// below it, only the list by max fee is read. If the lane's fee is within the class, both are read: some of its
// timers pay their tip and others what the fee leaves, and neither order alone is that of their ranks.
//
// The summary is read whole; it has at most one entry for each weight and class in use. The number of heads is bounded by
// the number of lists, and is usually that of the lists that win.
func OpenIndex(ctx context.Context, store merge.Summary, rules Rules, prices policy.Prices, maxReads int) (*Index, error) {
	ranker := ranker{rules, prices}
	o := &opener{store: store, merge: merge.New(store, ranker, maxReads), fee: rules.Fee(prices)}
	err := store.Bounds(ctx, func(list merge.List, price math.LegacyDec) {
		o.merge.Announce(o.bound(ranker, list, price), func(ctx context.Context) ([]merge.Entry, error) {
			return o.open(ctx, list, price)
		})
	})
	return &Index{o.merge}, err
}

// opener opens the sources of an index when their turn comes.
type opener struct {
	store merge.Summary
	merge *merge.Merge[policy.Rank]
	// fee of the lane.
	fee math.LegacyDec
}

// bound is at or before the rank of every timer of a source, by the list that stands for it and a bound on its prices. A
// stated ask pays at most its tip, and at most what the lane's fee leaves of tip and slack.
func (o *opener) bound(r ranker, list merge.List, price math.LegacyDec) policy.Rank {
	if !isStated(list) {
		return r.Bound(merge.Entry{List: list})
	}
	_, most := slackEdges(classOf(list))
	priority := price
	if rest := price.Add(most).Sub(o.fee); rest.LT(priority) {
		priority = rest
	}
	return policy.NewRank(priority, list.Weight(), 0, 0)
}

// open reads the heads of a source, and corrects the summary where it bounds the source badly.
func (o *opener) open(ctx context.Context, list merge.List, price math.LegacyDec) ([]merge.Entry, error) {
	least, most := math.LegacyZeroDec(), math.LegacyZeroDec()
	if isStated(list) {
		least, most = slackEdges(classOf(list))
	}
	// All timers of a list that is not stated ask for the same, so that the list alone is in the order of their ranks.
	if !isStated(list) || least.GTE(o.fee) {
		head, err := o.head(ctx, list, list)
		if err != nil || head == nil {
			return nil, err
		}
		return []merge.Entry{*head}, o.correct(ctx, list, price, head.Price)
	}
	byFeeHead, err := o.head(ctx, list+1, list)
	if err != nil || byFeeHead == nil {
		return nil, err
	}
	if most.LT(o.fee) {
		return []merge.Entry{*byFeeHead}, o.correct(ctx, list, price, byFeeHead.Price.Sub(least))
	}
	head, err := o.head(ctx, list, list)
	if err != nil || head == nil {
		return nil, err
	}
	return []merge.Entry{*head, *byFeeHead}, o.correct(ctx, list, price, head.Price)
}

// head reads the first entry of a list. If there is none, the source that a list stands for is forgotten: the two lists of
// a class hold the same timers.
func (o *opener) head(ctx context.Context, list, source merge.List) (*merge.Entry, error) {
	head, found, err := o.merge.Head(ctx, list)
	if err != nil {
		return nil, err
	}
	if !found || head.List != list {
		return nil, o.store.Drop(ctx, source)
	}
	return &head, nil
}

// badBound is the part of a bound by which it must be too high to be worth a write: 1 in so many. A list is then corrected
// a few times on its way down, not each time that its first timer fires.
const badBound = 8

func (o *opener) correct(ctx context.Context, list merge.List, bound, price math.LegacyDec) error {
	if price.GTE(bound.Sub(bound.QuoInt64(badBound))) {
		return nil
	}
	return o.store.Lower(ctx, list, price)
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
