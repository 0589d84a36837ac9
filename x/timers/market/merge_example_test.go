package market_test

import (
	"cmp"
	"context"
	"fmt"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/testutil/mergetest"
)

// bidRank is the rank of this example's policy: the highest price × weight first, then the oldest.
type bidRank struct {
	worth math.LegacyDec
	seq   uint64
}

func (r bidRank) Compare(other bidRank) int {
	switch {
	case r.worth.GT(other.worth):
		return -1
	case r.worth.LT(other.worth):
		return 1
	}
	return cmp.Compare(r.seq, other.seq)
}

func (r bidRank) Negative() bool { return r.worth.IsNegative() }

// byWeight ranks what a list holds. Within a list all weights are equal, so that the entry read last bounds the rest.
type byWeight struct{}

func (byWeight) Rank(e market.ListEntry) (bidRank, bool) {
	return bidRank{e.Price.MulInt64(int64(e.List.Weight())), e.Seq}, true
}

func (b byWeight) Bound(last market.ListEntry) bidRank {
	bound, _ := b.Rank(last)
	return bound
}

// Timers lie in one list for each weight of their actors, ordered by price. The merge hands out the best of all lists
// by price × weight, and reads hardly more than it hands out.
func Example() {
	const kind = 0
	entry := func(weight uint32, price int64, seq uint64) market.ListEntry {
		return market.ListEntry{
			List: market.MakeList(weight, kind), Price: math.LegacyNewDec(price), Other: math.LegacyZeroDec(), Due: 10, Seq: seq,
		}
	}
	store := mergetest.New(entry(1, 9, 1), entry(1, 5, 2), entry(1, 4, 3), entry(2, 4, 4), entry(2, 3, 5))

	ctx := context.Background()
	best := market.NewMerge[bidRank](store, byWeight{}, 100)
	for from := market.List(0); ; {
		head, found, err := best.Head(ctx, from)
		if err != nil {
			panic(err)
		}
		if !found {
			break
		}
		best.Open(head)
		from = head.List + 1
	}
	for range 3 {
		timer, _, err := best.Next(ctx)
		if err != nil {
			panic(err)
		}
		fmt.Printf("timer %d: price %s × weight %d\n", timer.Seq, timer.Price.TruncateInt(), timer.List.Weight())
	}
	// Output:
	// timer 1: price 9 × weight 1
	// timer 4: price 4 × weight 2
	// timer 5: price 3 × weight 2
}
