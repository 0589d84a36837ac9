package policies

import (
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/schedule"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// pageTimers is how many timers are read at once: more than a block of the default lane fires.
const pageTimers = 128

// FIFO binds policy fifo to state: timers fire by (due, seq). It has no state of its own.
type FIFO struct {
	Base
	parts *Parts
}

var _ Policy = (*FIFO)(nil)

// NewFIFO binds the policy.
func NewFIFO(parts *Parts) Policy { return &FIFO{parts: parts} }

// ID implements policies.Policy.
func (*FIFO) ID() types.Policy { return types.PolicyFIFO }

// Rules implements policies.Policy.
func (*FIFO) Rules(*types.TimerConfig, *types.LaneState) market.Rules { return market.FIFO{} }

// InQueueOrder marks the policy for queries: the queue is already in its order.
func (*FIFO) InQueueOrder() {}

// Open implements policies.Policy.
func (p *FIFO) Open(_ sdk.Context, b *Block) (Round, error) {
	return &fifoRound{Window: Window{Block: b, Parts: p.parts, Rules: p.Rules(&b.Config, &b.Before)}}, nil
}

// fifoRound reads a backlog a page at a time while the lane has room, to the end of the window. The queue is in the
// policy's order, so that the entries after the last fire of a block need not be read. The fires are the same as if all
// were read at once, with one exception: after policies.MaxPassedOver timers that did not fit, no further page is read.
type fifoRound struct {
	Window
	// unread is the position of the first timer that was not read, if there is one.
	unread *schedule.Key
	// live is how many such timers may still be read: at first the size of the window. exhausted: the overhead is used up.
	live      uint32
	exhausted bool
	// end is the insertion number that no timer had reached when the end of the block began. A timer that a handler
	// updates gets a later one, and a later page must not read it again.
	end uint64
	// passedOver counts timers that did not fit.
	passedOver int
	// pricedOut are the timers that were read and can't fire at the prices of the block.
	pricedOut []types.Timer
}

// Collect implements policies.Round: it reads the first page.
func (r *fifoRound) Collect(ctx sdk.Context) error {
	if err := r.ReadLeftovers(ctx, r.Parts.Records); err != nil {
		return err
	}
	window := r.Config.CandidateWindow
	page := min(window, pageTimers)
	live, reached, complete, err := r.ReadLive(ctx, r.Parts.Records, page)
	if err != nil {
		return err
	}
	r.live = window - page
	if !complete {
		r.unread = &reached
	}
	r.Compete(live)
	r.Overloaded = !complete && r.live == 0
	return r.SweepQueue(ctx, r.Parts.Records, reached, complete)
}

// Rank implements policies.Round.
func (r *fifoRound) Rank(ctx sdk.Context) (err error) {
	if r.unread != nil {
		if r.end, err = r.Parts.Records.PeekSeq(ctx); err != nil {
			return err
		}
	}
	if err := r.Window.Rank(ctx); err != nil {
		return err
	}
	for i := range r.Ready {
		r.tryOrNote(i)
	}
	return nil
}

// tryOrNote notes a timer that was read if it is priced out, and reports whether it can be tried.
func (r *fifoRound) tryOrNote(i int) bool {
	if !r.SpendCapOf(&r.Ready[i]).Exhausted() {
		return true
	}
	r.pricedOut = append(r.pricedOut, r.Ready[i])
	return false
}

// Next implements policies.Round: it reads on at the end of a page.
func (r *fifoRound) Next(ctx sdk.Context) (Turn, bool, error) {
	for {
		if turn, found, err := r.Window.Next(ctx); found || err != nil {
			return turn, found, err
		}
		full := !r.HasRoom() || r.passedOver > MaxPassedOver
		if full || r.unread == nil || r.live == 0 || r.exhausted {
			return Turn{}, false, nil
		}
		if err := r.readOn(ctx); err != nil {
			return Turn{}, false, err
		}
	}
}

// readOn reads the next page. Timers that have expired are left to the sweep, those that the config can't run are put on
// hold.
func (r *fifoRound) readOn(ctx sdk.Context) error {
	onPage := min(pageTimers, r.live)
	found, next, complete, err := r.Parts.Records.Page(ctx, *r.unread, r.Height, func(e schedule.Entry[types.Timer]) schedule.Decision {
		expired := e.Value.ExpiredAt(r.Now())
		if !expired && onPage == 0 {
			return schedule.Stop
		}
		if r.exhausted = !r.Overhead.TryConsume(market.ReadWindow); r.exhausted {
			return schedule.Stop
		}
		switch {
		case expired, e.Key.Seq >= r.end:
			return schedule.Pass
		default:
			onPage--
			r.live--
			return schedule.Take
		}
	})
	if err != nil {
		return err
	}
	r.unread = &next
	if complete {
		r.unread = nil
	}
	r.Overloaded = !complete && r.live == 0
	r.Order, r.Turn = r.Order[:0], 0
	for i := range found {
		t := &found[i].Value
		if !r.Hands.Runnable(t) {
			r.Hands.PutOnHold(ctx, t, types.Unrunnable)
			continue
		}
		r.Compete([]types.Timer{*t})
		if last := len(r.Ready) - 1; r.tryOrNote(last) {
			r.Order = append(r.Order, last)
		}
	}
	if r.Overloaded {
		return r.HoldPricedOut(ctx, r.pricedOut)
	}
	return nil
}

// Skipped implements policies.Round.
func (r *fifoRound) Skipped(_ sdk.Context, _ *types.Timer, why Skip) error {
	if why.NoRoom {
		r.passedOver++
	}
	return nil
}
