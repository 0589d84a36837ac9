package keeper_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	corestore "cosmossdk.io/core/store"
	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// faulty is a policy in the order of the queue whose blocks do not open while fault fails.
func faulty(fault *func() error) func(*lab.ChainOptions) {
	return withBroken(&brokenPolicy{open: func(rules market.Rules) (market.Rules, error) { return rules, (*fault)() }})
}

func sound() error { return nil }

func (f *fixture) export() *types.GenesisState {
	f.t.Helper()
	genesis, err := f.Timers.ExportGenesis(f.Ctx())
	require.NoError(f.t, err)
	return genesis
}

// Rule: 5.5-whole-step, 5.5-never-an-error, 6-lane-failed
func TestFailedStepIsRolledBack(t *testing.T) {
	for name, fault := range map[string]struct {
		code uint32
		run  func() error
	}{
		"registered error": {types.ErrInternal.ABCICode(), func() error { return types.ErrInternal }},
		"error":            {1, func() error { return errors.New("closed today") }},
		"panic":            {types.ErrPanicked.ABCICode(), func() error { panic("closed today") }},
	} {
		t.Run(name, func(t *testing.T) {
			now := sound
			f := newFixture(t, faulty(&now), withConfig(plain))
			live := f.schedule(robot, 2, f.noop())
			f.schedule(robot, 2, f.noop(), expiring(2))
			f.NextBlock()
			before := f.export()
			now = fault.run
			for height := uint64(2); height < 5; height++ {
				events := f.NextBlock()
				require.Equal(t, height, only[*types.TimerLaneFailed](f, events).Height)
				require.Equal(t, fault.code, only[*types.TimerLaneFailed](f, events).Code)
				require.Empty(t, eventsOf[*types.TimerLaneSummary](f, events))
				require.Empty(t, f.firedIDs(events))
				require.Empty(t, eventsOf[*types.TimerExpired](f, events))
				require.Equal(t, before, f.export())
			}
			// Transactions went on meanwhile, and so does the lane now.
			f.schedule(robot, 9, f.noop())
			now = sound
			events := f.NextBlock()
			require.Equal(t, []string{live}, f.firedIDs(events))
			require.Len(t, eventsOf[*types.TimerExpired](f, events), 1)
			require.Equal(t, int64(rich-20_000), f.balance(robot))
		})
	}
}

// brittle is a store that fails when told to.
type brittle struct {
	corestore.KVStoreService
	broken *bool
}

type brittleStore struct{ corestore.KVStore }

func (s brittle) OpenKVStore(ctx context.Context) corestore.KVStore {
	store := s.KVStoreService.OpenKVStore(ctx)
	if *s.broken {
		return brittleStore{store}
	}
	return store
}

func (brittleStore) Set([]byte, []byte) error { return errors.New("the disk is full") }

// Rule: 4-failed-step, 5.5-never-an-error
func TestABlockGoesOnWithoutAStoreToWriteTo(t *testing.T) {
	broken := false
	f := newFixture(t, func(opts *lab.ChainOptions) {
		opts.WrapStore = func(service corestore.KVStoreService) corestore.KVStoreService { return brittle{service, &broken} }
	})
	id := f.schedule(robot, 2, f.noop())
	f.NextBlock()
	f.setConfig(func(c *types.TimerConfig) { c.LanePaused = true })
	broken = true
	events, err := f.EndBlock()
	require.NoError(t, err)
	only[*types.TimerLaneFailed](f, events)
	require.NoError(t, f.BeginBlock(), "a config that can't be adopted does not halt the chain")
	only[*types.TimerLaneFailed](f, f.Ctx().EventManager().Events())
	broken = false
	require.Equal(t, []string{id}, f.firedIDs(f.NextBlock()), "the old config is in force")
	require.True(t, f.config().LanePaused, "now it could be adopted")
}

// quarantine makes the module's account unreachable for the robot, so that its timers can't be charged.
func (f *fixture) quarantine() {
	module := authtypes.NewModuleAddress(types.ModuleName)
	f.Bank.AppendSendRestriction(func(_ context.Context, from, to sdk.AccAddress, _ sdk.Coins) (sdk.AccAddress, error) {
		if from.Equals(robot) && to.Equals(module) {
			return to, types.ErrInternal.Wrap("restricted")
		}
		return to, nil
	})
}

// Rule: 1.5-quarantined, 3.7-release, 5.5-one-timer, 6-on-hold
func TestAQuarantinedTimerIsKeptAndNotRetried(t *testing.T) {
	f := newFixture(t)
	f.quarantine()
	bad := f.schedule(robot, 2, f.noop())
	good := f.schedule(robot2, 2, f.noop())
	events := f.blocksUntil(2)
	require.Equal(t, []string{good}, f.firedIDs(events))
	require.Equal(t, types.TimerHeld{
		Id: bad, Actor: robot.String(), Reason: types.Quarantined, Codespace: types.ModuleName, Code: types.ErrInternal.ABCICode(),
	}, *only[*types.TimerHeld](f, events))
	require.Equal(t, types.PhaseOnHold, f.timer(robot, bad).Status.Phase)
	require.Equal(t, types.Quarantined, f.timer(robot, bad).Status.HoldReason)

	f.Bank.ClearSendRestriction()
	events = f.blocksUntil(20)
	require.Empty(t, f.firedIDs(events), "the cause is gone, but only the authority releases it")
	require.Empty(t, eventsOf[*types.TimerReleased](f, events))

	f.run(&types.MsgUpdateTimer{Sender: robot.String(), Id: bad, Spec: types.TimerSpec{GasLimit: 60_000}, Fields: []string{"gas_limit"}})
	f.run(&types.MsgExtendTimer{Sender: robot.String(), Id: bad, ExpiresAt: 1_000})
	require.Equal(t, types.Quarantined, f.timer(robot, bad).Status.HoldReason, "its owner may change it, but not release it")
	f.run(&types.MsgSysReleaseTimer{Authority: f.Authority, Actor: robot.String(), Id: bad})
	f.refused(types.ErrNotQuarantined, &types.MsgSysReleaseTimer{Authority: f.Authority, Actor: robot.String(), Id: bad})
	events = f.NextBlock()
	require.Equal(t, types.TimerReleased{Id: bad, Actor: robot.String(), Reason: types.Quarantined, Due: f.Height()}, *only[*types.TimerReleased](f, events))
	require.Empty(t, f.firedIDs(events), "it is due in the next block")
	require.Equal(t, []string{bad}, f.firedIDs(f.NextBlock()))
}

// Rule: 1.5-ttl-goes-on
func TestAQuarantinedTimerLeavesByItsTTLOrBeingCancelled(t *testing.T) {
	f := newFixture(t)
	f.quarantine()
	ids := make([]string, 3)
	for i := range ids {
		ids[i] = f.schedule(robot, 2, make([]byte, 1_000), expiring(5))
	}
	f.blocksUntil(2)
	response, err := f.query().OnHold(f.Ctx(), &types.QueryOnHoldRequest{})
	require.NoError(t, err)
	require.Len(t, response.Timers, 3)
	f.run(&types.MsgCancelTimer{Sender: robot.String(), Id: ids[0]})
	f.run(&types.MsgSysCancelTimer{Authority: f.Authority, Actor: robot.String(), Id: ids[1]})
	require.Empty(t, eventsOf[*types.TimerExpired](f, f.blocksUntil(5)))
	require.Equal(t, ids[2], only[*types.TimerExpired](f, f.blocksUntil(6)).Id)
	require.Zero(t, f.total(robot))
}

// refusing is a store that takes no change of the owner index's entries with a key, or keeps what has a prefix.
type refusing struct {
	corestore.KVStoreService
	key, kept []byte
}

type refusingStore struct {
	corestore.KVStore
	key, kept []byte
}

func (r *refusing) OpenKVStore(ctx context.Context) corestore.KVStore {
	return refusingStore{r.KVStoreService.OpenKVStore(ctx), r.key, r.kept}
}

func (r refusingStore) Delete(key []byte) error {
	if len(r.kept) > 0 && bytes.HasPrefix(key, r.kept) {
		return errors.New("refused")
	}
	return r.KVStore.Delete(key)
}

func (r refusingStore) Set(key, value []byte) error {
	if at := bytes.LastIndex(value, r.key); len(r.key) > 0 && at >= 0 && at+len(r.key)+8 >= len(value) {
		return errors.New("refused")
	}
	return r.KVStore.Set(key, value)
}

// refuse makes a fixture whose store can refuse changes of the owner index.
func refuse(t *testing.T, changes ...func(*lab.ChainOptions)) (*fixture, *refusing) {
	t.Helper()
	store := &refusing{}
	return newFixture(t, append(changes, func(opts *lab.ChainOptions) {
		opts.WrapStore = func(of corestore.KVStoreService) corestore.KVStoreService {
			store.KVStoreService = of
			return store
		}
	})...), store
}

// refuseOf refuses changes of an actor's entries.
func (r *refusing) refuseOf(actor sdk.AccAddress) {
	hash := sha256.Sum256(actor)
	r.key = hash[:10]
}

// TestLane_StopsWhereTheStoreRefuses: what a block's steps have changed is written at its end. If the store refuses that, all of
// it is dropped, and the chain continues; when the store takes it again, so do the timers.
//
// Rule: 5.1-maintain
func TestLane_StopsWhereTheStoreRefuses(t *testing.T) {
	f, store := refuse(t)
	f.schedule(robot, 5, f.noop(), every(2, 0))
	f.blocksUntil(6)
	store.refuseOf(robot)
	events := f.endBlock()
	require.Len(t, eventsOf[*types.TimerLaneFailed](f, events), 1)
	require.Empty(t, f.firedIDs(events))
	require.NoError(t, f.Check())
	store.key = nil
	require.Len(t, f.firedIDs(f.NextBlock()), 1)
	require.NoError(t, f.Check())
}

// Handlers find what earlier fires of their block have left, although that is written later, and so does what comes after a
// fire that is undone.
//
// Rule: 2.2-one-record, 2.3-session
func TestHandlersFindWhatTheBlockHasLeft(t *testing.T) {
	f, store := refuse(t)
	f.setConfig(func(c *types.TimerConfig) { c.LaneTimerCycles, c.LaneTimerCells = 100_000_000, 100_000_000 })
	// What is undone is the fire that fills a batch, and so has written it.
	const timers, undone = 150, 63
	var fired []types.Delivery
	var left []int
	look := func(ctx sdk.Context, d types.Delivery) error {
		live, err := f.Timers.TimersOf(ctx.WithGasMeter(storetypes.NewInfiniteGasMeter()), d.Actor)
		require.NoError(t, err)
		left, fired = append(left, len(live)), append(fired, d)
		require.ErrorIs(t, f.Timers.Cancel(ctx, d.Actor, fired[0].TimerID), types.ErrTimerNotFound)
		return nil
	}
	// One has a long payload, which can't be removed after its fire.
	long := make([]byte, types.InlinePayloadBytes+1)
	f.robots.scripts[string(long)] = look
	var kept string
	for i := range timers {
		payload := f.script(look)
		if i == undone {
			payload = long
		}
		if id := f.schedule(robot, 3, payload, limited(200_000)); i == undone {
			kept = id
		}
	}
	f.blocksUntil(2)
	store.kept = types.PrefixPayloads.Bytes()
	events := f.NextBlock()
	require.Len(t, f.firedIDs(events), timers, "the one that is undone is charged")
	want := make([]int, timers)
	for i := range want {
		want[i] = timers - 1 - i
		if i > undone {
			want[i]++
		}
	}
	require.Equal(t, want, left)
	require.Equal(t, kept, only[*types.TimerHeld](f, events).Id)
	require.Equal(t, uint32(1), f.total(robot))
}

// A handler finds what its block has put on hold where it is now, and can change it.
//
// Rule: 2.2-one-record, 2.3-session
func TestHandlers_FindWhatTheBlockHasOnHold(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) { lab.SetRemovals(c, 1) }))
	poor := sdk.AccAddress("poor________________")
	f.fund(poor, 1)
	f.grant(poor, robot, unlimited())
	// More than are written at once. One more is removed.
	const lacking = 70
	var first, last []byte
	var onHold int
	look := f.script(func(ctx sdk.Context, d types.Delivery) error {
		live, err := f.Timers.TimersOf(ctx.WithGasMeter(storetypes.NewInfiniteGasMeter()), d.Actor)
		require.NoError(t, err)
		for i := range live {
			if live[i].HoldReason == types.Unfunded {
				onHold++
			}
		}
		first, last = live[0].Id, live[len(live)-1].Id
		require.NoError(t, f.Timers.Cancel(ctx, d.Actor, first))
		return f.Timers.Cancel(ctx, d.Actor, last)
	})
	for range lacking + 1 {
		f.schedule(robot, 3, f.noop(), bidding(stated("2.9", "0.9")), paidBy(poor))
	}
	looking := f.schedule(robot, 3, look, limited(500_000))
	f.blocksUntil(2)
	require.Equal(t, []string{looking}, f.firedIDs(f.NextBlock()))
	require.Equal(t, lacking, onHold)
	require.Equal(t, uint32(lacking-2), f.total(robot))
	f.fund(poor, rich)
	require.Len(t, f.firedIDs(f.blocksUntil(9)), lacking-2)
}

// TestOnHold_StrangersThatArePausedDelayNobody: who waits for its owner is not looked at before who may return by itself.
//
// Rule: 1.5-asleep
func TestOnHold_StrangersThatArePausedDelayNobody(t *testing.T) {
	const strangers = 2_000
	f := newFixture(t, withConfig(func(c *types.TimerConfig) {
		lab.SetOverhead(c, market.VisitHeld, 40)
		lab.SetRemovals(c, 1)
	}))
	var expires string
	for i := range strangers {
		owner := crowdOwner(i / 100)
		if i%100 == 0 {
			f.fund(owner, rich)
		}
		id := f.schedule(owner, 100, f.noop(), expiring(150))
		f.run(&types.MsgPauseTimer{Sender: owner.String(), Id: id})
		if i == strangers-1 {
			expires = id
		}
	}
	poor := sdk.AccAddress("poor________________")
	f.fund(poor, 1)
	id := f.schedule(robot2, f.Height()+1, f.noop(), paidBy(robot2), bidding(stated("2.9", "0.9")))
	f.grant(poor, robot, unlimited())
	f.schedule(robot, f.Height()+1, f.noop(), bidding(stated("2.9", "0.9")), paidBy(poor))
	waits := f.schedule(robot, f.Height()+1, f.noop(), bidding(stated("2.9", "0.9")), paidBy(poor))
	f.NextBlock()
	require.Contains(t, f.firedIDs(f.NextBlock()), id)
	require.Equal(t, types.Unfunded, f.timer(robot, waits).Status.HoldReason)
	f.fund(poor, rich)
	require.Contains(t, f.firedIDs(f.blocksUntil(f.Height()+1)), waits, "within two blocks")
	require.Equal(t, types.Paused, f.timer(crowdOwner((strangers-1)/100), expires).Status.HoldReason)
	f.blocksUntil(150 + 5*strangers/40)
	require.Less(t, f.total(crowdOwner(0)), uint32(100), "those asleep expire, by their ends, some in each block")
}

// What the block has put on hold stays, where a handler that has looked at it fails.
//
// Rule: 2.3-session
func TestHandlers_ThatFailLeaveOnHoldWhatTheBlockPutThere(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) { lab.SetRemovals(c, 1) }))
	poor := sdk.AccAddress("poor________________")
	f.fund(poor, 1)
	f.grant(poor, robot, unlimited())
	const lacking = 10
	onHold := 0
	look := f.script(func(ctx sdk.Context, d types.Delivery) error {
		live, err := f.Timers.TimersOf(ctx.WithGasMeter(storetypes.NewInfiniteGasMeter()), d.Actor)
		require.NoError(t, err)
		onHold = len(live)
		return types.ErrInternal
	})
	for range lacking + 1 {
		f.schedule(robot, 3, f.noop(), bidding(stated("2.9", "0.9")), paidBy(poor))
	}
	f.schedule(robot, 3, look, limited(500_000))
	f.blocksUntil(3)
	require.Equal(t, lacking, onHold)
	require.Equal(t, uint32(lacking), f.total(robot))
	f.fund(poor, rich)
	require.Len(t, f.firedIDs(f.blocksUntil(9)), lacking)
}

// What the steps of a block change is written together. If that fails, nothing of the block is lost.
//
// Rule: 2.2-one-record
func TestChangesThatCannotBeWrittenFailTheStep(t *testing.T) {
	shrunk := func(gas uint64) func(*types.TimerConfig) {
		return func(c *types.TimerConfig) { c.MaxCyclesPerFire = gas }
	}
	for name, prepare := range map[string]func(*fixture) string{
		"a removal": func(f *fixture) string { return f.schedule(robot, 4, f.noop()) },
		"a release": func(f *fixture) string {
			id := f.schedule(robot, 2, f.noop(), limited(400_000))
			f.setConfig(shrunk(300_000))
			f.endBlock()
			f.endBlock()
			f.setConfig(shrunk(550_000))
			return id
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, store := refuse(t)
			id := prepare(f)
			f.blocksUntil(3)
			store.refuseOf(robot)
			events := f.NextBlock()
			only[*types.TimerLaneFailed](f, events)
			require.Empty(t, f.firedIDs(events))
			require.Equal(t, int64(rich), f.balance(robot))
			store.key = nil
			require.Equal(t, []string{id}, f.firedIDs(append(f.NextBlock(), f.NextBlock()...)))
		})
	}
}

// Rule: 1.1-due-until-left, 5.1-lane-paused, 5.3-expired-leave
func TestAPausedLaneFiresNothingAndTheRestGoesOn(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) { c.LanePaused = true }))
	kept := f.schedule(robot, 2, f.noop())
	gone := f.schedule(robot, 2, f.noop())
	f.schedule(robot, 2, f.noop(), expiring(4))
	events := f.blocksUntil(4)
	require.Empty(t, f.firedIDs(events))
	require.Equal(t, uint32(3), eventsOf[*types.TimerLaneSummary](f, events)[3].Deferred)
	f.run(&types.MsgCancelTimer{Sender: robot.String(), Id: gone})
	late := f.schedule(robot, 6, f.noop())
	require.Len(t, eventsOf[*types.TimerExpired](f, f.blocksUntil(6)), 1)
	f.setConfig(func(c *types.TimerConfig) { c.LanePaused = false })
	require.Empty(t, f.firedIDs(f.NextBlock()))
	events = f.NextBlock()
	require.Equal(t, []string{kept, late}, f.firedIDs(events))
	require.Equal(t, uint64(6), eventsOf[*types.TimerFired](f, events)[0].Late)
}
