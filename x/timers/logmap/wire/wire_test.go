package wire

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestCombine: two messages do what both do in turn, whatever was there before.
func TestCombine(t *testing.T) {
	apply := func(value string, m Message) string {
		if m.Kind == Remove {
			return ""
		}
		return string(m.Value)
	}
	for _, older := range []Kind{Insert, Replace, Remove} {
		for _, newer := range []Kind{Insert, Replace, Remove} {
			before := map[Kind]string{Insert: "", Replace: "old", Remove: "old"}[older]
			if between := older != Remove; between == (newer == Insert) {
				// One inserts what is not there, and replaces and removes what is.
				continue
			}
			first, second := Message{[]byte("key"), []byte("first"), older}, Message{[]byte("key"), []byte("second"), newer}
			both, ok := Combine(first, second)
			want := apply(apply(before, first), second)
			if !ok {
				require.Equal(t, before, want)
				continue
			}
			require.Equal(t, want, apply(before, both))
			require.Equal(t, older.Net()+newer.Net(), both.Kind.Net())
			require.Equal(t, before == "", both.Kind == Insert)
		}
	}
}

func TestPackDividesEvenly(t *testing.T) {
	var messages []Message
	for i := range 100 {
		messages = append(messages, Message{[]byte{byte(i)}, bytes.Repeat([]byte("x"), 10), Insert})
	}
	for _, limit := range []int{1, 13, 50, 300, 5_000} {
		var again []Message
		for _, part := range Pack(messages, limit) {
			require.NotEmpty(t, part)
			encoded := EncodeChunk(part)
			require.LessOrEqual(t, len(encoded), max(limit+15, 15))
			decoded, err := DecodeChunk(encoded)
			require.NoError(t, err)
			again = append(again, decoded...)
		}
		require.Len(t, again, len(messages))
		for i := range messages {
			require.Equal(t, messages[i].Key, again[i].Key)
			require.Equal(t, messages[i].Value, again[i].Value)
		}
	}
	require.Empty(t, Pack(nil, 10))
}

// TestAChunkIsReadFromTheMiddle: what is passed of an interval is what a search finds in the whole chunk.
func TestAChunkIsReadFromTheMiddle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfDistinct(rapid.StringMatching(`[a-c]{0,4}`), rapid.ID[string]).Draw(t, "keys")
		slices.Sort(keys)
		var messages []Message
		for i, key := range keys {
			messages = append(messages, Message{[]byte(key), []byte{byte(i)}, Insert})
		}
		within := Span{From: []byte(rapid.StringMatching(`[a-c]{0,4}`).Draw(t, "from"))}
		if rapid.Bool().Draw(t, "ends") {
			within.To = []byte(rapid.StringMatching(`[a-c]{0,4}`).Draw(t, "to"))
		}
		var got []Message
		require.NoError(t, EachSorted(EncodeChunk(messages), within, func(m Message) {
			m.Key = bytes.Clone(m.Key)
			got = append(got, m)
		}))
		require.Equal(t, len(Only(slices.Clone(messages), within)), len(got))
		for i, m := range Only(messages, within) {
			require.Equal(t, string(m.Key), string(got[i].Key))
			require.Equal(t, m.Value, got[i].Value)
		}
	})
}
