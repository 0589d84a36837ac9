package lists

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cosmos/cosmos-sdk/client"

	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	flagID          = "id"
	flagPageReverse = "page-reverse"
)

// newReceiptsCmd is no command of AutoCLI's, which writes null where nothing fired.
func newReceiptsCmd() *cobra.Command {
	return deliveries(&cobra.Command{
		Use:     "receipts [height]",
		Short:   "List what fired at a height, with its outcome and cost",
		Long:    "List the receipts of a height, as long as they are kept (receipt_retention_blocks in the params).",
		Example: plain.App() + " query timers receipts 1234",
	}, func(j *job.Job, text string) error {
		request := &types.QueryReceiptsRequest{}
		var err error
		if request.Height, err = timespan.ParseCount(text, "height"); err != nil {
			return err
		}
		if request.Pagination, err = pageRequest(j); err != nil {
			return err
		}
		if request.Pagination.Reverse, err = j.Flags.GetBool(flagPageReverse); err != nil {
			return err
		}
		answer, err := types.NewQueryClient(j.Context).Receipts(j.Ctx, request)
		if err != nil {
			return errors.New(plain.ServerSays(err))
		}
		if len(answer.Receipts) == 0 {
			j.Notef("no receipts: nothing fired at height %d, or its receipts are not kept", request.Height)
		}
		return j.PrintProto(answer)
	})
}

// newDeliveriesCmd is no command of AutoCLI's, which writes null where there are none, and takes no ACTOR/ID.
func newDeliveriesCmd() *cobra.Command {
	cmd := deliveries(&cobra.Command{
		Use:   "deliveries [actor]",
		Short: "List what an actor's timers did, the last delivery first",
		Long: "List the deliveries of an actor's timers, or of one of them, as long as their receipts are kept (receipt_retention_blocks in the " +
			"params). A timer that is gone is named by its id. The node needs no event index for this. A page looks at a bounded number of " +
			"receipts of the whole chain, so that it may be short, or empty, and have a next_key: go on with --page-key.",
		Example: fmt.Sprintf("%[1]s query timers deliveries alice\n%[1]s query timers deliveries alice/c603", plain.App()),
	}, runDeliveries)
	cmd.Flags().String(flagID, "", "beginning of the id of the timer, as behind the slash")
	return cmd
}

func runDeliveries(j *job.Job, text string) error {
	request := &types.QueryDeliveriesRequest{}
	var err error
	if request.Actor, request.Id, err = whose(j, text); err != nil {
		return err
	}
	if id, given := j.Stated(flagID); given {
		if request.Id != "" {
			return fmt.Errorf("--%s and %s both name a timer: want one of them", flagID, text)
		}
		request.Id = id
	}
	if request.Pagination, err = pageRequest(j); err != nil {
		return err
	}
	if request.Pagination.Reverse, err = j.Flags.GetBool(flagPageReverse); err != nil {
		return err
	}
	answer, err := types.NewQueryClient(j.Context).Deliveries(j.Ctx, request)
	if err != nil {
		return errors.New(plain.ServerSays(err))
	}
	if len(answer.Deliveries) == 0 {
		j.Notef("no deliveries: nothing fired, or its receipts are not kept: those from height %d on are", answer.KeptFrom)
	}
	return j.PrintProto(answer)
}

// whose are the actor and the beginning of an id that ACTOR or ACTOR/ID-PREFIX or ACTOR/NAME names.
func whose(j *job.Job, text string) (actor, id string, err error) {
	name := job.Name{Actor: text}
	if strings.Contains(text, "/") {
		if name, err = job.ParseName(text); err != nil {
			return "", "", err
		}
	}
	account, err := j.LookupAccount(name.Actor)
	if err != nil {
		return "", "", fmt.Errorf("actor: %w", err)
	}
	if name.Text == "" {
		return account.Text, "", nil
	}
	if id, err = types.ParseIDPrefix(name.Text); err == nil {
		return account.Text, id, nil
	}
	timer, err := j.Find(account.Text, name.Text)
	return account.Text, timer.Id, err
}

// deliveries makes a command that names one thing and answers with a page.
func deliveries(cmd *cobra.Command, run func(j *job.Job, text string) error) *cobra.Command {
	cmd.Args = cobra.ExactArgs(1)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		clientCtx, err := client.GetClientQueryContext(cmd)
		if err != nil {
			return err
		}
		return run(job.New(cmd, clientCtx.WithOutput(cmd.OutOrStdout())), args[0])
	}
	job.QueryCommand(cmd)
	addPageFlags(cmd.Flags())
	cmd.Flags().Bool(flagPageReverse, false, "list the last of the usual order first")
	return cmd
}
