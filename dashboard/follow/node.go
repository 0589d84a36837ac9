package follow

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	abci "github.com/cometbft/cometbft/abci/types"
	coretypes "github.com/cometbft/cometbft/rpc/core/types"
	"github.com/cosmos/gogoproto/proto"

	errorsmod "cosmossdk.io/errors"

	"github.com/cosmos/cosmos-sdk/client"

	"github.com/cosmos-timers/timers/dashboard/store"
	"github.com/cosmos-timers/timers/x/timers/client/event"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// RPC is what a follower asks a node.
type RPC interface {
	client.CometRPC
}

// Node is a Source over a node's RPC.
type Node struct{ RPC RPC }

var _ Source = Node{}

// State implements Source.
func (n Node) State(ctx context.Context) (State, error) {
	status, err := n.RPC.Status(ctx)
	if err != nil {
		return State{}, err
	}
	info, err := n.RPC.ABCIInfo(ctx)
	if err != nil {
		return State{}, err
	}
	sync := status.SyncInfo
	return State{
		ChainID: status.NodeInfo.Network, First: max(sync.EarliestBlockHeight, 1), Last: info.Response.LastBlockHeight,
		Time: sync.LatestBlockTime, CatchingUp: sync.CatchingUp,
	}, nil
}

// Hash implements Source.
func (n Node) Hash(ctx context.Context, height int64) (string, error) {
	block, err := n.RPC.Block(ctx, &height)
	if err != nil {
		return "", err
	}
	return block.BlockID.Hash.String(), nil
}

// Read implements Source. Results that the node does not keep are no error: the block says so.
func (n Node) Read(ctx context.Context, height int64) (store.Block, []store.Event, error) {
	found, err := n.RPC.Block(ctx, &height)
	if err != nil {
		return store.Block{}, nil, err
	}
	block := store.Block{
		Height: height, Hash: found.BlockID.Hash.String(), Parent: found.Block.LastBlockID.Hash.String(), Time: found.Block.Time.Unix(),
	}
	results, err := n.RPC.BlockResults(ctx, &height)
	if err != nil {
		if reason, gone := notKept(err); gone {
			block.Missing = reason
			return block, nil, nil
		}
		return block, nil, err
	}
	return block, read(&block, results), nil
}

// notKept reports whether an error is permanent, since the node does not keep the results, and why. The RPC has no codes
// for these.
func notKept(err error) (reason string, gone bool) {
	text := err.Error()
	for _, known := range [][2]string{
		{"could not find results for height", "the node has pruned its results"},
		{"not persisting finalize block", "the node keeps no results (discard_abci_responses)"},
	} {
		if strings.Contains(text, known[0]) {
			return known[1], true
		}
	}
	return "", false
}

// read takes the module's events: of the transactions that succeeded, then of the end of the block.
func read(block *store.Block, results *coretypes.ResultBlockResults) []store.Event {
	var events []store.Event
	take := func(found []abci.Event) {
		for _, e := range found {
			if !event.Ours(e) {
				continue
			}
			parsed, err := event.Parse(e)
			if err != nil {
				events = append(events, store.Event{Kind: "unreadable", Why: fmt.Sprintf("%.200s", err), Body: "{}"})
				continue
			}
			if summary, ok := parsed.(*types.TimerLaneSummary); ok {
				sumUp(block, summary)
				continue
			}
			events = append(events, Describe(event.Kind(e), parsed))
		}
	}
	for _, tx := range results.TxsResults {
		if tx.Code == 0 {
			take(tx.Events)
		}
	}
	take(results.FinalizeBlockEvents)
	return events
}

func sumUp(b *store.Block, s *types.TimerLaneSummary) {
	b.Fired, b.Failed, b.Expired, b.Unfunded = int64(s.Fired), int64(s.Failed), int64(s.Expired), int64(s.Unfunded)
	b.OnHold, b.Deferred, b.UsedSize, b.Storm = int64(s.OnHold), int64(s.Deferred), int64(s.UsedSize), s.Storm
	// A price that is no number is shown as 0.
	b.Basefee, _ = strconv.ParseFloat(s.LaneBasefee, 64)
}

// Describe is an event as it is stored.
func Describe(name string, message proto.Message) store.Event {
	e := store.Event{Kind: kindOf(name), Body: "{}"}
	stored := message
	if m, ok := message.(*types.TimerConfigUpdatedByGovernance); ok {
		// What policies add to a config is not written without a codec: the SDK would print a stack.
		bare := *m
		bare.Config.PolicyParams = nil
		stored = &bare
	}
	if body, err := json.Marshal(stored); err == nil {
		e.Body = string(body)
	}
	if about, ok := message.(interface{ GetId() string }); ok {
		e.Timer = about.GetId()
	}
	if about, ok := message.(interface{ GetActor() string }); ok {
		e.Actor = about.GetActor()
	}
	if failure, ok := message.(interface {
		GetCodespace() string
		GetCode() uint32
	}); ok && failure.GetCode() != 0 {
		e.Why = Meaning(failure.GetCodespace(), failure.GetCode())
	}
	if named, ok := message.(interface{ GetName() string }); ok {
		e.Name = named.GetName()
	}
	describeKind(&e, message)
	return e
}

// describeKind adds to an event what its kind says of itself.
func describeKind(e *store.Event, message proto.Message) {
	switch m := message.(type) {
	case *types.TimerFired:
		e.Paid, e.Cycles = m.Paid, int64(m.Cycles)
		switch {
		case m.Guarded:
			e.Kind, e.Why = "guarded", "a condition of only_if did not hold"
		case !m.Success:
			e.Kind = "failed"
		}
		if m.Ended != types.EndUnspecified {
			e.Why = strings.TrimPrefix(e.Why+"; ended: "+plain.End(m.Ended)+plain.Missing(m.Missing), "; ")
		}
	case *types.TimerOccurrencesSkipped:
		e.Kind, e.Paid, e.Why = "missed", m.Paid, plain.Count(m.Count, "occurrence")+": "+plain.Skipped(m.Reason)
		if m.Reason == types.SkipRequested || m.Reason == types.SkipPaused {
			e.Kind = "skipped" // By its owner.
		}
		if m.Ended != types.EndUnspecified {
			e.Why += "; ended: " + plain.End(m.Ended) + plain.Missing(m.Missing)
		}
	case *types.TimerAgentBilled:
		e.Paid = m.Paid
	case *types.TimerBidSettled:
		e.Paid = m.Paid
	case *types.TimerExpired:
		e.Why = strings.TrimPrefix(plain.Missing(m.Missing), ", ")
	case *types.TimerCancelledInsufficientFunds:
		e.Why = plain.Shortfall(m.Required, m.Available, m.AllowanceRefused)
	case *types.TimerDeferredInsufficientFunds:
		e.Why = plain.Shortfall(m.Required, m.Available, m.AllowanceRefused)
	case *types.TimerHeld:
		e.Kind = "on hold: " + m.Reason.Word()
		if m.Required != "" {
			e.Why = plain.Shortfall(m.Required, m.Available, m.AllowanceRefused)
		}
	}
}

// Meaning is what a codespace and a code stand for; state and events hold no text of errors.
func Meaning(codespace string, code uint32) string {
	text := errorsmod.ABCIError(codespace, code, "").Error()
	return fmt.Sprintf("%s (%s/%d)", strings.TrimPrefix(text, ": "), codespace, code)
}

// kindOf is the name of an event in words: TimerBidLocked is bid locked.
func kindOf(name string) string {
	switch name = strings.TrimPrefix(name, "Timer"); name {
	case "CancelledInsufficientFunds":
		return "unfunded"
	case "DeferredInsufficientFunds":
		return "waits for funds"
	}
	var words strings.Builder
	for i, letter := range strings.Replace(name, "ByGovernance", "", 1) {
		if i > 0 && letter >= 'A' && letter <= 'Z' {
			words.WriteByte(' ')
		}
		words.WriteRune(letter)
	}
	return strings.ToLower(words.String())
}
