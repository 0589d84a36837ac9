package market_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/lab/sim/market"
	"github.com/cosmos-timers/timers/lab/sim/portable"
	"github.com/cosmos-timers/timers/lab/sim/workload"
)

const blocks = 60

func people() workload.Group {
	return workload.Group{
		Name: "people", Agents: 20, Rate: 20, Cycles: 90_000, Patience: 20,
		Value: workload.Distribution{Kind: "lognormal", Median: 0.004, Sigma: 0.7}, Strategy: workload.Strategy{Kind: market.Estimator},
	}
}

func config(policy string) market.Config {
	c := portable.Defaults()
	c.Policy = policy
	return c
}

// run returns the jobs of a group and what became of them.
func run(policy string, group int, groups ...workload.Group) (
	jobs []workload.Job, outcomes []market.Outcome, w *workload.Workload,
) {
	c := config(policy)
	w = workload.Draw(groups, c.Limits(), blocks, 3)
	result := (&market.Module{Config: c}).Run(context.Background(), w, blocks)
	for i, job := range w.Jobs {
		if job.Group == group {
			jobs, outcomes = append(jobs, job), append(outcomes, result.Outcomes[i])
		}
	}
	return jobs, outcomes, w
}

// TestBidsWithoutFundsTakeNoRoom: timers whose agent can pay for none leave when it is their turn, and others fire when and
// at what price they would without them. Where a bid is locked, they are refused.
func TestBidsWithoutFundsTakeNoRoom(t *testing.T) {
	griefer := people()
	griefer.Name, griefer.Agents, griefer.Budget, griefer.Strategy = "griefer", 1, 1, workload.Strategy{Kind: market.Overbid}
	for _, policy := range []string{market.FIFO, market.Auction, market.Score, market.EIP1559} {
		_, alone, _ := run(policy, 0, people())
		_, beside, _ := run(policy, 0, people(), griefer)
		require.Equal(t, alone, beside, policy)
		_, griefs, _ := run(policy, 1, people(), griefer)
		require.NotEmpty(t, griefs)
		for _, outcome := range griefs {
			require.Zero(t, outcome, policy)
		}
	}
}

// TestTipsComeBackToTheProposer: in the blocks that the group proposes, and in no others; there it tips what it likes.
func TestTipsComeBackToTheProposer(t *testing.T) {
	validator := people()
	validator.Name, validator.Agents, validator.Rate, validator.Stake = "validator", 1, 3, 0.3
	validator.Strategy = workload.Strategy{Kind: market.SelfTip, Shade: 0.1}
	for _, policy := range []string{market.EIP1559, market.Tip} {
		jobs, outcomes, w := run(policy, 1, people(), validator)
		most := map[bool]float64{}
		for i, outcome := range outcomes {
			own := w.Proposer(outcome.Fired) == 1
			if own {
				require.Equal(t, outcome.Tip, outcome.Back)
			} else {
				require.Zero(t, outcome.Back)
			}
			if outcome.Fired > 0 {
				size := float64(jobs[i].Cycles)
				most[own] = max(most[own], outcome.Tip/size/jobs[i].Worth)
			}
		}
		require.Greater(t, most[true], 1.0, policy)
		require.LessOrEqual(t, most[false], 0.1, policy)
		require.Positive(t, most[false])
	}
}
