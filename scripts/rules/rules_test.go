package main

import (
	"bytes"
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

func TestSentences(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"lines":           {"One rule\nin two lines. Another.", []string{"One rule in two lines.", "Another."}},
		"paragraphs":      {"One\n\nTwo", []string{"One", "Two"}},
		"marks":           {"**A** is `b` as [c](d.md#e) is.", []string{"A is b as c is."}},
		"run-in heading":  {"**Payload.** It is bytes. Any.", []string{"Payload. It is bytes.", "Any."}},
		"code":            {"See `a. B` here. `c` is d.", []string{"See a. B here.", "c is d."}},
		"abbreviation":    {"A number, e.g. Two, i.e. Three (cf. Four). Five.", []string{"A number, e.g. Two, i.e. Three (cf. Four).", "Five."}},
		"decimals":        {"From 0.5 to 1.5. Then 2.", []string{"From 0.5 to 1.5.", "Then 2."}},
		"digit":           {"It holds. 0 is none.", []string{"It holds.", "0 is none."}},
		"lower case":      {"The file a.go. is odd", []string{"The file a.go. is odd"}},
		"parentheses":     {"It holds (mostly.) Or not.", []string{"It holds (mostly.)", "Or not."}},
		"question":        {"Is it? It is! Yes.", []string{"Is it?", "It is!", "Yes."}},
		"items":           {"These:\n\n- one;\n  goes on. Two\n- three\n1. four", []string{"These:", "one; goes on.", "Two", "three", "four"}},
		"paragraph below": {"- one\n\n  Below it. Again.", []string{"one", "Below it.", "Again."}},
		"table":           {"| a | b |\n|---|--:|\n| `c` | d. E |\n| f | |", []string{"c | d. E", "f"}},
		"block of code":   {"As in\n\n```\na = b. C\n\n# no heading\n| no | table |\n```\n\nso.", []string{"As in", "a = b. C # no heading | no | table |", "so."}},
		"block in item":   {"- as in\n\n  ```go\n  a\n  ```\n", []string{"as in", "a"}},
		"comments":        {"A.\n<!-- B. -->\nC.", []string{"A.", "C."}},
		"nothing":         {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var texts []string
			for _, s := range sentences("# Title\n\nNot numbered.\n\n## 1. First\n\n"+c.text+"\n\n## Last\n\nNeither.\n", nil) {
				require.Equal(t, "1", s.section)
				require.Equal(t, "First", s.title)
				texts = append(texts, s.text)
			}
			require.Equal(t, c.want, texts)
		})
	}
}

func TestSentencesHaveTheirPlace(t *testing.T) {
	document := "## 2. A\n\nOne.\nTwo goes\non. Three. Four\nends.\n\n### 2.1 B\n\n| h | i |\n|---|---|\n| a | b |\n| c | d |\n\n### 2.2 C\n\n| h | i |\n|---|---|\n| a | b |\n"
	found := sentences(document, []string{"2.2"})
	require.Equal(t, []sentence{
		{"2", "A", "One.", 3},
		{"2", "A", "Two goes on.", 4},
		{"2", "A", "Three.", 5},
		{"2", "A", "Four ends.", 5},
		{"2.1", "B", "a | b", 12},
		{"2.1", "B", "c | d", 13},
		{"2.2", "C", "h | i / a | b", 17},
	}, found)
}

func TestADigestIsOfTheWords(t *testing.T) {
	of := func(text string) string { return sentences("## 1. A\n\n"+text, nil)[0].digest() }
	require.Equal(t, of("A rule of `two` lines."), of("A rule\nof two   lines."))
	require.NotEqual(t, of("A rule."), of("A rule"))
	require.NotEqual(t, of("At most 8."), of("At most 9."))
}

func TestTags(t *testing.T) {
	tags, err := tagsOf("a_test.go", []byte(`package a

// TestA shows two.
//
// Rule: 1-a, 1.2-b
// Rule: 2-c
func TestA(t *testing.T) {}

// Rule: 1-d
func FuzzB(f *testing.F) {}

// Rule: 1-e
func helper() {}

// Rule: 1-f
func (suite) TestC() {}

// Rule: 1-g
func Testing() {}

func TestD(t *testing.T) {
	// Rule: 1-h
	//  Rule: no tag
}
`))
	require.NoError(t, err)
	require.Equal(t, []tag{
		{"1-a", "a_test.go", 5, "TestA"},
		{"1.2-b", "a_test.go", 5, "TestA"},
		{"2-c", "a_test.go", 6, "TestA"},
		{"1-d", "a_test.go", 9, "FuzzB"},
		{"1-e", "a_test.go", 12, ""},
		{"1-f", "a_test.go", 15, ""},
		{"1-g", "a_test.go", 18, ""},
		{"1-h", "a_test.go", 22, ""},
	}, tags)
}

// small is a repository with a rule of two sentences, one that a scenario shows, one without a test, and a sentence
// that states none.
func small() (layout, map[string]string) {
	files := map[string]string{
		"README.md": "# Title\n\n## 1. First\n\nIt fires once. Never twice. For example.\n\n## 2. Second\n\n- It is paid.\n- It leaves.\n",
		"list.txt": "# Head.\n\n## 1 First\n1-once ec8479 It fires once.\n1-once afa3f6 Never twice.\n1 a3ccec For example.\n" +
			"\n## 2 Second\n2-paid 8ad590 It is paid.\n  scenario poor\n!2-leaves fced36 It leaves.\n",
		"x/a_test.go":         "package a\n\n// Rule: 1-once\nfunc TestOnce(t *testing.T) {}\n",
		"s/poor.golden.jsonl": "{}\n",
	}
	return layout{reference: "README.md", list: "list.txt", tests: []string{"x"}, scenarios: "s", untested: 1}, files
}

// try runs the command on the files and returns its status and what it wrote.
func try(t *testing.T, layout layout, files map[string]string, arguments ...string) (root string, status int, out, problems string) {
	t.Helper()
	root = t.TempDir()
	for name, text := range files {
		file := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	var stdout, stderr bytes.Buffer
	status = run(append([]string{"-root", root}, arguments...), layout, &stdout, &stderr)
	return root, status, stdout.String(), stderr.String()
}

func TestACoveredReferencePasses(t *testing.T) {
	layout, files := small()
	_, status, out, problems := try(t, layout, files, "-v")
	require.Zero(t, status, problems)
	require.Equal(t, `       sentences  rules  tests  untested
1              3      1      1         0  First
2              2      2      1         1  Second
all            5      3      2         1
untested: 2-leaves
1-once
  x/a_test.go:3 TestOnce
2-paid
  s/poor.json
2-leaves
`, out)
}

// TestEachProblemIsFound: every way in which document, list and tests can come apart is one problem, at the line to edit.
func TestEachProblemIsFound(t *testing.T) {
	for name, c := range map[string]struct{ file, from, to, want string }{
		"new sentence":      {"README.md", "For example.", "For example. It is new.", `README.md:5: this sentence is new: "It is new.". Add a line for it after list.txt:6`},
		"other line breaks": {"README.md", "For example.", "For example. ", ""},
		"changed rule":      {"README.md", "once. Never", "once. Never ever", `list.txt:5: no sentence of section 1 of README.md begins "Never twice."`},
		"changed end":       {"list.txt", "8ad590 It is paid.", "000000 It is", `list.txt:9: the sentence of 2-paid in README.md:9 has changed: "It is paid."`},
		"sentence gone":     {"README.md", " For example.", "", `list.txt:6: no sentence of section 1 of README.md begins "For example."`},
		"two lines":         {"list.txt", "\n## 2", "1 a3ccec For\n\n## 2", `list.txt:7: the sentence "For example." has another line, 6`},
		"too few words":     {"list.txt", "fced36 It leaves.", "fced36 It", `list.txt:11: 2 sentences of section 2 begin so`},
		"undecided":         {"list.txt", "1 a3ccec", "?1 a3ccec", `list.txt:6: undecided: read the sentence with its tests (none)`},
		"no test":           {"x/a_test.go", "// Rule: 1-once", "//", `list.txt:4: no test shows the rule 1-once`},
		"no such rule":      {"x/a_test.go", "1-once", "1-once, 1-twice", `x/a_test.go:3: TestOnce names the rule "1-twice", which is not in list.txt`},
		"no test's comment": {"x/a_test.go", "TestOnce", "once", `x/a_test.go:3: a tag belongs in the doc comment of a test: 1-once`},
		"tested after all":  {"list.txt", "!2-leaves fced36 It leaves.", "!2-leaves fced36 It leaves.\n  scenario poor", `list.txt:11: 2-leaves has a test (none): remove the !`},
		"more untested":     {"list.txt", "  scenario poor\n", "", `list.txt:9: no test shows the rule 2-paid`},
		"too many untested": {"list.txt", "1-once ec8479", "!1-once ec8479", `list.txt:1: 2 rules have no test, at most 1 may`},
		"no scenario":       {"list.txt", "scenario poor", "scenario rich", `list.txt:9: no scenario rich with golden output in s`},
		"scenario of none":  {"list.txt", "1 a3ccec For example.", "1 a3ccec For example.\n  scenario poor", `list.txt:6: a sentence that states no rule has no scenario`},
		"malformed line":    {"list.txt", "1-once ec8479", "1-Once ec8479", `rules: list.txt:4: want`},
	} {
		t.Run(name, func(t *testing.T) {
			layout, files := small()
			changed := strings.Replace(files[c.file], c.from, c.to, 1)
			require.NotEqual(t, files[c.file], changed)
			files[c.file] = changed
			_, status, _, problems := try(t, layout, files)
			if c.want == "" {
				require.Zero(t, status, problems)
				return
			}
			require.NotZero(t, status)
			require.Contains(t, problems, c.want)
		})
	}
}

// TestWriteMarksWhatIsToBeDecided: what did not change stays as it is, and nothing is dropped.
func TestWriteMarksWhatIsToBeDecided(t *testing.T) {
	layout, files := small()
	root, status, _, problems := try(t, layout, files, "-write")
	require.Zero(t, status, problems)
	written, err := os.ReadFile(filepath.Join(root, "list.txt"))
	require.NoError(t, err)
	require.Equal(t, files["list.txt"], string(written))

	files["README.md"] = "## 1. First\n\nNever twice. It is new. It fires once.\n\n## 2. Second\n\nIt is paid. It leaves.\n\nFor example.\n"
	files["list.txt"] = strings.Replace(files["list.txt"], "8ad590", "000000", 1)
	root, status, _, problems = try(t, layout, files, "-write")
	require.Equal(t, 1, status)
	require.Contains(t, problems, "undecided")
	written, err = os.ReadFile(filepath.Join(root, "list.txt"))
	require.NoError(t, err)
	require.Equal(t, "# Head.\n\n## 1 First\n1-once afa3f6 Never twice.\n?1 5b650d It is new.\n1-once ec8479 It fires once.\n"+
		"1 a3ccec For example.\n\n## 2 Second\n?2-paid 8ad590 It is paid.\n  scenario poor\n!2-leaves fced36 It leaves.\n"+
		"?2 a3ccec For example.\n", string(written))
}

func TestWhatCannotBeReadIsAnError(t *testing.T) {
	layout, files := small()
	delete(files, "README.md")
	_, status, _, problems := try(t, layout, files)
	require.Equal(t, 2, status)
	require.Contains(t, problems, "README.md")
	layout, files = small()
	files["x/a_test.go"] = "no Go"
	_, status, _, problems = try(t, layout, files)
	require.Equal(t, 2, status)
	require.Contains(t, problems, "a_test.go")
	_, status, _, _ = try(t, layout, files, "extra")
	require.Equal(t, 2, status)
}
