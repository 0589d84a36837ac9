// Package cli holds the commands of the module that AutoCLI can't make: those that convert times to heights, files to
// payloads, and short names of timers to whole ones, and those that show more than one answer. README.md in this
// directory is their reference; most of what they do is in the packages next to this one.
package cli

import (
	"github.com/spf13/cobra"

	"github.com/cosmos/cosmos-sdk/client"

	"github.com/cosmos-timers/timers/x/timers/client/completion"
	"github.com/cosmos-timers/timers/x/timers/client/describe"
	"github.com/cosmos-timers/timers/x/timers/client/govern"
	"github.com/cosmos-timers/timers/x/timers/client/history"
	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/lists"
	"github.com/cosmos-timers/timers/x/timers/client/monitor"
	"github.com/cosmos-timers/timers/x/timers/client/prove"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// NewTxCmd returns the module's transactions.
func NewTxCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:                        types.ModuleName,
		Short:                      "Schedule, change and cancel timers",
		SuggestionsMinimumDistance: 2,
		RunE:                       client.ValidateCmd,
	}
	cmd.AddCommand(newScheduleCmd(), newUpdateCmd(), newExtendCmd(), newCancelCmd(), newPauseCmd(), newResumeCmd(), newSkipCmd(), newRunCmd(), newSetAgentCmd(),
		newGrantCmd(), newApplyCmd(), newDiffCmd())
	cmd.AddCommand(govern.TxCommands()...)
	cmd.SetFlagErrorFunc(job.ExplainFlag)
	return completion.Complete(cmd, map[string]completion.Offer{govern.FlagSet: govern.OfferParameters})
}

// NewQueryCmd returns the module's queries; AutoCLI adds the lists.
func NewQueryCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:                        types.ModuleName,
		Short:                      "Look at timers, the lane and receipts",
		SuggestionsMinimumDistance: 2,
		RunE:                       client.ValidateCmd,
	}
	cmd.AddCommand(newTimerCmd(), newEstimateCmd(), newWatchKeyCmd(), history.NewCommand(), monitor.NewCommand())
	cmd.AddCommand(lists.Commands()...)
	cmd.AddCommand(describe.Commands()...)
	cmd.AddCommand(prove.Commands()...)
	cmd.AddCommand(govern.QueryCommands()...)
	cmd.SetFlagErrorFunc(job.ExplainFlag)
	return completion.Complete(cmd, map[string]completion.Offer{govern.FlagSet: govern.OfferParameters})
}
