package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mostLines is what wiring may add to an app.go.
const mostLines = 25

func read(t *testing.T, path ...string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(path...))
	require.NoError(t, err)
	return string(raw)
}

// blocks are the blocks of a language in a document.
func blocks(t *testing.T, document, language string) []string {
	t.Helper()
	var all []string
	for _, rest := range strings.Split(document, "```"+language+"\n")[1:] {
		block, _, closed := strings.Cut(rest, "```\n")
		require.True(t, closed)
		all = append(all, block)
	}
	return all
}

// patched applies a difference without line numbers that count: each hunk is found by its lines, after the one before.
func patched(t *testing.T, text, diff string) (result string, added, removed int) {
	t.Helper()
	lines := strings.SplitAfter(text, "\n")
	var out strings.Builder
	at := 0
	for _, hunk := range strings.Split("\n"+diff, "\n@@ ")[1:] {
		_, body, _ := strings.Cut(hunk, "\n")
		var old, replaced []string
		for _, line := range strings.Split(strings.TrimSuffix(body, "\n"), "\n") {
			require.NotEmpty(t, line, "a line of a hunk begins with a space, + or -")
			if line[0] != '+' {
				old = append(old, line[1:]+"\n")
			}
			if line[0] != '-' {
				replaced = append(replaced, line[1:]+"\n")
			}
			added += strings.Count(line[:1], "+")
			removed += strings.Count(line[:1], "-")
		}
		from := at
		for strings.Join(lines[from:from+len(old)], "") != strings.Join(old, "") {
			from++
			require.LessOrEqual(t, from+len(old), len(lines), "the hunk is nowhere: %s", hunk)
		}
		out.WriteString(strings.Join(lines[at:from], "") + strings.Join(replaced, ""))
		at = from + len(old)
	}
	out.WriteString(strings.Join(lines[at:], ""))
	return out.String(), added, removed
}

// TestTheDocumentedWiringIsTheOneThatRuns: the difference in wiring.md turns the app without timers into the one with them.
func TestTheDocumentedWiringIsTheOneThatRuns(t *testing.T) {
	document := read(t, "..", "..", "..", "x", "timers", "docs", "extend", "wiring.md")
	diffs := blocks(t, document, "diff")
	require.Len(t, diffs, 1)
	after, added, removed := patched(t, read(t, "..", "before", "app.go"), diffs[0])
	require.Equal(t, read(t, "app.go"), after)
	require.Zero(t, removed)
	require.Positive(t, added)
	require.LessOrEqual(t, added, mostLines)
	_, upgrade, found := strings.Cut(read(t, "upgrades.go"), ")\n\nfunc (app *App) wireUpgrades")
	require.True(t, found)
	require.Contains(t, blocks(t, document, "go"), "func (app *App) wireUpgrades"+upgrade)
}
