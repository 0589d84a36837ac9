package keeper_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	vestingtypes "github.com/cosmos/cosmos-sdk/x/auth/vesting/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

func number(t testingT, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	require.NoError(t, err)
	return n
}

// Rule: 1.1-charge-rounded-up, 5.2-settlement, 5.2-success-keeps, 5.2-refund, 6-summary, 6-denom
func TestAFireIsSettledToTheUnit(t *testing.T) {
	f := newFixture(t)
	payload := f.script(func(ctx sdk.Context, _ types.Delivery) error {
		ctx.GasMeter().ConsumeGas(12_345, "test")
		return f.Bank.SendCoins(ctx, bob, carol, f.coins(5))
	})
	f.schedule(robot, 2, payload, limited(100_000))
	f.NextBlock()
	events := f.NextBlock()
	fired := only[*types.TimerFired](f, events)
	require.True(t, fired.Success)
	require.Greater(t, fired.Cycles, uint64(20_000+12_345), "intrinsic cycles, the handler's own, and its reads")
	require.Positive(t, fired.Cells)

	// 0.001 a cycle and 0.03 a cell, rounded up once at the end, in the chain's favour.
	thousandths := int64(fired.Cycles + 30*fired.Cells)
	paid := (thousandths + 999) / 1_000
	preCharge := int64(100_000+30*20_000) / 1_000
	require.Equal(t, paid, number(t, fired.Paid))
	require.Equal(t, preCharge-paid, number(t, fired.Refunded))
	require.Equal(t, "0", fired.Tip)
	require.Equal(t, int64(rich)-paid, f.balance(robot))
	require.Equal(t, int64(rich)-5, f.balance(bob))
	require.Equal(t, int64(rich)+5, f.balance(carol))

	summary := eventsOf[*types.TimerLaneSummary](f, events)[0]
	require.Equal(t, fired.Paid, summary.Burned)
	require.Equal(t, paid, f.lane().Burned.Int64())
	require.Equal(t, f.minted.SubRaw(paid), f.Bank.GetSupply(f.Ctx(), f.FeeDenom).Amount)
}

// Rule: 1.1-gas-is-cycles-and-cells
func TestCyclesAndCellsAreTheGasOfTheSDK(t *testing.T) {
	f := newFixture(t)
	work := func(ctx sdk.Context) error {
		ctx.GasMeter().ConsumeGas(777, "test")
		return f.Bank.SendCoins(ctx, bob, carol, f.coins(5))
	}
	f.schedule(robot, 2, f.script(func(ctx sdk.Context, _ types.Delivery) error { return work(ctx) }))
	f.NextBlock()
	branch, _ := f.Ctx().CacheContext()
	branch = branch.WithGasMeter(storetypes.NewInfiniteGasMeter())
	require.NoError(t, work(branch))

	fired := only[*types.TimerFired](f, f.NextBlock())
	perByte := f.Ctx().KVGasConfig().WriteCostPerByte
	require.Equal(t, branch.GasMeter().GasConsumed(), fired.Cycles-market.FireBaseCycles+perByte*fired.Cells)
}

// Rule: 5.2-branch, 5.2-failure-drops, 5.5-handler
func TestAFailedFireKeepsTheChargeAndNothingElse(t *testing.T) {
	f := newFixture(t, withConfig(plain))
	writes := func(then func(ctx sdk.Context) error) []byte {
		return f.script(func(ctx sdk.Context, _ types.Delivery) error {
			ctx.EventManager().EmitEvent(sdk.NewEvent("left_by_a_failure"))
			if err := f.Bank.SendCoins(ctx, bob, carol, f.coins(5)); err != nil {
				return err
			}
			return then(ctx)
		})
	}
	fails := f.schedule(robot, 2, writes(func(sdk.Context) error { return types.ErrInvalidPayload }))
	exhausts := f.schedule(robot, 2, writes(func(ctx sdk.Context) error {
		ctx.GasMeter().ConsumeGas(gas, "test")
		return nil
	}))
	f.NextBlock()
	events := f.NextBlock()
	fired := eventsOf[*types.TimerFired](f, events)
	require.Equal(t, []string{fails, exhausts}, f.firedIDs(events))
	require.False(t, fired[0].Success)
	require.Equal(t, types.ErrInvalidPayload.ABCICode(), fired[0].Code)
	require.Less(t, number(t, fired[0].Paid), int64(gas))
	require.False(t, fired[1].Success)
	require.Equal(t, types.ErrOutOfCycles.ABCICode(), fired[1].Code)
	require.Equal(t, int64(gas), number(t, fired[1].Paid), "what ran out pays for all that it might use")

	require.Equal(t, int64(rich)-number(t, fired[0].Paid)-gas, f.balance(robot))
	require.Equal(t, int64(rich), f.balance(bob))
	for _, event := range events {
		require.NotEqual(t, "left_by_a_failure", event.Type)
	}
}

func TestNothingIsChargedAtPricesOfZero(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) {
		c.CycleBasefee, c.CellBasefee = decimal.Of(math.LegacyZeroDec()), decimal.Of(math.LegacyZeroDec())
	}))
	dave := sdk.AccAddress("dave________________")
	f.fund(dave, 0)
	f.grant(bob, robot, f.basic(1))
	f.schedule(robot, 2, f.noop(), paidBy(bob))
	id := f.schedule(dave, 2, f.pays(dave, bob, 1))
	f.NextBlock()
	fired := eventsOf[*types.TimerFired](f, f.NextBlock())
	require.Len(t, fired, 2)
	require.Equal(t, "0", fired[0].Paid)
	require.Equal(t, int64(1), f.left())
	require.Equal(t, id, fired[1].Id, "one who has nothing fires for nothing")
	require.False(t, fired[1].Success, "but can't send what it has not")
}

func TestLockedFundsDoNotCoverFires(t *testing.T) {
	f := newFixture(t, withConfig(plain))
	vestingtypes.RegisterInterfaces(f.Codec.InterfaceRegistry())
	dave := sdk.AccAddress("dave________________")
	base := f.Accounts.NewAccountWithAddress(f.Ctx(), dave).(*authtypes.BaseAccount)
	locked, err := vestingtypes.NewPermanentLockedAccount(base, f.coins(1_000_000))
	require.NoError(t, err)
	f.Accounts.SetAccount(f.Ctx(), locked)
	f.fund(dave, 1_000_000)
	f.schedule(dave, 2, f.pays(dave, bob, 1), limited(100_000))
	f.schedule(dave, 3, f.pays(dave, bob, 1), limited(100_000))
	unfunded := only[*types.TimerCancelledInsufficientFunds](f, f.blocksUntil(2))
	require.Equal(t, "0", unfunded.Available)
	require.Equal(t, "100000", unfunded.Required)
	require.Equal(t, int64(1_000_000), f.balance(dave))

	f.fund(dave, 100_001)
	require.True(t, only[*types.TimerFired](f, f.blocksUntil(3)).Success, "what is above the lock may be spent")
	require.GreaterOrEqual(t, f.balance(dave), int64(1_000_000))
}

// TestMoreLockedThanThereIsCoversNoFire: a slash leaves a vesting account so. The bank's own sum of what it can spend
// panics, which quarantined the timer.
func TestMoreLockedThanThereIsCoversNoFire(t *testing.T) {
	f := newFixture(t, withConfig(plain))
	vestingtypes.RegisterInterfaces(f.Codec.InterfaceRegistry())
	dave := sdk.AccAddress("dave________________")
	base := f.Accounts.NewAccountWithAddress(f.Ctx(), dave).(*authtypes.BaseAccount)
	locked, err := vestingtypes.NewPermanentLockedAccount(base, f.coins(1_000_000))
	require.NoError(t, err)
	f.Accounts.SetAccount(f.Ctx(), locked)
	f.fund(dave, 400_000)
	f.schedule(dave, 2, f.pays(dave, bob, 1), limited(100_000))
	require.Equal(t, "0", only[*types.TimerCancelledInsufficientFunds](f, f.blocksUntil(2)).Available)
	require.Equal(t, int64(400_000), f.balance(dave))
}

// Rule: 5.2-later-timer-sees-balance
func TestASecondTimerSeesTheBalanceThatTheFirstLeft(t *testing.T) {
	f := newFixture(t, withConfig(plain))
	dave := sdk.AccAddress("dave________________")
	f.fund(dave, 129_999)
	f.grant(dave, robot, unlimited())
	first := f.schedule(robot, 2, f.burner(10_000), limited(100_000), paidBy(dave))
	second := f.schedule(robot, 2, f.burner(10_000), limited(100_000), paidBy(dave))
	f.NextBlock()
	events := f.NextBlock()
	require.Equal(t, []string{first}, f.firedIDs(events))
	unfunded := only[*types.TimerCancelledInsufficientFunds](f, events)
	require.Equal(t, second, unfunded.Id)
	paid := number(t, only[*types.TimerFired](f, events).Paid)
	require.Equal(t, fmt.Sprint(129_999-paid), unfunded.Available)
	require.Equal(t, 129_999-paid, f.balance(dave))
}

// Rule: 5.2-out-of-reach
func TestAHandlerMayUseUpItsPayersFunds(t *testing.T) {
	f := newFixture(t, withConfig(plain))
	payload := f.script(func(ctx sdk.Context, _ types.Delivery) error {
		return f.Bank.SendCoins(ctx, robot, carol, f.coins(f.Bank.GetBalance(ctx, robot, f.FeeDenom).Amount.Int64()))
	})
	f.schedule(robot, 2, payload)
	fired := only[*types.TimerFired](f, f.blocksUntil(2))
	require.True(t, fired.Success)
	require.Equal(t, number(t, fired.Refunded), f.balance(robot), "the pre-charge was out of its reach")
	require.Equal(t, int64(rich), f.balance(robot)+f.balance(carol)-rich+number(t, fired.Paid))
}

// Rule: 1.5-leaves-for-funds, 1.6-gc-budget, 5.2-leaves-or-suspended, 5.2-one-removal
func TestUnfundedTimersLeaveUnderTheCleanUpBudget(t *testing.T) {
	f := newFixture(t, withConfig(plain), withConfig(func(c *types.TimerConfig) {
		lab.SetRemovals(c, 1)
	}))
	dave := sdk.AccAddress("dave________________")
	f.fund(dave, 1)
	var ids []string
	for range 3 {
		ids = append(ids, f.schedule(dave, 2, f.pays(dave, bob, 1)))
	}
	f.NextBlock()
	status := types.PhaseReady
	for _, id := range ids {
		require.Equal(t, status, f.timer(dave, id).Status.Phase)
		status = types.PhaseOnHold
		require.Equal(t, id, only[*types.TimerCancelledInsufficientFunds](f, f.NextBlock()).Id, "one a block, in order")
	}
	require.Zero(t, f.total(dave))
}

var errRestricted = errors.New("restricted by the chain")

// refuseRefunds has the bank refuse what the module gives the robot.
func (f *fixture) refuseRefunds() {
	module := authtypes.NewModuleAddress(types.ModuleName)
	f.Bank.AppendSendRestriction(func(_ context.Context, from, to sdk.AccAddress, _ sdk.Coins) (sdk.AccAddress, error) {
		if from.Equals(module) && to.Equals(robot) {
			return to, errRestricted
		}
		return to, nil
	})
}

// TestFire_RefundIsRefused: the fire stands, and what can't be returned is burned.
//
// Rule: 5.2-refund-refused
func TestFire_RefundIsRefused(t *testing.T) {
	// What is debited directly is returned without the bank.
	f := newFixture(t, withConfig(plain), func(opts *lab.ChainOptions) { opts.PayerStores = false })
	f.refuseRefunds()
	id := f.schedule(robot, 2, f.script(func(ctx sdk.Context, _ types.Delivery) error {
		return f.Bank.SendCoins(ctx, bob, carol, f.coins(5))
	}), every(2, 2))
	other := f.schedule(robot2, 2, f.noop())
	events := f.blocksUntil(2)
	require.Equal(t, []string{id, other}, f.firedIDs(events))
	fired := eventsOf[*types.TimerFired](f, events)[0]
	require.True(t, fired.Success)
	require.Equal(t, "0", fired.Refunded)
	require.Equal(t, "200000", fired.Paid, "the whole pre-charge")
	require.Equal(t, int64(rich)-200_000, f.balance(robot))
	require.Equal(t, int64(rich)-5, f.balance(bob), "what its handler did is kept")
	require.Equal(t, []string{id}, f.firedIDs(f.blocksUntil(4)), "it goes on")
}

// TestFire_NothingAfterTheHandlerMakesItFree: handlers ran unpaid, and the lane did not count them, when the module could not
// finish their fires.
//
// Rule: 5.5-one-timer
func TestFire_NothingAfterTheHandlerMakesItFree(t *testing.T) {
	bankMoves := func(opts *lab.ChainOptions) { opts.PayerStores = false }
	for name, fails := range map[string]func(*fixture, *refusing){
		"the bank refuses the refund":       func(f *fixture, _ *refusing) { f.refuseRefunds() },
		"the module can't remove the timer": func(_ *fixture, s *refusing) { s.kept = types.PrefixPayloads.Bytes() },
	} {
		t.Run(name, func(t *testing.T) {
			f, store := refuse(t, withConfig(plain), bankMoves)
			ran := 0
			long := string(make([]byte, 600))
			f.robots.scripts[long] = func(ctx sdk.Context, _ types.Delivery) error {
				ran++
				ctx.GasMeter().ConsumeGas(150_000, "work")
				return f.Bank.SendCoins(ctx, bob, carol, f.coins(5))
			}
			for range 30 {
				f.schedule(robot, 3, []byte(long))
			}
			f.blocksUntil(2)
			fails(f, store)
			events := f.blocksUntil(3)
			require.Equal(t, uint64(ran), uint64(len(f.firedIDs(events))))
			require.Equal(t, 10, ran, "as many as the lane holds: a fire uses some 186,000 cycles of its 2,000,000")
			paid, cycles := int64(0), uint64(0)
			for _, fired := range eventsOf[*types.TimerFired](f, events) {
				paid, cycles = paid+number(t, fired.Paid), cycles+fired.Cycles
				require.GreaterOrEqual(t, number(t, fired.Paid), int64(170_000))
			}
			require.Equal(t, int64(rich)-paid, f.balance(robot))
			require.Equal(t, cycles, f.lane().Cycles)
			store.kept = nil
			f.Bank.ClearSendRestriction()
		})
	}
}

// TestFire_NothingAfterItsConditionsMakesItFree: what a timer's conditions read was unpaid, and the lane did not count it, when
// the module could not move the timer afterwards.
//
// Rule: 5.5-one-timer
func TestFire_NothingAfterItsConditionsMakesItFree(t *testing.T) {
	f, store := refuse(t, withConfig(plain))
	f.setWatched(0)
	runs, conditions := 0, make([]types.WatchKey, types.MaxOnlyIf)
	for i := range conditions {
		conditions[i] = f.lowBalance()
	}
	for range 30 {
		f.schedule(robot, 0, f.counted(&runs), triggered(types.Trigger{Watch: &types.WatchTrigger{
			Keys: []types.WatchKey{f.balanceOf(carol)},
		}}, types.Repeat{Remaining: 1}), onlyIf(conditions...))
	}
	f.NextBlock()
	f.fund(carol, 1)
	store.kept = types.PrefixWatchHits.Bytes()
	events := append(f.NextBlock(), f.NextBlock()...)
	store.kept = nil
	held, paid := eventsOf[*types.TimerHeld](f, events), int64(0)
	require.NotEmpty(t, held)
	fires := eventsOf[*types.TimerFired](f, events)
	require.Len(t, fires, len(held))
	for _, fired := range fires {
		require.Equal(t, types.ErrInternal.ABCICode(), fired.Code)
		require.Greater(t, fired.Cycles, market.FireBaseCycles+1_000*uint64(len(conditions)))
		paid += number(t, fired.Paid)
	}
	require.Zero(t, runs)
	require.Equal(t, int64(rich)-paid, f.balance(robot))
}

// TestFire_ModuleCannotFinish: what the handler did is undone, and the timer is quarantined, with a failed fire.
//
// Rule: 5.5-one-timer
func TestFire_ModuleCannotFinish(t *testing.T) {
	f, store := refuse(t, withConfig(plain))
	long := string(make([]byte, 600))
	f.robots.scripts[long] = func(ctx sdk.Context, _ types.Delivery) error {
		return f.Bank.SendCoins(ctx, bob, carol, f.coins(5))
	}
	id := f.schedule(robot, 2, []byte(long))
	f.NextBlock()
	store.kept = types.PrefixPayloads.Bytes()
	events := f.NextBlock()
	fired := only[*types.TimerFired](f, events)
	require.False(t, fired.Success)
	require.Equal(t, types.ErrInternal.ABCICode(), fired.Code)
	require.NotZero(t, fired.NextDue, "it has not left")
	require.Equal(t, types.Quarantined, only[*types.TimerHeld](f, events).Reason)
	require.Equal(t, int64(rich), f.balance(bob), "what its handler did is undone")
	require.Equal(t, int64(rich)-number(t, fired.Paid), f.balance(robot))
	require.Equal(t, uint32(1), f.timer(robot, id).Status.FireSeq)
	store.kept = nil
	f.run(&types.MsgSysReleaseTimer{Authority: f.Authority, Actor: robot.String(), Id: id})
	f.NextBlock()
	require.Equal(t, []string{id}, f.firedIDs(f.NextBlock()))
	require.Equal(t, int64(rich)-5, f.balance(bob))
}
