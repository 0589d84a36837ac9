package engine

import (
	"math/big"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/contest"
	"github.com/cosmos-timers/timers/x/timers/fees"
	"github.com/cosmos-timers/timers/x/timers/logmap"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/report"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// block is the state of the end of one block. It exists only during that block.
type block struct {
	*policies.Block
	// policy in force, and its traits.
	policy policies.Policy
	traits market.Traits
	// contest yields the timers that are tried.
	contest *contest.Contest
	// followers are told of what becomes of the timers: the policy in force, if it wants to be, and, from the first fire of a timer
	// with a locked bid on, those that settle the bids locked under other policies, which come first.
	followers []policies.Follower
	settles   bool
	// calls are those of bidding agents, and what they came to.
	calls  types.AgentCalls
	called types.AgentTotals
	// lane is the budget for fires.
	lane market.Budget
	// basefees are the chain's part of the prices, and whether its fee market gave them.
	basefees fees.Basefees

	// funds of the payers.
	funds funds
	// session is what the block's steps change, until it is written.
	session *logmap.Session
	// watch times the steps.
	watch report.Stopwatch
	// totals of the fires and the cleanup.
	totals totals
}

// funds is what a block knows of timers whose payers can't cover them (x/timers/README.md, "5.2 Settlement").
//
// Such a timer has one try. If its payer could not cover it at the lowest price either, it is unfunded, and leaves while
// the GC lane lasts. Otherwise it is put on hold, so that no later block tries it. Timers on hold are looked at one after the
// other: each returns, stays or leaves.
type funds struct {
	*fees.Shortfalls
	// least is the lowest price of a fire, which a block without such timers does not need.
	least func() market.Price
	// promised is what the timers will need that this block returns to the queue, by payer. It is looked up, never ranged over.
	promised map[string]math.Int
}

// tryUnpaid takes a try from the meter that no one is billed for. Once there is one, the order ends with the meter.
func (b *block) tryUnpaid() {
	b.contest.Unpaid++
	b.Overhead.Consume(market.Try, 1)
}

// billedCycles is the sum that a fire is billed: its own cycles, those of its agent's call, and what was prepaid for the
// repetitions that passed without funds, if it restores them. It is at most the gas limit, for which the fire was pre-charged. What
// of the call lies beyond is paid for by itself.
func (b *block) billedCycles(t *types.Timer, cycles uint64, short bool) (billed, beyond uint64) {
	called := uint64(0)
	if call := b.calls.Of(t); call != nil {
		called = call.Cycles
	}
	all := cycles + called
	stays := t.Spec.OnUnfunded == types.OnUnfundedSkip || t.Spec.OnUnfunded == types.OnUnfundedSuspend
	if !short || !stays { // Rent that lacks its coins restores none.
		all += market.LapseCycles * uint64(t.Owed)
	}
	return min(all, t.GasLimit), min(called, all-min(all, t.GasLimit))
}

// withCall is the settlement of a fire that pays for so many cycles of its agent's call beyond its gas limit, too.
func (b *block) withCall(s market.Settlement, beyond uint64) market.Settlement {
	if beyond == 0 {
		return s
	}
	return s.Keep(b.Prices.Cycle.MulInt(math.NewIntFromUint64(beyond)).Ceil().TruncateInt())
}

// fireResult is what one fire did, for the block's totals.
type fireResult struct {
	// ran: the handler was called, so that the fire is charged whatever fails afterwards.
	ran     bool
	receipt types.Receipt
	// runtime is the name of what served the actor.
	runtime    string
	price      market.Price
	settlement market.Settlement
	// left: the timer has left for good.
	left bool
}

// total is a sum that grows in place: the sums of integers are copies, one for each addition.
type total struct{ sum big.Int }

func (t *total) add(amount math.Int) { t.sum.Add(&t.sum, amount.BigIntMut()) }

func (t *total) amount() math.Int { return math.NewIntFromBigInt(&t.sum) }

// totals sum up the fires and the cleanup of one block.
type totals struct {
	// made are the fires, in their order.
	made []report.Fire
	// firesOf counts fires by actor, actors names them in the order of their first fire. Maps are looked up, never
	// ranged over.
	firesOf map[string]uint32
	actors  []sdk.AccAddress
	// tipped is what the fires paid per unit of size as tips, in their order.
	tipped []market.Tipped
	// burned, laneBurned and tips are the sums of the fires.
	burned, laneBurned, tips total
	// failed and guarded count the fires whose handler failed, and those that ran none; verdicts the timers that were tried.
	failed, guarded uint32
	verdicts        types.Verdicts
	// expired, unfunded and notAdmin count the timers that left so, deferred those that stay ready.
	expired, unfunded, notAdmin, deferred uint32
	// looks counts the timers without room that were read again.
	looks int
	// held and released are the reasons of the timers that were put on hold, and of those that returned.
	held, released []types.HoldReason
	// watchHits counts the watches that a change was found for.
	watchHits uint64
}

// noteHeld notes a timer that was on hold.
func (b *totals) noteHeld(ctx sdk.Context, timer *types.Timer, reason types.HoldReason) {
	b.held = append(b.held, reason)
	report.LogTimer(ctx.Logger(), timer, "a timer was put on hold", "reason", reason)
}

// noteVerdict notes why a timer that was tried does not fire.
func (b *totals) noteVerdict(ctx sdk.Context, timer *types.Timer, verdict types.Verdict) {
	b.verdicts[verdict]++
	report.LogTimer(ctx.Logger(), timer, "a timer does not fire", "verdict", verdict.Word())
}

// enter enters a fire, which was billed for the call of its agent, and returns its receipt.
func (b *block) enter(timer *types.Timer, result fireResult) *types.Receipt {
	if call := b.calls.Of(timer); call != nil {
		call.Followed = true
	}
	t := &b.totals
	if t.firesOf[string(timer.Actor)]++; t.firesOf[string(timer.Actor)] == 1 {
		t.actors = append(t.actors, timer.Actor)
	}
	size := result.price.Capacity.Size(result.receipt.Cycles, result.receipt.Cells)
	t.tipped = append(t.tipped, market.Tipped{Priority: result.price.Priority, Size: size})
	t.made = append(t.made, report.Fire{Receipt: &result.receipt, Runtime: result.runtime})
	t.burned.add(result.settlement.Burned)
	t.laneBurned.add(result.settlement.LaneBurned)
	t.tips.add(result.settlement.Tip)
	switch r := &result.receipt; {
	case r.Guarded:
		t.guarded++
	case !r.Success:
		t.failed++
	}
	return &result.receipt
}

// fires by actor, in the order of their first fire.
func (b *totals) fires() []state.ActorFires {
	fires := make([]state.ActorFires, len(b.actors))
	for i, actor := range b.actors {
		fires[i] = state.ActorFires{Actor: actor, Fires: b.firesOf[string(actor)]}
	}
	return fires
}

// settled are the receipts as they are stored.
func (b *totals) settled() []types.Receipt {
	receipts := make([]types.Receipt, len(b.made))
	for i, fire := range b.made {
		receipts[i] = *fire.Receipt
	}
	return receipts
}

// noteWaiting notes whether a timer that is passed over waits for room: one that is willing to pay, and no larger than
// the default. A larger one could not fire even if no one else bid.
func (e *Engine) noteWaiting(ctx sdk.Context, b *block, entrant contest.Entrant) error {
	if b.contest.Waiting || b.contest.SizeOf(entrant.Timer) > e.defaultSize(b) {
		return nil
	}
	timer, err := b.contest.Current(ctx, entrant)
	if err == nil && timer != nil && !timer.ExpiredAt(b.contest.Now) {
		_, b.contest.Waiting = b.contest.Price(timer)
	}
	return err
}

// defaultSize is the size that a timer reserves which states no limits.
func (e *Engine) defaultSize(b *block) uint64 {
	return b.lane.Size(e.Policies.DefaultGasLimit(&b.Config, b.Height), b.Config.CellLimit())
}
