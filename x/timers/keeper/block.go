package keeper

import (
	"context"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/calendar"
	"github.com/cosmos-timers/timers/x/timers/lane"
	"github.com/cosmos-timers/timers/x/timers/policy"
	"github.com/cosmos-timers/timers/x/timers/policy/auction"
	"github.com/cosmos-timers/timers/x/timers/policy/eip1559"
	"github.com/cosmos-timers/timers/x/timers/policy/fifo"
	"github.com/cosmos-timers/timers/x/timers/policy/score"
	"github.com/cosmos-timers/timers/x/timers/policy/tip"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// block is what the end of one block needs to know. It dies with the block; nothing per-block is a keeper field.
type block struct {
	height uint64
	// config in force, the same in every step.
	config types.TimerConfig
	policy policy.Rules
	// before is what the last block left, state what this one leaves.
	before, state types.LaneState

	// ready timers that compete, in queue order; set by collect, and under fifo extended while the lane has room. None in a
	// storm.
	ready []types.Timer
	// page is how many of them are read at once; unread is where those begin that were not read, if there are more.
	page   uint32
	unread *calendar.Key
	// storm: more timers are ready than the window holds; those in the ready index compete, and contest hands them out.
	storm   bool
	contest contest
	// indexed is how many timers lay in the ready index when the step began, filedAnew how many of them it gave another place
	// because they lay in that of another policy, or of other weights.
	indexed   uint64
	filedAnew uint32
	// expired timers that were met, in queue order; set by collect, shortened from the front by cleanUp.
	expired []types.Timer
	// unswept is where the leftovers of earlier blocks go on, if there are more than this block can remove.
	unswept *calendar.Key
	// order in which ready timers are tried, as indices; set by selectOrder.
	order  []int
	prices policy.Prices

	lane    lane.Budget
	cleanup lane.Cleanup
	// agents are the calls of bidding agents.
	agents agentCalls
	// admitted is by how many timers this block's steps changed the ready index.
	admitted int64
	// firesOf counts fires by actor, actors names them in the order of their first fire. Maps are looked up, never ranged
	// over.
	firesOf map[string]uint32
	actors  []sdk.AccAddress
	// weights remembers fairness weights that were looked up.
	weights map[string]uint32
	// recents remembers how often units fired, under policy score.
	recents map[string]recent
	// tipsPerCycle are what the fires paid, in their order.
	tipsPerCycle []math.LegacyDec
	// tip is what policy tip knows besides, nil under others; slices are the actors' parts of the lane, if the policy has them.
	tip    *tipBlock
	slices tip.Slices
	// bids of the fires, in their order. Those before rivalled have their rival; rivalReads counts the looks for one.
	bids                 []firedBid
	rivalled, rivalReads int
	// seen is what the auction observed.
	seen auction.Observation

	receipts     []types.Receipt
	burned, tips math.Int
	// passedOver counts those that did not fit what was left of the lane when it was their turn.
	passedOver int
	// left counts ready timers that are ready no more, deferred the others.
	left, deferred uint32
	// failed counts fires whose handler failed; expiredOut, unfunded and setAside count timers that went that way.
	failed, expiredOut, unfunded, setAside uint32
}

func (k *Keeper) newBlock(ctx context.Context) (*block, error) {
	config, err := k.Config(ctx)
	if err != nil {
		return nil, err
	}
	state, err := k.state.lane.Get(ctx)
	if err != nil {
		return nil, err
	}
	b := &block{
		height: heightOf(ctx),
		config: config,
		page:   config.CandidateWindow,
		policy: policyAt(&config, heightOf(ctx), &state),
		before: state,
		state:  state,
		lane: lane.Budget{
			MaxCycles: config.LaneTimerCycles, MaxCells: config.LaneTimerCells,
			CellsPerFire: config.MaxCellsPerFire, MaxFires: config.MaxFiresPerBlock,
		},
		cleanup: lane.Cleanup{MaxCycles: config.GcCyclesPerBlock, PerRemoval: config.GcCyclesPerRemoval},
		firesOf: map[string]uint32{},
		weights: map[string]uint32{},
		agents:  newAgentCalls(),
		recents: map[string]recent{},
		burned:  math.ZeroInt(),
		tips:    math.ZeroInt(),
	}
	b.openTip()
	return b, nil
}

// weighs tells whether the order depends on fairness weights, so that fires are counted.
func (b *block) weighs() bool {
	switch b.policy.(type) {
	case eip1559.Rules, score.Rules:
		return true
	}
	return false
}

// ordersByIndex tells whether the order follows from the ready index, so that under overload all that was admitted competes.
// Under a policy without one, the timers of the window compete: the oldest.
func (b *block) ordersByIndex() bool {
	switch b.policy.(type) {
	case eip1559.Rules, score.Rules:
		return true
	}
	return false
}

// policyAt is the policy in force at the height, with what the block before left of it.
func policyAt(config *types.TimerConfig, height uint64, state *types.LaneState) policy.Rules {
	switch config.PolicyAt(height) {
	case types.PolicyEIP1559:
		return config.EIP1559()
	case types.PolicyTip:
		return config.Tip()
	case types.PolicyAuction:
		return config.Auction(state.Auction)
	case types.PolicyScore:
		return config.Score()
	default:
		return fifo.Rules{}
	}
}

func (b *block) feeCoins(amount math.Int) sdk.Coins {
	return sdk.NewCoins(sdk.NewCoin(b.config.FeeDenom, amount))
}

// actorMayFire tells whether MAX_FIRES_PER_ACTOR leaves the actor a fire in this block.
func (b *block) actorMayFire(actor sdk.AccAddress) bool {
	return b.config.MaxFiresPerActor == 0 || b.firesOf[string(actor)] < b.config.MaxFiresPerActor
}

// book counts a fire.
func (b *block) book(actor sdk.AccAddress, result fireResult) {
	b.lane.Spend(result.receipt.Cycles, result.receipt.Cells)
	if b.firesOf[string(actor)]++; b.firesOf[string(actor)] == 1 {
		b.actors = append(b.actors, actor)
	}
	b.tipsPerCycle = append(b.tipsPerCycle, result.price.Priority)
	b.receipts = append(b.receipts, result.receipt)
	b.burned = b.burned.Add(result.settlement.Burned)
	b.tips = b.tips.Add(result.settlement.Tip)
	if !result.receipt.Success {
		b.failed++
	}
}
