package actors

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	sdkerrors "github.com/cosmos/cosmos-sdk/types/errors"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// TestCoinsWanted_OfAnyAmount: what messages state is anybody's. Amounts whose sum is none, invalid coins and many denoms end in no
// panic, which would undo a fire that has worked: a message that takes the largest amount for "all there is" passes before one that
// fails.
//
// Rule: 1.5-short-of-coins
func TestCoinsWanted_OfAnyAmount(t *testing.T) {
	largest := math.OneInt()
	for range 255 {
		largest = largest.MulRaw(2)
	}
	require.Panics(t, func() { sdk.NewCoins(sdk.NewCoin("stake", largest)).Add(sdk.NewCoin("stake", largest)) }, "their sum is none")
	send := func(coins ...sdk.Coin) sdk.Msg { return &banktypes.MsgSend{Amount: coins} }
	coin := func(denom string, amount math.Int) sdk.Coin { return sdk.Coin{Denom: denom, Amount: amount} }
	failed := &failedMessage{sdkerrors.ErrInsufficientFunds.Wrap("too few"), []sdk.Msg{
		send(coin("stake", largest)), send(coin("x", math.OneInt()), coin("!", math.OneInt()), coin("atom", math.NewInt(2))),
		send(coin("stake", largest), coin("atom", math.NewInt(3)), coin("nil", math.Int{})),
	}}
	require.Equal(t, []sdk.Coin{coin("stake", largest), coin("atom", math.NewInt(5))}, failed.CoinsWanted())

	codespace, code := types.CodeOf(failed)
	require.Equal(t, "sdk", codespace)
	require.Equal(t, sdkerrors.ErrInsufficientFunds.ABCICode(), code)
	failed.error = sdkerrors.ErrUnauthorized
	require.Empty(t, failed.CoinsWanted())
}
