package job

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Rule: 9.1-timer-name
func TestNames(t *testing.T) {
	whole := strings.Repeat("0aF", 22)[:64]
	for text, want := range map[string]Name{
		"3fa9":         {Prefix: "3fa9"},
		"alice/3FA9":   {Actor: "alice", Prefix: "3fa9"},
		"a b/0":        {Actor: "a b", Prefix: "0"},
		whole:          {Prefix: strings.ToLower(whole)},
		"bob/" + whole: {Actor: "bob", Prefix: strings.ToLower(whole)},
	} {
		got, err := ParseName(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got)
		require.Equal(t, len(want.Prefix) == 64, got.Whole())
	}
	for text, want := range map[string]string{
		"": "has 0 digits", "alice/": "has 0 digits", "/3fa9": "names no actor", "alice/xyz": "want hexadecimal digits", "alice/3fa9/1": "want hexadecimal digits",
		"0x3fa9": "want hexadecimal digits", whole + "0": "has 65 digits", "alice": "want hexadecimal digits", " 3fa9": "want hexadecimal digits",
	} {
		_, err := ParseName(text)
		require.ErrorContains(t, err, want, "%q", text)
		require.ErrorContains(t, err, "want ACTOR/ID-PREFIX")
	}
}
