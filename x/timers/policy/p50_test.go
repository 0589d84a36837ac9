package policy_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/policy"
)

// TestTheUsualTipIsWeightedBySize: nine small fires with high tips do not set it against seven large ones.
//
// Rule: 1.7-p50
func TestTheUsualTipIsWeightedBySize(t *testing.T) {
	var fires []policy.Tipped
	for range 9 {
		fires = append(fires, policy.Tipped{math.LegacyNewDec(100), 20_000})
	}
	for range 7 {
		fires = append(fires, policy.Tipped{math.LegacyOneDec(), 200_000})
	}
	require.Equal(t, math.LegacyOneDec().String(), policy.MedianTip(fires).String())
	require.Equal(t, math.LegacyNewDec(100).String(), policy.MedianTip(fires[:9]).String())
	require.True(t, policy.MedianTip(nil).IsZero())
}

// TestMedianTipMatchesTheModel counts out each unit of size at its tip, and takes the middle one, the lower of two.
//
// Rule: 1.7-p50
func TestMedianTipMatchesTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var fires []policy.Tipped
		count := [6]int{}
		total := 0
		for range rapid.IntRange(1, 20).Draw(t, "fires") {
			tip, size := rapid.IntRange(0, 5).Draw(t, "tip"), rapid.IntRange(1, 30).Draw(t, "size")
			fires = append(fires, policy.Tipped{math.LegacyNewDec(int64(tip)), uint64(size)})
			count[tip] += size
			total += size
		}
		middle, reached := (total-1)/2, 0
		for tip, units := range count {
			if reached += units; reached > middle {
				require.Equal(t, math.LegacyNewDec(int64(tip)).String(), policy.MedianTip(fires).String())
				return
			}
		}
	})
}
