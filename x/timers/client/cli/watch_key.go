package cli

import (
	"github.com/spf13/cobra"

	"github.com/cosmos/cosmos-sdk/client"

	"github.com/cosmos-timers/timers/x/timers/client/draft"
	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// newWatchKeyCmd shows what --watch makes of a text, which may have names of keys where an address is wanted.
func newWatchKeyCmd() *cobra.Command {
	return job.QueryCommand(&cobra.Command{
		Use:     "watch-key [text]",
		Short:   "Show how --watch parses a text: as a store, and a prefix of its keys",
		Example: plain.App() + " query timers watch-key bank:balance:alice:stake",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			clientCtx, err := client.GetClientQueryContext(cmd)
			if err != nil {
				return err
			}
			j := job.New(cmd, clientCtx)
			key, err := draft.New(j).WatchKey(args[0])
			if err != nil {
				return err
			}
			return j.PrintProto(&types.QueryWatchKeyResponse{Key: key})
		},
	})
}
