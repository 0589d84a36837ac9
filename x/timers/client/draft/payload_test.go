package draft

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/types/module/testutil"
	"github.com/cosmos/cosmos-sdk/x/bank"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

const sendJSON = `{"@type": "/cosmos.bank.v1beta1.MsgSend", "from_address": "a", "to_address": "b", "amount": [{"denom": "stake", "amount": "5"}]}`

func encoding() testutil.TestEncodingConfig {
	e := testutil.MakeTestEncodingConfig(bank.AppModuleBasic{})
	types.RegisterInterfaces(e.InterfaceRegistry)
	return e
}

func TestMessagesFromJSON(t *testing.T) {
	cdc := encoding().Codec
	send := &banktypes.MsgSend{FromAddress: "a", ToAddress: "b", Amount: sdk.NewCoins(sdk.NewInt64Coin("stake", 5))}
	for _, content := range []string{
		"[" + sendJSON + "," + sendJSON + "]",
		`{"messages": [` + sendJSON + "," + sendJSON + "]}",
		`{"body": {"messages": [` + sendJSON + "," + sendJSON + "]}}",
	} {
		msgs, err := parseMessages(cdc, []byte(content))
		require.NoError(t, err)
		require.Equal(t, []sdk.Msg{send, send}, msgs)
	}
}

func TestMessagesOfHostileFiles(t *testing.T) {
	cdc := encoding().Codec
	for content, want := range map[string]string{
		"":                      "it is empty",
		" \n":                   "it is empty",
		"[]":                    "no messages in it",
		"{}":                    "no messages in it",
		`[null]`:                `message 0 has no "@type"`,
		`[1]`:                   `message 0 has no "@type"`,
		`["x"]`:                 `message 0 has no "@type"`,
		`[{}]`:                  `message 0 has no "@type"`,
		"null":                  "it begins with 'n'",
		"\xff\xfe":              "it begins with",
		`"text"`:                "it begins with '\"'",
		"[" + sendJSON + "] []": "want a JSON array",
		`[` + sendJSON:          "want a JSON array",
		`{"messages": 5}`:       "want a JSON array",
		`{"messages": [` + sendJSON + `], "body": {"messages": [` + sendJSON + `]}}`: "both at its top",
		`[{"@type": 5}]`:                                                             `message 0 has no "@type"`,
		`[{"@type": "/no.such.Msg"}]`:                                                "message 0, /no.such.Msg",
		`[{"@type": "/timers.v1.AccountPayload"}]`:                                   "message 0, /timers.v1.AccountPayload",
		`[{"@type": "/cosmos.bank.v1beta1.MsgSend", "amuont": []}]`:                  "amuont",
		`[` + sendJSON + `, {"@type": "/cosmos.bank.v1beta1.MsgSend", "amount": 5}]`: "message 1",
		"[" + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + "]":        "exceeded max depth",
		`[{"@type": "` + strings.Repeat("x", 10_000) + `"}]`:                         "message 0, xxx",
	} {
		_, err := parseMessages(cdc, []byte(content))
		require.ErrorContains(t, err, want, "%.80q", content)
		require.Less(t, len(err.Error()), 12_000)
	}
}

func FuzzMessages(f *testing.F) {
	cdc := encoding().Codec
	for _, seed := range []string{
		"[" + sendJSON + "]", `{"messages": [` + sendJSON + "]}", `{"body": {"messages": [` + sendJSON + "]}}", "[{}]", "null", "[[",
		`[{"@type": "/timers.v1.MsgScheduleTimer", "spec": {"trigger": {"height": "5"}, "bid": {"static": {"max_fee_per_cycle": "0.1"}}}}]`,
		`[{"@type": "/timers.v1.MsgUpdateTimerConfig", "config": {"cycle_basefee": "-1"}}]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		msgs, err := parseMessages(cdc, content)
		if err != nil {
			return
		}
		if len(msgs) == 0 {
			t.Fatal("no messages and no error")
		}
		// What was read can be packed and is read back as it was.
		payload, err := types.NewAccountPayload(msgs...)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := cdc.Marshal(payload)
		if err != nil {
			t.Fatal(err)
		}
		var back types.AccountPayload
		if err := cdc.Unmarshal(raw, &back); err != nil {
			t.Fatal(err)
		}
		if len(back.Messages) != len(msgs) {
			t.Fatalf("%d messages became %d", len(msgs), len(back.Messages))
		}
	})
}

func TestBytes(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "00ff": "\x00\xff", "0x00ff": "\x00\xff", "ABcd": "\xab\xcd",
		"aGk=": "hi", "abc=": "i\xb7", base64.StdEncoding.EncodeToString([]byte("héllo")): "héllo",
	} {
		got, err := parseBytes(text)
		require.NoError(t, err, text)
		require.Equal(t, want, string(got), text)
	}
	for _, text := range []string{"abc", "0xzz", "a b=", "aGk", "aGl="} {
		_, err := parseBytes(text)
		require.ErrorContains(t, err, "neither hexadecimal nor base64", "%q", text)
	}
}
