package policies

import (
	"context"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/fees"
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
	// Storm: more timers are ready than the window holds, and those in the ready index compete. Overloaded: more are
	// ready than compete.
	Storm, Overloaded bool
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

// PricesOf are the prices of the block at ctx's height by the rules in force. They depend on the previous block and the
// chain's fee market, and are known before any of the block's transactions run.
func PricesOf(
	ctx context.Context, basefees fees.Basefees, rules market.Rules, config *types.TimerConfig, last *types.LaneState,
) market.Prices {
	prices := market.Prices{
		Height: types.HeightOf(ctx), Capacity: config.LaneCapacity(), Cycle: basefees.Cycle, Cell: basefees.Cell, P50: last.P50,
	}
	// Before the first block the lane basefee is the cycle basefee, as under fifo. eip1559 starts from there.
	before := market.Last{Basefee: prices.Cycle, Use: market.Use{Size: last.UsedSize, Fires: last.Fires}}
	if last.LaneBasefee != nil {
		before.Basefee = *last.LaneBasefee
	}
	prices.Lane = rules.LaneBasefee(prices.Cycle, before)
	return prices
}

// This file holds what every round reads from the queue. The work of a block is proportional to what it fires, not to
// the timers that wait.
//
// Two cursors in state say where to read. Before `live` no timer can still fire: there are only expired timers that the
// cleanup has not reached. So after an outage the expired timers are passed over once, and do not delay live ones in
// later blocks. Before `head` the queue is empty, so that no scan passes over deleted entries.

// ReadLeftovers reads expired timers that were passed over in earlier blocks, at most as many as this block can remove.
func (b *Block) ReadLeftovers(ctx sdk.Context, records *state.Records) error {
	head, live := state.CalendarKey(b.State.HeadCursor), state.CalendarKey(b.State.LiveCursor)
	if head.Compare(live) >= 0 {
		return nil
	}
	left := b.GC.Remaining()
	found, next, _, err := records.Page(ctx, head, b.Height, func(e schedule.Entry[types.Timer]) schedule.Decision {
		if e.Key.Compare(live) >= 0 || left == 0 {
			return schedule.Stop
		}
		left--
		return schedule.Take
	})
	if next.Compare(live) < 0 {
		b.GC.Unswept = &next
	}
	b.GC.Meet(timersOf(found)...)
	return err
}

// ReadLive reads from the live cursor on: at most limit timers that can fire, and expired ones, while the overhead lasts. It
// moves the live cursor. It returns the timers, the position reached, and whether that was all that is due.
func (b *Block) ReadLive(
	ctx sdk.Context, records *state.Records, limit uint32,
) (live []types.Timer, reached schedule.Key, complete bool, err error) {
	left := limit
	found, next, complete, err := records.Page(ctx, state.CalendarKey(b.State.LiveCursor), b.Height,
		func(e schedule.Entry[types.Timer]) schedule.Decision {
			expired := e.Value.ExpiredAt(b.Now())
			if !expired && left == 0 || !b.Overhead.TryConsume(market.ReadWindow) {
				return schedule.Stop
			}
			if !expired {
				left--
			}
			return schedule.Take
		})
	if err != nil {
		return nil, next, false, err
	}
	read := make([]schedule.Key, len(found))
	for i := range found {
		read[i] = found[i].Key
	}
	if err := b.dropStale(schedule.Key{}, next, read); err != nil {
		return nil, next, false, err
	}
	first := next
	live = make([]types.Timer, 0, limit-left)
	for i := range found {
		e := &found[i]
		if e.Value.ExpiredAt(b.Now()) {
			b.GC.Meet(e.Value)
			continue
		}
		if len(live) == 0 {
			first = e.Key
		}
		live = append(live, e.Value)
	}
	b.State.LiveCursor = state.QueueKey(first)
	return live, next, complete, nil
}

// maxStale bounds the entries of the ready index that a block drops without meeting them in their order.
const maxStale = 256

// dropStale drops entries of the ready index whose timers have left the queue, between two places between which the block has
// read all records, while the overhead lasts. So overload ends when few enough timers are ready.
func (b *Block) dropStale(from, to schedule.Key, read []schedule.Key) error {
	if b.Index.Size() == 0 {
		return nil
	}
	places, err := b.Index.Places(from, to, len(read)+maxStale-b.Index.Stale)
	if err != nil {
		return err
	}
	for _, place := range places {
		for len(read) > 0 && read[0].Compare(place) < 0 {
			read = read[1:]
		}
		if len(read) > 0 && read[0] == place {
			continue
		}
		if b.Index.Stale == maxStale || !b.Overhead.TryConsume(market.DropStale) {
			return nil
		}
		b.Index.Stale++
		if err := b.Index.Remove(place); err != nil {
			return err
		}
	}
	return nil
}

// SweepQueue looks for expired timers beyond what ReadLive reached, ScanLimit entries a block, in rounds over the queue.
// Otherwise, under overload, they would stay until the lane reaches them.
func (b *Block) SweepQueue(ctx sdk.Context, records *state.Records, reached schedule.Key, complete bool) error {
	if complete {
		b.State.SweepCursor = types.QueueKey{}
		return nil
	}
	from := state.CalendarKey(b.State.SweepCursor)
	if from.Compare(reached) < 0 {
		from = reached
	}
	limit := b.ScanLimit(market.Scan)
	left := limit
	found, next, complete, err := records.Page(ctx, from, b.Height, func(e schedule.Entry[types.Timer]) schedule.Decision {
		switch {
		case left == 0:
			return schedule.Stop
		case e.Value.ExpiredAt(b.Now()):
			left--
			return schedule.Take
		default:
			left--
			return schedule.Pass
		}
	})
	b.Overhead.Consume(market.Scan, limit-left)
	b.GC.Meet(timersOf(found)...)
	b.State.SweepCursor = state.QueueKey(next)
	if complete {
		b.State.SweepCursor = types.QueueKey{}
	}
	return err
}

// maxScan bounds the ready timers that a block scans in the background: more than twice what the default lane can fire.
const maxScan = 256

// ScanLimit is how many ready timers the block scans in the background, while half of the overhead for upkeep lasts.
func (b *Block) ScanLimit(work market.Work) int {
	return min(maxScan, max(1, b.Overhead.Left(work)/2))
}

// ReadMore reads at most limit timers that can fire, between two keys, while the overhead lasts, and returns where it stopped.
// Expired timers are left to the sweep.
func (b *Block) ReadMore(
	ctx context.Context, records *state.Records, from, to schedule.Key, limit uint32, work market.Work,
) (live []types.Timer, next schedule.Key, err error) {
	left := limit
	found, next, _, err := records.Page(ctx, from, b.Height, func(e schedule.Entry[types.Timer]) schedule.Decision {
		switch {
		case left == 0 || e.Key.Compare(to) >= 0 || !b.Overhead.TryConsume(work):
			return schedule.Stop
		case e.Value.ExpiredAt(b.Now()):
			return schedule.Pass
		default:
			left--
			return schedule.Take
		}
	})
	return timersOf(found), next, err
}

func timersOf(entries []schedule.Entry[types.Timer]) []types.Timer {
	timers := make([]types.Timer, len(entries))
	for i := range entries {
		timers[i] = entries[i].Value
	}
	return timers
}

// ParseMaxCharge reads a max_charge, in fee denom: nil for an empty text, which states none.
func ParseMaxCharge(text string) (math.Int, error) {
	if text == "" {
		return math.Int{}, nil
	}
	amount, ok := types.ParseAmount(text)
	switch {
	case !ok:
		return amount, types.ErrInvalidBid.Wrapf("max_charge %.80q is no amount of the fee denom", text)
	case amount.IsNegative() || amount.BigIntMut().BitLen() > types.MaxBidBits:
		return amount, types.ErrInvalidBid.Wrapf("max_charge %s, want 0 to 2^%d - 1", amount, types.MaxBidBits)
	}
	return amount, nil
}

// SpendCapOf is what a timer's max_charge leaves above the chain's prices of the block.
func (b *Block) SpendCapOf(t *types.Timer) market.SpendCap {
	if t.Spec.MaxCharge == "" {
		return market.SpendCap{}
	}
	amount, _ := types.ParseAmount(t.Spec.MaxCharge)
	return market.SpendCapOf(amount, b.Prices, t.GasLimit, t.CellLimit)
}

// HoldPricedOut takes timers out of the queue that can't fire at the prices of the block, so that a crowd of them does
// not fill the windows of later blocks. They were read in this block, and handlers may have changed them since.
func (w *Window) HoldPricedOut(ctx sdk.Context, timers []types.Timer) error {
	for i := range timers {
		t, found, err := w.Parts.Records.InQueue(ctx, state.KeyOf(timers[i].Due, timers[i].Seq))
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		if _, willing := w.Price(&t); willing {
			continue
		}
		w.PricedOut++
		if w.Hands.PutOnHold(ctx, &t, types.PricedOut); t.HoldReason != types.NotOnHold {
			w.Left++
		}
	}
	return nil
}

// AskOf is what a timer asks for at the prices of the block. What another account pays for is bounded: its owner could
// agree with a proposer to turn the payer's allowance into tips (x/timers/README.md, "1.11 Fee payer").
func (b *Block) AskOf(t *types.Timer) market.Ask { return b.ask(t, b.Storm) }

// IndexedAsk is AskOf under overload: the timer's entry in the ready index is what it asks for, and what its agent answered last.
func (b *Block) IndexedAsk(t *types.Timer) market.Ask { return b.ask(t, true) }

func (b *Block) ask(t *types.Timer, storm bool) market.Ask {
	ask := b.Agents.Ask(t, storm)
	if t.Sponsored() {
		ask = ask.WithTipAtMost(b.sponsoredTip())
	}
	ask.SpendCap = b.SpendCapOf(t)
	return ask
}

// sponsoredTip is the most per unit of size that a payer other than the actor tips: TIER_TIP_CAP × the lane basefee.
func (b *Block) sponsoredTip() math.LegacyDec {
	return b.Prices.Lane.MulTruncate(b.Config.TierTipCap.LegacyDec)
}
