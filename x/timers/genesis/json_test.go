package genesis_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"

	"github.com/cosmos-timers/timers/x/timers/genesis"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// jsonValue draws any JSON value, with white space and with strings that look like structure.
func jsonValue(depth int) *rapid.Generator[string] {
	space := rapid.SampledFrom([]string{"", "", " ", "\n\t", "\r\n  "})
	text := rapid.Custom(func(t *rapid.T) string {
		raw, _ := json.Marshal(rapid.StringOf(rapid.RuneFrom([]rune("a\\\"{}[],: \n\u2028é"))).Draw(t, "text"))
		return string(raw)
	})
	leaf := rapid.OneOf(text, rapid.SampledFrom([]string{"0", "-1.5e3", "true", "false", "null", "[]", "{}"}))
	if depth == 0 {
		return leaf
	}
	return rapid.Custom(func(t *rapid.T) string {
		kind := rapid.IntRange(0, 2).Draw(t, "kind")
		if kind == 0 {
			return leaf.Draw(t, "leaf")
		}
		parts := make([]string, rapid.IntRange(0, 3).Draw(t, "size"))
		for i := range parts {
			value := space.Draw(t, "space") + jsonValue(depth-1).Draw(t, "value") + space.Draw(t, "space")
			if kind == 2 {
				value = space.Draw(t, "space") + text.Draw(t, "name") + space.Draw(t, "space") + ":" + value
			}
			parts[i] = value
		}
		if kind == 1 {
			return "[" + space.Draw(t, "space") + strings.Join(parts, ",") + "]"
		}
		return "{" + space.Draw(t, "space") + strings.Join(parts, ",") + "}"
	})
}

// Fields against the standard library's decoder.
func TestFieldsAreThoseOfTheObject(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := []byte(rapid.SampledFrom([]string{"", " "}).Draw(t, "space") + jsonValue(3).Draw(t, "value"))
		requireSameFields(t, raw)
	})
}

func requireSameFields(t require.TestingT, raw []byte) {
	var want map[string]json.RawMessage
	wantErr := json.Unmarshal(raw, &want)
	got, err := genesis.Fields(raw)
	if wantErr != nil || want == nil {
		require.Error(t, err, "%s", raw)
		return
	}
	require.NoError(t, err, "%s", raw)
	require.Equal(t, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got)))
	for name := range want {
		require.Equal(t, string(want[name]), string(got[name]), "%s of %s", name, raw)
	}
}

func FuzzFields(f *testing.F) {
	for _, raw := range []string{``, ` `, `{`, `{}`, `[]`, `null`, `{"a":1,"a":[2]}`, `{"\u0061" : "}\"" , "b":{"c":[{}]}}`, `{"a":1}x`} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) { requireSameFields(t, raw) })
}

// A file of another tool may state its members in any order, under protobuf's other names, twice and spread out.
func TestGenesisInAnotherForm(t *testing.T) {
	cdc := testCodec()
	want := cdc.MustMarshalJSON(fullGenesis())
	fields, err := genesis.Fields(want)
	require.NoError(t, err)
	var raw strings.Builder
	raw.WriteString(`{ "watch_hits": [ {"seq":"77"} ], "timers": null`)
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(fields))) {
		value := fields[name]
		if before, after, found := strings.Cut(name, "_"); found {
			name = before + strings.ToUpper(after[:1]) + after[1:]
		}
		var spread bytes.Buffer
		require.NoError(t, json.Indent(&spread, value, "\r", "\t"))
		raw.WriteString(" ,\n\"" + name + "\" : " + spread.String())
	}
	source, err := genesis.FromJSON(cdc, json.RawMessage(raw.String()+"}"))
	require.NoError(t, err)
	got, err := source.Collect()
	require.NoError(t, err)
	require.Equal(t, string(want), string(cdc.MustMarshalJSON(got)))
}

// Rule: 2.1-error-names-record
func TestAnErrorNamesTheRecord(t *testing.T) {
	cdc := testCodec()
	for list, want := range map[string]string{
		"timers": "timers 1: ", "receipts": "receipts 1: ", "fairness": "fairness 1: ", "watch_hits": "watch_hits 1: ",
		"watch_pending": "watch_pending 1: ", "watch_rounds": "watch_rounds 1: ",
		"watch_values": "watch_values 1: ", "watch_segments": "watch_segments 1: ", "watch_changed": "watch_changed 1: ", "watch_tombstones": "watch_tombstones 1: ",
		"watch_counts": "watch_counts 1: ", "watch_notes": "watch_notes 1: ", "ready": "ready 1: ", "policies": "policies 0: ",
	} {
		raw := `{"` + list + `":[{},{"a":1}]}`
		source, err := genesis.FromJSON(cdc, json.RawMessage(raw))
		if err == nil {
			_, err = source.Collect()
		}
		require.ErrorIs(t, err, types.ErrInvalidGenesis, list)
		require.ErrorContains(t, err, want)
	}
	_, err := genesis.FromJSON(cdc, json.RawMessage(`{"timers":{}}`))
	require.ErrorIs(t, err, types.ErrInvalidGenesis)
	_, err = genesis.FromJSON(cdc, json.RawMessage(`{"other":[]}`))
	require.ErrorContains(t, err, "other")
}

// Every list of the state is read and written record by record: a new one must be added.
//
// Rule: 2.1-memory
func TestEveryListIsStreamed(t *testing.T) {
	cdc, g := testCodec(), fullGenesis()
	if len(g.Policies) == 0 {
		g.Policies = []*codectypes.Any{nil}
	}
	state, lists := reflect.ValueOf(g).Elem(), 0
	for i := range state.NumField() {
		field := state.Type().Field(i)
		if field.Type.Kind() != reflect.Slice {
			continue
		}
		lists++
		require.Positive(t, state.Field(i).Len(), "%s of the example", field.Name)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		_, err := genesis.FromJSON(cdc, json.RawMessage(`{"`+name+`":[{"a":1}]}`))
		if name != "timers" {
			require.ErrorContains(t, err, name+" 0: ")
		}
	}
	require.Equal(t, 14, lists)
}

type failing struct{ left int }

func (f *failing) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errors.New("the disk is full")
	}
	return len(p), nil
}

// A file that can't be written whole is an error wherever it ends.
func TestWritingReportsEveryFailure(t *testing.T) {
	cdc := testCodec()
	whole := len(cdc.MustMarshalJSON(fullGenesis()))
	for limit := 0; limit < whole; limit += 17 {
		require.ErrorContains(t, genesis.Write(&failing{limit}, cdc, genesis.FromState(fullGenesis())), "the disk is full")
	}
}
