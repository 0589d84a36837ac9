package keeper_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"
	"cosmossdk.io/x/feegrant"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// bills adds up the events of billed calls, by payer.
func (f *fixture) bills(events sdk.Events) map[string]int64 {
	bills := map[string]int64{}
	for _, bill := range eventsOf[*types.TimerAgentBilled](f, events) {
		amount, ok := math.NewIntFromString(bill.Paid)
		require.True(f.t, ok, bill.Paid)
		bills[bill.Payer] += amount.Int64()
	}
	return bills
}

// TestAgentsThatNeverWinArePaidFor: nine timers have an agent that uses all that a call may and always bids too little.
// Their payer pays for each call, and one query tells what agents cost the chain.
//
// Rule: 1.9-call-budget, 1.9-call-paid, 1.9-call-billed-alone, 1.9-agent-costs-shown, 6-agent-billed
func TestAgentsThatNeverWinArePaidFor(t *testing.T) {
	const blocks, calls = 20, 9
	f := newFixture(t, withConfig(inMarket))
	costly := f.agent("costly", answers(144_999, "0.0001", "0", "0"))
	for range calls {
		f.schedule(robot, 2, f.noop(), byAgent(costly))
	}
	f.NextBlock()
	before := f.balance(robot)
	var cycles, billed uint64
	for range blocks {
		events := f.NextBlock()
		require.Empty(t, f.firedIDs(events))
		summary := only[*types.TimerLaneSummary](f, events)
		cycles += summary.AgentCycles
		bill := f.bills(events)[robot.String()]
		billed += uint64(bill)
		require.Equal(t, math.NewInt(bill).String(), summary.AgentsBilled)
		require.Equal(t, summary.AgentsBilled, summary.Burned)
	}
	paid := before - f.balance(robot)
	t.Logf("%d blocks: %d cycles of agents that never win, for which %d utmr were paid", blocks, cycles, paid)
	require.EqualValues(t, blocks*calls*149_999, cycles)
	require.EqualValues(t, blocks*calls*150, paid, "149,999 cycles at 0.001, rounded up")
	require.EqualValues(t, paid, billed)
	lane, err := f.query().Lane(f.Ctx(), &types.QueryLaneRequest{})
	require.NoError(t, err)
	require.Equal(t, math.NewInt(paid).String(), lane.AgentsBilled)
	require.EqualValues(t, calls*149_999, lane.AgentCycles)
	require.Zero(t, lane.AgentsUnasked)
}

// TestPayersTakeTurnsWithTheirAgents: a crowd of two hundred timers of one payer does not keep a bystander's agent from
// being called in every block.
//
// Rule: 1.9-agent-asked, 1.9-payers-take-turns
func TestPayersTakeTurnsWithTheirAgents(t *testing.T) {
	const blocks = 40
	f := newFixture(t, withConfig(inMarket), withConfig(func(c *types.TimerConfig) { c.MaxFiresPerActor = 1 }))
	costly := f.agent("costly", answers(144_999, "0.0001", "0", "0"))
	for range 200 {
		f.schedule(robot, 2, f.noop(), byAgent(costly))
	}
	asked := 0
	agent := f.agent("mine", func(sdk.Context, types.BidContext) (types.AgentQuote, error) {
		asked++
		return quote("1", "0.0005", "1"), nil
	})
	mine := f.schedule(robot2, 2, f.noop(), byAgent(agent), every(1, 0))
	f.blocksUntil(2)
	asked = 0
	fired := 0
	for range blocks {
		for _, id := range f.firedIDs(f.NextBlock()) {
			if id == mine {
				fired++
			}
		}
	}
	t.Logf("%d blocks: the bystander's agent was called %d times for %d fires", blocks, asked, fired)
	require.Equal(t, [2]int{blocks, blocks}, [2]int{asked, fired})
}

// TestATimerWhosePayerCannotCoverACallIsNotAsked: it competes with the default bid.
//
// Rule: 1.9-call-uncovered
func TestATimerWhosePayerCannotCoverACallIsNotAsked(t *testing.T) {
	f := newFixture(t, withConfig(expensive))
	poor := sdk.AccAddress("robot_poor__________")
	// A fire at the default bid costs at most 80,000, a call 150,000.
	f.fund(poor, 149_999)
	agent := f.agent("never", func(sdk.Context, types.BidContext) (types.AgentQuote, error) {
		require.FailNow(t, "asked although it can't be paid")
		return types.AgentQuote{}, nil
	})
	f.schedule(poor, 3, f.noop(), byAgent(agent), limited(40_000))
	events := f.blocksUntil(3)
	fired := only[*types.TimerFired](f, events)
	require.Zero(t, fired.AgentCycles)
	require.Equal(t, "0", fired.Tip)
	require.Equal(t, uint32(1), eventsOf[*types.TimerLaneSummary](f, events)[2].Unasked)
	require.Empty(t, f.bills(events))
}

// TestACallAndItsFireAreChargedOnce: what was charged for the call counts toward the pre-charge of the fire. A payer who
// has exactly that can have both, and an allowance is drawn on by what was paid, for bills as for fires.
//
// Rule: 1.9-call-paid, 1.9-call-billed-with-fire, 1.9-call-allowance
func TestACallAndItsFireAreChargedOnce(t *testing.T) {
	f := newFixture(t, withConfig(expensive))
	payer := sdk.AccAddress("payer_______________")
	// 100,000 cycles at 1 + 1.
	f.fund(payer, 200_000)
	f.grant(payer, robot, &feegrant.BasicAllowance{SpendLimit: f.coins(200_000)})
	agent := f.agent("fair", answers(5_000, "2", "0", "0"))
	f.schedule(robot, 3, f.noop(), byAgent(agent), limited(100_000), paidBy(payer))
	events := f.blocksUntil(3)
	fired := only[*types.TimerFired](f, events)
	require.Equal(t, uint64(10_000), fired.AgentCycles)
	records := int64(fired.Cycles) - 30_000
	require.Positive(t, records, "the allowance is read and written")
	paid := 60_000 + 2*records
	require.Equal(t, paid, number(t, fired.Paid), "20,000 of the fire, 10,000 of the call and the payer's records, at 2")
	require.Empty(t, f.bills(events))
	require.Equal(t, 200_000-paid, f.balance(payer))
	require.Equal(t, f.coins(200_000-paid), f.allowance(payer, robot))

	low := f.agent("low", answers(5_000, "0.5", "0", "0"))
	f.schedule(robot, f.Height()+2, f.noop(), byAgent(low), limited(100_000), paidBy(payer))
	f.setConfig(func(c *types.TimerConfig) { setAgents(c, 20_000, 1_500_000) })
	f.blocksUntil(f.Height() + 1)
	require.Equal(t, map[string]int64{payer.String(): 10_000}, f.bills(f.NextBlock()))
	require.Equal(t, 190_000-paid, f.balance(payer))
	require.Equal(t, f.coins(190_000-paid), f.allowance(payer, robot))
}

// allowance is what is left of a payer's allowance.
func (f *fixture) allowance(payer, actor sdk.AccAddress) sdk.Coins {
	f.t.Helper()
	allowance, err := f.Feegrant.GetAllowance(f.Ctx(), payer, actor)
	require.NoError(f.t, err)
	named, ok := allowance.(*feegrant.AllowedMsgAllowance)
	require.True(f.t, ok)
	basic, err := named.GetAllowance()
	require.NoError(f.t, err)
	return basic.(*feegrant.BasicAllowance).SpendLimit
}
