package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/client/flags"

	"github.com/cosmos-timers/timers/x/timers/client/bids"
	"github.com/cosmos-timers/timers/x/timers/client/draft"
	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/outlook"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	flagActor = "actor"
	flagDue   = "due"
)

func newEstimateCmd() *cobra.Command {
	cmd := job.QueryCommand(&cobra.Command{
		Use:   "estimate",
		Short: "Estimate what a timer would pay, and how long it would wait, if it were due now",
		Long: `Estimate what a timer would pay, and how long it would wait, if it were due in the next block.

The bid is stated as when scheduling: a tier, two prices, a sum under policies ` + bids.SumPolicies() + `, or nothing for the default. --actor, an address or a key's
name, says whose weight counts; without it, that of somebody who has not fired lately.`,
		Example: fmt.Sprintf(`%[1]s query timers estimate
%[1]s query timers estimate --gas-limit 100000 --tier fast --actor alice
%[1]s query timers estimate --max-fee 0.004 --max-priority 0.001 --output json`, plain.App()),
		Args: cobra.NoArgs,
		RunE: runEstimate,
	})
	bids.AddFlags(cmd.Flags())
	cmd.Flags().String(flagActor, "", "who would schedule: an address, or the name of a key")
	cmd.Flags().String(draft.FlagPayer, "", "who would pay, with --"+flagActor+": whether its fee allowance covers the fire is told")
	cmd.Flags().Uint64(flagDue, 0, "height at which the allowance is asked (default: the next)")
	return cmd
}

func runEstimate(cmd *cobra.Command, _ []string) error {
	clientCtx, err := client.GetClientQueryContext(cmd)
	if err != nil {
		return err
	}
	j := job.New(cmd, clientCtx)
	limits, err := bids.ReadLimits(j)
	if err != nil {
		return err
	}
	bid, err := bids.Read(j)
	if err != nil {
		return err
	}
	request := outlook.Request(limits, bid)
	if text, given := j.Stated(flagActor); given {
		actor, err := j.LookupAccount(text)
		if err != nil {
			return fmt.Errorf("--%s: %w", flagActor, err)
		}
		request.Actor = actor.Text
	}
	ahead, err := outlook.Ask(j)
	if err != nil {
		return fmt.Errorf("ask for the chain's config: %s", plain.ServerSays(err))
	}
	if err := ahead.CheckLimits(limits); err != nil {
		return err
	}
	if err := ahead.CheckFloor(bid); err != nil {
		return err
	}
	estimate, err := outlook.Estimate(j, request)
	if err != nil {
		return err
	}
	if err := checkSponsor(j, ahead, request.Actor, estimate); err != nil {
		return err
	}
	if j.OutputFormat == flags.OutputFormatJSON {
		return j.PrintProto(estimate)
	}
	c, err := j.Clock()
	if err != nil {
		// The wait is told in blocks alone.
		c.PaceErr = err
	}
	return outlook.Write(j.Output, estimate, c)
}

// checkSponsor warns of a fee allowance that would not cover the fire.
func checkSponsor(j *job.Job, ahead *outlook.Outlook, actor string, e *types.QueryEstimateResponse) error {
	text, given := j.Stated(draft.FlagPayer)
	switch {
	case !given:
		return nil
	case actor == "":
		return fmt.Errorf("--%s %q is stated without --%s, to whom the allowance is granted", draft.FlagPayer, text, flagActor)
	}
	payer, err := j.LookupAccount(text)
	if err != nil {
		return fmt.Errorf("--%s: %w", draft.FlagPayer, err)
	}
	due, err := j.Flags.GetUint64(flagDue)
	if err != nil {
		return err
	}
	sponsor, err := ahead.CheckPayer(j, payer.Text, actor)
	if err != nil {
		return fmt.Errorf("--%s: %w", draft.FlagPayer, err)
	}
	c, err := j.Clock()
	if err != nil {
		return err
	}
	if err := sponsor.Covers(j, e, c.Expected(due)); err != nil {
		return err
	}
	j.Warn()
	return nil
}
