package types

import (
	"context"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
)

// Call is what a timer does when it fires: it calls a handler of its actor with a payload.
type Call struct {
	Actor   sdk.AccAddress
	Handler string
	Payload []byte
	// Messages: the payload is an encoded AccountPayload, and was stated as messages. A record keeps it only for actors whose
	// payloads can be something else (Timer.runs_messages).
	Messages bool
}

// Delivery is one fire of a timer, handed to the runtime that serves its actor (x/timers/README.md, "1.12 Delivery").
type Delivery struct {
	Call
	TimerID   []byte
	DeliverID []byte
	// Height at which it fires.
	Height uint64
	// Due is the height at which it became due; for a watch, that of the first change that it delivers. It is late if this
	// is below Height.
	Due uint64
	// Scheduler is who scheduled the timer, where that is not the actor but its admin; else empty.
	Scheduler sdk.AccAddress
	// Trigger is the name of the timer's kind of trigger: height, after, interval, time, calendar or watch.
	Trigger string
	// FireSeq is the number of the timer's earlier deliveries.
	FireSeq uint32
	// Matched are the watched keys whose change made it due, at most MAX_MATCHED_KEYS; none for other triggers.
	Matched []WatchedKey
	// Occurrence is what is delivered of a time or a calendar, in seconds since 1970, or of an interval from its schedule, as a
	// height, and Index its number from 1 on; 0 for other triggers. A timer never delivers one twice, but for retries.
	Occurrence, Index uint64
}

// Runtime runs the handlers of one kind of actor (x/timers/README.md, "1.3 Actor"). Every method is deterministic.
// Validate and Deliver access state through ctx only and are metered by its gas meter. If they fail or panic, only this
// timer is affected.
type Runtime interface {
	// Serves reports whether the actor exists and is of this runtime's kind.
	Serves(ctx context.Context, actor sdk.AccAddress) bool
	// Validate is called at scheduling. It refuses a call that can never succeed.
	Validate(ctx context.Context, config *TimerConfig, call Call) error
	// Deliver runs the handler. What it wrote is dropped if it returns an error or panics.
	Deliver(ctx context.Context, config *TimerConfig, delivery Delivery) error
	// Deployer is the address that deployed the actor, or the actor itself if it is of a kind that is not deployed. Under
	// FAIRNESS_UNIT deployer, the actors of one deployer share a weight.
	Deployer(ctx context.Context, actor sdk.AccAddress) sdk.AccAddress
}

// MessageRuntime is a Runtime that decodes SDK messages from payloads. What that takes is counted before it is done.
type MessageRuntime interface {
	Runtime
	// RunsMessages reports whether the payload of a call is messages: always, or where the call says so.
	RunsMessages(call Call) bool
	// MessageBytes is what the messages of a call count as (PayloadShape). It decodes nothing, and takes time in
	// proportion to the payload. It refuses messages that must not be decoded: too many of them, too deep, or of a type
	// that never runs in a timer.
	MessageBytes(call Call) (uint64, error)
}

// GasRuntime is a Runtime whose calls use cycles before their own code begins.
type GasRuntime interface {
	Runtime
	// LeastCycles is what a call, which has been validated, takes of its gas limit before its code begins. A timer whose gas
	// limit leaves less is refused at scheduling. What it reads it charges to ctx.
	LeastCycles(ctx context.Context, call Call) (uint64, error)
}

// FailureReporter is a Runtime that reports deliveries which failed. What they wrote is dropped by then, and so are their events.
type FailureReporter interface {
	Runtime
	// Failed gets what the delivery is billed, its error, and a copy of its gas meter. It emits events, and writes nothing.
	Failed(ctx context.Context, delivery Delivery, cycles, cells uint64, failure error)
}

// CoinsWanted is the error of one of a delivery's own messages (x/timers/README.md, "5.2 Settlement").
type CoinsWanted interface {
	error
	// CoinsWanted are the coins that the delivery's messages state at top level, up to the one that failed for want of coins, one of
	// a denom; none if it failed for another reason, or within what it carries or calls.
	CoinsWanted() []sdk.Coin
}

// Router finds the runtime that serves an actor: the first registered one that reports so.
type Router interface {
	// Route returns the runtime that serves the actor, or ErrUnknownActor.
	Route(ctx context.Context, actor sdk.AccAddress) (Runtime, error)
}

// AgentBaseCycles are counted for every call of an agent, in addition to what it uses itself. Finding it, encoding the
// request and decoding the answer are work too.
const AgentBaseCycles = 5_000

// Quoter is a Runtime whose actors can be bidding agents. Both methods read state through ctx only and are
// metered by its gas meter; what Quote writes is dropped, and that it tried is a failure.
type Quoter interface {
	// Quotes reports whether the actor may be named as an agent.
	Quotes(ctx context.Context, agent sdk.AccAddress) bool
	// Quote asks the agent. After an error, a panic or an invalid answer the default bid is used.
	Quote(ctx context.Context, agent sdk.AccAddress, about BidContext) (AgentQuote, error)
}

// AgentCalls are the calls of bidding agents in one block.
type AgentCalls interface {
	// Ask is what a timer asks for in this block: what its agent answered, or what its owner stated. One whose agent was not
	// called in this block, for lack of cycles or, if it is in the ready index, at all, asks for the last answer.
	Ask(t *Timer, indexed bool) market.Ask
	// AskAll calls the agents of timers that are in the order of the queue.
	AskAll(ctx sdk.Context, timers []*Timer) error
	// Of is the call for a timer in this block, nil if there was none.
	Of(t *Timer) *AgentCall
	// Close ends the calls when the fires are over: it keeps the answers, and emits an event for each call that no fire followed.
	Close(ctx sdk.Context) (AgentTotals, error)
}

// AgentCall is one of them.
type AgentCall struct {
	// Cycles that it took, and what the timer's payer was charged for it.
	Cycles  uint64
	Charged math.Int
	// Followed: the timer fired, and its fire is billed for the call.
	Followed bool
}

// AgentTotals are what the calls of a block came to.
type AgentTotals struct {
	// Asked counts the calls, Failed those of them without a usable answer.
	Asked, Failed uint64
	// Cycles of all calls, at most AGENT_CYCLES_PER_BLOCK.
	Cycles uint64
	// Unasked counts the timers with an agent that was not called for them.
	Unasked uint32
	// Billed is what the calls cost that no fire followed.
	Billed math.Int
}

// BidContext is the request to an agent: the timer that it prices, and the block.
type BidContext struct {
	TimerID []byte
	// Actor owns the timer; Balance is what it has, in units of the fee denom.
	Actor   sdk.AccAddress
	Balance math.Int
	// Due is the height at which the timer became due this time, Height the present one.
	Due, Height uint64
	// Prices of this block, in fee denom per cycle and per cell.
	Prices market.Prices
	// LastCycles is what the lane used in the block before.
	LastCycles uint64
}

// Validate checks that the answer's prices are there and within the bounds of prices.
func (q *AgentQuote) Validate() error {
	for _, price := range []struct {
		name  string
		value math.LegacyDec
	}{
		{"max_fee_per_cycle", q.MaxFeePerCycle},
		{"max_priority_fee_per_cycle", q.MaxPriorityFeePerCycle},
		{"max_fee_per_cell", q.MaxFeePerCell},
	} {
		if err := ValidatePrice(ErrInvalidQuote, price.name, price.value); err != nil {
			return err
		}
	}
	return nil
}

// Ask is what the answer asks of the lane, as it was filed.
func (q *AgentQuote) Ask() market.Ask {
	if q.CellPricedOut {
		return market.Ask{Kind: market.CellPricedOut}
	}
	return market.StatedAsk(q.MaxFeePerCycle, q.MaxPriorityFeePerCycle)
}

// At is the answer at a price of a cell, priced out if that is more than it allows.
func (q *AgentQuote) At(cell math.LegacyDec) *AgentQuote {
	if q == nil {
		return nil
	}
	at := *q
	at.CellPricedOut = cell.GT(q.MaxFeePerCell)
	return &at
}
