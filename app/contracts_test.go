package app_test

import (
	"encoding/json"
	"fmt"
	"testing"

	wasmkeeper "github.com/CosmWasm/wasmd/x/wasm/keeper"
	wasmdata "github.com/CosmWasm/wasmd/x/wasm/keeper/testdata"
	wasmtypes "github.com/CosmWasm/wasmd/x/wasm/types"
	wasmvmtypes "github.com/CosmWasm/wasmvm/v3/types"
	abci "github.com/cometbft/cometbft/abci/types"
	"github.com/stretchr/testify/require"

	errorsmod "cosmossdk.io/errors"
	"cosmossdk.io/math"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	sdk "github.com/cosmos/cosmos-sdk/types"
	sdkerrors "github.com/cosmos/cosmos-sdk/types/errors"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/testutil/appchain"
	"github.com/cosmos-timers/timers/testutil/contracts"
	timerskeeper "github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// hackatom and reflect are wasmd's own test contracts (CosmWasm/cosmwasm, Apache-2.0), which know nothing of timers. They
// come with the Go module of wasmd.

func TestATimerCallsAContractThatKnowsNothingOfTimers(t *testing.T) {
	c := appchain.NewUnder(t, inOrder, "alice", "bob")
	code := c.StoreCode("alice", wasmdata.HackatomContractWasm())
	hackatom := c.Instantiate("alice", code, map[string]string{"verifier": address("alice"), "beneficiary": address("bob")}, 1_000_000)
	require.Len(t, hackatom, 32)
	// Hackatom can't schedule: the chain's own code does it for it.
	due := uint64(c.App.LastBlockHeight()) + 2
	_, err := c.App.Timers.Schedule(c.Ctx(), timerskeeper.ScheduleRequest{
		Actor: hackatom, Spec: types.TimerSpec{
			Trigger: types.Trigger{Height: due}, Call: types.TimerCall{
				Handler: "steal_funds",
				Payload: []byte(fmt.Sprintf(`{"recipient":%q,"amount":[{"denom":%q,"amount":"76543"}]}`, address("bob"), app.FeeDenom)),
			}, GasLimit: 200_000,
		},
	})
	require.NoError(t, err)
	before := c.Balance(appchain.AccountOf("bob").Address)
	c.NextBlock()
	response := c.NextBlock()
	fired := appchain.Events(response, "timers.v1.TimerFired")
	require.Len(t, fired, 1)
	require.Equal(t, "true", fired[0]["success"], fired[0])
	require.Equal(t, before.AddRaw(76_543), c.Balance(appchain.AccountOf("bob").Address))
	require.Len(t, appchain.Events(response, "sudo"), 1, "the contract's events are kept")
}

// beats is what the heartbeat says of itself.
type beats struct {
	Count   int    `json:"count"`
	TimerID string `json:"timer_id"`
	Last    struct {
		TimerID   string `json:"timer_id"`
		DeliverID string `json:"deliver_id"`
		FireSeq   int    `json:"fire_seq"`
		Payload   []byte `json:"payload"`
		Height    uint64 `json:"height"`
	} `json:"last"`
}

func TestAHeartbeatSchedulesItself(t *testing.T) {
	for name, custom := range map[string]bool{"as protobuf": false, "as JSON": true} {
		t.Run(name, func(t *testing.T) {
			c := appchain.NewUnder(t, inOrder, "alice")
			code := c.StoreCode("alice", contracts.Heartbeat)
			// From its first call on: a contract that is being instantiated is one already.
			heartbeat := c.Instantiate("alice", code, map[string]any{"every": 2, "custom": custom, "start": true}, 1_000_000)
			var at beats
			c.QueryContract(heartbeat, `{"beats":{}}`, &at)
			require.Zero(t, at.Count)
			first := at.TimerID
			require.Len(t, first, 64, "the reply named the timer")
			for i := 1; i <= 3; i++ {
				require.Empty(t, appchain.Events(c.NextBlock(), "timers.v1.TimerFired"))
				timer := at.TimerID
				fired := appchain.Events(c.NextBlock(), "timers.v1.TimerFired")
				require.Len(t, fired, 1)
				require.Equal(t, "true", fired[0]["success"], fired[0])
				at = beats{}
				c.QueryContract(heartbeat, `{"beats":{}}`, &at)
				require.Equal(t, i, at.Count)
				require.NotEqual(t, timer, at.TimerID)
				require.Equal(t, timer, at.Last.TimerID)
				require.Equal(t, fired[0]["deliver_id"], at.Last.DeliverID)
				require.Equal(t, "beat", string(at.Last.Payload))
				require.Equal(t, uint64(c.App.LastBlockHeight()), at.Last.Height)
				require.Zero(t, at.Last.FireSeq)
			}
		})
	}
}

func sudoOf(response *abci.ResponseFinalizeBlock) int { return len(appchain.Events(response, "sudo")) }

// reflectMsg is a call of reflect, which dispatches what its owner tells it to.
func reflectMsg(t *testing.T, c *appchain.Chain, reflect sdk.AccAddress, msg sdk.Msg) sdk.Msg {
	t.Helper()
	packed, err := codectypes.NewAnyWithValue(msg)
	require.NoError(t, err)
	return c.ExecuteMsg("alice", reflect, wasmdata.ReflectHandleMsg{Reflect: &wasmdata.ReflectPayload{Msgs: []wasmvmtypes.CosmosMsg{
		{Any: &wasmvmtypes.AnyMsg{TypeURL: packed.TypeUrl, Value: packed.Value}},
	}}})
}

// Rule: 1.3-schedules-for-itself, 3-contracts-same-messages
func TestAContractChangesItsOwnTimersAlone(t *testing.T) {
	c := appchain.NewUnder(t, inOrder, "alice", "bob")
	reflect := c.Instantiate("alice", c.StoreCode("alice", wasmdata.ReflectContractWasm()), `{}`, 1_000_000)
	c.Deliver("bob", schedule(t, c, "bob", 100, send("bob", "alice", 1)))
	bobs := timersOf(t, c, appchain.AccountOf("bob").Address)[0]

	due := uint64(c.App.LastBlockHeight()) + 20
	c.Deliver("alice", reflectMsg(t, c, reflect, &types.MsgScheduleTimer{
		Sender: reflect.String(), Spec: types.TimerSpec{Trigger: types.Trigger{Height: due}, Call: types.TimerCall{Messages: packed(t, ownSend(reflect))}, GasLimit: 200_000},
	}))
	own := timersOf(t, c, reflect)
	require.Len(t, own, 1)
	require.Equal(t, reflect.String(), own[0].Actor)

	for name, r := range map[string]struct {
		msg  sdk.Msg
		want *errorsmod.Error
	}{
		"schedules for another":    {&types.MsgScheduleTimer{Sender: address("bob"), Spec: types.TimerSpec{Trigger: types.Trigger{Height: due}}}, sdkerrors.ErrUnauthorized},
		"cancels for another":      {&types.MsgCancelTimer{Sender: address("bob"), Id: bobs.Id}, sdkerrors.ErrUnauthorized},
		"extends for another":      {&types.MsgExtendTimer{Sender: address("bob"), Id: bobs.Id, ExpiresAt: due}, sdkerrors.ErrUnauthorized},
		"updates for another":      {&types.MsgUpdateTimer{Sender: address("bob"), Id: bobs.Id, Spec: types.TimerSpec{GasLimit: 99_000}, Fields: []string{"gas_limit"}}, sdkerrors.ErrUnauthorized},
		"cancels another's":        {&types.MsgCancelTimer{Sender: reflect.String(), Id: bobs.Id}, types.ErrTimerNotFound},
		"extends another's":        {&types.MsgExtendTimer{Sender: reflect.String(), Id: bobs.Id, ExpiresAt: due}, types.ErrTimerNotFound},
		"updates another's":        {&types.MsgUpdateTimer{Sender: reflect.String(), Id: bobs.Id, Spec: types.TimerSpec{GasLimit: 99_000}, Fields: []string{"gas_limit"}}, types.ErrTimerNotFound},
		"is not the authority":     {&types.MsgSysCancelTimer{Authority: reflect.String(), Actor: address("bob"), Id: bobs.Id}, types.ErrUnauthorized},
		"names a bad handler":      {&types.MsgScheduleTimer{Sender: reflect.String(), Spec: types.TimerSpec{Trigger: types.Trigger{Height: due}, Call: types.TimerCall{Handler: `a":1,"b`, Payload: []byte("{}")}}}, types.ErrInvalidHandler},
		"gives no JSON":            {&types.MsgScheduleTimer{Sender: reflect.String(), Spec: types.TimerSpec{Trigger: types.Trigger{Height: due}, Call: types.TimerCall{Handler: "tick", Payload: []byte("{}}")}}}, types.ErrInvalidPayload},
		"has no sudo":              {&types.MsgScheduleTimer{Sender: reflect.String(), Spec: types.TimerSpec{Trigger: types.Trigger{Height: due}}}, types.ErrInvalidHandler},
		"lets another pay":         {&types.MsgScheduleTimer{Sender: reflect.String(), Spec: types.TimerSpec{FeePayer: address("bob"), Trigger: types.Trigger{Height: due}, Call: types.TimerCall{Messages: packed(t, ownSend(reflect))}}}, types.ErrInvalidFeePayer},
		"names the block it is in": {&types.MsgScheduleTimer{Sender: reflect.String(), Spec: types.TimerSpec{Trigger: types.Trigger{Height: 1}}}, types.ErrHeightNotInFuture},
	} {
		result := c.NextBlock(c.Sign("alice", reflectMsg(t, c, reflect, r.msg))).TxResults[0]
		codespace, code := codeOf(r.want)
		require.Equal(t, [2]any{codespace, code}, [2]any{result.Codespace, result.Code}, "%s: %s", name, result.Log)
	}
	require.Len(t, timersOf(t, c, appchain.AccountOf("bob").Address), 1)

	c.Deliver("alice", reflectMsg(t, c, reflect, &types.MsgUpdateTimer{Sender: reflect.String(), Id: own[0].Id, Spec: types.TimerSpec{GasLimit: 150_000}, Fields: []string{"gas_limit"}}))
	c.Deliver("alice", reflectMsg(t, c, reflect, &types.MsgExtendTimer{Sender: reflect.String(), Id: own[0].Id, ExpiresAt: due + 7}))
	changed := timersOf(t, c, reflect)[0]
	require.Equal(t, [2]uint64{150_000, due + 7}, [2]uint64{changed.Status.GasLimit, changed.Status.ExpiresAt})
	c.Deliver("alice", reflectMsg(t, c, reflect, &types.MsgCancelTimer{Sender: reflect.String(), Id: own[0].Id}))
	require.Empty(t, timersOf(t, c, reflect))

	// No one schedules for a contract: its sudo is privileged.
	message := schedule(t, c, "bob", due)
	message.Sender, message.Spec.Call.Payload = reflect.String(), nil
	tx := c.NextBlock(c.Sign("bob", message)).TxResults[0]
	require.NotZero(t, tx.Code)
	require.Empty(t, timersOf(t, c, reflect))
}

// ownSend is a message that the contract alone signs.
func ownSend(contract sdk.AccAddress) sdk.Msg {
	return banktypes.NewMsgSend(contract, appchain.AccountOf("bob").Address, sdk.NewCoins(sdk.NewInt64Coin(app.FeeDenom, 1)))
}

func timersOf(t *testing.T, c *appchain.Chain, actor sdk.AccAddress) []types.TimerInfo {
	t.Helper()
	listed, err := timerskeeper.NewQueryServer(c.App.Timers).TimersByActor(c.Ctx(), &types.QueryTimersByActorRequest{Actor: actor.String()})
	require.NoError(t, err)
	return listed.Timers
}

// Rule: 3-contracts-same-messages
func TestAHeartbeatIsChangedAndStopped(t *testing.T) {
	for name, custom := range map[string]bool{"as protobuf": false, "as JSON": true} {
		t.Run(name, func(t *testing.T) {
			c := appchain.NewUnder(t, inOrder, "alice", "bob")
			heartbeat := c.Instantiate("alice", c.StoreCode("alice", contracts.Heartbeat), map[string]any{"every": 30, "custom": custom}, 1_000_000)
			require.NotZero(t, c.Execute("bob", heartbeat, `{"start":{}}`).Code)
			require.Zero(t, c.Execute("alice", heartbeat, `{"start":{}}`).Code)
			require.Zero(t, c.Execute("alice", heartbeat, `{"update":{"gas_limit":123456}}`).Code)
			expires := uint64(c.App.LastBlockHeight()) + 40
			require.Zero(t, c.Execute("alice", heartbeat, fmt.Sprintf(`{"extend":{"expires_at":%d}}`, expires)).Code)
			timers := timersOf(t, c, heartbeat)
			require.Len(t, timers, 1)
			require.Equal(t, [2]uint64{123_456, expires}, [2]uint64{timers[0].Status.GasLimit, timers[0].Status.ExpiresAt})

			// The contract sees its timer.
			var seen struct {
				Timer struct {
					ID   string `json:"id"`
					Spec struct {
						GasLimit string `json:"gas_limit"`
						Call     struct {
							Payload []byte `json:"payload"`
						} `json:"call"`
					} `json:"spec"`
				} `json:"timer"`
			}
			c.QueryContract(heartbeat, `{"timer":{}}`, &seen)
			require.Equal(t, timers[0].Id, seen.Timer.ID)
			require.Equal(t, "123456", seen.Timer.Spec.GasLimit)
			require.Equal(t, "beat", string(seen.Timer.Spec.Call.Payload))

			require.Zero(t, c.Execute("alice", heartbeat, `{"stop":{}}`).Code)
			require.Empty(t, timersOf(t, c, heartbeat))
		})
	}
}

func TestAnAccountsTimerReachesAContractByAMessage(t *testing.T) {
	c := appchain.NewUnder(t, inOrder, "alice", "bob")
	heartbeat := c.Instantiate("alice", c.StoreCode("alice", contracts.Heartbeat), `{"every":30}`, 1_000_000)
	due := uint64(c.App.LastBlockHeight()) + 2
	for _, name := range []string{"alice", "bob"} { // bob is not the contract's owner
		timer := schedule(t, c, name, due+1, c.ExecuteMsg(name, heartbeat, `{"start":{}}`))
		timer.Spec.GasLimit = 300_000
		c.Deliver(name, timer)
	}
	response := c.NextBlock()
	events := appchain.Events(response, "timers.v1.TimerFired")
	require.Len(t, events, 2)
	alices, bobs := readFired(t, events[0]), readFired(t, events[1])
	require.True(t, alices.success)
	codespace, code := codeOf(wasmtypes.ErrExecuteFailed)
	require.Equal(t, [2]any{codespace, code}, [2]any{bobs.codespace, bobs.code})
	require.Len(t, timersOf(t, c, heartbeat), 1, "the contract scheduled while it was called")
	require.Zero(t, sudoOf(response), "its privileged entry point is out of an account's reach")
}

// Rule: 9.2-contract-queries, 9.2-not-for-contracts
func TestContractsAskTheChainWhatIsListedAlone(t *testing.T) {
	c := appchain.NewUnder(t, inOrder, "alice")
	reflect := c.Instantiate("alice", c.StoreCode("alice", wasmdata.ReflectContractWasm()), `{}`, 0)
	c.Deliver("alice", schedule(t, c, "alice", 100, send("alice", "alice", 1)))
	id := timersOf(t, c, appchain.AccountOf("alice").Address)[0].Id
	request, err := (&types.QueryTimerRequest{Actor: address("alice"), Id: id}).Marshal()
	require.NoError(t, err)
	ask := func(request wasmvmtypes.QueryRequest) ([]byte, error) {
		msg, err := json.Marshal(wasmdata.ReflectQueryMsg{Chain: &wasmdata.ChainQuery{Request: &request}})
		require.NoError(t, err)
		answer, err := c.App.Wasm.QuerySmart(c.TimedCtx(), reflect, msg)
		if err != nil {
			return nil, err
		}
		var chain wasmdata.ChainResponse
		require.NoError(t, json.Unmarshal(answer, &chain))
		return chain.Data, nil
	}
	var timer types.QueryTimerResponse
	const path = "/timers.v1.Query/Timer"
	answer, err := ask(wasmvmtypes.QueryRequest{Grpc: &wasmvmtypes.GrpcQuery{Path: path, Data: request}})
	require.NoError(t, err)
	require.NoError(t, c.App.AppCodec().Unmarshal(answer, &timer))
	require.Equal(t, id, timer.Timer.Id)
	timer = types.QueryTimerResponse{}
	answer, err = ask(wasmvmtypes.QueryRequest{Stargate: &wasmvmtypes.StargateQuery{Path: path, Data: request}})
	require.NoError(t, err)
	require.NoError(t, c.App.AppCodec().UnmarshalJSON(answer, &timer))
	require.Equal(t, id, timer.Timer.Id)

	for _, refused := range []string{"/timers.v1.Query/Due", "/timers.v1.Query/Ready", "/cosmos.bank.v1beta1.Query/Balance", "/no.Such/Path"} {
		_, err = ask(wasmvmtypes.QueryRequest{Grpc: &wasmvmtypes.GrpcQuery{Path: refused, Data: []byte{}}})
		require.ErrorContains(t, err, "not allowed", refused)
		_, err = ask(wasmvmtypes.QueryRequest{Stargate: &wasmvmtypes.StargateQuery{Path: refused, Data: []byte{}}})
		require.ErrorContains(t, err, "not allowed", refused)
	}
}

func TestAMigratedContractKeepsItsTimers(t *testing.T) {
	c := appchain.NewUnder(t, inOrder, "alice")
	code, next := c.StoreCode("alice", contracts.Heartbeat), c.StoreCode("alice", contracts.Hostile)
	fixed := c.Instantiate("alice", code, `{"every":4,"start":true}`, 1_000_000)
	moved := c.InstantiateWithAdmin("alice", code, `{"every":3,"start":true}`, 1_000_000, address("alice"))
	migrate := func(contract sdk.AccAddress, to uint64) *abci.ExecTxResult {
		return c.NextBlock(c.Sign("alice", &wasmtypes.MsgMigrateContract{
			Sender: address("alice"), Contract: contract.String(), CodeID: to, Msg: []byte(`{}`),
		})).TxResults[0]
	}
	require.NotZero(t, migrate(fixed, next).Code, "no one migrates a contract without an admin")
	require.Zero(t, migrate(moved, next).Code)
	events := appchain.Events(c.NextBlock(), "timers.v1.TimerFired")
	require.Len(t, events, 2)
	for _, event := range events {
		require.Equal(t, "true", event["success"], event)
	}
	var mark string
	c.QueryContract(moved, `{"mark":{}}`, &mark)
	require.Equal(t, "written", mark, "the new code ran")
	require.Empty(t, timersOf(t, c, moved), "and did not schedule, as the old one did")
	require.Len(t, timersOf(t, c, fixed), 1)
}

func TestAContractThatIsGoneFailsItsFire(t *testing.T) {
	c := appchain.NewUnder(t, inOrder, "alice")
	code := c.StoreCode("alice", contracts.Heartbeat)
	gone, broke := c.Instantiate("alice", code, `{"every":3,"start":true}`, 1_000_000), c.Instantiate("alice", code, `{"every":2,"start":true}`, 100)
	// wasmd never removes a contract; a genesis without it, or a chain with other rules, may.
	ctx := c.Ctx()
	ctx.KVStore(c.App.StoreKey(wasmtypes.StoreKey)).Delete(wasmtypes.GetContractAddressKey(gone))
	c.App.Accounts.RemoveAccount(ctx, c.App.Accounts.GetAccount(ctx, gone))
	c.NextBlock()
	response := c.NextBlock()
	events := appchain.Events(response, "timers.v1.TimerFired")
	require.Len(t, events, 1)
	got := readFired(t, events[0])
	codespace, codeGone := codeOf(types.ErrActorGone)
	require.Equal(t, [2]any{codespace, codeGone}, [2]any{got.codespace, got.code})
	unfunded := appchain.Events(response, "timers.v1.TimerCancelledInsufficientFunds")
	require.Len(t, unfunded, 1)
	require.Equal(t, broke.String(), unfunded[0]["actor"])
}

func TestContractsAndTheirTimersOutliveAnExport(t *testing.T) {
	c := appchain.NewUnder(t, inOrder, "alice")
	code := c.StoreCode("alice", contracts.Heartbeat)
	heartbeat := c.Instantiate("alice", code, `{"every":4,"start":true}`, 1_000_000)
	require.NoError(t, wasmkeeper.NewDefaultPermissionKeeper(c.App.Wasm).PinCode(c.Ctx(), code))
	c.NextBlock()
	next := c.Restart()
	for range 3 {
		want, got := c.NextBlock(), next.NextBlock()
		wantFired, gotFired := appchain.Events(want, "timers.v1.TimerFired"), appchain.Events(got, "timers.v1.TimerFired")
		require.Equal(t, len(wantFired), len(gotFired))
		for i := range wantFired {
			require.Equal(t, readFired(t, wantFired[i]), readFired(t, gotFired[i]))
		}
	}
	var at beats
	next.QueryContract(heartbeat, `{"beats":{}}`, &at)
	require.Equal(t, 1, at.Count)
}

func TestHeartbeatBidsMoreTheLaterItIs(t *testing.T) {
	c := appchain.NewUnder(t, inOrder, "alice")
	heartbeat := c.Instantiate("alice", c.StoreCode("alice", contracts.Heartbeat), `{}`, 0)
	for late, want := range map[int]string{0: "0.002", 7: "0.0027"} {
		var bid struct {
			Fee  math.LegacyDec `json:"max_fee_per_cycle"`
			Tip  math.LegacyDec `json:"max_priority_fee_per_cycle"`
			Cell math.LegacyDec `json:"max_fee_per_cell"`
		}
		c.QueryContract(heartbeat, map[string]any{"get_gas_bid": map[string]any{
			"timer_id": "00", "owner_actor": heartbeat.String(), "trigger_block_height": 100, "current_block_height": 100 + late,
			"basefee_cycle": "0.001000000000000000", "basefee_cell": "0.03", "basefee_lane_timer": "0.004",
			"previous_block_p50_priority_tip_per_cycle": "0.002", "last_block_cycle_usage": 5, "owner_actor_balance": "12",
		}}, &bid)
		require.Equal(t, math.LegacyMustNewDecFromStr(want), bid.Tip)
		require.Equal(t, math.LegacyMustNewDecFromStr("0.008").Add(bid.Tip), bid.Fee)
		require.Equal(t, math.LegacyMustNewDecFromStr("0.06"), bid.Cell)
	}
}
