package keeper_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	corestore "cosmossdk.io/core/store"

	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"

	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// withoutReceipts is a store that can't keep receipts while it is full: the step fails after all its fires.
type withoutReceipts struct {
	corestore.KVStoreService
	full *bool
}

type receiptless struct{ corestore.KVStore }

// OpenKVStore implements store.KVStoreService.
func (s withoutReceipts) OpenKVStore(ctx context.Context) corestore.KVStore {
	store := s.KVStoreService.OpenKVStore(ctx)
	if *s.full {
		return receiptless{store}
	}
	return store
}

// Set implements store.KVStore.
func (s receiptless) Set(key, value []byte) error {
	if bytes.HasPrefix(key, types.PrefixReceipts.Bytes()) {
		return errors.New("the disk is full")
	}
	return s.KVStore.Set(key, value)
}

// deliveries is a chain on which a timer of each kind is due in the block that is open. Each delivery sends one coin to
// carol, so that what state says of them is her balance, and notes in memory what it was told, which no branch undoes.
type deliveries struct {
	*fixture
	full *bool
	told []types.Delivery
}

const kindsDue = 6

func newDeliveries(t *testing.T) *deliveries {
	t.Helper()
	d := &deliveries{full: new(bool)}
	d.fixture = newFixture(t, withConfig(func(c *types.TimerConfig) { c.LaneTimerCycles = 10_000_000 }), func(opts *lab.ChainOptions) {
		opts.WrapStore = func(service corestore.KVStoreService) corestore.KVStoreService {
			return withoutReceipts{service, d.full}
		}
	})
	deliver := func(ctx sdk.Context, delivery types.Delivery) error {
		d.told = append(d.told, delivery)
		return d.Bank.SendCoins(ctx, robot, carol, d.coins(1))
	}
	succeeds := d.script(deliver)
	fails := d.script(func(ctx sdk.Context, delivery types.Delivery) error {
		return errors.Join(deliver(ctx, delivery), errors.New("tried again"))
	})
	respawns := d.script(func(ctx sdk.Context, delivery types.Delivery) error {
		_, err := d.Timers.Schedule(ctx, keeper.ScheduleRequest{
			Actor: robot, Spec: types.TimerSpec{Trigger: types.Trigger{Height: delivery.Height + 1}, Call: types.TimerCall{Payload: succeeds}, GasLimit: gas},
		})
		return errors.Join(err, deliver(ctx, delivery))
	})
	d.schedule(robot, 5, succeeds)
	d.schedule(robot, 5, succeeds, every(1, 3))
	d.schedule(robot, 0, succeeds, watching(d.balanceOf(bob)), times(2))
	d.schedule(robot, 5, fails, retried(2, 1))
	d.schedule(robot, 5, respawns, limited(500_000))
	d.schedule(robot, 5, fails, every(1, 2), retried(1, 1))
	d.blocksUntil(4)
	d.run(d.send(alice, bob, 1))
	d.told = nil
	return d
}

// coinsSent is how many deliveries state knows of.
func (d *deliveries) coinsSent() int { return int(d.balance(carol) - rich) }

// names are the deliveries that handlers were told of.
func (d *deliveries) names() (ids []string) {
	for i := range d.told {
		ids = append(ids, hex.EncodeToString(d.told[i].DeliverID))
	}
	return ids
}

// requireOnce: each delivery of a timer has its own number, counted from 0, and its own name.
func (d *deliveries) requireOnce() {
	d.t.Helper()
	next, names := map[string]uint32{}, map[string]bool{}
	for i := range d.told {
		delivery := &d.told[i]
		require.Equal(d.t, next[string(delivery.TimerID)], delivery.FireSeq, "%x", delivery.TimerID)
		next[string(delivery.TimerID)]++
		require.False(d.t, names[string(delivery.DeliverID)])
		names[string(delivery.DeliverID)] = true
	}
}

// TestRepeatedStepDeliversOnce: a second run delivers nothing, neither in the same block nor later.
//
// Rule: 1.12-delivered-once
func TestRepeatedStepDeliversOnce(t *testing.T) {
	d := newDeliveries(t)
	for range 3 {
		require.NoError(t, d.Timers.EndBlock(d.Ctx()))
		require.Len(t, d.told, kindsDue)
	}
	require.Equal(t, kindsDue-2, d.coinsSent(), "what fails undoes its own")
	d.NextBlock()
	require.Len(t, d.told, kindsDue, "the block ended once more")
	d.blocksUntil(20)
	d.requireOnce()
}

// TestBlockRunTwiceDeliversTheSame: a node may run a block and drop it, as one that executes optimistically or that
// recovers from a crash does. Both runs make the same deliveries, with the same ids, and state has them once.
func TestBlockRunTwiceDeliversTheSame(t *testing.T) {
	d := newDeliveries(t)
	dropped, _ := d.Ctx().CacheContext()
	require.NoError(t, d.Timers.EndBlock(dropped))
	first := d.names()
	require.Len(t, first, kindsDue)
	require.Zero(t, d.coinsSent())
	d.told = nil
	d.NextBlock()
	require.Equal(t, first, d.names())
	require.Equal(t, kindsDue-2, d.coinsSent())
	receipts, err := d.query().Receipts(d.Ctx(), &types.QueryReceiptsRequest{Height: 5})
	require.NoError(t, err)
	require.Len(t, receipts.Receipts, kindsDue)
	for i := range receipts.Receipts {
		require.Equal(t, first[i], receipts.Receipts[i].DeliverId)
	}
	d.blocksUntil(20)
	d.requireOnce()
}

// TestFailedStepIsDeliveredByTheNextBlock: all that it did is dropped, fees included, and the next block delivers it
// under another name, since the height is part of it.
func TestFailedStepIsDeliveredByTheNextBlock(t *testing.T) {
	d := newDeliveries(t)
	*d.full = true
	funds := d.balance(robot)
	only[*types.TimerLaneFailed](d.fixture, d.NextBlock())
	lost := d.names()
	require.Len(t, lost, kindsDue)
	require.Zero(t, d.coinsSent())
	require.Equal(t, funds, d.balance(robot))
	*d.full, d.told = false, nil
	d.NextBlock()
	require.Len(t, d.told, kindsDue)
	for _, id := range d.names() {
		require.NotContains(t, lost, id)
	}
	require.Equal(t, kindsDue-2, d.coinsSent())
	d.blocksUntil(20)
	d.requireOnce()
}

// What a handler emits beyond what every fire has is paid: a crowd of events is not free.
//
// Rule: 5.2-events-counted, 6-fire-tags
func TestEventsOfAHandlerAreCharged(t *testing.T) {
	f := newFixture(t)
	herald := authtypes.NewModuleAddress("herald")
	f.Modules.Register("herald", types.DefaultHandler, func(ctx context.Context, d types.Delivery) error {
		for range d.Payload[0] {
			sdk.UnwrapSDKContext(ctx).EventManager().EmitEvent(sdk.NewEvent("news"))
		}
		return nil
	})
	f.grant(alice, herald, unlimited())
	fires := func(events byte, gasLimit uint64) (*types.TimerFired, int) {
		_, err := f.Timers.Schedule(f.Ctx(), keeper.ScheduleRequest{
			Actor: herald, Spec: types.TimerSpec{Trigger: types.Trigger{After: 1}, Call: types.TimerCall{Payload: []byte{events}}, FeePayer: alice.String(), GasLimit: gasLimit},
		})
		require.NoError(t, err)
		f.NextBlock()
		emitted, tagged := f.NextBlock(), 0
		fired := only[*types.TimerFired](f, emitted)
		for i := range emitted {
			if id, has := emitted[i].GetAttribute("deliver_id"); has && emitted[i].Type == "news" {
				require.Equal(t, fired.DeliverId, id.Value)
				tagged++
			}
		}
		return fired, tagged
	}
	few, tagged := fires(16, gas)
	require.Equal(t, 16, tagged)
	many, tagged := fires(116, gas)
	require.Equal(t, 116, tagged)
	require.Equal(t, few.Cycles+100*200, many.Cycles)

	short, tagged := fires(116, few.Cycles+100*200-1)
	require.Zero(t, tagged, "the events of a failed handler are dropped")
	require.False(t, short.Success)
	require.Equal(t, types.ErrOutOfCycles.ABCICode(), short.Code)
}
