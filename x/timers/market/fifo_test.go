package market_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/testutil/policytest"
)

// naiveOrder picks the first of what is left, again and again.
func naiveOrder(candidates []market.Candidate) []market.Candidate {
	left, order := slices.Clone(candidates), make([]market.Candidate, 0, len(candidates))
	for len(left) > 0 {
		first := 0
		for i, c := range left {
			if c.Due < left[first].Due || c.Due == left[first].Due && c.Seq < left[first].Seq {
				first = i
			}
		}
		order = append(order, left[first])
		left = slices.Delete(left, first, first+1)
	}
	return order
}

func ordered(candidates []market.Candidate) []market.Candidate {
	var order []market.Candidate
	for _, i := range (market.FIFO{}).Order(market.Prices{}, candidates) {
		order = append(order, candidates[i])
	}
	return order
}

// orderProperty: the order is that of (due, seq), names every candidate once, does not depend on how they are handed
// in, and leaves them as they are.
func orderProperty(t *rapid.T) {
	candidates := policytest.DrawCandidates(t)
	before := slices.Clone(candidates)

	indices := market.FIFO{}.Order(market.Prices{}, candidates)
	require.Equal(t, before, candidates, "the candidates were changed")
	all := slices.Sorted(slices.Values(indices))
	require.Len(t, all, len(candidates))
	for i, index := range all {
		require.Equal(t, i, index, "not a permutation: %v", indices)
	}

	want := naiveOrder(candidates)
	got := ordered(candidates)
	require.True(t, slices.Equal(want, got), "want %v, got %v", want, got)
	shuffled := rapid.Permutation(candidates).Draw(t, "handed in as")
	require.True(t, slices.Equal(want, ordered(shuffled)), "the order depends on how candidates are handed in")
}

// Rule: 1.7-fifo
func TestFIFOOrdersByDueAndSeq(t *testing.T) { rapid.Check(t, orderProperty) }

func FuzzFIFOOrdersByDueAndSeq(f *testing.F) { f.Fuzz(rapid.MakeFuzz(orderProperty)) }

// TestFIFOIgnoresBidsAndWeights: neither a gas limit, nor a bid, nor a weight buys a place.
func TestFIFOIgnoresBidsAndWeights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		candidates := policytest.DrawCandidates(t)
		order := market.FIFO{}.Order(market.Prices{}, candidates)
		for i := range candidates {
			candidates[i].Size = rapid.Uint64().Draw(t, "other gas limit")
			candidates[i].Weight = rapid.Uint32().Draw(t, "weight")
			candidates[i].Ask = market.StatedAsk(math.LegacyNewDec(rapid.Int64Min(0).Draw(t, "max fee")), math.LegacyOneDec())
		}
		require.Equal(t, order, market.FIFO{}.Order(market.Prices{}, candidates))
	})
}

// TestFIFOChargesTheChainsPrices: the lane basefee is reported equal to the chain's and not charged in addition, and
// there are no tips.
//
// Rule: 1.7-fifo, 1.7-basefee-of-others
func TestFIFOChargesTheChainsPrices(t *testing.T) {
	cycle, cell := math.LegacyNewDecWithPrec(1, 3), math.LegacyNewDecWithPrec(3, 2)
	laneBasefee := market.FIFO{}.LaneBasefee(cycle, market.Last{Basefee: math.LegacyOneDec(), Use: market.Use{Size: 1_000_000}})
	require.Equal(t, cycle, laneBasefee)
	price, fires := market.FIFO{}.Price(market.Prices{Cycle: cycle, Cell: cell, Lane: laneBasefee}, market.Candidate{Size: 40_000})
	require.True(t, fires)
	require.Equal(t, cycle, price.Cycle)
	require.Equal(t, cell, price.Cell)
	require.True(t, price.Priority.IsZero())
}

// BenchmarkFIFOOrder orders a full window, handed in as the queue hands it in and backwards.
func BenchmarkFIFOOrder(b *testing.B) {
	sorted := make([]market.Candidate, 2_048)
	for i := range sorted {
		sorted[i] = market.Candidate{Due: uint64(i / 7), Seq: uint64(i)}
	}
	backwards := slices.Clone(sorted)
	slices.Reverse(backwards)
	b.Run("sorted", func(b *testing.B) {
		for range b.N {
			market.FIFO{}.Order(market.Prices{}, sorted)
		}
	})
	b.Run("backwards", func(b *testing.B) {
		for range b.N {
			market.FIFO{}.Order(market.Prices{}, backwards)
		}
	})
}
