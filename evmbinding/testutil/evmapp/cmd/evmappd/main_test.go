package main

import (
	"os"
	"path/filepath"
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
