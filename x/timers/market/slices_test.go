package market_test

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cosmos-timers/timers/x/timers/market"
)

func TestSlicesAreInProportionToWeights(t *testing.T) {
	candidates := []market.Candidate{
		{Actor: "a", Weight: 500_000},
		{Actor: "b", Weight: 250_000},
		{Actor: "a", Weight: 500_000},
		{Actor: "c", Weight: 250_000},
		{Actor: "not in order", Weight: 1_000_000},
	}
	s := market.NewSlices(1_000_000, candidates, []int{2, 1, 0, 3})
	require.True(t, s.Admits("a", 1<<40), "the first fire always is")
	s.Spend("a", 100_000)
	require.True(t, s.Admits("a", 400_000))
	require.False(t, s.Admits("a", 400_001))
	s.Spend("b", 250_000)
	require.False(t, s.Admits("b", 1))
	require.True(t, s.Admits("c", 1<<40))
	require.True(t, s.Admits("stranger", 1<<40), "who has no slice is not held to one")
	s.Spend("stranger", 5)
	var none market.Slices
	none.Spend("a", 5)
	require.True(t, none.Admits("a", 1<<40))
	require.Empty(t, market.NewSlices(1_000_000, candidates, nil))
	weightless := market.NewSlices(1_000_000, []market.Candidate{{Actor: "a"}}, []int{0})
	weightless.Spend("a", 0)
	require.False(t, weightless.Admits("a", 1))
}

// TestSlicesSumToTheCapacity: no more than the lane, and no less than it but for what rounding loses; each is exact.
func TestSlicesSumToTheCapacity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity := rapid.Uint64Range(1, 1<<50).Draw(t, "capacity")
		weights := map[string]uint32{}
		var candidates []market.Candidate
		var order []int
		for i := range rapid.IntRange(1, 40).Draw(t, "candidates") {
			actor := fmt.Sprint(rapid.IntRange(0, 9).Draw(t, "actor"))
			if _, known := weights[actor]; !known {
				weights[actor] = rapid.Uint32Range(1, 1_000_000).Draw(t, "weight")
			}
			candidates = append(candidates, market.Candidate{Actor: actor, Weight: weights[actor]})
			order = append(order, i)
		}
		total := new(big.Int)
		for _, weight := range weights {
			total.Add(total, big.NewInt(int64(weight)))
		}
		s := market.NewSlices(capacity, candidates, order)
		sum := uint64(0)
		for actor, weight := range weights {
			want := new(big.Int).Mul(new(big.Int).SetUint64(capacity), big.NewInt(int64(weight)))
			want.Quo(want, total)
			s.Spend(actor, 0)
			require.True(t, s.Admits(actor, want.Uint64()))
			require.False(t, s.Admits(actor, want.Uint64()+1))
			sum += want.Uint64()
		}
		require.LessOrEqual(t, sum, capacity)
		require.Greater(t, sum+uint64(len(weights)), capacity)
	})
}
