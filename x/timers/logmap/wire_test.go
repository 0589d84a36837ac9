package logmap

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestCombine: two messages do what both do in turn, whatever was there before.
func TestCombine(t *testing.T) {
	apply := func(value string, m message) string {
		if m.Kind == kindRemove {
			return ""
		}
		return string(m.Value)
	}
	for _, older := range []kind{kindInsert, kindReplace, kindRemove} {
		for _, newer := range []kind{kindInsert, kindReplace, kindRemove} {
			before := map[kind]string{kindInsert: "", kindReplace: "old", kindRemove: "old"}[older]
			if between := older != kindRemove; between == (newer == kindInsert) {
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
			require.Equal(t, older.Net()+newer.Net(), both.Kind.Net())
			require.Equal(t, before == "", both.Kind == kindInsert)
		}
	}
}

func TestPackDividesEvenly(t *testing.T) {
	var messages []message
	for i := range 100 {
		messages = append(messages, message{[]byte{byte(i)}, bytes.Repeat([]byte("x"), 10), kindInsert})
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
			require.Equal(t, messages[i].Key, again[i].Key)
			require.Equal(t, messages[i].Value, again[i].Value)
		}
	}
	require.Empty(t, pack(nil, 10))
}

// drawKey draws one of few keys: short, longer than what leads them, and longer than a length of one byte says.
func drawKey(t *rapid.T, label string) []byte {
	begins := rapid.SampledFrom([]string{"", "aaaaaaaa", "aaaaaaab", strings.Repeat("a", 200)}).Draw(t, label+" begins")
	return []byte(begins + rapid.StringMatching(`[a-c]{0,4}`).Draw(t, label))
}

func drawSpan(t *rapid.T) span {
	within := span{From: drawKey(t, "from")}
	if rapid.Bool().Draw(t, "ends") {
		within.To = drawKey(t, "to")
	}
	return within
}

func drawMessages(t *rapid.T) (messages []message) {
	for range rapid.IntRange(0, 20).Draw(t, "messages") {
		value := bytes.Repeat([]byte("v"), rapid.SampledFrom([]int{0, 1, 31, 32, 200}).Draw(t, "value"))
		messages = append(messages, message{drawKey(t, "key"), value, kind(rapid.IntRange(1, 3).Draw(t, "kind"))})
	}
	return messages
}

// TestAChunkIsReadFromTheMiddle: what is passed of an interval is what a search finds in the whole chunk.
func TestAChunkIsReadFromTheMiddle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		messages, within := drawMessages(t), drawSpan(t)
		slices.SortFunc(messages, func(a, b message) int { return bytes.Compare(a.Key, b.Key) })
		messages = slices.CompactFunc(messages, func(a, b message) bool { return bytes.Equal(a.Key, b.Key) })
		var got []message
		require.NoError(t, eachSorted(encodeChunk(messages), within, func(m message) {
			m.Key = bytes.Clone(m.Key)
			got = append(got, m)
		}))
		requireSame(t, only(messages, within), got)
		decoded, err := decodeWithin(encodeChunk(messages), within)
		require.NoError(t, err)
		requireSame(t, only(messages, within), decoded)
	})
}

// TestFit_LeavesNoRoomForAnother: as many messages as a limit has room for in a chunk, but one at least.
func TestFit_LeavesNoRoomForAnother(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		messages, limit := drawMessages(t), rapid.IntRange(0, 300).Draw(t, "limit")
		require.Len(t, encodeChunk(messages), sizeOf(messages))
		n := fit(messages, limit)
		require.True(t, n == len(messages) || n > 0 && sizeOf(messages[:n+1]) > limit)
		require.True(t, n <= 1 || sizeOf(messages[:n]) <= limit)
	})
}

// TestALogIsReadInPart: what is read of an interval is what it contains of the whole log, and the last message about a key is
// the last of those.
func TestALogIsReadInPart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		messages, within, key := drawMessages(t), drawSpan(t), drawKey(t, "looked for")
		var bz []byte
		var want []message
		var last message
		for _, m := range messages {
			bz = appendLogged(bz, m)
			if within.Contains(m.Key) {
				want = append(want, m)
			}
			if bytes.Equal(m.Key, key) {
				last = m
			}
		}
		got, err := decodeLog(bz, within, nil)
		require.NoError(t, err)
		requireSame(t, want, got)
		newest, found, err := lastOf(bz, key)
		require.NoError(t, err)
		require.Equal(t, last.Kind != 0, found)
		requireSame(t, []message{last}, []message{newest})
	})
}

func requireSame(t require.TestingT, want, got []message) {
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, string(want[i].Key), string(got[i].Key))
		require.Equal(t, string(want[i].Value), string(got[i].Value))
		require.Equal(t, want[i].Kind, got[i].Kind)
	}
}

// FuzzMalformed: of bytes that no one wrote, all that read a chunk say the same, and what was read of a log is a log.
func FuzzMalformed(f *testing.F) {
	sound := message{[]byte("key"), bytes.Repeat([]byte("v"), 200), kindInsert}
	f.Add(appendLogged(nil, sound))
	f.Add(encodeChunk([]message{sound, {[]byte("keys"), nil, kindRemove}}))
	f.Add([]byte{0x80})
	f.Add([]byte{1, 'k', 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, bz []byte) {
		want, malformed := decodeChunk(bz)
		var got []message
		err := eachSorted(bz, span{}, func(m message) {
			m.Key = bytes.Clone(m.Key)
			got = append(got, m)
		})
		require.Equal(t, malformed, err)
		if err == nil {
			requireSame(t, want, got)
		}
		log, err := decodeLog(bz, span{}, nil)
		_, _, failed := lastOf(bz, []byte("key"))
		require.Equal(t, err, failed)
		_, from := decodeLog(bz, span{From: []byte("key")}, nil)
		require.Equal(t, err, from)
		if err != nil {
			return
		}
		var again []byte
		for _, m := range log {
			again = appendLogged(again, m)
		}
		written, err := decodeLog(again, span{}, nil)
		require.NoError(t, err)
		requireSame(t, log, written)
	})
}
