package outlook

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/cosmos-timers/timers/x/timers/client/bids"
	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Request asks for the price and the wait of a timer with these limits and a bid; 0 and nil are the defaults.
func Request(limits bids.Limits, bid *types.Bid) *types.QueryEstimateRequest {
	request := &types.QueryEstimateRequest{GasLimit: limits.Gas, CellLimit: limits.Cells}
	if !limits.DefaultCharge {
		request.MaxCharge = limits.MaxCharge
	}
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

// Estimate asks for an estimate.
func Estimate(j *job.Job, request *types.QueryEstimateRequest) (*types.QueryEstimateResponse, error) {
	estimate, err := types.NewQueryClient(j.Context).Estimate(j.Ctx, request)
	if err != nil {
		return nil, errors.New(plain.ServerSays(err))
	}
	return estimate, nil
}

// Write is the table for people.
func Write(out io.Writer, e *types.QueryEstimateResponse, c timespan.Clock) error {
	unit := plain.Clean(e.FeeDenom)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	rows := [][2]string{
		{"block", fmt.Sprintf("%d, the next; policy %s", e.Height, plain.PolicyName(e.Policy))},
		{"price per cycle", perCycle(e)},
		{"  chain", plain.Dec(e.CycleBasefee)},
		{"  lane", plain.Dec(e.LaneFee)},
		{"  tip", plain.Dec(e.Priority)},
		{"price per cell", plain.Dec(e.CellBasefee) + unit + " for a byte written"},
		{"gas limit", plain.Count(e.GasLimit, "cycle")},
		{"cell limit", plain.Count(e.CellLimit, "cell")},
		{"size", plain.Thousands(e.ReservedSize) + " of the lane"},
		{"pre-charge", e.PreCharge + unit + ", which the payer must have at the fire"},
		{"cost of cycles", e.CostOfCycles + unit + " if it uses all of them and writes nothing"},
		{"weight", plain.Dec(e.Weight)},
		{"ahead", aheadText(e)},
		{"wait", waitText(e, c)},
		{"basis", basisText(e.Basis)},
	}
	if e.ScoreBid != "" {
		rows = slices.Insert(rows, 6, [2]string{"bid", plain.Clean(e.ScoreBid) + unit + " at each fire, within what follows"})
	}
	for _, row := range append(rows, lockRows(e)...) {
		if _, err := fmt.Fprintf(table, "%s\t%s\n", row[0], row[1]); err != nil {
			return err
		}
	}
	return table.Flush()
}

// perCycle is all that a cycle costs, with its unit.
func perCycle(e *types.QueryEstimateResponse) string {
	sum, err := plain.AddPrices(e.CycleBasefee, e.LaneFee, e.Priority)
	if err != nil {
		return "unknown: " + plain.Clean(err.Error())
	}
	return plain.Dec(sum.String()) + plain.Clean(e.FeeDenom)
}

// aheadText is how many ready timers would be tried before it.
func aheadText(e *types.QueryEstimateResponse) string {
	switch {
	case e.Basis == types.BasisPaused || e.Basis == types.BasisPricedOut:
		return "not computed"
	case e.Ahead == 0:
		return "no ready timer"
	default:
		return fmt.Sprintf("%s (%s)", plain.Count(e.Ahead, "ready timer"), plain.Count(e.AheadSize, "cycle"))
	}
}

// waitText tells the wait in blocks and, where the block time is known, in time.
func waitText(e *types.QueryEstimateResponse, c timespan.Clock) string {
	if e.Basis == types.BasisPaused {
		return "until governance lets the lane go on"
	}
	switch {
	case e.WaitBlocks == 0 && e.Basis == types.BasisCrowded:
		return "until timers ahead end or can't pay any more"
	case e.WaitBlocks == 0:
		return "none"
	}
	text := plain.Count(e.WaitBlocks, "block")
	if c.PaceErr != nil {
		return text
	}
	return fmt.Sprintf("%s, about %s at %s a block", text, timespan.ForPeople(c.Pace.TimeFor(e.WaitBlocks)), c.Pace)
}

// WaitNote says in one line what a timer that is due now would meet.
func WaitNote(e *types.QueryEstimateResponse, c timespan.Clock) string {
	switch e.Basis {
	case types.BasisPaused:
		return "the lane is paused: nothing fires until governance lets it go on"
	case types.BasisPricedOut:
		return "priced out at today's prices: an idle lane would be cheap enough in " + waitText(e, c)
	case types.BasisCrowded:
		wait := "wait"
		if e.WaitBlocks > 0 {
			wait = "wait at least"
		}
		return fmt.Sprintf("if it were due now: %s ahead, of which %s in every block, so that no room is left; %s: %s", aheadText(e), returning(e), wait, waitText(e, c))
	case types.BasisStorm:
		if e.Ahead == 0 && e.WaitBlocks == 0 {
			return "if it were due now: a storm: more timers are ready than compete at once, and how many are ahead is not known"
		}
		return fmt.Sprintf("if it were due now: a storm, %s known to be ahead; wait at least: %s", aheadText(e), waitText(e, c))
	default:
		return fmt.Sprintf("if it were due now: %s ahead; wait: %s", aheadText(e), waitText(e, c))
	}
}

// returning is how many of the timers ahead return in every block.
func returning(e *types.QueryEstimateResponse) string {
	if e.Returning == 1 {
		return "1 returns"
	}
	return plain.Thousands(e.Returning) + " return"
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
	case types.BasisCrowded:
		return "timers ahead return in every block and leave no room; the wait counts them once"
	default:
		return "not stated"
	}
}

// lockRows are the rows that the estimate has under a policy that locks bids.
func lockRows(e *types.QueryEstimateResponse) [][2]string {
	if !bids.RuleOf(e.Policy).Locks {
		return nil
	}
	least, pays := "none: who has waited longest comes first", "nothing now: it would wait"
	if e.LeastBid != "" {
		least = plain.Clean(e.LeastBid) + plain.Clean(e.FeeDenom) + ", to fire in the next block"
	}
	if e.BidPayment != "" {
		pays = plain.Clean(e.BidPayment) + plain.Clean(e.FeeDenom) + " beside its fees"
	}
	return [][2]string{{"least bid", least}, {"pays of its bid", pays}}
}
