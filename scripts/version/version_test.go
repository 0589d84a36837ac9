package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestVersion_IsTheSameEverywhere is `scripts/version.sh --check`. The tags are those of all Go modules that others
// require.
func TestVersion_IsTheSameEverywhere(t *testing.T) {
	root := filepath.Join("..", "..")
	var out, problems bytes.Buffer
	require.Zero(t, run([]string{"-root", root, "-check"}, &out, &problems), "%s", &problems)
	all, err := places(root)
	require.NoError(t, err)
	required := map[string]bool{}
	for _, p := range all {
		if filepath.Base(p.file) != "go.mod" {
			continue
		}
		content, err := os.ReadFile(filepath.Join(root, p.file))
		require.NoError(t, err)
		for _, match := range p.pattern.FindAllString(string(content), -1) {
			path, _, _ := strings.Cut(match[strings.Index(match, modulePath):], " ")
			required[strings.TrimPrefix(path, modulePath+"/")] = true
		}
	}
	require.NotEmpty(t, required)
	for dir := range required {
		require.Contains(t, tagged, dir, "it is required, and no tag of a release is its")
	}
	for _, dir := range tagged {
		require.FileExists(t, filepath.Join(root, dir, "go.mod"))
	}
}

// small is a repository with all places, which state 0.1.0.
func small(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	locked := func(name, version string) string { return fmt.Sprintf("name = %q\nversion = %q\n\n", name, version) }
	foreign := "module other.example/a\n\nrequire " + modulePath + "/x/timers v9.9.9\n"
	crate := "[package]\nname = \"it\"\nversion = \"0.1.0\"\n\n[dependencies]\nother = { version = \"9.9.9\" }\n"
	for file, content := range map[string]string{
		numberFile: "0.1.0\n",
		changelog:  "# Changelog\n\n## Unreleased\n\n- more\n\n## 0.1.0 - 2026-01-02\n\n- first\n",
		"go.mod": "module " + modulePath + "\n\nrequire (\n\tother.example/a v9.9.9\n\t" + modulePath +
			"/x/timers v0.1.0\n)\n\nreplace " + modulePath + "/x/timers => ./x/timers\n",
		"lab/go.mod": "module " + modulePath + "/lab\n\nrequire " + modulePath + "/x/timers v0.1.0\n",
		"clients/rust/Cargo.toml": `cw-timers = { path = "a", version = "0.1.0" }` + "\n" +
			`cw-timers-test = { path = "b", version = "0.1.0" }` + "\n",
		"clients/rust/Cargo.lock": locked("cw-timers", "0.1.0") + locked("cw-timers-test", "0.1.0") +
			locked("b", "9.9.9"),
		"clients/ts/package.json":                  "{\n  \"version\": \"0.1.0\",\n  \"dependencies\": {}\n}\n",
		"clients/rust/cw-timers/Cargo.toml":        crate,
		"clients/rust/cw-timers-test/Cargo.toml":   crate,
		"clients/rust/contracts/switch/Cargo.toml": crate,
		"lab/testdata/go.mod":                      foreign,
		"clients/ts/node_modules/other/go.mod":     foreign,
		"clients/rust/target/package/go.mod":       foreign,
		".cache/copied/go.mod":                     foreign,
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, file)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(root, file), []byte(content), 0o600))
	}
	return root
}

func call(root string, arguments ...string) (status int, out, problems string) {
	var stdout, stderr bytes.Buffer
	status = run(append([]string{"-root", root}, arguments...), &stdout, &stderr)
	return status, stdout.String(), stderr.String()
}

func content(t *testing.T, root, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, file))
	require.NoError(t, err)
	return string(text)
}

func TestVersion_IsWrittenEverywhere(t *testing.T) {
	root := small(t)
	status, out, problems := call(root, "1.0.0-rc.1")
	require.Zero(t, status, problems)
	require.Equal(t, "all places state 1.0.0-rc.1; a release of it has the tags\n"+
		"x/timers/v1.0.0-rc.1\nlab/v1.0.0-rc.1\nwasmbinding/v1.0.0-rc.1\nevmbinding/v1.0.0-rc.1\nv1.0.0-rc.1\n", out)
	for file, want := range map[string]int{
		numberFile: 1, changelog: 1, "go.mod": 1, "lab/go.mod": 1, "clients/rust/Cargo.toml": 2, "clients/rust/Cargo.lock": 2,
		"clients/rust/cw-timers/Cargo.toml": 1, "clients/rust/cw-timers-test/Cargo.toml": 1, "clients/ts/package.json": 1,
		"clients/rust/contracts/switch/Cargo.toml": 0, "lab/testdata/go.mod": 0, "clients/ts/node_modules/other/go.mod": 0,
		"clients/rust/target/package/go.mod": 0, ".cache/copied/go.mod": 0,
	} {
		require.Equal(t, want, strings.Count(content(t, root, file), "1.0.0-rc.1"), file)
	}
	require.Contains(t, content(t, root, "go.mod"), "\tother.example/a v9.9.9\n\t"+modulePath+"/x/timers v1.0.0-rc.1\n")
	require.Equal(t, "# Changelog\n\n## 1.0.0-rc.1 - unreleased\n\n- more\n\n## 0.1.0 - 2026-01-02\n\n- first\n",
		content(t, root, changelog))

	status, _, problems = call(root, "-check")
	require.Zero(t, status, problems)
	status, _, problems = call(root, "1.0.0")
	require.Zero(t, status, problems)
	require.Contains(t, content(t, root, changelog), "## 1.0.0 - unreleased\n\n- more\n\n## 0.1.0 - 2026-01-02\n")
}

func TestVersion_NamesEachPlaceThatDiffers(t *testing.T) {
	for _, file := range []string{
		"go.mod", "lab/go.mod", "clients/rust/Cargo.toml", "clients/rust/Cargo.lock", "clients/rust/cw-timers/Cargo.toml",
		"clients/rust/cw-timers-test/Cargo.toml", "clients/ts/package.json", changelog,
	} {
		root := small(t)
		text := content(t, root, file)
		require.NoError(t, os.WriteFile(filepath.Join(root, file), []byte(strings.Replace(text, "0.1.0", "0.1.1", 1)), 0o600))
		status, _, problems := call(root, "-check")
		require.Equal(t, 1, status, file)
		require.Contains(t, problems, "  "+file+", line ")
		require.Contains(t, problems, ": 0.1.1\n")
		require.Equal(t, 1, strings.Count(problems, ", line "))
	}
}

func TestVersion_RefusesWhatIsNone(t *testing.T) {
	for _, number := range []string{
		"", "v1.0.0", "1.0", "1.0.0.0", "01.0.0", "1.0.0-", "1.0.0-rc..1", "1.0.0-rc.01", "1.0.0+build", "2.0.0", "10.0.0",
		"1.0.0\n", "1.0.0 ", "1.0.0-ü", "$(id)",
	} {
		root := small(t)
		status, _, problems := call(root, number)
		require.Equal(t, 2, status, number)
		require.Contains(t, problems, "is no version: want", number)
		status, _, problems = call(root, "-check")
		require.Zero(t, status, "it is as before: %s", problems)
	}
	for _, arguments := range [][]string{{}, {"1.0.0", "1.0.1"}, {"-check", "1.0.0"}} {
		status, _, _ := call(small(t), arguments...)
		require.Equal(t, 2, status, arguments)
	}
}

// TestVersion_WritesNothingIfAPlaceIsMissing: nothing is half written.
func TestVersion_WritesNothingIfAPlaceIsMissing(t *testing.T) {
	for file, without := range map[string]string{
		"clients/ts/package.json": "{}\n", "clients/rust/Cargo.lock": "name = \"cw-timers\"\nversion = \"0.1.0\"\n",
		changelog: "# Changelog\n", "clients/rust/cw-timers/Cargo.toml": "[package]\n\n[lib]\nversion = \"0.1.0\"\n",
	} {
		root := small(t)
		require.NoError(t, os.WriteFile(filepath.Join(root, file), []byte(without), 0o600))
		for _, arguments := range []string{"1.0.0", "-check"} {
			status, _, problems := call(root, arguments)
			require.Equal(t, 2, status, file)
			require.Contains(t, problems, file)
		}
		require.Equal(t, "0.1.0\n", content(t, root, numberFile))
		require.Contains(t, content(t, root, "lab/go.mod"), "v0.1.0")
	}
}

func TestVersion_ReleasedChangesKeepTheirNumber(t *testing.T) {
	root := small(t)
	released := "# Changelog\n\n## 0.1.0 - 2026-01-02\n\n- first\n"
	require.NoError(t, os.WriteFile(filepath.Join(root, changelog), []byte(released), 0o600))
	status, _, problems := call(root, "0.2.0")
	require.Equal(t, 2, status)
	require.Contains(t, problems, "0.1.0 is released")
	status, _, problems = call(root, "0.1.0")
	require.Zero(t, status, problems)
	require.Equal(t, released, content(t, root, changelog))
}
