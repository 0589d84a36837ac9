// Package policies is the seam between the engine and the policies, which decide who fires when the lane is full
// (x/timers/README.md, "1.7 Policy").
//
// A policy's pure rules are in package market and those below it; a Policy binds them to state. FIFO and EIP1559 are the module's
// own, and Registry lists those of a chain. The engine uses a policy only through the interfaces of this file. Window and Storm
// are rounds to build on. A policy that sorts the ready timers in memory embeds Window. One whose order can be kept in the ready
// index embeds Storm. docs/extend/policy.md shows a whole policy written outside of the module.
package policies

import (
	"context"

	"cosmossdk.io/collections"
	"cosmossdk.io/core/store"
	"cosmossdk.io/math"

	"github.com/cosmos/cosmos-sdk/codec"
	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/fees"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Parts are the components that a policy may use. They are the same instances that the engine uses.
type Parts struct {
	Codec codec.BinaryCodec
	// Schema is where a policy adds its own collections, below prefixes of its own.
	Schema    *collections.SchemaBuilder
	Store     store.KVStoreService
	Configs   *state.Configs
	Lane      *state.Lane
	Owners    *state.Owners
	Records   *state.Records
	Index     *state.Index
	Fairness  *state.Fairness
	Agents    Agents
	Fees      *fees.Fees
	Router    types.Router
	Addresses types.Addresses
}

// Policy decides the order and the prices of fires, and is bound to state. Base has defaults for all methods but ID,
// Rules and Open.
type Policy interface {
	Guest
	BidRules

	// ID is the value of the config's policy that selects it.
	ID() types.Policy
	// Starts reports whether the policy, if the config selects it, is in force at a height. Until then fifo is.
	Starts(config *types.TimerConfig, height uint64) bool
	// Rules are the pure rules with the config's parameters and the lane's state after the previous block.
	Rules(config *types.TimerConfig, lane *types.LaneState) market.Rules
	// GasCap is the largest gas limit that may fire, and the default one.
	GasCap(config *types.TimerConfig) uint64
	// CountsFires reports whether the order depends on the fairness window, so that fires are counted.
	CountsFires() bool
	// DefersUnfunded reports whether a timer whose payer lacks funds waits for as long as it may live, and is not removed.
	DefersUnfunded() bool
	// AsksAgents reports whether a timer's bid decides its place and its price per cycle, so that agents are called.
	AsksAgents() bool

	// Open begins a block in which the policy is in force.
	Open(ctx sdk.Context, b *Block) (Round, error)
	// Maintain does bounded work at the end of a block, and sets the policy's part of the lane's state. A policy that is not in
	// force is called as long as the lane's state has a message of its own.
	Maintain(ctx sdk.Context, b *Block, inForce bool) error
	// Activate is called before a config comes into force, whichever policy that selects.
	Activate(ctx context.Context, before, after *types.TimerConfig) error
	// Describe is what the query Lane shows of the policy if it is in force in the next block; nil for nothing.
	Describe(config *types.TimerConfig, lane *types.LaneState) types.PolicyStanding
	// DescribeActor is what the query Fairness shows of an actor then; nil for nothing.
	DescribeActor(
		ctx context.Context, config *types.TimerConfig, lane *types.LaneState, actor sdk.AccAddress,
	) (types.PolicyStanding, error)
}

// Locker is a policy that locks amounts of what is bid. It settles them whichever policy is in force. Without such a policy no
// timer of a genesis may have anything locked.
type Locker interface {
	Policy

	// Follow returns what settles locked bids in a block in which another policy is in force. It is notified of the fires from
	// the first one on whose timer has something locked.
	Follow(b *Block) Follower
	// Return returns all that is locked for a timer that leaves. If it can't, the timer does not leave: the message that removes
	// it fails, or, in a block, the timer is quarantined and keeps its lock.
	Return(ctx context.Context, t *types.Timer) error
}

// Guest is what the core knows of a policy, and of bidding agents, as something with parameters and state of its own. What it
// keeps is there whether it is in force or not.
type Guest interface {
	state.Component

	// Params are new parameters of its own with their defaults, nil if it has none. They are a message of the config's
	// policy_params, whose fields people set as NAME.field (types.PolicyName).
	Params() types.PolicyParams
	// Messages are the types of what else it keeps or shows. A chain refuses a genesis with what no guest of the chain keeps.
	Messages() Messages
}

// BidRules accept and lock the bids that owners state.
type BidRules interface {
	// Accept checks a bid that is well-formed and names no agent, while the policy is in force.
	Accept(ctx context.Context, config *types.TimerConfig, bid *types.Bid) (Accepted, error)
	// Relock locks the amount of a timer's new bid, and returns what was locked for the old one. The record is written
	// afterwards. A Locker that is not in force is called for a timer that has something locked.
	Relock(ctx context.Context, config *types.TimerConfig, t *types.Timer, inForce bool) error
}

// Accepted is a bid as it is stored, and what events report about it.
type Accepted struct {
	// Bid is nil for the default estimator.
	Bid *types.Bid
	// TipCap is what the max fee leaves to the tip, empty if that is all that the bid states.
	TipCap string
	// Ignored: the deprecated integer bid was stated. From RefusedFrom on it is refused, 0 if never.
	Ignored     bool
	RefusedFrom uint64
}

// Follower is notified of the fires of a block.
type Follower interface {
	// Fired is called after each fire.
	Fired(ctx sdk.Context, f Fire)
	// Close ends the fires of the block, and returns what they pay as tips in addition to those of their settlements.
	Close(ctx sdk.Context) (tips math.Int, err error)
}

// Fire is a fire that was made.
type Fire struct {
	// Timer as it was selected.
	Timer *types.Timer
	// Receipt of the fire. A policy may add to it until the block is closed.
	Receipt *types.Receipt
	// Priority is the tip per unit of size that it paid.
	Priority math.LegacyDec
	// Left: the timer has left for good.
	Left bool
	// Reserved: it came before all others, whatever it bid.
	Reserved bool
}

// Round is a policy at work in one block.
type Round interface {
	Follower
	Estimator

	// Collect reads what is due and may compete, and finds expired timers on the way.
	Collect(ctx sdk.Context) error
	// Rank calls the agents of the competing timers, and puts the timers into the order in which they are tried.
	Rank(ctx sdk.Context) error
	// Next returns the next timer in that order; false if there is none, or the lane has no room for any. Between two
	// calls fires may change state. It ends after a bounded number of calls, whatever the engine does with the timers.
	Next(ctx sdk.Context) (Turn, bool, error)
	// Withdraw takes a timer out of the order, because the engine gives it a turn itself. It reports whether the
	// timer was among those that compete.
	Withdraw(t *types.Timer) bool
	// Candidate is the timer as the rules see it.
	Candidate(ctx sdk.Context, t *types.Timer) market.Candidate
	// Price is what the rules say that a fire of its Candidate pays at the prices of the block. It is false if its owner is
	// not willing to.
	Price(t *types.Timer) (price market.Price, willing bool)
	// Skipped is called instead of a fire for a timer that Next returned and the engine passed over.
	Skipped(ctx sdk.Context, t *types.Timer, why Skip) error
	// Unfunded decides what happens to a timer whose payer can't cover the pre-charge.
	Unfunded(ctx sdk.Context, t *types.Timer, required math.Int) Disposition
}

// Turn is a timer whose turn it is.
type Turn struct {
	Timer *types.Timer
	// Fresh: it was read after the last fire. Otherwise the engine reads it again before it fires, since a handler may
	// have changed it.
	Fresh bool
	// Reserved: the engine gives the turn before all others, to a timer of RESERVED_ACTORS.
	Reserved bool
}

// Skip is why a timer is passed over.
type Skip struct {
	// NoRoom: it does not fit what is left of the lane.
	NoRoom bool
	// Capped: its actor has fired MAX_FIRES_PER_ACTOR times in this block.
	Capped bool
}

// Disposition is what happens to a timer without funds.
type Disposition int

const (
	// Leaves removes or suspends the timer, by its on_unfunded, within the budget of the GC lane.
	Leaves Disposition = iota
	// Waits leaves it ready.
	Waits
)

// Estimator is a round's part in the query Estimate: what a timer would cost, and how long it would wait.
type Estimator interface {
	// Weigh adds what the round knows of its actor to a candidate that is not scheduled yet. A nil actor is one without
	// recent fires. It returns the weight in the form that the query shows.
	Weigh(ctx sdk.Context, actor sdk.AccAddress, c *market.Candidate) (weight math.LegacyDec)
	// LockedBid is how much of an integer bid would be locked, or why the bid would be refused.
	LockedBid(bid string) (math.Int, error)
	// Bidding adds what the round can say of the bid itself.
	Bidding(ctx sdk.Context, c market.Candidate, response *types.QueryEstimateResponse) error
	// Affordable is the number of idle blocks after which a candidate that is priced out now is willing to pay, or, with an
	// error that says why that can't be predicted, the number of blocks that were looked at.
	// step is called before each block that is looked at, so that the work is paid for; there are at most MaxFollowed.
	Affordable(c market.Candidate, step func()) (blocks uint64, err error)
}

// Base is a Policy without state, with the simplest behaviour in each method. A policy embeds it.
type Base struct{}

// InitGenesis implements state.Component.
func (Base) InitGenesis(context.Context, *types.GenesisState) error { return nil }

// ExportGenesis implements state.Component.
func (Base) ExportGenesis(context.Context, *types.GenesisState) error { return nil }

// CheckInvariants implements state.Component.
func (Base) CheckInvariants(context.Context) error { return nil }

// Params implements Guest: none.
func (Base) Params() types.PolicyParams { return nil }

// Messages implements Guest: none.
func (Base) Messages() Messages { return Messages{} }

// Starts implements Policy: from the first block on.
func (Base) Starts(*types.TimerConfig, uint64) bool { return true }

// GasCap implements Policy: MAX_CYCLES_PER_FIRE.
func (Base) GasCap(config *types.TimerConfig) uint64 { return config.MaxCyclesPerFire }

// CountsFires implements Policy.
func (Base) CountsFires() bool { return false }

// DefersUnfunded implements Policy.
func (Base) DefersUnfunded() bool { return false }

// AsksAgents implements Policy.
func (Base) AsksAgents() bool { return false }

// Accept implements BidRules: stated prices are stored and not used. An empty bid, and the deprecated integer bid,
// count as no bid.
func (Base) Accept(_ context.Context, _ *types.TimerConfig, bid *types.Bid) (Accepted, error) {
	if bid.Static == nil && bid.Tier == types.TierUnspecified {
		return Accepted{}, nil
	}
	return Accepted{Bid: bid}, nil
}

// Relock implements BidRules: nothing is locked.
func (Base) Relock(context.Context, *types.TimerConfig, *types.Timer, bool) error { return nil }

// Maintain implements Policy.
func (Base) Maintain(sdk.Context, *Block, bool) error { return nil }

// Activate implements Policy.
func (Base) Activate(context.Context, *types.TimerConfig, *types.TimerConfig) error { return nil }

// Describe implements Policy: nothing.
func (Base) Describe(*types.TimerConfig, *types.LaneState) types.PolicyStanding { return nil }

// DescribeActor implements Policy: nothing.
func (Base) DescribeActor(context.Context, *types.TimerConfig, *types.LaneState, sdk.AccAddress) (types.PolicyStanding, error) {
	return nil, nil
}

// AcceptAtMost refuses a max fee below what the lane charges in this block, and caps a tip at what the max fee leaves.
func AcceptAtMost(bid types.StaticBid, fee math.LegacyDec) (Accepted, error) {
	remaining := bid.MaxFeePerCycle.Sub(fee)
	if remaining.IsNegative() {
		return Accepted{}, types.ErrRejectedBelowBasefee.Wrapf(
			"max_fee_per_cycle %s is below %s, what the lane charges per cycle in this block", bid.MaxFeePerCycle, fee)
	}
	accepted := Accepted{Bid: &types.Bid{Static: &bid}}
	if bid.MaxPriorityFeePerCycle.GT(remaining) {
		accepted.TipCap = decimal.Of(remaining).Text()
	}
	return accepted, nil
}

// Messages are the types of the messages that a guest brings along in addition to its parameters.
type Messages struct {
	// State is what it carries in policies of the lane's state, or keeps in policies of a genesis.
	State []types.PolicyState
	// Standing is what queries show of it.
	Standing []types.PolicyStanding
}

// RegisterInterfaces makes the messages of a guest known to a registry, so that they can be decoded.
func RegisterInterfaces(registry codectypes.InterfaceRegistry, g Guest) {
	types.RegisterPolicyInterfaces(registry)
	if params := g.Params(); params != nil {
		registry.RegisterImplementations((*types.PolicyParams)(nil), params)
	}
	for _, state := range g.Messages().State {
		registry.RegisterImplementations((*types.PolicyState)(nil), state)
	}
	for _, standing := range g.Messages().Standing {
		registry.RegisterImplementations((*types.PolicyStanding)(nil), standing)
	}
}

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
	// Ask is what a timer asks for in this block: what its agent answered, or what its owner stated. One whose agent was not
	// called in this block, under overload or for lack of cycles, asks for the last answer.
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
		if t.Spec.Bid != nil && t.Spec.Bid.Agent != "" || t.LastAnswer != nil {
			return types.ErrInvalidGenesis.Wrapf("timer %d: %s", i, errNoAgents)
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

func (noCalls) Ask(t *types.Timer, _ bool) market.Ask { return t.Ask() }

func (noCalls) AskAll(sdk.Context, []types.Timer) error { return nil }

func (noCalls) Note(*types.Timer) {}

func (noCalls) AskNoted(sdk.Context) ([]*types.Timer, error) { return nil, nil }

func (noCalls) CyclesFor(*types.Timer) uint64 { return 0 }

func (noCalls) ChargedFor(*types.Timer) math.Int { return nothing }

func (noCalls) Fired(*types.Timer) {}

func (noCalls) Close(sdk.Context) (math.Int, error) { return nothing, nil }

func (noCalls) Keep() {}

func (noCalls) Outcome() CallsOutcome { return CallsOutcome{Billed: nothing} }
