package fees

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// TestBalances_AreWrittenAsByTheBank: byte for byte, whatever the amount.
func TestBalances_AreWrittenAsByTheBank(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		amount := math.NewIntFromBigInt(new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 31).Draw(t, "amount")))
		if rapid.Bool().Draw(t, "usual") {
			amount = math.NewIntFromUint64(rapid.Uint64().Draw(t, "units"))
		}
		written, err := banktypes.BalanceValueCodec.Encode(amount)
		require.NoError(t, err)
		require.Equal(t, written, decimal.AppendInt(nil, amount))
	})
}

func TestCoinsAreThoseOfTheSDK(t *testing.T) {
	config := &types.TimerConfig{FeeDenom: "stake"}
	for _, amount := range []int64{0, 1, 77} {
		require.Equal(t, sdk.NewCoins(sdk.NewInt64Coin("stake", amount)), coins(config, math.NewInt(amount)))
	}
	require.Panics(t, func() { coins(config, math.NewInt(-1)) })
}
