// Command evmappd runs the chain of package evmapp as a node, with CometBFT and JSON-RPC, for tests and for trying
// timers out: a validator or several, accounts with coins, and no more.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	dbm "github.com/cosmos/cosmos-db"
	evmclient "github.com/cosmos/evm/client"
	evmkeyring "github.com/cosmos/evm/crypto/keyring"
	evmserver "github.com/cosmos/evm/server"
	// The tracers of go-ethereum, which debug_trace… takes by their names.
	_ "github.com/ethereum/go-ethereum/eth/tracers/js"
	_ "github.com/ethereum/go-ethereum/eth/tracers/native"
	"github.com/spf13/cobra"

	"cosmossdk.io/log"

	"github.com/cosmos/cosmos-sdk/client"
	clientconfig "github.com/cosmos/cosmos-sdk/client/config"
	"github.com/cosmos/cosmos-sdk/client/flags"
	"github.com/cosmos/cosmos-sdk/server"
	svrcmd "github.com/cosmos/cosmos-sdk/server/cmd"
	servertypes "github.com/cosmos/cosmos-sdk/server/types"
	"github.com/cosmos/cosmos-sdk/version"
	authcmd "github.com/cosmos/cosmos-sdk/x/auth/client/cli"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"

	"github.com/cosmos-timers/timers/evmbinding/evmrpc"
	"github.com/cosmos-timers/timers/evmbinding/testutil/evmapp"
	"github.com/cosmos-timers/timers/x/timers/client/cli"
)

const name = "evmappd"

func main() {
	version.AppName = name
	home := filepath.Join(os.Getenv("HOME"), "."+name)
	if err := svrcmd.Execute(newRootCmd(home), "", home); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func newRootCmd(home string) *cobra.Command {
	chain := evmapp.Describe()
	clientCtx := chain.ClientContext().
		WithInput(os.Stdin).
		WithAccountRetriever(authtypes.AccountRetriever{}).
		WithKeyringOptions(evmkeyring.Option()).
		WithHomeDir(home).
		WithViper("")
	root := &cobra.Command{
		Use: name, Short: "A chain of cosmos/evm with timers, for tests", SilenceErrors: true, SilenceUsage: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			ctx, err := client.ReadPersistentCommandFlags(clientCtx.WithCmdContext(cmd.Context()), cmd.Flags())
			if err != nil {
				return err
			}
			if ctx, err = clientconfig.ReadFromClientConfig(ctx); err != nil {
				return err
			}
			if err := client.SetCmdClientContextHandler(ctx, cmd); err != nil {
				return err
			}
			return server.InterceptConfigsPreRunHandler(cmd, appTemplate, appConfig(), cometConfig())
		},
	}
	root.AddCommand(
		newInitCmd(chain, home), evmclient.KeyCommands(home, true), server.StatusCommand(),
		group("tx", "Send transactions", cli.NewTxCmd()),
		group("query", "Ask the chain", cli.NewQueryCmd(), authcmd.QueryTxCmd(), server.QueryBlockResultsCmd()),
	)
	evmserver.AddCommands(root, evmserver.NewDefaultStartOptions(newApp, home), export, func(*cobra.Command) {})
	root.PersistentFlags().String(flags.FlagChainID, evmapp.ID, "id of the chain")
	return root
}

func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, RunE: client.ValidateCmd}
	cmd.AddCommand(commands...)
	return cmd
}

func newApp(logger log.Logger, db dbm.DB, _ io.Writer, options servertypes.AppOptions) evmserver.Application {
	app := evmapp.New(logger, db, server.DefaultBaseappOptions(options)...)
	if err := evmrpc.Register(app, app.EVM); err != nil {
		panic(err)
	}
	return app
}

// export writes the latest state, for a chain that continues with the next height.
func export(
	logger log.Logger, db dbm.DB, _ io.Writer, height int64, forZeroHeight bool, _ []string,
	options servertypes.AppOptions, modules []string,
) (servertypes.ExportedApp, error) {
	if height != -1 || forZeroHeight {
		return servertypes.ExportedApp{}, errors.New("want the latest state, without --height and --for-zero-height")
	}
	return evmapp.New(logger, db, server.DefaultBaseappOptions(options)...).Export(modules)
}
