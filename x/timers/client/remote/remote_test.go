package remote_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosmos/cosmos-sdk/client/tx"
	"github.com/cosmos/cosmos-sdk/types/tx/signing"

	"github.com/cosmos-timers/timers/x/timers/client/remote"
	"github.com/cosmos-timers/timers/x/timers/testutil/clienttest"
	"github.com/cosmos-timers/timers/x/timers/types"
)

func TestScheduleAndWaitForItsOutcome(t *testing.T) {
	r := clienttest.New(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	from := r.Ctx.WithFromName("alice")
	factory := tx.Factory{}.WithChainID("lab").WithKeybase(r.Ctx.Keyring).WithTxConfig(r.Ctx.TxConfig).
		WithAccountRetriever(r.Ctx.AccountRetriever).WithSignMode(signing.SignMode_SIGN_MODE_DIRECT).WithGas(200_000)
	addr, err := r.Ctx.Keyring.Key("alice")
	require.NoError(t, err)
	from.FromAddress, err = addr.GetAddress()
	require.NoError(t, err)
	msg := &types.MsgScheduleTimer{Sender: r.Alice, Trigger: types.Trigger{After: 2}, Messages: r.Messages(r.Send(r.Alice, r.Bob, 5))}

	timer, height, err := remote.Schedule(ctx, from, factory, msg)
	require.NoError(t, err)
	require.Equal(t, r.Alice, timer.Actor)
	require.EqualValues(t, r.Chain.Height(), height)
	r.Blocks(3)
	outcome, err := remote.Outcome(ctx, r.Node, r.Alice, timer.Id, height)
	require.NoError(t, err)
	fired, ok := outcome.Event.(*types.TimerFired)
	require.True(t, ok)
	require.True(t, fired.Success)
	require.EqualValues(t, timer.Due, outcome.Height)

	r.Node.Refuse = true
	_, _, err = remote.Schedule(ctx, from, factory, msg)
	require.ErrorContains(t, err, "the node refused transaction")
	r.Node.Refuse, r.Node.Polls = false, 0
	msg.Trigger = types.Trigger{Height: 3}
	_, _, err = remote.Schedule(ctx, from, factory, msg)
	require.ErrorContains(t, err, "failed at height")
}

// Each event is looked at by itself: another actor's failure in the same block is not one of ours.
func TestFollowFiltersEachEvent(t *testing.T) {
	r := clienttest.New(t)
	from := int64(r.Chain.Height()) + 1
	first, second := r.Schedule(20, 5), r.Schedule(20, 99_000_000)
	r.Blocks(10)
	kinds := func(actor string) (ids []string, failed int) {
		latest := int64(r.Chain.Height())
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		r.Node.OnLook = func() {
			if r.Node.Asked > 0 && latest < int64(r.Chain.Height()) {
				cancel()
			}
			latest = 0
		}
		err := remote.Follow(ctx, r.Node, actor, from, func(h remote.Happening) error {
			ids = append(ids, h.ID)
			if fired, ok := h.Event.(*types.TimerFired); ok && !fired.Success {
				failed++
			}
			return nil
		})
		require.ErrorIs(t, err, context.Canceled)
		return ids, failed
	}
	ids, failed := kinds(r.Alice)
	require.ElementsMatch(t, []string{first, second, first, second}, ids, "each once scheduled and once fired")
	require.Equal(t, 1, failed)
	ids, _ = kinds(r.Bob)
	require.Empty(t, ids)
	r.Node.OnLook = nil
	r.Node.Down = true
	require.ErrorContains(t, remote.Follow(context.Background(), r.Node, "", 1, nil), "ask the node for its height")
}
