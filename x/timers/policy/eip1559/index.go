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
func OpenIndex(ctx context.Context, store merge.Summary, rules Rules, prices policy.Prices, maxReads int) (*Index, error) {
	ranker := ranker{rules, prices}
	o := &opener{store: store, merge: merge.New(store, ranker, maxReads), ranker: ranker, fee: rules.Fee(prices)}
	err := store.Bounds(ctx, func(list merge.List, price math.LegacyDec) {
		o.merge.Announce(o.bound(list, price), func(ctx context.Context) ([]merge.Entry, error) {
			return o.open(ctx, list, price)
		})
	})
	return &Index{o.merge}, err
}

// Return puts back a timer that was returned under an outdated placement, with the entry that it has now. Next returns it
// once more, whether its entries in the store change or not.
func (x *Index) Return(entry merge.Entry) { x.Merge.Return(entry) }

// opener opens the sources of an index when their turn comes.
type opener struct {
	store  merge.Summary
	merge  *merge.Merge[policy.Rank]
	ranker ranker
	// fee of the lane.
	fee math.LegacyDec
}

// bound is at or before the rank of every timer of a source, by the list that stands for it and a bound on its prices. A
// stated ask pays at most its tip, and at most what the lane's fee leaves of tip and slack. An ask with a spend cap pays at
// most what its kind pays, and at most what the fee leaves of the spend cap.
func (o *opener) bound(list merge.List, price math.LegacyDec) policy.Rank {
	if !isStated(list) && !isCapped(list) {
		return o.ranker.Bound(merge.Entry{List: list})
	}
	_, most := slackEdges(bucketOf(list))
	if isStated(list) {
		return policy.NewRank(math.LegacyMinDec(price, price.Add(most).Sub(o.fee)), list.Weight(), 0, 0)
	}
	usual, ok := o.usual(list)
	if !ok {
		return policy.NewRank(math.LegacyOneDec().Neg(), list.Weight(), 0, 0)
	}
	return policy.NewRank(math.LegacyMinDec(usual, most.Sub(o.fee)), list.Weight(), 0, 0)
}

// usual is what asks of the kind of a list with spend caps pay where these do not bind; false if nothing.
func (o *opener) usual(list merge.List) (math.LegacyDec, bool) {
	return o.ranker.rules.Priority(o.ranker.prices, policy.Ask{Kind: cappedKind(list)})
}

// open reads the heads of a source, and corrects the summary where it bounds the source badly.
func (o *opener) open(ctx context.Context, list merge.List, price math.LegacyDec) ([]merge.Entry, error) {
	if !isStated(list) && !isCapped(list) {
		// All timers of such a list ask for the same, so that the list alone is in the order of their ranks.
		head, err := o.head(ctx, list, list)
		if err != nil || head == nil {
			return nil, err
		}
		return []merge.Entry{*head}, nil
	}
	// Only the first list of a bucket is needed from full on, and only the second below it.
	full := o.fee
	if isCapped(list) {
		if usual, ok := o.usual(list); ok {
			full = full.Add(usual)
		}
	}
	least, most := slackEdges(bucketOf(list))
	var first, second *merge.Entry
	var err error
	if least.LT(full) {
		if second, err = o.head(ctx, list+1, list); err != nil || second == nil {
			return nil, err
		}
		if most.LT(full) {
			return []merge.Entry{*second}, o.correct(ctx, list, price, second.Price.Sub(least))
		}
	}
	if first, err = o.head(ctx, list, list); err != nil || first == nil {
		return nil, err
	}
	heads := []merge.Entry{*first}
	if second != nil {
		heads = append(heads, *second)
	}
	return heads, o.correct(ctx, list, price, first.Price)
}

// head reads the first entry of a list. If there is none, the source that a list stands for is forgotten: the two lists of
// a bucket hold the same timers.
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

// correct lowers the bound of a list of stated asks. Others are not in the order of a price.
func (o *opener) correct(ctx context.Context, list merge.List, bound, price math.LegacyDec) error {
	if !isStated(list) || price.GTE(bound) {
		return nil
	}
	return o.store.Lower(ctx, list, price)
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
// spend cap it pays at most what the lane's fee leaves of that; a negative bound means that the rest of the list is priced
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
	ask.SpendCap = policy.SpendCap{}
	usual, ok := r.rules.Priority(r.prices, ask)
	switch {
	case !ok:
		return policy.NewRank(math.LegacyOneDec().Neg(), weight, last.Due, last.Seq)
	case !isByFee(last.List):
		return policy.NewRank(usual, weight, last.Due, last.Seq)
	case left.GTE(usual):
		// The spend cap does not bind. A later entry with a lower one may pay as much and be older.
		return policy.NewRank(usual, weight, 0, 0)
	default:
		return policy.NewRank(left, weight, last.Due, last.Seq)
	}
}
