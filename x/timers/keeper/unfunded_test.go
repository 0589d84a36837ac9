package keeper_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

var poorRobot = sdk.AccAddress("robot_and_poor______")

// oneRemoval leaves the GC lane room for one removal a block.
func oneRemoval(c *types.TimerConfig) { lab.SetRemovals(c, 1) }

// unfundedOnHold is a chain on which poorRobot, with 50,000, has two timers that need 80,000 each: one was removed, one was
// on hold as the GC lane had room for one removal.
func unfundedOnHold(t *testing.T, changes ...func(*types.MsgScheduleTimer)) (f *fixture, id string) {
	t.Helper()
	f = newFixture(t, withConfig(plain), withConfig(oneRemoval))
	f.fund(poorRobot, 50_000)
	first := f.schedule(poorRobot, 2, f.noop(), limited(80_000))
	id = f.schedule(poorRobot, 2, f.noop(), append(changes, limited(80_000))...)
	events := f.blocksUntil(2)
	require.Equal(t, first, only[*types.TimerCancelledInsufficientFunds](f, events).Id)
	require.Equal(t, types.TimerHeld{
		Id: id, Actor: poorRobot.String(), Reason: types.Unfunded, Codespace: types.ModuleName,
		Code: types.ErrInsufficientFunds.ABCICode(), Payer: poorRobot.String(), Required: "80000", Available: "50000",
	}, *only[*types.TimerHeld](f, events))
	summaries := eventsOf[*types.TimerLaneSummary](f, events)
	last := summaries[len(summaries)-1]
	require.Equal(t, [3]uint32{1, 1, 0}, [3]uint32{last.Unfunded, last.OnHold, last.Deferred})
	require.Equal(t, types.Unfunded, f.timer(poorRobot, id).Status.HoldReason)
	return f, id
}

// Rule: 5.2-on-hold-unfunded, 5.2-leaves-later
func TestUnfunded_BeyondTheCleanUpBudgetIsPutOnHoldAndLeaves(t *testing.T) {
	f, id := unfundedOnHold(t)
	require.Equal(t, types.PhaseOnHold, f.timer(poorRobot, id).Status.Phase)
	response, err := f.query().OnHold(f.Ctx(), &types.QueryOnHoldRequest{})
	require.NoError(t, err)
	require.Len(t, response.Timers, 1)
	require.Equal(t, id, response.Timers[0].Id)
	require.Equal(t, "unfunded", response.Timers[0].Status.HoldReason.Word())
	require.Equal(t, id, only[*types.TimerCancelledInsufficientFunds](f, f.NextBlock()).Id)
	require.Zero(t, f.total(poorRobot))
}

// Rule: 1.5-unfunded, 5.1-returns, 5.2-returns-when-covered
func TestAnUnfundedTimerReturnsWithItsPayersFunds(t *testing.T) {
	f, id := unfundedOnHold(t)
	f.fund(poorRobot, 30_000)
	events := f.NextBlock()
	require.Equal(t, types.TimerReleased{Id: id, Actor: poorRobot.String(), Reason: types.Unfunded, Due: f.Height() - 1},
		*only[*types.TimerReleased](f, events))
	require.Equal(t, []string{id}, f.firedIDs(events), "it competes in the block that finds its payer able")
}

// TestAnUnfundedTimerIsItsOwners: it is cancelled, resumed, extended and updated like any other that is on hold.
//
// Rule: 1.5-unfunded, 3.4-resume
func TestAnUnfundedTimerIsItsOwners(t *testing.T) {
	t.Run("cancel", func(t *testing.T) {
		f, id := unfundedOnHold(t)
		f.run(&types.MsgCancelTimer{Sender: poorRobot.String(), Id: id})
		require.Zero(t, f.total(poorRobot))
	})
	t.Run("resume", func(t *testing.T) {
		f, id := unfundedOnHold(t)
		f.run(pause(poorRobot, id))
		require.Equal(t, types.Paused, f.timer(poorRobot, id).Status.HoldReason, "whatever it was on hold for")
		f.run(resume(poorRobot, id))
		require.Equal(t, id, only[*types.TimerCancelledInsufficientFunds](f, f.blocksUntil(4)).Id, "it had another try")
	})
	t.Run("update", func(t *testing.T) {
		f, id := unfundedOnHold(t)
		f.run(&types.MsgUpdateTimer{Sender: poorRobot.String(), Id: id, Spec: types.TimerSpec{GasLimit: 50_000}, Fields: []string{"gas_limit"}})
		require.Equal(t, types.NotOnHold, f.timer(poorRobot, id).Status.HoldReason)
		require.Empty(t, f.firedIDs(f.NextBlock()))
		events := f.NextBlock()
		require.Equal(t, []string{id}, f.firedIDs(events), "it competes in the next block")
		require.Positive(t, only[*types.TimerFired](f, events).Late, "since it was due")
	})
	t.Run("expire", func(t *testing.T) {
		f, id := unfundedOnHold(t, expiring(2))
		require.Equal(t, id, only[*types.TimerExpired](f, f.NextBlock()).Id)
	})
	t.Run("suspend", func(t *testing.T) {
		f, id := unfundedOnHold(t, suspending)
		require.Equal(t, types.Suspended, only[*types.TimerHeld](f, f.NextBlock()).Reason)
		f.fund(poorRobot, 30_000)
		require.Empty(t, f.firedIDs(f.blocksUntil(6)), "it waits for its owner now")
		require.Equal(t, types.Suspended, f.timer(poorRobot, id).Status.HoldReason)
	})
}

// TestUnfundedTimersReturnAsFarAsTheirPayersFundsGo: no more of them return in a block than can fire.
//
// Rule: 5.2-returns-when-covered
func TestUnfundedTimersReturnAsFarAsTheirPayersFundsGo(t *testing.T) {
	f := newFixture(t, withConfig(plain), withConfig(oneRemoval))
	f.fund(poorRobot, 1)
	const n = 6
	for range n {
		f.schedule(poorRobot, 2, f.noop(), limited(80_000))
	}
	require.Len(t, eventsOf[*types.TimerHeld](f, f.blocksUntil(2)), n-1)
	f.fund(poorRobot, 200_000)
	require.Len(t, eventsOf[*types.TimerReleased](f, f.NextBlock()), 2)
	events := f.NextBlock()
	require.Len(t, f.firedIDs(events), 2)
	require.Empty(t, eventsOf[*types.TimerHeld](f, events))
}

// TestUnfundedTimersWaitWhileTheLaneIsPaused: what the lane would not have fired is not removed either.
//
// Rule: 5.2-paused-lane-waits
func TestUnfundedTimersWaitWhileTheLaneIsPaused(t *testing.T) {
	f := newFixture(t, withConfig(plain), withConfig(oneRemoval))
	f.fund(poorRobot, 1)
	for range 2 {
		f.schedule(poorRobot, 2, f.noop(), limited(80_000))
	}
	f.NextBlock()
	f.setConfig(func(c *types.TimerConfig) { c.LanePaused = true })
	id := only[*types.TimerHeld](f, f.NextBlock()).Id
	require.Empty(t, eventsOf[*types.TimerCancelledInsufficientFunds](f, f.blocksUntil(6)))
	require.Equal(t, types.Unfunded, f.timer(poorRobot, id).Status.HoldReason)
	f.setConfig(func(c *types.TimerConfig) { c.LanePaused = false })
	require.Equal(t, id, only[*types.TimerCancelledInsufficientFunds](f, f.blocksUntil(8)).Id)
}

// TestALookAtAPayerIsForgottenWithAFire: the handler of a timer pays in what another one lacked when it was tried first.
func TestALookAtAPayerIsForgottenWithAFire(t *testing.T) {
	f := newFixture(t, withConfig(plain))
	f.fund(poorRobot, 50_000)
	early := f.schedule(poorRobot, 2, f.noop(), limited(80_000))
	pays := f.schedule(alice, 2, f.pays(alice, poorRobot, 1_000_000))
	late := f.schedule(poorRobot, 2, f.noop(), limited(80_000))
	events := f.blocksUntil(2)
	require.Equal(t, early, only[*types.TimerCancelledInsufficientFunds](f, events).Id)
	require.Equal(t, []string{pays, late}, f.firedIDs(events))
}

// TestAReturnedBidIsSeenAtOnce: under auction the departure of an unfunded timer returns its bid, which covers the next one.
func TestAReturnedBidIsSeenAtOnce(t *testing.T) {
	f := newFixture(t, withConfig(plain), withConfig(func(c *types.TimerConfig) { c.Policy = types.PolicyAuction }))
	f.fund(poorRobot, 100_000)
	bidding := f.schedule(poorRobot, 2, f.noop(), limited(90_000), func(msg *types.MsgScheduleTimer) {
		msg.Spec.Bid = &types.Bid{Price: "60000"}
	})
	next := f.schedule(poorRobot, 2, f.noop(), limited(90_000))
	events := f.blocksUntil(2)
	require.Equal(t, bidding, only[*types.TimerCancelledInsufficientFunds](f, events).Id)
	require.Equal(t, []string{next}, f.firedIDs(events))
}

// TestUnfundedTimersSurviveExport: on hold for lack of funds, they continue in a chain that starts from the export.
func TestUnfundedTimersSurviveExport(t *testing.T) {
	f := newFixture(t, withConfig(plain), withConfig(oneRemoval))
	f.fund(poorRobot, 1)
	for range 4 {
		f.schedule(poorRobot, 2, f.noop(), limited(80_000))
	}
	f.blocksUntil(2)
	genesis := f.export()
	onHold := 0
	for i := range genesis.Timers {
		if genesis.Timers[i].HoldReason == types.Unfunded {
			onHold++
		}
	}
	require.Equal(t, 3, onHold)
	again := imported(t, f, genesis)
	require.Equal(t, genesis.Timers, again.export().Timers)
	again.fund(poorRobot, 80_000)
	events := again.NextBlock()
	require.Len(t, eventsOf[*types.TimerReleased](again, events), 1)
	require.Len(t, again.firedIDs(events), 1)
}
