package keeper_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/types/query"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

func dec(text string) math.LegacyDec { return math.LegacyMustNewDecFromStr(text) }

func stated(maxFee, maxPriority string) *types.Bid {
	return &types.Bid{Static: &types.StaticBid{MaxFeePerCycle: decimal.Of(dec(maxFee)), MaxPriorityFeePerCycle: decimal.Of(dec(maxPriority))}}
}

// dear makes prices round: a cycle costs 1, the lane 1 at least, a cell nothing.
func expensive(c *types.TimerConfig) {
	plain(c)
	inMarket(c)
	c.Eip1559.MinLaneBasefee = decimal.Of(math.LegacyOneDec())
}

// prices are what the lane query says of the next block.
func (f *fixture) prices() *types.QueryLaneResponse {
	lane, err := f.query().Lane(f.Ctx(), &types.QueryLaneRequest{})
	require.NoError(f.t, err)
	return lane
}

// Rule: 1.8-static-below-refused, 1.8-clamped, 3.1-bid-errors, 3.2-bid-relocked, 6-clamped
func TestABidIsCheckedWhenItIsStated(t *testing.T) {
	f := newFixture(t, withConfig(expensive))
	f.refused(types.ErrRejectedBelowBasefee, scheduleMsg(robot, 5, f.noop(), bidding(stated("0.999999999999999999", "0"))))
	kept := f.schedule(robot, 5, f.noop(), bidding(stated("1.5", "0.5")))
	clamped := f.schedule(robot, 5, f.noop(), bidding(stated("1.5", "0.6")))
	require.Equal(t, stated("1.5", "0.5"), f.timer(robot, kept).Spec.Bid)
	require.Equal(t, stated("1.5", "0.6"), f.timer(robot, clamped).Spec.Bid, "as stated")
	require.Equal(t, []string{"", "0.5"}, []string{f.timer(robot, kept).Status.TipCap, f.timer(robot, clamped).Status.TipCap})
	f.refused(types.ErrRejectedBelowBasefee, &types.MsgUpdateTimer{Sender: robot.String(), Id: kept, Spec: types.TimerSpec{Bid: stated("0.5", "0")}, Fields: []string{"bid"}})
	f.run(&types.MsgUpdateTimer{Sender: robot.String(), Id: kept, Spec: types.TimerSpec{Bid: stated("3", "9")}, Fields: []string{"bid"}})
	require.Equal(t, stated("3", "9"), f.timer(robot, kept).Spec.Bid)
	require.Equal(t, "2", f.timer(robot, kept).Status.TipCap)
	seq := f.timer(robot, kept).Status.Seq
	f.run(&types.MsgUpdateTimer{Sender: robot.String(), Id: kept, Spec: types.TimerSpec{Bid: stated("3", "9")}, Fields: []string{"bid"}})
	require.Equal(t, seq, f.timer(robot, kept).Status.Seq, "what is stated as it stands changes nothing")
	events := f.NextBlock()
	require.Equal(t, []*types.TimerPriorityClampedAtSchedule{
		{Id: clamped, Actor: robot.String(), Stated: "0.600000000000000000", Clamped: "0.500000000000000000"},
		{Id: kept, Actor: robot.String(), Stated: "9.000000000000000000", Clamped: "2.000000000000000000"},
		{Id: kept, Actor: robot.String(), Stated: "9.000000000000000000", Clamped: "2.000000000000000000"},
	}, eventsOf[*types.TimerPriorityClampedAtSchedule](f, events))
}

// TestTheBasefeeThatABidMustReach is that of the block in which it is stated, which the query foretells.
//
// Rule: 5.1-prices
func TestTheBasefeeThatABidMustReach(t *testing.T) {
	f := newFixture(t, withoutHeadroom, withConfig(func(c *types.TimerConfig) {
		expensive(c)
		c.LaneTimerCycles, c.Eip1559.MaxCyclesPerFireAuction, c.MaxCyclesPerFire = 100_000, 100_000, 100_000
	}))
	for i := range 8 {
		f.schedule(robot, uint64(3+i), f.burner(80_000), limited(100_000))
	}
	f.blocksUntil(7)
	// Five full lanes: 1.125^5 = 1.802032470703125, which the query before the block said.
	require.Equal(t, "1.802032470703125000", f.lane().LaneBasefee.Mul(dec("1.125")).String())
	f.refused(types.ErrRejectedBelowBasefee, scheduleMsg(robot, 50, f.noop(), limited(100_000), bidding(stated("1.802032470703124999", "0"))))
	f.schedule(robot, 50, f.noop(), limited(100_000), bidding(stated("1.802032470703125", "0")))
	said := f.prices().NextLaneBasefee
	f.NextBlock()
	require.Equal(t, said, f.prices().LaneBasefee)
}

// Rule: 1.8-price-ignored, 1.8-price-deprecated, 1.8-price-under-fifo, 3.1-bid-errors, 6-bid-ignored
func TestDeprecatedBid(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) {
		expensive(c)
		c.Eip1559.AuctionActivationHeight, c.Eip1559.BidDeprecationBlocks = 2, 3
	}))
	stated := bidding(&types.Bid{Price: "7"})
	id := f.schedule(robot, 50, f.noop(), stated)
	require.Nil(t, f.timer(robot, id).Spec.Bid)
	require.Empty(t, eventsOf[*types.TimerBidIgnored](f, f.NextBlock()), "fifo ignores it in silence")
	f.NextBlock()
	// Block 3 is the first of eip1559: it is ignored in 3, 4 and 5, and refused from 6 on.
	for height := int64(3); height <= 5; height++ {
		require.Equal(t, height, f.Ctx().BlockHeight())
		id := f.schedule(robot, 50, f.noop(), stated)
		require.Nil(t, f.timer(robot, id).Spec.Bid)
		event := only[*types.TimerBidIgnored](f, f.NextBlock())
		require.Equal(t, types.TimerBidIgnored{Id: id, Actor: robot.String(), RefusedFrom: 6}, *event)
	}
	f.refused(types.ErrArgDeprecated, scheduleMsg(robot, 50, f.noop(), stated))
	f.refused(types.ErrArgDeprecated, &types.MsgUpdateTimer{Sender: robot.String(), Id: id, Spec: types.TimerSpec{Bid: &types.Bid{Price: "7"}}, Fields: []string{"bid"}})
}

// TestDefaultBidsFollowTheMarket: the default estimator is evaluated when a timer is considered; its tip is the median
// of what the block before paid.
//
// Rule: 1.7-p50, 1.7-p50-of-idle-lane, 1.8-considered-not-frozen, 5.1-bids
func TestDefaultBidsFollowTheMarket(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) {
		expensive(c)
		c.MaxFiresPerBlock = 4
	}))
	for i, tip := range []string{"0.1", "0.7", "0.4", "0.2"} {
		f.schedule(robot, 3, f.noop(), bidding(stated(fmt.Sprint(5+i), tip)))
	}
	left := f.schedule(robot2, 3, f.noop(), bidding(stated("5", "0")))
	def := f.schedule(robot2, 4, f.noop())
	fast := f.schedule(robot2, 4, f.noop(), bidding(&types.Bid{Tier: types.TierFast}))
	economy := f.schedule(robot2, 4, f.noop(), bidding(&types.Bid{Tier: types.TierEconomy}))
	f.blocksUntil(3)
	require.Equal(t, "0.200000000000000000", f.prices().P50, "the lower of the two middle ones, as a timer waits for room")
	events := f.NextBlock()
	require.Equal(t, []string{fast, def, economy, left}, f.firedIDs(events))
	for i, tip := range []string{"6000", "4000", "3200"} {
		require.Equal(t, tip, eventsOf[*types.TimerFired](f, events)[i].Tip, "20,000 cycles")
	}
	require.Equal(t, "0.100000000000000000", f.prices().P50, "no one waits for room: half of what it was, below the median")
	f.NextBlock()
	require.Equal(t, "0.000000000000000000", f.prices().P50, "nothing fired")
}

// TestTimersOfTheDefaultSizeWaitForRoom: those are as large as a timer that states nothing. One that is larger may wait for
// ever on a lane that is empty otherwise, so that its waiting says nothing of prices.
//
// Rule: 1.7-p50-of-idle-lane
func TestTimersOfTheDefaultSizeWaitForRoom(t *testing.T) {
	for larger, want := range map[uint64]string{0: "0.400000000000000000", 1: "0.000000000000000000"} {
		f := newFixture(t, withConfig(func(c *types.TimerConfig) {
			expensive(c)
			c.MaxFiresPerBlock, c.Eip1559.MaxCyclesPerFireAuction = 1, 200_000
		}))
		f.schedule(robot, 3, f.noop(), bidding(stated("5", "0.4")))
		f.schedule(robot2, 3, f.noop(), bidding(stated("5", "0")), func(msg *types.MsgScheduleTimer) {
			// As many cells as cycles are of the same size.
			msg.Spec.CellLimit = 200_000 + larger
		})
		f.blocksUntil(3)
		require.Equal(t, want, f.prices().P50, "%d larger", larger)
	}
}

// TestALanesFeeIsBurnedBesideTheChains: 20,000 cycles at 1 and at 1, and a tip.
//
// Rule: 5.2-settlement
func TestALanesFeeIsBurnedBesideTheChains(t *testing.T) {
	for multiplier, paid := range map[string]int64{"0": 20_000 + 10_000, "0.8": 36_000 + 10_000, "1": 40_000 + 10_000, "2": 60_000 + 10_000} {
		f := newFixture(t, withConfig(func(c *types.TimerConfig) {
			expensive(c)
			c.Eip1559.LaneFeeMultiplier = decimal.Of(dec(multiplier))
		}))
		f.schedule(robot, 3, f.noop(), bidding(stated("9", "0.5")))
		before := f.balance(robot)
		fired := only[*types.TimerFired](f, f.blocksUntil(3))
		require.Equal(t, fmt.Sprint(paid), fired.Paid, multiplier)
		require.Equal(t, "10000", fired.Tip)
		require.Equal(t, before-paid, f.balance(robot))
		require.Equal(t, fmt.Sprint(paid-10_000), f.lane().Burned.String())
	}
}

// TestPricedOutTimersWait: untried, while the basefee is above what they pay, and fire when it has fallen.
//
// Rule: 1.8-priced-out
func TestPricedOutTimersWait(t *testing.T) {
	f := newFixture(t, withoutHeadroom, withConfig(func(c *types.TimerConfig) {
		expensive(c)
		c.LaneTimerCycles, c.Eip1559.MaxCyclesPerFireAuction, c.MaxCyclesPerFire = 100_000, 100_000, 100_000
	}))
	low := f.schedule(robot, 6, f.noop(), limited(40_000), bidding(stated("1.2", "0.1")))
	for i := range 4 {
		f.schedule(robot2, uint64(3+i), f.burner(80_000), limited(100_000))
	}
	events := f.blocksUntil(6)
	require.NotContains(t, f.firedIDs(events), low, "1.125^3 = 1.42")
	require.Equal(t, types.PhaseReady, f.timer(robot, low).Status.Phase)
	events = f.blocksUntil(7)
	require.Empty(t, f.firedIDs(events), "1.125^4 after the full block 6")
	var fired []*types.TimerFired
	for len(fired) == 0 {
		fired = eventsOf[*types.TimerFired](f, f.NextBlock())
		require.Less(t, f.Ctx().BlockHeight(), int64(20))
	}
	require.Equal(t, low, fired[0].Id)
	require.Equal(t, uint64(4), fired[0].Late, "1.602 falls to 1.401, 1.226, 1.073 in blocks 8, 9 and 10")
}

// TestBookingAndCancellingMovesNoPrice: the basefee follows what fires are made of, not what is booked.
func TestBookingAndCancellingMovesNoPrice(t *testing.T) {
	quiet, busy := newFixture(t, withConfig(expensive)), newFixture(t, withConfig(expensive))
	for _, f := range []*fixture{quiet, busy} {
		for height := uint64(3); height < 10; height++ {
			f.schedule(robot, height, f.burner(150_000))
		}
	}
	for range 10 {
		for range 30 {
			id := busy.schedule(robot2, busy.Height()+1, busy.noop(), bidding(stated("1000", "900")))
			busy.run(&types.MsgCancelTimer{Sender: robot2.String(), Id: id})
		}
		quiet.NextBlock()
		busy.NextBlock()
		require.Equal(t, quiet.prices().NextLaneBasefee, busy.prices().NextLaneBasefee)
		require.Equal(t, quiet.prices().P50, busy.prices().P50)
	}
}

// Rule: 1.7-activation, 1.7-basefee-start, 5.1-unrunnable-on-hold
func TestActivationOnARunningChain(t *testing.T) {
	f := newFixture(t, withoutHeadroom, withConfig(func(c *types.TimerConfig) {
		plain(c)
		inMarket(c)
		c.CycleBasefee, c.Eip1559.MinLaneBasefee = decimal.Of(dec("4")), decimal.Of(dec("1"))
		c.Eip1559.AuctionActivationHeight = 3
		c.LaneTimerCycles, c.MaxCyclesPerFire, c.Eip1559.MaxCyclesPerFireAuction = 60_000, 60_000, 40_000
	}))
	// Each block fires two of 20,000 cycles; the limit of 40,000 leaves no room for a third.
	var ids []string
	for i, bid := range []*types.Bid{nil, stated("50", "0.1"), nil, stated("50", "0.3"), nil, stated("50", "0.2")} {
		ids = append(ids, f.schedule([]sdk.AccAddress{robot, robot2}[i%2], 3, f.noop(), limited(40_000), bidding(bid)))
	}
	large := f.schedule(robot, 3, f.noop(), limited(60_000))
	events := f.blocksUntil(3)
	require.Equal(t, ids[:2], f.firedIDs(events), "block 3 is the last of fifo: bids are kept, not used")
	require.Equal(t, types.PolicyEIP1559, f.prices().Policy)
	// 40,000 of 60,000 cycles are two thirds: up by the whole of an eighth, from the cycle basefee.
	require.Equal(t, "4.500000000000000000", f.prices().NextLaneBasefee)

	events = f.NextBlock()
	require.Equal(t, []string{ids[3], ids[5]}, f.firedIDs(events), "0.3 and 0.2 at weight 2 for all, before those that tip nothing")
	onHold := only[*types.TimerHeld](f, events)
	require.Equal(t, types.TimerHeld{Id: large, Actor: robot.String(), Reason: types.Unrunnable}, *onHold)
	require.Equal(t, uint64(4), f.lane().MarketSince)
	f.refused(types.ErrGasLimitOutOfBounds, scheduleMsg(robot, 50, f.noop(), limited(40_001)))

	f.setConfig(func(c *types.TimerConfig) { c.Eip1559.MaxCyclesPerFireAuction = 60_000 })
	events = f.blocksUntil(8)
	require.Equal(t, []string{ids[2], ids[4], large}, f.firedIDs(events))
	require.Equal(t, large, only[*types.TimerReleased](f, events).Id, "the cap rose")
}

// TestEIP1559_CountsAnewWhenItComesIntoForceAgain: integer bids are ignored, and not refused, for as long as in the first time.
func TestEIP1559_CountsAnewWhenItComesIntoForceAgain(t *testing.T) {
	f := newFixture(t, withConfig(inMarket), withConfig(func(c *types.TimerConfig) { c.Eip1559.BidDeprecationBlocks = 3 }))
	policy := func(p types.Policy) { f.setConfig(func(c *types.TimerConfig) { c.Policy = p }) }
	integer := func() *types.MsgScheduleTimer {
		return scheduleMsg(robot, f.Height()+50, f.noop(), bidding(&types.Bid{Price: "5"}))
	}
	f.blocksUntil(6)
	since := f.lane().MarketSince
	require.Equal(t, uint64(1), since)
	f.refused(types.ErrArgDeprecated, integer())

	f.setConfig(func(c *types.TimerConfig) { c.MinGasLimit++ })
	f.NextBlock()
	require.Equal(t, since, f.lane().MarketSince, "another parameter")
	policy(types.PolicyFIFO)
	f.NextBlock()
	require.Zero(t, f.lane().MarketSince)
	policy(types.PolicyEIP1559)
	f.NextBlock()
	first := f.Height()
	f.NextBlock()
	require.Equal(t, first, f.lane().MarketSince)
	f.run(integer())
	f.setConfig(func(c *types.TimerConfig) { c.Eip1559.AuctionActivationHeight = f.Height() + 3 })
	f.NextBlock()
	require.Zero(t, f.lane().MarketSince, "the config ends it by its height")
	f.blocksUntil(f.Height() + 4)
	require.Positive(t, f.lane().MarketSince)
	require.NoError(t, f.Check())
}

// TestPolicyBackAndForthUnderABacklog: nothing is lost, and each policy finds the order that it would have found.
func TestPolicyBackAndForthUnderABacklog(t *testing.T) {
	f := newFixture(t, withoutHeadroom, withConfig(func(c *types.TimerConfig) {
		expensive(c)
		c.LaneTimerCycles, c.MaxCyclesPerFire, c.Eip1559.MaxCyclesPerFireAuction = 60_000, 60_000, 60_000
		c.CandidateWindow = 5
		lab.SetOverhead(c, market.Admit, 7)
	}))
	var ids []string
	for i := range 40 {
		ids = append(ids, f.schedule(robot, 3, f.noop(), limited(40_000), bidding(stated("9", fmt.Sprintf("0.%02d", i)))))
	}
	f.blocksUntil(5)
	fired := map[string]bool{}
	run := func(blocks int) (order []string) {
		for range blocks {
			order = append(order, f.firedIDs(f.NextBlock())...)
		}
		for _, id := range order {
			require.False(t, fired[id], "fired twice")
			fired[id] = true
		}
		return order
	}
	left := func() (all []string) {
		for _, id := range ids {
			if _, err := f.query().Timer(f.Ctx(), &types.QueryTimerRequest{Actor: robot.String(), Id: id}); err == nil {
				all = append(all, id)
			}
		}
		return all
	}
	f.setConfig(func(c *types.TimerConfig) { c.Policy = types.PolicyFIFO })
	f.NextBlock()
	waiting := left()
	require.Equal(t, waiting[:6], run(3), "fifo: the oldest first, admitted or not")
	f.setConfig(func(c *types.TimerConfig) { c.Policy = types.PolicyEIP1559 })
	f.NextBlock()
	for range 6 {
		f.NextBlock()
	}
	waiting = left()
	order := run(1)
	require.Equal(t, []string{waiting[len(waiting)-1], waiting[len(waiting)-2]}, order, "the highest tips of all: by now all are admitted")
	for len(left()) > 0 {
		run(1)
		require.Less(t, f.Ctx().BlockHeight(), int64(40))
	}
}

// Rule: 1.9-window, 1.9-weight, 5.1-count
func TestWeightsFollowFires(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) {
		expensive(c)
		c.FairnessWindowBlocks = 4
	}))
	weight := func(actor sdk.AccAddress) string {
		response, err := f.query().Fairness(f.Ctx(), &types.QueryFairnessRequest{Actor: actor.String()})
		require.NoError(t, err)
		return fmt.Sprintf("%.4s of %d against %d", response.Weight, response.Recent, response.Median)
	}
	require.Equal(t, "2.00 of 0 against 0", weight(robot))
	for range 3 {
		f.schedule(robot, 3, f.noop())
	}
	for range 4 {
		f.schedule(robot2, 3, f.noop())
	}
	f.schedule(carolRobot, 3, f.noop())
	f.fund(carolRobot, rich)
	f.blocksUntil(3)
	require.Equal(t, "1.00 of 3 against 3", weight(robot))
	require.Equal(t, "1.00 of 4 against 3", weight(robot2))
	require.Equal(t, "1.62 of 1 against 3", weight(carolRobot), "2 − 1/3 = 26.67 sixteenths, rounded down to 26")
	require.Equal(t, "2.00 of 0 against 3", weight(alice))
	f.blocksUntil(6)
	require.Equal(t, "1.00 of 3 against 3", weight(robot), "blocks 3 to 6 are the window of block 7")
	f.NextBlock()
	require.Equal(t, "2.00 of 0 against 0", weight(robot))
	require.Equal(t, types.FairnessState{From: 4, Smoothed: math.LegacyZeroDec()}, f.lane().Fairness)
}

var carolRobot = sdk.AccAddress("robot_carol_________")

// TestWeightDecidesBetweenEqualTips: who fired lately waits, also where no one tips.
func TestWeightDecidesBetweenEqualTips(t *testing.T) {
	f := newFixture(t, withConfig(expensive))
	f.schedule(robot, 3, f.noop())
	for _, actor := range []sdk.AccAddress{robot, robot2} {
		f.schedule(actor, 4, f.noop())
		f.schedule(actor, 5, f.noop(), bidding(stated("9", "0.3")))
	}
	events := f.blocksUntil(4)
	fired := eventsOf[*types.TimerFired](f, events)
	require.Equal(t, []string{robot.String(), robot2.String(), robot.String()}, []string{fired[0].Actor, fired[1].Actor, fired[2].Actor})
	fired = eventsOf[*types.TimerFired](f, f.NextBlock())
	require.Equal(t, robot.String(), fired[0].Actor, "2 fires and 1: the median is 1, both weigh 1, and seq decides")
}

// TestContractsOfOneDeployerShareACount: fragments of one actor are one.
//
// Rule: 1.9-unit
func TestContractsOfOneDeployerShareACount(t *testing.T) {
	fragment := func(i int) sdk.AccAddress { return sdk.AccAddress(fmt.Sprintf("robot+%014d", i)) }
	for unit, want := range map[types.FairnessUnit]uint64{types.UnitActor: 5, types.UnitDeployer: 1} {
		f := newFixture(t, withConfig(func(c *types.TimerConfig) {
			expensive(c)
			c.FairnessUnit = unit
		}))
		for i := range 5 {
			f.fund(fragment(i), rich)
			f.schedule(fragment(i), 3, f.noop())
		}
		f.blocksUntil(3)
		require.Equal(t, want, f.lane().Fairness.Units, unit)
		response, err := f.query().Fairness(f.Ctx(), &types.QueryFairnessRequest{Actor: fragment(7).String()})
		require.NoError(t, err)
		if unit == types.UnitDeployer {
			require.Equal(t, uint32(5), response.Recent)
			require.Equal(t, "1.000000000000000000", response.Weight)
		} else {
			require.Equal(t, "2.000000000000000000", response.Weight)
		}
	}
}

// TestAShorterWindowForgetsInABoundedNumberOfBlocks: what has to leave leaves while the overhead lasts.
func TestAShorterWindowForgetsInABoundedNumberOfBlocks(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) {
		expensive(c)
		inTheEnd(c, market.Age, 2)
	}))
	for height := range uint64(12) {
		f.schedule(robot, 3+height, f.noop())
	}
	f.blocksUntil(14)
	f.setConfig(func(c *types.TimerConfig) { c.FairnessWindowBlocks = 1 })
	for i, want := range []uint64{12, 10, 8, 6, 4, 2, 0, 0} {
		f.NextBlock()
		require.Equal(t, want, f.lane().Fairness.Median, "%d blocks later", i)
	}
}

// Rule: 1.9-median
func TestSmoothedMedian(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) {
		expensive(c)
		c.MedianSmoothing, c.FairnessWindowBlocks = decimal.Of(dec("0.5")), 2
	}))
	for range 4 {
		f.schedule(robot, 3, f.noop())
	}
	f.blocksUntil(3)
	require.Equal(t, "2.000000000000000000", f.lane().Fairness.Smoothed.String())
	f.NextBlock()
	require.Equal(t, "3.000000000000000000", f.lane().Fairness.Smoothed.String())
	f.NextBlock()
	require.Equal(t, "1.500000000000000000", f.lane().Fairness.Smoothed.String(), "the median is 0 again")
}

func TestEstimate(t *testing.T) {
	f := newFixture(t, withoutHeadroom, withConfig(func(c *types.TimerConfig) {
		expensive(c)
		c.LaneTimerCycles, c.MaxCyclesPerFire, c.Eip1559.MaxCyclesPerFireAuction, c.MaxCellsPerFire = 100_000, 100_000, 100_000, 1
	}))
	for i := range 6 {
		f.schedule(robot, 3, f.noop(), limited(90_000), bidding(stated("9", fmt.Sprintf("0.%d", i))))
	}
	f.NextBlock()
	estimate := func(req types.QueryEstimateRequest) *types.QueryEstimateResponse {
		response, err := f.query().Estimate(f.Ctx().WithBlockHeight(2), &req)
		require.NoError(t, err)
		return response
	}
	require.Equal(t, types.QueryEstimateResponse{
		Height: 3, GasLimit: 50_000, CellLimit: 1, ReservedSize: 50_000, CycleBasefee: "1.000000000000000000", LaneFee: "1.000000000000000000",
		Priority: "0.250000000000000000", CellBasefee: "0.000000000000000000", PreCharge: "112500", CostOfCycles: "112500",
		FeeDenom: f.FeeDenom, Weight: "2.000000000000000000", Basis: types.BasisAllReady,
		// 0.5, 0.4 and 0.3, each with a limit of 90,000 cycles, are ahead: 320,000 with its own.
		Ahead: 3, AheadSize: 270_000, WaitBlocks: 3, Policy: types.PolicyEIP1559, IntrinsicCycles: 20_000,
	}, *estimate(types.QueryEstimateRequest{GasLimit: 50_000, MaxFee: "9", MaxPriority: "0.25"}))
	require.Equal(t, uint64(6), estimate(types.QueryEstimateRequest{Tier: types.TierUrgent}).Ahead, "p50 is 0: so is any multiple")
	require.Equal(t, uint64(0), estimate(types.QueryEstimateRequest{MaxFee: "9", MaxPriority: "1"}).WaitBlocks)
	for _, req := range []types.QueryEstimateRequest{
		{GasLimit: 1},
		{GasLimit: 100_001},
		{MaxFee: "x"},
		{MaxFee: "-1"},
		{MaxFee: "1", Tier: types.TierFast},
		{Actor: "nobody"},
		{MaxFee: "0.5"},
		{Tier: 9},
	} {
		_, err := f.query().Estimate(f.Ctx(), &req)
		require.Error(t, err, "%v", req)
	}
	f.setConfig(func(c *types.TimerConfig) { c.LanePaused = true })
	f.NextBlock()
	require.Equal(t, types.BasisPaused, estimate(types.QueryEstimateRequest{}).Basis)
}

// TestReadyQueryMatchesTheNextBlock: the query lists what the next block will try, in its order, page by page.
//
// Rule: 5.1-order
func TestReadyQueryMatchesTheNextBlock(t *testing.T) {
	for name, window := range map[string]uint32{"calm": 2_048, "storm": 5} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, withoutHeadroom, withConfig(func(c *types.TimerConfig) {
				expensive(c)
				c.CandidateWindow = window
				lab.SetOverhead(c, market.Admit, 100)
				c.LaneTimerCycles, c.MaxCyclesPerFire, c.Eip1559.MaxCyclesPerFireAuction = 60_000, 60_000, 60_000
			}))
			for i := range 20 {
				f.schedule([]sdk.AccAddress{robot, robot2}[i%2], 2, f.noop(), limited(40_000), bidding(stated("9", fmt.Sprintf("0.%d", i*7%10))))
			}
			f.blocksUntil(3)
			var listed []string
			page := &types.QueryReadyRequest{Pagination: &query.PageRequest{Limit: 3}}
			for {
				response, err := f.query().Ready(f.Ctx().WithBlockHeight(int64(f.Height())-1), page)
				require.NoError(t, err)
				for i := range response.Timers {
					listed = append(listed, response.Timers[i].Id)
				}
				if page.Pagination.Key = response.Pagination.NextKey; page.Pagination.Key == nil {
					break
				}
			}
			fired := f.firedIDs(f.NextBlock())
			require.NotEmpty(t, fired)
			require.Equal(t, fired, listed[:len(fired)])
			require.Len(t, listed, 20-4)
		})
	}
}

// TestGenesisInTheMiddleOfAStorm: what is exported continues as if nothing had happened.
//
// Rule: 2.1-round-trip
func TestGenesisInTheMiddleOfAStorm(t *testing.T) {
	config := withConfig(func(c *types.TimerConfig) {
		expensive(c)
		c.CandidateWindow, c.FairnessWindowBlocks = 5, 3
		lab.SetOverhead(c, market.Admit, 8)
		c.LaneTimerCycles, c.MaxCyclesPerFire, c.Eip1559.MaxCyclesPerFireAuction = 60_000, 60_000, 60_000
	})
	f := newFixture(t, withoutHeadroom, config)
	for i := range 30 {
		f.schedule([]sdk.AccAddress{robot, robot2}[i%2], 2, f.noop(), limited(40_000), bidding(stated("9", fmt.Sprintf("0.%d", i*7%10))))
	}
	f.blocksUntil(5)
	genesis := f.export()
	require.NotEmpty(t, genesis.Fairness)
	again := newFixture(t, withoutHeadroom, func(opts *lab.ChainOptions) {
		opts.Genesis, opts.Height = genesis, int64(f.Height())-1
	})
	again.robots.scripts = f.robots.scripts
	require.Equal(t, genesis, again.export())
	for range 15 {
		require.Equal(t, f.firedIDs(f.NextBlock()), again.firedIDs(again.NextBlock()))
	}
}
