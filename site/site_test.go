package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// repository is the plan of the real site.
func repository(t *testing.T) *plan {
	t.Helper()
	p, err := readPlan("..")
	require.NoError(t, err)
	return p
}

// TestMap_EveryLinkOfEveryPageLeadsSomewhere, and every Markdown file is on a page or left out with a reason.
func TestMap_EveryLinkOfEveryPageLeadsSomewhere(t *testing.T) {
	p := repository(t)
	missing, err := p.unlisted()
	require.NoError(t, err)
	require.Empty(t, missing, "a Markdown file that site/map.json does not name")
	for name := range p.LeftOut {
		require.FileExists(t, filepath.Join("..", name))
	}
	out, err := p.render("main")
	require.NoError(t, err)
	for _, one := range p.pages() {
		require.True(t, strings.HasPrefix(string(out[one.Path+".md"]), "# "), one.Path)
	}
	require.Contains(t, string(out["tutorials/wiring.md"]), "(../extend/wiring-options.md")
	economics := string(out["operate/economics.md"])
	require.Contains(t, economics, "policies.json` ([run it here](../simulator.md?table=policies))")
}

// TestMap_PagesAreShort: at most 3,000 words, but those that are looked up.
func TestMap_PagesAreShort(t *testing.T) {
	p := repository(t)
	out, err := p.render("main")
	require.NoError(t, err)
	for _, one := range p.pages() {
		if words := len(strings.Fields(string(out[one.Path+".md"]))); !one.reference {
			require.LessOrEqual(t, words, 3_000, "%s: give some of its sections to a page of their own", one.Path)
		}
	}
}

// TestMap_EachTutorialIsRun by a test, which names its file.
func TestMap_EachTutorialIsRun(t *testing.T) {
	tests := map[string]string{
		"site/pages/tutorials/first-timer.md": "testutil/system/tutorials_test.go",
		"site/pages/tutorials/node.md":        "testutil/system/tutorials_test.go",
		"site/pages/tutorials/vote.md":        "testutil/system/tutorials_test.go",
		"x/timers/docs/use/first-contract.md": "testutil/system/first_contract_test.go",
		"evmbinding/docs/evm.md":              "evmbinding/testutil/evmapp/nodetest/tutorial.mjs",
		"x/timers/docs/extend/wiring.md":      "testutil/exampleapp/after/docs_test.go",
	}
	for _, s := range repository(t).Sections {
		for _, one := range s.Pages {
			if !strings.HasPrefix(one.Path, "tutorials/") {
				continue
			}
			code, err := os.ReadFile(filepath.Join("..", tests[one.File]))
			require.NoError(t, err, "%s: name the test that runs it", one.File)
			require.Contains(t, string(code), strings.TrimSuffix(filepath.Base(one.File), ".md"))
		}
	}
}

// TestPages_LinesAreShort: 120 bytes.
func TestPages_LinesAreShort(t *testing.T) {
	for name := range repository(t).files {
		if !strings.HasPrefix(name, "site/") {
			continue
		}
		raw, err := os.ReadFile(filepath.Join("..", name))
		require.NoError(t, err)
		for i, text := range strings.Split(string(raw), "\n") {
			require.LessOrEqual(t, len(text), 120, "%s:%d", name, i+1)
		}
	}
}

// TestPages_BlocksHaveALanguage: they are shown as what they are, and a test knows commands from what they print.
func TestPages_BlocksHaveALanguage(t *testing.T) {
	checked := 0
	for name := range repository(t).files {
		if !strings.HasSuffix(name, ".md") || strings.HasPrefix(name, "site/testdata/") {
			continue
		}
		raw, err := os.ReadFile(filepath.Join("..", name))
		require.NoError(t, err)
		within := false
		for i, text := range strings.Split(string(raw), "\n") {
			language, fence := strings.CutPrefix(strings.TrimSpace(text), "```")
			if !fence {
				continue
			}
			if within = !within; within {
				require.NotEmpty(t, language, "%s:%d", name, i+1)
				checked++
			}
		}
	}
	require.Greater(t, checked, 250)
}

// TestSymptoms_TitlesStandAlone: a result of the search shows the title alone. It has the verdict, if the page is one's, and
// no word for something that only the page before has named.
func TestSymptoms_TitlesStandAlone(t *testing.T) {
	p := repository(t)
	verdicts := 0
	for _, one := range p.pages() {
		if !strings.HasPrefix(one.Path, "symptoms/") {
			continue
		}
		require.NotRegexp(t, `^It(s)? `, one.Title, one.Path)
		if verdict, found := strings.CutPrefix(one.About, "verdict "); found {
			verdicts++
			require.Contains(t, one.Title, "("+verdict+")", one.Path)
		}
		require.Equal(t, one.Path == "symptoms/no-funds", strings.Contains(one.Title, "Insufficient funds"), one.Path)
	}
	require.Greater(t, verdicts, 12)
}

// TestRender_LinksFollowTheMap: to pages, to parts of pages by anchors, to files of the repository, and to pictures.
// Code and comments are no links.
func TestRender_LinksFollowTheMap(t *testing.T) {
	p, err := readPlan(filepath.Join("testdata", "repo"))
	require.NoError(t, err)
	out, err := p.render("v1.2.3")
	require.NoError(t, err)
	for _, name := range []string{"index", "more/long", "more/part", "more/two"} {
		want, err := os.ReadFile(filepath.Join("testdata", "want", name+".md"))
		require.NoError(t, err)
		require.Equal(t, string(want), string(out[name+".md"]), name)
	}
	require.Contains(t, string(out["files/docs/p.svg"]), "<svg")
	require.Len(t, out, 5)
}

// changed is the plan of the repository of testdata with one of its files changed.
func changed(t *testing.T, name string, change func(text string) string) (*plan, error) {
	t.Helper()
	files := written{}
	require.NoError(t, copyInto(files, filepath.Join("testdata", "repo"), ""))
	after := change(string(files[name]))
	require.NotEqual(t, string(files[name]), after)
	files[name] = []byte(after)
	dir := t.TempDir()
	require.NoError(t, writeAll(dir, files))
	return readPlan(dir)
}

// TestRender_NamesEachLinkThatLeadsNowhere.
func TestRender_NamesEachLinkThatLeadsNowhere(t *testing.T) {
	for target, says := range map[string]string{
		"none.md":                        "a.md: link to none.md: there is no such file",
		"docs/b.md#none":                 "a.md: link to docs/b.md#none: the file has no such heading",
		"../../etc/passwd":               "a.md: link to ../../etc/passwd: it is outside of the repository",
		"<docs/b.md>":                    "a.md: a link of the form",
		"docs/b.md \"a title\"":          "a.md: a link of the form",
		"docs/b.md)\n\n[x]: docs/b.md (": "a.md: a link of the form",
	} {
		p, err := changed(t, "a.md", func(text string) string { return text + "\n[b](" + target + ")\n" })
		require.NoError(t, err)
		_, err = p.render("main")
		require.ErrorContains(t, err, says)
	}
}

// TestMap_MistakesAreNamed.
func TestMap_MistakesAreNamed(t *testing.T) {
	for _, c := range []struct{ from, to, says string }{
		{`"path": "index"`, `"path": "../index"`, `page "../index": want a path of its own`},
		{`"path": "more/part"`, `"path": "index"`, `page "index": want a path of its own`},
		{`"about": "the first"`, `"about": ""`, "page index: about is missing"},
		{`"sections": ["deep-part"], `, ``, "docs/b.md: pages more/long and more/part both show its beginning"},
		{`["deep-part"]`, `["none"]`, "docs/b.md: page more/part shows the section none, which there is not"},
		{`["deep-part"]`, `["λ"]`, "both show the section λ"},
		{`"file": "a.md"`, `"file": "none.md"`, "none.md"},
		{`"title": "T"`, `"titel": "T"`, "unknown field"},
	} {
		_, err := changed(t, "site/map.json", func(text string) string { return strings.Replace(text, c.from, c.to, 1) })
		require.ErrorContains(t, err, c.says)
	}
}

// TestFinish_ListsVersionsAndEachPage: at the root the newest release, main without one; in a version each page as
// Markdown.
func TestFinish_ListsVersionsAndEachPage(t *testing.T) {
	p, dir := repository(t), t.TempDir()
	read := func(name string) string {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		return string(raw)
	}
	for _, c := range []struct {
		version, first string
		all            []string
	}{
		{"main", "main", []string{"main"}},
		{"v0.9.1", "v0.9.1", []string{"v0.9.1", "main"}},
		{"v0.10.0", "v0.10.0", []string{"v0.10.0", "v0.9.1", "main"}},
		{"v0.9.2", "v0.10.0", []string{"v0.10.0", "v0.9.2", "v0.9.1", "main"}},
	} {
		require.NoError(t, finish(p, c.version, dir))
		var all []string
		require.NoError(t, json.Unmarshal([]byte(read("versions.json")), &all))
		require.Equal(t, c.all, all)
		require.Contains(t, read("index.html"), "url="+c.first+"/\"")
		own, root := read(c.version+"/llms.txt"), read("llms.txt")
		require.True(t, strings.HasPrefix(own, "# x/timers\n\n> Native timers"), own)
		for _, one := range p.pages() {
			require.Equal(t, 1, strings.Count(own, "]("+one.Path+".md): "+one.About+"\n"), one.Path)
			require.Equal(t, 1, strings.Count(root, "]("+c.first+"/"+one.Path+".md): "+one.About+"\n"), one.Path)
			require.NotEmpty(t, read(c.version+"/"+one.Path+".md"))
		}
		require.NotContains(t, read(c.version+"/index.md"), "](../../")
	}
	require.Contains(t, read("v0.9.2/start/repository.md"), p.Repository+"/blob/v0.9.2/CONTRIBUTING.md")
}

// TestRun_RefusesWhatIsNoVersion: it becomes the name of a directory that is removed.
func TestRun_RefusesWhatIsNoVersion(t *testing.T) {
	for _, version := range []string{"", "..", "../main", "v1", "v1.2.3/..", "latest", "v1.2.3-rc1"} {
		require.ErrorContains(t, run([]string{"stage", version}), "want main, or a release such as v0.2.0")
	}
	require.ErrorContains(t, run([]string{"build", "main"}), "want stage VERSION or finish VERSION")
}

// TestSlugs_AreThoseOfGitHub.
func TestSlugs_AreThoseOfGitHub(t *testing.T) {
	anchors := slugs{}
	for _, c := range [][2]string{
		{"1.14 Guards", "114-guards"},
		{"λ and the reserve price", "λ-and-the-reserve-price"},
		{"Policy `eip1559`", "policy-eip1559"},
		{"`x/timers`", "xtimers"},
		{"Decoding, payers' records and allowances", "decoding-payers-records-and-allowances"},
		{"tx timers cancel [id-prefix]...", "tx-timers-cancel-id-prefix"},
		{"A [link](x.md) in it", "a-link-in-it"},
		{"Try it", "try-it"},
		{"Try it", "try-it-1"},
	} {
		require.Equal(t, c[1], anchors.of(c[0]))
	}
}

// FuzzRelink: links that stay leave any document as it is, but for comments, the ends of lines and of the document.
func FuzzRelink(f *testing.F) {
	for _, text := range []string{
		"# A\n\n[a](b) `[c](d)` ![e](f)\n", "```\n[a](b)\n``\n```\n~~~\nx", "``` a\n`b\n```\n`c`` `d\n\n`",
		"[a](b c)", "[x]: y", "`\n\n`[a](b)",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		lines := parse(text)
		var want strings.Builder
		for _, l := range lines {
			want.WriteString(l.text + "\n")
		}
		masked := mask(want.String())
		require.Len(t, masked, want.Len())
		got, err := relink(lines, func(target string, _ bool) string { return target })
		if err == nil {
			require.Equal(t, want.String(), got)
		}
	})
}
