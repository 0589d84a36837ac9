package remote

import (
	"context"
	"errors"
	"fmt"
	"time"

	abci "github.com/cometbft/cometbft/abci/types"
	"github.com/cosmos/gogoproto/proto"

	"github.com/cosmos/cosmos-sdk/client"

	"github.com/cosmos-timers/timers/x/timers/client/event"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Happening is an event of one timer.
type Happening struct {
	// Height of the block that emitted it.
	Height int64
	// Actor and ID, in hexadecimal, name the timer.
	Actor, ID string
	// Event is the module's, such as *types.TimerFired.
	Event proto.Message
}

// ErrStop ends Follow without an error.
var ErrStop = errors.New("stop")

// Follow calls each for everything that happens to an actor's timers, block by block from a height on, until ctx ends or each
// returns an error. An empty actor means everybody's. No event is left out or given twice: blocks are read one after the
// other, also those made before the call, as far back as the node keeps them.
//
// A subscription at a node matches its conditions across all events of a block. Here each event is looked at by itself.
//
// Follow returns nil after ErrStop, and otherwise the error of each, of ctx, or of the node. Call it again with the height
// behind the last one that was seen to continue after a failure of the node.
func Follow(ctx context.Context, node client.CometRPC, actor string, from int64, each func(Happening) error) error {
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for height := from; ; {
		info, err := node.ABCIInfo(ctx)
		if err != nil {
			return fmt.Errorf("ask the node for its height: %w", err)
		}
		for ; height <= info.Response.LastBlockHeight; height++ {
			if err := block(ctx, node, actor, height, each); errors.Is(err, ErrStop) {
				return nil
			} else if err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-poll.C:
		}
	}
}

// block gives the events of one block.
func block(ctx context.Context, node client.CometRPC, actor string, height int64, each func(Happening) error) error {
	results, err := node.BlockResults(ctx, &height)
	if err != nil {
		return fmt.Errorf("ask for the results of height %d: %w", height, err)
	}
	var events []abci.Event
	for _, result := range results.TxsResults {
		// A transaction that failed did nothing but pay.
		if result.Code == 0 {
			events = append(events, result.Events...)
		}
	}
	for _, one := range append(events, results.FinalizeBlockEvents...) {
		if !event.Ours(one) {
			continue
		}
		typed, err := event.Parse(one)
		if err != nil {
			continue // An event of a newer version of the module.
		}
		named, ok := typed.(interface {
			GetActor() string
			GetId() string
		})
		if !ok || actor != "" && named.GetActor() != actor {
			continue
		}
		if err := each(Happening{Height: height, Actor: named.GetActor(), ID: named.GetId(), Event: typed}); err != nil {
			return err
		}
	}
	return nil
}

// Outcome waits for the first of a timer's fires, or for its end without one: a *types.TimerFired, TimerExpired,
// TimerCancelled..., whichever comes first from a height on.
func Outcome(ctx context.Context, node client.CometRPC, actor, id string, from int64) (outcome Happening, err error) {
	err = Follow(ctx, node, actor, from, func(h Happening) error {
		if h.ID != id {
			return nil
		}
		switch h.Event.(type) {
		case *types.TimerFired, *types.TimerExpired, *types.TimerCancelled, *types.TimerCancelledByGovernance,
			*types.TimerCancelledInsufficientFunds, *types.TimerCancelledNotAdmin:
			outcome = h
			return ErrStop
		default:
			return nil
		}
	})
	return outcome, err
}
