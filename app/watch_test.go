package app_test

import (
	"math/rand"
	"runtime"
	"testing"

	abci "github.com/cometbft/cometbft/abci/types"
	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"
	stakingtypes "github.com/cosmos/cosmos-sdk/x/staking/types"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/testutil/appchain"
	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// watch is a timer of the owner that sends a coin whenever what is watched changes.
func watch(tb testing.TB, c *appchain.Chain, owner string, remaining uint64, texts ...string) *types.MsgScheduleTimer {
	tb.Helper()
	msg := schedule(tb, c, owner, 0, send(owner, "sink", 1))
	msg.Spec.Trigger.Watch = &types.WatchTrigger{}
	if remaining > 0 {
		msg.Spec.Repeat = &types.Repeat{Remaining: remaining}
	}
	for _, text := range texts {
		response, err := keeper.NewQueryServer(c.App.Timers).WatchKey(c.Ctx(), &types.QueryWatchKeyRequest{Text: text})
		require.NoError(tb, err)
		msg.Spec.Trigger.Watch.Keys = append(msg.Spec.Trigger.Watch.Keys, response.Key)
	}
	return msg
}

func fires(response *abci.ResponseFinalizeBlock) int {
	return len(appchain.Events(response, "timers.v1.TimerFired"))
}

func TestStakingCanBeWatched(t *testing.T) {
	c := appchain.New(t, "alice", "bob", "sink")
	validators, err := c.App.Staking.GetAllValidators(c.Ctx())
	require.NoError(t, err)
	operator := validators[0].OperatorAddress
	for _, text := range []string{
		"staking:validator:" + operator, "staking:delegations:" + address("bob"), "staking:delegation:" + address("bob") + ":" + operator,
		"staking:unbondings:" + address("bob"),
	} {
		c.Deliver("alice", watch(t, c, "alice", 1, text))
	}
	for range 3 {
		require.Zero(t, fires(c.NextBlock()), "staking's own work in a quiet block changes nothing of them")
	}
	stake := sdk.NewInt64Coin(app.FeeDenom, 1_000_000)
	require.Equal(t, 3, fires(c.Deliver("bob", &stakingtypes.MsgDelegate{
		DelegatorAddress: address("bob"), ValidatorAddress: operator, Amount: stake,
	})), "all but what watches unbondings")
	require.Equal(t, 1, fires(c.Deliver("bob", &stakingtypes.MsgUndelegate{
		DelegatorAddress: address("bob"), ValidatorAddress: operator, Amount: stake,
	})))
	c.Replay()
}

// Rule: 1.10-failed-transactions
func TestChecksAndQueriesLeaveNoNotes(t *testing.T) {
	c := appchain.New(t, "alice", "bob", "sink")
	c.Deliver("alice", watch(t, c, "alice", 0, "bank:balance:"+address("bob")+":"+app.FeeDenom))
	tx := c.Sign("bob", send("bob", "alice", 1))
	_, _, err := c.App.Simulate(tx)
	require.NoError(t, err)
	checked, err := c.App.CheckTx(&abci.RequestCheckTx{Tx: tx, Type: abci.CheckTxType_New})
	require.NoError(t, err)
	require.Zero(t, checked.Code, checked.Log)
	require.Zero(t, fires(c.NextBlock()), "it was checked and not included")
	require.Equal(t, 1, fires(c.NextBlock(tx)))
	failing := c.Sign("bob", send("bob", "alice", 1<<60))
	require.Equal(t, 1, fires(c.NextBlock(failing)), "what fails undoes what it did, and pays its fee all the same")
}

func TestWatchesReplayAndSurviveAnExport(t *testing.T) {
	names := []string{"alice", "bob", "carol", "sink"}
	c := appchain.New(t, names...)
	random := rand.New(rand.NewSource(7))
	total := 0
	for range 40 {
		var txs [][]byte
		for range random.Intn(4) {
			owner, other := names[random.Intn(3)], names[random.Intn(3)]
			if random.Intn(2) == 0 {
				amount := int64(random.Intn(100) + 1)
				if random.Intn(4) == 0 {
					amount = 1 << 60
				}
				txs = append(txs, c.Sign(owner, send(owner, other, amount)))
				continue
			}
			texts := []string{"bank:balance:" + address(other) + ":" + app.FeeDenom, "bank:balances:" + address(owner)}
			txs = append(txs, c.Sign(owner, watch(t, c, owner, uint64(random.Intn(4)), texts[random.Intn(2):]...)))
		}
		total += fires(c.NextBlock(txs...))
	}
	require.Greater(t, total, 100, "the workload must fire watches")
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	c.Replay()

	restarted := c.Restart()
	for range 10 {
		require.Equal(t, fires(c.NextBlock()), fires(restarted.NextBlock()))
	}
	require.Equal(t, c.Balance(appchain.AccountOf("sink").Address), restarted.Balance(appchain.AccountOf("sink").Address))
}
