package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	cmtcfg "github.com/cometbft/cometbft/config"
	"github.com/cometbft/cometbft/p2p"
	"github.com/cometbft/cometbft/privval"
	cmttypes "github.com/cometbft/cometbft/types"
	evmconfig "github.com/cosmos/evm/server/config"
	"github.com/ethereum/go-ethereum/common"
	"github.com/spf13/cobra"

	pruningtypes "cosmossdk.io/store/pruning/types"

	"github.com/cosmos/cosmos-sdk/client/flags"
	"github.com/cosmos/cosmos-sdk/server"
	serverconfig "github.com/cosmos/cosmos-sdk/server/config"
	genutiltypes "github.com/cosmos/cosmos-sdk/x/genutil/types"

	"github.com/cosmos-timers/timers/evmbinding/evmrpc"
	"github.com/cosmos-timers/timers/evmbinding/testutil/evmapp"
)

// blockGas is the gas limit of a block.
const blockGas = 40_000_000

const appTemplate = serverconfig.DefaultConfigTemplate + evmconfig.DefaultEVMConfigTemplate

// appConfig is a new node's app.toml: JSON-RPC is on, with what shows fires as the last namespace, and all states are
// kept, which traces of old blocks need.
func appConfig() *evmconfig.Config {
	config := evmconfig.DefaultConfig()
	config.MinGasPrices = "0" + evmapp.Denom
	config.Pruning = pruningtypes.PruningOptionNothing
	config.EVM.EVMChainID = evmapp.EVMChainID
	config.JSONRPC.Enable = true
	config.JSONRPC.API = []string{"eth", "net", "web3", "debug", evmrpc.Namespace}
	return config
}

func cometConfig() *cmtcfg.Config {
	config := cmtcfg.DefaultConfig()
	config.Consensus.TimeoutCommit = time.Second / 2
	// The nodes of a network of tests have one address.
	config.P2P.AllowDuplicateIP, config.P2P.AddrBookStrict = true, false
	return config
}

// newInitCmd writes a home: the configuration is there already, as each command writes what is missing.
func newInitCmd(chain *evmapp.Description, home string) *cobra.Command {
	var funded, others []string
	cmd := &cobra.Command{
		Use:     "init --fund ADDRESS...",
		Short:   "Write a genesis with the home's validator, and accounts that have 1,000 coins each",
		Example: name + " init --home /tmp/node --fund 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			accounts := make([]common.Address, len(funded))
			for i, text := range funded {
				if !common.IsHexAddress(text) {
					return fmt.Errorf("--fund %q: want an address of the EVM, 0x and 40 hexadecimal digits", text)
				}
				accounts[i] = common.HexToAddress(text)
			}
			if len(accounts) == 0 {
				return fmt.Errorf("--fund: want at least one address, the chain has no other coins")
			}
			homes := []*cmtcfg.Config{server.GetServerContextFromCmd(cmd).Config}
			for _, other := range others {
				homes = append(homes, cometConfig().SetRoot(other))
			}
			return writeGenesis(chain, homes, accounts)
		},
	}
	cmd.Flags().String(flags.FlagHome, home, "home of the node")
	cmd.Flags().StringSliceVar(&others, "with", nil, "homes of further validators, which get keys and the same genesis")
	cmd.Flags().StringSliceVar(&funded, "fund", nil, "accounts, as 0x and 40 hexadecimal digits")
	return cmd
}

// writeGenesis writes keys into homes that have no chain, and one genesis in which all validate with equal power.
func writeGenesis(chain *evmapp.Description, homes []*cmtcfg.Config, accounts []common.Address) error {
	var validators []*cmttypes.Validator
	for _, home := range homes {
		if _, err := os.Stat(home.GenesisFile()); err == nil {
			return fmt.Errorf("%s exists: want a home without a chain", home.GenesisFile())
		}
		for _, folder := range []string{"config", "data"} {
			if err := os.MkdirAll(filepath.Join(home.RootDir, folder), 0o700); err != nil {
				return err
			}
		}
		if _, err := p2p.LoadOrGenNodeKey(home.NodeKeyFile()); err != nil {
			return err
		}
		key, err := privval.LoadOrGenFilePV(home.PrivValidatorKeyFile(), home.PrivValidatorStateFile()).GetPubKey()
		if err != nil {
			return err
		}
		validators = append(validators, cmttypes.NewValidator(key, 1))
	}
	state, err := chain.Genesis(cmttypes.NewValidatorSet(validators), accounts)
	if err != nil {
		return err
	}
	raw, err := json.MarshalIndent(state, "", " ")
	if err != nil {
		return err
	}
	params := cmttypes.DefaultConsensusParams()
	params.Block.MaxGas = blockGas
	genesis := genutiltypes.NewAppGenesisWithVersion(evmapp.ID, raw)
	// Without a time each validator would take that of its own start.
	genesis.GenesisTime = time.Now().UTC()
	genesis.Consensus = &genutiltypes.ConsensusGenesis{Params: params}
	for _, home := range homes {
		if err := genesis.SaveAs(home.GenesisFile()); err != nil {
			return err
		}
	}
	return nil
}
