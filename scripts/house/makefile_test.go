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

var (
	makeRule = regexp.MustCompile(`(?m)^([a-z0-9-]+):(.*?)(?: ##.*)?\n((?:\t.*\n)*)`)
	// longFlag is a flag by which a test has a long form.
	longFlag = regexp.MustCompile(`flag\.Bool\("([a-z]+\.(?:long|every|all))"`)
)

// TestMakefile_BeforeReleaseRunsEachLongForm: what the release asks for runs every test that has a long form in that form, each
// target whose name says that it is long, and more than make check.
func TestMakefile_BeforeReleaseRunsEachLongForm(t *testing.T) {
	root := filepath.Join("..", "..")
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	require.NoError(t, err)
	rules := map[string][]string{}
	for _, rule := range makeRule.FindAllStringSubmatch(string(makefile), -1) {
		rules[rule[1]] = rule[2:]
	}
	_, list, found := strings.Cut(string(makefile), "\nbefore_release := ")
	require.True(t, found)
	list, _, _ = strings.Cut(list, "\n")
	run := map[string]string{}
	var visit func(targets []string)
	visit = func(targets []string) {
		for _, target := range targets {
			require.Contains(t, rules, target)
			run[target] = rules[target][1]
			visit(strings.Fields(rules[target][0]))
		}
	}
	visit(strings.Fields(list))
	for _, target := range []string{"check", "test-long", "race", "histories", "campaign", "two-builds", "sdk54", "sdk55", "rust"} {
		require.Contains(t, run, target)
	}
	recipes := ""
	for target := range rules {
		if strings.HasSuffix(target, "-long") {
			require.Contains(t, run, target)
		}
		recipes += run[target]
	}
	flags := 0
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && slices.Contains([]string{"build", "node_modules", "target", ".git"}, entry.Name()) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, flag := range longFlag.FindAllSubmatch(text, -1) {
			flags++
			require.Contains(t, recipes, "-"+string(flag[1]), path)
		}
		return err
	}))
	require.Greater(t, flags, 6)
	contributing, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	require.NoError(t, err)
	require.Contains(t, string(contributing), "`make before-release`")
}
