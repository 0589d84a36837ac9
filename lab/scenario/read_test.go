package scenario_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/lab/scenario"
)

// scenarioWith is a scenario of two accounts and ten blocks, with these ops.
func scenarioWith(ops string) string {
	return `{"accounts": {"alice": "100", "bob": 5}, "blocks": "10", "ops": [` + ops + `]}`
}

const scheduleT1 = `{"at": 2, "op": "schedule", "as": "t1", "actor": "alice", "height": 5}`

// scheduleDo schedules t1 with a handler.
func scheduleDo(do string) string {
	return `{"at": 1, "op": "schedule", "as": "t1", "actor": "alice", "height": 5, "do": ` + do + `}`
}

// scheduleAnd schedules t1 with further fields.
func scheduleAnd(field string) string {
	return `{"at": 1, "op": "schedule", "as": "t1", "actor": "alice", "height": 5, ` + field + `}`
}

// badScenarios are files that must be refused, each with where and why.
var badScenarios = []struct{ name, data, want string }{
	{"empty", ``, "scenario: not JSON"},
	{"two values", `{} {}`, "scenario: not JSON"},
	{"trailing comma", `{"accounts": {},}`, "scenario: not JSON"},
	{"not UTF-8", "{\"accounts\": {\"\xff\": 1}, \"blocks\": 1}", "scenario: not UTF-8"},
	{"not an object", `[]`, "scenario: want an object, not a list"},
	{"null", `null`, "scenario: want an object, not null"},
	{"no accounts", `{"blocks": 1}`, "accounts: missing"},
	{"no blocks", `{"accounts": {}}`, "blocks: missing"},
	{"no block", `{"accounts": {}, "blocks": 0}`, "blocks: want an integer from 1"},
	{"too many blocks", `{"accounts": {}, "blocks": 1000001}`, "blocks: want an integer from 0 to 1000000, not"},
	{"blocks beyond 64 bits", `{"accounts": {}, "blocks": 18446744073709551617}`, "blocks: want an integer"},
	{"fractional blocks", `{"accounts": {}, "blocks": 1.5}`, "blocks: want an integer"},
	{"exponent", `{"accounts": {}, "blocks": 1e2}`, "blocks: want an integer"},
	{"unknown member", `{"accounts": {}, "blocks": 1, "block": 2}`, "block: unknown field; known: accounts, block_seconds, blocks, config, no_headroom, ops, start_time"},
	{"headroom of another kind", `{"accounts": {}, "blocks": 1, "no_headroom": 1}`, "no_headroom: want true or false, not a number"},
	{"other case", `{"Accounts": {}, "accounts": {}, "blocks": 1}`, "Accounts: unknown field"},
	{"stated twice", `{"accounts": {}, "blocks": 1, "blocks": 2}`, "blocks: stated twice"},
	{"account twice", `{"accounts": {"a": 1, "a": 2}, "blocks": 1}`, "accounts.a: stated twice"},
	{"strange name", `{"accounts": {"a b": -1}, "blocks": 1}`, `accounts["a b"]: want a balance`},
	{"empty name", `{"accounts": {"": 1}, "blocks": 1}`, `accounts[""]: want a name`},
	{"negative balance", `{"accounts": {"a": "-1"}, "blocks": 1}`, "accounts.a: want a balance"},
	{"boolean balance", `{"accounts": {"a": true}, "blocks": 1}`, "accounts.a: want an integer, not"},
	{"huge balance", `{"accounts": {"a": "340282366920938463463374607431768211456"}, "blocks": 1}`, "accounts.a: want a balance from 0 to 2^128 - 1"},
	{"signed balance", `{"accounts": {"a": "+1"}, "blocks": 1}`, "accounts.a: want an integer"},
	{"config of another kind", `{"config": [], "accounts": {}, "blocks": 1}`, "config: want an object, not a list"},
	{"null config", `{"config": null, "accounts": {}, "blocks": 1}`, "config: want an object, not null"},
	{"unknown parameter", `{"config": {"lane_cycles": 1}, "accounts": {}, "blocks": 1}`, "config.lane_cycles: unknown field"},
	{"parameter in camel case", `{"config": {"lanePaused": true}, "accounts": {}, "blocks": 1}`, "config.lanePaused: unknown field"},
	{"parameter of another kind", `{"config": {"lane_paused": "yes"}, "accounts": {}, "blocks": 1}`, "config.lane_paused: "},
	{"null parameter", `{"config": {"lane_paused": null}, "accounts": {}, "blocks": 1}`, "config.lane_paused: want a value, not null"},
	{"parameter overflow", `{"config": {"max_timers_per_actor": 4294967296}, "accounts": {}, "blocks": 1}`, "config.max_timers_per_actor: "},
	{"parameter out of bounds", `{"config": {"candidate_window": 0}, "accounts": {}, "blocks": 1}`, "config: candidate_window is 0, want 1 to 65536"},
	{"parameters that clash", `{"config": {"lane_timer_cycles": 5}, "accounts": {}, "blocks": 1}`, "config: max_cycles_per_fire"},
	{"unknown policy", `{"config": {"policy": "lifo"}, "accounts": {}, "blocks": 1}`, "config.policy: want one of auction, eip1559, fifo, score, tip, not \"lifo\""},
	{"policy by its long name", `{"config": {"policy": "POLICY_FIFO"}, "accounts": {}, "blocks": 1}`, "config.policy: want one of"},
	{"policy by number", `{"config": {"policy": 1}, "accounts": {}, "blocks": 1}`, "config.policy: want a name, not a number"},
	{"unknown parameter of a policy", `{"config": {"tip": {"decoy": 1}}, "accounts": {}, "blocks": 1}`, "config.tip.decoy: unknown field"},
	{"parameter of a policy that is not one", `{"config": {"tip": {"decay": true}}, "accounts": {}, "blocks": 1}`, "config.tip.decay: "},
	{"parameters of a policy that are not an object", `{"config": {"tip": 1}, "accounts": {}, "blocks": 1}`, "config.tip: want an object, not a number"},
	{"unknown choice of a policy", `{"config": {"auction": {"payment_rule": "second"}}, "accounts": {}, "blocks": 1}`, "config.auction.payment_rule: want one of first_price, vcg"},
	{"parameter of a policy out of bounds", `{"config": {"tip": {"decay": "2"}}, "accounts": {}, "blocks": 1}`, "config: tip.decay is 2.000000000000000000, want 0"},
	{"bad denom", `{"config": {"fee_denom": "?"}, "accounts": {}, "blocks": 1}`, "config: fee_denom"},

	{"op of another kind", scenarioWith(`7`), "ops[0]: want an op, not a number"},
	{"no kind", scenarioWith(`{"at": 1}`), "ops[0].op: missing"},
	{"unknown kind", scenarioWith(`{"at": 1, "op": "wait"}`), `ops[0].op: unknown op "wait"; known: schedule, cancel`},
	{"no block of an op", scenarioWith(`{"op": "set", "by": "bob", "key": "k"}`), "ops[0].at: missing"},
	{"op before the first block", scenarioWith(`{"at": 0, "op": "set", "by": "bob", "key": "k"}`), "ops[0].at: want a block from 1 to 10"},
	{"op after the last block", scenarioWith(`{"at": 11, "op": "set", "by": "bob", "key": "k"}`), "ops[0].at: want a block from 1 to 10"},
	{"unknown field of an op", scenarioWith(`{"at": 1, "op": "set", "by": "bob", "key": "k", "value": 1}`), "ops[0].value: unknown field; known: at, by, key, op"},
	{"unknown account", scenarioWith(`{"at": 1, "op": "set", "by": "eve", "key": "k"}`), `ops[0].by: there is no account "eve"`},
	{"no name", scenarioWith(`{"at": 1, "op": "schedule", "actor": "alice", "height": 3}`), "ops[0].as: missing"},
	{"name twice", scenarioWith(scheduleT1 + "," + scheduleT1), `ops[1].as: another op schedules a timer "t1"`},
	{"unknown timer", scenarioWith(`{"at": 3, "op": "cancel", "timer": "t1", "by": "alice"}`), `ops[0].timer: no earlier op schedules a timer "t1"`},
	{"timer of a later op", scenarioWith(`{"at": 2, "op": "cancel", "timer": "t1", "by": "alice"},` + scheduleT1), `ops[0].timer: no earlier op`},
	{"timer of a later block", scenarioWith(scheduleT1 + `,{"at": 1, "op": "cancel", "timer": "t1", "by": "alice"}`), `ops[1].timer: no earlier op`},
	{"unknown payer", scenarioWith(scheduleAnd(`"fee_payer": "eve"`)), "ops[0].fee_payer: there is no account"},
	{"gas limit in words", scenarioWith(scheduleAnd(`"gas_limit": "many"`)), `ops[0].gas_limit: want an integer from 0 to 18446744073709551615, not "many"`},
	{"negative gas limit", scenarioWith(scheduleAnd(`"gas_limit": -1`)), `ops[0].gas_limit: want an integer from 0`},
	{"gas limit overflow", scenarioWith(scheduleAnd(`"gas_limit": "18446744073709551616"`)), `ops[0].gas_limit: want an integer`},
	{"list as gas limit", scenarioWith(scheduleAnd(`"gas_limit": []`)), `ops[0].gas_limit: want an integer from 0 to 18446744073709551615, not a list`},
	{"two triggers", scenarioWith(scheduleAnd(`"every": 5`)), "ops[0]: want one of height, after, every, time, calendar and watch"},
	{"no trigger", scenarioWith(`{"at": 1, "op": "schedule", "as": "t1", "actor": "bob"}`), "ops[0]: want one of height, after, every, time, calendar and watch"},
	{"first without every", scenarioWith(scheduleAnd(`"first": 5`)), "ops[0].first: unknown field"},
	{"block_seconds of nothing", `{"accounts": {}, "blocks": 1, "block_seconds": []}`, "block_seconds: want a number, or a list of at least one"},
	{"block_seconds too long", `{"accounts": {}, "blocks": 1, "block_seconds": [5, 4294967297]}`, "block_seconds[1]: want an integer from 0 to 4294967296"},
	{"start before 1970", `{"accounts": {}, "blocks": 1, "start_time": 0}`, "start_time: want seconds from 1 to 68719476736"},
	{"jump to nowhere", scenarioWith(`{"at": 1, "op": "jump"}`), "ops[0].seconds: missing"},
	{"unknown rule", scenarioWith(`{"at": 1, "op": "schedule", "as": "t1", "actor": "bob", "calendar": {"daily": 1}}`), `ops[0].calendar: no calendar: unknown field "daily"`},
	{"unknown missed", scenarioWith(`{"at": 1, "op": "schedule", "as": "t1", "actor": "bob", "every": 2, "missed": "some"}`), `ops[0].missed: want latest or each, not "some"`},
	{"unknown from", scenarioWith(`{"at": 1, "op": "schedule", "as": "t1", "actor": "bob", "every": 2, "from": "start"}`), `ops[0].from: want fire or schedule, not "start"`},
	{"extend to nothing", scenarioWith(`{"at": 1, "op": "extend", "timer": "t1", "by": "bob"}`), "ops[0].expires_at: missing"},
	{"unknown on_failure", scenarioWith(`{"at": 1, "op": "schedule", "as": "t1", "actor": "bob", "every": 2, "on_failure": "retry"}`), `ops[0].on_failure: want roll, stop or suspend`},
	{"on_failure of one shot", scenarioWith(scheduleAnd(`"on_failure": "stop"`)), "ops[0].on_failure: unknown field"},
	{"retry in words", scenarioWith(scheduleAnd(`"retry": "often"`)), "ops[0].retry: want an object, not a string"},
	{"retry without max", scenarioWith(scheduleAnd(`"retry": {"after": 1}`)), "ops[0].retry.max: missing"},
	{"retry without after", scenarioWith(scheduleAnd(`"retry": {"max": 1}`)), "ops[0].retry.after: missing"},
	{"retry overflow", scenarioWith(scheduleAnd(`"retry": {"max": 4294967296, "after": 1}`)), "ops[0].retry.max: want an integer from 0 to 4294967295"},
	{"retry with more", scenarioWith(scheduleAnd(`"retry": {"max": 1, "after": 1, "jitter": 2}`)), "ops[0].retry.jitter: unknown field"},
	{"unknown on_unfunded", scenarioWith(scheduleAnd(`"on_unfunded": "wait"`)), "ops[0].on_unfunded: want destroy, suspend or skip"},
	{"pause of an unknown timer", scenarioWith(`{"at": 1, "op": "pause", "timer": "t1", "by": "alice"}`), `ops[0].timer: no earlier op`},
	{"resume without a name", scenarioWith(scheduleT1 + `,{"at": 3, "op": "resume", "timer": "t1"}`), "ops[1].by: missing"},
	{"watch of nothing", scenarioWith(`{"at": 1, "op": "schedule", "as": "t1", "actor": "bob", "watch": []}`), "ops[0].watch: want at least one key"},
	{"watch of a number", scenarioWith(`{"at": 1, "op": "schedule", "as": "t1", "actor": "bob", "watch": [1]}`), "ops[0].watch[0]: want a key, not a number"},
	{"bid in words", scenarioWith(scheduleAnd(`"bid": "much"`)), `ops[0].bid: want an integer, not "much"`},
	{"bid without priority", scenarioWith(scheduleAnd(`"bid": {"max_fee": "1"}`)), "ops[0].bid.max_priority: missing"},
	{"bid with 19 places", scenarioWith(scheduleAnd(`"bid": {"max_fee": "0.1234567890123456789", "max_priority": 0}`)), "ops[0].bid.max_fee: want a decimal"},
	{"tier in two ways", scenarioWith(scheduleAnd(`"bid": {"tier": "fast", "max_fee": 1}`)), "ops[0].bid.max_fee: unknown field"},
	{"unknown tier", scenarioWith(scheduleAnd(`"bid": {"tier": "unspecified"}`)), "ops[0].bid.tier: want economy, standard, fast or urgent"},
	{"agent without answer", scenarioWith(scheduleAnd(`"bid": {"agent": {"cycles": 1}}`)), "ops[0].bid.agent.max_fee: missing"},

	{"handler of another kind", scenarioWith(scheduleDo(`"fail"`)), "ops[0].do: want an object, not a string"},
	{"unknown field of a handler", scenarioWith(scheduleDo(`{"cycle": 1}`)), "ops[0].do.cycle: unknown field; known: cells, cycles, fail, ops, panic, spend_all"},
	{"two endings", scenarioWith(scheduleDo(`{"fail": true, "panic": true}`)), "ops[0].do: want at most one of"},
	{"numeric ending", scenarioWith(scheduleDo(`{"fail": 1}`)), "ops[0].do.fail: want true or false, not a number"},
	{"too many cells", scenarioWith(scheduleDo(`{"cells": 16777217}`)), "ops[0].do.cells: want an integer from 0 to 16777216"},
	{"handler's op with a block", scenarioWith(scheduleDo(`{"ops": [{"at": 1, "op": "set", "key": "k"}]}`)), "ops[0].do.ops[0].at: unknown field"},
	{"handler as the authority", scenarioWith(scheduleDo(`{"ops": [{"op": "sys_cancel", "timer": "t1"}]}`)), "ops[0].do.ops[0].op: unknown op"},
	{"handler as another", scenarioWith(scheduleDo(`{"ops": [{"op": "set", "key": "k", "by": "bob"}]}`)), `ops[0].do.ops[0].by: a handler acts as its owner "alice"`},
	{"handler of an unknown timer", scenarioWith(scheduleDo(`{"ops": [{"op": "cancel", "timer": "t9"}]}`)), `ops[0].do.ops[0].timer: no op schedules a timer "t9"`},
	{"handlers too deep", scenarioWith(nestedSchedule(20)), "handlers within handlers more than 16 deep"},
	{"change of nothing known", scenarioWith(`{"at": 1, "op": "config", "set": {"speed": 1}}`), "ops[0].set.speed: unknown field"},
	{"change of no kind", scenarioWith(`{"at": 1, "op": "config"}`), "ops[0].set: missing"},
	{"negative amount", scenarioWith(`{"at": 1, "op": "send", "from": "alice", "to": "bob", "amount": -1}`), "ops[0].amount: want an integer from 0"},
	{"boundless amount", scenarioWith(`{"at": 1, "op": "send", "from": "alice", "to": "bob", "amount": 1` + strings.Repeat("0", 200) + `}`), "ops[0].amount: want an integer of at most 128 digits"},
}

// nestedSchedule is a timer whose handler schedules a timer whose handler schedules a timer...
func nestedSchedule(depth int) string {
	op := `{"op": "schedule", "as": "deepest", "height": 5}`
	for i := range depth {
		op = fmt.Sprintf(`{"op": "schedule", "as": "n%d", "height": 5, "do": {"ops": [%s]}}`, i, op)
	}
	return `{"at": 1, "op": "schedule", "as": "top", "actor": "bob", "height": 5, "do": {"ops": [` + op + `]}}`
}

func TestBadScenariosAreRefusedWithTheirPath(t *testing.T) {
	for _, tc := range badScenarios {
		t.Run(tc.name, func(t *testing.T) {
			_, err := scenario.Parse([]byte(tc.data))
			require.ErrorContains(t, err, tc.want)
			require.True(t, strings.HasPrefix(err.Error(), tc.want) || strings.HasPrefix(tc.want, "handlers"), err.Error())
			var input *scenario.InputError
			require.ErrorAs(t, err, &input)
			require.Equal(t, 2, input.ExitCode())
		})
	}
}

func TestIntegersMayBeNumbersOrStrings(t *testing.T) {
	numbers, err := scenario.Parse([]byte(`{"config": {"lane_timer_cycles": 700000}, "accounts": {"a": 7}, "blocks": 3,
		"ops": [{"at": 1, "op": "schedule", "as": "t", "actor": "a", "height": 2, "gas_limit": 50000, "bid": 9}]}`))
	require.NoError(t, err)
	texts, err := scenario.Parse([]byte(`{"config": {"lane_timer_cycles": "700000"}, "accounts": {"a": "7"}, "blocks": "3",
		"ops": [{"at": "1", "op": "schedule", "as": "t", "actor": "a", "height": "2", "gas_limit": "50000", "bid": "9"}]}`))
	require.NoError(t, err)
	require.Equal(t, numbers, texts)
	require.Equal(t, uint64(700_000), numbers.Config.LaneTimerCycles)
	require.Equal(t, "utmr", numbers.Config.FeeDenom)
}

func TestOpsRunByBlockAndThenInFileOrder(t *testing.T) {
	s, err := scenario.Parse([]byte(scenarioWith(
		`{"at": 4, "op": "cancel", "timer": "t1", "by": "alice"},` + scheduleT1 +
			`,{"at": 1, "op": "set", "by": "bob", "key": "k"},{"at": 4, "op": "set", "by": "bob", "key": "k"}`)))
	require.NoError(t, err)
	require.Equal(t, []int{2, 1, 0, 3}, s.Order())
}

func TestHandlersMayNameTimersOfLaterOps(t *testing.T) {
	_, err := scenario.Parse([]byte(scenarioWith(scheduleDo(`{"ops": [{"op": "cancel", "timer": "t2"}]}`) +
		`,{"at": 1, "op": "schedule", "as": "t2", "actor": "alice", "height": 6}`)))
	require.NoError(t, err)
}

// TestIntegersAreDecimal whatever they begin with: a bid of 0700 is not one of 448.
func TestIntegersAreDecimal(t *testing.T) {
	s, err := scenario.Parse([]byte(`{"accounts": {"alice": "0700"}, "blocks": 1, "ops": [
		{"at": 1, "op": "schedule", "as": "t", "actor": "alice", "height": 2, "bid": "089"}]}`))
	require.NoError(t, err)
	require.Equal(t, "700", s.Accounts[0].Balance.String())
	require.Equal(t, "89", s.Ops[0].Bid.Price)
	for _, text := range []string{"0x10", "1_000", "0b1", "0o7", "+1"} {
		_, err := scenario.Parse([]byte(`{"accounts": {"alice": "` + text + `"}, "blocks": 1}`))
		require.ErrorContains(t, err, "want an integer", text)
	}
}

// FuzzParse: no input makes the parser panic, and what it accepts makes a chain.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("..", "testdata", "scenarios", "*.json"))
	require.NoError(f, err)
	require.NotEmpty(f, files)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(data)
	}
	for _, tc := range badScenarios {
		f.Add([]byte(tc.data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := scenario.Parse(data)
		if err != nil {
			var input *scenario.InputError
			require.ErrorAs(t, err, &input)
			require.NotEmpty(t, input.Reason)
			require.Nil(t, s)
			return
		}
		require.NoError(t, s.Config.Validate())
		require.LessOrEqual(t, len(s.Ops), scenario.MaxOps)
		for _, i := range s.Order() {
			op := &s.Ops[i]
			require.True(t, op.At >= 1 && op.At <= s.Blocks)
		}
		again, err := scenario.Parse(data)
		require.NoError(t, err)
		require.Equal(t, s, again)
	})
}
