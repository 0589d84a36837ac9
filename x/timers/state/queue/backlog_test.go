package queue

import (
	"cmp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/collections"
	"cosmossdk.io/core/store"
	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos/cosmos-sdk/codec"
	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	"github.com/cosmos/cosmos-sdk/runtime"
	"github.com/cosmos/cosmos-sdk/testutil"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/calendar"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// waitingQueue is a calendar whose timers wait, beside the slice that it should be.
type waitingQueue struct {
	calendar *Calendar
	service  store.KVStoreService
	ctx      sdk.Context
	model    []types.Timer
	nextSeq  uint64
	// packed counts the blocks that began with a backlog.
	packed int
}

func newWaitingQueue(t require.TestingT, tiered bool) *waitingQueue {
	key := storetypes.NewKVStoreKey(types.StoreKey)
	service := runtime.NewKVStoreService(key)
	sb := collections.NewSchemaBuilder(service)
	q := &waitingQueue{
		calendar: NewCalendar(codec.NewProtoCodec(codectypes.NewInterfaceRegistry()), sb, service),
		service:  service,
		ctx:      testutil.DefaultContext(key, storetypes.NewTransientStoreKey("transient")).WithBlockHeight(1),
	}
	_, err := sb.Build()
	require.NoError(t, err)
	q.calendar.backlog.most, q.calendar.placements.partEntries = 300, 2
	if tiered {
		require.NoError(t, q.calendar.Begin(q.ctx))
	}
	return q
}

func (q *waitingQueue) insert(t *rapid.T, ctx sdk.Context, due uint64) {
	q.nextSeq++
	timer := types.Timer{Id: []byte{1}, Due: due, Seq: q.nextSeq, Label: rapid.StringMatching("a{0,40}").Draw(t, "label")}
	q.drawPlacement(t, &timer)
	NoteWrite(ctx, &timer)
	require.NoError(t, q.calendar.Insert(ctx, &timer))
	q.model = append(q.model, timer)
}

// drawPlacement gives a timer that is due a placement, takes it from it, or neither.
func (q *waitingQueue) drawPlacement(t *rapid.T, timer *types.Timer) {
	if timer.Due > q.height() {
		return
	}
	switch rapid.IntRange(0, 3).Draw(t, "placement") {
	case 0:
		put(&types.Timer{}, timer)
	case 1:
		ceiling := math.LegacyNewDec(rapid.Int64Range(-1, 2).Draw(t, "ceiling"))
		timer.AdmittedWeight, timer.AdmittedCeiling = rapid.Uint32Range(1, 3).Draw(t, "weight"), &ceiling
	case 2:
		timer.AdmittedWeight, timer.AdmittedScore = rapid.Uint32Range(1, 3).Draw(t, "list"), []byte{1}
	}
}

// admit places some timers that are due, as a storm does, without a write of their records.
func (q *waitingQueue) admit(t *rapid.T, ctx sdk.Context) {
	var placed []types.Timer
	for i := range q.model {
		if timer := &q.model[i]; timer.Due <= q.height() && rapid.Bool().Draw(t, "admitted") {
			timer.AdmittedWeight = rapid.Uint32Range(1, 3).Draw(t, "weight")
			placed = append(placed, *timer)
		}
	}
	require.NoError(t, q.calendar.Place(ctx, placed))
}

// change changes or removes a timer. Undone, only that it was touched is left.
func (q *waitingQueue) change(t *rapid.T, ctx sdk.Context) {
	if len(q.model) == 0 {
		return
	}
	at := rapid.IntRange(0, len(q.model)-1).Draw(t, "which")
	undone := rapid.IntRange(0, 4).Draw(t, "undone") == 0
	if undone {
		mark := WritesOf(ctx).Mark()
		ctx, _ = ctx.CacheContext()
		defer func() { WritesOf(ctx).Undo(mark) }()
	}
	timer := q.model[at]
	NoteWrite(ctx, &timer)
	if rapid.Bool().Draw(t, "removes") {
		require.NoError(t, q.calendar.Remove(ctx, placeOf(&timer)))
		if !undone {
			q.model = slices.Delete(q.model, at, at+1)
		}
		return
	}
	timer.ExpiresAt++
	q.drawPlacement(t, &timer)
	require.NoError(t, q.calendar.Replace(ctx, &timer))
	if !undone {
		q.model[at] = timer
	}
}

// page compares a page from a drawn place on with the slice.
func (q *waitingQueue) page(t *rapid.T, ctx sdk.Context) {
	slices.SortFunc(q.model, func(a, b types.Timer) int { return placeOf(&a).Compare(placeOf(&b)) })
	from, height, limit := q.drawPlace(t), rapid.Uint64Range(0, q.height()).Draw(t, "to"), rapid.IntRange(1, 30).Draw(t, "limit")
	var want []types.Timer
	next, complete := calendar.Key{Due: height + 1}, true
	for i := range q.model {
		place := placeOf(&q.model[i])
		if place.Compare(from) < 0 || place.Due > height {
			continue
		}
		if len(want) == limit {
			next, complete = place, false
			break
		}
		want = append(want, q.model[i])
	}
	left := limit
	found, gotNext, gotComplete, err := q.calendar.Page(ctx, from, height, func(calendar.Entry[types.Timer]) calendar.Verdict {
		if left == 0 {
			return calendar.Stop
		}
		left--
		return calendar.Take
	})
	require.NoError(t, err)
	require.Equal(t, next, gotNext)
	require.Equal(t, complete, gotComplete)
	require.Len(t, found, len(want))
	for i := range want {
		require.True(t, want[i].Equal(found[i].Value), "%v, want %v", found[i].Value, want[i])
	}
}

// read is what the end of a block reads first.
func (q *waitingQueue) read(t require.TestingT, ctx sdk.Context) {
	_, _, _, err := q.calendar.Page(OpensBacklog(ctx), calendar.Key{}, q.height(), func(calendar.Entry[types.Timer]) calendar.Verdict {
		return calendar.Stop
	})
	require.NoError(t, err)
}

func (q *waitingQueue) height() uint64 { return uint64(q.ctx.BlockHeight()) }

func (q *waitingQueue) drawPlace(t *rapid.T) calendar.Key {
	if len(q.model) > 0 && rapid.Bool().Draw(t, "at one") {
		return placeOf(&q.model[rapid.IntRange(0, len(q.model)-1).Draw(t, "place")])
	}
	return calendar.Key{Due: rapid.Uint64Range(0, q.height()).Draw(t, "due"), Seq: rapid.Uint64Range(0, q.nextSeq+1).Draw(t, "seq")}
}

// block is a block: transactions, and its end, which packs what waits between two places, or nothing.
func (q *waitingQueue) block(t *rapid.T) {
	q.ctx = q.ctx.WithBlockHeight(q.ctx.BlockHeight() + 1)
	some := rapid.IntRange(0, 4)
	for range some.Draw(t, "inserts") {
		// Its owner has changed a timer that was due: it has another seq now.
		q.insert(t, q.ctx, rapid.Uint64Range(1, q.height()+3).Draw(t, "due"))
	}
	for range some.Draw(t, "changes") {
		q.change(t, q.ctx)
		q.page(t, q.ctx)
	}
	ctx, w := WithWrites(q.ctx)
	q.read(t, ctx)
	if w.backlog != nil && !w.backlog.span.IsEmpty() {
		q.packed++
	}
	q.page(t, ctx)
	for range some.Draw(t, "changes at the end") {
		if rapid.IntRange(0, 3).Draw(t, "by a handler") == 0 {
			q.insert(t, ctx, rapid.Uint64Range(1, q.height()+3).Draw(t, "due"))
		}
		q.change(t, ctx)
		q.page(t, ctx)
		if rapid.IntRange(0, 3).Draw(t, "before a handler") == 0 {
			require.NoError(t, q.calendar.WritePlacements(ctx))
		}
	}
	if rapid.Bool().Draw(t, "admits") {
		q.admit(t, ctx)
		q.page(t, ctx)
	}
	waiting := calendar.Span{From: q.drawPlace(t), To: q.drawPlace(t)}
	if waiting.To.Due > q.height() {
		waiting.To = calendar.Key{Due: q.height() + 1}
	}
	if rapid.IntRange(0, 3).Draw(t, "nothing waits") == 0 {
		waiting = calendar.Span{}
	}
	require.NoError(t, q.calendar.Close(ctx, waiting))
	require.NoError(t, q.calendar.Check(q.ctx))
}

// TestTheBacklogIsTheQueue: whatever transactions, handlers and blocks do, undone or not, a page has what the queue has, and
// each record its placement. After each block the backlog is what its span of the queue is, and there is no placement of a
// record that is gone, under both calendars.
//
// Rule: 2.2-backlog, 2.2-placements, 2.4-backlog, 2.4-placements
func TestTheBacklogIsTheQueue(t *testing.T) {
	packed := 0
	rapid.Check(t, func(t *rapid.T) {
		q := newWaitingQueue(t, rapid.Bool().Draw(t, "tiered"))
		for range 12 {
			q.block(t)
		}
		packed += q.packed
	})
	require.Positive(t, packed)
}

// TestABacklogIsPackedStepByStep: a block copies so many bytes at most. When nothing waits that is worth it, what is left
// leaves one by one, and then there is no backlog.
//
// Rule: 2.4-backlog-bounded, 2.4-backlog-ends
func TestABacklogIsPackedStepByStep(t *testing.T) {
	q := newWaitingQueue(t, false)
	one := types.Timer{Id: []byte{1}, Due: 1, Seq: 1}
	const timers = 20
	q.calendar.backlog.most = 6 * one.Size()
	for seq := range uint64(timers) {
		require.NoError(t, q.calendar.Insert(q.ctx, &types.Timer{Id: one.Id, Due: 1, Seq: seq + 1}))
	}
	q.ctx = q.ctx.WithBlockHeight(2)
	end := func(waiting calendar.Span, leaves ...uint64) (packed uint64) {
		ctx, _ := WithWrites(q.ctx)
		q.read(t, ctx)
		for _, seq := range leaves {
			timer := types.Timer{Due: 1, Seq: seq}
			NoteWrite(ctx, &timer)
			require.NoError(t, q.calendar.Remove(ctx, placeOf(&timer)))
		}
		require.NoError(t, q.calendar.Close(ctx, waiting))
		require.NoError(t, q.calendar.Check(q.ctx))
		o, err := q.calendar.backlog.open(q.ctx)
		require.NoError(t, err)
		return cmp.Or(o.span.To.Seq, 1) - 1
	}
	waiting := calendar.Span{To: calendar.Key{Due: 1, Seq: timers + 1}}
	require.EqualValues(t, 6, end(waiting))
	require.EqualValues(t, 12, end(waiting, 1, 2, 3), "by their seqs: of what it has, three left")
	require.EqualValues(t, 18, end(waiting))
	require.EqualValues(t, timers, end(waiting))
	require.EqualValues(t, timers, end(waiting))
	for seq := uint64(4); seq < timers; seq++ {
		require.EqualValues(t, timers, end(calendar.Span{}, seq))
	}
	require.EqualValues(t, 0, end(calendar.Span{}, timers))
	entries, err := q.service.OpenKVStore(q.ctx).Iterator([]byte{types.PrefixBacklog}, []byte{types.PrefixBacklog + 1})
	require.NoError(t, err)
	require.False(t, entries.Valid(), "nothing is left in state")
	require.NoError(t, entries.Close())
}
