package scenario

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/cosmos/gogoproto/jsonpb"
	"github.com/cosmos/gogoproto/proto"
	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// withConfig is a scenario that states these members of the config.
func withConfig(members string) []byte {
	return []byte(`{"config": {` + members + `}, "accounts": {}, "blocks": 1}`)
}

// changeOf reads a change of any message.
func changeOf(s *schema, text string) (ConfigChange, error) {
	r := &reader{}
	change := readChange(value{r: r, path: "config", raw: json.RawMessage(text)}, s, nil)
	return change, r.err
}

func TestShorthandIsTheNestedField(t *testing.T) {
	want := types.DefaultTimerConfig(defaultFeeDenom)
	want.PriorityTiers.Fast = decimal.Of(math.LegacyMustNewDecFromStr("3.25"))
	want.PriorityTiers.Urgent = decimal.Of(math.LegacyNewDec(77))
	want.CandidateWindow = 9
	for _, members := range []string{
		`"priority_tiers": {"fast": "3.25", "urgent": "77"}, "candidate_window": 9`,
		`"fast": "3.25", "candidate_window": 9, "urgent": "77"`,
		`"urgent": "77", "priority_tiers": {"fast": "3.25"}, "candidate_window": "9"`,
	} {
		s, err := Parse(withConfig(members))
		require.NoError(t, err, members)
		require.Equal(t, want, s.Config, members)
	}
}

// TestEveryValueOfAnEnumHasItsShortName, zero included where it is a value.
func TestEveryValueOfAnEnumHasItsShortName(t *testing.T) {
	for member, want := range map[string]string{
		`"fairness_unit": "actor"`: "", `"policy": "tip"`: "",
		`"policy": "TIP"`:         "config.policy: want one of auction, eip1559, fifo, score, tip, not \"TIP\"",
		`"policy": "unspecified"`: "config.policy: want one of auction, eip1559, fifo, score, tip, not \"unspecified\"",
	} {
		_, err := Parse(withConfig(member))
		if want == "" {
			require.NoError(t, err, member)
		} else {
			require.EqualError(t, err, want, member)
		}
	}
}

// TestShorthandOfEveryNestedField: each field of each message in the config reads the same in both forms, unless the
// flat form means something else.
func TestShorthandOfEveryNestedField(t *testing.T) {
	defaults := types.DefaultTimerConfig(defaultFeeDenom)
	tried := 0
	for holder, outer := range configSchema.fields {
		if outer.nested == nil {
			continue
		}
		for name, text := range shortJSON(t, &defaults, holder, outer) {
			nested, err := changeOf(configSchema, fmt.Sprintf(`{%q: {%q: %s}}`, holder, name, text))
			require.NoError(t, err, "%s.%s", holder, name)
			require.Len(t, nested, 1)
			flat, err := changeOf(configSchema, fmt.Sprintf(`{%q: %s}`, name, text))
			if _, own := configSchema.fields[name]; own {
				continue
			}
			tried++
			if len(configSchema.places(name)) > 1 {
				require.ErrorContains(t, err, "config."+name+": ambiguous")
				continue
			}
			require.NoError(t, err, name)
			require.Len(t, flat, 1)
			require.Equal(t, "config."+name, flat[0].path)
			require.Equal(t, "config."+holder+"."+name, nested[0].path)
			flat[0].path = nested[0].path
			require.Equal(t, nested, flat)

			prefixed, err := changeOf(configSchema, fmt.Sprintf(`{%q: %s}`, holder+"_"+name, text))
			require.NoError(t, err, name)
			prefixed[0].path = nested[0].path
			require.Equal(t, nested, prefixed)
		}
	}
	require.NotZero(t, tried)
}

// shortJSON returns the fields of a nested message of the config as JSON, enum values by their short names.
func shortJSON(t *testing.T, config *types.TimerConfig, holder string, outer schemaField) map[string]string {
	t.Helper()
	marshaler, nested := jsonpb.Marshaler{OrigName: true, EmitDefaults: true}, outer.nested
	var raw map[string]json.RawMessage
	if outer.policy != nil {
		text, err := marshaler.MarshalToString(outer.policy.Defaults())
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal([]byte(text), &raw))
	} else {
		text, err := marshaler.MarshalToString(config)
		require.NoError(t, err)
		var all map[string]json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(text), &all))
		require.NoError(t, json.Unmarshal(all[holder], &raw))
	}
	require.Len(t, raw, len(nested.fields))
	fields := map[string]string{}
	for name, value := range raw {
		fields[name] = string(value)
		for long, number := range proto.EnumValueMap(nested.fields[name].enum) {
			if prefix, zero := strings.CutSuffix(long, "UNSPECIFIED"); zero && number == 0 {
				fields[name] = strings.ToLower(strings.Replace(string(value), prefix, "", 1))
			}
		}
	}
	return fields
}

func TestBadNestedFieldsAreRefusedWithTheirPath(t *testing.T) {
	for members, want := range map[string]string{
		`"priority_tiers": {"slow": "1"}`:                   "config.priority_tiers.slow: unknown field; known: economy, fast, standard, urgent",
		`"slow": "1"`:                                       "config.slow: unknown field; known: ",
		`"priority_tiers": 7`:                               "config.priority_tiers: want an object, not a number",
		`"priority_tiers": {"fast": null}`:                  "config.priority_tiers.fast: want a value, not null",
		`"priority_tiers": {"fast": {}}`:                    "config.priority_tiers.fast: ",
		`"priority_tiers": {"fast": "1", "fast": "2"}`:      "config.priority_tiers.fast: stated twice",
		`"fast": "quick"`:                                   "config.fast: ",
		`"fast": null`:                                      "config.fast: want a value, not null",
		`"fast": "1", "fast": "2"`:                          "config.fast: stated twice",
		`"fast": "1", "priority_tiers": {"fast": "1"}`:      "config.priority_tiers.fast: stated twice, first as config.fast",
		`"priority_tiers": {"fast": "1"}, "fast": "1"`:      "config.fast: stated twice, first as config.priority_tiers.fast",
		`"priority_tiers": {"candidate_window": 9}`:         "config.priority_tiers.candidate_window: unknown field",
		`"priority_tiers": {"priority_tiers": {"fast": 1}}`: "config.priority_tiers.priority_tiers: unknown field",
		`"urgent": "0.1"`:                                   "config: priority_tiers must not fall from economy over standard and fast to urgent: invalid timer config",
	} {
		_, err := Parse(withConfig(members))
		require.ErrorContains(t, err, want, members)
		require.Equal(t, want, err.Error()[:len(want)], members)
		require.NotContains(t, err.Error(), ".go:", members)
	}
}

// TestShorthandNamesExactlyOneMessage on a trigger, whose nested messages share a field.
func TestShorthandNamesExactlyOneMessage(t *testing.T) {
	s := schemaOf(reflect.TypeFor[types.Trigger]())
	for text, want := range map[string]types.Trigger{
		`{"first": "5"}`: {Interval: &types.IntervalTrigger{First: 5}},
		`{"first": "5", "interval": {"every": "2"}}`: {Interval: &types.IntervalTrigger{First: 5, Every: 2}},
		`{"interval": {"from": "fire"}}`:             {Interval: &types.IntervalTrigger{From: types.FromFire}},
		`{"from": "schedule", "height": 3}`:          {Height: 3, Interval: &types.IntervalTrigger{From: types.FromSchedule}},
	} {
		change, err := changeOf(s, text)
		require.NoError(t, err, text)
		var got types.Trigger
		require.NoError(t, change.apply(&got))
		require.Equal(t, want, got, text)
	}
	_, err := changeOf(s, `{"first": "5", "every": 1}`)
	require.EqualError(t, err, "config.every: ambiguous: a field of calendar, interval; state it in one of them")
	_, err = changeOf(s, `{"interval": {"from": "later"}}`)
	require.ErrorContains(t, err, "config.interval.from: want one of fire, schedule")
}

// TestConfig_TakesConstantsAsTheyAre: files of before these numbers were constants state some. With its value one changes nothing
// and is noted; with another the file is refused, in the config and in an op that changes it.
func TestConfig_TakesConstantsAsTheyAre(t *testing.T) {
	plain, err := Parse(withConfig(""))
	require.NoError(t, err)
	require.Empty(t, plain.Notes)
	require.Len(t, constants, 10)
	for name, value := range constants {
		for _, stated := range []string{fmt.Sprint(value), fmt.Sprintf("%q", fmt.Sprint(value))} {
			s, err := Parse(withConfig(fmt.Sprintf("%q: %s", name, stated)))
			require.NoError(t, err)
			require.Equal(t, plain.Config, s.Config)
			require.Equal(t, []string{"config." + name + ": it is no parameter any more, but a constant, and may be left out"}, s.Notes)
		}
		for _, stated := range []string{fmt.Sprint(value + 1), `"x"`, "null", "-1", "{}", `""`} {
			_, err := Parse(withConfig(fmt.Sprintf("%q: %s", name, stated)))
			require.EqualError(t, err, fmt.Sprintf("config.%s: it is no parameter any more, but a constant, %d: leave it out", name, value))
		}
	}
	change := `{"accounts": {}, "blocks": 1, "ops": [{"at": 1, "op": "config", "set": {"lapse_cycles": %s, "lane_paused": true}}]}`
	s, err := Parse(fmt.Appendf(nil, change, "6000"))
	require.NoError(t, err)
	require.Len(t, s.Notes, 1)
	require.Len(t, s.Ops[0].Set, 1)
	_, err = Parse(fmt.Appendf(nil, change, "0"))
	require.ErrorContains(t, err, "set.lapse_cycles: it is no parameter any more, but a constant, 6000: leave it out")
	_, err = Parse(withConfig(`"priority_tiers": {"lapse_cycles": "6000"}`))
	require.ErrorContains(t, err, "config.priority_tiers.lapse_cycles: unknown field; known: economy, fast, standard, urgent")
}
