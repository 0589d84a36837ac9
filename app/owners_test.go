package app_test

import (
	"strconv"
	"testing"

	wasmdata "github.com/CosmWasm/wasmd/x/wasm/keeper/testdata"
	wasmtypes "github.com/CosmWasm/wasmd/x/wasm/types"
	abci "github.com/cometbft/cometbft/abci/types"
	"github.com/stretchr/testify/require"

	errorsmod "cosmossdk.io/errors"
	storetypes "cosmossdk.io/store/types"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	sdk "github.com/cosmos/cosmos-sdk/types"
	sdkerrors "github.com/cosmos/cosmos-sdk/types/errors"
	"github.com/cosmos/cosmos-sdk/x/authz"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/testutil/appchain"
	"github.com/cosmos-timers/timers/testutil/contracts"
	"github.com/cosmos-timers/timers/wasmbinding"
	timerskeeper "github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// A contract owns timers whose messages run as the contract. Reflect, wasmd's own test contract, is the proxy here: it
// dispatches what its owner tells it to, has no sudo, and knows nothing of timers.

// proxy is a chain with reflect on it, which alice owns.
type proxy struct {
	*appchain.Chain
	t       *testing.T
	reflect sdk.AccAddress
}

func newProxy(t *testing.T) *proxy {
	t.Helper()
	c := appchain.NewUnder(t, inOrder, "alice", "bob")
	return &proxy{c, t, c.Instantiate("alice", c.StoreCode("alice", wasmdata.ReflectContractWasm()), `{}`, 10_000_000)}
}

// send is a transfer by an address.
func (p *proxy) send(from sdk.AccAddress, to string, amount int64) sdk.Msg {
	return banktypes.NewMsgSend(from, appchain.AccountOf(to).Address, sdk.NewCoins(sdk.NewInt64Coin(app.FeeDenom, amount)))
}

// schedule makes reflect send a MsgScheduleTimer as itself, due in the block after, and returns the result.
func (p *proxy) schedule(change func(*types.MsgScheduleTimer), msgs ...sdk.Msg) *abci.ExecTxResult {
	p.t.Helper()
	msg := &types.MsgScheduleTimer{
		Sender: p.reflect.String(), Spec: types.TimerSpec{Trigger: types.Trigger{After: 1}, Call: types.TimerCall{Messages: packed(p.t, msgs...)}, GasLimit: 300_000},
	}
	change(msg)
	return p.NextBlock(p.Sign("alice", reflectMsg(p.t, p.Chain, p.reflect, msg))).TxResults[0]
}

func asItIs(*types.MsgScheduleTimer) {}

func packed(t *testing.T, msgs ...sdk.Msg) []*codectypes.Any {
	t.Helper()
	payload, err := types.NewAccountPayload(msgs...)
	require.NoError(t, err)
	return payload.Messages
}

// fire runs the next block, in which one timer fires.
func (p *proxy) fire() (fired, *abci.ResponseFinalizeBlock) {
	p.t.Helper()
	block := p.NextBlock()
	events := appchain.Events(block, "timers.v1.TimerFired")
	require.Len(p.t, events, 1)
	require.Equal(p.t, p.reflect.String(), events[0]["actor"])
	return readFired(p.t, events[0]), block
}

// Rule: 1.3-contract-messages
func TestAContractsMessagesRunAsTheContract(t *testing.T) {
	p := newProxy(t)
	before, its := p.Balance(appchain.AccountOf("bob").Address), p.Balance(p.reflect)
	result := p.schedule(asItIs, p.send(p.reflect, "bob", 700), p.send(p.reflect, "bob", 77))
	require.Zero(t, result.Code, result.Log)
	timer, err := timerskeeper.NewQueryServer(p.App.Timers).Timer(p.Ctx(), &types.QueryTimerRequest{
		Actor: p.reflect.String(), Id: timersOf(t, p.Chain, p.reflect)[0].Id,
	})
	require.NoError(t, err)
	require.Len(t, timer.Timer.Spec.Call.Messages, 2)

	got, block := p.fire()
	require.True(t, got.success, got)
	require.Equal(t, before.AddRaw(777), p.Balance(appchain.AccountOf("bob").Address))
	paid := appchain.Events(block, "timers.v1.TimerFired")[0]["paid"]
	require.NotEqual(t, "0", paid)
	require.Equal(t, its.SubRaw(777+number(t, paid)), p.Balance(p.reflect), "it pays for its fire")
	require.Zero(t, sudoOf(block), "its code is not called")
	p.Replay()
}

func number(t *testing.T, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	require.NoError(t, err)
	return n
}

// Rule: 1.3-contract-messages
func TestAContractsMessagesAreCheckedAsAnAccountsAre(t *testing.T) {
	p := newProxy(t)
	nested := p.send(p.reflect, "bob", 1)
	for range 5 {
		exec := authz.NewMsgExec(p.reflect, []sdk.Msg{nested})
		nested = &exec
	}
	withPayload := func(m *types.MsgScheduleTimer) { m.Spec.Call.Payload = []byte("{}") }
	for name, c := range map[string]struct {
		change func(*types.MsgScheduleTimer)
		msgs   []sdk.Msg
		want   *errorsmod.Error
	}{
		"another's message":          {asItIs, []sdk.Msg{p.send(appchain.AccountOf("alice").Address, "bob", 1)}, types.ErrForeignSigner},
		"its own and another's":      {asItIs, []sdk.Msg{p.send(p.reflect, "bob", 1), p.send(appchain.AccountOf("alice").Address, "bob", 1)}, types.ErrForeignSigner},
		"nested too deep":            {asItIs, []sdk.Msg{nested}, types.ErrInvalidPayload},
		"together with a payload":    {withPayload, []sdk.Msg{p.send(p.reflect, "bob", 1)}, types.ErrAmbiguousCall},
		"the authority's":            {asItIs, []sdk.Msg{&types.MsgSysCancelTimer{Authority: p.App.Wasm.GetAuthority(), Actor: address("bob"), Id: "ab"}}, types.ErrForeignSigner},
		"less gas than a fire takes": {func(m *types.MsgScheduleTimer) { m.Spec.GasLimit = 30_000 }, []sdk.Msg{p.send(p.reflect, "bob", 1)}, types.ErrGasLimitOutOfBounds},
	} {
		result := p.schedule(c.change, c.msgs...)
		codespace, code := codeOf(c.want)
		require.Equal(t, [2]any{codespace, code}, [2]any{result.Codespace, result.Code}, "%s: %s", name, result.Log)
	}
	require.Empty(t, timersOf(t, p.Chain, p.reflect))

	s := &stage{Chain: p.Chain, t: t}
	s.setConfig(func(config *types.TimerConfig) {
		config.DeniedMessages = []string{sdk.MsgTypeURL(&banktypes.MsgSend{})}
	})
	codespace, code := codeOf(types.ErrMessageNotAllowed)
	exec := authz.NewMsgExec(p.reflect, []sdk.Msg{p.send(p.reflect, "bob", 1)})
	for _, msg := range []sdk.Msg{p.send(p.reflect, "bob", 1), &exec} {
		result := p.schedule(asItIs, msg)
		require.Equal(t, [2]any{codespace, code}, [2]any{result.Codespace, result.Code}, result.Log)
	}
}

// What a governance denies between scheduling and the fire does not run.
//
// Rule: 1.3-lists-checked-twice
func TestAContractsMessagesAreCheckedAgainWhenTheyFire(t *testing.T) {
	p := newProxy(t)
	before := p.Balance(appchain.AccountOf("bob").Address)
	require.Zero(t, p.schedule(func(m *types.MsgScheduleTimer) { m.Spec.Trigger = types.Trigger{After: 2} }, p.send(p.reflect, "bob", 5)).Code)
	s := &stage{Chain: p.Chain, t: t}
	s.setConfig(func(config *types.TimerConfig) {
		config.DeniedMessages = []string{sdk.MsgTypeURL(&banktypes.MsgSend{})}
	})
	got, _ := p.fire()
	codespace, code := codeOf(types.ErrMessageNotAllowed)
	require.Equal(t, [2]any{codespace, code}, [2]any{got.codespace, got.code})
	require.Equal(t, before, p.Balance(appchain.AccountOf("bob").Address))
}

// Rule: 1.3-contract-messages
func TestAContractsMessagesRunAllOrNone(t *testing.T) {
	p := newProxy(t)
	before := p.Balance(appchain.AccountOf("bob").Address)
	require.Zero(t, p.schedule(asItIs, p.send(p.reflect, "bob", 5), p.send(p.reflect, "bob", 100_000_000)).Code)
	got, _ := p.fire()
	codespace, code := codeOf(sdkerrors.ErrInsufficientFunds)
	require.Equal(t, [2]any{codespace, code}, [2]any{got.codespace, got.code})
	require.Equal(t, before, p.Balance(appchain.AccountOf("bob").Address))
}

// The same bytes are messages or a payload, by how they were stated: a payload goes to sudo.
//
// Rule: 1.3-payload-is-no-messages
func TestAContractsPayloadIsNoMessages(t *testing.T) {
	p := newProxy(t)
	payload, err := (&types.AccountPayload{Messages: packed(t, p.send(p.reflect, "bob", 5))}).Marshal()
	require.NoError(t, err)
	heartbeat := p.Instantiate("alice", p.StoreCode("alice", contracts.Heartbeat), `{"every":30}`, 1_000_000)
	_, err = p.App.Timers.Schedule(p.Ctx(), timerskeeper.ScheduleRequest{
		Actor: heartbeat, Spec: types.TimerSpec{Trigger: types.Trigger{After: 2}, Call: types.TimerCall{Payload: payload}, GasLimit: 300_000},
	})
	require.NoError(t, err)
	p.NextBlock()
	block := p.NextBlock()
	require.Equal(t, "true", appchain.Events(block, "timers.v1.TimerFired")[0]["success"])
	require.Equal(t, 1, sudoOf(block))
	var at beats
	p.QueryContract(heartbeat, `{"beats":{}}`, &at)
	require.Equal(t, payload, at.Last.Payload)
}

// A call that can't succeed is refused when it is scheduled, and not each time that it fires.
func TestACallOfCodeWithoutSudoIsRefused(t *testing.T) {
	p := newProxy(t)
	codespace, code := codeOf(types.ErrInvalidHandler)
	for name, change := range map[string]func(*types.MsgScheduleTimer){
		"default": func(*types.MsgScheduleTimer) {},
		"named":   func(m *types.MsgScheduleTimer) { m.Spec.Call.Handler, m.Spec.Call.Payload = "tick", []byte("{}") },
		"repeated": func(m *types.MsgScheduleTimer) {
			m.Spec.Trigger = types.Trigger{Interval: &types.IntervalTrigger{Every: 1}}
		},
	} {
		result := p.schedule(change)
		require.Equal(t, [2]any{codespace, code}, [2]any{result.Codespace, result.Code}, "%s: %s", name, result.Log)
		require.Contains(t, result.Log, "exports no sudo", name)
	}
	require.Zero(t, p.schedule(func(m *types.MsgScheduleTimer) { m.Spec.Trigger = types.Trigger{After: 50} }, p.send(p.reflect, "bob", 5)).Code)
	timer := timersOf(t, p.Chain, p.reflect)[0]
	update := &types.MsgUpdateTimer{Sender: p.reflect.String(), Id: timer.Id, Spec: types.TimerSpec{Call: types.TimerCall{Handler: "tick", Payload: []byte("{}")}}, Fields: []string{"call"}}
	result := p.NextBlock(p.Sign("alice", reflectMsg(t, p.Chain, p.reflect, update))).TxResults[0]
	require.Equal(t, [2]any{codespace, code}, [2]any{result.Codespace, result.Code}, "an update: %s", result.Log)
	p.Replay()
}

// The look-up is charged, and the same whether this node knows the code or not. A contract that is being called needs none.
func TestTheLookUpOfSudoIsCharged(t *testing.T) {
	c := appchain.NewUnder(t, inOrder, "alice")
	heartbeat := c.Instantiate("alice", c.StoreCode("alice", contracts.Heartbeat), `{"every":30}`, 1_000_000)
	gasOf := func(context func(sdk.Context) sdk.Context) uint64 {
		ctx := context(c.Ctx().WithGasMeter(storetypes.NewInfiniteGasMeter()))
		_, err := c.App.Timers.Schedule(ctx, timerskeeper.ScheduleRequest{Actor: heartbeat, Spec: types.TimerSpec{Trigger: types.Trigger{After: 2}}})
		require.NoError(t, err)
		return ctx.GasMeter().GasConsumed()
	}
	branch := func(ctx sdk.Context) sdk.Context { branched, _ := ctx.CacheContext(); return branched }
	first, again := gasOf(branch), gasOf(branch)
	require.Equal(t, first, again)
	c.SwapBinary(func(*app.App) {})
	require.Equal(t, first, gasOf(branch), "a node that has just started")
	require.Greater(t, first, uint64(wasmbinding.LookUpCycles+25_000), "less than 27,000 are not for it")
}

// Messages may schedule messages again, or call a contract that schedules: each timer fires in a later block, and is paid.
func TestMessagesThatScheduleAgain(t *testing.T) {
	p := newProxy(t)
	again := func(msgs ...sdk.Msg) sdk.Msg {
		return &types.MsgScheduleTimer{
			Sender: p.reflect.String(), Spec: types.TimerSpec{Trigger: types.Trigger{After: 1}, Call: types.TimerCall{Messages: packed(t, msgs...)}, GasLimit: 300_000},
		}
	}
	bob := appchain.AccountOf("bob").Address
	before := p.Balance(bob)
	require.Zero(t, p.schedule(asItIs, again(again(p.send(p.reflect, "bob", 5)))).Code)
	for range 2 {
		got, _ := p.fire()
		require.True(t, got.success, got)
		require.Equal(t, before, p.Balance(bob), "not before its turn")
	}
	got, _ := p.fire()
	require.True(t, got.success, got)
	require.Equal(t, before.AddRaw(5), p.Balance(bob))

	// A thousand timers at once: the gas limit ends it, and all are dropped.
	hostile := p.Instantiate("bob", p.StoreCode("bob", contracts.Hostile), `{}`, 1_000_000)
	require.Zero(t, p.schedule(func(m *types.MsgScheduleTimer) { m.Spec.GasLimit = 500_000 }, &wasmtypes.MsgExecuteContract{
		Sender: p.reflect.String(), Contract: hostile.String(), Msg: []byte(`{"many":{"count":1000}}`),
	}).Code)
	got, _ = p.fire()
	codespace, code := codeOf(types.ErrOutOfCycles)
	require.Equal(t, [2]any{codespace, code}, [2]any{got.codespace, got.code})
	require.Equal(t, uint64(500_000), got.cycles)
	require.Empty(t, timersOf(t, p.Chain, hostile))
	p.Replay()
}
