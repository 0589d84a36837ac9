package strict_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/lab/sim/strict"
)

type inner struct {
	Rate float64 `json:"rate"`
}

type outer struct {
	Name   string             `json:"name"`
	Count  uint64             `json:"count"`
	Inner  []inner            `json:"inner"`
	Any    json.RawMessage    `json:"any"`
	Rates  map[string]float64 `json:"rates"`
	Maybe  *int               `json:"maybe"`
	Hidden string
}

func TestDecodeReadsEveryKind(t *testing.T) {
	var got outer
	require.NoError(t, strict.Decode([]byte(
		`{"name": "a", "count": 3, "inner": [{"rate": 0.5}, {}], "any": {"x": [1]}, "rates": {"b": 2}, "maybe": -1}`), &got))
	require.Equal(t, "a", got.Name)
	require.Equal(t, []inner{{0.5}, {}}, got.Inner)
	require.JSONEq(t, `{"x": [1]}`, string(got.Any))
	require.InDelta(t, 2, got.Rates["b"], 0)
	require.Equal(t, -1, *got.Maybe)
}

func TestErrorsNameThePath(t *testing.T) {
	for data, want := range map[string]string{
		``:                                  "not JSON: EOF",
		`{} {}`:                             "text after the end",
		`[]`:                                "want an object, not []",
		`{"names": "a"}`:                    "names: unknown field; known: any, count, inner, maybe, name, rates",
		`{"Hidden": "a"}`:                   "Hidden: unknown field; known: any, count, inner, maybe, name, rates",
		`{"Name": "a"}`:                     "Name: unknown field; known: any, count, inner, maybe, name, rates",
		`{"name": "a", "name": "b"}`:        "name: stated twice",
		`{"name": null}`:                    "name: want a value, not null",
		`{"count": -1}`:                     "count: want a whole number of 0 or more, not -1",
		`{"inner": {}}`:                     "inner: want a list, not {}",
		`{"inner": [{}, {"rate": "much"}]}`: `inner[1].rate: want a number, not "much"`,
		`{"rates": {"b": [], "c": 1}}`:      "rates.b: want a number, not []",
		`{"maybe": 0.5}`:                    "maybe: want a whole number, not 0.5",
	} {
		err := strict.Decode([]byte(data), new(outer))
		require.EqualError(t, err, want, data)
		var input *strict.Error
		require.ErrorAs(t, err, &input)
		require.Equal(t, 2, input.ExitCode())
	}
}
