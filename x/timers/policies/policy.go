// Package policies is the seam between the engine and the policies, which decide who fires when the lane is full
// (x/timers/README.md, "1.7 Policy").
//
// A policy's pure rules are in package market and those below it; a Policy binds them to state. FIFO and EIP1559 are the module's
// own, and Registry lists those of a chain. The engine uses a policy only through the interfaces of this file. Window and Storm
// are rounds to build on. A policy that sorts the ready timers in memory embeds Window. One whose order can be kept in the ready
// index embeds Storm. docs/policy.md shows a whole policy written outside of the module.
package policies

import (
	"context"

	"cosmossdk.io/collections"
	"cosmossdk.io/core/store"
	"cosmossdk.io/math"

	"github.com/cosmos/cosmos-sdk/codec"
	sdk "github.com/cosmos/cosmos-sdk/types"

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
	// ReturnsLocked reports whether it returns what timers have locked: without such a policy no timer of a genesis may have.
	ReturnsLocked() bool
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
	// Follow begins a block in which another policy is in force; nil if nothing is to be done for its fires.
	Follow(ctx sdk.Context, b *Block) Follower
	// Reset removes from the record of a repeating timer what belongs to the current fire, before its handler runs. It
	// is called under every policy.
	Reset(next *types.Timer)
	// Maintain does bounded work at the end of a block, and sets the policy's part of the lane's state.
	Maintain(ctx sdk.Context, b *Block, inForce bool) error
	// Activate is called before a config comes into force.
	Activate(ctx context.Context, before, after *types.TimerConfig) error
	// Describe is what the query Lane shows of the policy if it is in force in the next block; nil for nothing.
	Describe(config *types.TimerConfig, lane *types.LaneState) types.PolicyStanding
	// DescribeActor is what the query Fairness shows of an actor then; nil for nothing.
	DescribeActor(
		ctx context.Context, config *types.TimerConfig, lane *types.LaneState, actor sdk.AccAddress,
	) (types.PolicyStanding, error)
}

// Guest is what the core knows of a policy, and of bidding agents, as something with parameters and state of its own. What it
// keeps is there whether it is in force or not.
type Guest interface {
	state.Component

	// Params are new parameters of its own with their defaults, nil if it has none. They are a message of the config's policy_params,
	// whose fields people set as NAME.field (types.PolicyName).
	Params() types.PolicyParams
	// Messages are the types of what else it keeps or shows. A chain refuses a genesis with what no guest of the chain keeps.
	Messages() Messages
}

// BidRules accept and lock the bids that owners state.
type BidRules interface {
	// Accept checks a bid that is well-formed and names no agent, while the policy is in force.
	Accept(ctx context.Context, config *types.TimerConfig, bid *types.Bid) (Accepted, error)
	// Relock locks the amount of a timer's new bid, and returns what was locked for the old one. It is called under
	// every policy; the record is written afterwards.
	Relock(ctx context.Context, config *types.TimerConfig, t *types.Timer, inForce bool) error
}

// Accepted is a bid as it is stored, and what events report about it.
type Accepted struct {
	// Bid is nil for the default estimator.
	Bid *types.Bid
	// Stated is the tip before it was clamped, nil if it was not.
	Stated *math.LegacyDec
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
