package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// namedPath is a path below the module as comments, pages and make name it.
var namedPath = regexp.MustCompile(`(?:^|[\s"'(\x60./])x/timers/([a-z][a-z0-9_/-]*(?:\.[a-z]+)?)`)

// TestPaths_NameWhatIsThere: no comment, page, script or target names a package or a file of the module that is gone. The fixtures of
// this package make up their own, scripts/nextsdk.sh writes some; tags of releases begin as a path does.
func TestPaths_NameWhatIsThere(t *testing.T) {
	root := filepath.Join("..", "..")
	listed := exec.Command("git", "ls-files", "*.go", "*.md", "*.sh", "Makefile", ".ci/*")
	listed.Dir = root
	files, err := listed.Output()
	require.NoError(t, err)
	found := 0
	for _, file := range strings.Fields(string(files)) {
		if strings.HasPrefix(file, "scripts/house/") || strings.HasPrefix(file, "scripts/nextsdk") || strings.HasSuffix(file, ".pb.go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, file))
		if os.IsNotExist(err) {
			continue // It is removed, and not committed yet.
		}
		require.NoError(t, err)
		for _, name := range namedPath.FindAllStringSubmatch(string(text), -1) {
			path := strings.TrimRight(name[1], "./-")
			if strings.HasPrefix(path, "v1") || strings.HasPrefix(path, "v2") {
				continue
			}
			found++
			if _, err := os.Stat(filepath.Join(root, "x", "timers", path)); err == nil {
				continue
			}
			// A package with a symbol of it, such as types.Timer.
			_, err := os.Stat(filepath.Join(root, "x", "timers", strings.TrimSuffix(path, filepath.Ext(path))))
			require.NoError(t, err, "%s names x/timers/%s", file, path)
		}
	}
	require.Greater(t, found, 500)
}

// TestContributing_StatesTheLimits: the table of CONTRIBUTING.md has the limits of lines, packages, files and fields.
func TestContributing_StatesTheLimits(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "CONTRIBUTING.md"))
	require.NoError(t, err)
	l := house.limits
	for row, limit := range map[string]int{
		"lines of the largest package": l.packageLines, "files in the largest cycle": l.cycleFiles, "fields of `block`": l.blockFields,
		"lines of the core": l.coreLines, "packages of the core": l.corePackages, "floors of the core": l.coreFloors,
		"existing sources": l.policySources, "functions above": l.functionLines,
	} {
		_, line, found := strings.Cut(string(page), "\n| "+row)
		require.True(t, found, row)
		line, _, _ = strings.Cut(line, "\n")
		cells := strings.Split(line, " | ")
		require.GreaterOrEqual(t, len(cells), 3, row)
		if row == "functions above" {
			require.Contains(t, cells[0], strconv.Itoa(limit)+" lines")
			continue
		}
		require.Equal(t, strconv.Itoa(limit), strings.ReplaceAll(cells[2], ",", ""), row)
	}
}
