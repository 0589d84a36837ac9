package types_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// field is a length-delimited field of a protobuf message.
func payloadField(number uint64, content []byte) []byte {
	out := binary.AppendUvarint(nil, number<<3|2)
	out = binary.AppendUvarint(out, uint64(len(content)))
	return append(out, content...)
}

// packed is a message packed with its type.
func payloadPacked(typeURL string, value []byte) []byte {
	return append(payloadField(1, []byte(typeURL)), payloadField(2, value)...)
}

// nested is a message within so many others, each in its field 2.
func payloadNested(depth int) []byte {
	message := payloadPacked("/inner", payloadField(1, []byte("x")))
	for range depth {
		message = payloadPacked("/outer", payloadField(2, message))
	}
	return payloadField(1, message)
}

func anyType([]byte) error { return nil }

func TestScanCountsWhatIsPacked(t *testing.T) {
	var seen []string
	note := func(typeURL []byte) error {
		seen = append(seen, string(typeURL))
		return nil
	}
	// The second has its fields the other way round, the third is far inside, after scalars of each wire type.
	scalars := append(binary.AppendUvarint([]byte{1 << 3}, 1<<60), 2<<3|1, 0, 0, 0, 0, 0, 0, 0, 0, 3<<3|5, 0, 0, 0, 0)
	deep := payloadField(7, append(scalars, payloadField(9, payloadField(4, payloadPacked("/c", nil)))...))
	payload := bytes.Join([][]byte{
		payloadField(1, payloadPacked("/a", nil)), payloadField(1, append(payloadField(2, []byte("v")), payloadField(1, []byte("/b"))...)), deep,
	}, nil)
	shape, err := types.ScanPayload(payload, note)
	require.NoError(t, err)
	require.Equal(t, []string{"/a", "/b", "/c"}, seen)
	require.Equal(t, types.PayloadShape{Bytes: len(payload), Fields: 11, Messages: 3}, shape)
}

func TestScanEndsWithTheErrorOfItsVisitor(t *testing.T) {
	refusal := errors.New("refused")
	_, err := types.ScanPayload(payloadNested(3), func(typeURL []byte) error {
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
	deepest := types.MaxLevels/2 - 1
	for _, tc := range []struct {
		name    string
		payload []byte
		refused string
	}{
		{"empty", nil, ""},
		{"deepest", payloadNested(deepest - 1), ""},
		{"too deep", payloadNested(deepest), "levels"},
		{"3,000 deep", payloadNested(3_000), "levels"},
		{"most", bytes.Repeat(payloadField(1, payloadPacked("/a", nil)), types.MaxMessages), ""},
		{"too many", bytes.Repeat(payloadField(1, payloadPacked("/a", nil)), types.MaxMessages+1), "messages"},
		{"a text", []byte("no protobuf"), "no protobuf message"},
		{"cut off", payloadNested(1)[:len(payloadNested(1))-1], "no protobuf message"},
		{"field 0", payloadField(0, nil), "no protobuf message"},
		{"a group", []byte{1<<3 | 3, 1<<3 | 4}, "no protobuf message"},
	} {
		_, err := types.ScanPayload(tc.payload, anyType)
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
	empty := bytes.Repeat(payloadField(2, nil), 1_000)
	shape, err := types.ScanPayload(empty, anyType)
	require.NoError(t, err)
	require.Equal(t, uint64(16_000), shape.Weight())
	text, err := types.ScanPayload(payloadField(1, []byte(strings.Repeat("}", 1_000))), anyType)
	require.NoError(t, err)
	require.Equal(t, uint64(1_003), text.Weight())
}

func TestScanAllocatesNothing(t *testing.T) {
	for name, payload := range map[string][]byte{
		"nested": payloadNested(3_000), "wide": bytes.Repeat(payloadField(2, nil), 500_000), "zeros": make([]byte, 1<<20),
		"tower": bytes.Repeat([]byte{0x0a, 0x7f}, 1<<19),
	} {
		allocs := testing.AllocsPerRun(3, func() { _, _ = types.ScanPayload(payload, anyType) })
		// An error that is made for the answer is a few.
		require.LessOrEqual(t, allocs, 5.0, name)
	}
}

// checkScan: whatever the bytes, a scan ends, within its bounds, and says the same twice.
func checkScan(t require.TestingT, payload []byte) {
	visits := 0
	shape, err := types.ScanPayload(payload, func(typeURL []byte) error {
		visits++
		if !bytes.HasPrefix(typeURL, []byte("/")) {
			return fmt.Errorf("%q is no type", typeURL)
		}
		return nil
	})
	again, errAgain := types.ScanPayload(payload, anyType)
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
	for _, seed := range [][]byte{nil, payloadNested(2), []byte(`{"_handler":"tick"}`), payloadPacked("/a", []byte{1, 2, 3}), {0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f}} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, payload []byte) { checkScan(t, payload) })
}

// TestScanOfRandomBytes: random bytes, and messages with random bytes in them.
func TestScanOfRandomBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		payload := rapid.SliceOf(rapid.Byte()).Draw(t, "payload")
		for range rapid.IntRange(0, 20).Draw(t, "wrapped") {
			payload = append(payloadField(uint64(rapid.IntRange(1, 4).Draw(t, "number")), payload), rapid.SliceOfN(rapid.Byte(), 0, 3).Draw(t, "rest")...)
		}
		checkScan(t, payload)
	})
}

// TestScanFindsWhatIsHidden: a packed message is found wherever it is, in fields of any number and order.
func TestScanFindsWhatIsHidden(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		message := payloadPacked("/hidden", nil)
		if rapid.Bool().Draw(t, "value first") {
			message = append(payloadField(2, []byte("v")), payloadField(1, []byte("/hidden"))...)
		}
		for range rapid.IntRange(1, 15).Draw(t, "depth") {
			siblings := payloadField(3, rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "sibling"))
			message = append(siblings, payloadField(uint64(rapid.IntRange(1, 400).Draw(t, "number")), message)...)
		}
		found := false
		_, err := types.ScanPayload(message, func(typeURL []byte) error {
			found = found || string(typeURL) == "/hidden"
			return nil
		})
		require.NoError(t, err)
		require.True(t, found)
	})
}

func BenchmarkScan(b *testing.B) {
	for name, payload := range map[string][]byte{
		"nested": payloadNested(14), "wide": bytes.Repeat(payloadField(2, nil), 8_000), "3,000 deep": payloadNested(3_000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(payload)))
			for range b.N {
				_, _ = types.ScanPayload(payload, anyType)
			}
		})
	}
}
