package logmap

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCombine: two messages do what both do in turn, whatever was there before.
func TestCombine(t *testing.T) {
	apply := func(value string, m message) string {
		if m.kind == remove {
			return ""
		}
		return string(m.value)
	}
	for _, older := range []kind{insert, replace, remove} {
		for _, newer := range []kind{insert, replace, remove} {
			before := map[kind]string{insert: "", replace: "old", remove: "old"}[older]
			if between := older != remove; between == (newer == insert) {
				// One inserts what is not there, and replaces and removes what is.
				continue
			}
			first, second := message{[]byte("key"), []byte("first"), older}, message{[]byte("key"), []byte("second"), newer}
			both, ok := combine(first, second)
			want := apply(apply(before, first), second)
			if !ok {
				require.Equal(t, before, want)
				continue
			}
			require.Equal(t, want, apply(before, both))
			require.Equal(t, older.net()+newer.net(), both.kind.net())
			require.Equal(t, before == "", both.kind == insert)
		}
	}
}

func TestPackDividesEvenly(t *testing.T) {
	var messages []message
	for i := range 100 {
		messages = append(messages, message{[]byte{byte(i)}, bytes.Repeat([]byte("x"), 10), insert})
	}
	for _, limit := range []int{1, 13, 50, 300, 5_000} {
		var again []message
		for _, part := range pack(messages, limit) {
			require.NotEmpty(t, part)
			encoded := encodeChunk(part)
			require.LessOrEqual(t, len(encoded), max(limit+15, 15))
			decoded, err := decodeChunk(encoded)
			require.NoError(t, err)
			again = append(again, decoded...)
		}
		require.Len(t, again, len(messages))
		for i := range messages {
			require.Equal(t, messages[i].key, again[i].key)
			require.Equal(t, messages[i].value, again[i].value)
		}
	}
	require.Empty(t, pack(nil, 10))
}

func TestRangesAreInTheOrderOfTheirKeys(t *testing.T) {
	var last []byte
	for _, r := range []uint64{0, 1, 255, 256, 65_535, 65_536, 1 << 40, ^uint64(0)} {
		key := rangeKey(headPrefix, r)
		require.Negative(t, bytes.Compare(last, key))
		got, err := rangeOf(key)
		require.NoError(t, err)
		require.Equal(t, r, got)
		last = key
	}
}
