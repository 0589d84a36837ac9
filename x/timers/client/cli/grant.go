package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cosmos-timers/timers/x/timers/client/broadcast"
	"github.com/cosmos-timers/timers/x/timers/client/draft"
	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
)

func newGrantCmd() *cobra.Command {
	cmd := broadcast.TxCommand(&cobra.Command{
		Use:   "grant [grantee]",
		Short: "Let another account schedule or change your timers, within limits",
		Long: "Let another account schedule or change your timers, within limits. You pay for the timers. A type in --allow may be run with any " +
			"content: allow what you would let the grantee send itself.\n\n" +
			"The grantee makes a message with --from YOUR-ADDRESS --generate-only, and sends it with tx authz exec. " +
			"To end a grant early, revoke it (tx authz revoke), then cancel the timers that you do not want: revoking alone leaves them, " +
			"until the height at which the grant would have ended.",
		Example: fmt.Sprintf(`%[1]s tx timers grant bob --allow /cosmos.gov.v1.MsgVote --gas-limit 100000 --uses 10 --expires-in 30d --from alice
%[1]s tx timers grant bob --for cancel --uses 5 --expires-in 7d --from alice
%[1]s tx timers schedule --msgs vote.json --in 100 --expires-in 200 --gas-limit 100000 --from ALICE --generate-only > timer.json
%[1]s tx authz exec timer.json --from bob
%[1]s tx authz revoke BOB /timers.v1.MsgScheduleTimer --from alice`, plain.App()),
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := job.NewTx(cmd)
			if err != nil {
				return err
			}
			msg, err := draft.New(j).Grant(args[0])
			if err != nil {
				return err
			}
			return broadcast.Send(j, msg)
		},
	})
	draft.AddGrantFlags(cmd.Flags())
	job.AddForce(cmd.Flags())
	return cmd
}
