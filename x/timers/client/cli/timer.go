package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/client/flags"

	"github.com/cosmos-timers/timers/x/timers/client/draft"
	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// newTimerCmd shows one timer. Its messages are printed as --msgs takes them.
func newTimerCmd() *cobra.Command {
	cmd := job.QueryCommand(&cobra.Command{
		Use:   "timer [actor/id-prefix]",
		Short: "Show one timer, by its actor and the beginning of its id, or its name",
		Long: "Show one timer, by its actor, an address or a key's name, and as many digits of its id as tell it from the actor's other timers, or its name. The payload of an account's timer is shown decoded, as messages. " +
			"--output yaml prints what its owner stated, as schedule --file takes it.",
		Example: fmt.Sprintf("%[1]s query timers timer alice/3fa9\n%[1]s query timers timer alice/rent\n%[1]s query timers timer alice/rent --output yaml > rent.yaml", plain.App()),
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			clientCtx, err := client.GetClientQueryContext(cmd)
			if err != nil {
				return err
			}
			j := job.New(cmd, clientCtx)
			n, err := job.ParseName(args[0])
			if err != nil {
				return err
			}
			if n.Actor == "" {
				return errors.New("timer " + args[0] + " names no actor: want ACTOR/ID-PREFIX or ACTOR/NAME")
			}
			actor, err := j.LookupAccount(n.Actor)
			if err != nil {
				return fmt.Errorf("timer %.200q: %w", args[0], err)
			}
			timer, err := j.Find(actor.Text, n.Text)
			if errors.Is(err, job.ErrNoTimer) {
				of := n.Actor
				if _, err := types.ParseIDPrefix(n.Text); err == nil {
					of = args[0]
				}
				return fmt.Errorf("%w; what happened to those that are gone: %s query timers history %s", err, plain.App(), of)
			}
			if err != nil {
				return err
			}
			if cmd.Flags().Lookup(flags.FlagOutput).Value.String() == "yaml" {
				text, err := draft.SpecYAML(&timer.Spec)
				if err != nil {
					return err
				}
				_, err = j.Output.Write(text)
				return err
			}
			text, err := j.JSON(&timer)
			if err != nil {
				return err
			}
			return j.PrintRaw(slices.Concat([]byte(`{"timer":`), text, []byte("}")))
		},
	})
	cmd.Flags().Lookup(flags.FlagOutput).Usage = "form of the output: all that is known of it (text, json), or what is stated (yaml)"
	return cmd
}
