package state

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cosmos-timers/timers/x/timers/schedule"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// TestCodec_RecordsComeBackWhole: whatever of a record follows from its place.
//
// Rule: 2.4-place-left-out
func TestCodec_RecordsComeBackWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := func(name string) uint64 { return rapid.Uint64Range(0, 3).Draw(t, name) }
		timer := types.Timer{
			Actor: []byte("an actor of some length"), GasLimit: 40_000, ExpiresAt: 9,
			Due: 1 + number("due"), Seq: number("seq"), FireSeq: uint32(number("fires")), PayloadSeq: number("payload seq"),
			Spec: types.TimerSpec{Call: types.TimerCall{Payload: []byte("{}")}, Name: "label"},
		}
		timer.Spec.Trigger = rapid.SampledFrom([]types.Trigger{
			{},
			{Height: timer.Due},
			{Height: 2},
			{After: 2},
			{Height: timer.Due, After: 2},
			{Interval: &types.IntervalTrigger{Every: 2}},
			{Height: timer.Due, Watch: &types.WatchTrigger{}},
		}).Draw(t, "trigger")
		timer.Id = rapid.SampledFrom([][]byte{
			nil, make([]byte, types.IDBytes), types.TimerID(timer.Actor, 1+number("first"), timer.Spec.Call.Payload, number("nonce")),
			types.TimerID(timer.Actor, timer.Due, timer.Spec.Call.Payload, timer.Seq),
		}).Draw(t, "id")
		timer.HoldReason = rapid.SampledFrom([]types.HoldReason{types.NotOnHold, types.Paused, types.Timed}).Draw(t, "on hold")
		key := RecordKey(&timer)
		bz, err := encodeRecord(key, timer)
		require.NoError(t, err)
		again, err := decode(key, bz)
		require.NoError(t, err)
		require.True(t, timer.Equal(again), "%v, want %v", again, timer)
		whole, err := timer.Marshal()
		require.NoError(t, err)
		again, err = decode(key, whole)
		require.NoError(t, err)
		require.True(t, timer.Equal(again), "a whole record is read as it is")
	})
}

// TestCodec_RecordsAreShort: a quarter of what the benchmarks schedule follows from its place.
func TestCodec_RecordsAreShort(t *testing.T) {
	timer := types.Timer{
		Actor: make([]byte, 20), GasLimit: 40_000, CellLimit: 20_000,
		ExpiresAt: 2_000_000, Due: 1_000_000, Seq: 1_000_000, ScheduleHeight: 900_000,
		Spec: types.TimerSpec{Call: types.TimerCall{Payload: make([]byte, 100)}, Trigger: types.Trigger{Height: 1_000_000}},
	}
	key := schedule.Key{Due: timer.Due, Seq: timer.Seq}
	timer.Id = idOf(key, &timer)
	bz, err := encodeRecord(key, timer)
	require.NoError(t, err)
	require.LessOrEqual(t, len(bz)*100, timer.Size()*77)
}
