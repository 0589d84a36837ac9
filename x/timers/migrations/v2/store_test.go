package v2_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"cosmossdk.io/collections"
	"cosmossdk.io/core/store"
	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos/cosmos-sdk/codec"
	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	"github.com/cosmos/cosmos-sdk/runtime"
	"github.com/cosmos/cosmos-sdk/testutil"
	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/x/authz"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	v2 "github.com/cosmos-timers/timers/x/timers/migrations/v2"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// The states of testdata/state/v1 are migrated by the tests of the application. These are of what they are too small for.

// field is a field of a message of version 1: a number, or text.
type field struct {
	number protowire.Number
	value  any
}

func is(number protowire.Number, value any) field { return field{number, value} }

func message(fields ...field) (bz []byte) {
	for _, f := range fields {
		switch value := f.value.(type) {
		case int:
			bz = protowire.AppendVarint(protowire.AppendTag(bz, f.number, protowire.VarintType), uint64(value))
		case string:
			bz = protowire.AppendString(protowire.AppendTag(bz, f.number, protowire.BytesType), value)
		default:
			panic(fmt.Sprintf("%T", value))
		}
	}
	return bz
}

// dec is a decimal as version 1 stored it: with 18 digits more.
func dec(number protowire.Number, millionths int) field {
	return field{number, fmt.Sprintf("%d000000000000", millionths)}
}

const one = 1_000_000

// config is one of version 1.
func config(replaced ...field) []byte {
	fields := []field{
		is(1, 2), is(2, "stake"), is(4, 1_000), is(5, 40_000), is(6, 20_000), is(7, 550_000), is(8, 10_000), is(9, 8), is(10, 1_000), is(11, 2_000_000),
		is(12, 2_000_000), is(13, 50_000), is(14, 10_000), is(17, 8), is(18, 8), dec(19, 1_000), dec(20, 30_000), is(21, 1_000), is(22, 500), is(23, "*"),
		is(25, 10), is(27, 250_000), dec(28, one/2), dec(29, one/8), dec(30, 1_000), is(31, 1), dec(32, one),
		is(33, string(message(dec(1, one/2), dec(2, one), dec(3, 2*one), dec(4, 3*one)))),
		is(34, 10), is(35, 1), dec(36, one), dec(37, 2*one), dec(38, one), is(39, 10), is(40, 8), is(41, 3), is(42, 5), is(60, 10), is(70, 8), is(71, 8),
		is(72, 8), is(80, 1), is(81, "7"), dec(82, one/20), dec(83, one/100), dec(84, one/2), dec(85, one/100), is(86, 10), dec(90, one),
		dec(91, one/100), dec(92, 0), is(96, 10), dec(97, one/5), dec(98, one/10), dec(99, one), dec(100, one/2), dec(101, 3*one/4),
		is(102, 20), dec(103, one/5), dec(104, 4*one/10), dec(105, 3*one/10), dec(106, one/10), dec(107, 2*one/10), is(108, 100),
	}
	for _, r := range replaced {
		for i := range fields {
			if fields[i].number == r.number {
				fields[i] = r
			}
		}
	}
	return message(fields...)
}

func start(t *testing.T, config []byte) (sdk.Context, store.KVStoreService) {
	t.Helper()
	key := storetypes.NewKVStoreKey(types.StoreKey)
	ctx := testutil.DefaultContext(key, storetypes.NewTransientStoreKey("transient"))
	service := runtime.NewKVStoreService(key)
	if config != nil {
		require.NoError(t, service.OpenKVStore(ctx).Set(types.PrefixConfig.Bytes(), config))
	}
	return ctx, service
}

func migrate(t *testing.T, ctx sdk.Context, service store.KVStoreService) *v2.Packed {
	t.Helper()
	packed, err := v2.MigrateStore(ctx, service)
	require.NoError(t, err)
	return packed
}

func migratedConfig(t *testing.T, ctx sdk.Context, service store.KVStoreService) (config types.TimerConfig) {
	t.Helper()
	bz, err := service.OpenKVStore(ctx).Get(types.PrefixConfig.Bytes())
	require.NoError(t, err)
	require.NoError(t, config.Unmarshal(bz))
	return config
}

func TestConfig(t *testing.T) {
	ctx, service := start(t, config())
	migrate(t, ctx, service)
	got := migratedConfig(t, ctx, service)
	require.Equal(t, "0.125", got.Eip1559.MaxChange.Text())
	require.Equal(t, "2", got.PriorityTiers.Fast.Text())
	require.Equal(t, uint64(10_000), got.DefaultCellLimit, "no timer may write more than any fire")
	require.Equal(t, uint64(2*types.AgentBaseCycles), got.AgentCyclesPerCall, "raised to what a call costs at least")
	require.Equal(t, uint64(2*types.AgentBaseCycles), got.AgentCyclesPerBlock)
}

// TestWeightsAreTakenOut: version 1 kept the weights of policy tip singly. None is left there.
func TestWeightsAreTakenOut(t *testing.T) {
	ctx, service := start(t, config())
	kv := service.OpenKVStore(ctx)
	want := []types.ActorTipWeight{{Actor: []byte("alice"), Weight: types.TipWeight{Epoch: 3}}, {Actor: []byte("bob"), Weight: types.TipWeight{Epoch: 5}}}
	for i := range want {
		w := &want[i].Weight
		w.Weight, w.Tip, w.Outcome = math.LegacyMustNewDecFromStr("1.5"), math.LegacyOneDec(), math.LegacyZeroDec()
		w.Lateness, w.Use = math.LegacyZeroDec(), math.LegacyZeroDec()
		value, err := w.Marshal()
		require.NoError(t, err)
		require.NoError(t, kv.Set(append(types.PrefixTipWeights.Bytes(), want[i].Actor...), value))
		epoch, err := collections.EncodeKeyWithPrefix(types.PrefixTipEpochs.Bytes(),
			collections.PairKeyCodec(collections.Uint64Key, sdk.AccAddressKey), collections.Join(w.Epoch, sdk.AccAddress(want[i].Actor)))
		require.NoError(t, err)
		require.NoError(t, kv.Set(epoch, []byte{}))
	}
	require.Equal(t, want, migrate(t, ctx, service).TipWeights)
	for _, region := range []collections.Prefix{types.PrefixTipWeights, types.PrefixTipEpochs} {
		left, err := kv.Iterator(region.Bytes(), storetypes.PrefixEndBytes(region.Bytes()))
		require.NoError(t, err)
		require.False(t, left.Valid())
		require.NoError(t, left.Close())
	}
}

// TestConfigIsRefused: the upgrade stops and names the parameter, instead of a chain that can't fire.
//
// Rule: 2.5-refused-config
func TestConfigIsRefused(t *testing.T) {
	for _, c := range []struct {
		config []byte
		says   string
	}{
		{config(dec(28, 2*one)), "target"},
		{config(is(28, "half")), "target"},
		{config(is(81, "much")), `reserve_price "much"`},
		{config(is(33, "\x0a\xff")), "field 1"},
		{nil, "there is no config"},
		{[]byte{0xff}, "version 1"},
		{[]byte{0x0d, 0, 0, 0, 0}, "wire type 5"},
	} {
		ctx, service := start(t, c.config)
		_, err := v2.MigrateStore(ctx, service)
		require.ErrorContains(t, err, c.says)
	}
}

// TestConfigMessage: a message in a proposal takes the form of today, and one that could not be carried out is still no
// harm to who reads proposals.
func TestConfigMessage(t *testing.T) {
	for _, c := range []struct {
		config []byte
		target string
	}{
		{config(dec(28, one/4)), "0.25"},
		{config(dec(28, 2*one)), ""},
		{nil, ""},
	} {
		stored := anyOf(&types.MsgUpdateTimerConfig{}, message(is(1, "authority"), is(2, string(c.config))))
		changed, err := v2.Message(stored)
		require.NoError(t, err)
		require.True(t, changed)
		var msg types.MsgUpdateTimerConfig
		require.NoError(t, msg.Unmarshal(stored.Value))
		require.Equal(t, "authority", msg.Authority)
		require.Equal(t, c.target, msg.Config.Eip1559.Target.Text())
		bz, err := codec.NewProtoCodec(codectypes.NewInterfaceRegistry()).MarshalJSON(&msg)
		require.NoError(t, err, "it can be shown")
		require.NotEmpty(t, bz)
	}
	_, err := v2.Message(anyOf(&types.MsgUpdateTimerConfig{}, []byte{0xff}))
	require.ErrorIs(t, err, types.ErrInternal)
}

func anyOf(msg sdk.Msg, value []byte) *codectypes.Any {
	return &codectypes.Any{TypeUrl: sdk.MsgTypeURL(msg), Value: value}
}

// TestPricesInMessages: prices of version 1 would read as 10^18 times as large, within a MsgExec too. All else stays.
func TestPricesInMessages(t *testing.T) {
	bid := string(message(is(1, string(message(dec(1, 10_700), dec(2, 2*one))))))
	schedule := anyOf(&types.MsgScheduleTimer{}, message(is(1, "gov"), is(4, "payload"), is(6, 60_000), is(8, bid)))
	update := anyOf(&types.MsgUpdateTimer{}, message(is(1, "gov"), is(5, bid)))
	for range 10 {
		inner, err := update.Marshal()
		require.NoError(t, err)
		update = anyOf(&authz.MsgExec{}, message(is(1, "gov"), is(2, string(inner))))
	}
	for _, msg := range []*codectypes.Any{schedule, update} {
		changed, err := v2.Message(msg)
		require.NoError(t, err)
		require.True(t, changed)
	}
	want := &types.Bid{Static: &types.StaticBid{
		MaxFeePerCycle:         decimal.Of(math.LegacyMustNewDecFromStr("0.0107")),
		MaxPriorityFeePerCycle: decimal.Of(math.LegacyNewDec(2)),
	}}
	var scheduled types.MsgScheduleTimer
	require.NoError(t, scheduled.Unmarshal(schedule.Value))
	require.Equal(t, types.MsgScheduleTimer{Sender: "gov", Payload: []byte("payload"), GasLimit: 60_000, Bid: want}, scheduled)
	for range 10 {
		var exec authz.MsgExec
		require.NoError(t, exec.Unmarshal(update.Value))
		require.Equal(t, "gov", exec.Grantee)
		require.Len(t, exec.Msgs, 1)
		update = exec.Msgs[0]
	}
	var updated types.MsgUpdateTimer
	require.NoError(t, updated.Unmarshal(update.Value))
	require.Equal(t, want, updated.Bid)
}

// TestPricesInCarriers: those in a proposal of x/gov or x/group, and the payload of a timer that the message schedules.
func TestPricesInCarriers(t *testing.T) {
	bid := string(message(is(1, string(message(dec(1, 10_700))))))
	stated := func(more ...field) *codectypes.Any {
		return anyOf(&types.MsgScheduleTimer{}, message(append(more, is(8, bid))...))
	}
	packed := func(msg *codectypes.Any) string {
		bz, err := msg.Marshal()
		require.NoError(t, err)
		return string(bz)
	}
	price := func(value []byte) string {
		var schedule types.MsgScheduleTimer
		require.NoError(t, schedule.Unmarshal(value))
		return schedule.Bid.Static.MaxFeePerCycle.String()
	}
	changed := func(msg *codectypes.Any) []byte {
		converted, err := v2.Message(msg)
		require.NoError(t, err)
		require.True(t, converted)
		return msg.Value
	}
	for url, number := range map[string]protowire.Number{"/cosmos.gov.v1.MsgSubmitProposal": 1, "/cosmos.group.v1.MsgSubmitProposal": 4} {
		submit := &codectypes.Any{TypeUrl: url, Value: message(is(2, "coins"), is(number, packed(stated())), is(99, "new"))}
		value, found := bytes.CutPrefix(changed(submit), message(is(2, "coins")))
		require.True(t, found)
		value, found = bytes.CutSuffix(value, message(is(99, "new")))
		require.True(t, found)
		at, _, n := protowire.ConsumeTag(value)
		require.Equal(t, number, at)
		value, _ = protowire.ConsumeBytes(value[n:])
		var inner codectypes.Any
		require.NoError(t, inner.Unmarshal(value))
		require.Equal(t, "0.010700000000000000", price(inner.Value))
	}
	inner := packed(stated(is(1, "inner")))
	payload := string(message(is(1, inner)))
	for name, outer := range map[string]*codectypes.Any{
		"payload":              anyOf(&types.MsgScheduleTimer{}, message(is(1, "gov"), is(4, payload))),
		"messages":             anyOf(&types.MsgScheduleTimer{}, message(is(1, "gov"), is(messagesOfSchedule, inner))),
		"payload of a change":  anyOf(&types.MsgUpdateTimer{}, message(is(1, "gov"), is(3, string(message(is(2, payload)))))),
		"messages of a change": anyOf(&types.MsgUpdateTimer{}, message(is(1, "gov"), is(3, string(message(is(3, inner)))))),
	} {
		value := changed(outer)
		call := &types.TimerCall{}
		if outer.TypeUrl == sdk.MsgTypeURL(&types.MsgUpdateTimer{}) {
			var update types.MsgUpdateTimer
			require.NoError(t, update.Unmarshal(value))
			call = update.Call
		} else {
			var schedule types.MsgScheduleTimer
			require.NoError(t, schedule.Unmarshal(value))
			call.Payload, call.Messages = schedule.Payload, schedule.Messages
		}
		if len(call.Payload) > 0 {
			var messages types.AccountPayload
			require.NoError(t, messages.Unmarshal(call.Payload))
			call.Messages = messages.Messages
		}
		require.Len(t, call.Messages, 1, name)
		require.Equal(t, "0.010700000000000000", price(call.Messages[0].Value), name)
	}
}

// messagesOfSchedule is the number of the messages in MsgScheduleTimer.
const messagesOfSchedule = 23

// TestPricesInPayloads: those in the payload of a timer that lives, wherever that is stored. What is no list of messages stays.
//
// Rule: 2.5-payloads
func TestPricesInPayloads(t *testing.T) {
	bid := string(message(is(1, string(message(dec(1, 10_700))))))
	schedule, err := anyOf(&types.MsgScheduleTimer{}, message(is(1, "alice"), is(8, bid))).Marshal()
	require.NoError(t, err)
	other, err := anyOf(&types.MsgCancelTimer{}, message(is(1, strings.Repeat("a", types.InlinePayloadBytes)))).Marshal()
	require.NoError(t, err)
	stated := message(is(1, string(schedule)))
	for name, payload := range map[string][]byte{
		"in its record": stated,
		// Converted, it is longer than what a record holds.
		"in its record, nearly": append(message(is(9, strings.Repeat("b", types.InlinePayloadBytes-len(stated)-2))), stated...),
		"at a key of its own":   append(message(is(1, string(other))), stated...),
		"of a contract":         []byte(`{"beat":{}}`),
		"none":                  nil,
	} {
		t.Run(name, func(t *testing.T) {
			ctx, service := start(t, config())
			kv := service.OpenKVStore(ctx)
			const seq = 7
			key := func(prefix collections.Prefix) []byte {
				at, err := collections.EncodeKeyWithPrefix(prefix.Bytes(), collections.Uint64Key, seq)
				require.NoError(t, err)
				return at
			}
			timer := types.Timer{Id: []byte{1}, Actor: []byte("alice"), Seq: seq, Payload: payload}
			if len(payload) > types.InlinePayloadBytes {
				timer.Payload, timer.PayloadSeq = nil, seq
				require.NoError(t, kv.Set(key(types.PrefixPayloads), payload))
			}
			record, err := timer.Marshal()
			require.NoError(t, err)
			require.NoError(t, kv.Set(key(types.PrefixSetAside), record))
			aside := migrate(t, ctx, service).SetAside

			require.Len(t, aside, 1)
			now := aside[0]
			single, err := kv.Has(key(types.PrefixSetAside))
			require.NoError(t, err)
			require.False(t, single, "it is packed now")
			stored := now.Payload
			require.Equal(t, len(payload) >= types.InlinePayloadBytes, now.PayloadSeq != 0)
			if now.PayloadSeq != 0 {
				require.Empty(t, now.Payload)
				stored, err = kv.Get(key(types.PrefixPayloads))
				require.NoError(t, err)
				require.Equal(t, uint64(len(stored)), now.PayloadBytes)
			}
			require.LessOrEqual(t, len(now.Payload), types.InlinePayloadBytes)
			if !bytes.HasSuffix(payload, stated) {
				require.Equal(t, string(payload), string(stored))
				return
			}
			var messages types.AccountPayload
			require.NoError(t, messages.Unmarshal(stored))
			var msg types.MsgScheduleTimer
			require.NoError(t, msg.Unmarshal(messages.Messages[len(messages.Messages)-1].Value))
			require.Equal(t, "0.010700000000000000", msg.Bid.Static.MaxFeePerCycle.String())
		})
	}
}

// TestPricesThatNoTimerCanHave: version 1 stored proposals whose prices were negative or beyond all bounds. An upgrade does not
// fail for them, and what it leaves can be read.
func TestPricesThatNoTimerCanHave(t *testing.T) {
	for _, price := range []string{"-5", "+7", "1" + strings.Repeat("0", 80), "none"} {
		bid := string(message(is(1, string(message(is(1, price))))))
		schedule := anyOf(&types.MsgScheduleTimer{}, message(is(1, "gov"), is(6, 60_000), is(8, bid)))
		update := anyOf(&types.MsgUpdateTimer{}, message(is(1, "gov"), is(5, bid)))
		config := anyOf(&types.MsgUpdateTimerConfig{}, message(is(1, "gov"), is(2, string(message(is(28, price), is(81, "0"))))))
		for _, msg := range []*codectypes.Any{schedule, update, config} {
			changed, err := v2.Message(msg)
			require.NoError(t, err, price)
			require.True(t, changed, price)
		}
		var scheduled types.MsgScheduleTimer
		require.NoError(t, scheduled.Unmarshal(schedule.Value))
		require.Equal(t, types.MsgScheduleTimer{Sender: "gov", GasLimit: 60_000}, scheduled)
		var updated types.MsgUpdateTimer
		require.NoError(t, updated.Unmarshal(update.Value))
		require.Equal(t, types.MsgUpdateTimer{Sender: "gov"}, updated)
		var configured types.MsgUpdateTimerConfig
		require.NoError(t, configured.Unmarshal(config.Value), price)
		require.Equal(t, "gov", configured.Authority)
	}
}

// TestOtherMessagesStay: byte by byte, those with fields that today's types do not know among them.
func TestOtherMessagesStay(t *testing.T) {
	for _, msg := range []*codectypes.Any{
		anyOf(&types.MsgScheduleTimer{}, message(is(1, "gov"), is(8, string(message(is(3, "1"), is(99, "new")))))),
		anyOf(&types.MsgUpdateTimer{}, message(is(1, "gov"), is(4, 7))),
		anyOf(&types.MsgCancelTimer{}, []byte{0xff}),
		anyOf(&authz.MsgExec{}, message(is(1, "gov"), is(99, "new"))),
	} {
		before := bytes.Clone(msg.Value)
		changed, err := v2.Message(msg)
		require.NoError(t, err, msg.TypeUrl)
		require.False(t, changed, msg.TypeUrl)
		require.Equal(t, before, msg.Value, msg.TypeUrl)
	}
}

// TestManyRecords: more than are read at a time.
func TestManyRecords(t *testing.T) {
	const timers = 2_500
	ctx, service := start(t, config())
	kv := service.OpenKVStore(ctx)
	price := decimal.Of(math.LegacyNewDec(20_000_000_000_000_000))
	for seq := range uint64(timers) {
		timer := types.Timer{
			Id: []byte{1}, Actor: fmt.Appendf(nil, "actor %d", seq), Seq: seq, Due: 9,
			Trigger: types.Trigger{Watch: &types.WatchTrigger{Keys: []types.WatchKey{{Store: "bank", Prefix: []byte("key")}}}},
			Bid:     &types.Bid{Static: &types.StaticBid{MaxFeePerCycle: price, MaxPriorityFeePerCycle: price}},
		}
		value, err := timer.Marshal()
		require.NoError(t, err)
		key, err := collections.EncodeKeyWithPrefix(types.PrefixWatching.Bytes(), collections.Uint64Key, seq)
		require.NoError(t, err)
		require.NoError(t, kv.Set(key, value))
		watch, err := collections.EncodeKeyWithPrefix(types.PrefixWatches.Bytes(),
			collections.TripleKeyCodec(collections.StringKey, collections.BytesKey, collections.Uint64Key),
			collections.Join3("bank", []byte("key"), seq))
		require.NoError(t, err)
		require.NoError(t, kv.Set(watch, timer.Actor))
		page, err := collections.EncodeKeyWithPrefix([]byte{6}, collections.PairKeyCodec(sdk.AccAddressKey, collections.Uint16Key),
			collections.Join(sdk.AccAddress(timer.Actor), uint16(0)))
		require.NoError(t, err)
		require.NoError(t, kv.Set(page, message(is(4, fmt.Sprintf("agent %d", seq)))))
	}
	migrate(t, ctx, service)

	count := map[byte]int{}
	entries, err := kv.Iterator(nil, nil)
	require.NoError(t, err)
	defer entries.Close()
	for ; entries.Valid(); entries.Next() {
		region := entries.Key()[0]
		if region == types.PrefixWatching.Bytes()[0] {
			var timer types.Timer
			require.NoError(t, timer.Unmarshal(entries.Value()))
			require.Equal(t, "0.02", timer.Bid.Static.MaxFeePerCycle.Text())
			require.Equal(t, uint64(10_000), timer.CellLimit)
		}
		count[region]++
	}
	require.Equal(t, map[byte]int{
		types.PrefixConfig.Bytes()[0]: 1, types.PrefixWatching.Bytes()[0]: timers,
		types.PrefixWatches.Bytes()[0]: timers, types.PrefixAgents.Bytes()[0]: timers,
	}, count)
}
