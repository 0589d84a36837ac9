package app_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/cosmos/gogoproto/proto"
	"github.com/stretchr/testify/require"

	"github.com/cosmos/cosmos-sdk/codec"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// The config of the first format held the parameters of all policies together, and some fields had other names. This file
// converts exported states, apart from the migration of the store, which must come to the same.

// configV1 says where each field of the config of the first format is today. Its name was the last part of the path, after
// tip_ for policy tip. Types are the same.
var configV1 = []string{
	"policy", "fee_denom", "lane_paused", "max_ttl_blocks", "min_gas_limit",
	"fire_base_cycles", "max_cycles_per_fire", "max_cells_per_fire", "max_timers_per_actor",
	"max_payload_bytes", "lane_timer_cycles", "lane_timer_cells", "gc_cycles_per_block",
	"gc_cycles_per_removal", "max_fires_per_block", "max_fires_per_actor", "candidate_window",
	"sweep_per_block", "cycle_basefee", "cell_basefee", "schedule_cycles", "cancel_cycles",
	"allowed_messages", "denied_messages", "receipt_retention_blocks",
	"eip1559.auction_activation_height", "eip1559.max_cycles_per_fire_auction", "eip1559.target",
	"eip1559.max_change", "eip1559.min_lane_basefee", "eip1559.basefee_response",
	"eip1559.lane_fee_multiplier", "priority_tiers", "fairness_window_blocks", "fairness_unit",
	"weight_min", "weight_max", "median_smoothing", "eip1559.bid_deprecation_blocks",
	"admissions_per_block", "agent_cycles_per_call", "agent_cycles_per_block", "max_retries",
	"max_watch_keys", "max_matched_keys", "max_watch_hits_per_block", "auction.payment_rule",
	"auction.reserve_price", "auction.lambda_start", "auction.lambda_min",
	"auction.lambda_max", "auction.lambda_step", "auction.auction_window_blocks",
	"score.w_age", "score.w_bid", "score.w_fifo", "tip.epoch_blocks", "tip.decay",
	"tip.weight_min", "tip.weight_max", "tip.weight_neutral", "tip.starvation_floor",
	"tip.starvation_blocks", "tip.inactivity_decay", "tip.share_tip", "tip.share_outcome",
	"tip.share_lateness", "tip.share_budget", "tip.late_blocks",
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

// jsonOf is a message, as a module's state, as an export writes it.
func jsonOf(t *testing.T, cdc codec.JSONCodec, message proto.Message) []byte {
	t.Helper()
	bz, err := cdc.MarshalJSON(message)
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
