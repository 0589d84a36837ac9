package lists

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/cosmos/cosmos-sdk/client"

	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// newWatchableCmd is no command of AutoCLI's, which writes null where nothing can be watched.
func newWatchableCmd() *cobra.Command {
	return job.QueryCommand(&cobra.Command{
		Use:     "watchable",
		Short:   "List what can be watched, and how it is written",
		Long:    "List the stores that timers can watch on this chain, and the forms in which --watch takes their keys.",
		Example: plain.App() + " query timers watchable",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			clientCtx, err := client.GetClientQueryContext(cmd)
			if err != nil {
				return err
			}
			answer, err := types.NewQueryClient(clientCtx).Watchable(cmd.Context(), &types.QueryWatchableRequest{})
			if err != nil {
				return errors.New(plain.ServerSays(err))
			}
			return clientCtx.WithOutput(cmd.OutOrStdout()).PrintProto(answer)
		},
	})
}
