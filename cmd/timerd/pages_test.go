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
	for _, row := range metricRow.FindAllStringSubmatch(all["x/timers/docs/operate.md"], -1) {
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
