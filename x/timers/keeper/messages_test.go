package keeper_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// messages states what a timer does as messages.
func (f *fixture) messages(msgs ...sdk.Msg) change {
	packed, err := keeper.NewMessages(msgs...)
	require.NoError(f.t, err)
	return func(msg *types.MsgScheduleTimer) { msg.Spec.Call.Messages = packed }
}

// TestMessagesAreTheirPayload: a timer of messages is in every respect that of their encoded payload: its id, its record,
// what scheduling charges and what its fire does.
//
// Rule: 1.3-messages-are-the-payload
func TestMessagesAreTheirPayload(t *testing.T) {
	send := []sdk.Msg{banktypes.NewMsgSend(alice, bob, nil), banktypes.NewMsgSend(alice, robot, nil)}
	var infos [2]types.TimerInfo
	var gasUsed [2]uint64
	var fired [2]*types.TimerFired
	for i, stated := range []func(f *fixture) change{
		func(f *fixture) change { return f.messages(send...) },
		func(f *fixture) change { return payload(f.payload(send...)) },
	} {
		f := newFixture(t)
		for _, msg := range send {
			msg.(*banktypes.MsgSend).Amount = f.coins(7)
		}
		f.blocksUntil(2)
		results, used, err := f.Tx(scheduleMsg(alice, 5, nil, stated(f)))
		require.NoError(t, err)
		var response types.MsgScheduleTimerResponse
		require.NoError(t, f.Codec.Unmarshal(results[0].MsgResponses[0].Value, &response))
		infos[i], gasUsed[i] = f.timer(alice, response.Id), used
		require.Len(t, infos[i].Spec.Call.Messages, 2)
		before := f.balance(bob)
		fired[i] = only[*types.TimerFired](f, f.blocksUntil(5))
		require.True(t, fired[i].Success)
		require.Equal(t, before+7, f.balance(bob))
	}
	require.Equal(t, infos[0], infos[1])
	require.Equal(t, gasUsed[0], gasUsed[1])
	require.Equal(t, fired[0], fired[1])
}

// TestMessagesAreRefusedWithTheirErrors: what a payload of messages is refused for, stated messages are too; and the two
// do not go together.
//
// Rule: 1.3-messages-or-payload, 3.1-call-errors
func TestMessagesAreRefusedWithTheirErrors(t *testing.T) {
	f := newFixture(t)
	own, foreign := banktypes.NewMsgSend(alice, bob, f.coins(1)), banktypes.NewMsgSend(bob, alice, f.coins(1))
	packed, err := codectypes.NewAnyWithValue(own)
	require.NoError(t, err)
	crowd := make([]sdk.Msg, 129)
	for i := range crowd {
		crowd[i] = own
	}
	long := banktypes.NewMsgSend(alice, bob, f.coins(1))
	long.ToAddress = strings.Repeat("x", int(market.MaxMessagesBytes))
	with := func(changes ...change) change {
		return func(msg *types.MsgScheduleTimer) {
			for _, change := range changes {
				change(msg)
			}
		}
	}
	raw := func(messages ...*codectypes.Any) change {
		return func(msg *types.MsgScheduleTimer) { msg.Spec.Call.Messages = messages }
	}
	for name, tc := range map[string]struct {
		want   error
		change change
	}{
		"and a payload":        {types.ErrAmbiguousCall, with(f.messages(own), payload([]byte{0}))},
		"and the same":         {types.ErrAmbiguousCall, with(f.messages(own), payload(f.payload(own)))},
		"and a handler":        {types.ErrAmbiguousCall, with(f.messages(own), handler(types.DefaultHandler))},
		"a foreign signer":     {types.ErrForeignSigner, f.messages(own, foreign)},
		"too many":             {types.ErrInvalidPayload, f.messages(crowd...)},
		"too long":             {types.ErrPayloadTooLong, f.messages(long)},
		"no type":              {types.ErrInvalidPayload, raw(&codectypes.Any{})},
		"none":                 {types.ErrInvalidPayload, raw(nil)},
		"an unknown type":      {types.ErrInvalidPayload, raw(packed, &codectypes.Any{TypeUrl: "/none.Such"})},
		"no message":           {types.ErrInvalidPayload, raw(&codectypes.Any{TypeUrl: "/timers.v1.AccountPayload"})},
		"unknown fields":       {types.ErrInvalidPayload, raw(&codectypes.Any{TypeUrl: packed.TypeUrl, Value: append([]byte{0x78, 1}, packed.Value...)})},
		"checked by ante":      {types.ErrMessageNotAllowed, raw(&codectypes.Any{TypeUrl: "/cosmos.evm.vm.v1.MsgEthereumTx"})},
		"of a runtime without": {types.ErrInvalidPayload, with(f.messages(own), func(msg *types.MsgScheduleTimer) { msg.Sender = robot.String() })},
	} {
		t.Run(name, func(t *testing.T) {
			f.refused(tc.want, scheduleMsg(alice, 50, nil, tc.change))
		})
	}
	require.Zero(t, f.total(alice))
}

// TestUpdateTakesMessages: in place of the call, and not beside it.
//
// Rule: 3.2-replaces
func TestUpdateTakesMessages(t *testing.T) {
	f := newFixture(t)
	id := f.schedule(alice, 5, f.pays(alice, bob, 1))
	packed, err := keeper.NewMessages(banktypes.NewMsgSend(alice, bob, f.coins(9)))
	require.NoError(t, err)
	update := func(call *types.TimerCall) *types.MsgUpdateTimer {
		return &types.MsgUpdateTimer{Sender: alice.String(), Id: id, Spec: types.TimerSpec{Call: *call}, Fields: []string{"call"}}
	}
	f.refused(types.ErrAmbiguousCall, update(&types.TimerCall{Messages: packed, Payload: []byte{1}}))
	f.run(update(&types.TimerCall{Messages: packed}))
	before := f.balance(bob)
	f.blocksUntil(5)
	require.Equal(t, before+9, f.balance(bob))
}

// TestAfterCountsFromInclusion: the first due height, also that of the id, is so many blocks after the block that schedules
// it; the trigger stays as stated. The name is shown by queries and by the events of a timer's life.
//
// Rule: 1.4-after, 1.4-after-first-due
func TestAfterCountsFromInclusion(t *testing.T) {
	f := newFixture(t)
	f.blocksUntil(4)
	now := f.Height()
	named := func(msg *types.MsgScheduleTimer) {
		msg.Spec.Trigger, msg.Spec.Name = types.Trigger{After: 3}, "rent, monthly"
	}
	id := f.schedule(alice, 0, f.pays(alice, bob, 1), named)
	info := f.timer(alice, id)
	require.Equal(t, now+3, info.Status.Due)
	require.Equal(t, types.Trigger{After: 3}, info.Spec.Trigger)
	require.Equal(t, "rent, monthly", info.Spec.Name)
	require.Equal(t, id, hex.EncodeToString(types.TimerID(alice, now+3, f.pays(alice, bob, 1), info.Status.Seq)))
	list, err := f.query().TimersByActor(f.Ctx(), &types.QueryTimersByActorRequest{Actor: alice.String()})
	require.NoError(t, err)
	require.Equal(t, "rent, monthly", list.Timers[0].Spec.Name)

	gone := f.schedule(alice, 0, f.pays(alice, bob, 1), named, withName("other"))
	_, _, err = f.Tx(&types.MsgCancelTimer{Sender: alice.String(), Id: gone})
	require.NoError(t, err)
	events := f.NextBlock()
	for i, scheduled := range eventsOf[*types.TimerScheduled](f, events) {
		require.Equal(t, []string{"rent, monthly", "other"}[i], scheduled.Name)
		require.Equal(t, now+3, scheduled.Due)
	}
	require.Equal(t, "other", only[*types.TimerCancelled](f, events).Name)
	fired := only[*types.TimerFired](f, f.blocksUntil(now+3))
	require.Equal(t, []any{id, "rent, monthly", uint64(0)}, []any{fired.Id, fired.Name, fired.Late})
}

// TestExtendSaysFromWhereToWhere: both in the response and in the event.
//
// Rule: 3.3-returns-both, 6-extended
func TestExtendSaysFromWhereToWhere(t *testing.T) {
	f := newFixture(t)
	id := f.schedule(alice, 5, f.pays(alice, bob, 1), expiring(50))
	results, _, err := f.Tx(&types.MsgExtendTimer{Sender: alice.String(), Id: id, ExpiresAt: 90})
	require.NoError(t, err)
	var response types.MsgExtendTimerResponse
	require.NoError(t, f.Codec.Unmarshal(results[0].MsgResponses[0].Value, &response))
	require.Equal(t, types.MsgExtendTimerResponse{ExpiresAt: 90, PreviousExpiresAt: 50}, response)
	results, _, err = f.Tx(&types.MsgSysExtendTimer{Authority: f.Authority, Actor: alice.String(), Id: id, ExpiresAt: ^uint64(0)})
	require.NoError(t, err)
	var sys types.MsgSysExtendTimerResponse
	require.NoError(t, f.Codec.Unmarshal(results[0].MsgResponses[0].Value, &sys))
	latest := f.Height() + f.config().MaxTtlBlocks
	require.Equal(t, types.MsgSysExtendTimerResponse{ExpiresAt: latest, PreviousExpiresAt: 90}, sys)
	events := f.NextBlock()
	own, gov := only[*types.TimerExtended](f, events), only[*types.TimerExtendedByGovernance](f, events)
	require.Equal(t, []uint64{50, 90, 90, latest}, []uint64{own.PreviousExpiresAt, own.ExpiresAt, gov.PreviousExpiresAt, gov.ExpiresAt})
}
