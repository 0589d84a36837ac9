package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cosmos-timers/timers/x/timers/client/broadcast"
	"github.com/cosmos-timers/timers/x/timers/client/draft"
	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
)

func newSetAgentCmd() *cobra.Command {
	cmd := broadcast.TxCommand(&cobra.Command{
		Use:   "set-agent [address]",
		Short: "Have a contract price your timers that state no bid, or clear that",
		Long: "Have a contract or a module price your timers that state no bid: in each block in which one competes, it is asked what the timer " +
			"bids. Whose agent prices a timer pays what it says, up to what the payer can cover: name one that you trust. An agent that " +
			"fails is the default bid.",
		Example: fmt.Sprintf(`%[1]s tx timers set-agent CONTRACT --from alice
%[1]s tx timers set-agent --clear --from alice`, plain.App()),
		Args: job.AtMostOne("contract"),
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := job.NewTx(cmd)
			if err != nil {
				return err
			}
			msg, err := draft.New(j).SetAgent(args)
			if err != nil {
				return err
			}
			return broadcast.Send(j, msg)
		},
	})
	draft.AddAgentFlags(cmd.Flags())
	return cmd
}
