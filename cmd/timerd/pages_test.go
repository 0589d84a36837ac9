package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	// metricOfPage is a metric of the module's with the labels that a page gives it, as a query of Prometheus has them.
	metricOfPage = regexp.MustCompile(`\b(timers_[a-z0-9_]+)\{([^}]*)\}`)
	labelOfPage  = regexp.MustCompile(`(\w+)=~?"`)
	metricRow    = regexp.MustCompile("(?m)^\\| `(timers_[a-z0-9_]+)` \\| \\w+ \\| ([^|]*)\\|")
	targetOfPage = regexp.MustCompile("`make ([a-z][a-z0-9-]*)")
	targetTyped  = regexp.MustCompile(`(?m)^make ([a-z][a-z0-9-]*)`)
)

// pages are the documents of the repository by their paths, without what is no page for readers.
func pages(t *testing.T) map[string]string {
	t.Helper()
	list := exec.Command("git", "ls-files", "*.md")
	list.Dir = "../.."
	out, err := list.Output()
	if err != nil {
		t.Skip("left out: no checkout of git")
	}
	found := map[string]string{}
	for _, path := range strings.Fields(string(out)) {
		text, err := os.ReadFile(filepath.Join("..", "..", path))
		require.NoError(t, err)
		found[path] = string(text)
	}
	require.Greater(t, len(found), 50)
	return found
}

// TestPages_MetricsExist: a metric that a page names with labels is in the table of operate.md, which is held to the code, and has
// those labels.
func TestPages_MetricsExist(t *testing.T) {
	all, checked := pages(t), 0
	labels := map[string]string{}
	for _, row := range metricRow.FindAllStringSubmatch(all["x/timers/docs/operate/operate.md"], -1) {
		labels[row[1]] = row[2]
	}
	require.Greater(t, len(labels), 20)
	for path, text := range all {
		for _, metric := range metricOfPage.FindAllStringSubmatch(text, -1) {
			checked++
			require.Contains(t, labels, metric[1], path)
			for _, label := range labelOfPage.FindAllStringSubmatch(metric[2], -1) {
				require.Contains(t, labels[metric[1]], "`"+label[1]+"`", "%s: %s", path, metric[0])
			}
		}
	}
	require.Positive(t, checked)
}

// TestPages_MakeTargetsExist: what a page says to make is a target.
func TestPages_MakeTargetsExist(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	require.NoError(t, err)
	checked := 0
	for path, text := range pages(t) {
		targets := targetOfPage.FindAllStringSubmatch(text, -1)
		for _, block := range fenced.FindAllStringSubmatch(text, -1) {
			targets = append(targets, targetTyped.FindAllStringSubmatch(block[1], -1)...)
		}
		for _, target := range targets {
			checked++
			require.Contains(t, string(makefile), "\n"+target[1]+":", "%s: make %s", path, target[1])
		}
	}
	require.Greater(t, checked, 50)
}

var (
	codeOfPage = regexp.MustCompile("(?:`timers/|\\b[Ee]rrors? )(\\d+)\\b")
	codeOfGo   = regexp.MustCompile(`Register\(ModuleName, (\d+),`)
	pathOfPage = regexp.MustCompile("`((?:[\\w.-]+/)+[\\w.-]+\\.(?:go|md|json|sh|mjs|ts|rs|proto|txt|wasm|yml|qnt))`")
)

// TestPages_ErrorCodesExist: a code of the module's that a page names is registered.
func TestPages_ErrorCodesExist(t *testing.T) {
	registered, err := os.ReadFile("../../x/timers/types/errors.go")
	require.NoError(t, err)
	codes := map[string]bool{}
	for _, code := range codeOfGo.FindAllStringSubmatch(string(registered), -1) {
		codes[code[1]] = true
	}
	require.Greater(t, len(codes), 50)
	checked := 0
	for path, text := range pages(t) {
		for _, code := range codeOfPage.FindAllStringSubmatch(strings.ReplaceAll(text, "sdk error ", ""), -1) {
			checked++
			require.True(t, codes[code[1]], "%s: %s", path, code[0])
		}
	}
	require.Greater(t, checked, 5)
}

// TestPages_FilesExist: a file that a page names with its directory is in the repository, below the page's, the module's or
// another directory.
func TestPages_FilesExist(t *testing.T) {
	list := exec.Command("git", "ls-files")
	list.Dir = "../.."
	out, err := list.Output()
	require.NoError(t, err)
	files := "\n" + string(out)
	// These stand for files, or are made by the reader.
	made := map[string]bool{"testdata/scenarios/NAME.json": true, "triggers/KIND.go": true, "artifacts/first_contract.wasm": true}
	checked := 0
	for page, text := range pages(t) {
		if page == "CHANGELOG.md" {
			continue // It names what is gone, too.
		}
		for _, path := range pathOfPage.FindAllStringSubmatch(text, -1) {
			checked++
			there := strings.Contains(files, "\n"+path[1]+"\n") || strings.Contains(files, "/"+path[1]+"\n")
			require.True(t, there || made[path[1]], "%s: %s", page, path[1])
		}
	}
	require.Greater(t, checked, 50)
}
