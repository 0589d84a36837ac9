package types_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cosmos-timers/timers/x/timers/types"
)

func TestParseID(t *testing.T) {
	id := strings.Repeat("0aF9", 16)
	parsed, err := types.ParseID(id)
	require.NoError(t, err)
	require.Equal(t, strings.ToLower(id), hex.EncodeToString(parsed))
	for name, text := range map[string]string{
		"nothing": "", "a digit short": id[1:], "a byte short": id[2:], "a byte long": id + "00", "a prefix 0x": "0x" + id[2:],
		"a letter that is no digit": "g" + id[1:], "a space in front": " " + id[1:], "very long": strings.Repeat("0", 100_000),
		"not UTF-8": strings.Repeat("\xff", 64),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := types.ParseID(text)
			require.ErrorIs(t, err, types.ErrInvalidTimerID)
			require.Less(t, len(err.Error()), 600, "the error repeats what was sent")
		})
	}
}

func TestParseIDPrefix(t *testing.T) {
	id := strings.Repeat("0aF9", 16)
	for length := 1; length <= 64; length++ {
		prefix, err := types.ParseIDPrefix(id[:length])
		require.NoError(t, err)
		require.Equal(t, strings.ToLower(id[:length]), prefix)
	}
	for name, text := range map[string]string{
		"nothing": "", "a digit long": id + "0", "a prefix 0x": "0xab", "a letter that is no digit": "ab-cd", "one at the end": "abg",
		"one in front": "gab", "a space": "a b", "the Kelvin sign": "\u212a", "a digit of another script": "\u0661", "not UTF-8": "\xff",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := types.ParseIDPrefix(text)
			require.ErrorIs(t, err, types.ErrInvalidTimerID)
		})
	}
}

// parseProperty: both parsers agree with the alphabet, and what they accept leads back to what was said.
func parseProperty(t require.TestingT, text string) {
	digits := !strings.ContainsFunc(text, func(r rune) bool { return !strings.ContainsRune("0123456789abcdefABCDEF", r) })
	id, err := types.ParseID(text)
	require.Equal(t, digits && len(text) == 64, err == nil, "%q", text)
	if err == nil {
		require.Equal(t, strings.ToLower(text), (&types.Timer{Id: id}).IDHex())
	}
	prefix, err := types.ParseIDPrefix(text)
	require.Equal(t, digits && len(text) >= 1 && len(text) <= 64, err == nil, "%q", text)
	if err == nil {
		require.Equal(t, strings.ToLower(text), prefix)
	}
}

func FuzzParseID(f *testing.F) {
	for _, seed := range []string{"", "ab", "0x12", strings.Repeat("0aF9", 16), "\u212a", "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { parseProperty(t, text) })
}

// Rule: 1.2-hex-ids
func TestTimerIDsAreHexadecimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parseProperty(t, rapid.OneOf(rapid.StringMatching(`[0-9a-fA-F]{60,66}`), rapid.StringMatching(`[0-9a-gA-G]{0,66}`), rapid.String()).Draw(t, "text"))
	})
}
