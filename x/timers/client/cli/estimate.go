package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"cosmossdk.io/math"

	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/client/flags"
	"github.com/cosmos/cosmos-sdk/version"

	"github.com/cosmos-timers/timers/x/timers/types"
)

const flagActor = "actor"

// newEstimateCmd tells what a timer would pay and how long it would wait.
func newEstimateCmd() *cobra.Command {
	app := version.AppName
	cmd := &cobra.Command{
		Use:   "estimate",
		Short: "Tell what a timer would pay now, and how long it would likely wait",
		Long: "Tell what a timer that is due in the next block would pay at its prices, and how many ready timers would be tried before it. " +
			"The wait is what is ahead of it, at as many fires a block as their gas limits leave room for: fires that use less make it shorter, " +
			"newcomers that bid more make it longer.",
		Example: app + " query timers estimate --gas-limit 100000\n" +
			app + " query timers estimate --tier fast --actor alice\n" +
			app + " query timers estimate --max-fee 0.01 --max-priority 0.002 --output json",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			clientCtx, err := client.GetClientQueryContext(cmd)
			if err != nil {
				return err
			}
			return newJob(cmd, clientCtx).estimate()
		},
	}
	addPriceFlags(cmd.Flags())
	cmd.Flags().String(flagActor, "", "an address or a key's name: its fairness weight counts; without one, that of somebody who has not fired lately")
	cmd.SilenceUsage = true
	flags.AddQueryFlagsToCmd(cmd)
	flags.AddKeyringFlags(cmd.Flags())
	return cmd
}

// estimate asks for what the flags say and prints the answer.
func (j *job) estimate() error {
	limit, err := j.gasLimit()
	if err != nil {
		return err
	}
	bid, err := j.bid()
	if err != nil {
		return err
	}
	request := estimateRequest(limit, bid)
	actor, err := j.flags.GetString(flagActor)
	if err != nil {
		return err
	}
	if actor != "" {
		account, err := j.lookupAccount(actor)
		if err != nil {
			return fmt.Errorf("--%s: %w", flagActor, err)
		}
		request.Actor = account.text
	}
	estimate, err := types.NewQueryClient(j.Context).Estimate(j.ctx, request)
	if err != nil {
		return errors.New(answerOf(err))
	}
	if j.OutputFormat == flags.OutputFormatJSON {
		return j.PrintProto(estimate)
	}
	clock, clockErr := readClock(j.ctx, j.Client)
	return writeEstimate(j.Output, estimate, func(blocks uint64) string {
		if clockErr != nil || clock.paceErr != nil || blocks == 0 {
			return ""
		}
		return ", about " + roundForPeople(clock.pace.timeFor(blocks)).String()
	})
}

// estimateRequest asks about a timer with a gas limit, 0 for the default one, and a bid.
func estimateRequest(limit uint64, bid *types.Bid) *types.QueryEstimateRequest {
	request := &types.QueryEstimateRequest{GasLimit: limit}
	switch {
	case bid == nil:
	case bid.Static != nil:
		request.MaxFee, request.MaxPriority = bid.Static.MaxFeePerCycle.String(), bid.Static.MaxPriorityFeePerCycle.String()
	default:
		request.Tier = bid.Tier
	}
	return request
}

// writeEstimate prints an estimate for people; inTime puts a number of blocks into words of time, or says nothing.
func writeEstimate(out io.Writer, e *types.QueryEstimateResponse, inTime func(blocks uint64) string) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name, value, note string) { fmt.Fprintf(table, "%s\t%s\t%s\n", name, value, note) }
	row("block", fmt.Sprint(e.Height), "the next")
	row("gas limit", fmt.Sprint(e.GasLimit), "cycles")
	row("price of a cycle", sum(e.CycleBasefee, e.LaneFee, e.Priority), e.FeeDenom)
	row("  chain", trimDec(e.CycleBasefee), "burned")
	row("  lane", trimDec(e.LaneFee), "burned")
	row("  tip", trimDec(e.Priority), "to the proposer")
	row("price of a cell", trimDec(e.CellBasefee), e.FeeDenom)
	row("pre-charge", e.PreCharge+e.FeeDenom, "what the payer must have; what is not used comes back at once")
	row("all cycles cost", e.CostOfCycles+e.FeeDenom, "the most that a handler pays that writes nothing")
	row("weight", trimDec(e.Weight), "of the actor's tips, 1 to 2 by default")
	row("ahead of it", fmt.Sprintf("%d timers", e.Ahead), fmt.Sprintf("with limits of %d cycles", e.AheadCycles))
	row("likely wait", fmt.Sprintf("%d blocks", e.WaitBlocks), basisInWords(e.Basis)+inTime(e.WaitBlocks))
	return table.Flush()
}

// basisInWords says what an estimated wait rests on.
func basisInWords(basis types.EstimateBasis) string {
	switch basis {
	case types.BasisAllReady:
		return "all ready timers were ranked"
	case types.BasisStorm:
		return "more are ready than were ranked"
	case types.BasisPricedOut:
		return "priced out: until an idle lane's basefee has fallen to the max fee"
	case types.BasisPaused:
		return "the lane is paused: until governance goes on"
	default:
		return "by a rule that this program does not know"
	}
}

// sum adds prices; what is not a price counts nothing.
func sum(prices ...string) string {
	total := math.LegacyZeroDec()
	for _, text := range prices {
		if price, err := math.LegacyNewDecFromStr(text); err == nil {
			total = total.Add(price)
		}
	}
	return trimDec(total.String())
}

// trimDec drops the zeros that end a decimal.
func trimDec(text string) string {
	if !strings.Contains(text, ".") {
		return text
	}
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}
