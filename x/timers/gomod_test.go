package timers_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A chain that imports the module takes over the versions in the module's go.mod as lower bounds. These tests hold that
// file to what the module needs (CONTRIBUTING.md, "Modules").

// directRequirements are the modules that go.mod may require directly, each with what needs it.
var directRequirements = map[string]string{
	"cosmossdk.io/api":                          "AutoCLI's descriptions of commands",
	"cosmossdk.io/client/v2":                    "AutoCLI's interfaces for custom commands",
	"cosmossdk.io/collections":                  "state",
	"cosmossdk.io/core":                         "store and address interfaces, appmodule",
	"cosmossdk.io/depinject":                    "app config: ModuleInputs, registration",
	"cosmossdk.io/errors":                       "registered errors",
	"cosmossdk.io/log":                          "the lab's logger",
	"cosmossdk.io/math":                         "integers and decimals",
	"cosmossdk.io/store":                        "gas meters, the lab's multistore",
	"cosmossdk.io/x/feegrant":                   "fee allowances that name the module's message, and the lab's chain",
	"github.com/cometbft/cometbft":              "ABCI events, RPC client of the CLI",
	"github.com/cosmos/cosmos-db":               "the lab's database",
	"github.com/cosmos/cosmos-proto":            "generated code",
	"github.com/cosmos/cosmos-sdk":              "the SDK",
	"github.com/cosmos/gogoproto":               "generated code",
	"github.com/cosmos/ics23/go":                "proofs of receipts, checked",
	"github.com/golang/protobuf":                "generated REST gateway",
	"github.com/grpc-ecosystem/grpc-gateway":    "generated REST gateway",
	"github.com/hashicorp/golang-lru/v2":        "texts of addresses that are remembered",
	"github.com/prometheus/client_golang":       "metrics",
	"github.com/robfig/cron/v3":                 "tests compare cron rules with it",
	"github.com/spf13/cobra":                    "commands",
	"github.com/spf13/pflag":                    "commands",
	"github.com/spf13/viper":                    "tests of the commands",
	"github.com/stretchr/testify":               "tests",
	"github.com/tidwall/btree":                  "models in tests",
	"golang.org/x/crypto":                       "ids of timers: SHA-3",
	"golang.org/x/term":                         "size of the terminal, for the live view",
	"google.golang.org/genproto/googleapis/api": "generated code",
	"google.golang.org/grpc":                    "generated services, status codes of queries",
	"google.golang.org/protobuf":                "descriptors in tests",
	"pgregory.net/rapid":                        "property tests",
	"gopkg.in/yaml.v3":                          "timers as a file, with the lines of what it states",
	"sigs.k8s.io/yaml":                          "a timer as a file",
}

// goLine is the version of Go, or a patch release of it, that the module compiles with: that of SDK 0.53.
var goLine = regexp.MustCompile(`^1\.23(\.\d+)?$`)

// sdkLine is the SDK's release line that the module is for.
var sdkLine = regexp.MustCompile(`^v0\.53\.\d+$`)

// cometLine are the releases of CometBFT that the module allows: before v0.38.21 less than consensus could move block time
// (docs/extend/wiring.md, "go.mod").
var cometLine = regexp.MustCompile(`^v0\.38\.(2[1-9]|[3-9]\d)$`)

// foreign names modules of virtual machines and of IBC, which a chain with timers need not have. It is broad: a false
// alarm costs a look, a miss costs every importer.
var foreign = regexp.MustCompile(`(?i)wasm|\bibc|evm|ether(eum|mint)`)

// modFile is what `go mod edit -json` prints of a go.mod.
type modFile struct {
	Go, Toolchain string
	Require       []struct {
		Path, Version string
		Indirect      bool
	}
	Replace []struct{ Old struct{ Path string } }
	Exclude []struct{ Path string }
}

// breaches says what a go.mod has that the module's may not have.
func (m modFile) breaches() []string {
	var found []string
	add := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	if !goLine.MatchString(m.Go) {
		add("go %s: want 1.23", m.Go)
	}
	if m.Toolchain != "" {
		add("toolchain %s: want none", m.Toolchain)
	}
	// Importers ignore both: a module that builds only with them does not build for its importers.
	for _, r := range m.Replace {
		add("replace %s", r.Old.Path)
	}
	for _, e := range m.Exclude {
		add("exclude %s", e.Path)
	}
	required := map[string]bool{}
	for _, r := range m.Require {
		if r.Path == "github.com/cosmos/cosmos-sdk" && !sdkLine.MatchString(r.Version) {
			add("SDK %s: want v0.53", r.Version)
		}
		if r.Path == "github.com/cometbft/cometbft" && !cometLine.MatchString(r.Version) {
			add("CometBFT %s: want v0.38.21 or later", r.Version)
		}
		if r.Indirect {
			continue
		}
		required[r.Path] = true
		if directRequirements[r.Path] == "" {
			add("require %s: not in directRequirements", r.Path)
		}
	}
	for path := range directRequirements {
		if !required[path] {
			add("%s is in directRequirements and not required", path)
		}
	}
	return found
}

// foreignModules returns the lines of a listing (`go list -m all`, go.sum) whose module is foreign.
func foreignModules(listing string) []string {
	var found []string
	for _, line := range strings.Split(listing, "\n") {
		if path, _, _ := strings.Cut(line, " "); foreign.MatchString(path) {
			found = append(found, line)
		}
	}
	return found
}

// goTool runs the go command in the module's directory, without a workspace that could be above it.
func goTool(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "GOWORK=off")
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	require.NoError(t, err, "go %s: %s", strings.Join(args, " "), complaint.String())
	return string(out)
}

func parseModFile(t *testing.T, file string) modFile {
	t.Helper()
	var m modFile
	require.NoError(t, json.Unmarshal([]byte(goTool(t, "mod", "edit", "-json", file)), &m))
	return m
}

func TestGoModForcesNothingOnImporters(t *testing.T) {
	m := parseModFile(t, "go.mod")
	require.Greater(t, len(m.Require), len(directRequirements), "go.mod was not read")
	require.Empty(t, m.breaches())
}

// TestGoMods_FloorOfCometBFT: what a chain imports beside the module allows no older CometBFT either.
func TestGoMods_FloorOfCometBFT(t *testing.T) {
	for _, dir := range []string{"../../wasmbinding", "../../evmbinding", "../../lab", "../.."} {
		stated := 0
		for _, r := range parseModFile(t, dir+"/go.mod").Require {
			if r.Path == "github.com/cometbft/cometbft" {
				stated++
				require.Regexp(t, cometLine, r.Version, dir)
			}
		}
		require.Equal(t, 1, stated, dir)
	}
}

func TestGoModBreachesAreFound(t *testing.T) {
	text, err := os.ReadFile("go.mod")
	require.NoError(t, err)
	for _, c := range []struct{ name, old, replacement, want string }{
		{"newer Go", "\ngo 1.23", "\ngo 1.24", "want 1.23"},
		{"toolchain", "\nrequire (", "\ntoolchain go1.24.0\n\nrequire (", "toolchain go1.24.0: want none"},
		{"replace", "\nrequire (", "\nreplace example.com/a => ../a\n\nrequire (", "replace example.com/a"},
		{"exclude", "\nrequire (", "\nexclude example.com/a v1.0.0\n\nrequire (", "exclude example.com/a"},
		{"new requirement", "\nrequire (", "\nrequire (\n\texample.com/a v1.0.0", "require example.com/a: not in directRequirements"},
		{"lost requirement", "\tpgregory.net/rapid ", "\texample.com/a ", "pgregory.net/rapid is in directRequirements and not required"},
		{"older CometBFT", "cometbft/cometbft v0.38.21", "cometbft/cometbft v0.38.20", "CometBFT v0.38.20: want v0.38.21"},
		{"newer SDK", "github.com/cosmos/cosmos-sdk v0.53", "github.com/cosmos/cosmos-sdk v0.54", "want v0.53"},
	} {
		t.Run(c.name, func(t *testing.T) {
			changed := strings.Replace(string(text), c.old, c.replacement, 1)
			require.NotEqual(t, string(text), changed)
			file := t.TempDir() + "/go.mod"
			require.NoError(t, os.WriteFile(file, []byte(changed), 0o600))
			require.Contains(t, strings.Join(parseModFile(t, file).breaches(), "\n"), c.want)
		})
	}
}

func TestModuleGraphHasNothingForeign(t *testing.T) {
	graph := goTool(t, "list", "-m", "all")
	require.Contains(t, graph, "github.com/cosmos/cosmos-sdk v0.53.")
	require.Empty(t, foreignModules(graph))
	sums, err := os.ReadFile("go.sum")
	require.NoError(t, err)
	require.Contains(t, string(sums), "github.com/cosmos/cosmos-sdk v0.53.")
	require.Empty(t, foreignModules(string(sums)))
}

func TestForeignModulesAreFound(t *testing.T) {
	for path, want := range map[string]bool{
		"github.com/CosmWasm/wasmd":         true,
		"github.com/CosmWasm/wasmvm/v3":     true,
		"github.com/cosmos/ibc-go/v10":      true,
		"github.com/cosmos/ibc-apps/x":      true,
		"github.com/cosmos/evm":             true,
		"github.com/evmos/ethermint":        true,
		"github.com/ethereum/go-ethereum":   true,
		"modernc.org/libc":                  false,
		"github.com/cosmos/cosmos-sdk":      false,
		"github.com/cosmos-timers/timers/x": false,
	} {
		listing := "example.com/a v1.0.0\n" + path + " v1.0.0\n"
		require.Equal(t, want, len(foreignModules(listing)) == 1, path)
	}
}

// TestWhatAChainInherits: docs/extend/inherit.txt lists it, so that a change shows in review.
func TestWhatAChainInherits(t *testing.T) {
	cmd := exec.Command("bash", "../../scripts/inherit.sh", "check")
	cmd.Env = append(os.Environ(), "GOWORK=off")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	listing, err := os.ReadFile("docs/extend/inherit.txt")
	require.NoError(t, err)
	require.Contains(t, string(listing), "packages of the module")
	require.Empty(t, foreignModules(string(listing)))
}
