package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	svrcmd "github.com/cosmos/cosmos-sdk/server/cmd"
	genutiltypes "github.com/cosmos/cosmos-sdk/x/genutil/types"

	"github.com/cosmos-timers/timers/evmbinding/testutil/evmapp"
)

// TestInit_WritesAChainOnce: a genesis that can be read, configuration that lists the namespace, and clear errors where
// there would be no coins, or two chains in one home.
func TestInit_WritesAChainOnce(t *testing.T) {
	home := t.TempDir()
	run := func(args ...string) error {
		root := newRootCmd(home)
		root.SetArgs(append(args, "--home", home))
		return svrcmd.Execute(root, "", home)
	}
	require.ErrorContains(t, run("init"), "want at least one address")
	require.ErrorContains(t, run("init", "--fund", "0x12"), `"0x12": want an address of the EVM`)
	account := evmapp.AccountOf("alice").Address.Hex()
	require.NoError(t, run("init", "--fund", account))
	genesis, err := genutiltypes.AppGenesisFromFile(filepath.Join(home, "config/genesis.json"))
	require.NoError(t, err)
	require.Equal(t, evmapp.ID, genesis.ChainID)
	require.NoError(t, genesis.ValidateAndComplete())
	config, err := os.ReadFile(filepath.Join(home, "config/app.toml"))
	require.NoError(t, err)
	require.Contains(t, string(config), `api = "eth,net,web3,debug,timers"`)
	require.ErrorContains(t, run("init", "--fund", account), "want a home without a chain")
}

// TestInit_WritesOneGenesisForSeveralValidators, each with keys of its own, and none where a home has a chain.
func TestInit_WritesOneGenesisForSeveralValidators(t *testing.T) {
	homes := []string{t.TempDir(), t.TempDir(), t.TempDir()}
	run := func() error {
		root := newRootCmd(homes[0])
		root.SetArgs([]string{
			"init", "--fund", evmapp.AccountOf("alice").Address.Hex(), "--with", homes[1] + "," + homes[2], "--home", homes[0],
		})
		return svrcmd.Execute(root, "", homes[0])
	}
	require.NoError(t, run())
	var first []byte
	keys := map[string]bool{}
	for _, home := range homes {
		genesis, err := os.ReadFile(filepath.Join(home, "config/genesis.json"))
		require.NoError(t, err)
		if first == nil {
			first = genesis
		}
		require.Equal(t, first, genesis)
		key, err := os.ReadFile(filepath.Join(home, "config/priv_validator_key.json"))
		require.NoError(t, err)
		keys[string(key)] = true
		require.FileExists(t, filepath.Join(home, "data/priv_validator_state.json"))
	}
	require.Len(t, keys, len(homes))
	require.Equal(t, len(homes), strings.Count(string(first), `"operator_address"`))
	require.NoError(t, os.Remove(filepath.Join(homes[0], "config/genesis.json")))
	require.ErrorContains(t, run(), "want a home without a chain")
}
