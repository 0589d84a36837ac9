// Package fifo binds policy fifo to state: timers fire by (due, seq). It has no state of its own.
package fifo

import (
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/calendar"
	"github.com/cosmos-timers/timers/x/timers/overhead"
	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/policy"
	rules "github.com/cosmos-timers/timers/x/timers/policy/fifo"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// pageTimers is how many timers are read at once: more than a block of the default lane fires.
const pageTimers = 128

// Policy fifo.
type Policy struct {
	policies.Base
	parts *policies.Parts
}

var _ policies.Policy = (*Policy)(nil)

// New binds the policy.
func New(parts *policies.Parts) policies.Policy { return &Policy{parts: parts} }

// ID implements policies.Policy.
func (*Policy) ID() types.Policy { return types.PolicyFIFO }

// Rules implements policies.Policy.
func (*Policy) Rules(*types.TimerConfig, *types.LaneState) policy.Rules { return rules.Rules{} }

// InQueueOrder marks the policy for queries: the queue is already in its order.
func (*Policy) InQueueOrder() {}

// Open implements policies.Policy.
func (p *Policy) Open(_ sdk.Context, b *policies.Block) (policies.Round, error) {
	return &round{Window: policies.Window{Block: b, Parts: p.parts, Rules: p.Rules(&b.Config, &b.Before)}}, nil
}

// round reads a backlog a page at a time while the lane has room, to the end of the window. The queue is in the
// policy's order, so that the entries after the last fire of a block need not be read. The fires are the same as if all
// were read at once, with one exception: after policies.MaxPassedOver timers that did not fit, no further page is read.
type round struct {
	policies.Window
	// unread is the position of the first timer that was not read, if there is one.
	unread *calendar.Key
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
func (r *round) Collect(ctx sdk.Context) error {
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
	r.Overfull = !complete && r.live == 0
	return r.SweepQueue(ctx, r.Parts.Records, reached, complete)
}

// Rank implements policies.Round.
func (r *round) Rank(ctx sdk.Context) (err error) {
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
func (r *round) tryOrNote(i int) bool {
	if !r.SpendCapOf(&r.Ready[i]).Exhausted() {
		return true
	}
	r.pricedOut = append(r.pricedOut, r.Ready[i])
	return false
}

// Next implements policies.Round: it reads on at the end of a page.
func (r *round) Next(ctx sdk.Context) (policies.Turn, bool, error) {
	for {
		if turn, found, err := r.Window.Next(ctx); found || err != nil {
			return turn, found, err
		}
		full := !r.HasRoom() || r.passedOver > policies.MaxPassedOver
		if full || r.unread == nil || r.live == 0 || r.exhausted {
			return policies.Turn{}, false, nil
		}
		if err := r.readOn(ctx); err != nil {
			return policies.Turn{}, false, err
		}
	}
}

// readOn reads the next page. Timers that have expired are left to the sweep, those that the config can't run are put on
// hold.
func (r *round) readOn(ctx sdk.Context) error {
	onPage := min(pageTimers, r.live)
	found, next, complete, err := r.Parts.Records.Page(ctx, *r.unread, r.Height, func(e calendar.Entry[types.Timer]) calendar.Verdict {
		expired := e.Value.ExpiredAt(r.Now())
		if !expired && onPage == 0 {
			return calendar.Stop
		}
		if r.exhausted = !r.Overhead.TryConsume(overhead.ReadWindow); r.exhausted {
			return calendar.Stop
		}
		switch {
		case expired, e.Key.Seq >= r.end:
			return calendar.Pass
		default:
			onPage--
			r.live--
			return calendar.Take
		}
	})
	if err != nil {
		return err
	}
	r.unread = &next
	if complete {
		r.unread = nil
	}
	r.Overfull = !complete && r.live == 0
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
	if r.Overfull {
		return r.HoldPricedOut(ctx, r.pricedOut)
	}
	return nil
}

// Skipped implements policies.Round.
func (r *round) Skipped(_ sdk.Context, _ *types.Timer, why policies.Skip) error {
	if why.NoRoom {
		r.passedOver++
	}
	return nil
}
