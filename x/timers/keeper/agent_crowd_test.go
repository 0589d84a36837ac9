package keeper_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// TestACrowdOfAgentsThatNeverWinPaysForItself: two hundred timers of one payer have an agent that uses all that a call
// may and always bids too little. Each call is paid, and a bystander's agent is called in every block.
func TestACrowdOfAgentsThatNeverWinPaysForItself(t *testing.T) {
	const blocks = 20
	f := newFixture(t, withConfig(inMarket))
	costly := f.agent("costly", answers(144_999, "0.0001", "0", "0"))
	for range 200 {
		f.schedule(robot, 2, f.noop(), byAgent(costly))
	}
	asked := 0
	mine := f.agent("mine", func(sdk.Context, types.BidContext) (types.AgentQuote, error) {
		asked++
		return quote("1", "0.0005", "1"), nil
	})
	f.schedule(robot2, 2, f.noop(), byAgent(mine), every(1, 0))
	f.blocksUntil(2)
	asked = 0
	before := f.balance(robot)
	var cycles, fired uint64
	billed := math.ZeroInt()
	for range blocks {
		events := f.NextBlock()
		cycles += only[*types.TimerLaneSummary](f, events).AgentCycles
		fired += uint64(len(f.firedIDs(events)))
		for _, bill := range eventsOf[*types.TimerAgentBilled](f, events) {
			require.Equal(t, robot.String(), bill.Payer)
			amount, ok := math.NewIntFromString(bill.Paid)
			require.True(t, ok)
			billed = billed.Add(amount)
		}
	}
	paid := before - f.balance(robot)
	t.Logf("%d blocks: %d cycles of agents, of which the crowd paid for %d utmr; the bystander's agent was called %d times for %d fires",
		blocks, cycles, paid, asked, fired)
	require.EqualValues(t, blocks, fired)
	require.Equal(t, blocks, asked, "the bystander's agent is called for each of its fires")
	crowdCycles := cycles - blocks*types.AgentBaseCycles
	require.Positive(t, crowdCycles)
	require.GreaterOrEqual(t, paid, f.config().CycleBasefee.MulInt(math.NewIntFromUint64(crowdCycles)).Ceil().TruncateInt64())
	require.Equal(t, billed.Int64(), paid, "one event for each bill")
}
