//go:build !noguests

package keeper_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/collections"
	corestore "cosmossdk.io/core/store"
	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/logmap"
	"github.com/cosmos-timers/timers/x/timers/market"
	tippolicy "github.com/cosmos-timers/timers/x/timers/policies/tip"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// byTip puts policy tip in force, with prices that are round and epochs of ten blocks.
func byTip(c *types.TimerConfig) {
	plain(c)
	c.Policy = types.PolicyTip
	setTip(c, func(p *tippolicy.Params) { p.EpochBlocks, p.StarvationBlocks = 10, 5 })
}

// laneOf is a lane of so many cycles, none of whose fires takes more than it holds.
func laneOf(cycles uint64) func(*types.TimerConfig) {
	return func(c *types.TimerConfig) {
		c.LaneTimerCycles, c.MaxCyclesPerFire = cycles, min(c.MaxCyclesPerFire, cycles)
	}
}

func (f *fixture) tipStanding(actor sdk.AccAddress) *tippolicy.Standing {
	f.t.Helper()
	response, err := f.query().Fairness(f.Ctx(), &types.QueryFairnessRequest{Actor: actor.String()})
	require.NoError(f.t, err)
	standing, ok := response.OfPolicy.GetCachedValue().(*tippolicy.Standing)
	require.True(f.t, ok)
	return standing
}

// Rule: 1.7-basefee-of-others, 1.8-tip-is-smaller
func TestTipFiresByWhatIsTipped(t *testing.T) {
	f := newFixture(t, withConfig(byTip))
	small := f.schedule(robot, 3, f.noop(), bidding(stated("9", "0.1")))
	large := f.schedule(robot2, 3, f.noop(), bidding(stated("9", "0.7")))
	cut := f.schedule(robot, 3, f.noop(), bidding(stated("1.25", "0.25")))
	def := f.schedule(robot2, 3, f.noop())
	before := f.balance(robot2)
	events := f.blocksUntil(3)
	require.Equal(t, []string{large, cut, small, def}, f.firedIDs(events))
	fired := eventsOf[*types.TimerFired](f, events)
	require.Equal(t, "34000", fired[0].Paid, "20,000 cycles at 1 and 0.7: no lane fee beside it")
	require.Equal(t, "14000", fired[0].Tip)
	require.Equal(t, "20000", fired[3].Paid, "no one tipped in the block before")
	require.Equal(t, before-54_000, f.balance(robot2))
	require.Equal(t, "1.000000000000000000", f.prices().LaneBasefee, "the chain's")
	require.Equal(t, "0.000000000000000000", f.prices().P50, "no one waited for room")
}

// Rule: 1.8-static-below-refused, 1.8-clamped, 1.8-price-ignored, 1.8-price-under-tip, 6-bid-ignored
func TestTipChecksABidWhenItIsStated(t *testing.T) {
	f := newFixture(t, withConfig(byTip))
	f.refused(types.ErrRejectedBelowBasefee, scheduleMsg(robot, 5, f.noop(), bidding(stated("0.999999999999999999", "0"))))
	clamped := f.schedule(robot, 5, f.noop(), bidding(stated("1.5", "0.6")))
	ignored := f.schedule(robot, 5, f.noop(), bidding(&types.Bid{Price: "7"}))
	require.Equal(t, stated("1.5", "0.6"), f.timer(robot, clamped).Spec.Bid, "as stated")
	require.Equal(t, "0.5", f.timer(robot, clamped).Status.TipCap)
	require.Nil(t, f.timer(robot, ignored).Spec.Bid)
	events := f.NextBlock()
	require.Equal(t, types.TimerPriorityClampedAtSchedule{
		Id: clamped, Actor: robot.String(), Stated: "0.600000000000000000", Clamped: "0.500000000000000000",
	}, *only[*types.TimerPriorityClampedAtSchedule](f, events))
	require.Equal(t, types.TimerBidIgnored{Id: ignored, Actor: robot.String()}, *only[*types.TimerBidIgnored](f, events), "without end")
}

// TestTipPricedOutTimersWait: a chain whose basefee rises above what is offered keeps them.
//
// Rule: 1.8-priced-out
func TestTipPricedOutTimersWait(t *testing.T) {
	f := newFixture(t, withConfig(byTip))
	low := f.schedule(robot, 4, f.noop(), bidding(stated("1.5", "0.1")))
	f.setConfig(func(c *types.TimerConfig) { c.CycleBasefee = decimal.Of(dec("2")) })
	require.Empty(t, f.firedIDs(f.blocksUntil(6)))
	require.Equal(t, types.PhaseReady, f.timer(robot, low).Status.Phase)
	_, err := f.query().Estimate(f.Ctx(), &types.QueryEstimateRequest{MaxFee: "1.5"})
	require.ErrorContains(t, err, "max_fee 1.500000000000000000 is below the chain's cycle basefee 2.000000000000000000")
	f.setConfig(func(c *types.TimerConfig) { c.CycleBasefee = decimal.Of(dec("1.4")) })
	events := f.blocksUntil(8)
	require.Equal(t, low, only[*types.TimerFired](f, events).Id)
	require.Equal(t, "2000", only[*types.TimerFired](f, events).Tip, "20,000 cycles at 0.1")
}

// TestTipSharesTheLaneOut: an actor with more timers than its slice holds leaves the rest to others whose tips are
// smaller, and takes what they leave.
//
// Rule: 1.7-tip
func TestTipSharesTheLaneOut(t *testing.T) {
	f := newFixture(t, withConfig(byTip), withConfig(laneOf(400_000)))
	burn := f.burner(80_000)
	var whale []string
	for range 5 {
		whale = append(whale, f.schedule(robot, 3, burn, limited(100_000), bidding(stated("9", "0.5"))))
	}
	small := f.schedule(robot2, 3, burn, limited(100_000), bidding(stated("9", "0.1")))
	events := f.blocksUntil(3)
	require.Equal(t, []string{whale[0], whale[1], small, whale[2]}, f.firedIDs(events),
		"two in the whale's half, one of the other, and then in order what is left")
	require.Equal(t, whale[3:], f.firedIDs(f.NextBlock()), "alone, the lane is all its own")
}

// TestAFireAlwaysFitsItsFirstSlice: with more actors than gas limits in the lane the best tips win.
func TestAFireAlwaysFitsItsFirstSlice(t *testing.T) {
	f := newFixture(t, withConfig(byTip), withConfig(laneOf(250_000)))
	var ids []string
	for i := range 6 {
		actor := sdk.AccAddress(fmt.Sprintf("robot-%d_____________", i))
		f.fund(actor, rich)
		ids = append(ids, f.schedule(actor, 3, f.burner(80_000), limited(100_000), bidding(stated("9", fmt.Sprint(i)))))
	}
	require.Equal(t, []string{ids[5], ids[4]}, f.firedIDs(f.blocksUntil(3)), "a slice is 41,666 cycles; what is left holds no third")
}

// TestWeightsFollowWhatFiresWere: the epoch's score moves the weight of the next, which breaks ties; rest brings it
// back.
//
// Rule: 5.1-count
func TestWeightsFollowWhatFiresWere(t *testing.T) {
	f := newFixture(t, withConfig(byTip))
	fails := f.script(func(sdk.Context, types.Delivery) error { return types.ErrInvalidPayload })
	f.schedule(robot, 3, fails, bidding(stated("9", "0")))
	f.schedule(robot2, 3, f.burner(180_000), limited(200_000), bidding(stated("9", "0")))
	f.NextBlock()
	require.Equal(t, tippolicy.Standing{
		Weight: "0.500000000000000000", Next: "0.500000000000000000", Epoch: 1, EpochEnds: 10,
	}, *f.tipStanding(robot), "nothing is known")
	f.blocksUntil(3)
	// 0.4 × ½ + 0.3 × ½ + 0.2 × 0.99, and 0.4 × ½ + 0.3 + 0.2 × 0.9: no one tipped, nothing was late.
	require.Equal(t, tippolicy.Standing{
		Weight: "0.500000000000000000", Next: "0.509600000000000000", Score: "0.548000000000000000", Epoch: 1, EpochEnds: 10,
		Fires: 1, LastFire: 3,
	}, *f.tipStanding(robot))
	require.Equal(t, "0.680000000000000000", f.tipStanding(robot2).Score)
	require.Equal(t, "0.536000000000000000", f.tipStanding(robot2).Next)

	f.blocksUntil(9)
	require.Equal(t, "0.536000000000000000", f.tipStanding(robot2).Weight, "the block after the open one is of epoch 2")
	require.Empty(t, f.tipStanding(robot2).Score)
	worse := f.schedule(robot, f.Height()+2, f.noop())
	newcomer := f.schedule(alice, f.Height()+2, f.pays(alice, bob, 1))
	better := f.schedule(robot2, f.Height()+2, f.noop())
	require.Equal(t, []string{better, worse, newcomer}, f.firedIDs(f.blocksUntil(f.Height()+2)), "0.536, 0.5096, 0.5")

	// What fired in epoch 2 counts in epoch 3; in epoch 4 a fifth of the distance is gone.
	f.blocksUntil(30)
	standing := f.tipStanding(alice)
	distance := dec(standing.Weight).Sub(dec("0.5"))
	require.True(t, distance.IsPositive())
	f.blocksUntil(40)
	require.Equal(t, distance.Mul(dec("0.8")).String(), dec(f.tipStanding(alice).Weight).Sub(dec("0.5")).String())
}

// TestTipWithoutFundsDefers: nothing is destroyed, one event tells, others continue, and it fires when its payer can pay.
//
// Rule: 1.5-leaves-for-funds, 5.2-tip-defers, 6-deferred-for-funds
func TestTipWithoutFundsDefers(t *testing.T) {
	f := newFixture(t, withConfig(byTip))
	poor := sdk.AccAddress("robot-poor__________")
	f.fund(poor, 1_000)
	waiting := f.schedule(poor, 3, f.noop(), bidding(stated("9", "5")), expiring(30))
	other := f.schedule(robot, 3, f.noop())
	events := f.blocksUntil(3)
	require.Equal(t, []string{other}, f.firedIDs(events))
	require.Equal(t, types.TimerDeferredInsufficientFunds{
		Id: waiting, Actor: poor.String(), Payer: poor.String(), Required: "1200000", Available: "1000",
	}, *only[*types.TimerDeferredInsufficientFunds](f, events))
	require.Empty(t, eventsOf[*types.TimerCancelledInsufficientFunds](f, events))
	require.Equal(t, uint32(1), only[*types.TimerLaneSummary](f, f.NextBlock()).Deferred)
	info := f.timer(poor, waiting)
	require.Equal(t, types.PhaseReady, info.Status.Phase)
	require.Equal(t, uint64(3), info.Status.UnfundedSince)
	require.Equal(t, uint64(1), f.tipStanding(poor).Unfunded)
	require.Equal(t, "0.000000000000000000", f.tipStanding(poor).Score)
	ready, err := f.query().Ready(f.Ctx(), &types.QueryReadyRequest{})
	require.NoError(t, err)
	require.Empty(t, ready.Timers, "it does not compete")

	f.fund(poor, 2_000_000)
	events = f.NextBlock()
	require.Equal(t, []string{waiting}, f.firedIDs(events))
	require.Empty(t, eventsOf[*types.TimerDeferredInsufficientFunds](f, events))
}

// fullQueue is a store that writes nothing to the queue when told so.
type fullQueue struct {
	corestore.KVStoreService
	full *bool
}

type fullQueueStore struct{ corestore.KVStore }

func (s fullQueue) OpenKVStore(ctx context.Context) corestore.KVStore {
	store := s.KVStoreService.OpenKVStore(ctx)
	if *s.full {
		return fullQueueStore{store}
	}
	return store
}

func (s fullQueueStore) Set(key, value []byte) error {
	if bytes.HasPrefix(key, types.PrefixRecords.Bytes()) {
		return errors.New("the disk is full")
	}
	return s.KVStore.Set(key, value)
}

// TestTip_GoesOnWhereItCouldNotMark: a block that can't write that a timer's payer has funds again changes nothing, and the next
// one does it.
func TestTip_GoesOnWhereItCouldNotMark(t *testing.T) {
	full := false
	f := newFixture(t, withConfig(func(c *types.TimerConfig) { byTip(c); c.CandidateWindow = 4 }), func(opts *lab.ChainOptions) {
		opts.WrapStore = func(service corestore.KVStoreService) corestore.KVStoreService { return fullQueue{service, &full} }
	})
	poor := sdk.AccAddress("robot-poor__________")
	f.fund(poor, 1_000)
	waiting := f.schedule(poor, 3, f.noop(), bidding(stated("9", "5")))
	f.blocksUntil(3)
	require.Equal(t, uint64(3), f.timer(poor, waiting).Status.UnfundedSince)
	// More become due than compete, in the block in which the payer has funds again.
	for range 5 {
		f.schedule(robot, f.Height()+1, f.noop())
	}
	f.NextBlock()
	f.fund(poor, 2_000_000)
	full = true
	events := f.endBlock()
	full = false
	require.Len(t, eventsOf[*types.TimerLaneFailed](f, events), 1)
	require.NoError(t, f.Check())
	require.Contains(t, append(f.firedIDs(f.NextBlock()), f.firedIDs(f.NextBlock())...), waiting)
	require.NoError(t, f.Check())
}

func TestTipUnfundedTimersLeaveByTheirTime(t *testing.T) {
	f := newFixture(t, withConfig(byTip))
	poor := sdk.AccAddress("robot-poor__________")
	f.fund(poor, 1)
	f.schedule(poor, 3, f.noop(), expiring(6))
	suspends := f.schedule(poor, 3, f.noop(), func(msg *types.MsgScheduleTimer) { msg.Spec.OnUnfunded = types.OnUnfundedSuspend })
	events := f.blocksUntil(6)
	require.Len(t, eventsOf[*types.TimerDeferredInsufficientFunds](f, events), 1, "told once")
	require.Equal(t, types.Suspended, only[*types.TimerHeld](f, events).Reason, "whoever asked for suspension gets it")
	require.Equal(t, suspends, only[*types.TimerHeld](f, events).Id)
	only[*types.TimerExpired](f, f.NextBlock())
	require.Equal(t, uint32(1), f.total(poor))
}

// TestTipSuspendsLikeOthers: whoever asked for suspension is suspended if its payer could pay no tip at all, and is put
// on hold if the payer could: it is not deferred.
//
// Rule: 5.2-tip-suspends
func TestTipSuspendsLikeOthers(t *testing.T) {
	f := newFixture(t, withConfig(byTip))
	poor, poorest := sdk.AccAddress("robot-poor__________"), sdk.AccAddress("robot-poorest_______")
	f.fund(poor, 500_000)
	f.fund(poorest, 1)
	suspending := func(msg *types.MsgScheduleTimer) { msg.Spec.OnUnfunded = types.OnUnfundedSuspend }
	onHold := f.schedule(poor, 3, f.noop(), bidding(stated("9", "5")), suspending)
	suspended := f.schedule(poorest, 3, f.noop(), bidding(stated("9", "5")), suspending)
	events := f.blocksUntil(3)
	require.Empty(t, eventsOf[*types.TimerDeferredInsufficientFunds](f, events))
	require.Equal(t, types.Unfunded, f.timer(poor, onHold).Status.HoldReason)
	require.Equal(t, types.Suspended, f.timer(poorest, suspended).Status.HoldReason)
	f.fund(poor, 2_000_000)
	f.fund(poorest, 2_000_000)
	require.Equal(t, []string{onHold}, f.firedIDs(f.NextBlock()), "the sweep finds who can pay, and suspended timers wait for their owners")
}

// TestUnfundedTimersDoNotBlockTheLane: more of them than a block checks, with the best tips, and the lane continues;
// those that are funded come back in their turn.
//
// Rule: 5.2-tip-defers, 5.4-tip-rechecks
func TestUnfundedTimersDoNotBlockTheLane(t *testing.T) {
	f := newFixture(t, withConfig(byTip))
	poor := sdk.AccAddress("robot-poor__________")
	f.fund(poor, 1)
	for range 40 {
		f.schedule(poor, 3, f.noop(), bidding(stated("900", "500")))
	}
	var ids []string
	for range 3 {
		ids = append(ids, f.schedule(robot, 3, f.noop()))
	}
	events := f.blocksUntil(3)
	require.Equal(t, ids, f.firedIDs(events))
	require.Len(t, eventsOf[*types.TimerDeferredInsufficientFunds](f, events), 40)
	require.Empty(t, eventsOf[*types.TimerDeferredInsufficientFunds](f, f.NextBlock()))
	rich := sdk.NewCoins(sdk.NewInt64Coin(f.FeeDenom, 1_000_000_000_000))
	require.NoError(t, f.Fund(lab.Balance{Address: poor, Amount: rich[0].Amount}))
	f.minted = f.minted.Add(rich[0].Amount)
	fired := 0
	for range 5 {
		now := len(f.firedIDs(f.NextBlock()))
		require.LessOrEqual(t, now, 16, "a block checks the payers of 16")
		fired += now
	}
	require.Equal(t, 40, fired)
}

// TestUnfundedHandlingIsBoundedByTheGCLane: what is beyond it stays as it is and is found in later blocks.
func TestUnfundedHandlingIsBoundedByTheGCLane(t *testing.T) {
	f := newFixture(t, withConfig(byTip), withConfig(func(c *types.TimerConfig) { lab.SetRemovals(c, 3) }))
	poor := sdk.AccAddress("robot-poor__________")
	f.fund(poor, 1)
	for range 7 {
		f.schedule(poor, 3, f.noop())
	}
	f.blocksUntil(2)
	for _, want := range []int{3, 3, 1, 0} {
		require.Len(t, eventsOf[*types.TimerDeferredInsufficientFunds](f, f.NextBlock()), want)
	}
}

// TestStarvationFloor: an actor without a fire for five blocks is raised to the floor, and wins the tie that it lost.
func TestStarvationFloor(t *testing.T) {
	f := newFixture(t, withConfig(byTip), withConfig(laneOf(100_000)), withConfig(func(c *types.TimerConfig) {
		setTip(c, func(p *tippolicy.Params) {
			p.WeightNeutral, p.StarvationFloor = decimal.Of(dec("0.2")), decimal.Of(dec("0.9"))
		})
	}))
	// The busy one scores in epoch 1, and weighs more than the neutral weight from block 11 on.
	for height := uint64(3); height < 11; height++ {
		f.schedule(robot, height, f.burner(80_000), limited(100_000))
	}
	f.blocksUntil(10)
	for height := uint64(12); height < 23; height++ {
		f.schedule(robot, height, f.burner(80_000), limited(100_000))
	}
	quiet := f.schedule(robot2, 12, f.noop(), limited(100_000))
	second := f.schedule(robot2, 12, f.noop(), limited(100_000))
	var late uint64
	for range 12 {
		for _, fired := range eventsOf[*types.TimerFired](f, f.NextBlock()) {
			if fired.Id == quiet {
				late = fired.Late
			}
			require.NotEqual(t, second, fired.Id, "one fire ends the starvation")
		}
		if late > 0 {
			break
		}
	}
	require.Equal(t, uint64(5), late)
	require.Equal(t, "0.900000000000000000", f.tipStanding(robot2).Next, "the floor holds in the next epoch too")
}

// TestActorWithRecentFiresIsNotStarved: an actor whose timers wait only for its own other timers does not get the
// floor.
func TestActorWithRecentFiresIsNotStarved(t *testing.T) {
	f := newFixture(t, withConfig(byTip), withConfig(laneOf(100_000)))
	for range 12 {
		f.schedule(robot, 3, f.burner(80_000), limited(100_000))
	}
	f.blocksUntil(12)
	record := f.tipStanding(robot)
	require.True(t, dec(record.Weight).LT(dec("0.75")), record.Weight)
	require.True(t, dec(record.Next).LT(dec("0.75")), record.Next)
}

// TestWindowIsNotBlockedByIdleTimers: timers that are priced out for good fill the window, and others still fire: those
// that become due when they do, and those that wait in their turn.
//
// Rule: 5.4-tip-window
func TestWindowIsNotBlockedByIdleTimers(t *testing.T) {
	f := newFixture(t, withConfig(byTip), withConfig(func(c *types.TimerConfig) { c.CandidateWindow = 8 }))
	low := bidding(stated("1", "0"))
	for range 12 {
		f.schedule(robot, 3, f.noop(), low)
	}
	var waiting []string
	for range 3 {
		waiting = append(waiting, f.schedule(robot2, 3, f.noop(), bidding(stated("9", "0"))))
	}
	f.setConfig(func(c *types.TimerConfig) { c.CycleBasefee = decimal.Of(dec("2")) })
	fresh := f.schedule(robot2, 6, f.noop(), bidding(stated("9", "0")))
	fired := map[string]int64{}
	for range 20 {
		height := f.Ctx().BlockHeight()
		for _, id := range f.firedIDs(f.NextBlock()) {
			fired[id] = height
		}
	}
	require.Equal(t, int64(6), fired[fresh], "in the block in which it is due")
	for _, id := range waiting {
		require.NotZero(t, fired[id])
		require.LessOrEqual(t, fired[id], int64(3+15/2+1), "a round of 15 timers at 2 a block")
	}
	require.Len(t, fired, 4)
	f.setConfig(func(c *types.TimerConfig) { c.CycleBasefee = decimal.Of(dec("1")) })
	f.NextBlock()
	all := 0
	for range 8 {
		all += len(f.firedIDs(f.NextBlock()))
	}
	require.Equal(t, 12, all)
}

// TestWeightsAreForgotten: bounded, whatever policy is in force, and without a trace.
func TestWeightsAreForgotten(t *testing.T) {
	f := newFixture(t, withConfig(byTip), withConfig(func(c *types.TimerConfig) {
		setTip(c, func(p *tippolicy.Params) { p.EpochBlocks = 1 })
		inTheEnd(c, market.Age, 2)
	}))
	actors := []sdk.AccAddress{robot, robot2, alice, bob, carol}
	for _, actor := range actors {
		payload := f.noop()
		if actor[0] != 'r' {
			payload = f.pays(actor, robot, 1)
		}
		f.schedule(actor, 3, payload)
	}
	f.blocksUntil(3)
	f.setConfig(func(c *types.TimerConfig) { c.Policy = types.PolicyFIFO })
	f.blocksUntil(3 + 64)
	require.Equal(t, 5, f.listedActors())
	for _, want := range []int{3, 1, 0} {
		f.NextBlock()
		require.Equal(t, want, f.listedActors())
	}
	require.Zero(t, tipState(f.lane()).Oldest)
}

// TestForgottenWeightsAreNotExported: whether a chain has removed them yet, and who was listed when, makes no difference.
//
// Rule: 2.1-round-trip
func TestForgottenWeightsAreNotExported(t *testing.T) {
	f := newFixture(t, withConfig(byTip), withConfig(func(c *types.TimerConfig) {
		setTip(c, func(p *tippolicy.Params) { p.EpochBlocks = 1 })
		inTheEnd(c, market.Age, 1)
	}))
	for _, actor := range []sdk.AccAddress{alice, bob, carol} {
		f.schedule(actor, 3, f.pays(actor, robot, 1))
	}
	for height := uint64(3); height < 60; height += 9 {
		f.schedule(robot, height, f.noop())
	}
	f.blocksUntil(3 + 64 + 1)
	_, err := f.EndBlock()
	require.NoError(t, err)
	genesis := f.export()
	require.Len(t, tipWeights(genesis), 1, "of an actor that fired later")
	require.Equal(t, f.Height()-64, tipState(genesis.Lane).Oldest, "an epoch is a block")
	require.NoError(t, f.Timers.ValidateGenesis(genesis))
	again := imported(t, f, genesis)
	require.NoError(t, f.BeginBlock())
	for range 64 {
		require.Equal(t, f.tipStanding(robot), again.tipStanding(robot))
		require.Equal(t, f.tipStanding(carol), again.tipStanding(carol), "forgotten, and still to be removed in one of the chains")
		f.NextBlock()
		again.NextBlock()
		require.Equal(t, comparableState(f), comparableState(again))
	}
	require.Empty(t, tipWeights(f.export()))
}

// listedActors counts the actors whose weights are listed under an epoch, and so are not yet removed.
func (f *fixture) listedActors() (n int) {
	f.WalkState(func(store string, key, value []byte) {
		if store == types.StoreKey && key[0] == types.PrefixTipEpochs.Bytes()[0] {
			for at := 0; at < len(value); at += 1 + int(value[at]) {
				n++
			}
		}
	})
	return n
}

// TestTipComesAndGoes: with a backlog, and nothing is lost.
func TestTipComesAndGoes(t *testing.T) {
	f := newFixture(t, withoutHeadroom, withConfig(expensive), withConfig(laneOf(250_000)))
	for i := range 30 {
		f.schedule([]sdk.AccAddress{robot, robot2}[i%2], 3, f.burner(50_000), limited(100_000), bidding(stated("50", fmt.Sprint(i%7))))
	}
	fired := 0
	for _, policy := range []types.Policy{
		types.PolicyTip, types.PolicyFIFO, types.PolicyTip, types.PolicyEIP1559, types.PolicyTip, types.PolicyEIP1559, types.PolicyTip,
	} {
		f.setConfig(func(c *types.TimerConfig) { c.Policy, c.CandidateWindow = policy, 5 })
		fired += len(f.firedIDs(f.blocksUntil(f.Height() + 1)))
	}
	fired += len(f.firedIDs(f.blocksUntil(f.Height() + 20)))
	require.Equal(t, 30, fired)
}

// TestTipGenesis: weights, epochs and who waits for funds continue in the new chain.
//
// Rule: 2.1-round-trip
func TestTipGenesis(t *testing.T) {
	f := newFixture(t, withConfig(byTip))
	poor := sdk.AccAddress("robot-poor__________")
	f.fund(poor, 1)
	waiting := f.schedule(poor, 3, f.noop())
	f.schedule(robot, 3, f.noop())
	f.schedule(robot, 14, f.noop())
	f.blocksUntil(15)
	_, err := f.EndBlock()
	require.NoError(t, err)
	genesis, height := f.export(), f.Ctx().BlockHeight()
	text := f.Codec.MustMarshalJSON(genesis)
	require.Len(t, tipWeights(genesis), 2)
	require.NoError(t, f.Timers.ValidateGenesis(genesis))
	again := imported(t, f, genesis)
	require.NoError(t, f.BeginBlock())
	require.Equal(t, uint64(3), again.timer(poor, waiting).Status.UnfundedSince)
	f.fund(poor, 2_000_000)
	again.fund(poor, 2_000_000)
	for range 25 {
		require.Equal(t, f.tipStanding(robot), again.tipStanding(robot))
		want, got := f.NextBlock(), again.NextBlock()
		require.Equal(t, f.firedIDs(want), again.firedIDs(got))
		require.Equal(t, comparableState(f), comparableState(again))
	}
	require.Zero(t, f.total(poor))

	ofTip := func(change func(*tippolicy.State, *tippolicy.Weights)) func(*types.GenesisState) {
		return func(g *types.GenesisState) { changeTip(g, change) }
	}
	for name, c := range map[string]struct {
		change func(*types.GenesisState)
		want   string
	}{
		"unfunded in times to come": {func(g *types.GenesisState) { g.Timers[0].UnfundedSince = 99 }, "is unfunded since height 99, now is"},
		"a weight to come":          {ofTip(func(_ *tippolicy.State, w *tippolicy.Weights) { w.Weights[0].Weight.Epoch = 9 }), "epoch 9"},
		"an oldest to come": {
			ofTip(func(s *tippolicy.State, w *tippolicy.Weights) { w.Weights, s.Oldest = nil, 9 }),
			"tip.State: oldest is epoch 9, want at most 2",
		},
		"a fire to come":        {ofTip(func(_ *tippolicy.State, w *tippolicy.Weights) { w.Weights[1].Weight.LastFire = 99 }), "last_fire 99"},
		"an epoch to come":      {ofTip(func(s *tippolicy.State, _ *tippolicy.Weights) { s.Start = 99 }), "tip.State: start is 99"},
		"older than the oldest": {ofTip(func(s *tippolicy.State, _ *tippolicy.Weights) { s.Oldest = 2 }), "is before oldest 2 of tip.State"},
		"out of order": {ofTip(func(_ *tippolicy.State, w *tippolicy.Weights) {
			w.Weights[0], w.Weights[1] = w.Weights[1], w.Weights[0]
		}), "not above the one before"},
		"a weight above all":       {ofTip(func(_ *tippolicy.State, w *tippolicy.Weights) { w.Weights[0].Weight.Weight = dec("1.1") }), "weight is 1.1"},
		"more than its fires":      {ofTip(func(_ *tippolicy.State, w *tippolicy.Weights) { w.Weights[1].Weight.Tip = dec("2") }), "tip is 2"},
		"more blocks than fires":   {ofTip(func(_ *tippolicy.State, w *tippolicy.Weights) { w.Weights[1].Weight.Blocks = 2 }), "2 blocks with 1 fires"},
		"nothing to score":         {ofTip(func(_ *tippolicy.State, w *tippolicy.Weights) { w.Weights[0].Weight.Unfunded = 0 }), "nothing to score"},
		"a missing part":           {ofTip(func(_ *tippolicy.State, w *tippolicy.Weights) { w.Weights[0].Weight.Use = math.LegacyDec{} }), "use is missing"},
		"an epoch of no length":    {ofTip(func(s *tippolicy.State, _ *tippolicy.Weights) { s.EpochBlocks = 0 }), "epoch 1 of 0 blocks"},
		"an actor without address": {ofTip(func(_ *tippolicy.State, w *tippolicy.Weights) { w.Weights[0].Actor = nil }), "actor"},
	} {
		var broken types.GenesisState
		f.Codec.MustUnmarshalJSON(text, &broken)
		c.change(&broken)
		_, err = lab.NewChain(lab.ChainOptions{Genesis: &broken, Height: height, Runtimes: []types.Runtime{f.robots}})
		require.ErrorIs(t, err, types.ErrInvalidGenesis, name)
		require.ErrorContains(t, err, c.want, name)
	}
}

func TestTheSameBlocksGiveTheSameHashUnderTip(t *testing.T) {
	few := func(c *types.TimerConfig) { c.CandidateWindow, c.MaxFiresPerActor = 8, 0 }
	hashes, events := replay(t, 1, byTip, few)
	again, eventsAgain := replay(t, 1, byTip, few)
	require.Equal(t, hashes, again)
	require.Equal(t, events, eventsAgain)
}

// TestCorruptWeightAffectsItsActorOnly: the actor has the least weight, still fires, and is not scored. Others are
// scored.
func TestCorruptWeightAffectsItsActorOnly(t *testing.T) {
	var service corestore.KVStoreService
	f := newFixture(t, withConfig(byTip), func(opts *lab.ChainOptions) {
		opts.WrapStore = func(s corestore.KVStoreService) corestore.KVStoreService { service = s; return s }
	})
	f.schedule(robot, 3, f.noop())
	broken := f.schedule(robot, 5, f.noop())
	sound := f.schedule(robot2, 5, f.noop())
	f.blocksUntil(3)
	weights := logmap.New(state.NewRegion(collections.NewSchemaBuilder(service), service, types.PrefixTipWeights, "weights"), logmap.Options{})
	records, err := weights.Page(f.Ctx(), nil, nil, 2)
	require.NoError(t, err)
	require.Len(t, records, 1)
	key, record := records[0].Key, records[0].Value
	require.True(t, bytes.HasSuffix(key, robot))
	require.NoError(t, weights.Apply(f.Ctx(), logmap.Replaced(key, []byte{0xff})))
	f.endBlock()
	require.Equal(t, []string{sound, broken}, f.firedIDs(f.endBlock()), "0.5 before the least weight")
	require.Equal(t, uint64(1), f.tipStanding(robot2).Fires)
	require.NoError(t, weights.Apply(f.Ctx(), logmap.Replaced(key, record)))
	require.Equal(t, uint64(1), f.tipStanding(robot).Fires)
}

// Rule: 1.8-which-bids, 1.9-agent-policies
func TestAgentsBidUnderTip(t *testing.T) {
	f := newFixture(t, withConfig(plain), withConfig(func(c *types.TimerConfig) {
		c.Policy, c.CellBasefee = types.PolicyTip, decimal.Of(math.LegacyOneDec())
		c.MaxCellsPerFire = 1
	}))
	high := f.agent("high", answers(0, "5", "2", "1"))
	withheld := f.agent("withheld", answers(0, "9", "8", "0.5"))
	plainBid := f.schedule(robot, 3, f.noop())
	waits := f.schedule(robot, 3, f.noop(), byAgent(withheld))
	first := f.schedule(robot2, 3, f.noop(), byAgent(high))
	f.NextBlock()
	f.NextBlock()
	fired := eventsOf[*types.TimerFired](f, f.NextBlock())
	require.Len(t, fired, 2, "a cell is pricier than what the one agent allows")
	require.Equal(t, []string{first, plainBid}, []string{fired[0].Id, fired[1].Id})
	require.Equal(t, fmt.Sprint(2*fired[0].Cycles), fired[0].Tip)
	require.Equal(t, "0", fired[1].Tip)
	require.NotEmpty(t, f.timer(robot, waits).Id)
}

// TestTip_PutsUnfundedTimersOnHoldUnderOverload, and they come back with their payer's funds.
//
// Rule: 5.2-tip-on-hold
func TestTip_PutsUnfundedTimersOnHoldUnderOverload(t *testing.T) {
	f := newFixture(t, withConfig(byTip), withConfig(func(c *types.TimerConfig) { c.CandidateWindow, c.MaxFiresPerBlock = 8, 1 }))
	f.fund(poorRobot, 1)
	waiting := f.schedule(poorRobot, 3, f.noop(), bidding(stated("9", "5")))
	for range 20 {
		f.schedule(robot, 3, f.noop())
	}
	onHold := only[*types.TimerHeld](f, f.blocksUntil(4))
	require.Equal(t, [2]any{waiting, types.Unfunded}, [2]any{onHold.Id, onHold.Reason})
	f.fund(poorRobot, rich)
	require.Contains(t, f.firedIDs(f.blocksUntil(7)), waiting)
}
