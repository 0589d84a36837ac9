package app_test

import (
	"encoding/json"
	"strings"
	"testing"

	wasmdata "github.com/CosmWasm/wasmd/x/wasm/keeper/testdata"
	wasmvmtypes "github.com/CosmWasm/wasmvm/v3/types"
	abci "github.com/cometbft/cometbft/abci/types"
	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	govv1 "github.com/cosmos/cosmos-sdk/x/gov/types/v1"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/testutil/appchain"
	"github.com/cosmos-timers/timers/testutil/contracts"
	timerskeeper "github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// deliveryJSON is what contracts are told of a delivery (x/timers/docs/use/contracts.md).
type deliveryJSON struct {
	TimerID   string `json:"timer_id"`
	DeliverID string `json:"deliver_id"`
	FireSeq   uint32 `json:"fire_seq"`
	Height    uint64 `json:"height"`
	Due       uint64 `json:"due"`
	Trigger   string `json:"trigger"`
	Matched   []struct {
		Store string `json:"store"`
		Key   []byte `json:"key"`
	} `json:"matched"`
}

// A contract that asks for it is told of each delivery, by a handler of its own.
//
// Rule: 1.12-delivery-content, 1.12-handlers-are-told
func TestAContractsHandlerIsToldOfTheDelivery(t *testing.T) {
	c := appchain.NewUnder(t, inOrder, "alice", "bob")
	listener := c.Instantiate("alice", c.StoreCode("alice", contracts.Listener), `{}`, 1_000_000)
	type tick struct {
		Delivery deliveryJSON      `json:"delivery"`
		Payload  map[string]uint64 `json:"payload"`
	}
	fire := func(trigger string, txs ...[]byte) deliveryJSON {
		t.Helper()
		for {
			fired := appchain.Events(c.NextBlock(txs...), "timers.v1.TimerFired")
			if txs = nil; len(fired) == 0 {
				continue
			}
			require.Len(t, fired, 1)
			require.Equal(t, "true", fired[0]["success"], fired[0])
			var heard struct {
				Last map[string]tick `json:"last"`
			}
			c.QueryContract(listener, `{"heard":{}}`, &heard)
			require.Equal(t, map[string]uint64{"n": 7}, heard.Last["tick"].Payload)
			got := heard.Last["tick"].Delivery
			require.Equal(t, fired[0]["id"], got.TimerID)
			require.Equal(t, fired[0]["deliver_id"], got.DeliverID)
			require.Equal(t, [3]any{uint64(c.App.LastBlockHeight()), trigger, got.Height}, [3]any{got.Height, got.Trigger, got.Due})
			return got
		}
	}
	now := func() uint64 { return uint64(c.App.LastBlockHeight()) }
	schedule := func(trigger types.Trigger, repeat *types.Repeat) {
		_, err := c.App.Timers.Schedule(c.Ctx(), timerskeeper.ScheduleRequest{
			Actor: listener, Spec: types.TimerSpec{Trigger: trigger, Repeat: repeat, Call: types.TimerCall{Handler: "tick+delivery", Payload: []byte(`{"n":7}`)}, GasLimit: 250_000},
		})
		require.NoError(t, err)
	}

	// It schedules for itself, with a message like any other.
	require.Zero(t, c.Execute("alice", listener, map[string]any{"schedule": map[string]any{
		"height": now() + 3, "handler": "tick+delivery", "payload": map[string]any{"n": 7},
	}}).Code)
	require.Empty(t, fire("height").Matched)

	schedule(types.Trigger{After: 2}, nil)
	require.Empty(t, fire("after").Matched)

	schedule(types.Trigger{Interval: &types.IntervalTrigger{Every: 2}}, &types.Repeat{Remaining: 2})
	require.Zero(t, fire("interval").FireSeq)
	require.Equal(t, uint32(1), fire("interval").FireSeq)

	balance, err := timerskeeper.NewQueryServer(c.App.Timers).WatchKey(c.Ctx(), &types.QueryWatchKeyRequest{Text: "bank:balance:" + address("bob") + ":utmr"})
	require.NoError(t, err)
	schedule(types.Trigger{Watch: &types.WatchTrigger{Keys: []types.WatchKey{balance.Key}}}, &types.Repeat{Remaining: 1})
	c.NextBlock()
	matched := fire("watch", c.Sign("alice", send("alice", "bob", 1))).Matched
	require.Len(t, matched, 1)
	require.Equal(t, [2]any{"bank", balance.Key.Prefix}, [2]any{matched[0].Store, matched[0].Key})

	// A handler that does not ask is called as before.
	_, err = c.App.Timers.Schedule(c.Ctx(), timerskeeper.ScheduleRequest{
		Actor: listener, Spec: types.TimerSpec{Trigger: types.Trigger{After: 1}, Call: types.TimerCall{Handler: "tick", Payload: []byte(`{"n":7}`)}, GasLimit: 250_000},
	})
	require.NoError(t, err)
	c.NextBlock()
	var plain struct {
		Last map[string]map[string]uint64 `json:"last"`
	}
	c.QueryContract(listener, `{"heard":{}}`, &plain)
	require.Equal(t, map[string]map[string]uint64{"tick": {"n": 7}}, plain.Last)
}

// Every event between the events of a block's start and the summary at its end belongs to a fire, and says to which.
//
// Rule: 6-fire-tags, 6-message-module
func TestEventsOfAFireNameItsTimer(t *testing.T) {
	c := appchain.NewUnder(t, inOrder, "alice", "bob")
	listener := c.Instantiate("alice", c.StoreCode("alice", contracts.Listener), `{}`, 1_000_000)
	due := uint64(c.App.LastBlockHeight()) + 5
	tx := c.Deliver("alice", schedule(t, c, "alice", due, send("alice", "bob", 7), schedule(t, c, "alice", due+10, send("alice", "bob", 1)))).TxResults[0]
	require.Zero(t, c.Execute("alice", listener, map[string]any{"schedule": map[string]any{
		"height": due, "handler": "tick", "payload": map[string]any{},
	}}).Code)

	// The transaction's own message event names the module.
	modules := map[string]int{}
	for _, event := range tx.Events {
		for _, attribute := range event.Attributes {
			if event.Type == "message" && attribute.Key == "module" {
				modules[attribute.Value]++
			}
		}
	}
	require.Equal(t, 1, modules["timers"], modules)
	require.Zero(t, modules["v1"], modules)

	response := c.NextBlock()
	for uint64(c.App.LastBlockHeight()) < due {
		response = c.NextBlock()
	}
	fired := appchain.Events(response, "timers.v1.TimerFired")
	require.Len(t, fired, 2)
	deliveries, counts := map[string]string{}, map[string]map[string]int{}
	for _, f := range fired {
		require.Equal(t, "true", f["success"])
		deliveries[f["id"]] = f["deliver_id"]
		counts[f["id"]] = map[string]int{}
	}
	// What the module burns of all charges belongs to no fire.
	settling := authtypes.NewModuleAddress(types.ModuleName).String()
	for _, event := range response.Events {
		tags := map[string]string{}
		for _, a := range event.Attributes {
			tags[a.Key] = strings.Trim(a.Value, `"`)
		}
		if tags["timer_id"] == "" {
			own := strings.HasPrefix(event.Type, "timers.v1.") || tags["receiver"]+tags["spender"]+tags["burner"] == settling
			require.True(t, own || tags["mode"] == "BeginBlock", "whose event is %s %v?", event.Type, tags)
			continue
		}
		require.Equal(t, deliveries[tags["timer_id"]], tags["deliver_id"])
		counts[tags["timer_id"]][event.Type]++
	}
	require.Equal(t, map[string]int{
		"message": 2, "coin_spent": 2, "coin_received": 1, "transfer": 1, "timers.v1.TimerScheduled": 1,
	}, counts[fired[0]["id"]], "one charge, what the messages did, and no more")
	require.Equal(t, map[string]int{"sudo": 1, "wasm": 1, "coin_spent": 1}, counts[fired[1]["id"]])
}

// A contract learns from the chain what became of its timers.
//
// Rule: 9.2-contract-queries
func TestAContractAsksForItsDeliveries(t *testing.T) {
	c := appchain.NewUnder(t, inOrder, "alice")
	reflect := c.Instantiate("alice", c.StoreCode("alice", wasmdata.ReflectContractWasm()), `{}`, 0)
	c.Deliver("alice", schedule(t, c, "alice", uint64(c.App.LastBlockHeight())+2, send("alice", "alice", 1)))
	fired := appchain.Events(c.NextBlock(), "timers.v1.TimerFired")
	require.Len(t, fired, 1)
	request, err := (&types.QueryDeliveriesRequest{Actor: address("alice"), Id: fired[0]["id"]}).Marshal()
	require.NoError(t, err)
	msg, err := json.Marshal(wasmdata.ReflectQueryMsg{Chain: &wasmdata.ChainQuery{Request: &wasmvmtypes.QueryRequest{
		Grpc: &wasmvmtypes.GrpcQuery{Path: "/timers.v1.Query/Deliveries", Data: request},
	}}})
	require.NoError(t, err)
	answer, err := c.App.Wasm.QuerySmart(c.TimedCtx(), reflect, msg)
	require.NoError(t, err)
	var chain wasmdata.ChainResponse
	require.NoError(t, json.Unmarshal(answer, &chain))
	var response types.QueryDeliveriesResponse
	require.NoError(t, c.App.AppCodec().Unmarshal(chain.Data, &response))
	require.Len(t, response.Deliveries, 1)
	require.Equal(t, uint64(c.App.LastBlockHeight()), response.Deliveries[0].Height)
	require.Equal(t, fired[0]["deliver_id"], response.Deliveries[0].Receipt.DeliverId)
}

// A proposal that names a timer by a shortened id would pass its vote and then fail: it is refused at the door.
//
// Rule: 3.7-whole-id
func TestAProposalWithAShortIDIsRefused(t *testing.T) {
	c := appchain.New(t, "alice")
	c.Deliver("alice", schedule(t, c, "alice", 1_000, send("alice", "alice", 1)))
	id := timersOf(t, c, appchain.AccountOf("alice").Address)[0].Id
	authority := authtypes.NewModuleAddress("gov").String()
	submit := func(id string) *abci.ExecTxResult {
		for _, msg := range []sdk.Msg{
			&types.MsgSysCancelTimer{Authority: authority, Actor: address("alice"), Id: id},
			&types.MsgSysExtendTimer{Authority: authority, Actor: address("alice"), Id: id, ExpiresAt: 2_000},
			&types.MsgSysReleaseTimer{Authority: authority, Actor: address("alice"), Id: id},
		} {
			proposal, err := govv1.NewMsgSubmitProposal([]sdk.Msg{msg}, sdk.NewCoins(sdk.NewInt64Coin(app.FeeDenom, 1_000_000)), address("alice"), "", "title", "summary", false)
			require.NoError(t, err)
			result := c.NextBlock(c.Sign("alice", proposal)).TxResults[0]
			if strings.Contains(result.Log, "whole id") {
				continue
			}
			return result
		}
		return nil
	}
	require.Nil(t, submit(id[:8]), "each of the messages refuses it")
	require.Zero(t, submit(id).Code, "a whole id is taken")
}
