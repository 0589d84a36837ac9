package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheReferenceIsCovered is `make rules`.
func TestTheReferenceIsCovered(t *testing.T) {
	var out, problems bytes.Buffer
	require.Zero(t, run([]string{"-root", filepath.Join("..", "..")}, rules, &out, &problems), "%s", &problems)
}

func TestTags(t *testing.T) {
	c := coverage{tags: map[string][]tag{}}
	require.NoError(t, c.addTags("a_test.go", []byte(`package a

// TestA shows two.
//
// Rule: 1-a, 1.2-b
// Rule: 2-c
func TestA(t *testing.T) {}

// Rule: 1-a
func FuzzB(f *testing.F) {}

// Rule: 1-f
func (suite) TestC() {}

func TestD(t *testing.T) {
	// Rule: 1-h
	//  Rule: no tag
}
`)))
	require.Equal(t, map[string][]tag{
		"1-a":   {{"a_test.go", 5, "TestA"}, {"a_test.go", 9, "FuzzB"}},
		"1.2-b": {{"a_test.go", 5, "TestA"}},
		"2-c":   {{"a_test.go", 6, "TestA"}},
		"1-f":   {{"a_test.go", 12, ""}},
		"1-h":   {{"a_test.go", 16, ""}},
	}, c.tags)
}

// small is a repository with a rule that a test shows, one that a scenario shows, and a section without a rule.
func small() (layout, map[string]string) {
	files := map[string]string{
		"README.md":           "# Title\n\n## 1. First\n\nIt fires.\n\n## 2. Second\n\n```\n# 5. no heading\n```\n\n### 2.1 Third\n\nIt is paid.\n",
		"list.txt":            "# Head.\n\n1-once\n\n2.1-paid poor\n",
		"x/a_test.go":         "package a\n\n// Rule: 1-once\nfunc TestOnce(t *testing.T) {}\n",
		"s/poor.golden.jsonl": "{}\n",
	}
	return layout{reference: "README.md", list: "list.txt", bare: []string{"2"}, tests: []string{"x"}, scenarios: "s"}, files
}

// try runs the command on the files and returns its status and what it wrote.
func try(t *testing.T, layout layout, files map[string]string, arguments ...string) (status int, out, problems string) {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		file := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	var stdout, stderr bytes.Buffer
	status = run(append([]string{"-root", root}, arguments...), layout, &stdout, &stderr)
	return status, stdout.String(), stderr.String()
}

func TestACoveredReferencePasses(t *testing.T) {
	layout, files := small()
	status, out, problems := try(t, layout, files, "-v")
	require.Zero(t, status, problems)
	require.Equal(t, "1-once\n  x/a_test.go:3 TestOnce\n2.1-paid\n  s/poor.json\n2 rules, shown 2 times by tests and scenarios\n", out)
}

// TestEachProblemIsFound: every way in which reference, list and tests can come apart is one problem, at the line to edit.
func TestEachProblemIsFound(t *testing.T) {
	for name, c := range map[string]struct{ file, from, to, want string }{
		"other words":       {"README.md", "It fires.", "It fires. It is new.", ""},
		"section gone":      {"README.md", "### 2.1 Third", "### Third", "list.txt:5: README.md has no section 2.1\n"},
		"new section":       {"README.md", "## 2.", "## 1.1 New\n\n## 2.", "list.txt:1: section 1.1 of README.md has no rule"},
		"rule of bare":      {"list.txt", "2.1-paid", "2-paid poor\n2.1-paid", "list.txt:1: section 2 of README.md has a rule after all"},
		"last rule gone":    {"list.txt", "2.1-paid poor\n", "", "list.txt:1: section 2.1 of README.md has no rule"},
		"listed twice":      {"list.txt", "1-once", "1-once\n1-once", "list.txt:4: 1-once is listed twice\n"},
		"out of order":      {"list.txt", "poor\n", "poor\n1-twice poor\n", "list.txt:6: section 1 comes before 2.1\n"},
		"no test":           {"x/a_test.go", "// Rule: 1-once", "//", "list.txt:3: no test shows the rule 1-once"},
		"no scenario left":  {"list.txt", " poor", "", "list.txt:5: no test shows the rule 2.1-paid"},
		"no such scenario":  {"list.txt", "poor", "rich", "list.txt:5: no scenario rich with golden output in s\n"},
		"no such rule":      {"x/a_test.go", "1-once", "1-once, 1-twice", `x/a_test.go:3: TestOnce names the rule "1-twice", which is not in list.txt`},
		"no test's comment": {"x/a_test.go", "TestOnce", "once", "x/a_test.go:3: a tag belongs in the doc comment of a test: 1-once"},
		"malformed line":    {"list.txt", "1-once", "1-Once", "rules: list.txt:3: want"},
		"no Go":             {"x/a_test.go", "package", "no", "rules: x/a_test.go:1:1"},
	} {
		t.Run(name, func(t *testing.T) {
			layout, files := small()
			changed := strings.Replace(files[c.file], c.from, c.to, 1)
			require.NotEqual(t, files[c.file], changed)
			files[c.file] = changed
			status, _, problems := try(t, layout, files)
			if c.want == "" {
				require.Zero(t, status, problems)
				return
			}
			require.NotZero(t, status)
			require.Contains(t, problems, c.want)
		})
	}
}

func TestWhatCannotBeReadIsAnError(t *testing.T) {
	for _, gone := range []string{"README.md", "list.txt"} {
		layout, files := small()
		delete(files, gone)
		status, _, problems := try(t, layout, files)
		require.Equal(t, 2, status)
		require.Contains(t, problems, gone)
	}
	require.Equal(t, 2, run([]string{"extra"}, rules, io.Discard, io.Discard))
}
