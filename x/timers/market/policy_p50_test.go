package market_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market"
)

// TestTheUsualTipIsWeightedBySize: nine small fires with high tips do not set it against seven large ones.
//
// Rule: 1.7-p50
func TestTheUsualTipIsWeightedBySize(t *testing.T) {
	var fires []market.Tipped
	for range 9 {
		fires = append(fires, market.Tipped{math.LegacyNewDec(100), 20_000})
	}
	for range 7 {
		fires = append(fires, market.Tipped{math.LegacyOneDec(), 200_000})
	}
	require.Equal(t, math.LegacyOneDec().String(), market.MedianTip(fires).String())
	require.Equal(t, math.LegacyNewDec(100).String(), market.MedianTip(fires[:9]).String())
	require.True(t, market.MedianTip(nil).IsZero())
}

// TestMedianTipMatchesTheModel counts out each unit of size at its tip, and takes the middle one, the lower of two.
//
// Rule: 1.7-p50
func TestMedianTipMatchesTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var fires []market.Tipped
		count := [6]int{}
		total := 0
		for range rapid.IntRange(1, 20).Draw(t, "fires") {
			tip, size := rapid.IntRange(0, 5).Draw(t, "tip"), rapid.IntRange(1, 30).Draw(t, "size")
			fires = append(fires, market.Tipped{math.LegacyNewDec(int64(tip)), uint64(size)})
			count[tip] += size
			total += size
		}
		middle, reached := (total-1)/2, 0
		for tip, units := range count {
			if reached += units; reached > middle {
				require.Equal(t, math.LegacyNewDec(int64(tip)).String(), market.MedianTip(fires).String())
				return
			}
		}
	})
}

// TestTheUsualTipFallsWhereTipsBuyNothing: to half of what it was, or to the median if that is less. Where a timer waits
// for room it is the median, however high.
//
// Rule: 1.7-p50, 1.7-p50-of-idle-lane
func TestTheUsualTipFallsWhereTipsBuyNothing(t *testing.T) {
	for name, c := range map[string]struct {
		before, tip int64
		waiting     bool
		want        string
	}{
		"waiting, above":         {4, 9, true, "9"},
		"waiting, below half":    {4, 1, true, "1"},
		"no one waits, above":    {4, 9, false, "2"},
		"no one waits, the same": {4, 4, false, "2"},
		"no one waits, below":    {4, 1, false, "1"},
		"from nothing":           {0, 9, false, "0"},
	} {
		fires := []market.Tipped{{math.LegacyNewDec(c.tip), 20_000}}
		got := market.NextP50(math.LegacyNewDec(c.before), fires, c.waiting)
		require.Equal(t, math.LegacyMustNewDecFromStr(c.want).String(), got.String(), name)
	}
	for _, waiting := range []bool{false, true} {
		require.True(t, market.NextP50(math.LegacyNewDec(4), nil, waiting).IsZero(), "nothing fired")
	}
}
