package queue

import (
	"testing"

	"github.com/stretchr/testify/require"

	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos/cosmos-sdk/testutil"

	"github.com/cosmos-timers/timers/x/timers/calendar"
	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// TestWrites_NotesThatWereUndoneChangeNothing: what a handler has noted may have been undone. Neither the order in which places
// are copied nor whether the block ends the maps of what is due follows from that. The campaign found the former: two applications
// had the same backlog in logs of another order.
func TestWrites_NotesThatWereUndoneChangeNothing(t *testing.T) {
	at := func(due, seq uint64) *types.Timer { return &types.Timer{Due: due, Seq: seq} }
	span := calendar.Span{From: calendar.Key{Due: 1}, To: calendar.Key{Due: 9}}
	want := []calendar.Key{{Due: 3, Seq: 1}, {Due: 5, Seq: 2}}

	base := testutil.DefaultContext(storetypes.NewKVStoreKey("timers"), storetypes.NewTransientStoreKey("transient")).WithBlockHeight(7)
	ctx, writes := WithWrites(base)
	NoteWrite(sandbox.WithinFire(ctx), at(5, 2))
	require.False(t, writes.due, "a handler alone")
	NoteWrite(ctx, at(8, 4))
	require.False(t, writes.due, "not due yet")
	NoteWrite(ctx, at(3, 1))
	NoteWrite(ctx, at(5, 2))
	NoteWrite(ctx, at(9, 3))
	require.True(t, writes.due)
	require.Equal(t, append(want, calendar.Key{Due: 8, Seq: 4}), writes.within(span))

	ctx, writes = WithWrites(base)
	NoteWrite(ctx, at(3, 1))
	NoteWrite(ctx, at(5, 2))
	require.Equal(t, want, writes.within(span), "as without the handler's notes")
}
