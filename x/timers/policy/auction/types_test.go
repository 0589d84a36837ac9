package auction_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/policy/auction"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// A genesis may hold the largest bias that the rules give, and nothing above it.
func TestExp_LargestBiasIsTheBoundOfGenesis(t *testing.T) {
	state := types.AuctionState{Lambda: math.LegacyZeroDec(), Deferral: math.LegacyZeroDec()}
	state.ValueDecay = auction.Exp(math.LegacyNewDec(auction.MaxExponent))
	require.NoError(t, state.Validate())
	state.ValueDecay = state.ValueDecay.Add(math.LegacySmallestDec())
	require.ErrorContains(t, state.Validate(), "value_decay")
}
