package cli

import (
	"github.com/spf13/cobra"

	"github.com/cosmos-timers/timers/x/timers/client/broadcast"
	"github.com/cosmos-timers/timers/x/timers/client/job"
)

// txCommand adds what every transaction's command has.
func txCommand(cmd *cobra.Command) *cobra.Command {
	job.TxCommand(cmd)
	broadcast.AddFlags(cmd.Flags())
	return cmd
}
