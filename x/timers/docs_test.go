package timers_test

import (
	"encoding/json"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/types/module/testutil"

	"github.com/cosmos-timers/timers/x/timers"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// TestTheDocumentedConfigProposalApplies to the default config, and changes what its summary says.
func TestTheDocumentedConfigProposalApplies(t *testing.T) {
	file := filepath.Join("docs", "operate", "proposals", "config.json")
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	cdc := testutil.MakeTestEncodingConfig(timers.AppModule{}).Codec
	var proposal struct {
		Messages []json.RawMessage `json:"messages"`
		Metadata string            `json:"metadata"`
		Deposit  string            `json:"deposit"`
		Title    string            `json:"title"`
		Summary  string            `json:"summary"`
	}
	require.NoError(t, json.Unmarshal(raw, &proposal))
	require.Len(t, proposal.Messages, 1)
	var msg sdk.Msg
	require.NoError(t, cdc.UnmarshalInterfaceJSON(proposal.Messages[0], &msg))
	change, ok := msg.(*types.MsgUpdateTimerConfig)
	require.True(t, ok)
	require.NoError(t, change.ValidateBasic())
	current := types.DefaultTimerConfig("utmr")
	next, err := change.Apply(&current)
	require.NoError(t, err)
	current.LaneTimerCycles = 4_000_000
	require.Equal(t, current, next)
}

// TestTablesHaveAHead: a table that an empty line cuts in two is shown as text from there on.
func TestTablesHaveAHead(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("docs", "*", "*.md"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range append(files, "README.md", filepath.Join("..", "..", "README.md")) {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		lines := strings.Split(string(raw), "\n")
		for i, line := range lines[:len(lines)-1] {
			if strings.HasPrefix(line, "|") && (i == 0 || !strings.HasPrefix(lines[i-1], "|")) {
				require.Regexp(t, `^\|[-:| ]+\|$`, lines[i+1], "%s:%d: a table without a head", file, i+1)
			}
		}
	}
}

// goBlocks are the Go code of a document, block by block.
func goBlocks(t *testing.T, file string) []string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("docs", "extend", file))
	require.NoError(t, err)
	var blocks []string
	for rest := string(raw); ; {
		_, after, found := strings.Cut(rest, "```go\n")
		if !found {
			return blocks
		}
		block, end, closed := strings.Cut(after, "```\n")
		require.True(t, closed, "%s: a block of code has no end", file)
		blocks, rest = append(blocks, block), end
	}
}

// TestTheDocumentedModuleIsTheOneThatIsTested: the blocks of modules.md are parts of the example's file, in its order, and the lines that
// wire it.
func TestTheDocumentedModuleIsTheOneThatIsTested(t *testing.T) {
	source := func(name string) string {
		raw, err := os.ReadFile(filepath.Join("..", "..", "testutil", "subscriptions", name))
		require.NoError(t, err)
		return string(raw)
	}
	blocks := goBlocks(t, "modules.md")
	require.Greater(t, len(blocks), 3)
	rest := source("keeper.go")
	for _, block := range blocks[:len(blocks)-1] {
		_, after, found := strings.Cut(rest, block)
		require.True(t, found, "no part of keeper.go, or not behind the one before:\n%s", block)
		rest = after
	}
	require.Contains(t, source("app_test.go"), blocks[len(blocks)-1])
}

// TestTheDocumentedPolicyIsTheOneThatIsTested: the blocks of policy.md are the example's file, the line that wires it, and its
// test.
func TestTheDocumentedPolicyIsTheOneThatIsTested(t *testing.T) {
	source := func(name string) string {
		raw, err := os.ReadFile(filepath.Join("..", "..", "testutil", "smallest", name))
		require.NoError(t, err)
		return string(raw)
	}
	blocks := goBlocks(t, "policy.md")
	require.Greater(t, len(blocks), 2)
	code, wiring, test := blocks[:len(blocks)-2], blocks[len(blocks)-2], blocks[len(blocks)-1]
	require.Equal(t, source("smallest.go"), strings.Join(code, "\n"))
	require.Contains(t, test, wiring)
	require.Equal(t, source("conformance_test.go"), test)
}

// TestTheDocumentedRuntimeIsTheOneThatIsTested: the blocks of extend.md but the last are the example's file.
func TestTheDocumentedRuntimeIsTheOneThatIsTested(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "testutil", "counters", "counters.go"))
	require.NoError(t, err)
	blocks := goBlocks(t, "extend.md")
	require.NotEmpty(t, blocks)
	require.Equal(t, string(raw), strings.Join(blocks[:len(blocks)-1], "\n"))
	require.Contains(t, blocks[len(blocks)-1], "actors.NewRouter(counters.New(")
}

// TestExtend_FieldOfTheSpecFits: each hunk of the difference in extend.md is in its file, whose lines it repeats.
func TestExtend_FieldOfTheSpecFits(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("docs", "extend", "extend.md"))
	require.NoError(t, err)
	_, diff, found := strings.Cut(string(raw), "```diff\n")
	require.True(t, found)
	diff, _, _ = strings.Cut(diff, "```")
	files := strings.Split(diff, "--- ")[1:]
	require.Len(t, files, 2)
	for _, file := range files {
		name, hunk, _ := strings.Cut(file, "\n")
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
		require.NoError(t, err)
		var before strings.Builder
		for _, line := range strings.SplitAfter(hunk, "\n") {
			if kept, is := strings.CutPrefix(line, " "); is {
				before.WriteString(kept)
			}
		}
		require.Contains(t, string(text), before.String(), name)
	}
}

// TestAKindOfTriggerTouchesFourFiles: no more name an interval, whose own kind is in triggers.go. Clients, which may know the kinds for convenience, and tests do not count. extend.md names the files.
func TestAKindOfTriggerTouchesFourFiles(t *testing.T) {
	var named []string
	for _, file := range sources(t, token.NewFileSet()) {
		top, _, _ := strings.Cut(file.dir, "/")
		if slices.Contains(outside, top) || generated(file.name) || top == "schedule" { // Whose interval is arithmetic alone.
			continue
		}
		ast.Inspect(file.syntax, func(node ast.Node) bool {
			name, is := node.(*ast.Ident)
			if is && (name.Name == "Interval" || name.Name == "IntervalTrigger") && !slices.Contains(named, file.path()) {
				named = append(named, file.path())
			}
			return true
		})
	}
	protos, err := filepath.Glob(filepath.Join("..", "..", "proto", "timers", "v1", "*.proto"))
	require.NoError(t, err)
	for _, file := range protos {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		if strings.Contains(string(raw), "IntervalTrigger") {
			named = append(named, filepath.Base(file))
		}
	}
	require.Equal(t, []string{
		"recurrence/operations.go", "recurrence/recurrence.go", "recurrence/update.go",
		"triggers/triggers.go", "types/recurrence.go", "types/spec.go", "core.proto",
	}, named)

	raw, err := os.ReadFile(filepath.Join("docs", "extend", "extend.md"))
	require.NoError(t, err)
	for _, file := range []string{"core.proto", "types/recurrence.go", "triggers/KIND.go", "triggers/triggers.go", "recurrence/after.go"} {
		require.Contains(t, string(raw), file+"` |")
	}
}
