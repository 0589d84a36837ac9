package keeper_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/x/feegrant"

	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	minttypes "github.com/cosmos/cosmos-sdk/x/mint/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// basic is an allowance of so much.
func (f *fixture) basic(limit int64) *feegrant.BasicAllowance {
	return &feegrant.BasicAllowance{SpendLimit: f.coins(limit)}
}

// left is what is left of bob's basic allowance to the robot; -1 if there is none.
func (f *fixture) left() int64 {
	allowance, err := f.Feegrant.GetAllowance(f.Ctx(), bob, robot)
	if err != nil {
		return -1
	}
	inner, err := allowance.(*feegrant.AllowedMsgAllowance).GetAllowance()
	require.NoError(f.t, err)
	return inner.(*feegrant.BasicAllowance).SpendLimit.AmountOf(f.FeeDenom).Int64()
}

// byMessage restricts an allowance to messages of one type.
func byMessage(t testingT, allowance feegrant.FeeAllowanceI, msg sdk.Msg) feegrant.FeeAllowanceI {
	t.Helper()
	restricted, err := feegrant.NewAllowedMsgAllowance(allowance, []string{sdk.MsgTypeURL(msg)})
	require.NoError(t, err)
	return restricted
}

// Rule: 1.11-allowance-covers-and-drawn, 5.2-pre-charge, 5.2-allowance-drawn, 6-fired, 6-cancelled-for-funds
func TestAnAllowanceIsDrawnByWhatIsCharged(t *testing.T) {
	f := newFixture(t, withConfig(plain))
	// Room for two pre-charges in a row, and not for a third.
	f.grant(bob, robot, f.basic(270_000))
	for _, height := range []uint64{2, 3, 4} {
		f.schedule(robot, height, f.burner(10_000), limited(200_000), paidBy(bob))
	}
	spent := int64(0)
	for _, height := range []uint64{2, 3} {
		fired := only[*types.TimerFired](f, f.blocksUntil(height))
		spent += number(t, fired.Paid)
		require.Equal(t, int64(fired.Cycles), number(t, fired.Paid))
		require.Greater(t, fired.Cycles, uint64(30_000), "the allowance's own cost is in it")
		require.Equal(t, 270_000-spent, f.left())
		require.Equal(t, int64(rich)-spent, f.balance(bob))
	}
	require.Equal(t, int64(rich), f.balance(robot), "the actor pays nothing")

	// What is left would do for what the fire uses, but not for what it may use.
	left := f.left()
	require.Less(t, left, int64(200_000))
	unfunded := only[*types.TimerCancelledInsufficientFunds](f, f.blocksUntil(4))
	require.Equal(t, types.TimerCancelledInsufficientFunds{
		Id: unfunded.Id, Actor: robot.String(), Payer: bob.String(), Required: "200000",
		Available: fmt.Sprint(int64(rich) - spent), AllowanceRefused: true,
	}, *unfunded)
	require.Equal(t, left, f.left())
	require.Zero(t, f.total(robot))
}

func TestAnAllowanceIsExhausted(t *testing.T) {
	f := newFixture(t, withConfig(plain))
	f.grant(bob, robot, f.basic(100_000))
	f.schedule(robot, 2, f.burner(1_000_000), limited(100_000), paidBy(bob))
	f.schedule(robot, 3, f.noop(), limited(100_000), paidBy(bob))
	fired := only[*types.TimerFired](f, f.blocksUntil(2))
	require.Equal(t, "100000", fired.Paid)
	require.Equal(t, int64(-1), f.left(), "an allowance that is used up is gone")
	require.True(t, only[*types.TimerCancelledInsufficientFunds](f, f.blocksUntil(3)).AllowanceRefused)
	require.Equal(t, int64(rich-100_000), f.balance(bob))
}

func TestAnAllowanceRevokedBeforeTheFire(t *testing.T) {
	f := newFixture(t, withConfig(plain))
	f.grant(bob, robot, unlimited())
	f.schedule(robot, 3, f.noop(), paidBy(bob))
	f.NextBlock()
	revoke := feegrant.NewMsgRevokeAllowance(bob, robot)
	f.run(&revoke)
	require.True(t, only[*types.TimerCancelledInsufficientFunds](f, f.blocksUntil(3)).AllowanceRefused)
	require.Equal(t, int64(rich), f.balance(bob))
}

// Rule: 5.2-allowance-gone
func TestAnAllowanceRevokedByTheFireItPaysFor(t *testing.T) {
	f := newFixture(t, withConfig(plain))
	f.grant(bob, robot, f.basic(500_000))
	revoke := feegrant.NewMsgRevokeAllowance(bob, robot)
	payload := f.script(func(ctx sdk.Context, _ types.Delivery) error {
		_, err := f.Messages.Handler(&revoke)(ctx, &revoke)
		return err
	})
	f.schedule(robot, 2, payload, paidBy(bob))
	fired := only[*types.TimerFired](f, f.blocksUntil(2))
	require.True(t, fired.Success, "the payer had consented when the fire began")
	require.Equal(t, int64(-1), f.left())
	require.Less(t, f.balance(bob), int64(rich))
}

func TestAPeriodicAllowance(t *testing.T) {
	f := newFixture(t, withConfig(plain))
	// A block takes a second: from height 2 on a period holds one pre-charge, and after the first fire no other.
	f.grant(bob, robot, &feegrant.PeriodicAllowance{
		Period: 10 * time.Second, PeriodSpendLimit: f.coins(220_000), PeriodCanSpend: f.coins(220_000),
		PeriodReset: f.Ctx().BlockTime().Add(10 * time.Second),
	})
	for _, height := range []uint64{2, 3, 12} {
		f.schedule(robot, height, f.burner(10_000), limited(200_000), paidBy(bob))
	}
	first := only[*types.TimerFired](f, f.blocksUntil(2))
	require.True(t, only[*types.TimerCancelledInsufficientFunds](f, f.blocksUntil(3)).AllowanceRefused)
	second := only[*types.TimerFired](f, f.blocksUntil(12))
	require.Equal(t, int64(rich)-number(t, first.Paid)-number(t, second.Paid), f.balance(bob), "the next period has come")
}

func TestAnAllowanceExpires(t *testing.T) {
	f := newFixture(t, withConfig(plain))
	expiry := f.Ctx().BlockTime().Add(2 * time.Second)
	f.grant(bob, robot, &feegrant.BasicAllowance{Expiration: &expiry})
	f.schedule(robot, 3, f.noop(), paidBy(bob))
	f.schedule(robot, 4, f.noop(), paidBy(bob))
	require.Len(t, f.firedIDs(f.blocksUntil(3)), 1, "the last second is good")
	require.True(t, only[*types.TimerCancelledInsufficientFunds](f, f.blocksUntil(4)).AllowanceRefused)
	f.NextBlock()
	f.refused(types.ErrInvalidFeePayer, scheduleMsg(robot, 50, f.noop(), paidBy(bob)))
}

// Rule: 1.11-payer, 3.1-payer-errors
func TestAnAllowanceMustCoverOurMessages(t *testing.T) {
	f := newFixture(t, withConfig(plain))
	f.grant(bob, robot, unlimited())
	f.grantAny(carol, robot, byMessage(t, unlimited(), &types.MsgCancelTimer{}))
	f.refused(types.ErrInvalidFeePayer, scheduleMsg(robot, 2, f.noop(), paidBy(carol)))
	f.refused(types.ErrInvalidFeePayer, scheduleMsg(robot2, 2, f.noop(), paidBy(bob)))
	f.refused(types.ErrInvalidFeePayer, scheduleMsg(bob, 2, f.pays(bob, alice, 1), paidBy(robot)))
	f.schedule(robot, 2, f.noop(), paidBy(bob))
	fired := only[*types.TimerFired](f, f.blocksUntil(2))
	require.Equal(t, int64(rich)-number(t, fired.Paid), f.balance(bob))
	require.Equal(t, int64(rich), f.balance(carol))
}

func TestAskingForAnAllowanceDrawsNothing(t *testing.T) {
	f := newFixture(t, withConfig(plain))
	f.grant(bob, robot, f.basic(1))
	f.schedule(robot, 2, f.noop(), paidBy(bob))
	require.Equal(t, int64(1), f.left(), "scheduling asks whether there is one, and draws nothing")
	require.True(t, only[*types.TimerCancelledInsufficientFunds](f, f.blocksUntil(2)).AllowanceRefused)
	require.Equal(t, int64(1), f.left())
}

// Rule: 5.2-pre-charge
func TestAPayerWithoutFundsIsNotTheAllowancesFault(t *testing.T) {
	f := newFixture(t, withConfig(plain))
	dave := sdk.AccAddress("dave________________")
	f.fund(dave, 199_999)
	f.grant(dave, robot, unlimited())
	f.schedule(robot, 2, f.noop(), limited(200_000), paidBy(dave))
	unfunded := only[*types.TimerCancelledInsufficientFunds](f, f.blocksUntil(2))
	require.False(t, unfunded.AllowanceRefused)
	require.Equal(t, "199999", unfunded.Available)
	require.Equal(t, int64(199_999), f.balance(dave))
}

// Rule: 1.11-blocked-never
func TestModuleAccountsAndBlockedAddressesNeverPay(t *testing.T) {
	f := newFixture(t)
	timers, mint := authtypes.NewModuleAddress(types.ModuleName), authtypes.NewModuleAddress(minttypes.ModuleName)
	require.True(t, f.Bank.BlockedAddr(timers))
	require.False(t, f.Bank.BlockedAddr(mint))
	for _, payer := range []sdk.AccAddress{timers, mint} {
		// Not even with an allowance, which a module could grant through its keeper.
		require.NoError(t, f.Feegrant.GrantAllowance(f.Ctx(), payer, robot, byMessage(t, unlimited(), &types.MsgScheduleTimer{})))
		f.refused(types.ErrInvalidFeePayer, scheduleMsg(robot, 9, f.noop(), paidBy(payer)))
	}
}

// TestAllowance_ThatRefillsCarriesATimer: a periodic allowance that refills each minute carries a timer of every 20
// seconds for an hour, where it covers three fires a minute, and passes what it does not where it covers two.
//
// Rule: 1.11-allowance-covers-and-drawn
func TestAllowance_ThatRefillsCarriesATimer(t *testing.T) {
	for name, c := range map[string]struct{ limit, fires, skips int64 }{
		"three a minute": {2*40 + 41, 180, 0},
		"two a minute":   {2*40 + 40, 121, 59}, // The first minute has two alone.
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.BlockSeconds = 5
			start := time.Unix(f.Now(), 0).UTC()
			f.grant(alice, robot, &feegrant.PeriodicAllowance{
				Period: time.Minute, PeriodSpendLimit: f.coins(c.limit), PeriodCanSpend: f.coins(c.limit), PeriodReset: start.Add(time.Minute),
			})
			// A fire is pre-charged 41, and costs 40.
			id := f.schedule(robot, 0, f.burner(40_000-20_000), triggered(types.Trigger{Interval: &types.IntervalTrigger{
				Every: 4, From: types.FromSchedule,
			}}), paidBy(alice), limited(40_000), func(m *types.MsgScheduleTimer) {
				m.Spec.OnUnfunded, m.Spec.CellLimit = types.OnUnfundedSkip, 1
			})
			fires, skips := int64(0), int64(0)
			for range 720 + 1 {
				events := f.NextBlock()
				fires += int64(len(f.firedIDs(events)))
				skips += int64(len(eventsOf[*types.TimerOccurrencesSkipped](f, events)))
			}
			require.Equal(t, []int64{c.fires, c.skips}, []int64{fires, skips})
			require.Equal(t, uint32(c.fires), f.timer(robot, id).Status.FireSeq)
		})
	}
}
