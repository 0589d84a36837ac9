// Package monitor follows the lane and its timers block by block: as a view on a terminal, elsewhere as lines.
package monitor

import (
	"fmt"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/client/flags"

	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/client/words"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	flagBlocks   = "blocks"
	flagInterval = "interval"
	// leastInterval keeps a slip of the finger from flooding a node.
	leastInterval = 50 * time.Millisecond
	// defaultInterval is how often a node is asked for its height.
	defaultInterval = 500 * time.Millisecond
)

// NewCommand is the command monitor.
func NewCommand() *cobra.Command {
	cmd := job.QueryCommand(&cobra.Command{
		Use:     "monitor [actor]",
		Aliases: []string{"watch"},
		Short:   "Follow the lane and its timers block by block",
		Long: `Follow the lane and its timers block by block: prices and use, what is ready in the order of the next block, and what
fired, expired, went unfunded or was changed lately. With an actor, an address or a key's name, only its timers and what
happens to them.

On a terminal the view is redrawn in place; Ctrl-C ends it. Elsewhere, or with --output text, each block and each happening
is one line, KIND KEY=VALUE ..., for grep. With --output json it is one object, for scripts. The node is asked for its height every --interval, so any RPC endpoint will do; when it
goes away, that is said and it is asked again.`,
		Example: fmt.Sprintf(`%[1]s query timers monitor
%[1]s query timers monitor alice --interval 2s
%[1]s query timers monitor --blocks 100 | grep -E '^(failed|unfunded) '
%[1]s query timers monitor alice -o json | jq -c 'select(.kind == "failed")'`, plain.App()),
		Args: job.AtMostOne("account"),
		RunE: run,
	})
	cmd.Flags().Uint64(flagBlocks, 0, "end after so many blocks, the latest one first (default: do not end)")
	// Every query has it; here it would say nothing.
	cmd.Flags().Lookup(flags.FlagHeight).Hidden = true
	cmd.Flags().Lookup(flags.FlagOutput).Usage = "lines (text) or an object a line (json); default: a view on a terminal, else lines"
	cmd.Flags().Duration(flagInterval, defaultInterval, fmt.Sprintf("how often the node is asked for its height, at least %s", leastInterval))
	return cmd
}

func run(cmd *cobra.Command, args []string) error {
	clientCtx, err := client.GetClientQueryContext(cmd)
	if err != nil {
		return err
	}
	if cmd.Flags().Changed(flags.FlagHeight) {
		return fmt.Errorf("--%s says nothing here: the latest blocks are followed", flags.FlagHeight)
	}
	j := job.New(cmd, clientCtx)
	output, chosen := j.Stated(flags.FlagOutput)
	if chosen && output != flags.OutputFormatJSON && output != flags.OutputFormatText {
		return fmt.Errorf("--%s %.80q is unknown: want text or json", flags.FlagOutput, output)
	}
	zone, err := j.Zone()
	if err != nil {
		return err
	}
	w := &watcher{
		query: types.NewQueryClient(j.Context), notes: j.Notes,
		board: board{
			chainID: j.ChainID, keyName: j.KeyName, words: words.Writer{Codec: j.Codec, Who: j.Name}, now: timespan.MachineOf(j.Ctx).Now,
			zone: zone,
		},
	}
	if w.interval, err = cmd.Flags().GetDuration(flagInterval); err != nil {
		return err
	}
	if w.interval < leastInterval {
		return fmt.Errorf("--%s %s is too short: want at least %s", flagInterval, w.interval, leastInterval)
	}
	if w.left, err = cmd.Flags().GetUint64(flagBlocks); err != nil {
		return err
	}
	if cmd.Flags().Changed(flagBlocks) && w.left == 0 {
		return fmt.Errorf("--%s 0 would show nothing: want 1 or more", flagBlocks)
	}
	if len(args) == 1 {
		actor, err := j.LookupAccount(args[0])
		if err != nil {
			return err
		}
		w.board.actor = actor.Text
	}
	if w.node, err = j.GetNode(); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(j.Ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if on := terminalOf(j.Output); on != nil && !chosen {
		// A password is asked for before the view, and not across it.
		j.ReadKeyNames()
		return w.onScreen(ctx, on)
	}
	return w.follow(ctx, &stream{out: j.Output, actor: w.board.actor, json: chosen && output == flags.OutputFormatJSON})
}
