// Package remote is for Go programs that use a node from outside: it schedules timers, waits for their outcomes, and follows
// what becomes of an actor's timers.
package remote

import (
	"context"
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
// The error is the chain's if that refuses. If ctx ends first, the transaction may still be included later.
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
	sent, err := node.BroadcastTxSync(ctx, raw)
	if err != nil {
		return nil, 0, err
	}
	if sent.Code != 0 {
		return nil, 0, fmt.Errorf("the node refused transaction %X: %s (%s, code %d)", sent.Hash, sent.Log, sent.Codespace, sent.Code)
	}
	included, err := Await(ctx, node, sent.Hash)
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

// Await asks a node for a transaction that was broadcast until it is included, or ctx ends.
func Await(ctx context.Context, node client.CometRPC, hash []byte) (*coretypes.ResultTx, error) {
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for {
		result, err := node.Tx(ctx, hash, false)
		if err == nil {
			return result, nil
		}
		// The RPC has no code for what is not there yet.
		if ctx.Err() == nil && !strings.Contains(err.Error(), "not found") {
			return nil, fmt.Errorf("ask for transaction %X, which was broadcast: %w", hash, err)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("transaction %X was broadcast and is not included yet: %w", hash, ctx.Err())
		case <-poll.C:
		}
	}
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
