package lists

import (
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/client/flags"

	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// newLaneCmd shows the lane in words.
func newLaneCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "lane",
		Short:   "Show the prices, the use and the budgets of the timer lane",
		Long:    "Show the prices, the use and the budgets of the timer lane: for people, or all fields with --output json.",
		Example: fmt.Sprintf("%[1]s query timers lane\n%[1]s query timers lane -o json", plain.App()),
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			clientCtx, err := client.GetClientQueryContext(cmd)
			if err != nil {
				return err
			}
			j := job.New(cmd, clientCtx)
			lane, err := types.NewQueryClient(j.Context).Lane(j.Ctx, &types.QueryLaneRequest{})
			if err != nil {
				return errors.New(plain.ServerSays(err))
			}
			if j.OutputFormat == flags.OutputFormatJSON {
				return j.PrintProto(lane)
			}
			return writeLane(j, lane)
		},
	}
	return job.QueryCommand(cmd)
}

func writeLane(j *job.Job, e *types.QueryLaneResponse) error {
	unit := plain.Clean(e.FeeDenom)
	state := "open"
	switch {
	case e.Paused:
		state = "paused by governance: nothing fires"
	case e.Admitted > 0:
		state = "overloaded, or was until lately: " + plain.Count(e.Admitted, "ready timer") + " in the index"
	}
	market := ""
	if e.BasefeeCode != 0 {
		market = fmt.Sprintf("; the chain's fee market fails with %s/%d, and these are its last good prices", plain.Clean(e.BasefeeCodespace), e.BasefeeCode)
	}
	out := tabwriter.NewWriter(j.Output, 0, 0, 2, ' ', 0)
	for _, row := range [][2]string{
		{"block", fmt.Sprintf("%d; policy %s", e.Height, plain.PolicyName(e.Policy))},
		{"lane", state},
		{"chain's price", plain.Dec(e.CycleBasefee) + unit + " a cycle, " + plain.Dec(e.CellBasefee) + unit + " a byte written" + market},
		{"lane's basefee", plain.Dec(e.LaneBasefee) + unit + " a cycle; " + plain.Dec(e.NextLaneBasefee) + unit + " in the next block"},
		{"usual tip", plain.Dec(e.P50) + unit + " a cycle"},
		{"room in a block", plain.Count(e.LaneTimerCycles, "cycle") + " and " + plain.Count(e.LaneTimerCells, "cell")},
		{"last block used", plain.Count(e.Cycles, "cycle") + " and " + plain.Count(e.Cells, "cell")},
		{"largest fire", plain.Count(e.MaxCyclesPerFire, "cycle")},
		{"clean-up", plain.Count(e.GcCyclesPerBlock, "cycle") + " a block"},
		{"burned in all", e.Burned + unit + ", of it " + e.LaneBurned + unit + " by the lane's fee"},
		{"tips in all", e.Tips + unit},
		{"agents in all", e.AgentsBilled + unit},
	} {
		if _, err := fmt.Fprintf(out, "%s\t%s\n", row[0], row[1]); err != nil {
			return err
		}
	}
	return out.Flush()
}
