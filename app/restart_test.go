package app_test

import (
	"testing"

	abci "github.com/cometbft/cometbft/abci/types"
	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/testutil/appchain"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// After a restart, before its first block, a node takes and tries transactions as of its last block: the SDK forgets its header,
// and then refuses all signatures, and takes any time for one that lies ages ahead.
func TestRestart_TakesTransactionsBeforeItsFirstBlock(t *testing.T) {
	c := appchain.New(t, "alice", "bob")
	c.NextBlock()
	c.NextBlock()
	c.SwapBinary(func(*app.App) {})
	at := c.TimedCtx().BlockTime().Add(600e9)
	tx := c.Sign("alice", &types.MsgScheduleTimer{Sender: address("alice"), Spec: types.TimerSpec{
		Trigger: types.Trigger{Time: &at}, GasLimit: 100_000, Call: types.TimerCall{Messages: packed(t, send("alice", "bob", 1))},
	}})
	_, _, err := c.App.Simulate(tx)
	require.NoError(t, err)
	checked, err := c.App.CheckTx(&abci.RequestCheckTx{Tx: tx, Type: abci.CheckTxType_New})
	require.NoError(t, err)
	require.Zero(t, checked.Code, checked.Log)
	result := c.NextBlock(tx).TxResults[0]
	require.Zero(t, result.Code, result.Log)
	require.Len(t, timersOf(t, c, appchain.AccountOf("alice").Address), 1)
}
