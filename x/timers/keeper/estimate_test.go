package keeper_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/collections"
	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos-timers/timers/x/timers/engine"
	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
	"github.com/cosmos-timers/timers/x/timers/watch"
)

// byDefault gives a chain the default config.
func byDefault(opts *lab.ChainOptions) { opts.Genesis.Config = types.DefaultGenesis().Config }

// estimateGas asks for an estimate on a meter of its own.
func (f *fixture) estimateGas(req *types.QueryEstimateRequest) (*types.QueryEstimateResponse, uint64) {
	f.t.Helper()
	meter := storetypes.NewInfiniteGasMeter()
	response, err := f.query().Estimate(f.Ctx().WithGasMeter(meter), req)
	require.NoError(f.t, err)
	return response, meter.GasConsumed()
}

// TestAnEstimateIsPaidFor: for each timer that competes and for each that is ahead. It ends where the gas of who asks does.
func TestAnEstimateIsPaidFor(t *testing.T) {
	estimate := func(n int) uint64 {
		f := crowded(t, n, func(timer *types.Timer) { timer.Due = 3 }, func(opts *lab.ChainOptions) {
			opts.Genesis.Config.Policy, opts.Genesis.Config.LanePaused = types.PolicyEIP1559, true
		})
		for f.Height() < 8 {
			f.endBlock()
		}
		f.setConfig(func(c *types.TimerConfig) { c.LanePaused = false })
		response, gas := f.estimateGas(&types.QueryEstimateRequest{})
		require.Equal(t, uint64(n), response.Ahead)
		again, more := f.estimateGas(&types.QueryEstimateRequest{})
		require.Equal(t, response, again)
		require.Equal(t, gas, more)
		short := f.Ctx().WithGasMeter(storetypes.NewGasMeter(gas / 2))
		require.Panics(t, func() { _, _ = f.query().Estimate(short, &types.QueryEstimateRequest{}) })
		return gas
	}
	few, many := estimate(100), estimate(1_100)
	t.Logf("%d gas with 100 timers ready, %d for each more", few, (many-few)/200)
	require.GreaterOrEqual(t, (many-few)/1_000, uint64(engine.RankGas+keeper.CompareGas))
	require.Less(t, few, uint64(400_000), "an ordinary lane")
}

// TestEstimate_PaysForTheNotesOfItsBlock: each estimate of a block reads again what the block's transactions have noted of watched
// state so far. Ten transactions that wrote 6,000 keys of a watched contract made every later one a hundred times too cheap.
//
// Rule: 2-notes
func TestEstimate_PaysForTheNotesOfItsBlock(t *testing.T) {
	f := newFixture(t, byDefault)
	key, err := f.Watcher.Parse("bank:balances:" + alice.String())
	require.NoError(t, err)
	msg := scheduleMsg(robot, 0, f.noop())
	msg.Spec.Trigger = types.Trigger{Watch: &types.WatchTrigger{Keys: []types.WatchKey{key}}}
	f.run(msg)
	f.NextBlock()
	write := func(from, to int) {
		for i := from; i < to; i++ {
			at := collections.Join(alice, fmt.Sprintf("coin%d", i))
			require.NoError(t, f.Bank.Balances.Set(f.Ctx(), at, math.NewInt(1)))
		}
	}
	most := int(market.MaxMatchedKeys)
	write(0, 4)
	_, few := f.estimateGas(&types.QueryEstimateRequest{})
	write(4, most)
	_, many := f.estimateGas(&types.QueryEstimateRequest{})
	_, again := f.estimateGas(&types.QueryEstimateRequest{})
	t.Logf("%d gas after 4 writes, %d after %d", few, many, most)
	require.Equal(t, many, again, "nothing is read for nothing the second time")
	require.GreaterOrEqual(t, (many-few)/uint64(most-4), uint64(watch.NoteGas))
	write(most, 250)
	_, again = f.estimateGas(&types.QueryEstimateRequest{})
	require.Equal(t, many, again, "of more keys than a delivery names there is no note")
	require.NotEmpty(t, f.firedIDs(f.NextBlock()), "the block itself has the notes still")
	quiet, err := f.Watcher.Quiet(f.Ctx())
	require.NoError(t, err)
	require.True(t, quiet, "and removes them")
}

// TestAnEstimateCountsWhatReturns: timers that are due in every block take their room in each block of the wait. Where they
// leave none, the estimate says so.
func TestAnEstimateCountsWhatReturns(t *testing.T) {
	f := newFixture(t, byDefault)
	every := func(n int) {
		for range n {
			msg := scheduleMsg(robot, 0, f.burner(80_000), limited(200_000))
			msg.Spec.Trigger = types.Trigger{Interval: &types.IntervalTrigger{Every: 1}}
			f.run(msg)
		}
	}
	every(10)
	f.NextBlock()
	f.NextBlock()
	response, _ := f.estimateGas(&types.QueryEstimateRequest{GasLimit: 200_000, Actor: robot.String()})
	require.Equal(t, uint64(10), response.Returning)
	require.Equal(t, types.BasisAllReady, response.Basis)
	require.Zero(t, response.WaitBlocks, "they use half of the lane")

	every(9)
	f.NextBlock()
	f.NextBlock()
	response, _ = f.estimateGas(&types.QueryEstimateRequest{GasLimit: 200_000, Actor: robot.String()})
	require.Equal(t, uint64(19), response.Ahead)
	require.Equal(t, types.BasisCrowded, response.Basis)
}

func TestAnEstimateStatesIntrinsicCycles(t *testing.T) {
	f := newFixture(t, byDefault)
	response, _ := f.estimateGas(&types.QueryEstimateRequest{GasLimit: 100_000, PayloadBytes: 1_000, MessageBytes: 900})
	require.Equal(t, uint64(20_000+3*1_000+10*900), response.IntrinsicCycles)
	for _, req := range []*types.QueryEstimateRequest{
		{GasLimit: 40_000, PayloadBytes: 10_000},
		{PayloadBytes: ^uint64(0)},
		{MessageBytes: ^uint64(0)},
		{MaxCharge: "-5"},
		{MaxCharge: "5"},
	} {
		_, err := f.query().Estimate(f.Ctx(), req)
		require.Error(t, err, req.String())
	}
}

// TestAnEstimateKnowsMaxCharge: what it lowers, and when the lane's fee has fallen to what it leaves.
func TestAnEstimateKnowsMaxCharge(t *testing.T) {
	high := math.LegacyNewDecWithPrec(2, 3)
	f := newFixture(t, func(opts *lab.ChainOptions) {
		opts.Genesis.Config.Policy, opts.Genesis.Lane.LaneBasefee = types.PolicyEIP1559, &high
	})
	req := &types.QueryEstimateRequest{GasLimit: 100_000, MaxFee: "1", MaxPriority: "1", MaxCharge: "1000"}
	response, _ := f.estimateGas(req)
	require.Equal(t, "1000", response.PreCharge)
	req.MaxCharge = "820"
	response, _ = f.estimateGas(req)
	require.Equal(t, types.BasisPricedOut, response.Basis)
	require.Positive(t, response.WaitBlocks)
	id := f.schedule(robot, f.Height()+1, f.noop(), limited(100_000), atMost("820"))
	wait := uint64(0)
	for ; f.total(robot) > 0; wait++ {
		f.NextBlock()
	}
	require.InDelta(t, float64(response.WaitBlocks), float64(wait), 2, id)
}
