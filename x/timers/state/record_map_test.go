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

// queued is a queue beside the slice that it should be.
type queued struct {
	queue   recordMap
	service store.KVStoreService
	ctx     sdk.Context
	model   []types.Timer
	nextSeq uint64
}

func newQueued(t require.TestingT) *queued {
	key := storetypes.NewKVStoreKey(types.StoreKey)
	service := runtime.NewKVStoreService(key)
	sb := collections.NewSchemaBuilder(service)
	q := &queued{
		queue:   newRecordMap(sb, service),
		service: service,
		ctx:     testutil.DefaultContext(key, storetypes.NewTransientStoreKey("transient")).WithBlockHeight(1),
	}
	_, err := sb.Build()
	require.NoError(t, err)
	return q
}

func (q *queued) height() uint64 { return types.HeightOf(q.ctx) }

func (q *queued) sort() {
	slices.SortFunc(q.model, func(a, b types.Timer) int { return RecordKey(&a).Compare(RecordKey(&b)) })
}

// insert adds a timer that is due in a later block, or in this one as a watch's is.
func (q *queued) insert(t *rapid.T, ctx sdk.Context) {
	q.nextSeq++
	timer := types.Timer{
		Id: []byte{1}, Due: q.height() + rapid.Uint64Range(0, 12).Draw(t, "ahead"), Seq: q.nextSeq,
		Spec: types.TimerSpec{Name: rapid.StringMatching("a{0,40}").Draw(t, "label")},
	}
	require.NoError(t, q.queue.write(ctx, &timer, logmap.Inserted))
	q.model = append(q.model, timer)
	q.sort()
}

func (q *queued) change(t *rapid.T, ctx sdk.Context) {
	if len(q.model) == 0 || rapid.IntRange(0, 2).Draw(t, "what") == 0 {
		q.insert(t, ctx)
		return
	}
	at := rapid.IntRange(0, len(q.model)-1).Draw(t, "which")
	timer := q.model[at]
	if rapid.Bool().Draw(t, "is removed") {
		require.NoError(t, q.queue.remove(ctx, RecordKey(&timer)))
		q.model = slices.Delete(q.model, at, at+1)
		return
	}
	timer.ExpiresAt++
	require.NoError(t, q.queue.write(ctx, &timer, logmap.Replaced))
	q.model = slices.Clone(q.model)
	q.model[at] = timer
}

func (q *queued) compare(t *rapid.T, ctx sdk.Context) {
	from := schedule.Key{Due: rapid.Uint64Range(0, q.height()+9).Draw(t, "from"), Seq: rapid.Uint64Range(0, q.nextSeq).Draw(t, "seq")}
	height, limit := rapid.Uint64Range(0, q.height()+9).Draw(t, "height"), rapid.IntRange(1, 50).Draw(t, "limit")
	left := limit
	found, next, complete, err := q.queue.Page(ctx, from, height, func(schedule.Entry[types.Timer]) schedule.Decision {
		if left == 0 {
			return schedule.Stop
		}
		left--
		return schedule.Take
	})
	require.NoError(t, err)
	var want []types.Timer
	for _, timer := range q.model {
		if key := RecordKey(&timer); key.Compare(from) >= 0 && timer.Due <= height {
			want = append(want, timer)
		}
	}
	require.Equal(t, len(want) <= limit, complete)
	if !complete {
		require.Equal(t, RecordKey(&want[limit]), next)
	}
	want = want[:min(limit, len(want))]
	require.Len(t, found, len(want))
	for i := range want {
		require.True(t, want[i].Equal(found[i].Value), "%v, want %v", found[i].Value, want[i])
	}
	one, is, err := q.queue.get(ctx, from)
	require.NoError(t, err)
	at, there := slices.BinarySearchFunc(q.model, from, func(timer types.Timer, key schedule.Key) int { return RecordKey(&timer).Compare(key) })
	require.Equal(t, there, is)
	require.True(t, !there || q.model[at].Equal(one))
}

var errUndone = errors.New("undone")

// step is one of the steps at the end of a block, which may be undone, or a fire: a step, a handler on a branch of it, which may
// be dropped, and a step again.
func (q *queued) step(t *rapid.T, ctx sdk.Context) {
	before := slices.Clone(q.model)
	err := sandbox.Run(ctx, func(ctx sdk.Context) error {
		for range rapid.IntRange(0, 9).Draw(t, "changes") {
			q.change(t, ctx)
		}
		if rapid.Bool().Draw(t, "is a fire") {
			q.fire(t, ctx)
			q.compare(t, ctx)
			for range rapid.IntRange(0, 3).Draw(t, "changes after") {
				q.change(t, ctx)
			}
		}
		q.compare(t, ctx)
		if rapid.IntRange(0, 3).Draw(t, "is undone") == 0 {
			return errUndone
		}
		return nil
	})
	if err != nil {
		require.ErrorIs(t, err, errUndone)
		q.model = before
	}
}

// fire is a handler, part of which runs on a branch that is dropped, or all of it.
func (q *queued) fire(t *rapid.T, ctx sdk.Context) {
	kept := slices.Clone(q.model)
	err := sandbox.Run(sandbox.WithinFire(ctx), func(ctx sdk.Context) error {
		branch, write := ctx.CacheContext()
		q.compare(t, branch)
		for range rapid.IntRange(0, 3).Draw(t, "changes of a part") {
			q.change(t, branch)
		}
		if rapid.Bool().Draw(t, "part is dropped") {
			q.model = slices.Clone(kept)
		} else {
			write()
		}
		q.compare(t, ctx)
		if rapid.Bool().Draw(t, "fails") {
			return errUndone
		}
		return nil
	})
	if err != nil {
		require.ErrorIs(t, err, errUndone)
		q.model = kept
	}
}

// TestQueue_IsASortedSlice: whatever transactions, steps and handlers do, undone or not, and whoever looks at it on a branch that
// is dropped, what is read is the same. When none is left, nothing is.
//
// Rule: 2.4-one-map, 2.4-late-stays
func TestQueue_IsASortedSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := newQueued(t)
		for range 8 {
			for range rapid.IntRange(0, 5).Draw(t, "by transactions") {
				q.change(t, q.ctx)
				q.compare(t, q.ctx)
			}
			ctx, session := WithSession(q.ctx, nil)
			for range rapid.IntRange(0, 4).Draw(t, "steps") {
				q.step(t, ctx)
				q.compare(t, ctx)
			}
			require.NoError(t, session.Flush(ctx))
			require.NoError(t, q.queue.close(ctx, types.Moment{Height: q.height()}))
			require.NoError(t, q.queue.timers.Stored().Check(q.ctx))
			q.compare(t, q.ctx)
			q.ctx = q.ctx.WithBlockHeight(q.ctx.BlockHeight() + 1)
		}
		q.empty(t)
	})
}

// empty removes all that is left. Then nothing is.
func (q *queued) empty(t require.TestingT) {
	for i := range q.model {
		require.NoError(t, q.queue.remove(q.ctx, RecordKey(&q.model[i])))
	}
	for range 50 {
		q.ctx = q.ctx.WithBlockHeight(q.ctx.BlockHeight() + 20)
		require.NoError(t, q.queue.close(q.ctx, types.Moment{Height: q.height(), Time: int64(q.height())}))
	}
	entries, err := q.service.OpenKVStore(q.ctx).Iterator(nil, nil)
	require.NoError(t, err)
	require.False(t, entries.Valid(), "nothing is left in state")
	require.NoError(t, entries.Close())
}

// TestQueue_CheckFindsWhatIsWrong: a record before the first key.
//
// Rule: 2.2-queue-first
func TestQueue_CheckFindsWhatIsWrong(t *testing.T) {
	q := newQueued(t)
	store, head := q.service.OpenKVStore(q.ctx), append(types.PrefixRecords.Bytes(), 0, 0)
	require.NoError(t, q.queue.write(q.ctx, &types.Timer{Id: []byte{1}, Due: 9, Seq: 1}, logmap.Inserted))
	before, err := store.Get(head)
	require.NoError(t, err)
	require.NoError(t, q.queue.write(q.ctx, &types.Timer{Id: []byte{1}, Due: 3, Seq: 2}, logmap.Inserted))
	require.NoError(t, q.queue.timers.Stored().Check(q.ctx))
	require.NoError(t, store.Set(head, before))
	require.ErrorContains(t, q.queue.timers.Stored().Check(q.ctx), "below the first key of its class")
}

// TestQueue_CostsWhatAPlainMapCosts: to write, read and remove a record costs the gas that a map of single records costs,
// whatever was merged, in a session and without.
//
// Rule: 2.4-same-gas
func TestQueue_CostsWhatAPlainMapCosts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := newQueued(t)
		plainKey := storetypes.NewKVStoreKey("plain")
		sb := collections.NewSchemaBuilder(runtime.NewKVStoreService(plainKey))
		plain := collections.NewMap(sb, types.PrefixRecords, "records", collections.PairKeyCodec(collections.Uint64Key, collections.Uint64Key),
			codec.CollValue[types.Timer](codec.NewProtoCodec(codectypes.NewInterfaceRegistry())))
		plainCtx := testutil.DefaultContext(plainKey, storetypes.NewTransientStoreKey("transient"))
		cost := func(ctx sdk.Context, fn func(sdk.Context) error) storetypes.Gas {
			meter := storetypes.NewInfiniteGasMeter()
			require.NoError(t, fn(ctx.WithGasMeter(meter)))
			return meter.GasConsumed()
		}
		same := func(ctx sdk.Context, ours, theirs func(sdk.Context) error) {
			require.Equal(t, cost(plainCtx, theirs), cost(ctx, ours))
		}
		ctx := q.ctx
		if rapid.Bool().Draw(t, "session") {
			ctx, _ = WithSession(ctx, nil)
		}
		for range rapid.IntRange(1, 30).Draw(t, "timers") {
			q.nextSeq++
			timer := types.Timer{Id: []byte{1, 2}, Actor: []byte("actor"), Due: q.height() + rapid.Uint64Range(1, 300).Draw(t, "ahead"), Seq: q.nextSeq}
			timer.Spec.Call.Payload = make([]byte, rapid.IntRange(0, 500).Draw(t, "payload"))
			key := collections.Join(timer.Due, timer.Seq)
			same(ctx, func(ctx sdk.Context) error { return q.queue.write(ctx, &timer, logmap.Inserted) },
				func(ctx sdk.Context) error { return plain.Set(ctx, key, timer) })
			same(ctx, func(ctx sdk.Context) error { _, _, err := q.queue.get(ctx, RecordKey(&timer)); return err },
				func(ctx sdk.Context) error { _, err := plain.Get(ctx, key); return err })
			same(ctx, func(ctx sdk.Context) error { _, err := q.queue.has(ctx, RecordKey(&timer)); return err },
				func(ctx sdk.Context) error { _, err := plain.Has(ctx, key); return err })
			timer.ExpiresAt++
			same(ctx, func(ctx sdk.Context) error { return q.queue.write(ctx, &timer, logmap.Replaced) },
				func(ctx sdk.Context) error { return plain.Set(ctx, key, timer) })
			if rapid.Bool().Draw(t, "removed") {
				same(ctx, func(ctx sdk.Context) error { return q.queue.remove(ctx, RecordKey(&timer)) },
					func(ctx sdk.Context) error { return plain.Remove(ctx, key) })
			}
		}
	})
}
