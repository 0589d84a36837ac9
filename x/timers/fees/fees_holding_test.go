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

// TestBalancesAreReadAndWrittenAsByTheBank: whatever bytes are stored, those of old forms included, and whatever the amount.
func TestBalancesAreReadAndWrittenAsByTheBank(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		amount := math.NewIntFromBigInt(new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 31).Draw(t, "amount")))
		if rapid.Bool().Draw(t, "usual") {
			amount = math.NewIntFromUint64(rapid.Uint64().Draw(t, "units"))
		}
		written, err := banktypes.BalanceValueCodec.Encode(amount)
		require.NoError(t, err)
		require.Equal(t, written, decimal.AppendInt(nil, amount))

		coin, err := (&sdk.Coin{Denom: "stake", Amount: amount}).Marshal()
		require.NoError(t, err)
		stored := rapid.OneOf(
			rapid.Just(written), rapid.Just(coin), rapid.SliceOfN(rapid.Byte(), 0, 24),
			rapid.Map(rapid.StringMatching(`[+-]?(0x|0)?[0-9_]{0,24}`), func(s string) []byte { return []byte(s) }),
		).Draw(t, "stored")
		want, wantErr := banktypes.BalanceValueCodec.Decode(stored)
		got, err := decodeAmount(stored)
		require.Equal(t, wantErr != nil, err != nil, "%q", stored)
		if err == nil {
			require.Equal(t, want.IsNil(), got.IsNil(), "%q", stored)
			require.True(t, want.IsNil() || want.Equal(got), "%q", stored)
		}
	})
}

func TestCoinsAreThoseOfTheSDK(t *testing.T) {
	config := &types.TimerConfig{FeeDenom: "stake"}
	for _, amount := range []int64{0, 1, 77} {
		require.Equal(t, sdk.NewCoins(sdk.NewInt64Coin("stake", amount)), coins(config, math.NewInt(amount)))
	}
	require.Panics(t, func() { coins(config, math.NewInt(-1)) })
}
