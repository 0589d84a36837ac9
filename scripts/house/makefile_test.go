package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	recipeDir     = regexp.MustCompile(`cd ([a-z/]+) &&`)
	recipePackage = regexp.MustCompile(`^\./([a-z0-9_/]+?)(?:/\.\.\.)?\)?$`)
	recipeTests   = regexp.MustCompile(`-run '?([A-Za-z_]+(?:\$\$)?)`)
)

// TestMakefile_NamesPackagesAndTestsThatExist: a target that no check runs does not break unseen when a package or a test gets
// another name.
func TestMakefile_NamesPackagesAndTestsThatExist(t *testing.T) {
	root := filepath.Join("..", "..")
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	require.NoError(t, err)
	packages, tests := 0, 0
	for _, line := range strings.Split(string(makefile), "\n") {
		if !strings.Contains(line, "go test ") {
			continue
		}
		dir := root
		if in := recipeDir.FindStringSubmatch(line); in != nil {
			dir = filepath.Join(root, in[1])
		}
		named := ""
		for _, word := range strings.Fields(line) {
			if found := recipePackage.FindStringSubmatch(word); found != nil {
				packages++
				named = filepath.Join(dir, found[1])
				require.DirExists(t, named, line)
			}
		}
		for _, found := range recipeTests.FindAllStringSubmatch(line, -1) {
			tests++
			require.True(t, hasTest(t, named, strings.ReplaceAll(found[1], "$$", "$")), "%s has no test %s: %s", named, found[1], line)
		}
	}
	require.Greater(t, packages, 15)
	require.Greater(t, tests, 7)
}

// hasTest reports whether a directory has a test whose name matches a regular expression, as go test -run matches.
func hasTest(t *testing.T, dir, name string) bool {
	t.Helper()
	pattern, declared := regexp.MustCompile(name), regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	sources, err := fs.Glob(os.DirFS(dir), "*_test.go")
	require.NoError(t, err)
	return slices.ContainsFunc(sources, func(source string) bool {
		text, err := os.ReadFile(filepath.Join(dir, source))
		require.NoError(t, err)
		return slices.ContainsFunc(declared.FindAllSubmatch(text, -1), func(test [][]byte) bool { return pattern.Match(test[1]) })
	})
}
