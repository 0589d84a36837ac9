package policies

import (
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/schedule"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Block is what policies know of a block, and what they write to it. It exists only during the block.
type Block struct {
	Height uint64
	// Time is that of the block in seconds since 1970.
	Time int64
	// Config in force, the same in every step.
	Config types.TimerConfig
	// Before is the lane's state after the previous block, State that after this one.
	Before, State types.LaneState
	// Prices of the block. They depend on the previous block and the chain's fee market.
	Prices market.Prices

	// Lane is the budget for fires, GC that for removals, and Overhead that for all other work.
	Lane     market.Budget
	GC       GC
	Overhead *market.Overhead
	// Recents are the fires within the fairness window of the units that were looked up.
	Recents *state.Recents
	// Agents are the calls of bidding agents.
	Agents Calls
	// Index is the ready index as the block's steps see and change it.
	Index *state.IndexView

	// Preview: the block is only looked at, on a branch of state that is dropped.
	Preview bool
	// Competing is how many timers were read to compete, Left how many of those are no longer ready. Under overload
	// the index holds the number of those that compete.
	Competing, Left uint32
	// Storm: more timers are ready than the window holds, and those in the ready index compete. Overfull: more are
	// ready than compete.
	Storm, Overfull bool
	// PricedOut is how many timers the block took out of the queue because they were priced out.
	PricedOut uint32

	// Waiting: a timer that is willing to pay and no larger than the default waits for room in this block's lane. It is set
	// from the start under policies whose tips decide nothing.
	Waiting bool

	// Hands do to a timer what only the engine may.
	Hands Hands
}

// Now is the block's height and time.
func (b *Block) Now() types.Moment { return types.Moment{Height: b.Height, Time: b.Time} }

// SizeOf is the size of the lane that a timer's limits reserve, in cycles.
func (b *Block) SizeOf(t *types.Timer) uint64 { return b.Lane.Size(t.GasLimit, t.CellLimit) }

// Hands are the operations of the engine on one timer that policies may call.
type Hands interface {
	// Guard runs a policy's work on one timer in a sandbox of its own, and reports whether it succeeded. If it fails
	// unexpectedly, the timer is quarantined.
	Guard(ctx sdk.Context, t *types.Timer, fn func(sdk.Context) error) (done bool)
	// PutOnHold takes a timer out of the queue, for a reason that ends by itself: what the scan of the timers on hold looks
	// at. If the block's overhead has no room for that, the timer stays where it is.
	PutOnHold(ctx sdk.Context, t *types.Timer, reason types.HoldReason)
	// Look looks at the payer of a ready timer that is to be admitted, at the price of its fire.
	Look(ctx sdk.Context, t *types.Timer, price market.Price) Funds
	// LacksFunds removes, suspends or puts on hold a timer whose payer can't cover a fire at a price, while the overhead lasts.
	LacksFunds(ctx sdk.Context, t *types.Timer, price market.Price)
	// Expire removes an expired timer, for which the GC lane has been charged.
	Expire(ctx sdk.Context, t *types.Timer)
	// Runnable reports whether the timer can fire within its limits.
	Runnable(t *types.Timer) bool
}

// Funds is what a look at a payer finds.
type Funds int

const (
	// NotLooked: the block's overhead has no room for a look.
	NotLooked Funds = iota
	// Enough: the payer can cover the timer, in addition to its others that the block has admitted.
	Enough
	// Pledged: it could, were it not for those.
	Pledged
	// TooLittle: it can't.
	TooLittle
)

// GC is the state of the block's cleanup.
type GC struct {
	market.Cleanup
	// Expired timers in the order in which they were met; those of the front were removed.
	Expired []types.Timer
	// met are the seqs of all that were. It is looked up, never ranged over.
	met map[uint64]bool
	// Unswept is the position after the expired timers of earlier blocks that were read, if there are more than this
	// block can remove.
	Unswept *schedule.Key
}

// TakeFor books the removal of a timer, and reports whether it fits. A watch counts as a removal for each of its keys, all of
// which are written.
func (g *GC) TakeFor(t *types.Timer) bool { return g.Take(max(1, uint64(len(t.WatchKeys())))) }

// Meet notes expired timers for the clean-up, each once: under overload a block may read a timer twice.
func (g *GC) Meet(expired ...types.Timer) {
	for i := range expired {
		if g.met[expired[i].Seq] {
			continue
		}
		if g.met == nil {
			g.met = map[uint64]bool{}
		}
		g.met[expired[i].Seq] = true
		g.Expired = append(g.Expired, expired[i])
	}
}
