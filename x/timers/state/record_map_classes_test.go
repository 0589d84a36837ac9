package state

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/collections"
	"cosmossdk.io/core/store"
	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos/cosmos-sdk/codec"
	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	"github.com/cosmos/cosmos-sdk/runtime"
	"github.com/cosmos/cosmos-sdk/testutil"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/logmap"
	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/schedule"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// model is the records that have no due height, beside the map of single keys that they should be. Its keys are in a store of
// their own, so that gas can be compared.
type model struct {
	records recordMap
	service store.KVStoreService
	single  collections.Map[collections.Pair[uint64, uint64], types.Timer]
	ctx     sdk.Context
	nextSeq uint64
}

func newModel(t require.TestingT) *model {
	keys := storetypes.NewKVStoreKeys(types.StoreKey, "single")
	service := runtime.NewKVStoreService(keys[types.StoreKey])
	timer := codec.CollValue[types.Timer](codec.NewProtoCodec(codectypes.NewInterfaceRegistry()))
	sb := collections.NewSchemaBuilder(service)
	singleSB := collections.NewSchemaBuilder(runtime.NewKVStoreService(keys["single"]))
	m := &model{
		records: newRecordMap(sb, service), service: service,
		single: collections.NewMap(singleSB, types.PrefixRecords, "records",
			collections.PairKeyCodec(collections.Uint64Key, collections.Uint64Key), timer),
		ctx: testutil.DefaultContextWithKeys(keys, storetypes.NewTransientStoreKeys("transient"), nil),
	}
	for _, builder := range []*collections.SchemaBuilder{sb, singleSB} {
		_, err := builder.Build()
		require.NoError(t, err)
	}
	return m
}

// sameGas runs an operation on both, and holds that it costs the same gas, but for the ends.
func (m *model) sameGas(t require.TestingT, ctx sdk.Context, packed, single func(sdk.Context)) {
	var gas [2]uint64
	for i, fn := range []func(sdk.Context){packed, single} {
		meter := storetypes.NewInfiniteGasMeter()
		fn(ctx.WithGasMeter(meter))
		gas[i] = meter.GasConsumed()
	}
	// Of what is ordered by its end the eight bytes of that are not charged, in each of at most so many records.
	require.LessOrEqual(t, gas[0], gas[1])
	require.LessOrEqual(t, gas[1]-gas[0], 8*102*storetypes.KVGasConfig().WriteCostPerByte)
}

// pair is a place as a single key.
func pair(k schedule.Key) collections.Pair[uint64, uint64] { return collections.Join(k.Due, k.Seq) }

// set and get are those of the single keys.
func (m *model) set(ctx sdk.Context, timer types.Timer) error {
	return m.single.Set(ctx, pair(RecordKey(&timer)), timer)
}

func (m *model) get(ctx sdk.Context, at schedule.Key) (types.Timer, error) {
	return m.single.Get(ctx, pair(at))
}

func (m *model) remove(ctx sdk.Context, at schedule.Key) error { return m.single.Remove(ctx, pair(at)) }

// places are those of all records.
func (m *model) places(t require.TestingT, ctx sdk.Context) (places []schedule.Key) {
	require.NoError(t, m.single.Walk(ctx, nil, func(at collections.Pair[uint64, uint64], _ types.Timer) (bool, error) {
		places = append(places, schedule.Key{Due: at.K1(), Seq: at.K2()})
		return false, nil
	}))
	return places
}

func (m *model) change(t *rapid.T, ctx sdk.Context) {
	known := m.places(t, ctx)
	what := rapid.IntRange(0, 3).Draw(t, "what")
	if len(known) == 0 || what < 2 {
		m.nextSeq++
		timer := types.Timer{Id: []byte{1}, Seq: m.nextSeq, HoldReason: rapid.SampledFrom([]types.HoldReason{types.Unfunded, types.Paused, types.Watching}).Draw(t, "reason"), Spec: types.TimerSpec{Call: types.TimerCall{Payload: make([]byte, rapid.IntRange(0, 500).Draw(t, "payload"))}}}
		if rapid.Bool().Draw(t, "is timed") {
			timer.HoldReason, timer.DueTime = types.Timed, rapid.Int64Range(1, 20).Draw(t, "time")
		}
		timer.Due, timer.Look = rapid.Uint64Range(1, 20).Draw(t, "due"), rapid.Bool().Draw(t, "is looked at")
		if end := rapid.Uint64Range(1, 20).Draw(t, "end"); rapid.Bool().Draw(t, "ends at a time") {
			timer.ExpiresTime = int64(end)
		} else {
			timer.ExpiresAt = end
		}
		m.sameGas(t, ctx,
			func(ctx sdk.Context) { require.NoError(t, m.records.write(ctx, &timer, logmap.Inserted)) },
			func(ctx sdk.Context) { require.NoError(t, m.set(ctx, timer)) })
		return
	}
	at := rapid.SampledFrom(known).Draw(t, "which")
	if what == 2 {
		m.sameGas(t, ctx,
			func(ctx sdk.Context) { require.NoError(t, m.records.remove(ctx, at)) },
			func(ctx sdk.Context) { require.NoError(t, m.remove(ctx, at)) })
		return
	}
	timer, err := m.get(ctx, at)
	require.NoError(t, err)
	timer.FireSeq++
	m.sameGas(t, ctx,
		func(ctx sdk.Context) { require.NoError(t, m.records.write(ctx, &timer, logmap.Replaced)) },
		func(ctx sdk.Context) { require.NoError(t, m.set(ctx, timer)) })
}

func (m *model) compare(t *rapid.T, ctx sdk.Context) {
	class := Class(rapid.Uint64Range(0, uint64(classesEnd)).Draw(t, "class"))
	at := class.At(rapid.Uint64Range(0, 21).Draw(t, "at"), rapid.Uint64Range(0, m.nextSeq+1).Draw(t, "seq"))
	var got, want types.Timer
	var gotErr, wantErr error
	var found bool
	m.sameGas(t, ctx,
		func(ctx sdk.Context) { got, found, gotErr = m.records.get(ctx, at) },
		func(ctx sdk.Context) { want, wantErr = m.get(ctx, at) })
	require.NoError(t, gotErr)
	require.Equal(t, errors.Is(wantErr, collections.ErrNotFound), !found)
	require.True(t, want.Equal(got))

	limit := rapid.IntRange(1, 100).Draw(t, "limit")
	equal := func(ctx sdk.Context, walk, single func(sdk.Context, func(types.Timer) bool) error) {
		var lists [2][]types.Timer
		take := func(list *[]types.Timer) func(types.Timer) bool {
			return func(timer types.Timer) bool {
				*list = append(*list, timer)
				return len(*list) == limit
			}
		}
		m.sameGas(t, ctx,
			func(ctx sdk.Context) { require.NoError(t, walk(ctx, take(&lists[0]))) },
			func(ctx sdk.Context) { require.NoError(t, single(ctx, take(&lists[1]))) })
		require.True(t, slices.EqualFunc(lists[1], lists[0], func(a, b types.Timer) bool { return a.Equal(b) }))
	}
	until := schedule.Key{Seq: 5, Due: at.Due + rapid.Uint64Range(1, 21).Draw(t, "length")}
	equal(ctx, func(ctx sdk.Context, fn func(types.Timer) bool) error {
		return m.records.Walk(ctx, Range{at, until}, func(timer *types.Timer) (bool, error) { return fn(*timer), nil })
	}, func(ctx sdk.Context, fn func(types.Timer) bool) error {
		within := new(collections.Range[collections.Pair[uint64, uint64]]).StartInclusive(pair(at)).EndInclusive(pair(until))
		return m.single.Walk(ctx, within, func(_ collections.Pair[uint64, uint64], timer types.Timer) (bool, error) { return fn(timer), nil })
	})
}

// dropped is an agent or a query, which reads what the block has changed and not yet written, on a branch that is dropped.
func (m *model) dropped(t *rapid.T, ctx sdk.Context) {
	branch, _ := sandbox.WithinFire(ctx).CacheContext()
	m.compare(t, branch)
}

// step is one of the steps at the end of a block, which may be undone, or a fire of a handler.
func (m *model) step(t *rapid.T, ctx sdk.Context) {
	if rapid.IntRange(0, 3).Draw(t, "is a fire") == 0 {
		ctx = sandbox.WithinFire(ctx)
	}
	err := sandbox.Run(ctx, func(ctx sdk.Context) error {
		for range rapid.IntRange(1, 100).Draw(t, "changes") {
			m.change(t, ctx)
		}
		if rapid.Bool().Draw(t, "is read") {
			m.compare(t, ctx)
		}
		if rapid.IntRange(0, 3).Draw(t, "is undone") == 0 {
			return errUndone
		}
		return nil
	})
	require.True(t, err == nil || errors.Is(err, errUndone), "%v", err)
}

// TestQueue_OfTimersOnHoldIsAsIfTheyWereStoredSingly: whatever transactions, steps and handlers do, undone or not, what is read is the same,
// and costs the same gas. When none is left, nothing is.
//
// Rule: 2.3-on-hold, 2.3-session, 2.3-on-hold-gas
func TestQueue_OfTimersOnHoldIsAsIfTheyWereStoredSingly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(t)
		for height := range uint64(6) {
			for range rapid.IntRange(0, 5).Draw(t, "by transactions") {
				m.change(t, m.ctx)
				m.compare(t, m.ctx)
			}
			ctx, session := WithSession(m.ctx, nil)
			for range rapid.IntRange(0, 4).Draw(t, "steps") {
				m.step(t, ctx)
				m.dropped(t, ctx)
			}
			m.compare(t, ctx)
			require.NoError(t, session.Flush(ctx))
			require.NoError(t, m.records.close(ctx, types.Moment{Height: height, Time: rapid.Int64Range(0, 20).Draw(t, "now")}))
			require.NoError(t, m.records.timers.Stored().Check(m.ctx))
			m.compare(t, m.ctx)
		}
		m.empty(t)
	})
}

// empty removes all that is left in one block. The map merges what is left of it, and then there is nothing.
func (m *model) empty(t require.TestingT) {
	ctx, session := WithSession(m.ctx, nil)
	for _, at := range m.places(t, m.ctx) {
		require.NoError(t, m.records.remove(ctx, at))
	}
	require.NoError(t, session.Flush(ctx))
	for height := range uint64(50) {
		require.NoError(t, m.records.close(ctx, types.Moment{Height: 30 + height, Time: 30}))
	}
	entries, err := m.service.OpenKVStore(m.ctx).Iterator(types.PrefixRecords.Bytes(), storetypes.PrefixEndBytes(types.PrefixRecords.Bytes()))
	require.NoError(t, err)
	require.False(t, entries.Valid(), "nothing is left in state")
	require.NoError(t, entries.Close())
}

// TestRecordKey_PutsWhatLeavesInOrder: watches before what waits for somebody, and that before what returns by itself; heights come
// before times. In front lie the queue, what waits for a time, and what is to be looked at.
//
// Rule: 2.4-classes
func TestRecordKey_PutsWhatLeavesInOrder(t *testing.T) {
	held := func(reason types.HoldReason, height uint64, seconds int64, seq uint64) *types.Timer {
		return &types.Timer{HoldReason: reason, ExpiresAt: height, ExpiresTime: seconds, Seq: seq}
	}
	looked := held(types.Watching, 5, 0, 8)
	looked.Due, looked.Look = 7, true
	order := []*types.Timer{
		{Due: 1 << 40, Seq: 9}, {HoldReason: types.Timed, DueTime: 1 << 37, Seq: 1}, looked,
		held(types.Watching, 90, 0, 1), held(types.Watching, 0, 1, 2), held(types.Paused, 90, 0, 7), held(types.Quarantined, 0, 5, 6),
		held(types.Unfunded, 43, 0, 4), held(types.PricedOut, 43, 0, 5), held(types.Unfunded, 44, 0, 3), held(types.Unfunded, 0, 10, 2), held(types.NotAdmin, 0, 94, 1),
	}
	for i := range order[1:] {
		require.Negative(t, RecordKey(order[i]).Compare(RecordKey(order[i+1])), i)
	}
}
