package types_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Rule: 1.2-label
func TestLabels(t *testing.T) {
	for name, label := range map[string]string{
		"none": "", "words": "rent, monthly", "all bytes of both ends": " ~", "markup": `<b>&"'\`, "the longest": strings.Repeat("x", 64),
	} {
		require.NoError(t, types.CheckLabel(label), name)
	}
	for name, label := range map[string]string{
		"a byte too long": strings.Repeat("x", 65), "very long": strings.Repeat("x", 1<<20),
		"a new line": "a\nb", "an escape": "\x1b[2J", "NUL": "a\x00", "delete": "\x7f", "the first byte above": "\x80",
		"an umlaut": "\u00fc", "a turned direction": "\u202eabc", "an invisible character": "a\u200bb", "a look-alike": "p\u0430y", "not UTF-8": "\xff",
	} {
		err := types.CheckLabel(label)
		require.ErrorIs(t, err, types.ErrInvalidLabel, name)
		require.Less(t, len(err.Error()), 200, "the error repeats what was sent")
	}
}

// TestLabelsArePrintable: what passes is what a terminal, a log and JSON show as it is.
func TestLabelsArePrintable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		label := rapid.OneOf(rapid.StringMatching(`[ -~]{0,66}`), rapid.String(), rapid.StringMatching(`[\x00-\x{ff}]{0,4}`)).Draw(t, "label")
		printable := len(label) <= 64
		for _, r := range label {
			printable = printable && r >= 0x20 && r <= 0x7e
		}
		require.Equal(t, printable, types.CheckLabel(label) == nil, "%q", label)
	})
}
