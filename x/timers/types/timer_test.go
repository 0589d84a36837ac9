package types_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// dumbUnwrap is the payload convention said another way: unmarshal, write down again, and compare without whitespace.
// What encoding/json forgives, a case or a member twice, does not come back the same. Escapes are undone first, by
// unmarshalling each string for itself.
func dumbUnwrap(payload []byte) (handler string, inner []byte, ok bool) {
	if !utf8.Valid(payload) || !json.Valid(payload) {
		return "", nil, false
	}
	var compact bytes.Buffer
	if json.Compact(&compact, payload) != nil {
		return "", nil, false
	}
	body, isObject := strings.CutPrefix(compact.String(), "{")
	if !isObject {
		return "", nil, false
	}
	words := jsonWords(strings.TrimSuffix(body, "}"))
	if len(words) != 7 || words[1] != ":" || words[3] != "," || words[5] != ":" {
		return "", nil, false
	}
	var texts [4]string
	for i, word := range []string{words[0], words[2], words[4], words[6]} {
		if word == "null" || json.Unmarshal([]byte(word), &texts[i]) != nil {
			return "", nil, false
		}
	}
	if texts[0] == "_payload" {
		texts[0], texts[1], texts[2], texts[3] = texts[2], texts[3], texts[0], texts[1]
	}
	if texts[0] != "_handler" || texts[2] != "_payload" {
		return "", nil, false
	}
	inner, err := base64.StdEncoding.DecodeString(texts[3])
	if err != nil || base64.StdEncoding.EncodeToString(inner) != texts[3] {
		return "", nil, false
	}
	return texts[1], inner, true
}

// jsonWords cuts compact JSON into strings, single punctuation marks, and what lies between.
func jsonWords(text string) []string {
	var words []string
	for text != "" {
		end := 1
		switch {
		case text[0] == '"':
			for end < len(text) && text[end] != '"' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end+1, len(text))
		case !strings.ContainsRune(`{}[]:,`, rune(text[0])):
			for end < len(text) && !strings.ContainsRune(`{}[]:,"`, rune(text[end])) {
				end++
			}
		}
		words, text = append(words, text[:end]), text[end:]
	}
	return words
}

// checkUnwrap holds UnwrapPayload to the dumb one, and to what follows from the convention.
func checkUnwrap(t require.TestingT, payload []byte) {
	before := bytes.Clone(payload)
	handler, inner, ok := types.UnwrapPayload(payload)
	require.Equal(t, before, payload, "the payload was changed")
	wantHandler, wantInner, want := dumbUnwrap(payload)
	require.Equal(t, want, ok, "%q", payload)
	require.Equal(t, wantHandler, handler, "%q", payload)
	require.Equal(t, string(wantInner), string(inner), "%q", payload)
	if ok {
		require.True(t, utf8.ValidString(handler), "%q", handler)
	}
}

func FuzzUnwrapPayload(f *testing.F) {
	for _, seed := range []string{
		`{"_handler":"tick","_payload":"aGVsbG8="}`, `{"_payload":"","_handler":""}`, `{"_handler":"\ud83d","_payload":"aA=="}`,
		`{"_handler":"tick","_handler":"tock"}`, `{"_handler":null,"_payload":"aGVsbG8="}`, `{"_handler":"a","_payload":"aGVs\nbG8="}`,
		`{}`, `[]`, ``, `{"_handler":{"_handler":"tick","_payload":""},"_payload":""}`, "{\"_handler\":\"\xff\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, payload []byte) { checkUnwrap(t, payload) })
}

// TestUnwrapPayloadOfAlmostThePayload: what looks much like the convention, put together from its own pieces.
func TestUnwrapPayloadOfAlmostThePayload(t *testing.T) {
	pieces := []string{
		`{`, `}`, `:`, `,`, `[`, `]`, ` `, "\n", `"`, `null`, `1`, `"_handler"`, `"_payload"`, `"_Handler"`, `"tick"`, `""`,
		`"aGVsbG8="`, `"aGVsbG9="`, `"aGVs\nbG8="`, `"\u005fhandler"`, `{"_handler":`, `"_payload":""}`, `"_handler":"a",`, "\xff", "\\",
	}
	rapid.Check(t, func(t *rapid.T) {
		checkUnwrap(t, []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "pieces"), "")))
	})
}

// TestUnwrapPayloadReadsWhatIsWritten: any handler and any payload survive being wrapped, however the JSON is laid out.
func TestUnwrapPayloadReadsWhatIsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		handler, inner := rapid.String().Draw(t, "handler"), rapid.SliceOf(rapid.Byte()).Draw(t, "payload")
		wrapped, err := json.Marshal(map[string]any{"_handler": handler, "_payload": inner})
		require.NoError(t, err)
		if rapid.Bool().Draw(t, "indented") {
			var indented bytes.Buffer
			require.NoError(t, json.Indent(&indented, wrapped, " ", "\t"))
			wrapped = indented.Bytes()
		}
		gotHandler, got, ok := types.UnwrapPayload(wrapped)
		if inner == nil {
			require.False(t, ok, "a null is no string")
			return
		}
		require.True(t, ok, "%s", wrapped)
		require.Equal(t, handler, gotHandler)
		require.Equal(t, inner, got)
	})
}

func TestParseTimerID(t *testing.T) {
	id := strings.Repeat("0aF9", 16)
	parsed, err := types.ParseTimerID(id)
	require.NoError(t, err)
	require.Equal(t, strings.ToLower(id), hex.EncodeToString(parsed))
	for name, text := range map[string]string{
		"nothing": "", "a digit short": id[1:], "a byte short": id[2:], "a byte long": id + "00", "a prefix 0x": "0x" + id[2:],
		"a letter that is no digit": "g" + id[1:], "a space in front": " " + id[1:], "very long": strings.Repeat("0", 100_000),
		"not UTF-8": strings.Repeat("\xff", 64),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := types.ParseTimerID(text)
			require.ErrorIs(t, err, types.ErrInvalidTimerID)
			require.Less(t, len(err.Error()), 600, "the error repeats what was sent")
		})
	}
}

func TestParseTimerIDPrefix(t *testing.T) {
	id := strings.Repeat("0aF9", 16)
	for length := 1; length <= 64; length++ {
		prefix, err := types.ParseTimerIDPrefix(id[:length])
		require.NoError(t, err)
		require.Equal(t, strings.ToLower(id[:length]), prefix)
	}
	for name, text := range map[string]string{
		"nothing": "", "a digit long": id + "0", "a prefix 0x": "0xab", "a letter that is no digit": "ab-cd", "one at the end": "abg",
		"one in front": "gab", "a space": "a b", "the Kelvin sign": "\u212a", "a digit of another script": "\u0661", "not UTF-8": "\xff",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := types.ParseTimerIDPrefix(text)
			require.ErrorIs(t, err, types.ErrInvalidTimerID)
		})
	}
}

// parseProperty: both parsers agree with the alphabet, and what they accept leads back to what was said.
func parseProperty(t require.TestingT, text string) {
	digits := !strings.ContainsFunc(text, func(r rune) bool { return !strings.ContainsRune("0123456789abcdefABCDEF", r) })
	id, err := types.ParseTimerID(text)
	require.Equal(t, digits && len(text) == 64, err == nil, "%q", text)
	if err == nil {
		require.Equal(t, strings.ToLower(text), (&types.Timer{Id: id}).IDHex())
	}
	prefix, err := types.ParseTimerIDPrefix(text)
	require.Equal(t, digits && len(text) >= 1 && len(text) <= 64, err == nil, "%q", text)
	if err == nil {
		require.Equal(t, strings.ToLower(text), prefix)
	}
}

func FuzzParseTimerID(f *testing.F) {
	for _, seed := range []string{"", "ab", "0x12", strings.Repeat("0aF9", 16), "\u212a", "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { parseProperty(t, text) })
}

func TestTimerIDsAreHexadecimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parseProperty(t, rapid.OneOf(rapid.StringMatching(`[0-9a-fA-F]{60,66}`), rapid.StringMatching(`[0-9a-gA-G]{0,66}`), rapid.String()).Draw(t, "text"))
	})
}

func TestTimerDefaults(t *testing.T) {
	actor, payer := bytes.Repeat([]byte{1}, 20), bytes.Repeat([]byte{2}, 20)
	timer := types.Timer{Actor: actor, Due: 9, Seq: 4, ExpiresAt: 10, Id: slices.Concat([]byte{1, 2, 3, 4, 5, 6, 7, 8}, actor)}
	require.Equal(t, types.DefaultHandler, timer.HandlerName())
	require.Equal(t, actor, []byte(timer.Owner()))
	require.Equal(t, actor, []byte(timer.Payer()))
	require.Equal(t, types.QueueKey{Due: 9, Seq: 4}, timer.Key())
	require.Equal(t, uint64(0x0102030405060708), types.IDPrefix64(timer.Id))

	timer.Handler, timer.FeePayer = "tick", payer
	require.Equal(t, "tick", timer.HandlerName())
	require.Equal(t, actor, []byte(timer.Owner()))
	require.Equal(t, payer, []byte(timer.Payer()))

	require.False(t, timer.ExpiredAt(10), "expires_at is the last height at which it may fire")
	require.True(t, timer.ExpiredAt(11))
}

func TestIsBeforeIsTheOrderOfTheQueue(t *testing.T) {
	timer := types.Timer{Due: 5, Seq: 5}
	for key, want := range map[types.QueueKey]bool{
		{Due: 4, Seq: 9}: false, {Due: 5, Seq: 4}: false, {Due: 5, Seq: 5}: false, {Due: 5, Seq: 6}: true, {Due: 6, Seq: 0}: true,
	} {
		require.Equal(t, want, timer.IsBefore(key), "%v", key)
	}
}

func BenchmarkUnwrapPayload(b *testing.B) {
	wrapped, err := json.Marshal(map[string]any{"_handler": "tick", "_payload": make([]byte, 300)})
	require.NoError(b, err)
	for name, payload := range map[string][]byte{
		"wrapped": wrapped, "plain": []byte(`{"swap":{"amount":"17"}}`), "proto": bytes.Repeat([]byte{10, 3}, 200), "1MiB": bytes.Repeat([]byte("["), 1<<20),
	} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				types.UnwrapPayload(payload)
			}
		})
	}
}
