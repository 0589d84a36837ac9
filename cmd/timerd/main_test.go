package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	genutiltypes "github.com/cosmos/cosmos-sdk/x/genutil/types"
)

// The command tree keeps state in globals, as the SDK's does, so each command of these tests is a process of its own:
// the test binary, told to be timerd.
const beTimerd = "BE_TIMERD"

func TestMain(m *testing.M) {
	if os.Getenv(beTimerd) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// timerd runs the command with a HOME of its own and returns both outputs together.
func timerd(t *testing.T, home string, args ...string) (string, error) {
	t.Helper()
	out, err := command(home, args...).CombinedOutput()
	return string(out), err
}

func command(home string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), beTimerd+"=1", "HOME="+home)
	return cmd
}

func must(t *testing.T, home string, args ...string) string {
	t.Helper()
	out, err := timerd(t, home, args...)
	require.NoError(t, err, "%s\n%s", strings.Join(args, " "), out)
	return out
}

// writeHome makes a node's home whose client.toml names a chain, a node that no one listens on, and an output.
func writeHome(t *testing.T, home, chainID, node, output string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Join(home, "config"), 0o755))
	text := "chain-id = \"" + chainID + "\"\nkeyring-backend = \"test\"\noutput = \"" + output +
		"\"\nnode = \"" + node + "\"\nbroadcast-mode = \"sync\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(home, "config", "client.toml"), []byte(text), 0o600))
}

func TestEveryCommandUsesTheClientConfigOfItsHome(t *testing.T) {
	user := t.TempDir()
	other := filepath.Join(t.TempDir(), "other")
	writeHome(t, filepath.Join(user, ".timerd"), "default-1", "tcp://127.0.0.1:1", "text")
	writeHome(t, other, "other-1", "tcp://127.0.0.1:2", "json")
	must(t, user, "keys", "add", "otherkey", "--home", other)
	address := strings.TrimSpace(must(t, user, "keys", "show", "otherkey", "--address", "--home", other))

	require.True(t, json.Valid([]byte(must(t, user, "keys", "list", "--home", other))), "output")
	require.NotContains(t, must(t, user, "keys", "list"), "otherkey", "key ring of the default home")

	for _, command := range [][]string{
		// Custom commands and AutoCLI's prepare their context in different ways.
		{"tx", "bank", "send", "otherkey", address, "1utmr"},
		{"tx", "feegrant", "revoke", "otherkey", address},
		{"tx", "distribution", "set-withdraw-addr", address, "--from", "otherkey"},
		{"tx", "timers", "cancel", strings.Repeat("ab", 32), "--from", "otherkey"},
	} {
		command = append(command, "--generate-only")
		require.Contains(t, must(t, user, append(command, "--home", other)...), address, "%v", command)
		out, err := timerd(t, user, command...)
		require.Error(t, err, "%v: the default home's key ring has no such key", command)
		require.Contains(t, out, "otherkey")
	}
	for _, command := range [][]string{
		{"query", "bank", "total-supply"},
		{"query", "timers", "lane"},
		{"status"},
		{"tx", "bank", "send", "otherkey", address, "1utmr", "--yes"},
	} {
		out, err := timerd(t, user, append(command, "--home="+other)...)
		require.Error(t, err)
		require.Contains(t, out, "127.0.0.1:2", "%v", command)
	}
	out, err := timerd(t, user, "query", "bank", "total-supply", "--home", other, "--node", "tcp://127.0.0.1:3")
	require.Error(t, err)
	require.Contains(t, out, "127.0.0.1:3", "flags win over client.toml")

	t.Setenv("TIMERD_HOME", other)
	require.Contains(t, must(t, user, "keys", "list"), "otherkey", "home from the environment")
}

func TestInitWritesOurDefaults(t *testing.T) {
	home := filepath.Join(t.TempDir(), "node")
	must(t, t.TempDir(), "init", "moniker", "--chain-id", "init-1", "--home", home)
	for name, want := range map[string]string{
		"config.toml": `timeout_commit = "1s"`, "app.toml": `minimum-gas-prices = "0.001utmr"`, "genesis.json": `"fee_denom": "utmr"`,
	} {
		content, err := os.ReadFile(filepath.Join(home, "config", name))
		require.NoError(t, err)
		require.Contains(t, string(content), want, name)
	}
	must(t, t.TempDir(), "genesis", "validate", "--home", home)
	config, err := os.ReadFile(filepath.Join(home, "config", "app.toml"))
	require.NoError(t, err)
	require.Contains(t, string(config), "[wasm]\n")
	require.Contains(t, string(config), "[execution]\n")
	require.Contains(t, string(config), "\noptimistic = false\n")
	require.NoDirExists(t, filepath.Join(home, "wasm"), "commands leave the contracts' part of the home to the node")
}

func TestTestnetFilesNeverListenBeyondASingleHost(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "net")
	out := must(t, t.TempDir(), "testnet", "init-files", "--v", "3", "--single-host", "--output-dir", dir, "--accounts", "alice")
	require.Contains(t, out, "node2")
	ports := map[string]string{}
	for _, node := range []string{"node0", "node1", "node2"} {
		for _, name := range []string{"config.toml", "app.toml"} {
			content, err := os.ReadFile(filepath.Join(dir, node, "config", name))
			require.NoError(t, err)
			for _, line := range strings.Split(string(content), "\n") {
				if strings.HasPrefix(line, "#") {
					continue
				}
				require.NotContains(t, line, "0.0.0.0", "%s of %s", name, node)
				key, value, found := strings.Cut(line, " = ")
				_, port, hasPort := strings.Cut(value, "127.0.0.1:")
				if !found || !hasPort || key == "persistent_peers" || key == "proxy_app" { // neither is listened on
					continue
				}
				port = strings.Trim(port, `"`)
				require.Empty(t, ports[port], "port %s of %s/%s %s", port, node, name, key)
				ports[port] = node + "/" + key
			}
		}
	}
	require.GreaterOrEqual(t, len(ports), 18, "p2p, rpc, api, grpc, pprof and metrics of three nodes")

	wrong := map[string]string{
		"--v": "0", "--base-port": "65500", "--minimum-gas-prices": "many", "--starting-ip-address": "host", "--block-max-gas": "0",
	}
	for flag, value := range wrong {
		args := []string{"testnet", "init-files", "--output-dir", filepath.Join(t.TempDir(), "net"), flag, value}
		if flag == "--base-port" {
			args = append(args, "--single-host")
		}
		out, err := timerd(t, t.TempDir(), args...)
		require.Error(t, err)
		require.Contains(t, out, flag, "the error names the flag")
	}
	out, err := timerd(t, t.TempDir(), "testnet", "init-files", "--output-dir", dir)
	require.Error(t, err)
	require.Contains(t, out, "exists already")
}

func TestTestnetFilesLimitTheGasOfABlock(t *testing.T) {
	for limit, flags := range map[int64][]string{-1: nil, 30_000_000: {"--block-max-gas", "30000000"}} {
		dir := filepath.Join(t.TempDir(), "net")
		must(t, t.TempDir(), append([]string{"testnet", "init-files", "--v", "2", "--single-host", "--output-dir", dir}, flags...)...)
		for _, node := range []string{"node0", "node1"} {
			genesis, err := genutiltypes.AppGenesisFromFile(filepath.Join(dir, node, "config", "genesis.json"))
			require.NoError(t, err)
			require.Equal(t, limit, genesis.Consensus.Params.Block.MaxGas, node)
			require.NoError(t, genesis.ValidateAndComplete())
		}
	}
}

func TestAScenarioThatIsWrongEndsWithStatusTwo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bad.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"accounts": {}, "blocks": 1, "ops": [{"at": 1, "op": "dance"}]}`), 0o600))
	out, err := timerd(t, t.TempDir(), "lab", "replay", file)
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, 2, exit.ExitCode())
	require.Contains(t, out, "ops[0].op")
}
