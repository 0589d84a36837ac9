package envelope_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cosmos-timers/timers/x/timers/envelope"
)

// field is a length-delimited field of a protobuf message.
func field(number uint64, content []byte) []byte {
	out := binary.AppendUvarint(nil, number<<3|2)
	out = binary.AppendUvarint(out, uint64(len(content)))
	return append(out, content...)
}

// packed is a message packed with its type.
func packed(typeURL string, value []byte) []byte {
	return append(field(1, []byte(typeURL)), field(2, value)...)
}

// nested is a message within so many others, each in its field 2.
func nested(depth int) []byte {
	message := packed("/inner", field(1, []byte("x")))
	for range depth {
		message = packed("/outer", field(2, message))
	}
	return field(1, message)
}

func anyType([]byte) error { return nil }

func TestScanCountsWhatIsPacked(t *testing.T) {
	var types []string
	note := func(typeURL []byte) error {
		types = append(types, string(typeURL))
		return nil
	}
	// The second has its fields the other way round, the third is far inside, after scalars of each wire type.
	scalars := append(binary.AppendUvarint([]byte{1 << 3}, 1<<60), 2<<3|1, 0, 0, 0, 0, 0, 0, 0, 0, 3<<3|5, 0, 0, 0, 0)
	deep := field(7, append(scalars, field(9, field(4, packed("/c", nil)))...))
	payload := bytes.Join([][]byte{
		field(1, packed("/a", nil)), field(1, append(field(2, []byte("v")), field(1, []byte("/b"))...)), deep,
	}, nil)
	shape, err := envelope.Scan(payload, note)
	require.NoError(t, err)
	require.Equal(t, []string{"/a", "/b", "/c"}, types)
	require.Equal(t, envelope.Shape{Bytes: len(payload), Fields: 11, Messages: 3}, shape)
}

func TestScanEndsWithTheErrorOfItsVisitor(t *testing.T) {
	refusal := errors.New("refused")
	_, err := envelope.Scan(nested(3), func(typeURL []byte) error {
		if string(typeURL) == "/inner" {
			return refusal
		}
		return nil
	})
	require.ErrorIs(t, err, refusal)
}

// Rule: 1.3-scan-bounds
func TestScanBoundsNestingAndNumber(t *testing.T) {
	// A message takes two levels of fields, and what the innermost holds a third.
	deepest := envelope.MaxLevels/2 - 1
	for _, tc := range []struct {
		name    string
		payload []byte
		refused string
	}{
		{"empty", nil, ""},
		{"deepest", nested(deepest - 1), ""},
		{"too deep", nested(deepest), "levels"},
		{"3,000 deep", nested(3_000), "levels"},
		{"most", bytes.Repeat(field(1, packed("/a", nil)), envelope.MaxMessages), ""},
		{"too many", bytes.Repeat(field(1, packed("/a", nil)), envelope.MaxMessages+1), "messages"},
		{"a text", []byte("no protobuf"), "no protobuf message"},
		{"cut off", nested(1)[:len(nested(1))-1], "no protobuf message"},
		{"field 0", field(0, nil), "no protobuf message"},
		{"a group", []byte{1<<3 | 3, 1<<3 | 4}, "no protobuf message"},
	} {
		_, err := envelope.Scan(tc.payload, anyType)
		if tc.refused == "" {
			require.NoError(t, err, tc.name)
			continue
		}
		require.ErrorContains(t, err, tc.refused, tc.name)
	}
}

// Rule: 1.1-message-weight
func TestScanWeighsEmptyFields(t *testing.T) {
	// What an empty field takes to decode is not two bytes' worth.
	empty := bytes.Repeat(field(2, nil), 1_000)
	shape, err := envelope.Scan(empty, anyType)
	require.NoError(t, err)
	require.Equal(t, uint64(16_000), shape.Weight())
	text, err := envelope.Scan(field(1, []byte(strings.Repeat("}", 1_000))), anyType)
	require.NoError(t, err)
	require.Equal(t, uint64(1_003), text.Weight())
}

func TestScanAllocatesNothing(t *testing.T) {
	for name, payload := range map[string][]byte{
		"nested": nested(3_000), "wide": bytes.Repeat(field(2, nil), 500_000), "zeros": make([]byte, 1<<20),
		"tower": bytes.Repeat([]byte{0x0a, 0x7f}, 1<<19),
	} {
		allocs := testing.AllocsPerRun(3, func() { _, _ = envelope.Scan(payload, anyType) })
		// An error that is made for the answer is a few.
		require.LessOrEqual(t, allocs, 5.0, name)
	}
}

// checkScan: whatever the bytes, a scan ends, within its bounds, and says the same twice.
func checkScan(t require.TestingT, payload []byte) {
	visits := 0
	shape, err := envelope.Scan(payload, func(typeURL []byte) error {
		visits++
		if !bytes.HasPrefix(typeURL, []byte("/")) {
			return fmt.Errorf("%q is no type", typeURL)
		}
		return nil
	})
	again, errAgain := envelope.Scan(payload, anyType)
	require.Equal(t, shape, again)
	require.Equal(t, fmt.Sprint(err), fmt.Sprint(errAgain))
	// A field takes two bytes at least, whatever it holds.
	require.LessOrEqual(t, 2*shape.Fields, len(payload))
	require.LessOrEqual(t, shape.Messages, shape.Fields)
	if err == nil {
		require.Equal(t, visits, shape.Messages)
	}
}

func FuzzScan(f *testing.F) {
	for _, seed := range [][]byte{nil, nested(2), []byte(`{"_handler":"tick"}`), packed("/a", []byte{1, 2, 3}), {0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f}} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, payload []byte) { checkScan(t, payload) })
}

// TestScanOfRandomBytes: random bytes, and messages with random bytes in them.
func TestScanOfRandomBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		payload := rapid.SliceOf(rapid.Byte()).Draw(t, "payload")
		for range rapid.IntRange(0, 20).Draw(t, "wrapped") {
			payload = append(field(uint64(rapid.IntRange(1, 4).Draw(t, "number")), payload), rapid.SliceOfN(rapid.Byte(), 0, 3).Draw(t, "rest")...)
		}
		checkScan(t, payload)
	})
}

// TestScanFindsWhatIsHidden: a packed message is found wherever it is, in fields of any number and order.
func TestScanFindsWhatIsHidden(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		message := packed("/hidden", nil)
		if rapid.Bool().Draw(t, "value first") {
			message = append(field(2, []byte("v")), field(1, []byte("/hidden"))...)
		}
		for range rapid.IntRange(1, 15).Draw(t, "depth") {
			siblings := field(3, rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "sibling"))
			message = append(siblings, field(uint64(rapid.IntRange(1, 400).Draw(t, "number")), message)...)
		}
		found := false
		_, err := envelope.Scan(message, func(typeURL []byte) error {
			found = found || string(typeURL) == "/hidden"
			return nil
		})
		require.NoError(t, err)
		require.True(t, found)
	})
}

func BenchmarkScan(b *testing.B) {
	for name, payload := range map[string][]byte{
		"nested": nested(14), "wide": bytes.Repeat(field(2, nil), 8_000), "3,000 deep": nested(3_000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(payload)))
			for range b.N {
				_, _ = envelope.Scan(payload, anyType)
			}
		})
	}
}
