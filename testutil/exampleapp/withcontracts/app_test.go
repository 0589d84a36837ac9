package withcontracts_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"testing"

	wasmtypes "github.com/CosmWasm/wasmd/x/wasm/types"
	abci "github.com/cometbft/cometbft/abci/types"
	dbm "github.com/cosmos/cosmos-db"
	"github.com/stretchr/testify/require"

	"cosmossdk.io/log"

	"github.com/cosmos/cosmos-sdk/baseapp"
	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/types/tx"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"
	govtypes "github.com/cosmos/cosmos-sdk/x/gov/types"

	"github.com/cosmos-timers/timers/testutil/contracts"
	"github.com/cosmos-timers/timers/testutil/exampleapp/chain"
	"github.com/cosmos-timers/timers/testutil/exampleapp/withcontracts"
	"github.com/cosmos-timers/timers/x/timers/types"
)

type example struct {
	*chain.Chain[*withcontracts.App]
	t *testing.T
}

func start(t *testing.T) example {
	t.Helper()
	app, err := withcontracts.New(log.NewNopLogger(), dbm.NewMemDB(), t.TempDir(), baseapp.SetChainID(chain.ID))
	require.NoError(t, err)
	c := example{chain.Start(t, app, chain.Genesis(t, app, func(map[string]json.RawMessage) {}, "alice", "bob"), 0), t}
	c.Block()
	t.Cleanup(func() { require.NoError(t, app.TimersKeeper.CheckInvariants(c.Ctx())) })
	return c
}

// instantiate stores code of alice's and makes a contract of it, whose admin bob is.
func (c example) instantiate(code []byte, msg string) sdk.AccAddress {
	c.t.Helper()
	alice, funds := chain.Address("alice").String(), sdk.NewCoins(sdk.NewInt64Coin(chain.Denom, 1_000_000))
	stored := chain.Events(c.Deliver("alice", &wasmtypes.MsgStoreCode{Sender: alice, WASMByteCode: code}), "store_code")
	require.Len(c.t, stored, 1)
	var id uint64
	_, err := fmt.Sscan(stored[0]["code_id"], &id)
	require.NoError(c.t, err)
	made := chain.Events(c.Deliver("alice", &wasmtypes.MsgInstantiateContract{
		Sender: alice, Admin: chain.Address("bob").String(), CodeID: id, Label: "of the test", Msg: []byte(msg), Funds: funds,
	}), "instantiate")
	require.Len(c.t, made, 1)
	contract, err := sdk.AccAddressFromBech32(made[0]["_contract_address"])
	require.NoError(c.t, err)
	return contract
}

func (c example) execute(contract sdk.AccAddress, msg string) *abci.ResponseFinalizeBlock {
	c.t.Helper()
	return c.Deliver("alice", &wasmtypes.MsgExecuteContract{
		Sender: chain.Address("alice").String(), Contract: contract.String(), Msg: []byte(msg),
	})
}

func (c example) smart(contract sdk.AccAddress, msg string) (answer map[string]any) {
	c.t.Helper()
	raw, err := c.App.WasmKeeper.QuerySmart(c.Ctx(), contract, []byte(msg))
	require.NoError(c.t, err)
	require.NoError(c.t, json.Unmarshal(raw, &answer), "%s", raw)
	return answer
}

func (c example) fired(blocks int) (all []map[string]string) {
	c.t.Helper()
	for range blocks {
		all = append(all, chain.Events(c.Block(), "timers.v1.TimerFired")...)
	}
	for _, fire := range all {
		require.Equal(c.t, "true", fire["success"], fire)
	}
	return all
}

// TestContractsScheduleThemselves: contracts.md is written for timerd; its contract runs here as it is, in protobuf and in
// JSON, bids for itself, is pinned by governance, stops and starts again.
func TestContractsScheduleThemselves(t *testing.T) {
	for _, custom := range []bool{false, true} {
		t.Run(fmt.Sprintf("custom=%v", custom), func(t *testing.T) {
			c := start(t)
			contract := c.instantiate(contracts.Heartbeat, fmt.Sprintf(`{"every":2,"custom":%v,"start":true}`, custom))
			require.Len(t, c.fired(6), 3)
			require.EqualValues(t, 3, c.smart(contract, `{"beats":{}}`)["count"])
			c.execute(contract, `{"be_agent":{}}`)
			answers := c.fired(4)
			require.Len(t, answers, 2)
			agent, err := c.App.TimersKeeper.AgentOf(c.Ctx(), contract)
			require.NoError(t, err)
			require.Equal(t, contract, agent)
			if custom {
				timer := c.smart(contract, `{"timer":{}}`)["timer"].(map[string]any)
				require.Equal(t, contract.String(), timer["actor"])
			}

			c.Pass("alice", 1, &wasmtypes.MsgPinCodes{
				Authority: authtypes.NewModuleAddress(govtypes.ModuleName).String(), CodeIDs: []uint64{1},
			})
			require.True(t, c.App.WasmKeeper.IsPinnedCode(c.Ctx(), 1))
			pinned := c.fired(4)
			require.Less(t, cycles(t, pinned[0])+50_000, cycles(t, answers[0]))

			c.execute(contract, `{"stop":{}}`)
			require.Empty(t, c.fired(4))
			c.execute(contract, `{"start":{}}`)
			require.Len(t, c.fired(4), 2)
		})
	}
}

func cycles(t *testing.T, fire map[string]string) (used int) {
	t.Helper()
	_, err := fmt.Sscan(fire["cycles"], &used)
	require.NoError(t, err)
	return used
}

// TestAdminsScheduleCalls: a contract without a line for timers is called at its admin's cost.
func TestAdminsScheduleCalls(t *testing.T) {
	c := start(t)
	contract := c.instantiate(contracts.Listener, `{}`)
	bob := chain.Address("bob").String()
	held := c.App.BankKeeper.GetBalance(c.Ctx(), contract, chain.Denom)
	c.Deliver("bob", &types.MsgScheduleTimer{
		Sender: bob, Actor: contract.String(), Spec: types.TimerSpec{
			Call: types.TimerCall{Handler: "clock_end_block", Payload: []byte("{}")}, GasLimit: 200_000,
			Trigger: types.Trigger{Interval: &types.IntervalTrigger{Every: 2}},
		},
	})
	fires := c.fired(4)
	require.Len(t, fires, 2)
	require.Equal(t, bob, fires[0]["payer"])
	require.Equal(t, held, c.App.BankKeeper.GetBalance(c.Ctx(), contract, chain.Denom))
}

// TestContractsOwnMessages: a multisig that knows nothing of timers schedules what its members decide, and pays for it.
func TestContractsOwnMessages(t *testing.T) {
	c := start(t)
	alice, bob := chain.Address("alice"), chain.Address("bob")
	contract := c.instantiate(contracts.Council, fmt.Sprintf(
		`{"voters":[{"addr":%q,"weight":1}],"threshold":{"absolute_count":{"weight":1}},"max_voting_period":{"height":1000}}`,
		alice.String()))
	coin := sdk.NewInt64Coin(chain.Denom, 5)
	messages, err := tx.SetMsgs([]sdk.Msg{banktypes.NewMsgSend(contract, bob, sdk.NewCoins(coin))})
	require.NoError(t, err)
	schedule, err := (&types.MsgScheduleTimer{
		Sender: contract.String(), Spec: types.TimerSpec{Call: types.TimerCall{Messages: messages}, Trigger: types.Trigger{Interval: &types.IntervalTrigger{Every: 1}}, Repeat: &types.Repeat{Remaining: 2}},
	}).Marshal()
	require.NoError(t, err)
	msg := fmt.Sprintf(`{"stargate":{"type_url":"/timers.v1.MsgScheduleTimer","value":%q}}`, base64.StdEncoding.EncodeToString(schedule))
	c.execute(contract, fmt.Sprintf(`{"propose":{"title":"t","description":"d","msgs":[%s]}}`, msg))
	held := c.App.BankKeeper.GetBalance(c.Ctx(), bob, chain.Denom)
	c.execute(contract, `{"execute":{"proposal_id":1}}`)
	fires := c.fired(4)
	require.Len(t, fires, 2)
	require.Equal(t, contract.String(), fires[1]["payer"])
	require.Equal(t, held.Add(coin).Add(coin), c.App.BankKeeper.GetBalance(c.Ctx(), bob, chain.Denom))
}
