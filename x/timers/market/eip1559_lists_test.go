package market_test

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/testutil/policytest"
)

// drawUnits draws a number of units of any length up to the largest price, often at the edge of a power of two.
func eip1559DrawUnits(t *rapid.T, name string) *big.Int {
	bits := uint(rapid.IntRange(0, 119).Draw(t, name+" bits"))
	n := new(big.Int).Lsh(big.NewInt(1), bits)
	off := rapid.OneOf(rapid.Int64Range(-2, 2), rapid.Int64Min(0)).Draw(t, name+" off")
	quarters := rapid.Int64Range(0, 3).Draw(t, name+" quarters")
	n.Add(n, new(big.Int).Mul(big.NewInt(quarters), new(big.Int).Rsh(n, 2))).Add(n, big.NewInt(off))
	most := policytest.Dec(policytest.MaxPrice).BigInt()
	switch {
	case n.Sign() < 0:
		return n.SetInt64(0)
	case n.Cmp(most) > 0:
		return most
	}
	return n
}

// bucketProperty: a slack lies within the edges of its bucket, buckets follow each other without a gap, and none is more
// than a quarter wide.
func bucketProperty(t *rapid.T) {
	slack := eip1559DrawUnits(t, "slack")
	bucket := market.SlackBucket(slack)
	require.Less(t, uint32(market.FirstStated)+bucket<<1|1, uint32(1)<<16, "it has no name")
	least, most := market.SlackEdges(bucket)
	require.True(t, least.LTE(policytest.Units(slack)) && most.GTE(policytest.Units(slack)), "%s is not in %s to %s", slack, least, most)
	require.True(t, most.BigInt().Cmp(new(big.Int).Quo(new(big.Int).Mul(least.BigInt(), big.NewInt(5)), big.NewInt(4))) <= 0,
		"%s to %s is more than a quarter wide", least, most)
	require.Equal(t, bucket, market.SlackBucket(least.BigInt()))
	require.Equal(t, bucket, market.SlackBucket(most.BigInt()))

	above := new(big.Int).Add(most.BigInt(), big.NewInt(1))
	require.Greater(t, market.SlackBucket(above), bucket, "no bucket begins where this one ends")
	next, _ := market.SlackEdges(market.SlackBucket(above))
	require.Equal(t, above.String(), next.BigInt().String(), "a gap")

	other := eip1559DrawUnits(t, "other")
	if other.Cmp(slack) >= 0 {
		require.GreaterOrEqual(t, market.SlackBucket(other), bucket)
	} else {
		require.LessOrEqual(t, market.SlackBucket(other), bucket)
	}
}

// The kinds of lists with stated asks lie between those without prices of their own and those with spend caps.
func TestKindsOfListsDoNotOverlap(t *testing.T) {
	for kind, want := range map[uint32]bool{
		uint32(market.Stated): false, market.FirstStated - 1: false, market.FirstStated: true,
		market.FirstCapped - 1: true, market.FirstCapped: false,
	} {
		require.Equal(t, want, market.IsStated(market.MakeList(16, kind)), "kind %d", kind)
	}
}

func TestSlackBucket_HoldsItsSlack(t *testing.T) { rapid.Check(t, bucketProperty) }

func FuzzSlacksLieInTheirClass(f *testing.F) { f.Fuzz(rapid.MakeFuzz(bucketProperty)) }

// TestSlackBucket_IsNextToTheOneBefore walks all buckets of slacks that a bid admits.
func TestSlackBucket_IsNextToTheOneBefore(t *testing.T) {
	next, last, buckets := new(big.Int), -1, 0
	for most := policytest.Dec(policytest.MaxPrice).BigInt(); next.Cmp(most) <= 0; buckets++ {
		bucket := market.SlackBucket(next)
		require.Greater(t, int(bucket), last)
		low, high := market.SlackEdges(bucket)
		require.Equal(t, next.String(), low.BigInt().String())
		next, last = high.BigInt().Add(high.BigInt(), big.NewInt(1)), int(bucket)
	}
	// Four to a power of two, of 118 of them, and 0 to 3.
	require.Less(t, buckets, 4*120)
	require.Greater(t, buckets, 4*115)
}

// drawWideAsk draws an ask of any kind, with prices of all sizes.
func drawWideAsk(t *rapid.T) market.Ask {
	kind := market.Kind(rapid.IntRange(int(market.Estimated), int(market.Stated)+3).Draw(t, "kind"))
	if kind < market.Stated {
		return market.Ask{Kind: kind}
	}
	return market.StatedAsk(policytest.Units(eip1559DrawUnits(t, "max fee")), policytest.Units(eip1559DrawUnits(t, "max priority")))
}

func requireSameAsk(t *rapid.T, want, got market.Ask) {
	require.Equal(t, want.Kind, got.Kind)
	if want.Kind == market.Stated {
		require.Equal(t, want.Stated.MaxFee.String(), got.Stated.MaxFee.String())
		require.Equal(t, want.Stated.MaxPriority.String(), got.Stated.MaxPriority.String())
	}
}

// entriesProperty: what a timer asks for, its weight and its place come out of each of its entries again; its entries
// are in different lists, and those of different weights and kinds as well.
func entriesProperty(t *rapid.T) {
	ask, weight := drawWideAsk(t), rapid.OneOf(rapid.Uint32Range(16, 32), rapid.Uint32Max(1<<15-1)).Draw(t, "weight")
	due, seq := rapid.Uint64().Draw(t, "due"), rapid.Uint64().Draw(t, "seq")
	entries := market.EntriesOf(ask, weight, due, seq)
	wantPrices := []string{math.LegacyZeroDec().String()}
	if ask.Kind == market.Stated {
		wantPrices = []string{ask.Stated.MaxPriority.String(), ask.Stated.MaxFee.String()}
	}
	require.Len(t, entries, len(wantPrices))
	for i, entry := range entries {
		require.Equal(t, weight, entry.List.Weight())
		require.Equal(t, ask.Kind == market.Stated, market.IsStated(entry.List))
		require.Equal(t, wantPrices[i], entry.Price.String(), "the price that orders it")
		if ask.Kind == market.Stated {
			require.Equal(t, wantPrices[1-i], entry.Other.String(), "the price that does not")
		} else {
			require.True(t, entry.Other.IsZero())
		}
		requireSameAsk(t, ask, market.AskOf(entry))
		require.Equal(t, market.Candidate{Due: due, Seq: seq, Ask: market.AskOf(entry), Weight: weight}, market.CandidateOf(entry))
		if i > 0 {
			require.Equal(t, entries[i-1].List+1, entry.List, "the two lists of a bucket follow each other")
		}
	}

	other, otherWeight := drawWideAsk(t), rapid.Uint32Range(16, 32).Draw(t, "other weight")
	for _, a := range entries {
		for _, b := range market.EntriesOf(other, otherWeight, due, seq) {
			if otherWeight != weight || other.Kind != ask.Kind {
				require.NotEqual(t, a.List, b.List)
			}
			if otherWeight > weight {
				require.Greater(t, b.List, a.List, "lists are ordered by weight first")
			}
		}
	}
}

func TestEntriesKeepWhatTheTimerAsks(t *testing.T) { rapid.Check(t, entriesProperty) }

func FuzzEntriesKeepWhatTheTimerAsks(f *testing.F) { f.Fuzz(rapid.MakeFuzz(entriesProperty)) }
