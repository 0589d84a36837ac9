package wasmbinding_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	wasmtypes "github.com/CosmWasm/wasmd/x/wasm/types"
	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos/cosmos-sdk/baseapp"
	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/wasmbinding"
	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

var (
	contract = sdk.AccAddress("contract________________________")
	alice    = sdk.AccAddress("alice_______________")
)

// newChain starts a chain of the lab on which alice has coins, and a router of its module's queries. Contracts that run
// are tested with the application (testutil/system).
func newChain(tb testing.TB) (*lab.Chain, *baseapp.GRPCQueryRouter) {
	tb.Helper()
	chain, err := lab.NewChain(lab.ChainOptions{Balances: []lab.Balance{{Address: alice, Amount: math.NewInt(1_000_000_000)}}})
	require.NoError(tb, err)
	router := baseapp.NewGRPCQueryRouter()
	router.SetInterfaceRegistry(chain.Codec.InterfaceRegistry())
	types.RegisterQueryServer(router, keeper.NewQueryServer(chain.Timers))
	return chain, router
}

func TestMessagesInJSON(t *testing.T) {
	chain, _ := newChain(t)
	encode := wasmbinding.Messages(chain.Codec)
	me := contract.String()
	launch := time.Date(2030, 1, 31, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name, custom string
		want         sdk.Msg
		refused      error
	}{
		{
			"schedule", `{"timers":{"schedule":{"spec":{"trigger":{"height":12},"call":{"payload":"YmVhdA=="},"gas_limit":"200000","expires_at":99}}}}`,
			&types.MsgScheduleTimer{Sender: me, Spec: types.TimerSpec{
				Trigger: types.Trigger{Height: 12}, Call: types.TimerCall{Payload: []byte("beat")}, GasLimit: 200_000, ExpiresAt: 99,
			}}, nil,
		},
		{
			"schedule at a time", `{"timers":{"schedule":{"spec":{"trigger":{"time":"2030-01-31T09:00:00Z"},"expires_time":"1900000000"}}}}`,
			&types.MsgScheduleTimer{Sender: me, Spec: types.TimerSpec{Trigger: types.Trigger{Time: &launch}, ExpiresTime: 1_900_000_000}}, nil,
		},
		{
			"schedule by a calendar", `{"timers":{"schedule":{"spec":{"trigger":{"calendar":{"cron":{"minutes":"1","hours":512,"days":2,"months":8190,"weekdays":127},` +
				`"offset_minutes":60}},"repeat":{"remaining":12,"missed":"MISSED_EACH","window":"3600"}}}}}`,
			&types.MsgScheduleTimer{
				Sender: me, Spec: types.TimerSpec{Trigger: types.Trigger{Calendar: &types.CalendarTrigger{
					Cron:          &types.CronRule{Minutes: 1, Hours: 512, Days: 2, Months: 8190, Weekdays: 127},
					OffsetMinutes: 60,
				}}, Repeat: &types.Repeat{Remaining: 12, Missed: types.MissedEach, Window: 3_600}},
			}, nil,
		},
		{
			"update", `{"timers":{"update":{"id":"ab","spec":{"call":{"handler":"tick","payload":"e30="}},"fields":["call"],"if_seq":"7"}}}`,
			&types.MsgUpdateTimer{
				Sender: me, Id: "ab", Spec: types.TimerSpec{Call: types.TimerCall{Handler: "tick", Payload: []byte("{}")}}, Fields: []string{"call"}, IfSeq: 7,
			}, nil,
		},
		{"extend", `{"timers":{"extend":{"id":"ab","expires_at":7}}}`, &types.MsgExtendTimer{Sender: me, Id: "ab", ExpiresAt: 7}, nil},
		{"cancel", `{"timers":{"cancel":{"id":"ab"}}}`, &types.MsgCancelTimer{Sender: me, Id: "ab"}, nil},
		{"cancel by name", `{"timers":{"cancel":{"name":"rent"}}}`, &types.MsgCancelTimer{Sender: me, Name: "rent"}, nil},
		{"pause by id and name", `{"timers":{"pause":{"id":"ab","name":"rent"}}}`, &types.MsgPauseTimer{Sender: me, Id: "ab", Name: "rent"}, nil},
		{"pause", `{"timers":{"pause":{"id":"ab"}}}`, &types.MsgPauseTimer{Sender: me, Id: "ab"}, nil},
		{"skip", `{"timers":{"skip":{"id":"ab","count":3}}}`, &types.MsgSkipTimer{Sender: me, Id: "ab", Count: 3}, nil},
		{"run", `{"timers":{"run":{"id":"ab"}}}`, &types.MsgRunTimer{Sender: me, Id: "ab"}, nil},
		{"resume", `{"timers":{"resume":{"id":"ab"}}}`, &types.MsgResumeTimer{Sender: me, Id: "ab"}, nil},
		{
			"schedule with an agent", `{"timers":{"schedule":{"spec":{"trigger":{"height":12},"bid":{"agent":"` + me + `"}}}}}`,
			&types.MsgScheduleTimer{Sender: me, Spec: types.TimerSpec{Trigger: types.Trigger{Height: 12}, Bid: &types.Bid{Agent: me}}}, nil,
		},
		{"set_agent", `{"timers":{"set_agent":{"agent":"` + me + `"}}}`, &types.MsgSetAgent{Sender: me, Agent: me}, nil},
		{"set_agent to none", `{"timers":{"set_agent":{}}}`, &types.MsgSetAgent{Sender: me}, nil},
		{"a sender", `{"timers":{"cancel":{"sender":"timer1","id":"ab"}}}`, nil, wasmtypes.ErrInvalidMsg},
		{"an unknown field", `{"timers":{"cancel":{"id":"ab","height":3}}}`, nil, wasmtypes.ErrInvalidMsg},
		{"a negative number", `{"timers":{"extend":{"id":"ab","expires_at":-7}}}`, nil, wasmtypes.ErrInvalidMsg},
		{"a list", `{"timers":{"cancel":[]}}`, nil, wasmtypes.ErrInvalidMsg},
		{"the authority's", `{"timers":{"sys_cancel":{"id":"ab"}}}`, nil, wasmtypes.ErrUnknownMsg},
		{"two at once", `{"timers":{"cancel":{"id":"ab"},"extend":{"id":"ab"}}}`, nil, wasmtypes.ErrUnknownMsg},
		{"another module's", `{"tokens":{"cancel":{"id":"ab"}}}`, nil, wasmtypes.ErrUnknownMsg},
		{"two modules", `{"timers":{"cancel":{"id":"ab"}},"tokens":{}}`, nil, wasmtypes.ErrUnknownMsg},
		{"another case", `{"Timers":{"cancel":{"id":"ab"}}}`, nil, wasmtypes.ErrUnknownMsg},
		{"null", `null`, nil, wasmtypes.ErrUnknownMsg},
		{"no JSON", `{"timers":`, nil, wasmtypes.ErrUnknownMsg},
	} {
		t.Run(c.name, func(t *testing.T) {
			msgs, err := encode(contract, []byte(c.custom))
			require.ErrorIs(t, err, c.refused)
			if c.refused == nil {
				require.Equal(t, []sdk.Msg{c.want}, msgs)
			}
		})
	}
}

func TestMessagesWithinAScheduleInJSON(t *testing.T) {
	chain, _ := newChain(t)
	msgs, err := wasmbinding.Messages(chain.Codec)(contract, []byte(`{"timers":{"schedule":{"spec":{"trigger":{"after":"9"},"call":{"messages":[
		{"@type":"/cosmos.bank.v1beta1.MsgSend","from_address":"`+contract.String()+`","to_address":"`+alice.String()+`"}]}}}}}`))
	require.NoError(t, err)
	schedule := msgs[0].(*types.MsgScheduleTimer)
	require.Equal(t, contract.String(), schedule.Sender)
	require.Len(t, schedule.Spec.Call.Messages, 1)
	require.Equal(t, &banktypes.MsgSend{FromAddress: contract.String(), ToAddress: alice.String()}, schedule.Spec.Call.Messages[0].GetCachedValue())
}

// TestTheDocumentedJSONIsUnderstood: each line of contracts.md that is a message or a query is one.
func TestTheDocumentedJSONIsUnderstood(t *testing.T) {
	raw, err := os.ReadFile("../x/timers/docs/use/contracts.md")
	require.NoError(t, err)
	chain, router := newChain(t)
	messages, err := types.NewAccountPayload(&types.MsgCancelTimer{Sender: alice.String()})
	require.NoError(t, err)
	payload, err := messages.Marshal()
	require.NoError(t, err)
	timer, err := chain.Timers.Schedule(chain.Ctx(), keeper.ScheduleRequest{Actor: alice, Spec: types.TimerSpec{
		Trigger: types.Trigger{Height: 100}, Call: types.TimerCall{Payload: payload},
	}})
	require.NoError(t, err)
	encode := wasmbinding.Messages(chain.Codec)
	query := wasmbinding.Queries(chain.Codec, router)
	understood := 0
	for _, line := range strings.SplitAfter(string(raw), "\n") {
		if !strings.HasPrefix(line, `{"timers": `) {
			continue
		}
		custom := []byte(strings.NewReplacer("timer1…", alice.String(), "c603…", timer.IDHex()).Replace(line))
		if _, err := encode(alice, custom); err != nil {
			_, err = query(chain.Ctx(), custom)
			require.NoError(t, err, line)
		}
		understood++
	}
	require.Equal(t, 15, understood, "messages and queries")
}

// TestDeepJSONIsNotDecoded: 3,000 messages within messages in 330 kB took 15 s and 3 GB to refuse, which no one paid.
func TestDeepJSONIsNotDecoded(t *testing.T) {
	chain, _ := newChain(t)
	encode := wasmbinding.Messages(chain.Codec)
	nested := func(levels, text int) []byte {
		inner := `{"@type":"/cosmos.bank.v1beta1.MsgSend","from_address":"` + strings.Repeat("[", text) + `\"{"}`
		return []byte(`{"timers":{"schedule":{"spec":{"call":{"messages":[` + strings.Repeat(`{"@type":"/cosmos.authz.v1beta1.MsgExec","msgs":[`, levels) +
			inner + strings.Repeat("]}", levels) + `]}}}}}`)
	}
	for name, c := range map[string]struct {
		levels, text int
		refused      string
	}{
		"one message within another": {1, 10, ""},
		"as deep as may be":          {6, 10, ""},
		"as long as may be":          {6, 64<<10 - 600, ""},
		"too deep":                   {7, 10, "21 levels of JSON, want at most 20"},
		"too long and deep":          {6, 64 << 10, "want at most 65536 bytes"},
		"long and flat":              {0, 200 << 10, ""},
		"very deep":                  {3_000, 10, "6007 levels"},
	} {
		t.Run(name, func(t *testing.T) {
			custom := nested(c.levels, c.text)
			_, err := encode(alice, custom)
			if c.refused == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.refused)
			require.Less(t, testing.AllocsPerRun(5, func() { _, _ = encode(alice, custom) }), 100.0)
		})
	}
	_, err := encode(alice, []byte(`{"timers":{"schedule":`+strings.Repeat("]", 10)+strings.Repeat("[", 40)+`"`))
	require.Error(t, err)
}

func TestQueriesInJSON(t *testing.T) {
	chain, router := newChain(t)
	query := wasmbinding.Queries(chain.Codec, router)
	answer, err := query(chain.Ctx(), []byte(`{"timers":{"timers_by_actor":{"actor":"`+alice.String()+`"}}}`))
	require.NoError(t, err)
	require.JSONEq(t, `{"timers":[],"pagination":{"next_key":null,"total":"0"},"total":0}`, string(answer))
	answer, err = query(chain.Ctx(), []byte(`{"timers":{"agent":{"actor":"`+alice.String()+`"}}}`))
	require.NoError(t, err)
	require.JSONEq(t, `{"agent":""}`, string(answer))
	for _, name := range []string{"lane", "params"} {
		answer, err := query(chain.Ctx(), []byte(`{"timers":{"`+name+`":{}}}`))
		require.NoError(t, err)
		require.Contains(t, string(answer), `"lane_timer_cycles":"2000000"`)
	}
	answer, err = query(chain.Ctx(), []byte(`{"timers":{"estimate":{"gas_limit":"100000","payload_bytes":"100","max_charge":"5000"}}}`))
	require.NoError(t, err)
	require.Contains(t, string(answer), `"intrinsic_cycles":"20300"`)
	answer, err = query(chain.Ctx(), []byte(`{"timers":{"occurrences":{"spec":{"trigger":{"interval":{"every":"7","first":"90"}},"expires_at":"100"}}}}`))
	require.NoError(t, err)
	require.JSONEq(t, `{"occurrences":[{"at":"90","due":"90"},{"at":"97","due":"97"}],"by_time":false,"more":false}`, string(answer))
	for name, custom := range map[string]string{
		"ready":            `{"timers":{"ready":{}}}`,
		"due":              `{"timers":{"due":{"height":"5"}}}`,
		"receipts":         `{"timers":{"receipts":{"height":"5"}}}`,
		"on_hold":          `{"timers":{"on_hold":{}}}`,
		"watches":          `{"timers":{"watches":{"store":"bank"}}}`,
		"an unknown field": `{"timers":{"lane":{"height":3}}}`,
		"no such timer":    `{"timers":{"timer":{"actor":"` + alice.String() + `","id":"abcdef0123456789"}}}`,
		"no actor":         `{"timers":{"timer":{}}}`,
		"another module":   `{"tokens":{}}`,
	} {
		_, err := query(chain.Ctx(), []byte(custom))
		require.Error(t, err, name)
	}
}

// TestAContractPaysForWhatItAsks: messages of a thousand empty parts are short to store and long in JSON. A list
// of them decodes none. One of them is decoded, and paid for by its length.
func TestAContractPaysForWhatItAsks(t *testing.T) {
	const n = 60
	chain, router := newChain(t)
	messages, err := types.NewAccountPayload(&banktypes.MsgMultiSend{
		Inputs: []banktypes.Input{{Address: alice.String()}}, Outputs: make([]banktypes.Output, 1_000),
	})
	require.NoError(t, err)
	payload, err := messages.Marshal()
	require.NoError(t, err)
	var id string
	for range n {
		timer, err := chain.Timers.Schedule(chain.Ctx(), keeper.ScheduleRequest{
			Actor: alice, Spec: types.TimerSpec{
				Trigger: types.Trigger{Height: 100}, Call: types.TimerCall{Payload: payload}, GasLimit: 250_000, CellLimit: 1_000,
			},
		})
		require.NoError(t, err)
		id = timer.IDHex()
	}
	ask := func(custom string) (answer []byte, gas uint64) {
		meter := storetypes.NewInfiniteGasMeter()
		answer, err := wasmbinding.Queries(chain.Codec, router)(chain.Ctx().WithGasMeter(meter), []byte(custom))
		require.NoError(t, err)
		return answer, meter.GasConsumed()
	}
	list, gas := ask(`{"timers":{"timers_by_actor":{"actor":"` + alice.String() + `"}}}`)
	require.Contains(t, string(list), `"payload_bytes":"`+strconv.Itoa(len(payload))+`"`)
	require.NotContains(t, string(list), "MsgMultiSend")
	require.Less(t, len(list), n*1_200)
	require.Greater(t, gas, uint64(n*10_000))

	one, gas := ask(`{"timers":{"timer":{"actor":"` + alice.String() + `","id":"` + id + `"}}}`)
	require.Contains(t, string(one), "MsgMultiSend")
	require.Greater(t, gas, uint64((keeper.DecodeGasPerByte+keeper.GasPerByte)*len(payload)))

	params, gas := ask(`{"timers":{"params":{}}}`)
	require.Greater(t, gas, uint64(10*len(params)))
}

// Rule: 9.2-contract-queries
func TestEveryAcceptedQueryExists(t *testing.T) {
	_, router := newChain(t)
	accepted := wasmbinding.AcceptedQueries()
	require.Len(t, accepted, 8)
	for path := range accepted {
		require.NotNil(t, router.Route(path), path)
	}
}
