package cli

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cosmos-timers/timers/x/timers/client/bids"
	"github.com/cosmos-timers/timers/x/timers/client/draft"
	"github.com/cosmos-timers/timers/x/timers/client/lists"
)

// completions are the values that shells offer for flags.
func completions() map[string][]string {
	return map[string][]string{
		bids.FlagTier: bids.TierNames(), bids.FlagGasLimit: {bids.AutoGas}, lists.FlagStatus: lists.StatusNames(),
		draft.FlagOnFailure: {"roll", "stop"}, draft.FlagOnUnfunded: {"destroy", "suspend"},
		draft.FlagFor: {"schedule", "update", "extend", "pause", "resume", "cancel"},
	}
}

// complete lets shells offer the values of flags, in a command and all below it.
func complete(cmd *cobra.Command) *cobra.Command {
	offered := completions()
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if values := offered[f.Name]; len(values) > 0 {
			// It fails for a flag that has values already, and these are the same.
			_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(slices.Clone(values), cobra.ShellCompDirectiveNoFileComp))
		}
	})
	for _, below := range cmd.Commands() {
		complete(below)
	}
	return cmd
}
