package types_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cosmos-timers/timers/x/timers/types"
)

type payloadVector struct {
	Name       string
	Payload    string
	PayloadHex hexBytes `json:"payload_hex"`
	Wrapped    bool
	Handler    string
	Inner      hexBytes
}

func (v payloadVector) bytes() []byte {
	if v.PayloadHex != nil {
		return v.PayloadHex
	}
	return []byte(v.Payload)
}

// Rule: 1.3-payload-convention
func TestPayloadConventionAgreesWithTheVectors(t *testing.T) {
	for _, v := range readVectors[payloadVector](t, "payload.json") {
		t.Run(v.Name, func(t *testing.T) {
			handler, inner, wrapped := types.UnwrapPayload(v.bytes())
			require.Equal(t, v.Wrapped, wrapped)
			require.Equal(t, v.Handler, handler)
			require.Equal(t, string(v.Inner), string(inner))
		})
	}
}

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

// checkUnwrap holds Unwrap to the dumb one, and to what follows from the convention.
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

func FuzzUnwrap(f *testing.F) {
	for _, seed := range []string{
		`{"_handler":"tick","_payload":"aGVsbG8="}`, `{"_payload":"","_handler":""}`, `{"_handler":"\ud83d","_payload":"aA=="}`,
		`{"_handler":"tick","_handler":"tock"}`, `{"_handler":null,"_payload":"aGVsbG8="}`, `{"_handler":"a","_payload":"aGVs\nbG8="}`,
		`{}`, `[]`, ``, `{"_handler":{"_handler":"tick","_payload":""},"_payload":""}`, "{\"_handler\":\"\xff\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, payload []byte) { checkUnwrap(t, payload) })
}

// TestUnwrapOfAlmostThePayload: what looks much like the convention, put together from its own pieces.
//
// Rule: 1.3-other-payloads
func TestUnwrapOfAlmostThePayload(t *testing.T) {
	pieces := []string{
		`{`, `}`, `:`, `,`, `[`, `]`, ` `, "\n", `"`, `null`, `1`, `"_handler"`, `"_payload"`, `"_Handler"`, `"tick"`, `""`,
		`"aGVsbG8="`, `"aGVsbG9="`, `"aGVs\nbG8="`, `"\u005fhandler"`, `{"_handler":`, `"_payload":""}`, `"_handler":"a",`, "\xff", "\\",
	}
	rapid.Check(t, func(t *rapid.T) {
		checkUnwrap(t, []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "pieces"), "")))
	})
}

// TestUnwrapReadsWhatIsWritten: any handler and any payload survive being wrapped, however the JSON is laid out.
func TestUnwrapReadsWhatIsWritten(t *testing.T) {
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

func BenchmarkUnwrap(b *testing.B) {
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
