package types_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/types"
)

func TestTimerDefaults(t *testing.T) {
	actor, payer := bytes.Repeat([]byte{1}, 20), bytes.Repeat([]byte{2}, 20)
	timer := types.Timer{Actor: actor, Due: 9, Seq: 4, ExpiresAt: 10, Id: slices.Concat([]byte{1, 2, 3, 4, 5, 6, 7, 8}, actor)}
	require.Equal(t, types.DefaultHandler, timer.HandlerName())
	require.Equal(t, actor, []byte(timer.Owner()))
	require.Equal(t, actor, []byte(timer.Payer()))
	require.Equal(t, types.QueueKey{Due: 9, Seq: 4}, timer.Key())

	timer.Spec.Call.Handler, timer.FeePayer = "tick", payer
	require.Equal(t, "tick", timer.HandlerName())
	require.Equal(t, actor, []byte(timer.Owner()))
	require.Equal(t, payer, []byte(timer.Payer()))

	require.False(t, timer.ExpiredAt(types.Moment{Height: 10, Time: 77}), "expires_at is the last height at which it may fire")
	require.True(t, timer.ExpiredAt(types.Moment{Height: 11}))

	timer.ExpiresTime = 77
	require.False(t, timer.ExpiredAt(types.Moment{Height: 10, Time: 77}), "expires_time is the last time")
	require.True(t, timer.ExpiredAt(types.Moment{Height: 10, Time: 78}))
	timer.ExpiresAt = 0
	require.False(t, timer.ExpiredAt(types.Moment{Height: 11, Time: 77}), "0 bounds nothing")
}

func TestIsBeforeIsTheOrderOfTheQueue(t *testing.T) {
	timer := types.Timer{Due: 5, Seq: 5}
	for key, want := range map[types.QueueKey]bool{
		{Due: 4, Seq: 9}: false, {Due: 5, Seq: 4}: false, {Due: 5, Seq: 5}: false, {Due: 5, Seq: 6}: true, {Due: 6, Seq: 0}: true,
	} {
		require.Equal(t, want, timer.IsBefore(key), "%v", key)
	}
}
