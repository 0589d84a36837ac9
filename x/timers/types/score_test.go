package types_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// TestAnAskOfAnIntegerBid: it bids what it says, or the most that counts; its kind is the default one.
func TestAnAskOfAnIntegerBid(t *testing.T) {
	const most = "79228162514264337593543950335"
	for text, want := range map[string]string{
		"0": "0", "7": "7", "007": "7", "0010": "10", "0009": "9", most: most, "79228162514264337593543950336": most,
		"115792089237316195423570985008687907853269984665640564039457584007913129639936": most,
	} {
		ask := (&types.Bid{Price: text}).Ask()
		require.Equal(t, want, ask.Price.String())
		require.Equal(t, (*types.Bid)(nil).Ask().Kind, ask.Kind)
	}
	require.True(t, (&types.Bid{Tier: types.TierFast}).Ask().Price.IsNil())
}
