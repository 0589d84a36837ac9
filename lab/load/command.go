package load

import (
	"context"
	"fmt"
	"io"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"cosmossdk.io/math"

	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/client/flags"
	"github.com/cosmos/cosmos-sdk/client/tx"

	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	flagPending  = "pending"
	flagFires    = "fires"
	flagDuration = "duration"
	flagTxs      = "txs"
	flagBatch    = "batch"
	flagGasPrice = "gas-price"
	flagFund     = "fund"
	flagPID      = "pid"
	flagData     = "data"
	flagMetrics  = "metrics"
)

// NewCommand returns the command `load`.
func NewCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "load",
		Short: "Keep timers pending on running nodes and print what blocks, memory and disk make of it",
		Long: `Keep a number of timers pending on running nodes, and print a table of what blocks, memory and disk make of it.

The phases: some blocks without load; as many coin transfers a block as timers will fire, each a transaction of its own;
filling, with schedules in batches; then the timers fire, a transfer each, and as many are scheduled again. The key of
--from funds accounts that do this; their keys derive from it, and the next run uses what is left on them. Under eip1559
a lane that is more than half full makes every fire dearer than the one before: the default fills half.

It ends after --duration for each phase, or when interrupted, and prints the table in either case.`,
		Example: "timerd lab load --from alice --pending 10000 --duration 5m --pid $(pgrep timerd) --data ~/.timerd/data",
		Args:    cobra.NoArgs,
		RunE:    runCommand,
	}
	flags.AddTxFlagsToCmd(cmd)
	f := cmd.Flags()
	f.Int(flagPending, 10_000, fmt.Sprintf("how many timers to keep pending, at most %d", MaxPending))
	f.Int(flagFires, 0, "how many are due in each block; 0 for what fills half of the lane")
	f.Duration(flagDuration, 5*time.Minute, "how long to send transfers, and how long to fire")
	f.Int(flagTxs, 10, "transactions to send for a block at most")
	f.Int(flagBatch, 25, "timers that one transaction schedules")
	f.String(flagGasPrice, "0.001", "gas price of the transactions, in the denom of the timers' fees")
	f.String(flagFund, "10000000", "coins for each account of the run, in the same denom")
	f.IntSlice(flagPID, nil, "processes of nodes on this machine, whose memory is reported")
	f.StringSlice(flagData, nil, "their data directories, whose size is reported")
	f.StringSlice(flagMetrics, nil, "addresses of nodes' Prometheus metrics, for the time that blocks take to execute")
	f.Bool(flagRemote, false, "allow nodes that are not on loopback")
	return cmd
}

func runCommand(cmd *cobra.Command, _ []string) error {
	o, err := readOptions(cmd)
	if err != nil {
		return err
	}
	clientCtx, err := client.GetClientTxContext(cmd)
	if err != nil {
		return err
	}
	if !o.Remote {
		for _, address := range append([]string{clientCtx.NodeURI}, o.Metrics...) {
			if err := CheckLoopback(address); err != nil {
				return err
			}
		}
	}
	factory, err := tx.NewFactoryCLI(clientCtx, cmd.Flags())
	if err != nil {
		return err
	}
	cmd.SilenceUsage = true
	ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	return run(ctx, clientCtx, factory, o, cmd.OutOrStdout(), cmd.ErrOrStderr())
}

// run prepares the accounts, drives the node and prints the report, also of a run that was interrupted or failed.
func run(ctx context.Context, clientCtx client.Context, factory tx.Factory, o Options, out, progress io.Writer) error {
	params, err := types.NewQueryClient(clientCtx).Params(ctx, &types.QueryParamsRequest{})
	if err != nil {
		return fmt.Errorf("asking the node for the timers' config: %w", err)
	}
	fires := firesOf(&o, &params.Config)
	workers := workersOf(&o, fires, int(params.Config.MaxTimersPerActor))
	n, err := newNode(clientCtx, o, params.Config.FeeDenom, workers)
	if err != nil {
		return err
	}
	fmt.Fprintf(progress, "funding %d accounts with %s%s each; %d timers fire in a block\n", workers, o.Fund, params.Config.FeeDenom, fires)
	if err := n.fund(ctx, factory); err != nil {
		return err
	}
	report, err := newDriver(o, n, workers, fires, progress).run(ctx)
	fmt.Fprintf(out, "%d fires a block, lane of %d cycles, policy %s\n", fires, params.Config.LaneTimerCycles, params.Config.Policy)
	if printErr := report.Print(out); err == nil {
		err = printErr
	}
	return err
}

// firesOf is how many timers become due in a block: so few that each is pending for twice the lead of a schedule, or there
// would be no time to replace them.
func firesOf(o *Options, config *types.TimerConfig) int {
	fires := o.Fires
	if fires == 0 {
		fires = int(config.LaneTimerCycles / cyclesPerFire / 2)
	}
	if limit := int(config.MaxFiresPerBlock); limit > 0 {
		fires = min(fires, limit)
	}
	return max(1, min(fires, o.Pending/(2*lead)))
}

// workersOf is how many accounts the run needs: for the timers that each may have, and for the transactions under way.
func workersOf(o *Options, fires, timersPerActor int) int {
	perWorker := max(1, timersPerActor*3/4)
	return max(o.Pending/perWorker+2*o.Txs, 3*fires)
}

func readOptions(cmd *cobra.Command) (o Options, err error) {
	f := cmd.Flags()
	var price, fund string
	for _, read := range []func() error{
		func() error { o.Pending, err = f.GetInt(flagPending); return err },
		func() error { o.Fires, err = f.GetInt(flagFires); return err },
		func() error { o.Duration, err = f.GetDuration(flagDuration); return err },
		func() error { o.Txs, err = f.GetInt(flagTxs); return err },
		func() error { o.Batch, err = f.GetInt(flagBatch); return err },
		func() error { price, err = f.GetString(flagGasPrice); return err },
		func() error { fund, err = f.GetString(flagFund); return err },
		func() error { o.PIDs, err = f.GetIntSlice(flagPID); return err },
		func() error { o.Data, err = f.GetStringSlice(flagData); return err },
		func() error { o.Metrics, err = f.GetStringSlice(flagMetrics); return err },
		func() error { o.Remote, err = f.GetBool(flagRemote); return err },
		func() error { o.GasPrice, err = math.LegacyNewDecFromStr(price); return err },
	} {
		if err := read(); err != nil {
			return o, err
		}
	}
	var ok bool
	if o.Fund, ok = math.NewIntFromString(fund); !ok {
		return o, fmt.Errorf("--%s %q is no amount", flagFund, fund)
	}
	return o, o.Validate()
}
