// Package policies is what decides who fires when the lane is full (x/timers/README.md, "1.7 Policy").
//
// A policy is its rules, which are pure and in package market or below it; its traits, which are data; and what more it does, by
// the few optional interfaces of this file and of package contest. It reads no queue: the contest yields the candidates. FIFO and
// EIP1559 are the module's own, and Registry lists those of a chain. docs/extend/policy.md shows a whole policy written outside of the
// module.
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

// Policy is bound to state. Base has defaults for all methods but ID and Rules.
type Policy interface {
	Guest

	// ID is the value of the config's policy that selects it.
	ID() types.Policy
	// Traits are what else is known of it.
	Traits(config *types.TimerConfig) market.Traits
	// Rules are the pure rules with the config's parameters and the lane's state after the previous block.
	Rules(config *types.TimerConfig, lane *types.LaneState) market.Rules
	// CheckConfig refuses a config that selects the policy, since it would not do under it what it promises.
	CheckConfig(config *types.TimerConfig) error
	// Accept checks a bid that is well-formed and names no agent, while the policy is in force.
	Accept(ctx context.Context, config *types.TimerConfig, bid *types.Bid) (Accepted, error)
	// Relock locks the amount of a timer's new bid, or refuses the bid, and returns what was locked for the old one. The record is
	// written afterwards. A Locker that is not in force is called for a timer that has something locked.
	Relock(ctx context.Context, config *types.TimerConfig, t *types.Timer, inForce bool) error

	// Open begins a block in which the policy is in force. It returns the rules of the block, which may be bound to state: then
	// they are a Follower too, or what package contest asks of rules.
	Open(ctx sdk.Context, b *Block) (market.Rules, error)
	// Maintain does bounded work at the end of a block, and sets the policy's part of the lane's state. A policy that is not in
	// force is called as long as the lane's state has a message of its own.
	Maintain(ctx sdk.Context, b *Block, inForce bool) error
	// Activate is called before a config comes into force, whichever policy that selects.
	Activate(ctx context.Context, before, after *types.TimerConfig) error
	// Describe is what the query Lane shows of the policy if it is in force in the next block, or, of an actor, the query
	// Fairness; nil for nothing.
	Describe(ctx context.Context, config *types.TimerConfig, lane *types.LaneState, actor sdk.AccAddress) (types.PolicyStanding, error)
}

// Guest is what the core knows of a policy, and of bidding agents, as something with parameters and state of its own. What it
// keeps is there whether it is in force or not.
type Guest interface {
	state.Component

	// Messages are those that it brings along. A chain refuses a genesis with what no guest of the chain keeps.
	Messages() Messages
}

// Messages are those that a guest brings along.
type Messages struct {
	// Params are new parameters of its own with their defaults, nil if it has none. They are a message of the config's
	// policy_params, whose fields people set as NAME.field (types.PolicyName).
	Params types.PolicyParams
	// State is of the types of what it carries in policies of the lane's state, or keeps in policies of a genesis.
	State []types.PolicyState
	// Standing is of the types of what queries show of it.
	Standing []types.PolicyStanding
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
	// Quote adds to an estimate what a candidate would have to bid to come before the runner-up, and pay; nil if there is none.
	Quote(b *Block, c market.Candidate, runnerUp *market.Candidate, response *types.QueryEstimateResponse)
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

// Block is what policies know of a block, and what they write to it. It exists only during the block.
type Block struct {
	Height uint64
	// Config in force, the same in every step.
	Config types.TimerConfig
	// Before is the lane's state after the previous block, State that after this one.
	Before, State types.LaneState
	// Prices of the block. They depend on the previous block and the chain's fee market.
	Prices market.Prices
	// Rules of the policy in force.
	Rules market.Rules
	// Overhead is the budget for what no fire pays for.
	Overhead *market.Overhead
	// Recents are the fires within the fairness window of the units that were looked up.
	Recents *state.Recents
	// Preview: the block is only looked at, on a branch of state that is dropped.
	Preview bool
}

// SizeOf is the size of the lane that a timer's limits reserve, in cycles.
func (b *Block) SizeOf(t *types.Timer) uint64 { return b.Prices.Capacity.Size(t.GasLimit, t.CellLimit) }

// Follower is told what becomes of the timers of a block.
type Follower interface {
	// Tried is called after each fire, and where a timer lacks the funds or the room. Wanted: though the lane is full, it is to be
	// told of others that have no room.
	Tried(ctx sdk.Context, a Attempt) (wanted bool)
	// Close ends the fires of the block, and returns what they pay as tips in addition to those of their settlements.
	Close(ctx sdk.Context) (tips math.Int, err error)
}

// Attempt is what became of a timer that was tried.
type Attempt struct {
	// Verdict is fires, no_funds or no_room.
	Verdict types.Verdict
	// Timer as it was selected. Fresh: as it is now, if it had no room.
	Timer *types.Timer
	Fresh bool

	// Receipt of the fire. A policy may add to it until the block is closed.
	Receipt *types.Receipt
	// Priority is the tip per unit of size that it paid.
	Priority math.LegacyDec
	// Left: the timer has left for good.
	Left bool
	// Reserved: it came before all others, whatever it bid.
	Reserved bool
}

// Base is a Policy without state, with the simplest behaviour in each method. A policy embeds it.
type Base struct{}

// InitGenesis implements state.Component.
func (Base) InitGenesis(context.Context, *types.GenesisState) error { return nil }

// ExportGenesis implements state.Component.
func (Base) ExportGenesis(context.Context, *types.GenesisState) error { return nil }

// CheckInvariants implements state.Component.
func (Base) CheckInvariants(context.Context) error { return nil }

// Messages implements Guest: none.
func (Base) Messages() Messages { return Messages{} }

// Traits implements Policy: in force from the first block on, with gas limits up to MAX_CYCLES_PER_FIRE.
func (Base) Traits(config *types.TimerConfig) market.Traits {
	return market.Traits{GasCap: config.MaxCyclesPerFire}
}

// CheckConfig implements Policy.
func (Base) CheckConfig(*types.TimerConfig) error { return nil }

// Accept implements Policy: stated prices are stored and not used. An empty bid, and the deprecated integer bid, count as no bid.
func (Base) Accept(_ context.Context, _ *types.TimerConfig, bid *types.Bid) (Accepted, error) {
	if bid.Static == nil && bid.Tier == types.TierUnspecified {
		return Accepted{}, nil
	}
	return Accepted{Bid: bid}, nil
}

// Relock implements Policy: nothing is locked.
func (Base) Relock(context.Context, *types.TimerConfig, *types.Timer, bool) error { return nil }

// Open implements Policy.
func (Base) Open(_ sdk.Context, b *Block) (market.Rules, error) { return b.Rules, nil }

// Maintain implements Policy.
func (Base) Maintain(sdk.Context, *Block, bool) error { return nil }

// Activate implements Policy.
func (Base) Activate(context.Context, *types.TimerConfig, *types.TimerConfig) error { return nil }

// Describe implements Policy: nothing.
func (Base) Describe(context.Context, *types.TimerConfig, *types.LaneState, sdk.AccAddress) (types.PolicyStanding, error) {
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

// RegisterInterfaces makes the messages of a guest known to a registry, so that they can be decoded.
func RegisterInterfaces(registry codectypes.InterfaceRegistry, g Guest) {
	types.RegisterPolicyInterfaces(registry)
	messages := g.Messages()
	if params := messages.Params; params != nil {
		registry.RegisterImplementations((*types.PolicyParams)(nil), params)
	}
	for _, state := range messages.State {
		registry.RegisterImplementations((*types.PolicyState)(nil), state)
	}
	for _, standing := range messages.Standing {
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
	Open(b *Block, asked bool) types.AgentCalls
}

// NoAgents are those of a chain that registers none: who names an agent is refused.
type NoAgents struct{}

var _ Agents = NoAgents{}

var errNoAgents = types.ErrInvalidAgent.Wrap("this chain has no bidding agents")

// InitGenesis implements state.Component. The registry of the chain's policies refuses default agents, which nothing would keep.
func (NoAgents) InitGenesis(context.Context, *types.GenesisState) error { return nil }

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
func (NoAgents) Open(*Block, bool) types.AgentCalls { return noCalls{} }

// noCalls are those of a block of a chain without agents: a timer asks for what its owner stated.
type noCalls struct{}

var nothing = math.ZeroInt()

func (noCalls) Ask(t *types.Timer, _ bool) market.Ask { return t.Ask() }

func (noCalls) AskAll(sdk.Context, []*types.Timer) error { return nil }

func (noCalls) Of(*types.Timer) *types.AgentCall { return nil }

func (noCalls) Close(sdk.Context) (types.AgentTotals, error) {
	return types.AgentTotals{Billed: nothing}, nil
}
