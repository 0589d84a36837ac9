package lab_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

func TestChainFiresATimer(t *testing.T) {
	alice, bob := sdk.AccAddress("alice_______________"), sdk.AccAddress("bob_________________")
	chain, err := lab.NewChain(lab.ChainOptions{Balances: []lab.Balance{{alice, math.NewInt(1_000_000)}, {bob, math.NewInt(1)}}})
	require.NoError(t, err)
	require.NoError(t, chain.BeginBlock())

	send := banktypes.NewMsgSend(alice, bob, sdk.NewCoins(sdk.NewInt64Coin(chain.FeeDenom, 77)))
	payload, err := types.NewAccountPayload(send)
	require.NoError(t, err)
	bz, err := chain.Codec.Marshal(payload)
	require.NoError(t, err)
	_, gas, err := chain.Tx(&types.MsgScheduleTimer{Sender: alice.String(), Spec: types.TimerSpec{Trigger: types.Trigger{Height: 3}, Call: types.TimerCall{Payload: bz}, GasLimit: 100_000}})
	require.NoError(t, err)
	t.Log("schedule gas", gas)
	for range 3 {
		events, err := chain.EndBlock()
		require.NoError(t, err)
		for _, e := range events {
			t.Log(chain.Height(), e.Type, e.Attributes)
		}
		require.NoError(t, chain.Check())
		require.NoError(t, chain.BeginBlock())
	}
	require.Equal(t, int64(78), chain.Bank.GetBalance(chain.Ctx(), bob, chain.FeeDenom).Amount.Int64())
}
