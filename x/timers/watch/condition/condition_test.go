package condition_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cosmos-timers/timers/x/timers/watch/condition"
)

// Rule: 1.10-value-number
func TestNumber(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "-0": "0", "7": "7", "-7": "-7", "1000000": "1000000", "1.50": "1.5", "-1.0": "-1", "0.0": "0", "-0.000": "0",
		"0.001":                        "0.001",
		strings.Repeat("9", 78):        strings.Repeat("9", 78),
		"1." + strings.Repeat("3", 77): "1." + strings.Repeat("3", 77),
	} {
		got, ok := condition.Number(text)
		require.True(t, ok, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{
		"", "-", ".", "1.", ".5", "+1", "01", "-01", "00", "1e3", "1E3", "1_000", "1,000", " 1", "1 ", "0x10", "--1", "1.2.3", "NaN", "Infinity",
		"٣", strings.Repeat("9", 79), "1." + strings.Repeat("3", 78),
	} {
		_, ok := condition.Number(text)
		require.False(t, ok, text)
	}
}

// Rule: 1.10-value-reading
func TestJSONNumber(t *testing.T) {
	for text, want := range map[string]string{"12": "12", `"12"`: "12", `"-0.50"`: "-0.5", `"` + strings.Repeat("1", 78) + `"`: strings.Repeat("1", 78)} {
		got, ok := condition.JSONNumber([]byte(text))
		require.True(t, ok, text)
		require.Equal(t, want, got)
	}
	for _, text := range []string{"", `"`, `""`, `"12`, `12"`, `""12""`, `"1e2"`, "1e2", "null", "true", `{"a":1}`, "[1]", `"twelve"`, " 12", strings.Repeat("1", 257)} {
		_, ok := condition.JSONNumber([]byte(text))
		require.False(t, ok, text)
	}
	_, ok := condition.JSONNumber(nil)
	require.False(t, ok)
}

// TestJSONNumbersAreThoseOfJSON: what is read as a number is one to encoding/json too, with the same value.
func TestJSONNumbersAreThoseOfJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`"?-?[0-9]{0,4}(\.[0-9]{0,3})?[eE ]?[0-9]?"?`).Draw(t, "text")
		number, ok := condition.JSONNumber([]byte(text))
		if !ok {
			return
		}
		var parsed json.Number
		require.NoError(t, json.Unmarshal([]byte(text), &parsed), text)
		want, _ := new(big.Rat).SetString(parsed.String())
		got, _ := new(big.Rat).SetString(number)
		require.Zero(t, want.Cmp(got), "%s is %s", text, number)
		again, ok := condition.Number(number)
		require.True(t, ok)
		require.Equal(t, number, again, "the shortest form is its own")
	})
}

// Rule: 1.10-value-length, 1.10-value-bytes, 1.10-text-has-no-order
func TestParse(t *testing.T) {
	for name, c := range map[string]struct {
		op     condition.Op
		value  string
		domain condition.Domain
	}{
		"exists":            {condition.Exists, "", condition.Presence},
		"absent":            {condition.Absent, "", condition.Presence},
		"a number":          {condition.Less, "-12.50", condition.Numbers},
		"an equal number":   {condition.Equal, "0", condition.Numbers},
		"text":              {condition.Equal, "open", condition.Bytes},
		"what is no number": {condition.Equal, "1e6", condition.Bytes},
		"ordered bytes":     {condition.GreaterOrEqual, "0x00ff", condition.Bytes},
		"no bytes":          {condition.Equal, "0x", condition.Bytes},
		"64 digits":         {condition.Greater, strings.Repeat("9", 64), condition.Numbers},
		"64 letters":        {condition.Equal, strings.Repeat("z", 64), condition.Bytes},
		"64 bytes in hex":   {condition.Equal, "0x" + strings.Repeat("00", 64), condition.Bytes},
	} {
		place, err := condition.Parse(c.op, c.value)
		require.NoError(t, err, name)
		require.Equal(t, c.domain, condition.DomainOf(place), name)
		require.LessOrEqual(t, condition.ListOf(place), condition.Lists)
	}
	for name, c := range map[string]struct {
		op    condition.Op
		value string
		says  string
	}{
		"no op":                 {0, "1", "unknown op 0"},
		"an op that is unknown": {8, "1", "unknown op 8"},
		"exists with a value":   {condition.Exists, "1", "compares with nothing"},
		"no value":              {condition.Less, "", "which is empty"},
		"text has no order":     {condition.Less, "1e6", "orders numbers"},
		"half a byte":           {condition.Equal, "0xf", "odd length"},
		"65 digits":             {condition.Less, strings.Repeat("9", 65), "65 bytes, want at most 64"},
		"65 letters":            {condition.Equal, strings.Repeat("z", 65), "65 bytes, want at most 64"},
		"65 bytes in hex":       {condition.Equal, "0x" + strings.Repeat("00", 65), "want at most 64"},
		"65 ordered bytes":      {condition.Less, "0x" + strings.Repeat("00", 65), "orders numbers"},
	} {
		_, err := condition.Parse(c.op, c.value)
		require.ErrorContains(t, err, c.says, name)
	}
}

func TestParseText(t *testing.T) {
	for text, want := range map[string]string{
		"< 1000000": "< 1000000", "<1000000": "< 1000000", "<=5": "<= 5", " >  -2.5 ": "> -2.5", ">=0": ">= 0", "==open": "== open", "exists": "exists ", " absent ": "absent ",
	} {
		op, value, err := condition.ParseText(text)
		require.NoError(t, err, text)
		require.Equal(t, want, op.String()+" "+value)
	}
	for _, text := range []string{"", "=5", "5", "<", "exists 1", "!= 5", "<> 5", "< a", "is 5"} {
		_, _, err := condition.ParseText(text)
		require.Error(t, err, text)
	}
}

// holds is what a condition means, said in the plainest way.
func holds(op condition.Op, value string, v condition.Value, raw []byte) bool {
	if op == condition.Exists || op == condition.Absent {
		return v.Exists == (op == condition.Exists)
	}
	var sign int
	if number, is := condition.Number(value); is {
		if v.Number == "" {
			return false
		}
		mine, _ := new(big.Rat).SetString(v.Number)
		other, _ := new(big.Rat).SetString(number)
		sign = mine.Cmp(other)
	} else {
		if !v.Exists {
			return false
		}
		other := []byte(value)
		if digits, isHex := strings.CutPrefix(value, "0x"); isHex {
			other, _ = hex.DecodeString(digits)
		}
		sign = bytes.Compare(raw, other)
	}
	switch op {
	case condition.Equal:
		return sign == 0
	case condition.Less:
		return sign < 0
	case condition.LessOrEqual:
		return sign <= 0
	case condition.Greater:
		return sign > 0
	default:
		return sign >= 0
	}
}

// drawValue draws the value of a key, and its bytes.
func drawValue(t *rapid.T, label string) (condition.Value, []byte) {
	var raw []byte
	switch rapid.IntRange(0, 5).Draw(t, label+" kind") {
	case 0:
		return condition.Value{}, nil
	case 1:
		raw = rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 254, 255, 'a'}), 0, 5).Draw(t, label)
	case 2:
		raw = append(bytes.Repeat([]byte{'z'}, 63), rapid.SliceOfN(rapid.SampledFrom([]byte{0, 'z'}), 0, 5).Draw(t, label)...)
	default:
		raw = []byte(drawNumber(t, label))
	}
	v := condition.Value{Exists: true, Bytes: raw[:min(len(raw), condition.KeptBytes)]}
	v.Number, _ = condition.JSONNumber(raw)
	return v, raw
}

func drawNumber(t *rapid.T, label string) string {
	return rapid.OneOf(
		rapid.StringMatching(`-?(0|[1-9][0-9]{0,2})(\.[0-9]{1,2})?`), rapid.StringMatching(`-?[1-9]{1,40}`),
		rapid.SampledFrom([]string{"0", "1", "-1", "9", "10", "99", "100", "-9", "-10", "0.5", "-0.5"}),
	).Draw(t, label)
}

func drawCondition(t *rapid.T) (condition.Op, string) {
	op := condition.Op(rapid.IntRange(1, 7).Draw(t, "op"))
	switch {
	case op <= condition.Absent:
		return op, ""
	case rapid.IntRange(0, 2).Draw(t, "domain") > 0:
		return op, drawNumber(t, "threshold")
	case rapid.Bool().Draw(t, "long"):
		return op, "0x" + hex.EncodeToString(bytes.Repeat([]byte{'z'}, rapid.IntRange(62, 64).Draw(t, "length")))
	default:
		return op, fmt.Sprintf("0x%x", rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 254, 255, 'a'}), 0, 4).Draw(t, "bytes"))
	}
}

// TestPlacesAreConditions: a place says of a value what the condition says, and is in a range of a change exactly if the
// change makes the condition true.
//
// Rule: 1.10-value-number, 1.10-value-bytes, 1.10-bytes-order, 1.10-absent-key, 1.10-condition-order
func TestPlacesAreConditions(t *testing.T) {
	rapid.Check(t, checkPlace)
}

func FuzzPlaces(f *testing.F) { f.Fuzz(rapid.MakeFuzz(checkPlace)) }

func checkPlace(t *rapid.T) {
	op, value := drawCondition(t)
	place, err := condition.Parse(op, value)
	require.NoError(t, err)
	before, rawBefore := drawValue(t, "before")
	after, rawAfter := drawValue(t, "after")
	was, is := holds(op, value, before, rawBefore), holds(op, value, after, rawAfter)
	require.Equal(t, was, condition.Holds(place, before), "%s %s of %q", op, value, rawBefore)
	require.Equal(t, is, condition.Holds(place, after), "%s %s of %q", op, value, rawAfter)
	// A place is followed by the number of a timer.
	key, in := append(bytes.Clone(place), 0, 0, 0, 0, 0, 0, 1, 200), 0
	ranges := condition.Crossed(before, after)
	for i, r := range ranges {
		require.Negative(t, bytes.Compare(r.From, r.To), "a range has an order")
		require.Equal(t, r.From[0], byte(condition.ListOf(r.From)))
		if i > 0 {
			require.Positive(t, bytes.Compare(r.From, ranges[i-1].From), "lists ascend")
		}
		if bytes.Compare(key, r.From) >= 0 && bytes.Compare(key, r.To) < 0 {
			in++
		}
	}
	require.LessOrEqual(t, in, 1)
	require.Equal(t, !was && is, in == 1, "%s %s from %q to %q", op, value, rawBefore, rawAfter)
}

func BenchmarkCrossed(b *testing.B) {
	b.ReportAllocs()
	for range b.N {
		condition.Crossed(condition.Value{Exists: true, Number: "1000000"}, condition.Value{Exists: true, Number: "999999"})
	}
}
