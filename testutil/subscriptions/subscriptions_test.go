package subscriptions_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"
	"cosmossdk.io/x/feegrant"

	"github.com/cosmos/cosmos-sdk/runtime"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/testutil/subscriptions"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
)

func TestASubscriberIsChargedEveryThirdBlock(t *testing.T) {
	alice, bob := sdk.AccAddress("alice_______________"), sdk.AccAddress("bob_________________")
	key := storetypes.NewKVStoreKey(subscriptions.StoreKey)
	chain, err := lab.NewChain(lab.ChainOptions{
		Stores:   []*storetypes.KVStoreKey{key},
		Balances: []lab.Balance{{Address: alice, Amount: math.NewInt(250)}, {Address: bob, Amount: math.NewInt(1_000_000)}},
	})
	require.NoError(t, err)
	keeper := subscriptions.NewKeeper(runtime.NewKVStoreService(key), chain.Bank, chain.Timers)
	keeper.Register(chain.Modules)

	require.NoError(t, chain.BeginBlock())
	price := sdk.NewInt64Coin(chain.FeeDenom, 100)
	require.Error(t, keeper.Subscribe(chain.Ctx(), alice, bob, price, 3), "bob has granted nothing yet")
	allowance, err := feegrant.NewAllowedMsgAllowance(&feegrant.BasicAllowance{}, []string{"/timers.v1.MsgScheduleTimer"})
	require.NoError(t, err)
	require.NoError(t, chain.Feegrant.GrantAllowance(chain.Ctx(), bob, subscriptions.Address, allowance))
	require.NoError(t, keeper.Subscribe(chain.Ctx(), alice, bob, price, 3))
	for range 10 {
		_, err := chain.EndBlock()
		require.NoError(t, err)
		require.NoError(t, chain.BeginBlock())
	}

	// Two payments of 100, and what was left did not pay a third.
	require.Equal(t, math.NewInt(50), chain.Bank.GetBalance(chain.Ctx(), alice, chain.FeeDenom).Amount)
	_, err = keeper.Get(chain.Ctx(), alice)
	require.ErrorContains(t, err, "no such subscription")
	left, err := chain.Timers.TimersOf(chain.Ctx(), subscriptions.Address)
	require.NoError(t, err)
	require.Empty(t, left)
	require.NoError(t, chain.Check())
}
