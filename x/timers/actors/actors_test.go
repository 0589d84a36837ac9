package actors_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/cosmos/gogoproto/proto"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	"github.com/cosmos/cosmos-sdk/baseapp"
	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	"github.com/cosmos/cosmos-sdk/x/authz"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"
	govtypes "github.com/cosmos/cosmos-sdk/x/gov/types/v1"

	"github.com/cosmos-timers/timers/x/timers/actors"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

var (
	alice = sdk.AccAddress("alice_______________")
	bob   = sdk.AccAddress("bob_________________")
)

// accounts is the runtime of accounts on a chain with real auth, bank and authz.
func accounts(t *testing.T) (*lab.Chain, *actors.AccountRuntime) {
	t.Helper()
	chain, err := lab.NewChain(lab.ChainOptions{Balances: []lab.Balance{
		{Address: alice, Amount: math.NewInt(1_000)}, {Address: bob, Amount: math.NewInt(1_000)},
	}})
	require.NoError(t, err)
	require.NoError(t, chain.BeginBlock())
	return chain, actors.NewAccountRuntime(chain.Codec, chain.Accounts, chain.Messages)
}

func call(t *testing.T, chain *lab.Chain, msgs ...sdk.Msg) types.Call {
	t.Helper()
	payload, err := types.NewAccountPayload(msgs...)
	require.NoError(t, err)
	bz, err := chain.Codec.Marshal(payload)
	require.NoError(t, err)
	return types.Call{Actor: alice, Handler: types.DefaultHandler, Payload: bz}
}

func send(chain *lab.Chain, from, to sdk.AccAddress, amount int64) sdk.Msg {
	return banktypes.NewMsgSend(from, to, sdk.NewCoins(sdk.NewInt64Coin(chain.FeeDenom, amount)))
}

// Rule: 1.3-account, 5.2-success-keeps
func TestMessagesOfAPayloadRunInOrder(t *testing.T) {
	chain, runtime := accounts(t)
	config := types.DefaultTimerConfig(chain.FeeDenom)
	ctx := chain.Ctx().WithEventManager(sdk.NewEventManager())
	// The second could not pay if the first had not run.
	exec := authz.NewMsgExec(alice, []sdk.Msg{send(chain, alice, bob, 2)})
	delivery := types.Delivery{Call: call(t, chain, send(chain, alice, bob, 998), &exec)}
	require.NoError(t, runtime.Deliver(ctx, &config, delivery))
	require.Equal(t, int64(2_000), chain.Bank.GetBalance(ctx, bob, chain.FeeDenom).Amount.Int64())
	transfers := 0
	for _, event := range ctx.EventManager().Events() {
		if event.Type == banktypes.EventTypeTransfer {
			transfers++
		}
	}
	require.Equal(t, 2, transfers, "each message's events are kept, once")
	require.Error(t, runtime.Deliver(ctx, &config, types.Delivery{Call: call(t, chain, send(chain, alice, bob, 1))}))
}

// Rule: 1.2-actor, 1.3-account, 1.3-schedules-for-itself
func TestTheActorIsTheOnlySigner(t *testing.T) {
	chain, runtime := accounts(t)
	config := types.DefaultTimerConfig(chain.FeeDenom)
	foreign := authz.NewMsgExec(bob, []sdk.Msg{send(chain, alice, bob, 1)})
	two := banktypes.NewMsgMultiSend(banktypes.NewInput(bob, sdk.NewCoins(sdk.NewInt64Coin(chain.FeeDenom, 1))), []banktypes.Output{
		banktypes.NewOutput(alice, sdk.NewCoins(sdk.NewInt64Coin(chain.FeeDenom, 1))),
	})
	for name, msgs := range map[string][]sdk.Msg{
		"another's":           {send(chain, bob, alice, 1)},
		"one among many":      {send(chain, alice, bob, 1), send(chain, bob, alice, 1)},
		"another's execution": {&foreign},
		"another's input":     {two},
		"another's timer":     {&types.MsgCancelTimer{Sender: bob.String()}},
		"the authority's":     {&types.MsgUpdateTimerConfig{Authority: chain.Authority, Config: config}},
	} {
		require.ErrorIs(t, runtime.Validate(chain.Ctx(), &config, call(t, chain, msgs...)), types.ErrForeignSigner, name)
		require.ErrorIs(t, runtime.Deliver(chain.Ctx(), &config, types.Delivery{Call: call(t, chain, msgs...)}), types.ErrForeignSigner, name)
	}
	// A message within an execution may be another's: whether it may run is x/authz's business, which refuses it here.
	inner := authz.NewMsgExec(alice, []sdk.Msg{send(chain, bob, alice, 1)})
	require.NoError(t, runtime.Validate(chain.Ctx(), &config, call(t, chain, &inner)))
	err := runtime.Deliver(chain.Ctx(), &config, types.Delivery{Call: call(t, chain, &inner)})
	require.ErrorIs(t, err, authz.ErrNoAuthorizationFound)
}

// Rule: 1.3-lists-checked-twice
func TestMessageListsReachMessagesWithinMessages(t *testing.T) {
	chain, runtime := accounts(t)
	url := sdk.MsgTypeURL(&banktypes.MsgSend{})
	exec := authz.NewMsgExec(alice, []sdk.Msg{send(chain, alice, bob, 1)})
	deeper := authz.NewMsgExec(alice, []sdk.Msg{&exec})
	allowed := func(allow, deny []string) types.TimerConfig {
		config := types.DefaultTimerConfig(chain.FeeDenom)
		config.AllowedMessages, config.DeniedMessages = allow, deny
		return config
	}
	execURL := sdk.MsgTypeURL(&exec)
	for _, tc := range []struct {
		name   string
		config types.TimerConfig
		want   error
	}{
		{"denied", allowed([]string{"*"}, []string{url}), types.ErrMessageNotAllowed},
		{"not listed", allowed([]string{execURL}, nil), types.ErrMessageNotAllowed},
		{"carrier not listed", allowed([]string{url}, nil), types.ErrMessageNotAllowed},
		{"carrier denied", allowed([]string{"*"}, []string{execURL}), types.ErrMessageNotAllowed},
		{"both listed", allowed([]string{execURL, url}, nil), nil},
		{"another denied", allowed([]string{"*"}, []string{"/cosmos.bank.v1beta1.MsgMultiSend"}), nil},
	} {
		for _, msg := range []sdk.Msg{&exec, &deeper} {
			require.ErrorIs(t, runtime.Validate(chain.Ctx(), &tc.config, call(t, chain, msg)), tc.want, tc.name)
		}
	}
}

// Rule: 1.3-account
func TestMessagesAreBoundedInNumberNestedOnesIncluded(t *testing.T) {
	chain, runtime := accounts(t)
	config := types.DefaultTimerConfig(chain.FeeDenom)
	many := func(n int) []sdk.Msg {
		msgs := make([]sdk.Msg, n)
		for i := range msgs {
			msgs[i] = send(chain, alice, bob, 1)
		}
		return msgs
	}
	within := authz.NewMsgExec(alice, many(64))
	require.NoError(t, runtime.Validate(chain.Ctx(), &config, call(t, chain, many(128)...)))
	require.ErrorIs(t, runtime.Validate(chain.Ctx(), &config, call(t, chain, many(129)...)), types.ErrInvalidPayload)
	require.NoError(t, runtime.Validate(chain.Ctx(), &config, call(t, chain, append(many(63), &within)...)))
	require.ErrorIs(t, runtime.Validate(chain.Ctx(), &config, call(t, chain, append(many(64), &within)...)), types.ErrInvalidPayload)
}

// TestMessagesThatAnteHandlersCheckNeverRun: not even where the lists allow everything, and wherever they are.
//
// Rule: 1.3-ethereum-never
func TestMessagesThatAnteHandlersCheckNeverRun(t *testing.T) {
	chain, runtime := accounts(t)
	config := types.DefaultTimerConfig(chain.FeeDenom)
	// Registered, so that nothing but its shape refuses it.
	chain.Codec.InterfaceRegistry().(interface {
		RegisterCustomTypeURL(iface any, typeURL string, impl proto.Message)
	}).RegisterCustomTypeURL((*sdk.Msg)(nil), "/test.evm.v1.MsgEthereumTx", &banktypes.MsgSend{})
	bz, err := chain.Codec.Marshal(send(chain, alice, bob, 1).(*banktypes.MsgSend))
	require.NoError(t, err)
	wrap := func(outer sdk.Msg) *codectypes.Any {
		packed, err := codectypes.NewAnyWithValue(outer)
		require.NoError(t, err)
		return packed
	}
	forged := &codectypes.Any{TypeUrl: "/test.evm.v1.MsgEthereumTx", Value: bz}
	exec := &authz.MsgExec{Grantee: alice.String(), Msgs: []*codectypes.Any{forged}}
	for name, message := range map[string]*codectypes.Any{
		"itself":                  forged,
		"another chain's":         {TypeUrl: "/ethermint.evm.v1.MsgEthereumTx", Value: bz},
		"executed":                wrap(exec),
		"executed twice":          wrap(&authz.MsgExec{Grantee: alice.String(), Msgs: []*codectypes.Any{wrap(exec)}}),
		"proposed":                wrap(&govtypes.MsgSubmitProposal{Proposer: alice.String(), Messages: []*codectypes.Any{forged}}),
		"proposed by a group":     {TypeUrl: "/cosmos.group.v1.MsgSubmitProposal", Value: proposal(t, chain, forged)},
		"executed in a proposal":  wrap(&govtypes.MsgSubmitProposal{Proposer: alice.String(), Messages: []*codectypes.Any{wrap(exec)}}),
		"proposed in a timer":     wrap(&types.MsgScheduleTimer{Sender: alice.String(), Spec: types.TimerSpec{Call: types.TimerCall{Payload: payload(t, chain, forged)}}}),
		"without a package":       {TypeUrl: "/MsgEthereumTx"},
		"with a type in its text": wrap(&authz.MsgExec{Grantee: alice.String(), Msgs: []*codectypes.Any{wrap(&types.MsgCancelTimer{Sender: alice.String()}), forged}}),
	} {
		call := types.Call{Actor: alice, Handler: types.DefaultHandler, Payload: payload(t, chain, message)}
		require.ErrorIs(t, runtime.Validate(chain.Ctx(), &config, call), types.ErrMessageNotAllowed, name)
		require.ErrorIs(t, runtime.Deliver(chain.Ctx(), &config, types.Delivery{Call: call}), types.ErrMessageNotAllowed, name)
	}
	for url, want := range map[string]bool{
		"/cosmos.evm.vm.v1.MsgEthereumTx": true, "MsgEthereumTx": true,
		"/test.MsgEthereumTxs": false, "/test.MsgEthereumTx.Other": false, "/cosmos.bank.v1beta1.MsgSend": false, "": false,
	} {
		require.Equal(t, want, actors.CheckedByAnte(url), url)
	}
}

func payload(t *testing.T, chain *lab.Chain, messages ...*codectypes.Any) []byte {
	t.Helper()
	bz, err := chain.Codec.Marshal(&types.AccountPayload{Messages: messages})
	require.NoError(t, err)
	return bz
}

// proposal is encoded as x/group's: its messages are in field 4.
func proposal(t *testing.T, chain *lab.Chain, message *codectypes.Any) []byte {
	t.Helper()
	inner, err := chain.Codec.Marshal(message)
	require.NoError(t, err)
	return append([]byte{4<<3 | 2, byte(len(inner)&0x7f | 0x80), byte(len(inner) >> 7)}, inner...)
}

// TestMessagesOfAProposalAreListed: a proposal carries its messages as authz's MsgExec does.
//
// Rule: 1.3-lists-checked-twice
func TestMessagesOfAProposalAreListed(t *testing.T) {
	chain, runtime := accounts(t)
	govtypes.RegisterInterfaces(chain.Codec.InterfaceRegistry())
	config := types.DefaultTimerConfig(chain.FeeDenom)
	config.DeniedMessages = []string{sdk.MsgTypeURL(&banktypes.MsgSend{})}
	proposal, err := govtypes.NewMsgSubmitProposal([]sdk.Msg{send(chain, alice, bob, 1)}, nil, alice.String(), "", "", "", false)
	require.NoError(t, err)
	require.ErrorIs(t, runtime.Validate(chain.Ctx(), &config, call(t, chain, proposal)), types.ErrMessageNotAllowed)
}

// TestDeepMessagesAreNotDecoded: 3,000 messages within messages took 400 MB to refuse.
//
// Rule: 1.3-scan-bounds
func TestDeepMessagesAreNotDecoded(t *testing.T) {
	chain, runtime := accounts(t)
	config := types.DefaultTimerConfig(chain.FeeDenom)
	packed, err := codectypes.NewAnyWithValue(send(chain, alice, bob, 1))
	require.NoError(t, err)
	for range 3_000 {
		packed, err = codectypes.NewAnyWithValue(&authz.MsgExec{Grantee: alice.String(), Msgs: []*codectypes.Any{packed}})
		require.NoError(t, err)
	}
	deep := types.Call{Actor: alice, Handler: types.DefaultHandler, Payload: payload(t, chain, packed)}
	require.Greater(t, len(deep.Payload), 200_000)
	require.ErrorIs(t, runtime.Validate(chain.Ctx(), &config, deep), types.ErrInvalidPayload)
	allocs := testing.AllocsPerRun(3, func() { _ = runtime.Validate(chain.Ctx(), &config, deep) })
	require.Less(t, allocs, 100.0, "it is refused as raw bytes")
}

// Rule: 1.3-account
func TestAnAccountHasTheDefaultHandlerAlone(t *testing.T) {
	chain, runtime := accounts(t)
	config := types.DefaultTimerConfig(chain.FeeDenom)
	good := call(t, chain, send(chain, alice, bob, 1))
	good.Handler = "other"
	require.ErrorIs(t, runtime.Validate(chain.Ctx(), &config, good), types.ErrInvalidHandler)
	require.True(t, runtime.Serves(chain.Ctx(), alice))
	require.False(t, runtime.Serves(chain.Ctx(), sdk.AccAddress("nobody______________")))
}

// Rule: 1.3-module
func TestModulesServeTheHandlersTheyRegistered(t *testing.T) {
	runtime := actors.NewModuleRuntime()
	failure := errors.New("failure of the handler")
	ran := ""
	runtime.Register("oracle", types.DefaultHandler, func(_ context.Context, d types.Delivery) error {
		ran = string(d.Payload)
		return nil
	})
	runtime.Register("oracle", "close", func(context.Context, types.Delivery) error { return failure })
	oracle := authtypes.NewModuleAddress("oracle")
	require.True(t, runtime.Serves(context.Background(), oracle))
	require.False(t, runtime.Serves(context.Background(), authtypes.NewModuleAddress("other")))
	deliver := func(handler string) error {
		d := types.Delivery{Call: types.Call{Actor: oracle, Handler: handler, Payload: []byte("tick")}}
		if err := runtime.Validate(context.Background(), nil, d.Call); err != nil {
			require.Equal(t, err, runtime.Deliver(context.Background(), nil, d))
			return err
		}
		return runtime.Deliver(context.Background(), nil, d)
	}
	require.NoError(t, deliver(types.DefaultHandler))
	require.Equal(t, "tick", ran)
	require.ErrorIs(t, deliver("close"), failure)
	require.Panics(t, func() { runtime.Register("oracle", "close", nil) })
	_, err := actors.NewRouter(runtime).Route(context.Background(), authtypes.NewModuleAddress("other"))
	require.ErrorIs(t, err, types.ErrUnknownActor)
}

// Rule: 1.3-router
func TestTheFirstRuntimeThatServesAnActorGetsIt(t *testing.T) {
	chain, account := accounts(t)
	modules := actors.NewModuleRuntime()
	modules.Register("oracle", types.DefaultHandler, func(context.Context, types.Delivery) error { return nil })
	oracle := authtypes.NewModuleAddress("oracle")
	// A module is also an account, once it has received anything.
	require.NoError(t, chain.Fund(lab.Balance{Address: oracle, Amount: math.NewInt(1)}))
	router := actors.NewRouter(modules, account)
	for actor, want := range map[string]types.Runtime{string(oracle): modules, string(alice): account} {
		got, err := router.Route(chain.Ctx(), sdk.AccAddress(actor))
		require.NoError(t, err)
		require.Same(t, want, got)
	}
}

// TestRememberedChecksAreThoseOfEachTime: a runtime that remembers answers as one that checks again, whatever payload, actor
// and config come in whatever order.
func TestRememberedChecksAreThoseOfEachTime(t *testing.T) {
	chain, remembering := accounts(t)
	url, execURL := sdk.MsgTypeURL(&banktypes.MsgSend{}), sdk.MsgTypeURL(&authz.MsgExec{})
	exec := authz.NewMsgExec(alice, []sdk.Msg{send(chain, bob, alice, 1)})
	negative := banktypes.NewMsgSend(alice, bob, sdk.Coins{{Denom: chain.FeeDenom, Amount: math.NewInt(-1)}})
	payloads := [][]byte{
		call(t, chain, send(chain, alice, bob, 1)).Payload, call(t, chain, send(chain, bob, alice, 1)).Payload,
		call(t, chain, &exec).Payload, call(t, chain, negative).Payload,
		call(t, chain).Payload, []byte("no messages"),
		append(call(t, chain, send(chain, alice, bob, 1)).Payload, 0x50, 1),
	}
	lists := [][]string{{"*"}, {url}, {execURL}, {url, execURL}, {}}
	rapid.Check(t, func(t *rapid.T) {
		config := types.DefaultTimerConfig(chain.FeeDenom)
		config.AllowedMessages = rapid.SampledFrom(lists).Draw(t, "allowed")
		config.DeniedMessages = rapid.SampledFrom(lists[1:]).Draw(t, "denied")
		about := types.Call{
			Actor:   rapid.SampledFrom([]sdk.AccAddress{alice, bob}).Draw(t, "actor"),
			Handler: types.DefaultHandler, Payload: rapid.SampledFrom(payloads).Draw(t, "payload"),
		}
		fresh := actors.NewAccountRuntime(chain.Codec, chain.Accounts, chain.Messages)
		want, got := fresh.Validate(chain.Ctx(), &config, about), remembering.Validate(chain.Ctx(), &config, about)
		require.Equal(t, fmt.Sprint(want), fmt.Sprint(got))
		wantBytes, want := fresh.MessageBytes(about)
		gotBytes, got := remembering.MessageBytes(about)
		require.Equal(t, fmt.Sprint(want), fmt.Sprint(got))
		require.Equal(t, wantBytes, gotBytes)

		router := &noting{MessageRouter: chain.Messages}
		noted := actors.NewAccountRuntime(chain.Codec, chain.Accounts, router)
		first := noted.Deliver(chain.Ctx(), &config, types.Delivery{Call: about})
		again := noted.Deliver(chain.Ctx(), &config, types.Delivery{Call: about})
		require.Equal(t, fmt.Sprint(first), fmt.Sprint(again))
		half := len(router.handled) / 2
		require.Equal(t, router.handled[:half], router.handled[half:], "the messages that are handled")
	})
}

// noting notes the messages that it handles.
type noting struct {
	actors.MessageRouter
	handled []sdk.Msg
}

func (n *noting) Handler(sdk.Msg) baseapp.MsgServiceHandler {
	return func(_ sdk.Context, msg sdk.Msg) (*sdk.Result, error) {
		n.handled = append(n.handled, msg)
		return &sdk.Result{}, nil
	}
}

// TestADeliveryDecodesAfresh: what a handler does to its message is gone at the next fire.
func TestADeliveryDecodesAfresh(t *testing.T) {
	chain, _ := accounts(t)
	router := &spoiling{MessageRouter: chain.Messages}
	runtime := actors.NewAccountRuntime(chain.Codec, chain.Accounts, router)
	config := types.DefaultTimerConfig(chain.FeeDenom)
	delivery := types.Delivery{Call: call(t, chain, send(chain, alice, bob, 1))}
	for range 3 {
		require.NoError(t, runtime.Deliver(chain.Ctx(), &config, delivery))
	}
	require.Equal(t, []string{"1", "1", "1"}, router.amounts)
}

// spoiling changes every message that it handles.
type spoiling struct {
	actors.MessageRouter
	amounts []string
}

func (s *spoiling) Handler(msg sdk.Msg) baseapp.MsgServiceHandler {
	return func(_ sdk.Context, msg sdk.Msg) (*sdk.Result, error) {
		sent := msg.(*banktypes.MsgSend)
		s.amounts = append(s.amounts, sent.Amount[0].Amount.String())
		sent.Amount[0].Amount = math.NewInt(77)
		return &sdk.Result{}, nil
	}
}
