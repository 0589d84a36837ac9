package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	wasmtypes "github.com/CosmWasm/wasmd/x/wasm/types"
	cmtcfg "github.com/cometbft/cometbft/config"
	"github.com/cosmos/gogoproto/proto"
	"github.com/spf13/cobra"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/reflect/protoregistry"

	"cosmossdk.io/client/v2/autocli"
	"cosmossdk.io/client/v2/autocli/flag"

	"github.com/cosmos/cosmos-sdk/client"
	clientconfig "github.com/cosmos/cosmos-sdk/client/config"
	"github.com/cosmos/cosmos-sdk/client/flags"
	"github.com/cosmos/cosmos-sdk/server"
	serverconfig "github.com/cosmos/cosmos-sdk/server/config"
	"github.com/cosmos/cosmos-sdk/types/tx/signing"
	"github.com/cosmos/cosmos-sdk/x/auth/tx"
	txmodule "github.com/cosmos/cosmos-sdk/x/auth/tx/config"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/x/timers/client/job"
)

// newRootCmd builds the command tree for a node's home. The home is known before flags are parsed, because AutoCLI's
// commands take key ring and chain id from the context that they are built with: with the default home's, a client.toml
// under another --home would be ignored.
func newRootCmd(home string) *cobra.Command {
	modules := app.Describe()
	clientCtx := client.Context{}.
		WithCodec(modules.AppCodec()).
		WithInterfaceRegistry(modules.InterfaceRegistry()).
		WithLegacyAmino(modules.LegacyAmino()).
		WithTxConfig(modules.TxConfig()).
		WithInput(os.Stdin).
		WithAccountRetriever(authtypes.AccountRetriever{}).
		WithHomeDir(home).
		WithViper(envPrefix)

	root := &cobra.Command{
		Use:           app.Name,
		Short:         "A chain with native timers",
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			if err := wholeAmounts(cmd, args); err != nil {
				return err
			}
			warnSponsor(cmd)
			return prepare(cmd, clientCtx)
		},
	}
	root.SetFlagErrorFunc(job.ExplainFlag)
	addCommands(root, modules)

	options := modules.AutoCLIOptions()
	options.ClientCtx = clientCtx
	if configured, err := clientconfig.ReadFromClientConfig(clientCtx); err == nil {
		options.ClientCtx = configured
	}
	if err := options.EnhanceRootCommandWithBuilder(root, commandBuilder(options)); err != nil {
		panic(fmt.Errorf("building the commands: %w", err))
	}
	return root
}

// commandBuilder is AutoCLI's own but for where it finds descriptions of messages: it would merge those of all files
// again, which takes longer than the rest of the command tree.
func commandBuilder(options autocli.AppOptions) *autocli.Builder {
	return &autocli.Builder{
		Builder: flag.Builder{
			TypeResolver:          protoregistry.GlobalTypes,
			FileResolver:          proto.HybridResolver,
			AddressCodec:          options.AddressCodec,
			ValidatorAddressCodec: options.ValidatorAddressCodec,
			ConsensusAddressCodec: options.ConsensusAddressCodec,
		},
		GetClientConn: func(cmd *cobra.Command) (grpc.ClientConnInterface, error) { return client.GetClientQueryContext(cmd) },
		AddQueryConnFlags: func(cmd *cobra.Command) {
			flags.AddQueryFlagsToCmd(cmd)
			flags.AddKeyringFlags(cmd.Flags())
		},
		AddTxConnFlags: flags.AddTxFlagsToCmd,
	}
}

// prepare gives a command its context: flags over client.toml over defaults.
func prepare(cmd *cobra.Command, clientCtx client.Context) error {
	cmd.SetOut(cmd.OutOrStdout())
	cmd.SetErr(cmd.ErrOrStderr())
	clientCtx, err := client.ReadPersistentCommandFlags(clientCtx.WithCmdContext(cmd.Context()), cmd.Flags())
	if err != nil {
		return err
	}
	if clientCtx, err = clientconfig.ReadFromClientConfig(clientCtx); err != nil {
		return err
	}
	// SIGN_MODE_TEXTUAL asks the chain how it displays coins, so it exists online only.
	if !clientCtx.Offline {
		config, err := tx.NewTxConfigWithOptions(clientCtx.Codec, tx.ConfigOptions{
			EnabledSignModes:           append(tx.DefaultSignModes, signing.SignMode_SIGN_MODE_TEXTUAL),
			TextualCoinMetadataQueryFn: txmodule.NewGRPCCoinMetadataQueryFn(clientCtx),
		})
		if err != nil {
			return err
		}
		clientCtx = clientCtx.WithTxConfig(config)
	}
	if err := client.SetCmdClientContextHandler(clientCtx, cmd); err != nil {
		return err
	}
	if err := writeCometConfig(clientCtx.HomeDir); err != nil {
		return err
	}
	return server.InterceptConfigsPreRunHandler(cmd, appTemplate(), appConfig(), cometConfig())
}

// nodeConfig is app.toml: the SDK's sections, that of contracts, and timerd's own.
type nodeConfig struct {
	serverconfig.Config `mapstructure:",squash"`

	Wasm      wasmtypes.NodeConfig `mapstructure:"wasm"`
	Execution executionConfig      `mapstructure:"execution"`
}

// executionConfig says how a node executes blocks.
type executionConfig struct {
	// Optimistic has the node execute a proposed block while the validators still vote on it.
	Optimistic bool `mapstructure:"optimistic"`
}

// optionOptimistic is the name of executionConfig.Optimistic as the node reads it.
const optionOptimistic = "execution.optimistic"

const executionTemplate = `
###############################################################################
###                         Execution of blocks                            ###
###############################################################################

[execution]

# Execute a proposed block while the validators still vote on it. Blocks are committed sooner; a proposal that is not
# agreed on was executed for nothing. Nodes of a network may differ in it.
optimistic = {{ .Execution.Optimistic }}
`

func appTemplate() string {
	return serverconfig.DefaultConfigTemplate + wasmtypes.DefaultConfigTemplate() + executionTemplate
}

// appConfig is a new node's app.toml.
func appConfig() nodeConfig {
	config := serverconfig.DefaultConfig()
	config.MinGasPrices = "0.001" + app.FeeDenom
	config.API.Enable = true
	return nodeConfig{Config: *config, Wasm: wasmtypes.DefaultNodeConfig()}
}

// cometConfig is a new node's config.toml.
func cometConfig() *cmtcfg.Config {
	config := cmtcfg.DefaultConfig()
	config.Consensus.TimeoutCommit = time.Second
	return config
}

// writeCometConfig writes config.toml if there is none. The SDK would, but takes CometBFT's default of a second for
// timeout_commit, which is the one that we want, for "not set", and makes it five.
func writeCometConfig(home string) error {
	file := filepath.Join(home, "config", "config.toml")
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		return err
	}
	for _, dir := range []string{"config", "data"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			return err
		}
	}
	cmtcfg.WriteConfigFile(file, cometConfig())
	return nil
}

// homeOf finds the node's home in the arguments as the flags' parser will, or in the environment.
func homeOf(args []string) string {
	home := app.DefaultNodeHome
	if fromEnv := os.Getenv(envPrefix + "_HOME"); fromEnv != "" {
		home = fromEnv
	}
	name := "--" + flags.FlagHome
	for i, arg := range args {
		if arg == "--" {
			break
		}
		if value, ok := strings.CutPrefix(arg, name+"="); ok {
			home = value
		}
		if arg == name && i+1 < len(args) {
			home = args[i+1]
		}
	}
	return home
}
