package app_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/cosmos/gogoproto/proto"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"cosmossdk.io/math"

	"github.com/cosmos/cosmos-sdk/codec"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// The config of the first format held the parameters of all policies together, and some fields had other names. This file
// converts them, as a migration has to.

// configV1 holds the fields of the config of the first format: where each is today, by its number. Its name was the last
// part of the path, after tip_ for policy tip. Types are the same.
var configV1 = map[protowire.Number]string{
	1: "policy", 2: "fee_denom", 3: "lane_paused", 4: "max_ttl_blocks", 5: "min_gas_limit",
	6: "fire_base_cycles", 7: "max_cycles_per_fire", 8: "max_cells_per_fire", 9: "max_timers_per_actor",
	10: "max_payload_bytes", 11: "lane_timer_cycles", 12: "lane_timer_cells", 13: "gc_cycles_per_block",
	14: "gc_cycles_per_removal", 15: "max_fires_per_block", 16: "max_fires_per_actor", 17: "candidate_window",
	18: "sweep_per_block", 19: "cycle_basefee", 20: "cell_basefee", 21: "schedule_cycles", 22: "cancel_cycles",
	23: "allowed_messages", 24: "denied_messages", 25: "receipt_retention_blocks",
	26: "eip1559.auction_activation_height", 27: "eip1559.max_cycles_per_fire_auction", 28: "eip1559.target",
	29: "eip1559.max_change", 30: "eip1559.min_lane_basefee", 31: "eip1559.basefee_response",
	32: "eip1559.lane_fee_multiplier", 33: "priority_tiers", 34: "fairness_window_blocks", 35: "fairness_unit",
	36: "weight_min", 37: "weight_max", 38: "median_smoothing", 39: "eip1559.bid_deprecation_blocks",
	40: "admissions_per_block", 41: "agent_cycles_per_call", 42: "agent_cycles_per_block", 60: "max_retries",
	70: "max_watch_keys", 71: "max_matched_keys", 72: "max_watch_hits_per_block", 80: "auction.payment_rule",
	81: "auction.reserve_price", 82: "auction.lambda_start", 83: "auction.lambda_min",
	84: "auction.lambda_max", 85: "auction.lambda_step", 86: "auction.auction_window_blocks",
	90: "score.w_age", 91: "score.w_bid", 92: "score.w_fifo", 96: "tip.epoch_blocks", 97: "tip.decay",
	98: "tip.weight_min", 99: "tip.weight_max", 100: "tip.weight_neutral", 101: "tip.starvation_floor",
	102: "tip.starvation_blocks", 103: "tip.inactivity_decay", 104: "tip.share_tip", 105: "tip.share_outcome",
	106: "tip.share_lateness", 107: "tip.share_budget", 108: "tip.late_blocks",
}

// nameV1 is the name that a parameter had.
func nameV1(path string) string {
	params, name, nested := strings.Cut(path, ".")
	switch {
	case !nested:
		return path
	case params == "tip":
		return "tip_" + name
	default:
		return name
	}
}

// configNumbers are the field numbers on a path in today's config.
func configNumbers(t *testing.T, path string) (numbers []protowire.Number) {
	t.Helper()
	message := reflect.TypeFor[types.TimerConfig]()
	for name := range strings.SplitSeq(path, ".") {
		found := false
		for _, property := range proto.GetProperties(message).Prop {
			if property.OrigName == name {
				field, _ := message.FieldByName(property.Name)
				numbers, message, found = append(numbers, protowire.Number(property.Tag)), field.Type, true
				break
			}
		}
		require.True(t, found, "there is no %s in the config", path)
	}
	return numbers
}

// configFromV1 converts a config as it was stored.
func configFromV1(t *testing.T, old []byte) []byte {
	t.Helper()
	var whole []byte
	params := map[protowire.Number][]byte{}
	for len(old) > 0 {
		number, kind, tag := protowire.ConsumeTag(old)
		require.NoError(t, protowire.ParseError(tag))
		size := protowire.ConsumeFieldValue(number, kind, old[tag:])
		require.NoError(t, protowire.ParseError(size))
		value := old[tag : tag+size]
		old = old[tag+size:]
		require.Contains(t, configV1, number)
		switch place := configNumbers(t, configV1[number]); len(place) {
		case 1:
			whole = append(protowire.AppendTag(whole, place[0], kind), value...)
		default:
			params[place[0]] = append(protowire.AppendTag(params[place[0]], place[1], kind), value...)
		}
	}
	for number, message := range params {
		whole = protowire.AppendBytes(protowire.AppendTag(whole, number, protowire.BytesType), message)
	}
	// Fields are in another order now: written again, they are as the module writes them.
	var config types.TimerConfig
	require.NoError(t, config.Unmarshal(whole))
	decimalsFromV1(reflect.ValueOf(&config))
	addedConfig(&config)
	require.NoError(t, config.Validate())
	bz, err := config.Marshal()
	require.NoError(t, err)
	return bz
}

// decimalsFromV1 converts the decimals of a record that was stored: as integers of 18 more digits, which read as plain
// decimals that are so much larger.
func decimalsFromV1(value reflect.Value) {
	if !value.CanInterface() {
		return
	}
	if stored, is := value.Interface().(*decimal.Dec); is {
		if stored.IsNil() {
			return // the first format did not have it
		}
		*stored = decimal.Of(math.LegacyNewDecFromBigIntWithPrec(stored.TruncateInt().BigInt(), math.LegacyPrecision))
		return
	}
	if value.Kind() == reflect.Pointer {
		if !value.IsNil() {
			decimalsFromV1(value.Elem())
		}
		return
	}
	if value.Kind() == reflect.Struct {
		for i := range value.NumField() {
			switch field := value.Field(i); field.Kind() {
			case reflect.Struct:
				decimalsFromV1(field.Addr())
			case reflect.Pointer:
				decimalsFromV1(field)
			}
		}
	}
}

// renamedV1 are the fields that have another name today, by the message that holds them: "lane", or "quote" of a timer.
var renamedV1 = map[string]map[string]string{
	"lane": {
		"head": "head_cursor", "live": "live_cursor", "clean": "sweep_cursor", "aside": "aside_cursor", "admit": "admit_cursor",
	},
	"quote": {"withheld": "cell_priced_out"},
}

// genesisFromV1 converts an exported state: its configs, and the names of fields. The result is what the module exports of
// it today. A field that is unknown today is an error.
func genesisFromV1(t *testing.T, cdc codec.JSONCodec, old []byte) []byte {
	t.Helper()
	var parts map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(old, &parts))
	for _, name := range []string{"config", "next_config"} {
		require.NotNil(t, parts[name], name)
		if string(parts[name]) != "null" {
			parts[name] = configTextFromV1(t, cdc, parts[name])
		}
	}
	parts["lane"] = renameV1(t, "lane", parts["lane"])
	var timers []map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(parts["timers"], &timers))
	for _, timer := range timers {
		if string(timer["quote"]) != "null" {
			timer["quote"] = renameV1(t, "quote", timer["quote"])
		}
	}
	var err error
	parts["timers"], err = json.Marshal(timers)
	require.NoError(t, err)
	renamed, err := json.Marshal(parts)
	require.NoError(t, err)

	var genesis types.GenesisState
	require.NoError(t, cdc.UnmarshalJSON(renamed, &genesis))
	addedRecords(&genesis)
	for i := range genesis.WatchPending {
		pendingFromV1(&genesis.WatchPending[i].Pending)
	}
	return jsonOf(t, cdc, &genesis)
}

// renameV1 gives the fields of a message in JSON their names of today.
func renameV1(t *testing.T, message string, old json.RawMessage) json.RawMessage {
	t.Helper()
	var fields map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(old, &fields))
	for before, after := range renamedV1[message] {
		require.Contains(t, fields, before)
		fields[after] = fields[before]
		delete(fields, before)
	}
	bz, err := json.Marshal(fields)
	require.NoError(t, err)
	return bz
}

// jsonOf is a module's state as an export writes it.
func jsonOf(t *testing.T, cdc codec.JSONCodec, state *types.GenesisState) []byte {
	t.Helper()
	bz, err := cdc.MarshalJSON(state)
	require.NoError(t, err)
	var text bytes.Buffer
	require.NoError(t, json.Indent(&text, bz, "", " "))
	return text.Bytes()
}

// configTextFromV1 converts a config in JSON.
func configTextFromV1(t *testing.T, cdc codec.JSONCodec, old []byte) []byte {
	t.Helper()
	var fields map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(old, &fields))
	whole := map[string]any{}
	for _, path := range configV1 {
		value, found := fields[nameV1(path)]
		require.True(t, found, nameV1(path))
		delete(fields, nameV1(path))
		params, name, nested := strings.Cut(path, ".")
		if !nested {
			whole[path] = value
			continue
		}
		if whole[params] == nil {
			whole[params] = map[string]json.RawMessage{}
		}
		message, is := whole[params].(map[string]json.RawMessage)
		require.True(t, is)
		message[name] = value
	}
	require.Empty(t, fields, "fields that the first format did not have")
	text, err := json.Marshal(whole)
	require.NoError(t, err)
	var config types.TimerConfig
	require.NoError(t, cdc.UnmarshalJSON(text, &config))
	addedConfig(&config)
	require.NoError(t, config.Validate())
	bz, err := cdc.MarshalJSON(&config)
	require.NoError(t, err)
	return bz
}

// proposalsFromV1 converts the configs that proposals of an exported governance state hold.
func proposalsFromV1(t *testing.T, cdc codec.JSONCodec, old []byte) []byte {
	t.Helper()
	var state struct {
		Proposals []struct {
			Messages []struct {
				Type   string          `json:"@type"`
				Config json.RawMessage `json:"config"`
			} `json:"messages"`
		} `json:"proposals"`
	}
	require.NoError(t, json.Unmarshal(old, &state))
	for _, proposal := range state.Proposals {
		for _, msg := range proposal.Messages {
			if msg.Type == sdk.MsgTypeURL(&types.MsgUpdateTimerConfig{}) {
				old = bytes.Replace(old, msg.Config, configTextFromV1(t, cdc, msg.Config), 1)
			}
		}
	}
	return old
}

// TestStateV1ConfigIsConverted: every field has a place of its own, and values are where they belong.
func TestStateV1ConfigIsConverted(t *testing.T) {
	places := map[string]bool{}
	for _, path := range configV1 {
		require.False(t, places[path], "%s is stated twice", path)
		places[path] = true
	}
	genesis := readStateV1(t, "storm").genesis(t, fixtureCodec())
	config := genesis.Config
	require.Equal(t, []uint64{8, 6, 4}, []uint64{uint64(config.CandidateWindow), uint64(config.AdmissionsPerBlock), uint64(config.SweepPerBlock)})
	require.Equal(t, []uint64{20, 20, 5}, []uint64{config.FairnessWindowBlocks, config.ReceiptRetentionBlocks, config.Auction.AuctionWindowBlocks})
	require.Equal(t, []uint64{3, 3, 100}, []uint64{config.Tip.EpochBlocks, config.Tip.StarvationBlocks, config.Tip.LateBlocks})
	require.Equal(t, uint64(220_000), config.Eip1559.MaxCyclesPerFireAuction)
	require.Equal(t, "0.050000000000000000", config.Score.WBid.String())
	require.Equal(t, []uint32{2, 3}, []uint32{config.MaxFiresPerBlock, genesis.NextConfig.MaxFiresPerBlock})
}
