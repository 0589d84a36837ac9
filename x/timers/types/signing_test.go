package types_test

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cosmos/gogoproto/proto"
	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/types/module/testutil"
	"github.com/cosmos/cosmos-sdk/types/tx/signing"
	authsigning "github.com/cosmos/cosmos-sdk/x/auth/signing"
	"github.com/cosmos/cosmos-sdk/x/bank"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers"
	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	alice  = "cosmos1qyqszqgpqyqszqgpqyqszqgpqyqszqgpjnp7du"
	someID = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
)

// signed is a message to sign: each of timers.v1.Msg, with every field and with as few as can be.
type signed struct {
	name string
	msg  sdk.Msg
}

func signedMessages() []signed {
	bob := sdk.AccAddress(bytes.Repeat([]byte{2}, 32)).String()
	when := time.Unix(1_700_000_000, 5).UTC()
	config := types.DefaultTimerConfig("stake")
	addGuestParams(&config)
	config.LanePaused, config.MaxFiresPerBlock, config.MaxFiresPerActor = true, 100, 10
	config.DeniedMessages, config.ReservedActors = []string{"/cosmos.authz.v1beta1.MsgExec"}, []string{alice}
	messages := packed(
		banktypes.NewMsgSend(sdk.MustAccAddressFromBech32(alice), sdk.MustAccAddressFromBech32(bob), sdk.NewCoins(sdk.NewInt64Coin("stake", 5))),
		// A message within a message, and one that is empty but for its signer.
		&types.MsgScheduleTimer{Sender: alice, Spec: types.TimerSpec{Trigger: types.Trigger{After: 1}, Call: types.TimerCall{Messages: packed(&types.MsgCancelTimer{Sender: alice})}}},
	)
	zero := math.LegacyZeroDec()
	static := staticBid(math.LegacyMustNewDecFromStr("12.5"), math.LegacySmallestDec())
	return []signed{
		{"schedule_all", &types.MsgScheduleTimer{
			Sender: alice, Spec: types.TimerSpec{
				Trigger: types.Trigger{Height: 1<<64 - 1}, Call: types.TimerCall{Handler: "tick", Payload: []byte("<payload>&\u2028")}, FeePayer: bob,
				GasLimit: 550_000, CellLimit: 30_000, ExpiresAt: 99, Bid: static, MaxCharge: "5000",
			},
		}},
		{"schedule_least", &types.MsgScheduleTimer{Sender: alice}},
		{"schedule_tier", &types.MsgScheduleTimer{
			Sender: alice, Spec: types.TimerSpec{Trigger: types.Trigger{Height: 7}, Bid: &types.Bid{Tier: types.TierFast}},
		}},
		{"schedule_empty_bid", &types.MsgScheduleTimer{Sender: alice, Spec: types.TimerSpec{Trigger: types.Trigger{Height: 7}, Bid: &types.Bid{}}}},
		{"schedule_free_bid", &types.MsgScheduleTimer{Sender: alice, Spec: types.TimerSpec{Bid: staticBid(math.LegacyZeroDec(), math.LegacyZeroDec())}}},
		{"schedule_agent", &types.MsgScheduleTimer{Sender: alice, Spec: types.TimerSpec{Bid: &types.Bid{Agent: bob}}}},
		{"schedule_price", &types.MsgScheduleTimer{Sender: alice, Spec: types.TimerSpec{Bid: &types.Bid{Price: "17"}}}},
		{"schedule_interval", &types.MsgScheduleTimer{
			Sender: alice, Spec: types.TimerSpec{
				Trigger: types.Trigger{Interval: &types.IntervalTrigger{Every: 1, First: 2}},
				Retry:   &types.Retry{Max: 3, After: 5}, OnUnfunded: types.OnUnfundedSuspend, Repeat: &types.Repeat{Remaining: 3, OnFailure: types.OnFailureStop},
			},
		}},
		{"schedule_watch", &types.MsgScheduleTimer{
			Sender: alice, Spec: types.TimerSpec{Trigger: types.Trigger{Watch: &types.WatchTrigger{Keys: []types.WatchKey{{Store: "bank", Prefix: []byte{2}}, {}}}}},
		}},
		{"schedule_when", &types.MsgScheduleTimer{
			Sender: alice, Spec: types.TimerSpec{Trigger: types.Trigger{Watch: &types.WatchTrigger{
				Cooldown: 10, Keys: []types.WatchKey{
					{Store: "bank", Prefix: []byte{2, 20}, When: &types.WatchCondition{Op: types.ConditionLess, Value: "-0.5"}},
					{Store: "wasm", Prefix: []byte{3}, When: &types.WatchCondition{Op: types.ConditionExists}},
				},
			}}, Repeat: &types.Repeat{Remaining: 5}},
		}},
		{"schedule_long_payload", &types.MsgScheduleTimer{Sender: alice, Spec: types.TimerSpec{Trigger: types.Trigger{Height: 7}, Call: types.TimerCall{Payload: []byte(`{"pay_out":{"to":"everybody","at":"once"}}`)}}}},
		{"schedule_after", &types.MsgScheduleTimer{Sender: alice, Spec: types.TimerSpec{Trigger: types.Trigger{After: 20}, Name: `rent <b>&"`}}},
		{"schedule_messages", &types.MsgScheduleTimer{Sender: alice, Spec: types.TimerSpec{Trigger: types.Trigger{Height: 7}, Call: types.TimerCall{Messages: messages}}}},
		{"schedule_actor", &types.MsgScheduleTimer{Sender: alice, Actor: bob, Spec: types.TimerSpec{Trigger: types.Trigger{Height: 7}, Call: types.TimerCall{Handler: "tick", Payload: []byte("{}")}}}},
		{"schedule_time", &types.MsgScheduleTimer{Sender: alice, Spec: types.TimerSpec{Trigger: types.Trigger{Time: &when}, ExpiresTime: 1_800_000_000}}},
		{"schedule_calendar", &types.MsgScheduleTimer{
			Sender: alice, Spec: types.TimerSpec{Trigger: types.Trigger{Calendar: &types.CalendarTrigger{
				Cron: &types.CronRule{Minutes: 1, Hours: 1 << 9, Days: 1 << 1, LastDay: true, Months: 1<<13 - 2, Weekdays: 127}, OffsetMinutes: -60,
				Transitions: []types.OffsetTransition{{From: 1_711_846_800, OffsetMinutes: 120}, {}}, OffsetFinal: true,
			}}, Repeat: &types.Repeat{Remaining: 12, OnFailure: types.OnFailureStop, MaxFailures: 2, Missed: types.MissedEach, Window: 3_600, Jitter: 60}},
		}},
		{"schedule_every", &types.MsgScheduleTimer{
			Sender: alice, Spec: types.TimerSpec{Trigger: types.Trigger{Calendar: &types.CalendarTrigger{
				Every: &types.EveryRule{Seconds: 3_600, Anchor: 1_700_000_000},
			}}},
		}},
		{"schedule_interval_from", &types.MsgScheduleTimer{
			Sender: alice, Spec: types.TimerSpec{Trigger: types.Trigger{Interval: &types.IntervalTrigger{
				Every: 10, From: types.FromSchedule,
			}}, Repeat: &types.Repeat{Missed: types.MissedLatest}},
		}},
		{"update_all", &types.MsgUpdateTimer{
			Sender: alice, Id: someID, Name: "rent <b>&", Actor: bob, Spec: types.TimerSpec{Call: types.TimerCall{Handler: "tock", Payload: []byte{0, 255}}, GasLimit: 40_000, CellLimit: 1, Bid: static, MaxCharge: "0"}, Fields: []string{"call", "gas_limit", "cell_limit", "bid", "max_charge"}, IfSeq: 9,
		}},
		{"schedule_only_if", &types.MsgScheduleTimer{
			Sender: alice, Spec: types.TimerSpec{Trigger: types.Trigger{After: 7}, OnlyIf: []types.WatchKey{
				{Store: "bank", Prefix: []byte{2, 20}, When: &types.WatchCondition{Op: types.ConditionLess, Value: "100"}},
				{Store: "wasm", Prefix: []byte{3}, When: &types.WatchCondition{Op: types.ConditionAbsent}},
			}},
		}},
		{"update_trigger", &types.MsgUpdateTimer{
			Sender: alice, Id: someID, Spec: types.TimerSpec{
				Trigger: types.Trigger{After: 7},
				Retry:   &types.Retry{Max: 1, After: 2}, OnUnfunded: types.OnUnfundedSuspend, Repeat: &types.Repeat{Renew: true}, OnlyIf: []types.WatchKey{{Store: "bank", Prefix: []byte{2}, When: &types.WatchCondition{Op: types.ConditionExists}}},
			},
			Fields: []string{"trigger", "retry", "on_unfunded", "only_if", "repeat.renew"},
		}},
		{"update_no_options", &types.MsgUpdateTimer{Sender: alice, Id: someID}},
		{"update_least", &types.MsgUpdateTimer{Sender: alice}},
		{"update_messages", &types.MsgUpdateTimer{Sender: alice, Id: someID, Spec: types.TimerSpec{Call: types.TimerCall{Messages: messages}}, Fields: []string{"call"}}},
		{"update_to_nothing", &types.MsgUpdateTimer{Sender: alice, Id: someID, Spec: types.TimerSpec{Call: types.TimerCall{}, Bid: &types.Bid{}}, Fields: []string{"call", "bid"}}},
		{"extend_all", &types.MsgExtendTimer{Sender: alice, Id: someID, Name: "rent", ExpiresAt: 1_000, ExpiresTime: 1_800_000_000, Actor: bob}},
		{"extend_least", &types.MsgExtendTimer{Sender: alice}},
		{"pause_all", &types.MsgPauseTimer{Sender: alice, Id: someID, Name: "rent", Actor: bob}},
		{"pause_least", &types.MsgPauseTimer{Sender: alice}},
		{"schedule_renew", &types.MsgScheduleTimer{
			Sender: alice, Spec: types.TimerSpec{
				Repeat: &types.Repeat{
					Renew:     true,
					OnFailure: types.OnFailureSuspend, MaxFailures: 3,
				}, OnUnfunded: types.OnUnfundedSkip,
				Trigger: types.Trigger{Interval: &types.IntervalTrigger{Every: 9}},
				Retry:   &types.Retry{Max: 1, After: 2, Backoff: 3, On: []types.ErrorCode{{Codespace: "bank", Code: 5}, {}}},
			},
		}},
		{"skip_all", &types.MsgSkipTimer{Sender: alice, Id: someID, Name: "rent", Count: 7, Actor: bob, From: 1_700_000_000}},
		{"skip_least", &types.MsgSkipTimer{Sender: alice}},
		{"run_all", &types.MsgRunTimer{Sender: alice, Id: someID, Name: "rent", Actor: bob}},
		{"run_least", &types.MsgRunTimer{Sender: alice}},
		{"resume_all", &types.MsgResumeTimer{Sender: alice, Id: someID, Name: "rent", Actor: bob, At: types.ResumeNext}},
		{"resume_least", &types.MsgResumeTimer{Sender: alice}},
		{"set_agent_all", &types.MsgSetAgent{Sender: alice, Agent: bob}},
		{"set_agent_least", &types.MsgSetAgent{Sender: alice}},
		{"cancel_all", &types.MsgCancelTimer{Sender: alice, Id: someID, Name: "rent", Actor: bob}},
		{"cancel_least", &types.MsgCancelTimer{Sender: alice}},
		{"sys_cancel_all", &types.MsgSysCancelTimer{Authority: alice, Actor: bob, Id: someID}},
		{"sys_cancel_least", &types.MsgSysCancelTimer{Authority: alice}},
		{"update_config_all", &types.MsgUpdateTimerConfig{
			Authority: alice, Config: config, Expected: []byte("the hash"), Fields: []string{"lane_paused", guestField},
		}},
		{"update_config_least", &types.MsgUpdateTimerConfig{Authority: alice, Config: types.TimerConfig{
			CycleBasefee: decimal.Of(zero), CellBasefee: decimal.Of(zero), ReservedShare: decimal.Of(zero), TierTipCap: decimal.Of(zero), MedianSmoothing: decimal.Of(zero), WeightMin: decimal.Of(zero), WeightMax: decimal.Of(zero),
			PriorityTiers: types.PriorityTiers{Economy: decimal.Of(zero), Standard: decimal.Of(zero), Fast: decimal.Of(zero), Urgent: decimal.Of(zero)},
			Eip1559:       types.Eip1559Params{Target: decimal.Of(zero), MaxChange: decimal.Of(zero), MinLaneBasefee: decimal.Of(zero), LaneFeeMultiplier: decimal.Of(zero)},
		}}},
		{"sys_extend_all", &types.MsgSysExtendTimer{Authority: alice, Actor: bob, Id: someID, ExpiresAt: 1_000, ExpiresTime: 1_800_000_000}},
		{"sys_extend_least", &types.MsgSysExtendTimer{Authority: alice}},
		{"sys_release_all", &types.MsgSysReleaseTimer{Authority: alice, Actor: bob, Id: someID}},
		{"sys_release_least", &types.MsgSysReleaseTimer{Authority: alice}},
	}
}

// packed are messages as a message states them.
func packed(msgs ...sdk.Msg) []*codectypes.Any {
	payload, err := types.NewAccountPayload(msgs...)
	if err != nil {
		panic(err)
	}
	return payload.Messages
}

// goldenMessages are those of which the files state the bytes: without guests, one with the parameters of a guest is none of them.
func goldenMessages() []signed {
	return slices.DeleteFunc(signedMessages(), func(s signed) bool { return !hasGuests && s.name == "update_config_all" })
}

// TestEveryMessageIsSigned: no message of the service is missing above, and between its samples every field is set, as
// is each of a spec.
func TestEveryMessageIsSigned(t *testing.T) {
	set := map[string]map[string]bool{}
	note := func(msg proto.Message) {
		name := proto.MessageName(msg)
		if set[name] == nil {
			set[name] = map[string]bool{}
		}
		value := reflect.ValueOf(msg).Elem()
		for i := range value.NumField() {
			if !value.Field(i).IsZero() {
				set[name][value.Type().Field(i).Name] = true
			}
		}
	}
	for _, s := range signedMessages() {
		note(s.msg)
		if msg, schedules := s.msg.(*types.MsgScheduleTimer); schedules {
			note(&msg.Spec)
			note(&msg.Spec.Call)
			if msg.Spec.Repeat != nil {
				note(msg.Spec.Repeat)
			}
		}
	}
	for _, msg := range []proto.Message{&types.TimerSpec{}, &types.TimerCall{}, &types.Repeat{}} {
		require.Len(t, set[proto.MessageName(msg)], reflect.TypeOf(msg).Elem().NumField(), "fields of %s", proto.MessageName(msg))
	}
	methods := timersService(t, "Msg").Methods()
	for i := range methods.Len() {
		input := methods.Get(i).Input()
		require.Len(t, set[string(input.FullName())], input.Fields().Len(), "fields of %s", input.FullName())
	}
}

// TestAminoSignBytes: hardware wallets sign these bytes. What a wallet shows must not change unseen.
func TestAminoSignBytes(t *testing.T) {
	encoding := testutil.MakeTestEncodingConfig(timers.AppModule{}, bank.AppModule{})
	registerGuests(encoding.InterfaceRegistry)
	for _, s := range goldenMessages() {
		t.Run(s.name, func(t *testing.T) {
			builder := encoding.TxConfig.NewTxBuilder()
			require.NoError(t, builder.SetMsgs(s.msg))
			builder.SetGasLimit(200_000)
			builder.SetMemo("a memo")
			bz, err := authsigning.GetSignBytesAdapter(context.Background(), encoding.TxConfig.SignModeHandler(),
				signing.SignMode_SIGN_MODE_LEGACY_AMINO_JSON,
				authsigning.SignerData{Address: alice, ChainID: "chain", AccountNumber: 1, Sequence: 2}, builder.GetTx())
			require.NoError(t, err)

			var document struct {
				Msgs []struct {
					Type  string          `json:"type"`
					Value json.RawMessage `json:"value"`
				} `json:"msgs"`
			}
			require.NoError(t, json.Unmarshal(bz, &document))
			require.Len(t, document.Msgs, 1)
			short := strings.TrimPrefix(sdk.MsgTypeURL(s.msg), "/timers.v1.")
			require.Equal(t, types.ModuleName+"/"+short, document.Msgs[0].Type)
			// Devices with little memory refuse a longer name than 39 bytes.
			require.LessOrEqual(t, len(document.Msgs[0].Type), 39)
			requireGolden(t, "amino/"+s.name+".json", string(bz)+"\n")
		})
	}
}

// TestMessagesSurviveTheWire: in binary, in JSON and within an Any, and their one signer is whom they name.
func TestMessagesSurviveTheWire(t *testing.T) {
	encoding := testutil.MakeTestEncodingConfig(timers.AppModule{}, bank.AppModule{})
	registerGuests(encoding.InterfaceRegistry)
	cdc := encoding.Codec
	signer, err := sdk.AccAddressFromBech32(alice)
	require.NoError(t, err)
	for _, s := range signedMessages() {
		t.Run(s.name, func(t *testing.T) {
			fresh := func() sdk.Msg {
				msg, ok := reflect.New(reflect.TypeOf(s.msg).Elem()).Interface().(sdk.Msg)
				require.True(t, ok)
				return msg
			}
			require.Implements(t, (*codecMessage)(nil), s.msg)
			wire, err := proto.Marshal(s.msg)
			require.NoError(t, err)
			fromWire := fresh()
			require.NoError(t, proto.Unmarshal(wire, fromWire))
			require.NoError(t, codectypes.UnpackInterfaces(fromWire, cdc.InterfaceRegistry()))
			requireSame(t, s.msg, fromWire)

			text, err := cdc.MarshalJSON(s.msg)
			require.NoError(t, err)
			fromText := fresh()
			require.NoError(t, cdc.UnmarshalJSON(text, fromText))
			again, err := proto.Marshal(fromText)
			require.NoError(t, err)
			require.Equal(t, wire, again, "%s", text)

			packed, err := codectypes.NewAnyWithValue(s.msg)
			require.NoError(t, err)
			var unpacked sdk.Msg
			require.NoError(t, cdc.UnpackAny(&codectypes.Any{TypeUrl: packed.TypeUrl, Value: packed.Value}, &unpacked))
			requireSame(t, s.msg, unpacked)

			signers, _, err := cdc.GetMsgV1Signers(s.msg)
			require.NoError(t, err)
			require.Equal(t, [][]byte{signer}, signers)
		})
	}
}

// requireSame compares messages by their encoding: of packed messages it does not matter what is cached.
func requireSame(t *testing.T, want, got sdk.Msg) {
	t.Helper()
	require.IsType(t, want, got)
	wantBytes, err := proto.Marshal(want)
	require.NoError(t, err)
	gotBytes, err := proto.Marshal(got)
	require.NoError(t, err)
	require.Equal(t, wantBytes, gotBytes)
}

// codecMessage is what generated messages can do without reflection.
type codecMessage interface {
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
	Size() int
}
