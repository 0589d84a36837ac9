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
		"3fa9":         {Text: "3fa9"},
		"alice/3FA9":   {Actor: "alice", Text: "3FA9"},
		"a b/0":        {Actor: "a b", Text: "0"},
		whole:          {Text: whole},
		"bob/" + whole: {Actor: "bob", Text: whole},
		"rent":         {Text: "rent"},
		"alice/a:b c":  {Actor: "alice", Text: "a:b c"},
	} {
		got, err := ParseName(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got)
		require.Equal(t, len(want.Text) == 64, got.Whole())
		require.Equal(t, strings.ToLower(want.Text), got.ID())
	}
	for text, want := range map[string]string{
		"": "has neither an id nor a name", "alice/": "has neither an id nor a name", "/3fa9": "names no actor",
		whole + "0": "an id has at most 64 hexadecimal digits", "alice/a/b": "none of them a slash", "rént": "a name 64 printable ASCII characters",
	} {
		_, err := ParseName(text)
		require.ErrorContains(t, err, want, "%q", text)
		require.ErrorContains(t, err, "want ACTOR/ID-PREFIX or ACTOR/NAME")
	}
}
