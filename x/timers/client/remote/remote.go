// Package remote is for Go programs that use a node from outside: it schedules timers, waits for their outcomes, and follows
// what becomes of an actor's timers.
package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	coretypes "github.com/cometbft/cometbft/rpc/core/types"

	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/client/tx"

	"github.com/cosmos-timers/timers/x/timers/client/event"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// pollEvery is how often a node is asked for what is not there yet.
const pollEvery = 500 * time.Millisecond

// Schedule signs and broadcasts a timer, with the keys, the chain id and the node of from and the fees of factory, and waits
// until it is included. A factory that simulates finds the transaction's gas. It returns what the chain says of the timer,
// and the height at which it was scheduled.
//
// The error is the chain's if that refuses. If ctx ends first it is ErrUnknown, and names the transaction: that may still be
// included later.
func Schedule(
	ctx context.Context, from client.Context, factory tx.Factory, msg *types.MsgScheduleTimer,
) (*types.TimerScheduled, int64, error) {
	from = from.WithCmdContext(ctx)
	factory, err := factory.Prepare(from)
	if err != nil {
		return nil, 0, err
	}
	if factory.SimulateAndExecute() {
		_, gas, err := tx.CalculateGas(from, factory, msg)
		if err != nil {
			return nil, 0, err
		}
		factory = factory.WithGas(gas)
	}
	builder, err := factory.BuildUnsignedTx(msg)
	if err != nil {
		return nil, 0, err
	}
	if err := tx.Sign(ctx, factory, from.FromName, builder, true); err != nil {
		return nil, 0, err
	}
	raw, err := from.TxConfig.TxEncoder()(builder.GetTx())
	if err != nil {
		return nil, 0, err
	}
	node, err := from.GetNode()
	if err != nil {
		return nil, 0, err
	}
	before, err := node.ABCIInfo(ctx)
	if err != nil {
		return nil, 0, err
	}
	sent, err := node.BroadcastTxSync(ctx, raw)
	if err != nil {
		return nil, 0, err
	}
	if sent.Code != 0 {
		return nil, 0, fmt.Errorf("the node refused transaction %X: %s (%s, code %d)", sent.Hash, sent.Log, sent.Codespace, sent.Code)
	}
	included, err := Await(ctx, node, sent.Hash, before.Response.LastBlockHeight)
	if err != nil {
		return nil, 0, err
	}
	if result := included.TxResult; result.Code != 0 {
		return nil, included.Height, fmt.Errorf("transaction %X failed at height %d: %s (%s, code %d)",
			sent.Hash, included.Height, result.Log, result.Codespace, result.Code)
	}
	found, err := ScheduledIn(included)
	return found, included.Height, err
}

// ErrUnknown is within the error of a transaction that was broadcast and of which ctx ended before it was found: it may be
// included, or still become so.
var ErrUnknown = errors.New("what became of it is unknown")

// Await asks a node for a transaction that was broadcast until it is included, or ctx ends. It waits for a node that is
// away. A node without an index of transactions is asked for the blocks above since, the height before the broadcast.
func Await(ctx context.Context, node client.CometRPC, hash []byte, since int64) (*coretypes.ResultTx, error) {
	search := &search{node: node, hash: hash, next: since + 1, indexed: true}
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for {
		result, why := search.look(ctx)
		if why == nil {
			return result, nil
		}
		if errors.Is(why, errNotKept) {
			return nil, fmt.Errorf("transaction %X was broadcast, and %w: %w", hash, ErrUnknown, why)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("transaction %X was broadcast, and %w: %w: %w", hash, ErrUnknown, why, ctx.Err())
		case <-poll.C:
		}
	}
}

var (
	// errNotYet says that the node has every block so far, and the transaction is in none.
	errNotYet = errors.New("it is not included yet")
	// errNotKept says that the node has no index, and no longer the blocks that the transaction may be in.
	errNotKept = errors.New("the node has no index of transactions, and does not keep the block")
)

// search looks for a transaction.
type search struct {
	node    client.CometRPC
	hash    []byte
	next    int64
	indexed bool
}

// look returns the transaction, or why it does not.
func (s *search) look(ctx context.Context) (*coretypes.ResultTx, error) {
	if s.indexed {
		result, err := s.node.Tx(ctx, s.hash, false)
		switch {
		case err == nil:
			return result, nil
		case strings.Contains(err.Error(), "not found"):
			// The RPC has no code for what is not there yet.
			return nil, errNotYet
		case !strings.Contains(err.Error(), "indexing is disabled") && !strings.Contains(err.Error(), "not supported"):
			return nil, fmt.Errorf("the node is away: %w", err)
		}
		s.indexed = false
	}
	info, err := s.node.ABCIInfo(ctx)
	if err != nil {
		return nil, fmt.Errorf("the node is away: %w", err)
	}
	for ; s.next <= info.Response.LastBlockHeight; s.next++ {
		if found, err := s.inBlock(ctx, s.next); found != nil || err != nil {
			return found, err
		}
	}
	return nil, errNotYet
}

// inBlock looks for the transaction in a block.
func (s *search) inBlock(ctx context.Context, height int64) (*coretypes.ResultTx, error) {
	block, err := s.node.Block(ctx, &height)
	if err != nil {
		return nil, unread(height, err)
	}
	for i, tx := range block.Block.Txs {
		if !bytes.Equal(tx.Hash(), s.hash) {
			continue
		}
		results, err := s.node.BlockResults(ctx, &height)
		if err != nil {
			return nil, unread(height, err)
		}
		return &coretypes.ResultTx{Hash: s.hash, Height: height, Index: uint32(i), TxResult: *results.TxsResults[i], Tx: tx}, nil
	}
	return nil, nil
}

// unread tells a block that the node does not keep from a node that is away.
func unread(height int64, err error) error {
	for _, gone := range []string{"is not available", "could not find results", "not persisting finalize block"} {
		if strings.Contains(err.Error(), gone) {
			return fmt.Errorf("%w %d: %w", errNotKept, height, err)
		}
	}
	return fmt.Errorf("the node is away: %w", err)
}

// ScheduledIn is the first timer that an included transaction scheduled.
func ScheduledIn(included *coretypes.ResultTx) (*types.TimerScheduled, error) {
	for _, one := range included.TxResult.Events {
		if !event.Ours(one) || event.Kind(one) != "TimerScheduled" {
			continue
		}
		typed, err := event.Parse(one)
		if err != nil {
			return nil, fmt.Errorf("transaction %X: %w", included.Hash, err)
		}
		if found, ok := typed.(*types.TimerScheduled); ok {
			return found, nil
		}
	}
	return nil, fmt.Errorf("transaction %X was included at height %d, and says nothing of a timer", included.Hash, included.Height)
}
