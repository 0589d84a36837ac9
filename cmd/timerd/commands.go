package main

import (
	"fmt"
	"io"

	"github.com/CosmWasm/wasmd/x/wasm"
	wasmcli "github.com/CosmWasm/wasmd/x/wasm/client/cli"
	wasmtypes "github.com/CosmWasm/wasmd/x/wasm/types"
	dbm "github.com/cosmos/cosmos-db"
	"github.com/spf13/cast"
	"github.com/spf13/cobra"

	"cosmossdk.io/log"
	confixcmd "cosmossdk.io/tools/confix/cmd"

	"github.com/cosmos/cosmos-sdk/baseapp"
	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/client/debug"
	"github.com/cosmos/cosmos-sdk/client/keys"
	"github.com/cosmos/cosmos-sdk/client/pruning"
	"github.com/cosmos/cosmos-sdk/client/rpc"
	"github.com/cosmos/cosmos-sdk/client/snapshot"
	"github.com/cosmos/cosmos-sdk/server"
	servertypes "github.com/cosmos/cosmos-sdk/server/types"
	"github.com/cosmos/cosmos-sdk/version"
	authcmd "github.com/cosmos/cosmos-sdk/x/auth/client/cli"
	genutilcli "github.com/cosmos/cosmos-sdk/x/genutil/client/cli"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/dashboard"
	"github.com/cosmos-timers/timers/lab/load"
	"github.com/cosmos-timers/timers/lab/replay"
	"github.com/cosmos-timers/timers/lab/sim"
	"github.com/cosmos-timers/timers/mcp"
	"github.com/cosmos-timers/timers/x/timers/client/broadcast"
	"github.com/cosmos-timers/timers/x/timers/client/metrics"
)

// addCommands adds what AutoCLI does not make of the modules' services.
func addCommands(root *cobra.Command, modules *app.Description) {
	root.AddCommand(
		genutilcli.InitCmd(modules.Basics(), app.DefaultNodeHome),
		genutilcli.Commands(modules.TxConfig(), modules.Basics(), app.DefaultNodeHome),
		keys.Commands(),
		server.StatusCommand(),
		queryCmd(modules),
		txCmd(modules),
		newTestnetCmd(modules),
		labCmd(),
		dashboard.NewCommand(),
		mcp.NewCommand(version.Version),
		confixcmd.ConfigCommand(),
		pruning.Cmd(newApp, app.DefaultNodeHome),
		snapshot.Cmd(newApp),
		debug.Cmd(),
	)
	server.AddCommands(root, app.DefaultNodeHome, newApp, nil, wasm.AddModuleInitFlags)
	streamExport(root)
	beginFrom(root)
	nameBackends(root)
	wasmcli.ExtendUnsafeResetAllCmd(root)
}

// nameBackends says which databases the binary has: CometBFT's help names those of other builds.
func nameBackends(root *cobra.Command) {
	start, _, err := root.Find([]string{"start"})
	if err != nil {
		return
	}
	start.Flags().Lookup("db_backend").Usage = "database of CometBFT: goleveldb, the only one of this binary; " +
		"the application's is app-db-backend of app.toml: goleveldb or pebbledb"
}

func labCmd() *cobra.Command {
	cmd := replay.NewCommand()
	cmd.AddCommand(load.NewCommand(), sim.NewCommand())
	return cmd
}

func queryCmd(modules *app.Description) *cobra.Command {
	cmd := &cobra.Command{
		Use: "query", Aliases: []string{"q"}, Short: "Ask the chain", RunE: client.ValidateCmd,
		SuggestionsMinimumDistance: 2,
	}
	cmd.AddCommand(
		rpc.QueryEventForTxCmd(), server.QueryBlockCmd(), server.QueryBlocksCmd(), server.QueryBlockResultsCmd(),
		authcmd.QueryTxsByEventsCmd(), authcmd.QueryTxCmd(),
	)
	modules.Basics().AddQueryCommands(cmd)
	return cmd
}

func txCmd(modules *app.Description) *cobra.Command {
	cmd := &cobra.Command{
		Use: "tx", Short: "Send transactions", RunE: client.ValidateCmd, SuggestionsMinimumDistance: 2,
	}
	cmd.AddCommand(
		authcmd.GetSignCommand(), authcmd.GetSignBatchCommand(), authcmd.GetMultiSignCommand(), authcmd.GetMultiSignBatchCmd(),
		authcmd.GetValidateSignaturesCommand(), authcmd.GetBroadcastCommand(), authcmd.GetEncodeCommand(),
		authcmd.GetDecodeCommand(), authcmd.GetSimulateCmd(),
	)
	modules.Basics().AddTxCommands(cmd)
	waitForContracts(cmd)
	return cmd
}

// waitForContracts gives the commands that make and call contracts the flag --wait, as the timers' commands have it.
func waitForContracts(tx *cobra.Command) {
	for name, made := range map[string]*broadcast.Made{
		"store": {
			Event: wasmtypes.EventTypeStoreCode, Attribute: wasmtypes.AttributeKeyCodeID, Name: "code_id", Text: "code %s is stored",
		},
		"instantiate": {
			Event: wasmtypes.EventTypeInstantiate, Attribute: wasmtypes.AttributeKeyContractAddr, Name: "contract", Text: "contract %s is made",
		},
		"execute": nil,
	} {
		command, _, err := tx.Find([]string{wasmtypes.ModuleName, name})
		if err != nil {
			panic(fmt.Errorf("the command of wasm that is to wait: %w", err))
		}
		broadcast.Wait(command, made)
	}
}

func newApp(logger log.Logger, db dbm.DB, trace io.Writer, appOpts servertypes.AppOptions) servertypes.Application {
	options := server.DefaultBaseappOptions(appOpts)
	if cast.ToBool(appOpts.Get(optionOptimistic)) {
		options = append(options, baseapp.SetOptimisticExecution())
	}
	chain := app.New(logger, db, trace, true, appOpts, options...)
	metrics.Default().CountPendingBy(func() (uint64, error) {
		ctx, err := chain.CreateQueryContext(0, false)
		if err != nil {
			return 0, err
		}
		return chain.Timers.CountLive(ctx)
	})
	return chain
}
