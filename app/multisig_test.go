package app_test

import (
	"encoding/json"
	"fmt"
	"testing"

	wasmtypes "github.com/CosmWasm/wasmd/x/wasm/types"
	wasmvmtypes "github.com/CosmWasm/wasmvm/v3/types"
	"github.com/stretchr/testify/require"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/testutil/appchain"
	"github.com/cosmos-timers/timers/testutil/contracts"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Council is cw3-fixed-multisig of cw-plus, treasury has the messages of DAO DAO's core. They know nothing of timers, and
// have no sudo: what the members decide on are messages of the chain.

// council is a chain with a multisig of alice, bob and carol, of whom two decide.
type council struct {
	*appchain.Chain
	t         *testing.T
	multisig  sdk.AccAddress
	proposals int
}

func newCouncil(t *testing.T) *council {
	t.Helper()
	c := &council{Chain: appchain.NewUnder(t, inOrder, "alice", "bob", "carol", "dave"), t: t}
	var voters []map[string]any
	for _, name := range []string{"alice", "bob", "carol"} {
		voters = append(voters, map[string]any{"addr": address(name), "weight": 1})
	}
	c.multisig = c.Instantiate("alice", c.StoreCode("alice", contracts.Council), map[string]any{
		"voters": voters, "threshold": map[string]any{"absolute_count": map[string]any{"weight": 2}},
		"max_voting_period": map[string]any{"height": 1_000},
	}, 1_000_000)
	return c
}

// ofChain are messages of the chain, as a contract states them.
func ofChain(t *testing.T, msgs ...sdk.Msg) (stated []wasmvmtypes.CosmosMsg) {
	t.Helper()
	for _, msg := range msgs {
		packed, err := codectypes.NewAnyWithValue(msg)
		require.NoError(t, err)
		stated = append(stated, wasmvmtypes.CosmosMsg{Any: &wasmvmtypes.AnyMsg{TypeURL: packed.TypeUrl, Value: packed.Value}})
	}
	return stated
}

// propose makes a proposal of alice's, which is her vote for it.
func (c *council) propose(msgs ...wasmvmtypes.CosmosMsg) {
	c.t.Helper()
	result := c.Execute("alice", c.multisig, map[string]any{"propose": map[string]any{"title": "title", "description": "", "msgs": msgs}})
	require.Zero(c.t, result.Code, result.Log)
	c.proposals++
}

// call is a call of the multisig about the last proposal.
func (c *council) call(name, call string) uint32 {
	c.t.Helper()
	args := map[string]any{"proposal_id": c.proposals}
	if call == "vote" {
		args["vote"] = "yes"
	}
	return c.Execute(name, c.multisig, map[string]any{call: args}).Code
}

// decide lets the members pass a proposal, and somebody execute it.
func (c *council) decide(msgs ...wasmvmtypes.CosmosMsg) {
	c.t.Helper()
	c.propose(msgs...)
	require.NotZero(c.t, c.call("dave", "execute"), "before the vote")
	require.NotZero(c.t, c.call("dave", "vote"), "a stranger")
	require.Zero(c.t, c.call("bob", "vote"))
	require.Zero(c.t, c.call("dave", "execute"))
	require.NotZero(c.t, c.call("dave", "execute"), "twice")
}

// booking is a timer of an owner's that pays dave every other block.
func (c *council) booking(owner sdk.AccAddress) *types.MsgScheduleTimer {
	pay := banktypes.NewMsgSend(owner, appchain.AccountOf("dave").Address, utmr(700))
	return &types.MsgScheduleTimer{
		Sender: owner.String(), Spec: types.TimerSpec{
			Trigger: types.Trigger{Interval: &types.IntervalTrigger{Every: 4}}, Call: types.TimerCall{Messages: packed(c.t, pay)},
			GasLimit: 200_000, Name: "rent",
		},
	}
}

// requirePays runs blocks until the owner's timer fires: it sends what it should, and the owner pays for the fire.
func (c *council) requirePays(owner sdk.AccAddress) {
	c.t.Helper()
	due := timersOf(c.t, c.Chain, owner)[0].Status.Due
	dave := appchain.AccountOf("dave").Address
	before, had := c.Balance(owner), c.Balance(dave)
	block := blocksTo(c.t, c.Chain, due)
	fired := appchain.Events(block, "timers.v1.TimerFired")
	require.Len(c.t, fired, 1)
	require.Equal(c.t, [2]string{owner.String(), "true"}, [2]string{fired[0]["actor"], fired[0]["success"]}, fired[0])
	require.Equal(c.t, before.SubRaw(700+number(c.t, fired[0]["paid"])), c.Balance(owner))
	require.Equal(c.t, had.AddRaw(700), c.Balance(dave))
	require.Zero(c.t, sudoOf(block), "none of its code runs")
}

// Rule: 1.3-contract-messages
func TestAMultisigOwnsTimers(t *testing.T) {
	c := newCouncil(t)
	c.decide(ofChain(t, c.booking(c.multisig))...)
	timers := timersOf(t, c.Chain, c.multisig)
	require.Len(t, timers, 1)
	require.Equal(t, [2]string{c.multisig.String(), "rent"}, [2]string{timers[0].Status.FeePayer, timers[0].Spec.Name})
	c.requirePays(c.multisig)
	c.requirePays(c.multisig)

	// What one member wants alone does not happen, nor what all want in another's name.
	cancel := ofChain(t, &types.MsgCancelTimer{Sender: c.multisig.String(), Id: timers[0].Id})
	c.propose(cancel...)
	require.NotZero(t, c.call("alice", "execute"))
	alone := &types.MsgCancelTimer{Sender: address("bob"), Id: timers[0].Id, Actor: c.multisig.String()}
	require.NotZero(t, c.NextBlock(c.Sign("bob", alone)).TxResults[0].Code)
	c.propose(ofChain(t, c.booking(appchain.AccountOf("dave").Address))...)
	require.Zero(t, c.call("bob", "vote"))
	require.NotZero(t, c.call("bob", "execute"), "dave has not signed")
	require.Len(t, timersOf(t, c.Chain, c.multisig), 1)

	c.decide(cancel...)
	require.Empty(t, timersOf(t, c.Chain, c.multisig))
	c.Replay()
}

// A DAO's treasury does what its proposal module hands it, here the multisig: the treasury owns the timer and pays.
//
// Rule: 1.3-contract-messages
func TestADAOsTreasuryOwnsTimers(t *testing.T) {
	c := newCouncil(t)
	treasury := c.Instantiate("alice", c.StoreCode("alice", contracts.Treasury), map[string]any{
		"admin": address("carol"), "proposal_module": c.multisig.String(),
	}, 1_000_000)
	hand := func(hook string, msgs ...sdk.Msg) []byte {
		call, err := json.Marshal(map[string]any{hook: map[string]any{"msgs": ofChain(t, msgs...)}})
		require.NoError(t, err)
		return call
	}
	c.decide(wasmvmtypes.CosmosMsg{Wasm: &wasmvmtypes.WasmMsg{Execute: &wasmvmtypes.ExecuteMsg{
		ContractAddr: treasury.String(), Msg: hand("execute_proposal_hook", c.booking(treasury)), Funds: []wasmvmtypes.Coin{},
	}}})
	timers := timersOf(t, c.Chain, treasury)
	require.Len(t, timers, 1)
	require.Empty(t, timersOf(t, c.Chain, c.multisig), "the module owns none")
	multisigs := c.Balance(c.multisig)
	c.requirePays(treasury)
	require.Equal(t, multisigs, c.Balance(c.multisig))

	cancel := hand("execute_admin_msgs", &types.MsgCancelTimer{Sender: treasury.String(), Id: timers[0].Id})
	require.NotZero(t, c.Execute("alice", treasury, string(cancel)).Code, "not the admin")
	require.Len(t, timersOf(t, c.Chain, treasury), 1)
	require.Zero(t, c.Execute("carol", treasury, string(cancel)).Code)
	require.Empty(t, timersOf(t, c.Chain, treasury))
	c.Replay()
}

// Neither has a sudo, so that a timer that would call it is refused, also to the admin that the chain knows.
func TestATimerThatCallsAMultisigIsRefused(t *testing.T) {
	c := newCouncil(t)
	code := c.App.Wasm.GetContractInfo(c.Ctx(), c.multisig).CodeID
	another := c.InstantiateWithAdmin("alice", code, fmt.Sprintf(`{"voters":[{"addr":%q,"weight":1}],
		"threshold":{"absolute_count":{"weight":1}},"max_voting_period":{"height":9}}`, address("bob")), 0, address("alice"))
	msg := &types.MsgScheduleTimer{
		Sender: address("alice"), Actor: another.String(), Spec: types.TimerSpec{Trigger: types.Trigger{After: 1}, Call: types.TimerCall{Handler: "execute", Payload: []byte(`{"proposal_id":1}`)}},
	}
	result := c.NextBlock(c.Sign("alice", msg)).TxResults[0]
	codespace, want := codeOf(types.ErrInvalidHandler)
	require.Equal(t, [2]any{codespace, want}, [2]any{result.Codespace, result.Code}, result.Log)

	// Her own timer calls the multisig by a message.
	c.propose(ofChain(t, c.booking(c.multisig))...)
	require.Zero(t, c.call("bob", "vote"))
	execute := &wasmtypes.MsgExecuteContract{Sender: address("alice"), Contract: c.multisig.String(), Msg: []byte(`{"execute":{"proposal_id":1}}`)}
	c.Deliver("alice", &types.MsgScheduleTimer{
		Sender: address("alice"), Spec: types.TimerSpec{Trigger: types.Trigger{After: 1}, Call: types.TimerCall{Messages: packed(t, execute)}, GasLimit: 400_000},
	})
	fired := appchain.Events(c.NextBlock(), "timers.v1.TimerFired")
	require.Len(t, fired, 1)
	require.Equal(t, "true", fired[0]["success"], fired[0])
	require.Len(t, timersOf(t, c.Chain, c.multisig), 1)
}
