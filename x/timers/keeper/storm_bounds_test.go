package keeper_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"
	sdkquery "github.com/cosmos/cosmos-sdk/types/query"

	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/testutil/storecount"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// TestBoundsOfListsHoldWhatAHandlerChanges: a handler raises the bid of a timer that waits in the index, within its list or
// beyond. If the handler succeeds, that timer is the next; if it fails, it is not. The fixture holds each bound to its list
// after every block.
//
// Rule: 2.2-complete-bounds
func TestBoundsOfListsHoldWhatAHandlerChanges(t *testing.T) {
	for _, raised := range []*types.Bid{stated("2.11", "0.1"), stated("2.9", "0.8")} {
		for _, failure := range []error{nil, errors.New("undone")} {
			f := newFixture(t, withConfig(stormy(2, 16)))
			var ids []string
			raise := f.script(func(ctx sdk.Context, _ types.Delivery) error {
				_, err := keeper.NewMsgServer(f.Timers).UpdateTimer(ctx, &types.MsgUpdateTimer{Sender: robot.String(), Id: ids[4], Spec: types.TimerSpec{Bid: raised}, Fields: []string{"bid"}})
				require.NoError(t, err)
				return failure
			})
			for i := range 8 {
				payload, bid := f.noop(), stated("2.05", "0.04")
				if i == 1 {
					payload, bid = raise, stated("2.08", "0.07")
				}
				ids = append(ids, f.schedule(robot, 3, payload, bidding(bid)))
			}
			// The fire after this one is in a block that finds a summary.
			first := f.schedule(robot, 3, f.noop(), bidding(stated("2.3", "0.29")))
			f.blocksUntil(2)
			require.Equal(t, []string{first}, f.firedIDs(f.NextBlock()))
			require.Equal(t, []string{ids[1]}, f.firedIDs(f.NextBlock()))
			want := ids[4]
			if failure != nil {
				want = ids[0]
			}
			require.Equal(t, []string{want}, f.firedIDs(f.NextBlock()))
		}
	}
}

// TestAHandlerSeesTheOrderOfTheNextBlock: what its block has admitted is among the others where it belongs, and the next block
// admits as many again.
//
// Rule: 5.4-admitted-written-once
func TestAHandlerSeesTheOrderOfTheNextBlock(t *testing.T) {
	for admissions, waitingThen := range map[int]int{16: 4, 4: 4} {
		f := newFixture(t, withConfig(stormy(2, admissions)))
		var seen []string
		look := f.script(func(ctx sdk.Context, _ types.Delivery) error {
			ready, err := f.query().Ready(ctx, &types.QueryReadyRequest{})
			require.NoError(t, err)
			for _, info := range ready.Timers {
				seen = append(seen, info.Id)
			}
			return nil
		})
		first := f.schedule(robot, 3, f.noop(), bidding(stated("2.9", "0.8")))
		looking := f.schedule(robot, 3, look, bidding(stated("2.8", "0.7")))
		var waiting []string
		for _, bid := range []*types.Bid{stated("2.5", "0.05"), stated("2.5", "0.05"), stated("2.05", "0.04"), stated("2.05", "0.04")} {
			waiting = append(waiting, f.schedule(robot, 3, f.noop(), bidding(bid)))
		}
		// The newcomer is above the bound that its list has in the store, and above the other list.
		newcomer := f.schedule(robot, 4, f.noop(), bidding(stated("2.08", "0.07")))
		f.blocksUntil(2)
		require.Equal(t, []string{first}, f.firedIDs(f.NextBlock()))
		require.Equal(t, []string{looking}, f.firedIDs(f.NextBlock()))
		require.Equal(t, append([]string{newcomer}, waiting[:waitingThen]...), seen)
	}
}

// TestAFallenWeightIsWrittenForAFewTimersABlock: one fire of an actor makes all its other timers outdated, which come first
// in the index. Whose turn it is does not depend on how many of them are written.
//
// Rule: 5.4-fallen-weights
func TestAFallenWeightIsWrittenForAFewTimersABlock(t *testing.T) {
	const crowded, admissions = 300, 160
	var counts *storecount.Counts
	f := newFixture(t, withConfig(stormy(8, admissions)), withConfig(func(c *types.TimerConfig) { c.LanePaused = true }), counted(&counts))
	first := f.schedule(robot, 3, f.noop(), bidding(stated("2.9", "0.9")))
	for range crowded {
		f.schedule(robot, 3, f.noop(), bidding(stated("2.5", "0.5")))
	}
	second := f.schedule(robot2, 3, f.noop(), bidding(stated("2.4", "0.4")))
	// All are admitted before the lane opens.
	f.blocksUntil(3)
	config := f.config()
	config.LanePaused = false
	f.run(f.replaces(config))
	f.NextBlock()
	require.Equal(t, []string{first}, f.firedIDs(f.NextBlock()))
	counts.Reset()
	require.Equal(t, []string{second}, f.firedIDs(f.endBlock()))
	block := counts.Take()
	require.Less(t, block.Gets, crowded, "each is met before the timer of the other actor, some dozens to a value")
	require.LessOrEqual(t, block.Writes(), 5*admissions+40)
}

// TestAHandlerChangesWhatItsBlockHasAdmitted: what a block has admitted is not yet written when its handlers run. They change
// and cancel it like any other timer.
//
// Rule: 5.4-admitted-written-once
func TestAHandlerChangesWhatItsBlockHasAdmitted(t *testing.T) {
	for _, failure := range []error{nil, errors.New("undone")} {
		f := newFixture(t, withConfig(stormy(2, 16)))
		var changed, cancelled, extended string
		first := f.schedule(robot, 3, f.script(func(ctx sdk.Context, _ types.Delivery) error {
			server := keeper.NewMsgServer(f.Timers)
			_, err := server.UpdateTimer(ctx, &types.MsgUpdateTimer{Sender: robot.String(), Id: changed, Spec: types.TimerSpec{Bid: stated("2.9", "0.85")}, Fields: []string{"bid"}})
			require.NoError(t, err)
			_, err = server.CancelTimer(ctx, &types.MsgCancelTimer{Sender: robot.String(), Id: cancelled})
			require.NoError(t, err)
			_, err = server.ExtendTimer(ctx, &types.MsgExtendTimer{Sender: robot.String(), Id: extended, ExpiresAt: 5_000})
			require.NoError(t, err)
			return failure
		}), bidding(stated("2.9", "0.9")), limited(250_000))
		unchanged := f.schedule(robot, 3, f.noop(), bidding(stated("2.9", "0.8")))
		cancelled = f.schedule(robot, 3, f.noop(), bidding(stated("2.9", "0.7")))
		extended = f.schedule(robot, 3, f.noop(), bidding(stated("2.9", "0.6")))
		changed = f.schedule(robot, 3, f.noop(), bidding(stated("2.9", "0.5")))
		f.blocksUntil(2)
		require.Equal(t, []string{first}, f.firedIDs(f.NextBlock()))
		want := []string{changed, unchanged, extended}
		if failure != nil {
			want = []string{unchanged, cancelled, extended, changed}
		}
		var fired []string
		for range want {
			fired = append(fired, f.firedIDs(f.NextBlock())...)
		}
		require.Equal(t, want, fired)
	}
}

// TestACrowdWithoutFundsIsNotIndexed: a block passes it over for the price of reading it, and a scan puts it on hold.
//
// Rule: 5.4-admitted-written-once, 5.4-passed-over
func TestACrowdWithoutFundsIsNotIndexed(t *testing.T) {
	const crowd, window, scan = 600, 80, 256
	var counts *storecount.Counts
	f := newFixture(t, withConfig(stormy(window, crowd)), withConfig(func(c *types.TimerConfig) { lab.SetRemovals(c, 1) }), counted(&counts))
	poor := sdk.AccAddress("poor________________")
	f.fund(poor, 1)
	f.grant(poor, robot, unlimited())
	for range crowd {
		f.schedule(robot, 3, f.noop(), bidding(stated("2.9", "0.9")), paidBy(poor))
	}
	f.blocksUntil(2)
	counts.Reset()
	require.Empty(t, eventsOf[*types.TimerHeld](f, f.endBlock()))
	block := counts.Take()
	require.LessOrEqual(t, block.Writes(), 10)
	held := 0
	for blocks := 0; held < crowd-blocks; blocks++ { // One is removed in each.
		require.Less(t, blocks, 4+crowd/scan)
		onHold := len(eventsOf[*types.TimerHeld](f, f.endBlock()))
		require.LessOrEqual(t, onHold, scan)
		block = counts.Take()
		require.LessOrEqual(t, block.Writes(), 2*onHold+20)
		held += onHold
	}
}

// TestAdmissionWritesNoRecords: a block that admits a crowd, and has room for few of it, writes far less than a value for each.
//
// Rule: 5.4-admitted-written-once
func TestAdmissionWritesNoRecords(t *testing.T) {
	const crowd, window = 400, 40
	var counts *storecount.Counts
	f := newFixture(t, withConfig(stormy(window, crowd)), counted(&counts))
	f.fund(robot, 10*rich)
	for range crowd {
		f.schedule(robot, 3, f.noop(), bidding(stated("2.9", "0.9")))
	}
	f.blocksUntil(2)
	counts.Reset()
	fired := len(f.firedIDs(f.endBlock()))
	admitted, err := f.query().Lane(f.Ctx(), &types.QueryLaneRequest{})
	require.NoError(t, err)
	require.EqualValues(t, crowd-fired, admitted.Admitted)
	require.Less(t, counts.Writes(), crowd/3+15*fired)
	require.NoError(t, f.Check())
}

// TestReadyIndex_IsMergedAndLeavesNothing: while timers are admitted and fire for many blocks, few values hold their entries,
// and none is left when no timer is.
//
// Rule: 2.3-ready-merged
func TestReadyIndex_IsMergedAndLeavesNothing(t *testing.T) {
	const crowd, window = 1_000, 40
	f := newFixture(t, withConfig(stormy(window, window/2)), withConfig(func(c *types.TimerConfig) {
		c.Policy, c.MaxFiresPerBlock = types.PolicyScore, window/4
	}))
	f.fund(robot, 10*rich)
	for range crowd {
		f.schedule(robot, 3, f.noop())
	}
	most := 0
	for f.total(robot) > 0 {
		f.endBlock()
		most = max(most, f.valuesOf(types.PrefixReady))
	}
	require.LessOrEqual(t, most, 24, "not merged, they would be in more")
	for blocks := 0; f.valuesOf(types.PrefixReady)+f.valuesOf(types.PrefixBounds) > 0; blocks++ {
		require.Less(t, blocks, 20)
		f.endBlock()
	}
}

// TestReadyIndex_IsLeftAloneByTransactions: who cancels, pauses, updates or extends an admitted timer pays as much as for one
// that is not due, and writes nothing to the index.
//
// Rule: 2.3-ready-lazy
func TestReadyIndex_IsLeftAloneByTransactions(t *testing.T) {
	f := newFixture(t, withConfig(stormy(2, 16)), withConfig(func(c *types.TimerConfig) { c.LanePaused = true }))
	var admitted []string
	for range 12 {
		admitted = append(admitted, f.schedule(robot, 3, f.noop(), bidding(stated("2.9", "0.9"))))
	}
	pending := make([]string, 3)
	for i := range pending {
		pending[i] = f.schedule(robot, 90, f.noop(), bidding(stated("2.9", "0.9")))
	}
	f.blocksUntil(4)
	before := f.export().Ready
	require.Len(t, before, len(admitted))
	for i, msg := range []func(id string) sdk.Msg{
		func(id string) sdk.Msg { return &types.MsgExtendTimer{Sender: robot.String(), Id: id, ExpiresAt: 500} },
		func(id string) sdk.Msg {
			return &types.MsgUpdateTimer{Sender: robot.String(), Id: id, Spec: types.TimerSpec{GasLimit: 90_000}, Fields: []string{"gas_limit"}}
		},
		func(id string) sdk.Msg { return &types.MsgPauseTimer{Sender: robot.String(), Id: id} },
		func(id string) sdk.Msg { return &types.MsgCancelTimer{Sender: robot.String(), Id: id} },
	} {
		require.InDelta(t, f.run(msg(pending[i%3])), f.run(msg(admitted[i])), 100, "%d", i)
	}
	require.Equal(t, before, f.export().Ready)
	f.NextBlock()
	require.Less(t, len(f.export().Ready), len(before), "what left is dropped by the end of a block")
}

// TestStorm_MeetsAnExpiredTimerOnce: the block that finds that more are ready than compete reads some of them twice. An expired
// one counts as one removal.
//
// Rule: 5.3-queue-next
func TestStorm_MeetsAnExpiredTimerOnce(t *testing.T) {
	const crowd, expired = 60, 20
	for _, policy := range lab.Policies(types.PolicyEIP1559, types.PolicyScore) {
		f := crowded(t, crowd, func(timer *types.Timer) {
			// At height 2 the window holds all that is ready. Some of that stays, and others become due.
			switch timer.Due = 2; {
			case timer.Seq > 30:
				timer.Due = 3
			case timer.Seq%3 > 0:
				timer.ExpiresAt = 2
			}
		}, withConfig(func(c *types.TimerConfig) { c.Policy, c.CandidateWindow, c.LanePaused = policy, 30, true }))
		f.blocksUntil(2)
		events := f.endBlock()
		require.True(t, eventsOf[*types.TimerLaneSummary](f, events)[0].Storm)
		require.Len(t, eventsOf[*types.TimerExpired](f, events), expired)
		require.Equal(t, uint64(expired*market.RemovalCycles), eventsOf[*types.TimerLaneSummary](f, events)[0].GcCycles)
		require.NoError(t, f.Check())
	}
}

// TestStorm_DropsExpiredEntriesWithinItsOverhead: a crowd with the best bids expires in the ready index, and the clean-up has
// room for one. The others leave the index while the overhead lasts, so that they are not read again before those that can fire.
//
// Rule: 1.6-overhead
func TestStorm_DropsExpiredEntriesWithinItsOverhead(t *testing.T) {
	const crowd, last = 1_500, 6
	f := crowded(t, crowd, func(timer *types.Timer) {
		timer.Due, timer.ExpiresAt, timer.Spec.Bid = 2, last, stated("2.9", "0.9")
	}, withConfig(expensive), withConfig(func(c *types.TimerConfig) {
		c.LanePaused = true
		lab.SetRemovals(c, 1)
	}))
	indexed := func() uint64 { return uint64(len(f.export().Ready)) }
	f.blocksUntil(last - 1)
	f.setConfig(func(c *types.TimerConfig) { c.LanePaused = false })
	f.blocksUntil(last)
	before := indexed()
	require.Equal(t, uint64(crowd), before)
	f.endBlock()
	dropped, config := before-indexed(), f.config()
	require.Greater(t, dropped, uint64(crowd/10))
	require.LessOrEqual(t, dropped*market.DropMet.Cycles, config.OverheadCyclesPerBlock)
	require.NoError(t, f.Check())
}

// TestReady_ListsMoreThanABlockTries: the order of the next block is shown whole, although a block reads fewer of it.
//
// Rule: 9.2-pages
func TestReady_ListsMoreThanABlockTries(t *testing.T) {
	const crowd = 400
	f := crowded(t, crowd, func(timer *types.Timer) { timer.Due = 2 }, withConfig(expensive), withConfig(func(c *types.TimerConfig) {
		c.LanePaused, c.CandidateWindow = true, 2
		lab.SetOverhead(c, market.Admit, 20)
	}))
	for f.Height() < 60 {
		f.endBlock()
	}
	seen := map[string]bool{}
	page := &sdkquery.PageRequest{Limit: 100}
	for {
		ready, err := f.query().Ready(f.Ctx(), &types.QueryReadyRequest{Pagination: page})
		require.NoError(t, err)
		for _, info := range ready.Timers {
			seen[info.Id] = true
		}
		if page = (&sdkquery.PageRequest{Limit: 100, Key: ready.Pagination.NextKey}); page.Key == nil {
			break
		}
	}
	require.Len(t, seen, crowd)
}
