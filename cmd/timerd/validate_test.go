package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGenesisValidate_BeginsAChain: what a module refuses as it imports the file, the command that validates the file refuses.
func TestGenesisValidate_BeginsAChain(t *testing.T) {
	user := t.TempDir()
	net := filepath.Join(user, "net")
	home := filepath.Join(net, "node0")
	must(t, user, "testnet", "init-files", "--v", "1", "--single-host", "--output-dir", net, "--chain-id", "one-1")
	require.Contains(t, must(t, user, "genesis", "validate", "--home", home), "is a valid genesis file")

	file := filepath.Join(home, "config", "genesis.json")
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	broken := filepath.Join(user, "broken.json")
	require.NoError(t, os.WriteFile(broken, []byte(strings.Replace(string(raw), `"fee_denom": "utmr"`, `"fee_denom": "nosuch"`, 1)), 0o600))
	out, err := timerd(t, user, "genesis", "validate", broken, "--home", home)
	require.Error(t, err, out)
	require.Contains(t, out, `config.fee_denom "nosuch" has no supply`)
	require.NotContains(t, out, "is a valid genesis file")

	must(t, user, "init", "alone", "--home", filepath.Join(user, "new"))
	require.Contains(t, must(t, user, "genesis", "validate", "--home", filepath.Join(user, "new")), "is a valid genesis file",
		"one that has no validators yet")
}
