package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/client/flags"
	"github.com/cosmos/cosmos-sdk/version"

	"github.com/cosmos-timers/timers/x/timers/types"
)

const flagActor = "actor"

func newEstimateCmd() *cobra.Command {
	cmd := queryCommand(&cobra.Command{
		Use:   "estimate",
		Short: "Estimate what a timer would pay, and how long it would wait, if it were due now",
		Long: `Estimate what a timer would pay, and how long it would wait, if it were due in the next block.

The bid is stated as when scheduling: a tier, two prices, a sum under policies auction and score, or nothing for the default. --actor, an address or a key's
name, says whose weight counts; without it, that of somebody who has not fired lately.`,
		Example: fmt.Sprintf(`%[1]s query timers estimate
%[1]s query timers estimate --gas-limit 100000 --tier fast --actor alice
%[1]s query timers estimate --max-fee 0.004 --max-priority 0.001 --output json`, version.AppName),
		Args: cobra.NoArgs,
		RunE: runEstimate,
	})
	addBidFlags(cmd)
	cmd.Flags().String(flagActor, "", "who would schedule: an address, or the name of a key")
	return cmd
}

func runEstimate(cmd *cobra.Command, _ []string) error {
	clientCtx, err := client.GetClientQueryContext(cmd)
	if err != nil {
		return err
	}
	j := newJob(cmd, clientCtx)
	limit, err := j.gasLimit()
	if err != nil {
		return err
	}
	bid, err := j.bid()
	if err != nil {
		return err
	}
	request := estimateRequest(limit, bid)
	if text, given := j.stated(flagActor); given {
		actor, err := j.lookupAccount(text)
		if err != nil {
			return fmt.Errorf("--%s: %w", flagActor, err)
		}
		request.Actor = actor.text
	}
	ahead, err := j.askOutlook()
	if err != nil {
		return fmt.Errorf("ask for the chain's config: %s", serverSays(err))
	}
	if err := ahead.checkGasLimit(limit); err != nil {
		return err
	}
	if err := ahead.checkFloor(bid); err != nil {
		return err
	}
	estimate, err := j.estimate(request)
	if err != nil {
		return err
	}
	if j.OutputFormat == flags.OutputFormatJSON {
		return j.PrintProto(estimate)
	}
	c, err := j.clock()
	if err != nil {
		// The wait is told in blocks alone.
		c.paceErr = err
	}
	return writeEstimate(j.Output, estimate, c)
}

// estimateRequest asks for the price and the wait of a timer with a gas limit and a bid; 0 and nil are the defaults.
func estimateRequest(gasLimit uint64, bid *types.Bid) *types.QueryEstimateRequest {
	request := &types.QueryEstimateRequest{GasLimit: gasLimit}
	if bid == nil {
		return request
	}
	request.Tier, request.Bid = bid.Tier, bid.Price
	if bid.Static != nil {
		request.MaxFee = bid.Static.MaxFeePerCycle.String()
		request.MaxPriority = bid.Static.MaxPriorityFeePerCycle.String()
	}
	return request
}

func (j *job) estimate(request *types.QueryEstimateRequest) (*types.QueryEstimateResponse, error) {
	estimate, err := types.NewQueryClient(j.Context).Estimate(j.ctx, request)
	if err != nil {
		return nil, errors.New(serverSays(err))
	}
	return estimate, nil
}

// writeEstimate is the table for people.
func writeEstimate(out io.Writer, e *types.QueryEstimateResponse, c clock) error {
	unit := clean(e.FeeDenom)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	rows := [][2]string{
		{"block", fmt.Sprintf("%d, the next; policy %s", e.Height, policyName(e.Policy))},
		{"price per cycle", perCycle(e)},
		{"  chain", trimDec(e.CycleBasefee)},
		{"  lane", trimDec(e.LaneFee)},
		{"  tip", trimDec(e.Priority)},
		{"price per cell", trimDec(e.CellBasefee) + unit + " for a byte written"},
		{"gas limit", count(e.GasLimit, "cycle")},
		{"pre-charge", e.PreCharge + unit + ", which the payer must have at the fire"},
		{"cost of cycles", e.CostOfCycles + unit + " if it uses all of them and writes nothing"},
		{"weight", trimDec(e.Weight)},
		{"ahead", aheadText(e)},
		{"wait", waitText(e, c)},
		{"basis", basisText(e.Basis)},
	}
	if e.ScoreBid != "" {
		rows = slices.Insert(rows, 6, [2]string{"bid", clean(e.ScoreBid) + unit + " at each fire, within what follows"})
	}
	for _, row := range append(rows, auctionRows(e)...) {
		if _, err := fmt.Fprintf(table, "%s\t%s\n", row[0], row[1]); err != nil {
			return err
		}
	}
	return table.Flush()
}

// perCycle is all that a cycle costs, with its unit.
func perCycle(e *types.QueryEstimateResponse) string {
	sum, err := addPrices(e.CycleBasefee, e.LaneFee, e.Priority)
	if err != nil {
		return "unknown: " + clean(err.Error())
	}
	return trimDec(sum.String()) + clean(e.FeeDenom)
}

// aheadText is how many ready timers would be tried before it.
func aheadText(e *types.QueryEstimateResponse) string {
	switch {
	case e.Basis == types.BasisPaused || e.Basis == types.BasisPricedOut:
		return "not reckoned"
	case e.Ahead == 0:
		return "no ready timer"
	default:
		return fmt.Sprintf("%s (%s)", count(e.Ahead, "ready timer"), count(e.AheadCycles, "cycle"))
	}
}

// waitText tells the wait in blocks and, where the block time is known, in time.
func waitText(e *types.QueryEstimateResponse, c clock) string {
	if e.Basis == types.BasisPaused {
		return "until governance lets the lane go on"
	}
	if e.WaitBlocks == 0 {
		return "none"
	}
	text := count(e.WaitBlocks, "block")
	if c.paceErr != nil {
		return text
	}
	return fmt.Sprintf("%s, about %s at %s a block", text, roundForPeople(c.pace.timeFor(e.WaitBlocks)), c.pace)
}

// waitNote says in one line what a timer that is due now would meet.
func waitNote(e *types.QueryEstimateResponse, c clock) string {
	switch e.Basis {
	case types.BasisPaused:
		return "the lane is paused: nothing fires until governance lets it go on"
	case types.BasisPricedOut:
		return "priced out at today's prices: an idle lane would be cheap enough in " + waitText(e, c)
	case types.BasisStorm:
		return fmt.Sprintf("if it were due now: a storm, %s known to be ahead; wait at least: %s", aheadText(e), waitText(e, c))
	default:
		return fmt.Sprintf("if it were due now: %s ahead; wait: %s", aheadText(e), waitText(e, c))
	}
}

// basisText is what the wait rests on, in words.
func basisText(basis types.EstimateBasis) string {
	switch basis {
	case types.BasisAllReady:
		return "every ready timer was ranked; newcomers are not foreseen"
	case types.BasisStorm:
		return "a storm: counted up to a bound, without those not admitted yet"
	case types.BasisPricedOut:
		return "priced out; the wait is for an idle lane's fee to fall that far"
	case types.BasisPaused:
		return "the lane is paused"
	default:
		return "not stated"
	}
}
