package types_test

import (
	"testing"

	"github.com/cosmos/gogoproto/proto"
	"github.com/stretchr/testify/require"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/types/module/testutil"
	"github.com/cosmos/cosmos-sdk/types/tx"
	"github.com/cosmos/cosmos-sdk/x/authz"
	authzmodule "github.com/cosmos/cosmos-sdk/x/authz/module"

	"github.com/cosmos-timers/timers/x/timers"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// nested is a MsgCancelTimer within so many messages, timers and executions in turn. Its innermost bytes end with the extra.
func nested(t *testing.T, depth int, extra ...byte) *codectypes.Any {
	t.Helper()
	wrap := func(msg sdk.Msg, extra ...byte) *codectypes.Any {
		bz, err := proto.Marshal(msg)
		require.NoError(t, err)
		return &codectypes.Any{TypeUrl: sdk.MsgTypeURL(msg), Value: append(bz, extra...)}
	}
	inner := wrap(&types.MsgCancelTimer{Sender: alice, Id: someID}, extra...)
	for i := range depth {
		if i%2 == 0 {
			inner = wrap(&authz.MsgExec{Grantee: alice, Msgs: []*codectypes.Any{inner}})
			continue
		}
		inner = wrap(&types.MsgScheduleTimer{Sender: alice, Spec: types.TimerSpec{Trigger: types.Trigger{Height: 7}, Call: types.TimerCall{Messages: []*codectypes.Any{inner}}}})
	}
	return inner
}

// TestNestedMessagesInATransaction: the decoder of transactions reads messages within timers' messages as it reads others: fields
// that it does not know are refused at any depth, and the depth is bounded.
func TestNestedMessagesInATransaction(t *testing.T) {
	encoding := testutil.MakeTestEncodingConfig(timers.AppModule{}, authzmodule.AppModule{})
	decode := func(msg *codectypes.Any) (sdk.Tx, error) {
		body, err := proto.Marshal(&tx.TxBody{Messages: []*codectypes.Any{msg}})
		require.NoError(t, err)
		auth, err := proto.Marshal(&tx.AuthInfo{Fee: &tx.Fee{}})
		require.NoError(t, err)
		bz, err := proto.Marshal(&tx.TxRaw{BodyBytes: body, AuthInfoBytes: auth})
		require.NoError(t, err)
		return encoding.TxConfig.TxDecoder()(bz)
	}
	for _, depth := range []int{1, 2, 3, 4, 5} {
		got, err := decode(nested(t, depth))
		require.NoError(t, err, depth)
		msg := got.GetMsgs()[0]
		for range depth {
			switch outer := msg.(type) {
			case *authz.MsgExec:
				inner, err := outer.GetMessages()
				require.NoError(t, err)
				msg = inner[0]
			case *types.MsgScheduleTimer:
				msg = outer.Spec.Call.Messages[0].GetCachedValue().(sdk.Msg)
			}
		}
		require.IsType(t, &types.MsgCancelTimer{}, msg, "depth %d", depth)

		// Field 100 holds the number 1. No one knows it.
		_, err = decode(nested(t, depth, 0xa0, 0x06, 1))
		require.ErrorContains(t, err, "MsgCancelTimer\": {TagNum: 100", "depth %d", depth)
	}
	for _, depth := range []int{20, 500} {
		_, err := decode(nested(t, depth))
		require.Error(t, err, "depth %d", depth)
	}
	_, err := decode(&codectypes.Any{TypeUrl: "/timers.v1.MsgScheduleTimer", Value: []byte{0xba, 1, 4, 10, 2, '/', 'x'}})
	require.Error(t, err, "a message of no type that the chain knows")
}
