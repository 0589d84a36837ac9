package keeper_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	corestore "cosmossdk.io/core/store"
	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/types/query"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
	"github.com/cosmos-timers/timers/x/timers/watch/condition"
)

// key reads what people write.
func (f *fixture) key(text string) types.WatchKey {
	f.t.Helper()
	key, err := f.Watcher.Parse(text)
	require.NoError(f.t, err)
	return key
}

// balanceOf is the whole key of a balance in the fee denom.
func (f *fixture) balanceOf(address sdk.AccAddress) types.WatchKey {
	return f.key("bank:balance:" + address.String() + ":" + f.FeeDenom)
}

func matched(key types.WatchKey) types.WatchedKey {
	return types.WatchedKey{Store: key.Store, Key: key.Prefix}
}

// watching makes a timer wait for changes, once.
func watching(keys ...types.WatchKey) func(*types.MsgScheduleTimer) {
	return func(msg *types.MsgScheduleTimer) {
		msg.Spec.Trigger = types.Trigger{Watch: &types.WatchTrigger{Keys: keys}}
		msg.Spec.Repeat = &types.Repeat{Remaining: 1}
	}
}

// times says how often a watch may fire.
func times(n uint64) func(*types.MsgScheduleTimer) {
	return func(msg *types.MsgScheduleTimer) { msg.Spec.Repeat = &types.Repeat{Remaining: n} }
}

func (f *fixture) send(from, to sdk.AccAddress, amount int64) *banktypes.MsgSend {
	return banktypes.NewMsgSend(from, to, f.coins(amount))
}

// Rule: 1.4-watch, 1.5-watching, 1.10-due-on-change, 1.10-watch-first-due, 1.10-matched-keys, 5-after-transactions
func TestATransferFiresWhoWatchesTheBalance(t *testing.T) {
	f := newFixture(t)
	var told []types.Delivery
	payload := f.script(func(_ sdk.Context, delivery types.Delivery) error {
		told = append(told, delivery)
		return nil
	})
	key := f.balanceOf(bob)
	id := f.schedule(robot, 0, payload, watching(key))
	info := f.timer(robot, id)
	require.Equal(t, types.PhaseWatching, info.Status.Phase)
	require.Equal(t, uint64(2), info.Status.Due, "the first block whose changes count")
	require.Equal(t, id, hex.EncodeToString(types.TimerID(robot, 2, nil, info.Status.Seq)))
	require.Empty(t, f.firedIDs(f.blocksUntil(9)), "nothing changes")

	f.run(f.send(alice, carol, 1))
	require.Empty(t, f.firedIDs(f.NextBlock()), "nor what it watches")
	f.run(f.send(alice, bob, 1))
	height := f.Height()
	events := f.NextBlock()
	require.Equal(t, []string{id}, f.firedIDs(events), "in the block whose transaction changed it")
	require.Zero(t, only[*types.TimerFired](f, events).Late)
	want := []types.WatchedKey{matched(key)}
	require.Equal(t, want, only[*types.TimerFired](f, events).Matched)
	require.Len(t, told, 1)
	require.Equal(t, want, told[0].Matched)
	receipts, err := f.query().Receipts(f.Ctx(), &types.QueryReceiptsRequest{Height: height})
	require.NoError(t, err)
	require.Equal(t, want, receipts.Receipts[0].Matched)

	require.Zero(t, f.total(robot), "it was one shot")
	f.run(f.send(alice, bob, 1))
	require.Empty(t, f.firedIDs(f.NextBlock()))
}

// Rule: 1.10-failed-transactions
func TestAFailedTransactionLeavesNoTrace(t *testing.T) {
	f := newFixture(t)
	f.schedule(robot, 0, f.noop(), watching(f.balanceOf(bob)))
	f.NextBlock()
	_, _, err := f.Tx(f.send(alice, bob, 1), f.send(alice, bob, rich))
	require.ErrorContains(t, err, "insufficient funds")
	require.Empty(t, f.firedIDs(f.NextBlock()))
	require.Empty(t, f.firedIDs(f.NextBlock()))

	// The failure of another does not undo it.
	f.run(f.send(alice, bob, 1))
	_, _, err = f.Tx(f.send(alice, bob, 1), f.send(alice, bob, rich))
	require.Error(t, err)
	require.Len(t, f.firedIDs(f.NextBlock()), 1)
}

// Rule: 1.4-not-in-its-block, 1.10-due-on-change
func TestAWatchCountsFromTheNextBlockOn(t *testing.T) {
	f := newFixture(t)
	f.run(f.send(alice, bob, 1))
	id := f.schedule(robot, 0, f.noop(), watching(f.balanceOf(bob)))
	f.run(f.send(alice, bob, 1))
	require.Empty(t, f.firedIDs(f.NextBlock()), "neither what came before it in its block nor what came after")
	require.Empty(t, f.firedIDs(f.NextBlock()))
	f.run(f.send(alice, bob, 1))
	require.Equal(t, []string{id}, f.firedIDs(f.NextBlock()))
}

// Rule: 1.10-one-fire, 1.10-matched-keys
func TestOneFireForManyChanges(t *testing.T) {
	f := newFixture(t)
	several := f.schedule(robot, 0, f.noop(), watching(f.balanceOf(carol), f.balanceOf(bob), f.key("bank:balances:"+bob.String())))
	all := f.schedule(robot2, 0, f.noop(), watching(f.key("bank:balances:"+alice.String())))
	f.NextBlock()
	coins := f.coins(1)
	for i := range 20 {
		coins = coins.Add(sdk.NewInt64Coin(fmt.Sprintf("other%d", i), 1))
	}
	require.NoError(t, f.Bank.MintCoins(f.Ctx(), "mint", coins))
	f.minted = f.minted.AddRaw(1)
	require.NoError(t, f.Bank.SendCoinsFromModuleToAccount(f.Ctx(), "mint", alice, coins))
	f.run(f.send(alice, bob, 1), f.send(alice, carol, 1))
	f.run(f.send(alice, bob, 1))
	events := eventsOf[*types.TimerFired](f, f.NextBlock())
	require.Len(t, events, 2)
	byID := map[string][]types.WatchedKey{events[0].Id: events[0].Matched, events[1].Id: events[1].Matched}
	require.ElementsMatch(t, []types.WatchedKey{matched(f.balanceOf(bob)), matched(f.balanceOf(carol))}, byID[several],
		"a key that matches twice is told once")
	require.Len(t, byID[all], int(market.MaxMatchedKeys), "no more than a delivery names")
}

// Rule: 1.5-leaves-by-last-fire, 1.10-remaining
func TestARepeatingWatchFiresSoManyTimes(t *testing.T) {
	f := newFixture(t)
	var seqs []uint32
	payload := f.script(func(_ sdk.Context, delivery types.Delivery) error {
		seqs = append(seqs, delivery.FireSeq)
		return errors.New("a failure is a fire")
	})
	id := f.schedule(robot, 0, payload, watching(f.balanceOf(bob)), times(3))
	for range 5 {
		f.NextBlock()
		f.run(f.send(alice, bob, 1))
	}
	f.NextBlock()
	require.Equal(t, []uint32{0, 1, 2}, seqs)
	f.refused(types.ErrTimerNotFound, &types.MsgCancelTimer{Sender: robot.String(), Id: id})

	// Without a number it continues until it expires.
	f.schedule(robot, 0, payload, watching(f.balanceOf(bob)), times(0), expiring(f.Height()+6))
	seqs = nil
	for range 12 {
		f.NextBlock()
		f.run(f.send(alice, bob, 1))
	}
	require.Len(t, seqs, 6)
	require.Zero(t, f.total(robot))
}

// Rule: 1.10-own-transfers
func TestATimerIsNotMadeDueByItsOwnFee(t *testing.T) {
	underEachDebit(t, func(t *testing.T, debits func(*lab.ChainOptions)) {
		t.Helper()
		f := newFixture(t, debits)
		id := f.schedule(robot, 0, f.noop(), watching(f.balanceOf(robot), f.balanceOf(robot2)), times(0))
		other := f.schedule(robot2, 0, f.noop(), watching(f.key("bank:supply:"+f.FeeDenom)), times(0))
		f.NextBlock()
		f.run(f.send(alice, robot, 1))
		require.Equal(t, []string{id}, f.firedIDs(f.NextBlock()))
		for range 5 {
			require.Empty(t, f.firedIDs(f.NextBlock()), "it was charged, and what it was charged was burned")
		}
		f.fund(alice, 1)
		require.Equal(t, []string{other}, f.firedIDs(f.NextBlock()))
		require.Empty(t, f.firedIDs(f.NextBlock()))
	})
}

// Rule: 1.10-handlers-next-block
func TestWhatAHandlerChangesCountsForTheNextBlock(t *testing.T) {
	f := newFixture(t)
	payload := f.script(func(ctx sdk.Context, _ types.Delivery) error { return f.Bank.SendCoins(ctx, robot, bob, f.coins(1)) })
	failing := f.script(func(ctx sdk.Context, _ types.Delivery) error {
		return errors.Join(f.Bank.SendCoins(ctx, robot, carol, f.coins(1)), errors.New("fails"))
	})
	watcher := f.schedule(robot2, 0, f.noop(), watching(f.balanceOf(bob)), times(0))
	f.schedule(robot2, 0, f.noop(), watching(f.balanceOf(carol)))
	acting := f.schedule(robot, 3, payload)
	failed := f.schedule(robot, 3, failing)
	require.Equal(t, []string{acting, failed}, f.firedIDs(f.blocksUntil(3)))
	events := f.NextBlock()
	require.Equal(t, []string{watcher}, f.firedIDs(events))
	require.Zero(t, only[*types.TimerFired](f, events).Late)
	require.Empty(t, f.firedIDs(f.NextBlock()))
}

func TestATimerThatChangesWhatItWatchesFiresBlockByBlock(t *testing.T) {
	f := newFixture(t)
	ran := 0
	payload := f.script(func(ctx sdk.Context, _ types.Delivery) error {
		ran++
		return f.Bank.SendCoins(ctx, robot, bob, f.coins(1))
	})
	f.schedule(robot, 0, payload, watching(f.balanceOf(bob)), times(4))
	f.NextBlock()
	f.run(f.send(alice, bob, 1))
	for want := 1; want <= 4; want++ {
		f.NextBlock()
		require.Equal(t, want, ran)
	}
	f.blocksUntil(20)
	require.Equal(t, 4, ran)
}

// Rule: 1.5-own-next-state
func TestAHandlerMayCancelItsOwnRepeatingWatch(t *testing.T) {
	f := newFixture(t)
	var id string
	payload := f.script(func(ctx sdk.Context, delivery types.Delivery) error {
		return f.Timers.Cancel(ctx, robot, delivery.TimerID)
	})
	id = f.schedule(robot, 0, payload, watching(f.balanceOf(bob)), times(0))
	f.NextBlock()
	f.run(f.send(alice, bob, 1))
	events := f.NextBlock()
	require.True(t, only[*types.TimerFired](f, events).Success)
	require.Equal(t, id, only[*types.TimerCancelled](f, events).Id)
	require.Zero(t, f.total(robot))
}

// Rule: 1.10-gathers
func TestChangesGatherWhileATimerWaitsForTheLane(t *testing.T) {
	f := newFixture(t)
	id := f.schedule(robot, 0, f.noop(), watching(f.balanceOf(bob), f.balanceOf(carol)), times(0))
	f.setConfig(func(c *types.TimerConfig) { c.LanePaused = true })
	f.NextBlock()
	for _, to := range []sdk.AccAddress{bob, carol, bob} {
		f.run(f.send(alice, to, 1))
		require.Empty(t, f.firedIDs(f.NextBlock()))
	}
	info := f.timer(robot, id)
	require.Equal(t, types.PhaseReady, info.Status.Phase)
	require.Equal(t, []types.WatchedKey{matched(f.balanceOf(bob)), matched(f.balanceOf(carol))}, info.Status.Matched)
	f.run(&types.MsgUpdateTimer{Sender: robot.String(), Id: id, Spec: types.TimerSpec{GasLimit: 60_000}, Fields: []string{"gas_limit"}})
	require.Equal(t, info.Status.Matched, f.timer(robot, id).Status.Matched, "what it will be told goes along with an update")
	f.setConfig(func(c *types.TimerConfig) { c.LanePaused = false })
	f.NextBlock()
	events := f.NextBlock()
	require.Equal(t, []string{id}, f.firedIDs(events), "one fire")
	require.Equal(t, info.Status.Matched, only[*types.TimerFired](f, events).Matched)
	require.Equal(t, uint64(4), only[*types.TimerFired](f, events).Late)
	require.Empty(t, f.firedIDs(f.NextBlock()))
}

// Rule: 3.2-id-stays
func TestAWatchCanBeUpdatedExtendedAndCancelled(t *testing.T) {
	f := newFixture(t)
	ids := make([]string, 4)
	for i := range ids {
		ids[i] = f.schedule(robot, 0, f.noop(), watching(f.balanceOf(bob), f.balanceOf(carol)), expiring(20))
	}
	f.NextBlock()
	f.run(&types.MsgUpdateTimer{Sender: robot.String(), Id: ids[0], Spec: types.TimerSpec{Call: types.TimerCall{Payload: f.noop()}}, Fields: []string{"call"}})
	f.run(&types.MsgExtendTimer{Sender: robot.String(), Id: ids[1], ExpiresAt: 30})
	f.run(&types.MsgCancelTimer{Sender: robot.String(), Id: ids[2]})
	f.run(&types.MsgSysCancelTimer{Authority: f.Authority, Actor: robot.String(), Id: ids[3]})
	require.Equal(t, types.PhaseWatching, f.timer(robot, ids[0]).Status.Phase)
	f.run(f.send(alice, bob, 1))
	require.Equal(t, []string{ids[1], ids[0]}, f.firedIDs(f.NextBlock()), "an update sends to the back of the block, and the trigger stays")
}

func TestWatchesExpire(t *testing.T) {
	const crowd = 40
	f := newFixture(t, withConfig(func(c *types.TimerConfig) { notifies(c, 4) }))
	config := f.config()
	sweep := max(1, lab.Overhead(&config).Left(market.VisitWaiting)/2)
	ids := map[string]bool{}
	for range crowd {
		ids[f.schedule(robot, 0, f.noop(), watching(f.balanceOf(carol)), expiring(5))] = true
	}
	longer := f.schedule(robot, 0, f.noop(), watching(f.balanceOf(bob)), expiring(5))
	f.run(&types.MsgExtendTimer{Sender: robot.String(), Id: longer, ExpiresAt: 40})
	require.Empty(t, eventsOf[*types.TimerExpired](f, f.blocksUntil(5)))
	f.run(f.send(alice, bob, 1), f.send(alice, carol, 1))
	events := f.NextBlock()
	require.Equal(t, []string{longer}, f.firedIDs(events), "what has expired does not fire")
	for blocks := 0; len(ids) > 0; blocks++ {
		require.LessOrEqual(t, blocks, 2*crowd/sweep)
		expired := eventsOf[*types.TimerExpired](f, events)
		require.LessOrEqual(t, len(expired), sweep, "the sweep is bounded")
		for _, event := range expired {
			require.True(t, ids[event.Id])
			delete(ids, event.Id)
		}
		events = f.NextBlock()
	}
	require.Zero(t, f.total(robot))
}

// A watch that leaves writes each of its keys: a crowd that expires at once must not make a long block of them.
//
// Rule: 5.3-keys-are-removals
func TestAWatchThatLeavesCountsItsKeys(t *testing.T) {
	const timers, keys, removals = 7, 3, 10
	f := newFixture(t, withConfig(func(c *types.TimerConfig) { lab.SetRemovals(c, removals) }))
	for range timers {
		f.schedule(robot, 0, f.noop(), watching(f.balanceOf(alice), f.balanceOf(bob), f.balanceOf(carol)), expiring(5))
	}
	f.blocksUntil(5)
	for left := timers; left > 0; left -= removals / keys {
		require.Len(t, eventsOf[*types.TimerExpired](f, f.NextBlock()), min(left, removals/keys))
	}
	require.Zero(t, f.total(robot))
}

// A watch of more keys than a block may remove leaves all the same, alone.
//
// Rule: 5.3-first-leaves
func TestAWatchOfManyKeysLeaves(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) { lab.SetRemovals(c, 1) }))
	for range 2 {
		f.schedule(robot, 0, f.noop(), watching(f.balanceOf(alice), f.balanceOf(bob)), expiring(5))
	}
	f.blocksUntil(5)
	require.Len(t, eventsOf[*types.TimerExpired](f, f.NextBlock()), 1)
	require.Len(t, eventsOf[*types.TimerExpired](f, f.NextBlock()), 1)
}

// Rule: 1.10-hits-bound, 1.10-rest-is-late, 1.10-lateness, 6-late
func TestFanOutIsBoundedAndNothingIsLost(t *testing.T) {
	const watchers, perBlock = 50, 8
	f := newFixture(t, withConfig(func(c *types.TimerConfig) {
		c.LaneTimerCycles = 50_000_000
		notifies(c, perBlock)
		c.CycleBasefee, c.CellBasefee = decimal.Of(math.LegacyZeroDec()), decimal.Of(math.LegacyZeroDec())
	}))
	for range watchers {
		f.schedule(robot, 0, f.noop(), watching(f.balanceOf(bob)))
	}
	f.NextBlock()
	f.run(f.send(alice, bob, 1))
	fired := 0
	for blocks := 0; fired < watchers; blocks++ {
		require.LessOrEqual(t, blocks, watchers/perBlock)
		events := f.NextBlock()
		now := eventsOf[*types.TimerFired](f, events)
		require.Len(t, now, min(perBlock, watchers-fired))
		for _, event := range now {
			require.EqualValues(t, blocks, event.Late, "lateness counts from the change")
			require.Equal(t, []types.WatchedKey{matched(f.balanceOf(bob))}, event.Matched)
		}
		fired += len(now)
		if blocks == 2 {
			// Who begins to watch while a round is on its way was not there when it changed.
			f.schedule(robot2, 0, f.noop(), watching(f.balanceOf(bob)))
		}
	}
	f.blocksUntil(f.Height() + 3)
	require.Zero(t, f.total(robot))
	require.Equal(t, uint32(1), f.total(robot2))
	require.Empty(t, f.export().WatchPending)
	require.Empty(t, f.export().WatchRounds)
}

func TestWatchAddedDuringARoundGetsLaterChangesOnly(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) { notifies(c, 1) }))
	give := func(denom string) types.WatchedKey {
		coins := sdk.NewCoins(sdk.NewInt64Coin(denom, 1))
		require.NoError(t, f.Bank.MintCoins(f.Ctx(), "mint", coins))
		require.NoError(t, f.Bank.SendCoinsFromModuleToAccount(f.Ctx(), "mint", bob, coins))
		return matched(f.key("bank:balance:" + bob.String() + ":" + denom))
	}
	prefix := f.key("bank:balances:" + bob.String())
	var ids []string
	for range 4 {
		ids = append(ids, f.schedule(robot, 0, f.noop(), watching(prefix)))
	}
	f.NextBlock()
	first := give("first")
	told := map[string][]types.WatchedKey{}
	block := func() {
		for _, event := range eventsOf[*types.TimerFired](f, f.NextBlock()) {
			told[event.Id] = event.Matched
		}
	}
	block()
	late := f.schedule(robot, 0, f.noop(), watching(prefix))
	block()
	second := give("second")
	for range 10 {
		block()
	}
	require.Len(t, told, 5)
	require.Equal(t, []types.WatchedKey{first}, told[ids[0]])
	require.Equal(t, []types.WatchedKey{first, second}, told[ids[3]])
	require.Equal(t, []types.WatchedKey{second}, told[late])
}

// Rule: 1.10-crowd-delays-itself
func TestFrequentlyChangedKeyIsFair(t *testing.T) {
	const watchers = 100
	f := newFixture(t, withConfig(func(c *types.TimerConfig) {
		c.LaneTimerCycles = 50_000_000
		notifies(c, 16)
		c.CycleBasefee, c.CellBasefee = decimal.Of(math.LegacyZeroDec()), decimal.Of(math.LegacyZeroDec())
	}))
	fires := map[string]int{}
	for range watchers {
		fires[f.schedule(robot, 0, f.noop(), watching(f.balanceOf(bob)), times(0))] = 0
	}
	quiet := f.schedule(robot2, 0, f.noop(), watching(f.balanceOf(carol)))
	f.NextBlock()
	waited := -1
	for block := range 60 {
		f.run(f.send(alice, bob, 1))
		if block == 20 {
			f.run(f.send(alice, carol, 1))
		}
		for _, id := range f.firedIDs(f.NextBlock()) {
			if id == quiet {
				waited = block - 20
				continue
			}
			fires[id]++
		}
	}
	require.Contains(t, []int{0, 1}, waited, "a prefix that everybody watches does not keep others waiting")
	least, most := 1_000, 0
	for _, n := range fires {
		least, most = min(least, n), max(most, n)
	}
	require.GreaterOrEqual(t, least, 60*14/watchers-1, "a key that changes in every block reaches all its watches")
	require.LessOrEqual(t, most-least, 2)
}

// Rule: 2.1-round-trip
func TestGenesisKeepsWhatIsPending(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) {
		c.LaneTimerCycles, c.MaxCyclesPerFire = 100_000, 100_000
		notifies(c, 8)
		c.CycleBasefee, c.CellBasefee = decimal.Of(math.LegacyZeroDec()), decimal.Of(math.LegacyZeroDec())
	}))
	noop := f.noop()
	for i := range 40 {
		f.schedule(crowdOwner(i%12), 0, noop, watching(f.balanceOf(bob)), limited(50_000))
		f.schedule(robot, 0, noop, watching(f.balanceOf(bob)), times(uint64(i)%3), expiring(20+uint64(i)), limited(50_000))
		f.schedule(robot2, 0, make([]byte, 600), watching(f.key("bank:balances:"+alice.String()), f.balanceOf(bob)), limited(50_000))
	}
	f.schedule(alice, 5, f.pays(alice, bob, 1), limited(100_000))
	f.NextBlock()
	f.run(f.send(alice, bob, 1))
	f.blocksUntil(4)
	f.run(f.send(alice, bob, 1))
	f.blocksUntil(10)
	f.run(f.send(alice, bob, 1))
	_, err := f.EndBlock()
	require.NoError(t, err)
	genesis := f.export()
	require.NoError(t, f.Timers.ValidateGenesis(genesis))
	require.NotEmpty(t, genesis.WatchPending)
	require.NotEmpty(t, genesis.WatchHits)
	require.True(t, slices.ContainsFunc(genesis.WatchRounds, func(p types.KeyWatchPending) bool { return p.Pending.Next != nil }))
	require.NotEmpty(t, genesis.WatchCursors.Turn.Store)
	require.NotEmpty(t, genesis.WatchCursors.Owner)

	g := imported(t, f, genesis)
	require.Equal(t, string(f.Codec.MustMarshalJSON(genesis)), string(f.Codec.MustMarshalJSON(g.export())))
	// What waits to be taken is a round or a pass of the other chain, which may deliver in another order while there is more than
	// fits. Nothing is lost.
	require.NoError(t, f.BeginBlock())
	fired := [2]map[string]bool{{}, {}}
	for block := range 60 {
		for i, chain := range []*fixture{f, g} {
			if block%7 == 3 {
				chain.run(chain.send(alice, bob, 1))
			}
			for _, id := range chain.firedIDs(chain.NextBlock()) {
				fired[i][id] = true
			}
			require.NoError(t, chain.Check())
		}
	}
	require.NotEmpty(t, fired[0])
	require.Equal(t, fired[0], fired[1])
	require.Empty(t, f.export().Timers)
	require.Empty(t, g.export().Timers)
}

// TestGenesisWithoutTurnsGoesOnWithWhatIsPending: the cursors of a genesis may say nothing of the changes that it holds.
func TestGenesisWithoutTurnsGoesOnWithWhatIsPending(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) {
		notifies(c, 1)
		c.CycleBasefee, c.CellBasefee = decimal.Of(math.LegacyZeroDec()), decimal.Of(math.LegacyZeroDec())
	}))
	watches := map[string]bool{}
	for i := range 8 {
		watches[f.schedule(crowdOwner(i/2), 0, f.noop(), watching(f.balanceOf(bob)), limited(50_000))] = true
	}
	f.NextBlock()
	f.run(f.send(alice, bob, 1))
	_, err := f.EndBlock()
	require.NoError(t, err)
	genesis := f.export()
	require.NotEmpty(t, genesis.WatchPending)
	require.NotEmpty(t, genesis.WatchRounds)
	for _, timer := range genesis.Timers {
		require.Contains(t, watches, timer.IDHex())
	}
	genesis.WatchCursors.Turn, genesis.WatchCursors.Owner = types.WatchKey{}, nil

	g := imported(t, f, genesis)
	require.NoError(t, g.Check())
	require.NoError(t, f.BeginBlock())
	for range 10 {
		for _, id := range g.firedIDs(g.NextBlock()) {
			delete(watches, id)
		}
	}
	require.Len(t, watches, 8-len(genesis.Timers))
	require.Empty(t, g.export().Timers)
}

func TestFailedStepKeepsWatchedChanges(t *testing.T) {
	fault := sound
	f := newFixture(t, faulty(&fault))
	id := f.schedule(robot, 0, f.noop(), watching(f.balanceOf(bob)))
	f.NextBlock()
	fault = func() error { return errors.New("closed") }
	f.run(f.send(alice, bob, 1))
	only[*types.TimerLaneFailed](f, f.NextBlock())
	only[*types.TimerLaneFailed](f, f.NextBlock())
	fault = sound
	events := f.NextBlock()
	require.Equal(t, []string{id}, f.firedIDs(events))
	require.Equal(t, []types.WatchedKey{matched(f.balanceOf(bob))}, only[*types.TimerFired](f, events).Matched)
}

func TestWatch_OnHoldWaitsOnOrFires(t *testing.T) {
	f := newFixture(t)
	f.quarantine()
	id := f.schedule(robot, 0, f.noop(), watching(f.balanceOf(bob)), times(0))
	heavy := f.schedule(robot2, 0, f.noop(), watching(f.balanceOf(bob)), limited(550_000))
	f.setConfig(func(c *types.TimerConfig) { c.MaxCyclesPerFire = 500_000 })
	f.NextBlock()
	f.run(f.send(alice, bob, 1))
	events := f.NextBlock()
	require.Len(t, eventsOf[*types.TimerHeld](f, events), 2)
	f.Bank.ClearSendRestriction()
	f.run(f.send(alice, bob, 1))
	require.Empty(t, f.firedIDs(f.NextBlock()))

	f.run(&types.MsgSysReleaseTimer{Authority: f.Authority, Actor: robot.String(), Id: id})
	f.setConfig(func(c *types.TimerConfig) { c.MaxCyclesPerFire = 550_000 })
	f.NextBlock()
	require.Equal(t, []string{heavy, id}, f.firedIDs(f.NextBlock()),
		"they had been made due: released, they fire, the one that returned by itself late since then")
	require.Equal(t, types.PhaseWatching, f.timer(robot, id).Status.Phase)
}

// Rule: 1.5-untriggered-watch-returns
func TestAWatchThatIsReleasedWithoutAChangeWaitsOn(t *testing.T) {
	f := newFixture(t, func(opts *lab.ChainOptions) {
		timer := types.Timer{
			Actor: robot, GasLimit: gas, ExpiresAt: 100, Seq: 1, Due: 1, HoldReason: types.Quarantined,
			Id:   types.TimerID(robot, 1, []byte("noop"), 1),
			Spec: types.TimerSpec{Call: types.TimerCall{Payload: []byte("noop")}},
		}
		prefix := append([]byte{2, 20}, bob...)
		timer.Spec.Trigger.Watch = &types.WatchTrigger{Keys: []types.WatchKey{{Store: "bank", Prefix: prefix}}}
		timer.Spec.Repeat = &types.Repeat{Remaining: 1}
		opts.Genesis.Timers, opts.Genesis.NextSeq = []types.Timer{timer}, 2
	})
	f.robots.scripts["noop"] = func(sdk.Context, types.Delivery) error { return nil }
	id := hex.EncodeToString(types.TimerID(robot, 1, []byte("noop"), 1))
	f.run(f.send(alice, bob, 1))
	require.Empty(t, f.firedIDs(f.NextBlock()))
	f.run(&types.MsgSysReleaseTimer{Authority: f.Authority, Actor: robot.String(), Id: id})
	require.Equal(t, types.PhaseWatching, f.timer(robot, id).Status.Phase)
	require.Empty(t, f.firedIDs(f.NextBlock()))
	f.run(f.send(alice, bob, 1))
	require.Equal(t, []string{id}, f.firedIDs(f.NextBlock()))
}

func TestAWatchWhosePayerIsPoorLeaves(t *testing.T) {
	f := newFixture(t)
	poor := sdk.AccAddress("robot_poor__________")
	f.fund(poor, 10)
	id := f.schedule(poor, 0, f.noop(), watching(f.balanceOf(bob)), times(0))
	f.NextBlock()
	f.run(f.send(alice, bob, 1))
	require.Equal(t, id, only[*types.TimerCancelledInsufficientFunds](f, f.NextBlock()).Id)
	require.Zero(t, f.total(poor))
}

// Rule: 1.10-keys-bound, 1.10-key-forms, 3.1-trigger-errors
func TestWatchesThatAreRefused(t *testing.T) {
	f := newFixture(t)
	key := f.balanceOf(bob)
	many := make([]types.WatchKey, 9)
	for i := range many {
		many[i] = f.balanceOf(sdk.AccAddress(fmt.Sprintf("account_____________%d", i))[:20])
		many[i].Prefix[5] += byte(i)
	}
	for name, c := range map[string]struct {
		keys []types.WatchKey
		want error
		says string
	}{
		"nothing":            {nil, types.ErrInvalidWatch, "0 keys, want 1 to 8"},
		"too much":           {many, types.ErrInvalidWatch, "9 keys, want 1 to 8"},
		"twice":              {[]types.WatchKey{key, key}, types.ErrInvalidWatch, "stated twice"},
		"no store":           {[]types.WatchKey{{Prefix: []byte{2}}}, types.ErrInvalidWatch, "not the name of a store"},
		"a store with a nul": {[]types.WatchKey{{Store: "bank\x00", Prefix: []byte{2}}}, types.ErrInvalidWatch, "not the name of a store"},
		"no prefix":          {[]types.WatchKey{{Store: "bank"}}, types.ErrInvalidWatch, "a prefix of 0 bytes in store \"bank\", want 1 to 255"},
		"too long":           {[]types.WatchKey{{Store: "bank", Prefix: make([]byte, 256)}}, types.ErrInvalidWatch, "256 bytes"},
		"another store":      {[]types.WatchKey{{Store: "gov", Prefix: []byte{2}}}, types.ErrNotWatchable, `store "gov"; watchable: bank`},
		"no form": {
			[]types.WatchKey{key, {Store: "bank", Prefix: []byte{2}}},
			types.ErrNotWatchable,
			"02 is neither a key of store bank nor a prefix of a form: want bank:balances:ADDRESS, bank:balance:ADDRESS:DENOM, bank:supply:DENOM",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := f.Tx(scheduleMsg(robot, 0, f.noop(), watching(c.keys...)))
			require.ErrorIs(t, err, c.want)
			require.ErrorContains(t, err, c.says)
		})
	}
	_, _, err := f.Tx(scheduleMsg(robot, 5, f.noop(), watching(key), func(msg *types.MsgScheduleTimer) { msg.Spec.Trigger.Height = 5 }))
	require.ErrorIs(t, err, types.ErrUnsupportedTimerType)

	unwatched := newFixture(t, func(opts *lab.ChainOptions) { opts.Unwatched = true })
	_, _, err = unwatched.Tx(scheduleMsg(robot, 0, unwatched.noop(), watching(key)))
	require.ErrorIs(t, err, types.ErrNotWatchable)
	require.ErrorContains(t, err, "this chain makes no store watchable")
}

// TestGasDoesNotDependOnWhoWatches: to the unit, for every transaction of bank's.
//
// Rule: 1.10-gas-independent
func TestGasDoesNotDependOnWhoWatches(t *testing.T) {
	newcomer := sdk.AccAddress("newcomer____________")
	use := func(watchers int, changes ...func(*lab.ChainOptions)) []uint64 {
		f := newFixture(t, append(changes, func(opts *lab.ChainOptions) { opts.Genesis.Config.LanePaused = true })...)
		for i := range watchers {
			keys := []types.WatchKey{f.balanceOf(alice), f.balanceOf(bob), f.key("bank:balances:" + newcomer.String())}
			f.schedule(robot, 0, f.noop(), watching(keys[:1+i%3]...), times(0))
		}
		f.NextBlock()
		used := []uint64{f.run(f.send(alice, bob, 1)), f.run(f.send(alice, newcomer, 5)), f.run(f.send(newcomer, alice, 5))}
		_, failed, err := f.Tx(f.send(alice, bob, 2*rich))
		require.Error(t, err)
		f.NextBlock()
		return append(used, failed, f.run(f.send(bob, alice, 1)))
	}
	want := use(0, func(opts *lab.ChainOptions) { opts.Unwatched = true })
	for _, watchers := range []int{0, 1, 20} {
		require.Equal(t, want, use(watchers), "%d watchers", watchers)
	}
}

func TestWatchQueries(t *testing.T) {
	f := newFixture(t)
	first := f.schedule(robot, 0, f.noop(), watching(f.balanceOf(bob), f.balanceOf(carol)), times(7), expiring(50))
	second := f.schedule(robot2, 0, f.noop(), watching(f.balanceOf(bob)))
	f.schedule(robot2, 9, f.noop())
	f.NextBlock()
	list := func(req *types.QueryWatchesRequest) *types.QueryWatchesResponse {
		response, err := f.query().Watches(f.Ctx(), req)
		require.NoError(t, err)
		return response
	}
	byBob := list(&types.QueryWatchesRequest{Store: "bank", Prefix: f.balanceOf(bob).Prefix}).Watches
	require.ElementsMatch(t, []types.WatchInfo{
		{
			Key: f.balanceOf(bob), Actor: robot.String(), TimerId: first, Phase: types.PhaseWatching, Remaining: 7, ExpiresAt: 50,
		},
		{
			Key: f.balanceOf(bob), Actor: robot2.String(), TimerId: second, Phase: types.PhaseWatching, Remaining: 1,
			ExpiresAt: 1 + f.config().MaxTtlBlocks,
		},
	}, byBob)
	require.Len(t, list(&types.QueryWatchesRequest{Store: "bank"}).Watches, 3)
	require.Empty(t, list(&types.QueryWatchesRequest{Store: "staking"}).Watches)
	require.Len(t, list(&types.QueryWatchesRequest{Actor: robot.String()}).Watches, 2)
	require.Len(t, list(&types.QueryWatchesRequest{Actor: robot2.String()}).Watches, 1)
	require.Empty(t, list(&types.QueryWatchesRequest{Actor: alice.String()}).Watches)

	// Page by page it is the same list.
	var paged []types.WatchInfo
	req := &types.QueryWatchesRequest{Store: "bank", Pagination: &query.PageRequest{Limit: 1}}
	for {
		response := list(req)
		paged = append(paged, response.Watches...)
		if len(response.Pagination.NextKey) == 0 {
			break
		}
		req.Pagination.Key = response.Pagination.NextKey
	}
	require.Equal(t, list(&types.QueryWatchesRequest{Store: "bank"}).Watches, paged)

	for _, bad := range []*types.QueryWatchesRequest{
		nil,
		{},
		{Store: "bank", Actor: robot.String()},
		{Actor: "nobody"},
		{Actor: robot.String(), Prefix: []byte{1}},
		{Store: "bank", Prefix: make([]byte, 256)},
		{Store: "a\x00b"},
		{Store: "bank", Pagination: &query.PageRequest{Key: []byte("short")}},
	} {
		_, err := f.query().Watches(f.Ctx(), bad)
		require.Error(t, err, "%v", bad)
	}

	watchable, err := f.query().Watchable(f.Ctx(), &types.QueryWatchableRequest{})
	require.NoError(t, err)
	require.Len(t, watchable.Stores, 1)
	require.Equal(t, "bank:balance:ADDRESS:DENOM", watchable.Stores[0].Forms[1].Usage)
	key, err := f.query().WatchKey(f.Ctx(), &types.QueryWatchKeyRequest{Text: "bank:balance:" + bob.String() + ":" + f.FeeDenom})
	require.NoError(t, err)
	require.Equal(t, f.balanceOf(bob), key.Key)
	_, err = f.query().WatchKey(f.Ctx(), nil)
	require.Error(t, err)
}

func TestNothingIsLeftBehindWhenWatchesAreGone(t *testing.T) {
	var service corestore.KVStoreService
	f := newFixture(t, withConfig(func(c *types.TimerConfig) {
		c.ReceiptRetentionBlocks = 0
		notifies(c, 5)
	}),
		func(opts *lab.ChainOptions) {
			opts.WrapStore = func(s corestore.KVStoreService) corestore.KVStoreService { service = s; return s }
		})
	for i := range 60 {
		id := f.schedule(robot, 0, make([]byte, 20*i), watching(f.balanceOf(bob), f.key("bank:balances:"+bob.String()), f.balanceOf(carol)),
			times(uint64(i)%3), expiring(12))
		switch i % 5 {
		case 0:
			f.run(&types.MsgCancelTimer{Sender: robot.String(), Id: id})
		case 1:
			f.run(&types.MsgUpdateTimer{Sender: robot.String(), Id: id, Spec: types.TimerSpec{Call: types.TimerCall{Payload: make([]byte, 1_000-16*i)}}, Fields: []string{"call"}})
		case 2:
			f.run(&types.MsgExtendTimer{Sender: robot.String(), Id: id, ExpiresAt: 10 + uint64(i)%4})
		}
	}
	for f.Height() < 100 {
		f.NextBlock()
		if f.Height() < 15 {
			f.run(f.send(alice, bob, 1), f.send(alice, carol, 1))
		}
	}
	require.Zero(t, f.total(robot))
	require.Equal(t, [][]byte{
		types.PrefixConfig.Bytes(), types.PrefixSeq.Bytes(), types.PrefixLane.Bytes(),
	}, keysLeft(f, service))
}

// TestCursorsAreClampedForTriggeredWatches: a genesis file may say that the lane has read further than its height.
func TestCursorsAreClampedForTriggeredWatches(t *testing.T) {
	f := newFixture(t, func(opts *lab.ChainOptions) {
		opts.Genesis.Lane.LiveCursor, opts.Genesis.Lane.HeadCursor = types.QueueKey{Due: 60}, types.QueueKey{Due: 50}
	})
	f.NextBlock()
	watch := f.schedule(robot, 0, f.noop(), watching(f.balanceOf(bob)))
	timer := f.schedule(robot, 4, f.noop())
	f.NextBlock()
	f.run(f.send(alice, bob, 1))
	require.Equal(t, []string{watch, timer}, f.firedIDs(f.blocksUntil(4)))
}

// What a condition is now is told with the key, so that one that is true already is not waited for in vain.
func TestWatchKeyTellsWhetherItsConditionHolds(t *testing.T) {
	f := newFixture(t)
	ask := func(op types.ConditionOp, value string) (*types.QueryWatchKeyResponse, error) {
		return f.query().WatchKey(f.Ctx(), &types.QueryWatchKeyRequest{
			Text: "bank:balance:" + bob.String() + ":" + f.FeeDenom, When: &types.WatchCondition{Op: op, Value: value},
		})
	}
	for op, want := range map[condition.Op]bool{condition.Greater: true, condition.Less: false, condition.Equal: false} {
		answer, err := ask(types.ConditionOp(op), "1")
		require.NoError(t, err)
		require.Equal(t, want, answer.Holds, "%s 1", op)
		require.Equal(t, "1", answer.Key.When.Value)
	}
	for _, bad := range []string{"", "many"} {
		_, err := ask(types.ConditionOp(condition.Less), bad)
		require.ErrorContains(t, err, "code = InvalidArgument")
	}
}
