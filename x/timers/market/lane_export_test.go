package market

import "cosmossdk.io/math"

// SumScaled is the sum of prices times units, as scaled computes it.
func SumScaled(prices []math.LegacyDec, units []uint64) (whole uint64, rest, ok bool) {
	var sum scaled
	for i, price := range prices {
		sum.add(price, units[i])
	}
	return sum.whole()
}
