package system

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// commandBlock is a block of commands of a page.
var commandBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")

// port is the first of the page's network: below those that other tests take.
const port = 19_000

// TestLongFirstContract_ThePageRuns: all commands of docs/use/first-contract.md do what it says, one after the other, from the
// template to a contract that woke twice. It needs Rust, and crates once.
func TestLongFirstContract_ThePageRuns(t *testing.T) {
	if err := exec.Command("cargo", "--version").Run(); err != nil {
		t.Skip("left out: cargo is not installed")
	}
	if !hasRustSources("rustc") && !hasRustSources("/usr/bin/rustc") {
		t.Skip("left out: no toolchain has the sources of Rust's standard library")
	}
	page, err := os.ReadFile("../../x/timers/docs/use/first-contract.md")
	require.NoError(t, err)
	var blocks []string
	for _, found := range commandBlock.FindAllStringSubmatch(string(page), -1) {
		blocks = append(blocks, found[1])
	}
	require.Len(t, blocks, 7, "the page has other blocks: say here what they do")
	generate, render, build, network, wake, look, stop := blocks[0], blocks[1], blocks[2], blocks[3], blocks[4], blocks[5], blocks[6]
	if err := exec.Command("cargo", "generate", "--version").Run(); err == nil {
		render = generate
	}

	dir := t.TempDir()
	checkout := checkoutIn(t, dir)
	waits := `for ((i = 0; i < 600; i++)); do
	timerd query wasm contract-state smart "$CONTRACT" '{"state":{}}' --output json | grep -q '"woke":[2-9]' && break
	sleep 0.2
done
`
	script := "set -euo pipefail\n" + render + "(" + build + ")\ntrap 'make localnet-stop' EXIT\n" + network + wake + waits + look + stop
	var env []string
	if os.Getenv("CARGO_TARGET_DIR") == "" {
		root, err := filepath.Abs("../..")
		require.NoError(t, err)
		env = append(env, "CARGO_TARGET_DIR="+filepath.Join(root, "clients/rust/target"))
	}
	text := runPage(t, checkout, port, script, env...)
	require.Contains(t, text, "test result: ok. 4 passed")
	require.FileExists(t, filepath.Join(dir, "first-contract/schema/first-contract.json"))
	for _, said := range []string{"code 1 is stored: ", " is made: transaction ", "wake-up"} {
		require.Contains(t, text, said)
	}
	require.Regexp(t, `woke: [2-9]`, text, "as people see it")
}

// checkoutIn makes a checkout of the test's own, with the binary of these tests in place of the one that `make localnet` would build.
func checkoutIn(t *testing.T, dir string) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	checkout := filepath.Join(dir, "checkout")
	for _, made := range []string{"scripts", "build"} {
		require.NoError(t, os.MkdirAll(filepath.Join(checkout, made), 0o755))
	}
	localnet, err := os.ReadFile(filepath.Join(root, "scripts/localnet.sh"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(checkout, "scripts/localnet.sh"), localnet, 0o755))
	for from, to := range map[string]string{root + "/clients": "clients", binary: "build/timerd"} {
		require.NoError(t, os.Symlink(from, filepath.Join(checkout, to)))
	}
	return checkout
}

// runPage runs the commands of a page in a checkout, whose network has one validator and its ports from one on, and returns what they
// print.
func runPage(t *testing.T, checkout string, port int, script string, env ...string) string {
	t.Helper()
	targets := strings.NewReplacer("make localnet-stop", "scripts/localnet.sh stop", "make localnet", "scripts/localnet.sh start")
	run := exec.Command("bash", "-c", targets.Replace(script))
	run.Dir = checkout
	run.Env = append(append(os.Environ(), "VALIDATORS=1", fmt.Sprintf("LOCALNET_PORT=%d", port)), env...)
	out, err := run.CombinedOutput()
	require.NoError(t, err, string(out))
	return string(out)
}

// hasRustSources tells whether a toolchain can build Rust's standard library.
func hasRustSources(rustc string) bool {
	root, err := exec.Command(rustc, "--print", "sysroot").Output()
	if err != nil {
		return false
	}
	_, err = os.Stat(filepath.Join(strings.TrimSpace(string(root)), "lib/rustlib/src/rust/library/Cargo.toml"))
	return err == nil
}
