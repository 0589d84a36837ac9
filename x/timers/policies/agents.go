package policies

import (
	"context"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Agents are the bidding agents of a chain (x/timers/README.md, "1.9 Fairness and agents"). Package agents has them; a chain that
// does not register it has NoAgents.
type Agents interface {
	// Guest is what they keep: the default agents of actors, and what their calls carry from block to block.
	Guest
	state.TimerReader

	// Of returns the default agent of an actor, empty if it has none.
	Of(ctx context.Context, actor sdk.AccAddress) (sdk.AccAddress, error)
	// Set registers the default agent of an actor, which Check has accepted, or clears it if the agent is empty.
	Set(ctx context.Context, actor, agent sdk.AccAddress) error
	// Check refuses an address that can't be an agent, with ErrInvalidAgent.
	Check(ctx context.Context, agent sdk.AccAddress) error
	// Describe adds what the query Lane shows of their calls.
	Describe(lane *types.LaneState, response *types.QueryLaneResponse)
	// Open returns the calls of a block, at first without any. Asked: the policy in force lets agents price timers.
	Open(b *Block, asked bool) Calls
}

// Calls are the calls of agents in one block.
type Calls interface {
	// Ask is what a timer asks for in this block: what its agent answered, or what its owner stated. One whose agent was not called
	// in this block, under overload or for lack of cycles, asks for the last answer.
	Ask(t *types.Timer, storm bool) market.Ask
	// AskAll calls the agents of timers in queue order.
	AskAll(ctx sdk.Context, timers []types.Timer) error
	// Note adds a timer that is admitted or scanned under overload to those that AskNoted calls agents for.
	Note(t *types.Timer)
	// AskNoted calls the agents of the noted timers. It returns those timers whose agents were called.
	AskNoted(ctx sdk.Context) (asked []*types.Timer, err error)

	// CyclesFor is what the call for a timer took in this block, ChargedFor what the timer's payer was charged for it.
	CyclesFor(t *types.Timer) uint64
	ChargedFor(t *types.Timer) math.Int
	// Fired notes that a timer fired: its fire was billed for the call.
	Fired(t *types.Timer)
	// Close keeps the answers, emits an event for each call that no fire followed, and returns what these cost together.
	Close(ctx sdk.Context) (billed math.Int, err error)
	// Keep sets what the lane's state carries of the calls to the next block, after Close.
	Keep()
	// Outcome is what the calls came to, after Close.
	Outcome() CallsOutcome
}

// CallsOutcome is what the calls of a block came to.
type CallsOutcome struct {
	// Asked counts the calls, Failed those of them without a usable answer.
	Asked, Failed uint64
	// Cycles of all calls, at most AGENT_CYCLES_PER_BLOCK.
	Cycles uint64
	// Unasked counts the timers with an agent that was not called for them.
	Unasked uint32
	// Billed is what the calls cost that no fire followed.
	Billed math.Int
}

// NoAgents are those of a chain that registers none: who names an agent is refused.
type NoAgents struct{}

var _ Agents = NoAgents{}

var errNoAgents = types.ErrInvalidAgent.Wrap("this chain has no bidding agents")

// InitGenesis implements state.Component. The registry of the chain's policies refuses default agents, which nothing would keep.
func (NoAgents) InitGenesis(context.Context, *types.GenesisState) error { return nil }

// Params implements Guest: none.
func (NoAgents) Params() types.PolicyParams { return nil }

// Messages implements Guest: none.
func (NoAgents) Messages() Messages { return Messages{} }

// ReadTimers implements state.TimerReader: it refuses timers that name an agent.
func (NoAgents) ReadTimers(context.Context, *types.GenesisState) state.TimerReading {
	return state.TimerReading{Timer: func(i int, t *types.Timer) error {
		if t.Bid != nil && t.Bid.Agent != "" || t.LastAnswer != nil {
			return types.ErrInvalidGenesis.Wrapf("timer %d: %v", i, errNoAgents)
		}
		return nil
	}}
}

// ExportGenesis implements state.Component.
func (NoAgents) ExportGenesis(context.Context, *types.GenesisState) error { return nil }

// CheckInvariants implements state.Component.
func (NoAgents) CheckInvariants(context.Context) error { return nil }

// Of implements Agents.
func (NoAgents) Of(context.Context, sdk.AccAddress) (sdk.AccAddress, error) { return nil, nil }

// Set implements Agents: no actor has an agent that could be cleared.
func (NoAgents) Set(context.Context, sdk.AccAddress, sdk.AccAddress) error { return nil }

// Check implements Agents.
func (NoAgents) Check(context.Context, sdk.AccAddress) error { return errNoAgents }

// Describe implements Agents.
func (NoAgents) Describe(_ *types.LaneState, response *types.QueryLaneResponse) {
	response.AgentsBilled = nothing.String()
}

// Open implements Agents.
func (NoAgents) Open(*Block, bool) Calls { return noCalls{} }

// noCalls are those of a block of a chain without agents: a timer asks for what its owner stated.
type noCalls struct{}

var nothing = math.ZeroInt()

func (noCalls) Ask(t *types.Timer, _ bool) market.Ask { return t.Bid.Ask() }

func (noCalls) AskAll(sdk.Context, []types.Timer) error { return nil }

func (noCalls) Note(*types.Timer) {}

func (noCalls) AskNoted(sdk.Context) ([]*types.Timer, error) { return nil, nil }

func (noCalls) CyclesFor(*types.Timer) uint64 { return 0 }

func (noCalls) ChargedFor(*types.Timer) math.Int { return nothing }

func (noCalls) Fired(*types.Timer) {}

func (noCalls) Close(sdk.Context) (math.Int, error) { return nothing, nil }

func (noCalls) Keep() {}

func (noCalls) Outcome() CallsOutcome { return CallsOutcome{Billed: nothing} }
