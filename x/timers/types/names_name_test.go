package types_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Rule: 1.2-name
func TestCheckName_TakesWhatListsCanShow(t *testing.T) {
	for what, name := range map[string]string{
		"none": "", "words": "rent, monthly", "bytes of both ends": "!~", "markup": `<b>&"'\`, "the longest": strings.Repeat("x", 64), "almost an id": "beefg",
	} {
		require.NoError(t, types.CheckName(name), what)
	}
	for what, name := range map[string]string{
		"a byte too long": strings.Repeat("x", 65), "very long": strings.Repeat("x", 1<<20),
		"a new line": "a\nb", "an escape": "\x1b[2J", "NUL": "a\x00", "delete": "\x7f", "the first byte above": "\x80",
		"an umlaut": "\u00fc", "a turned direction": "\u202eabc", "an invisible character": "a\u200bb", "a look-alike": "p\u0430y", "not UTF-8": "\xff",
		"a slash": "alice/rent", "a space before": " rent", "a space behind": "rent ", "a space alone": " ",
		"the beginning of an id": "beef", "an id": strings.Repeat("0aF", 22)[:64], "a digit": "7",
	} {
		err := types.CheckName(name)
		require.ErrorIs(t, err, types.ErrInvalidName, what)
		require.Less(t, len(err.Error()), 200, "the error repeats what was sent")
	}
}

// TestCheckName_NamesAreNoIDs: what passes is what a terminal, a log and JSON show as it is, and never the beginning of an id.
func TestCheckName_NamesAreNoIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.StringMatching(`[ -~]{0,66}`), rapid.String(), rapid.StringMatching(`[\x00-\x{ff}]{0,4}`), rapid.StringMatching(`[0-9a-gA-F]{1,5}`)).Draw(t, "name")
		good := len(name) <= 64 && !strings.HasPrefix(name, " ") && !strings.HasSuffix(name, " ")
		for _, r := range name {
			good = good && r >= 0x20 && r <= 0x7e && r != '/'
		}
		_, noID := types.ParseIDPrefix(name)
		require.Equal(t, good && (name == "" || noID != nil), types.CheckName(name) == nil, "%q", name)
	})
}
