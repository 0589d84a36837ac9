package remote_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	coretypes "github.com/cometbft/cometbft/rpc/core/types"
	cmttypes "github.com/cometbft/cometbft/types"
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
	msg := &types.MsgScheduleTimer{Sender: r.Alice, Spec: types.TimerSpec{Trigger: types.Trigger{After: 2}, Call: types.TimerCall{Messages: r.Messages(r.Send(r.Alice, r.Bob, 5))}}}

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
	msg.Spec.Trigger = types.Trigger{Height: 3}
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

// line is a node that is away for some requests, has no index of transactions, or keeps blocks from a height on only.
type line struct {
	*clienttest.Node
	lost     int
	noIndex  bool
	keepFrom int64
	block    int64
	tx       cmttypes.Tx
}

func (l *line) away() error {
	if l.lost > 0 {
		l.lost--
		return errors.New("connection refused")
	}
	return nil
}

func (l *line) Tx(ctx context.Context, hash []byte, prove bool) (*coretypes.ResultTx, error) {
	if err := l.away(); err != nil {
		return nil, err
	}
	if l.noIndex {
		return nil, errors.New("RPC error -32603 - Internal error: transaction indexing is disabled")
	}
	return l.Node.Tx(ctx, hash, prove)
}

func (l *line) Block(_ context.Context, height *int64) (*coretypes.ResultBlock, error) {
	if *height < l.keepFrom {
		return nil, fmt.Errorf("height %d is not available, lowest height is %d", *height, l.keepFrom)
	}
	block := &cmttypes.Block{}
	if *height == l.block {
		block.Txs = cmttypes.Txs{l.tx}
	}
	return &coretypes.ResultBlock{Block: block}, l.away()
}

// A transaction that was broadcast is found after an outage, and in the blocks of a node without an index.
func TestAwait_WaitsThroughOutagesAndWithoutAnIndex(t *testing.T) {
	r := clienttest.New(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	before := int64(r.Chain.Height())
	builder := r.Ctx.TxConfig.NewTxBuilder()
	require.NoError(t, builder.SetMsgs(&types.MsgScheduleTimer{
		Sender: r.Alice, Spec: types.TimerSpec{Trigger: types.Trigger{After: 20}, Call: types.TimerCall{Messages: r.Messages(r.Send(r.Alice, r.Bob, 5))}},
	}))
	raw, err := r.Ctx.TxConfig.TxEncoder()(builder.GetTx())
	require.NoError(t, err)
	sent, err := r.Node.BroadcastTxSync(ctx, raw)
	require.NoError(t, err)

	node := &line{Node: r.Node, lost: 3, tx: raw}
	included, err := remote.Await(ctx, node, sent.Hash, before)
	require.NoError(t, err)
	require.Zero(t, node.lost)
	found, err := remote.ScheduledIn(included)
	require.NoError(t, err)

	node.noIndex, node.block, node.lost = true, included.Height, 2
	r.Blocks(2)
	again, err := remote.Await(ctx, node, sent.Hash, before)
	require.NoError(t, err)
	require.Equal(t, included.Height, again.Height)
	same, err := remote.ScheduledIn(again)
	require.NoError(t, err)
	require.Equal(t, found.Id, same.Id)

	// What can't be found out is told as that, and not as a failure.
	node.keepFrom = included.Height + 1
	_, err = remote.Await(ctx, node, sent.Hash, before)
	require.ErrorIs(t, err, remote.ErrUnknown)
	require.ErrorContains(t, err, fmt.Sprintf("transaction %X was broadcast", sent.Hash))
	require.ErrorContains(t, err, fmt.Sprintf("does not keep the block %d", before+1))
	over, end := context.WithCancel(ctx)
	end()
	node.noIndex, node.lost = false, 1
	_, err = remote.Await(over, node, sent.Hash, before)
	require.ErrorIs(t, err, remote.ErrUnknown)
	require.ErrorContains(t, err, "the node is away: connection refused")
}
