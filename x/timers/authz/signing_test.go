package authz_test

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/cosmos/gogoproto/proto"
	"github.com/stretchr/testify/require"

	"github.com/cosmos/cosmos-sdk/types/module/testutil"
	"github.com/cosmos/cosmos-sdk/types/tx/signing"
	authsigning "github.com/cosmos/cosmos-sdk/x/auth/signing"
	sdkauthz "github.com/cosmos/cosmos-sdk/x/authz"
	authzmodule "github.com/cosmos/cosmos-sdk/x/authz/module"

	"github.com/cosmos-timers/timers/x/timers"
	"github.com/cosmos-timers/timers/x/timers/authz"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// whole is an authorization with every field set.
func whole() *authz.TimerAuthorization {
	return scheduling(func(a *authz.TimerAuthorization) { a.CellLimit, a.MaxBid = 500, static("0.5", "0.1") })
}

func grantOf(t *testing.T, a sdkauthz.Authorization) *sdkauthz.MsgGrant {
	t.Helper()
	msg := &sdkauthz.MsgGrant{Granter: alice, Grantee: bob}
	require.NoError(t, msg.SetAuthorization(a))
	return msg
}

// TestAWalletSignsAGrant: hardware wallets sign the amino JSON of a grant, in which each limit is shown.
func TestAWalletSignsAGrant(t *testing.T) {
	encoding := testutil.MakeTestEncodingConfig(timers.AppModule{}, authzmodule.AppModuleBasic{})
	builder := encoding.TxConfig.NewTxBuilder()
	require.NoError(t, builder.SetMsgs(grantOf(t, whole())))
	bz, err := authsigning.GetSignBytesAdapter(context.Background(), encoding.TxConfig.SignModeHandler(),
		signing.SignMode_SIGN_MODE_LEGACY_AMINO_JSON, authsigning.SignerData{Address: alice, ChainID: "chain"}, builder.GetTx())
	require.NoError(t, err)
	var document struct {
		Msgs []struct {
			Value struct {
				Grant struct{ Authorization json.RawMessage }
			}
		}
	}
	require.NoError(t, json.Unmarshal(bz, &document))
	require.JSONEq(t, `{"type":"timers/TimerAuthorization","value":{
		"msg_type_url":"/timers.v1.MsgScheduleTimer","expires_at":"100","expires_time":"1000","uses_left":"1","max_fires":"3","gas_limit":"90000","cell_limit":"500",
		"allowed_messages":["/cosmos.bank.v1beta1.MsgSend","/cosmos.gov.v1.MsgVote"],
		"max_bid":{"static":{"max_fee_per_cycle":"0.5","max_priority_fee_per_cycle":"0.1"}}
	}}`, string(document.Msgs[0].Value.Grant.Authorization))
}

// TestAGrantSurvivesTheWire: in binary and in JSON, the authorization unpacked.
func TestAGrantSurvivesTheWire(t *testing.T) {
	cdc := testutil.MakeTestEncodingConfig(timers.AppModule{}, authzmodule.AppModuleBasic{}).Codec
	value := reflect.ValueOf(whole()).Elem()
	for i := range value.NumField() {
		require.False(t, value.Field(i).IsZero(), "%s is not set", value.Type().Field(i).Name)
	}
	check := func(msg *sdkauthz.MsgGrant) {
		t.Helper()
		authorization, err := msg.GetAuthorization()
		require.NoError(t, err)
		require.Equal(t, whole(), authorization)
		require.NoError(t, msg.Grant.ValidateBasic())
	}
	wire, err := cdc.Marshal(grantOf(t, whole()))
	require.NoError(t, err)
	var fromWire, fromText sdkauthz.MsgGrant
	require.NoError(t, cdc.Unmarshal(wire, &fromWire))
	check(&fromWire)
	text, err := cdc.MarshalJSON(grantOf(t, whole()))
	require.NoError(t, err)
	require.NoError(t, cdc.UnmarshalJSON(text, &fromText))
	check(&fromText)
}

// TestNoFieldOfAMessageIsUnchecked: a field that a message gains needs a rule here before a grantee may state it.
func TestNoFieldOfAMessageIsUnchecked(t *testing.T) {
	for _, tc := range []struct {
		msg    proto.Message
		fields []string
	}{
		{&types.MsgScheduleTimer{}, []string{"Sender", "Actor", "Spec"}},
		{&types.TimerSpec{}, []string{
			"Name", "Trigger", "Repeat", "Call", "OnlyIf", "GasLimit", "CellLimit", "Bid", "MaxCharge", "FeePayer", "ExpiresAt", "ExpiresTime", "Retry", "OnUnfunded",
		}},
		{&types.Repeat{}, []string{"Remaining", "Missed", "Window", "Jitter", "OnFailure", "MaxFailures", "Renew"}},
		{&types.TimerCall{}, []string{"Handler", "Payload", "Messages"}},
		{&types.MsgUpdateTimer{}, []string{"Sender", "Id", "Actor", "Spec", "Fields", "IfSeq", "Name"}},
		{&types.MsgExtendTimer{}, []string{"Sender", "Id", "ExpiresAt", "ExpiresTime", "Actor", "Name"}},
		{&types.MsgPauseTimer{}, []string{"Sender", "Id", "Actor", "Name"}},
		{&types.MsgResumeTimer{}, []string{"Sender", "Id", "Actor", "At", "Name"}},
		{&types.MsgSkipTimer{}, []string{"Sender", "Id", "Count", "Actor", "From", "Name"}},
		{&types.MsgRunTimer{}, []string{"Sender", "Id", "Actor", "Name"}},
		{&types.MsgCancelTimer{}, []string{"Sender", "Id", "Actor", "Name"}},
	} {
		value := reflect.TypeOf(tc.msg).Elem()
		var fields []string
		for i := range value.NumField() {
			fields = append(fields, value.Field(i).Name)
		}
		require.ElementsMatch(t, tc.fields, fields, proto.MessageName(tc.msg))
	}
}
