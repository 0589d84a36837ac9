//go:build !noguests

package keeper_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/testutil/storecount"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// TestAQuietBlockUnderTipCostsWhatItDoesUnderFIFO: with nothing due, and weights of actors in state.
func TestAQuietBlockUnderTipCostsWhatItDoesUnderFIFO(t *testing.T) {
	cost := func(policy types.Policy) storecount.Counts {
		var counts *storecount.Counts
		f := newFixture(t, counted(&counts), withConfig(func(c *types.TimerConfig) { c.Policy = policy }))
		for _, actor := range []sdk.AccAddress{robot, robot2} {
			f.schedule(actor, 3, f.noop())
			f.schedule(actor, 5_000, f.noop())
		}
		f.blocksUntil(5)
		counts.Reset()
		f.endBlock()
		return counts.Take()
	}
	require.Equal(t, cost(types.PolicyFIFO), cost(types.PolicyTip))
}

// TestTheEndOfAnEpochCostsNoBlockAnything: however many actors have weights, it writes nothing and reads no more.
func TestTheEndOfAnEpochCostsNoBlockAnything(t *testing.T) {
	var counts *storecount.Counts
	f := newFixture(t, counted(&counts), withConfig(byTip), withConfig(laneOf(20_000_000)))
	for i := range 200 {
		actor := sdk.AccAddress(fmt.Sprintf("robot-%03d___________", i))
		f.fund(actor, rich)
		f.schedule(actor, 3, f.noop())
	}
	f.blocksUntil(8)
	var costs []storecount.Counts
	for range 5 {
		counts.Reset()
		f.endBlock()
		costs = append(costs, counts.Take())
	}
	require.Equal(t, 200, f.listedActors())
	for _, cost := range costs {
		require.Equal(t, costs[0], cost)
		require.Zero(t, cost.Writes())
	}
}

// TestAWeightCostsAQueryTheSameGasWhereverItIs: in the log or in a run.
//
// Rule: 2.3-weight-gas
func TestAWeightCostsAQueryTheSameGasWhereverItIs(t *testing.T) {
	f := newFixture(t, withConfig(byTip), withConfig(laneOf(20_000_000)))
	actor := func(i int) sdk.AccAddress { return sdk.AccAddress(fmt.Sprintf("robot-%03d___________", i)) }
	for i := range 300 {
		f.fund(actor(i), rich)
		f.schedule(actor(i), 3+uint64(i)/100, f.noop())
	}
	f.blocksUntil(8)
	require.Equal(t, 300, f.listedActors())
	gas := func(actor sdk.AccAddress) uint64 {
		ctx := f.Ctx().WithGasMeter(storetypes.NewInfiniteGasMeter())
		_, err := f.query().Fairness(ctx, &types.QueryFairnessRequest{Actor: actor.String()})
		require.NoError(t, err)
		return ctx.GasMeter().GasConsumed()
	}
	want := gas(actor(0))
	require.Greater(t, want, uint64(1_500))
	for i := range 300 {
		require.Equal(t, want, gas(actor(i)))
	}
}

// TestAFireUnderTipCostsABoundedNumberOfOperationsMore: the records are looked up together, and written together.
func TestAFireUnderTipCostsABoundedNumberOfOperationsMore(t *testing.T) {
	const n = 50
	cost := func(policy types.Policy) storecount.Counts {
		var counts *storecount.Counts
		f := newFixture(t, counted(&counts), withConfig(byTip), withConfig(laneOf(20_000_000)), withConfig(func(c *types.TimerConfig) { c.Policy = policy }))
		for i := range n {
			actor := sdk.AccAddress(fmt.Sprintf("robot-%03d___________", i))
			f.fund(actor, rich)
			f.schedule(actor, 3, f.noop())
			f.schedule(actor, 13, f.noop())
		}
		f.blocksUntil(12)
		counts.Reset()
		require.Len(t, f.firedIDs(f.endBlock()), n)
		return counts.Take()
	}
	fifo, tip := cost(types.PolicyFIFO), cost(types.PolicyTip)
	require.LessOrEqual(t, tip.Reads()-fifo.Reads(), 2*n, "a weight each at most, and who prices its timers")
	require.LessOrEqual(t, tip.Writes()-fifo.Writes(), n/2, "some dozens to a value")
}

// TestUnfundedTimersCostABlockLittle: what waits for its payer is looked at 16 at a time, and nothing is written while no one
// pays.
//
// Rule: 5.4-tip-rechecks
func TestUnfundedTimersCostABlockLittle(t *testing.T) {
	cost := func(n int) storecount.Counts {
		var counts *storecount.Counts
		f := newFixture(t, counted(&counts), withConfig(byTip))
		poor := sdk.AccAddress("robot-poor__________")
		f.fund(poor, 1)
		for range n {
			f.schedule(poor, 3, f.noop())
		}
		f.blocksUntil(4)
		counts.Reset()
		f.endBlock()
		return counts.Take()
	}
	few, many := cost(20), cost(200)
	require.LessOrEqual(t, few.Writes(), 2, "whose turn it is, and what waits first")
	require.Equal(t, few.Writes(), many.Writes())
	require.LessOrEqual(t, many.Reads()-few.Reads(), 181, "the window's scan, and a chunk of the owner index: %+v, %+v", few, many)
}
