package subscriptions_test

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"
	"cosmossdk.io/x/feegrant"

	"github.com/cosmos/cosmos-sdk/baseapp"
	"github.com/cosmos/cosmos-sdk/runtime"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/testutil/appchain"
	"github.com/cosmos-timers/timers/testutil/subscriptions"
	timerskeeper "github.com/cosmos-timers/timers/x/timers/keeper"
	timerstypes "github.com/cosmos-timers/timers/x/timers/types"
)

// wire adds the module to timerd's application.
func wire(app *app.App, key *storetypes.KVStoreKey) subscriptions.Keeper {
	keeper := subscriptions.NewKeeper(runtime.NewKVStoreService(key), app.Bank, app.Timers)
	keeper.Register(app.TimerModules)
	return keeper
}

// newChain is timerd's application with the module, on which bob has granted it an allowance.
func newChain(t *testing.T) (*appchain.Chain, subscriptions.Keeper) {
	t.Helper()
	key := storetypes.NewKVStoreKey(subscriptions.StoreKey)
	mount := func(base *baseapp.BaseApp) { base.MountStores(key) }
	c := appchain.NewWith(t, []func(*baseapp.BaseApp){mount}, "alice", "bob")
	keeper := wire(c.App, key)
	c.Deliver("bob", grant(t))
	return c, keeper
}

// grant is bob's allowance: for timers, and nothing else.
func grant(t *testing.T) sdk.Msg {
	t.Helper()
	allowance, err := feegrant.NewAllowedMsgAllowance(&feegrant.BasicAllowance{}, []string{"/timers.v1.MsgScheduleTimer"})
	require.NoError(t, err)
	msg, err := feegrant.NewMsgGrantAllowance(allowance, bob, subscriptions.Address)
	require.NoError(t, err)
	return msg
}

var (
	alice, bob = appchain.AccountOf("alice").Address, appchain.AccountOf("bob").Address
	price      = sdk.NewInt64Coin(app.FeeDenom, 700)
)

func TestSubscriptionsOnTheWholeApplication(t *testing.T) {
	c, keeper := newChain(t)
	before := c.Balance(alice)
	require.NoError(t, keeper.Subscribe(c.Ctx(), alice, bob, price, 2))
	require.Error(t, keeper.Subscribe(c.Ctx(), alice, bob, price, 2))
	for paid := uint64(1); paid <= 3; paid++ {
		require.Empty(t, appchain.Events(c.NextBlock(), "timers.v1.TimerFired"))
		fired := appchain.Events(c.NextBlock(), "timers.v1.TimerFired")
		require.Len(t, fired, 1)
		require.Equal(t, "true", fired[0]["success"], fired[0])
		require.Equal(t, bob.String(), fired[0]["payer"])
		require.Equal(t, subscriptions.Address.String(), fired[0]["actor"])
		s, err := keeper.Get(c.Ctx(), alice)
		require.NoError(t, err)
		require.Equal(t, paid, s.Paid)
	}
	require.Equal(t, before.SubRaw(3*700), c.Balance(alice))

	require.NoError(t, keeper.Unsubscribe(c.Ctx(), alice))
	require.Error(t, keeper.Unsubscribe(c.Ctx(), alice))
	for range 3 {
		require.Empty(t, appchain.Events(c.NextBlock(), "timers.v1.TimerFired"))
	}
	require.Equal(t, before.SubRaw(3*700), c.Balance(alice))
}

func TestASubscriptionWaitsForItsPayeesAllowance(t *testing.T) {
	c, keeper := newChain(t)
	before := c.Balance(alice)
	require.NoError(t, keeper.Subscribe(c.Ctx(), alice, bob, price, 3))
	revoke := feegrant.NewMsgRevokeAllowance(bob, subscriptions.Address)
	c.Deliver("bob", &revoke)
	c.NextBlock()
	response := c.NextBlock()
	require.Empty(t, appchain.Events(response, "timers.v1.TimerFired"))
	require.Len(t, appchain.Events(response, "timers.v1.TimerHeld"), 1)
	c.NextBlock()
	require.Equal(t, before, c.Balance(alice), "no one pays while no one pays for the timer")

	c.Deliver("bob", grant(t))
	require.NoError(t, keeper.Resume(c.Ctx(), alice))
	c.NextBlock()
	require.Equal(t, before.Sub(math.NewInt(700)), c.Balance(alice))
}

func TestASubscriptionOutlivesItsTimer(t *testing.T) {
	for name, goOn := range map[string]bool{"and goes on": true, "and is ended": false} {
		t.Run(name, func(t *testing.T) {
			c, keeper := newChain(t)
			before := c.Balance(alice)
			require.NoError(t, keeper.Subscribe(c.Ctx(), alice, bob, price, 2))
			s, err := keeper.Get(c.Ctx(), alice)
			require.NoError(t, err)
			_, err = timerskeeper.NewMsgServer(c.App.Timers).SysCancelTimer(c.Ctx(), &timerstypes.MsgSysCancelTimer{
				Authority: c.App.Timers.Authority(c.Ctx()), Actor: subscriptions.Address.String(), Id: hex.EncodeToString(s.TimerID),
			})
			require.NoError(t, err)
			if goOn {
				require.NoError(t, keeper.Resume(c.Ctx(), alice))
				c.NextBlock()
				c.NextBlock()
				require.Equal(t, before.SubRaw(700), c.Balance(alice))
				return
			}
			require.NoError(t, keeper.Unsubscribe(c.Ctx(), alice))
			_, err = keeper.Get(c.Ctx(), alice)
			require.ErrorContains(t, err, "no such subscription")
		})
	}
}

func TestNobodySubscribesToAModuleAccount(t *testing.T) {
	c, keeper := newChain(t)
	for address, blocked := range app.BlockedAddresses() {
		payee, err := sdk.AccAddressFromBech32(address)
		require.NoError(t, err)
		if blocked {
			require.ErrorContains(t, keeper.Subscribe(c.Ctx(), alice, payee, price, 3), "can't be paid")
		}
	}
}
