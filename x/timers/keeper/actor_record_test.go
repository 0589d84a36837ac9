package keeper_test

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/collections"
	corestore "cosmossdk.io/core/store"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/testutil/storecount"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// counted wires a counting store.
func counted(counts **storecount.Counts) func(*lab.ChainOptions) {
	return func(opts *lab.ChainOptions) {
		opts.WrapStore = func(service corestore.KVStoreService) corestore.KVStoreService {
			wrapped, c := storecount.Wrap(service)
			*counts = c
			return wrapped
		}
	}
}

func TestAnActorsTimersAreFoundWithoutLookingAtTheOthers(t *testing.T) {
	var counts *storecount.Counts
	f := newFixture(t, counted(&counts))
	var ids []string
	cost := map[string][]storecount.Counts{}
	for i := range 1_024 {
		counts.Reset()
		ids = append(ids, f.schedule(robot, 50, nil))
		scheduled := counts.Take()
		if i < 20 || i%50 != 0 {
			continue
		}
		// Another of its timers, somewhere on the pages.
		probe := ids[i/2]
		f.run(&types.MsgExtendTimer{Sender: robot.String(), Id: probe, ExpiresAt: 100})
		extended := counts.Take()
		f.run(&types.MsgUpdateTimer{Sender: robot.String(), Id: probe, Spec: types.TimerSpec{GasLimit: 60_000}, Fields: []string{"gas_limit"}})
		updated := counts.Take()
		f.run(&types.MsgCancelTimer{Sender: robot.String(), Id: probe})
		cancelled := counts.Take()
		ids[i/2] = f.schedule(robot, 50, nil)
		cost["schedule"] = append(cost["schedule"], scheduled)
		cost["extend"] = append(cost["extend"], extended)
		cost["update"] = append(cost["update"], updated)
		cost["cancel"] = append(cost["cancel"], cancelled)
	}
	f.refused(types.ErrTooManyTimers, scheduleMsg(robot, 50, nil))
	require.Equal(t, uint32(1_024), f.total(robot))
	// The owner index reads at most the chunks of a full log, and a few of those into which it is merged. No block has
	// ended, so that changes merge it themselves: some write more, and on average it is little.
	for name, bound := range map[string]struct{ reads, writes, mean int }{
		"schedule": {60, 60, 8}, "extend": {40, 60, 3}, "update": {90, 60, 12}, "cancel": {90, 60, 12},
	} {
		require.NotEmpty(t, cost[name])
		writes := 0
		for _, c := range cost[name] {
			require.LessOrEqual(t, c.Reads(), bound.reads, "%s: %+v", name, c)
			require.LessOrEqual(t, c.Writes(), bound.writes, "%s: %+v", name, c)
			require.Zero(t, c.Iterators, name)
			writes += c.Writes()
		}
		require.LessOrEqual(t, writes, bound.mean*len(cost[name]), name)
	}
	for _, id := range ids {
		require.Equal(t, id, f.timer(robot, id).Id)
	}

	// A fire's cost does not depend on how many other timers its actor has.
	fireCost := func(actor sdk.AccAddress) storecount.Counts {
		f.setConfig(func(c *types.TimerConfig) { c.MaxTimersPerActor = 1_025 })
		f.NextBlock()
		f.schedule(actor, f.Height()+1, f.noop())
		f.NextBlock()
		counts.Reset()
		_, err := f.EndBlock()
		require.NoError(t, err)
		taken := counts.Take()
		require.NoError(t, f.BeginBlock())
		return taken
	}
	alone, crowded := fireCost(robot2), fireCost(robot)
	require.LessOrEqual(t, crowded.Reads(), alone.Reads()+2)
	require.LessOrEqual(t, crowded.Writes(), alone.Writes()+1)
}

// Rule: 3.1-too-many
func TestTheLimitOfTimersPerActorIsPerActor(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) { c.MaxTimersPerActor = 2 }))
	f.schedule(robot, 2, f.noop())
	second := f.schedule(robot, 9, f.noop())
	f.refused(types.ErrTooManyTimers, scheduleMsg(robot, 9, f.noop()))
	f.schedule(robot2, 9, f.noop())
	f.blocksUntil(2)
	f.schedule(robot, 9, f.noop())
	f.refused(types.ErrTooManyTimers, scheduleMsg(robot, 9, f.noop()))
	f.run(&types.MsgCancelTimer{Sender: robot.String(), Id: second})
	f.schedule(robot, 9, f.noop())
}

// No one can make two addresses of one key here. So the entry of a second actor's timer is written where it would be then.
//
// Rule: 2.3-colliding-owners
func TestOwnersOfOneKeyShareTheirLimitAlone(t *testing.T) {
	var service corestore.KVStoreService
	f := newFixture(t, withConfig(func(c *types.TimerConfig) { c.MaxTimersPerActor = 2 }), func(o *lab.ChainOptions) {
		o.WrapStore = func(s corestore.KVStoreService) corestore.KVStoreService {
			service = s
			return s
		}
	})
	mine, other := f.schedule(robot, 9, f.noop()), f.schedule(robot2, 9, f.noop())
	ctx, _ := f.Ctx().CacheContext()
	owners := state.NewOwners(collections.NewSchemaBuilder(service), service)
	entries, err := owners.Of(ctx, robot2)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	require.NoError(t, owners.Add(ctx, robot, entries[0], state.Unlimited))

	_, err = keeper.NewMsgServer(f.Timers).ScheduleTimer(ctx, scheduleMsg(robot, 9, f.noop()))
	require.ErrorIs(t, err, types.ErrTooManyTimers)
	list, err := f.query().TimersByActor(ctx, &types.QueryTimersByActorRequest{Actor: robot.String()})
	require.NoError(t, err)
	actors := map[string]string{}
	for _, timer := range list.Timers {
		actors[timer.Id] = timer.Actor
	}
	require.Equal(t, map[string]string{mine: robot.String(), other: robot2.String()}, actors)
	_, err = f.query().Timer(ctx, &types.QueryTimerRequest{Actor: robot.String(), Id: other})
	require.ErrorContains(t, err, "has no live timer")
}

func TestLongAddressesOwnTimers(t *testing.T) {
	f := newFixture(t)
	// An address that begins with another one, and one of the SDK's longest.
	long := sdk.AccAddress("alice_______________and_more____")
	longest := sdk.AccAddress(make([]byte, 255))
	for _, owner := range []sdk.AccAddress{alice, long, longest} {
		f.fund(owner, rich)
		var ids []string
		for range 20 {
			ids = append(ids, f.schedule(owner, 3, f.pays(owner, bob, 1), limited(100_000)))
		}
		f.run(&types.MsgCancelTimer{Sender: owner.String(), Id: ids[17]})
		require.Equal(t, ids[18], f.timer(owner, ids[18]).Id)
		require.Equal(t, uint32(19), f.total(owner))
	}
	fired := eventsOf[*types.TimerFired](f, f.blocksUntil(8))
	require.Len(t, fired, 3*19)
	for _, event := range fired {
		require.True(t, event.Success)
	}
	require.Zero(t, f.total(long))
}

func TestIDsWithCommonPrefix(t *testing.T) {
	// Two timers whose ids agree in the bits that the owner index keeps.
	genesis := types.DefaultGenesis()
	var twins []string
	for seq := uint64(1); seq <= 18; seq++ {
		id := types.TimerID(robot, 5, nil, seq)
		if seq == 1 || seq == 18 {
			id = append([]byte("same8byt"), id[8:]...)
			twins = append(twins, hex.EncodeToString(id))
		}
		genesis.Timers = append(genesis.Timers, types.Timer{
			Id: id, Actor: robot, GasLimit: gas, ExpiresAt: 50, Seq: seq, Due: 5, Spec: types.TimerSpec{Trigger: types.Trigger{Height: 5}},
		})
	}
	genesis.NextSeq = 19
	f := newFixture(t, func(opts *lab.ChainOptions) { opts.Genesis = genesis })
	for _, id := range twins {
		require.Equal(t, id, f.timer(robot, id).Id)
	}
	f.run(&types.MsgCancelTimer{Sender: robot.String(), Id: twins[1]})
	f.refused(types.ErrTimerNotFound, &types.MsgCancelTimer{Sender: robot.String(), Id: twins[1]})
	require.Equal(t, twins[0], f.timer(robot, twins[0]).Id)
	require.Equal(t, uint32(17), f.total(robot))
}
