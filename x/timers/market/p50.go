package market

import (
	"slices"

	"cosmossdk.io/math"
)

// Tipped is what a fire tipped per unit of size, and the size for which it did.
type Tipped struct {
	Priority math.LegacyDec
	Size     uint64
}

// MedianTip is the median tip of fires, weighted by their sizes: the least tip at which half of the size paid as much or
// less. It is 0 if there are none.
func MedianTip(fires []Tipped) math.LegacyDec {
	sorted, total := slices.Clone(fires), uint64(0)
	slices.SortStableFunc(sorted, func(a, b Tipped) int { return a.Priority.BigIntMut().Cmp(b.Priority.BigIntMut()) })
	for _, fire := range sorted {
		total += fire.Size
	}
	reached := uint64(0)
	for _, fire := range sorted {
		if reached += fire.Size; 2*reached >= total {
			return fire.Priority
		}
	}
	return math.LegacyZeroDec()
}

// NextP50 is the usual tip in the next block, from that of this block and its fires (x/timers/README.md, "1.8 Bid"). If
// no willing timer waits for room, tips bought nothing in this block. Then the usual tip falls to half at least, so that
// tips paid once do not stay the price of an idle lane.
func NextP50(before math.LegacyDec, fires []Tipped, waiting bool) math.LegacyDec {
	median := MedianTip(fires)
	if waiting {
		return median
	}
	return math.LegacyMinDec(median, before.QuoInt64(2))
}
