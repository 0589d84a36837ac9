package keeper_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/fees"
	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/testutil/storecount"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// feeMarket is a fee market that answers as a test says.
type feeMarket struct {
	answer func(sdk.Context) (cycle, cell math.LegacyDec, err error)
}

// Basefees implements types.BasefeeSource.
func (m *feeMarket) Basefees(ctx context.Context, _ *types.TimerConfig) (cycle, cell math.LegacyDec, err error) {
	return m.answer(sdk.UnwrapSDKContext(ctx))
}

// asks makes the market answer two prices.
func (m *feeMarket) asks(cycle, cell math.LegacyDec) *feeMarket {
	m.answer = func(sdk.Context) (math.LegacyDec, math.LegacyDec, error) { return cycle, cell, nil }
	return m
}

func withMarket(m *feeMarket) func(*lab.ChainOptions) {
	return func(opts *lab.ChainOptions) { opts.Keeper = append(opts.Keeper, keeper.WithBasefeeSource(m)) }
}

// burnGas uses gas without end. So many times it continues after its meter has stopped it.
func burnGas(ctx sdk.Context, caught int) {
	defer func() {
		if r := recover(); r != nil {
			if caught == 0 {
				panic(r)
			}
			burnGas(ctx, caught-1)
		}
	}()
	for {
		ctx.GasMeter().ConsumeGas(1_000, "loop")
	}
}

var outOfPrice = math.LegacyNewDec(1_000_000_000_000_000_000).Add(math.LegacySmallestDec())

// failingMarkets are the ways in which a fee market gives no prices, and the codes by which they are known.
func failingMarkets(f func() *fixture) map[string]struct {
	code   uint32
	answer func(sdk.Context) (cycle, cell math.LegacyDec, err error)
} {
	one := math.LegacyOneDec()
	return map[string]struct {
		code   uint32
		answer func(sdk.Context) (cycle, cell math.LegacyDec, err error)
	}{
		"nothing":             {80, (&feeMarket{}).asks(math.LegacyDec{}, math.LegacyDec{}).answer},
		"no price of cells":   {80, (&feeMarket{}).asks(one, math.LegacyDec{}).answer},
		"a negative price":    {80, (&feeMarket{}).asks(one.Neg(), one).answer},
		"negative cells":      {80, (&feeMarket{}).asks(one, math.LegacySmallestDec().Neg()).answer},
		"an unpayable price":  {80, (&feeMarket{}).asks(outOfPrice, one).answer},
		"unpayable cells":     {80, (&feeMarket{}).asks(one, outOfPrice).answer},
		"an error":            {1, func(sdk.Context) (a, b math.LegacyDec, err error) { return one, one, errors.New("closed") }},
		"a registered error":  {51, func(sdk.Context) (a, b math.LegacyDec, err error) { return one, one, types.ErrInternal }},
		"a panic":             {40, func(sdk.Context) (a, b math.LegacyDec, err error) { panic("closed") }},
		"a loop":              {41, func(ctx sdk.Context) (a, b math.LegacyDec, err error) { burnGas(ctx, 0); return one, one, nil }},
		"a loop that goes on": {41, func(ctx sdk.Context) (a, b math.LegacyDec, err error) { burnGas(ctx, 3); return one, one, nil }},
		"a caught loop": {41, func(ctx sdk.Context) (a, b math.LegacyDec, err error) {
			func() {
				defer func() { _ = recover() }()
				burnGas(ctx, 0)
			}()
			return one, one, nil
		}},
		"a write": {80, func(ctx sdk.Context) (a, b math.LegacyDec, err error) {
			return one, one, f().Bank.SendCoins(ctx, alice, bob, f().coins(1_000))
		}},
		"a run of timers": {44, func(ctx sdk.Context) (a, b math.LegacyDec, err error) {
			return one, one, f().Timers.EndBlock(ctx)
		}},
	}
}

// TestFiresGoOnAtTheLastGoodPrices: whatever the fee market does, fires are made and paid for at the prices that it gave
// last, each block says so, and queries show them.
//
// Rule: 5.1-prices, 5.2-market-bounds, 5.2-market-failures, 5.2-last-good-prices, 5.2-fires-go-on, 5.2-failure-shown
// Rule: 5.5-fee-market, 6-basefee-source-failed
func TestFiresGoOnAtTheLastGoodPrices(t *testing.T) {
	var f *fixture
	for name, failing := range failingMarkets(func() *fixture { return f }) {
		t.Run(name, func(t *testing.T) {
			m := (&feeMarket{}).asks(math.LegacyNewDec(2), math.LegacyNewDec(3))
			f = newFixture(t, withMarket(m))
			for height := uint64(2); height < 8; height++ {
				f.schedule(robot, height, f.noop())
			}
			require.Equal(t, "40000", only[*types.TimerFired](f, f.blocksUntil(2)).Paid)
			m.answer = failing.answer
			for height := uint64(3); height < 6; height++ {
				lane, err := f.query().Lane(f.Ctx(), &types.QueryLaneRequest{})
				require.NoError(t, err)
				require.Equal(t, failing.code, lane.BasefeeCode)
				require.Equal(t, []string{"2.000000000000000000", "3.000000000000000000"}, []string{lane.CycleBasefee, lane.CellBasefee})
				estimate, err := f.query().Estimate(f.Ctx(), &types.QueryEstimateRequest{})
				require.NoError(t, err)
				require.Equal(t, lane.CycleBasefee, estimate.CycleBasefee)
				_, err = f.query().Ready(f.Ctx(), &types.QueryReadyRequest{})
				require.NoError(t, err)

				events := f.NextBlock()
				require.Equal(t, "40000", only[*types.TimerFired](f, events).Paid)
				said := only[*types.TimerBasefeeSourceFailed](f, events)
				require.Equal(t, types.TimerBasefeeSourceFailed{
					Height: height, Codespace: said.Codespace, Code: failing.code,
					CycleBasefee: "2.000000000000000000", CellBasefee: "3.000000000000000000",
				}, *said)
			}
			require.Equal(t, int64(rich), f.balance(bob), "what it writes is dropped")
			m.asks(math.LegacyNewDec(5), math.LegacyNewDec(6))
			events := f.NextBlock()
			require.Equal(t, "100000", only[*types.TimerFired](f, events).Paid)
			require.Empty(t, eventsOf[*types.TimerBasefeeSourceFailed](f, events))
			lane, err := f.query().Lane(f.Ctx(), &types.QueryLaneRequest{})
			require.NoError(t, err)
			require.Empty(t, lane.BasefeeCodespace)
			require.Zero(t, lane.BasefeeCode)
			m.answer = failing.answer
			require.Equal(t, "100000", only[*types.TimerFired](f, f.NextBlock()).Paid, "the last good ones, not the first")
		})
	}
}

// TestWithoutAGoodPriceTheConfigsHold: a fee market that has never given prices does not make fires free.
//
// Rule: 5.2-last-good-prices, 5.2-fires-go-on
func TestWithoutAGoodPriceTheConfigsHold(t *testing.T) {
	var f *fixture
	for name, failing := range failingMarkets(func() *fixture { return f }) {
		t.Run(name, func(t *testing.T) {
			f = newFixture(t, withMarket(&feeMarket{failing.answer}), withConfig(plain))
			f.schedule(robot, 2, f.noop())
			events := f.blocksUntil(2)
			require.Equal(t, "20000", only[*types.TimerFired](f, events).Paid)
			for _, said := range eventsOf[*types.TimerBasefeeSourceFailed](f, events) {
				require.True(t, said.FromConfig)
				require.Equal(t, "1.000000000000000000", said.CycleBasefee)
			}
		})
	}
}

// TestAPriceOfZeroIsAPrice: a fee market may make fires free; the bounds of its prices are prices too.
//
// Rule: 5.2-market-bounds
func TestAPriceOfZeroIsAPrice(t *testing.T) {
	m := (&feeMarket{}).asks(math.LegacyZeroDec(), math.LegacyZeroDec())
	f := newFixture(t, withMarket(m))
	f.schedule(robot, 2, f.noop())
	require.Equal(t, "0", only[*types.TimerFired](f, f.blocksUntil(2)).Paid)
	highest := outOfPrice.Sub(math.LegacySmallestDec())
	m.asks(highest, highest)
	require.Empty(t, eventsOf[*types.TimerBasefeeSourceFailed](f, f.NextBlock()))
	require.Equal(t, highest, *f.lane().CycleBasefee)
	require.Equal(t, highest, *f.lane().CellBasefee)
}

// TestAQuietBlockOfAFailedMarketWritesNothing: it emits its event, and state stays as it is.
func TestAQuietBlockOfAFailedMarketWritesNothing(t *testing.T) {
	var counts *storecount.Counts
	m := (&feeMarket{}).asks(math.LegacyNewDec(2), math.LegacyNewDec(3))
	f := newFixture(t, withMarket(m), counted(&counts))
	f.blocksUntil(3)
	quiet := func() sdk.Events {
		counts.Reset()
		events := f.endBlock()
		require.Zero(t, counts.Writes())
		return events
	}
	require.Empty(t, eventsOf[*types.TimerBasefeeSourceFailed](f, quiet()))
	m.answer = func(sdk.Context) (a, b math.LegacyDec, err error) { panic("closed") }
	for range 20 {
		only[*types.TimerBasefeeSourceFailed](f, quiet())
	}
}

// TestAskingTheMarketIsPaidFor: a bid that states prices is compared with the block's. Who schedules pays for the asking,
// at most its bound, and runs out of gas where it has less.
//
// Rule: 5.2-market-bounds, 5.2-asking-is-paid
func TestAskingTheMarketIsPaidFor(t *testing.T) {
	for _, policy := range lab.Policies(types.PolicyEIP1559, types.PolicyTip) {
		t.Run(policy.String(), func(t *testing.T) {
			m := (&feeMarket{}).asks(math.LegacyOneDec(), math.LegacyZeroDec())
			f := newFixture(t, withMarket(m), withConfig(func(c *types.TimerConfig) { c.Policy = policy }))
			msg := scheduleMsg(robot, 100, f.noop(), func(msg *types.MsgScheduleTimer) {
				msg.Spec.Bid = &types.Bid{Static: &types.StaticBid{MaxFeePerCycle: decimal.Of(math.LegacyNewDec(9)), MaxPriorityFeePerCycle: decimal.Of(math.LegacyZeroDec())}}
			})
			f.NextBlock()
			cheap := f.run(msg)
			m.answer = func(ctx sdk.Context) (a, b math.LegacyDec, err error) { burnGas(ctx, 0); return }
			dear := f.run(msg)
			require.InDelta(t, fees.BasefeeSourceGas, dear-cheap, 5_000)

			m.answer = func(ctx sdk.Context) (a, b math.LegacyDec, err error) {
				ctx.GasMeter().ConsumeGas(150_000, "much")
				return math.LegacyNewDec(1), math.LegacyZeroDec(), nil
			}
			ctx, _ := f.Ctx().CacheContext()
			require.Panics(t, func() {
				_, _ = f.Messages.Handler(msg)(ctx.WithGasMeter(storetypes.NewGasMeter(cheap+100_000)), msg)
			})
			_, err := f.Messages.Handler(msg)(ctx.WithGasMeter(storetypes.NewGasMeter(cheap+160_000)), msg)
			require.NoError(t, err)
		})
	}
}

// TestTheLastGoodPricesSurviveAnExport: the chain that continues from the export charges them.
func TestTheLastGoodPricesSurviveAnExport(t *testing.T) {
	m := (&feeMarket{}).asks(math.LegacyNewDec(2), math.LegacyNewDec(3))
	f := newFixture(t, withMarket(m))
	f.schedule(robot, 5, f.noop())
	f.blocksUntil(3)
	m.answer = func(sdk.Context) (a, b math.LegacyDec, err error) { return a, b, errors.New("closed") }
	exported := f.export()
	again := newFixture(t, withMarket(m), func(opts *lab.ChainOptions) { opts.Genesis, opts.Height = exported, 3 })
	again.robots.scripts = f.robots.scripts
	require.Equal(t, "40000", only[*types.TimerFired](again, again.blocksUntil(5)).Paid)

	for _, bad := range []math.LegacyDec{math.LegacyNewDec(-1), outOfPrice} {
		exported.Lane.CellBasefee = &bad
		require.ErrorIs(t, f.Timers.ValidateGenesis(exported), types.ErrInvalidGenesis)
	}
}

// TestAChainThatDropsItsMarketKeepsNoPrices: what the fee market asked for is of no use without it.
func TestAChainThatDropsItsMarketKeepsNoPrices(t *testing.T) {
	m := (&feeMarket{}).asks(math.LegacyNewDec(2), math.LegacyNewDec(3))
	f := newFixture(t, withMarket(m))
	f.blocksUntil(2)
	exported := f.export()
	require.NotNil(t, exported.Lane.CycleBasefee)
	without := newFixture(t, func(opts *lab.ChainOptions) { opts.Genesis, opts.Height = exported, 2 })
	without.NextBlock()
	require.Nil(t, without.lane().CycleBasefee)
	require.Nil(t, without.lane().CellBasefee)
}
