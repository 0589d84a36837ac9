package plain

import (
	"fmt"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// maxPrice is far above any price that a config can lead to, and small enough to compute with.
var maxPrice = math.LegacyNewDec(1_000_000_000_000_000_000)

// ParsePrice reads a price that a node answered.
func ParsePrice(text string) (math.LegacyDec, error) {
	if len(text) > types.MaxTextBytes {
		return math.LegacyDec{}, fmt.Errorf("price %.80q is %d bytes long, want at most %d", text, len(text), types.MaxTextBytes)
	}
	value, err := math.LegacyNewDecFromStr(text)
	if err != nil {
		return value, fmt.Errorf("price %.80q is no decimal: %w", text, err)
	}
	if value.IsNegative() || value.GT(maxPrice) {
		return value, fmt.Errorf("price %.80q is out of bounds: want 0 to %s", text, Dec(maxPrice.String()))
	}
	return value, nil
}

// AddPrices sums prices.
func AddPrices(texts ...string) (math.LegacyDec, error) {
	sum := math.LegacyZeroDec()
	for _, text := range texts {
		value, err := ParsePrice(text)
		if err != nil {
			return sum, err
		}
		sum = sum.Add(value)
	}
	return sum, nil
}
