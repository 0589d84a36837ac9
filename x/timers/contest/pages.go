package contest

import (
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/schedule"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// pageTimers is how many timers are read at once: more than a block of the default lane fires.
const pageTimers = 128

// pages reads a backlog a page at a time while the lane has room, to the end of the window. The queue is in the order of the
// rules, so that the entries after the last fire of a block need not be read. The fires are the same as if all were read at once,
// with one exception: after MaxPassedOver timers that did not fit, no further page is read.
type pages struct {
	// unread is the key of the first timer that was not read, if there is one.
	unread *schedule.Key
	// live is how many such timers may still be read: at first the size of the window. exhausted: the overhead is used up.
	live      uint32
	exhausted bool
	// end is the insertion number that no timer had reached when the end of the block began. A timer that a handler
	// updates gets a later one, and a later page must not read it again.
	end uint64
	// pricedOut are the timers that were read and can't fire at the prices of the block.
	pricedOut []types.Timer
}

// foundFirstPage notes how far the first page has read.
func (c *Contest) foundFirstPage(reached schedule.Key, complete bool) {
	c.pages.live = c.Config.CandidateWindow - min(c.Config.CandidateWindow, pageTimers)
	if !complete {
		c.pages.unread = &reached
	}
	c.Overloaded = !complete && c.pages.live == 0
}

// beginPages notes where the block ends to read, and what the first page has that is priced out.
func (c *Contest) beginPages(ctx sdk.Context) (err error) {
	if c.pages.unread != nil {
		if c.pages.end, err = c.Records.PeekSeq(ctx); err != nil {
			return err
		}
	}
	for i := range c.Ready {
		c.canFire(i)
	}
	return nil
}

// canFire reports whether a timer that was read can fire at the prices of the block, or notes it.
func (c *Contest) canFire(i int) bool {
	if !c.SpendCapOf(&c.Ready[i]).Exhausted() {
		return true
	}
	c.pages.pricedOut = append(c.pages.pricedOut, c.Ready[i])
	return false
}

// nextOfPages reads on at the end of a page.
func (c *Contest) nextOfPages(ctx sdk.Context) (Entrant, bool, error) {
	for {
		if entrant, found := c.nextReady(); found {
			return entrant, true, nil
		}
		if p := &c.pages; !c.hasRoom() || c.PassedOver > MaxPassedOver || p.unread == nil || p.live == 0 || p.exhausted {
			return Entrant{}, false, nil
		}
		if err := c.readOn(ctx); err != nil {
			return Entrant{}, false, err
		}
	}
}

// readOn reads the next page. Timers that have expired are left to the sweep, those that the config can't run are put on
// hold.
func (c *Contest) readOn(ctx sdk.Context) error {
	p := &c.pages
	onPage := min(pageTimers, p.live)
	found, next, complete, err := c.Records.Page(ctx, *p.unread, c.Now.Height, func(e schedule.Entry[types.Timer]) schedule.Decision {
		expired := e.Value.ExpiredAt(c.Now)
		if !expired && onPage == 0 {
			return schedule.Stop
		}
		if p.exhausted = !c.Overhead.TryConsume(market.ReadWindow); p.exhausted {
			return schedule.Stop
		}
		switch {
		case expired, e.Key.Seq >= p.end:
			return schedule.Pass
		default:
			onPage--
			p.live--
			return schedule.Take
		}
	})
	if err != nil {
		return err
	}
	p.unread = &next
	if complete {
		p.unread = nil
	}
	c.Overloaded = !complete && p.live == 0
	c.order, c.at = c.order[:0], 0
	for i := range found {
		t := &found[i].Value
		if !c.runnable(t) {
			c.hold(ctx, t, types.Unrunnable)
			continue
		}
		c.compete([]types.Timer{*t})
		if last := len(c.Ready) - 1; c.canFire(last) {
			c.order = append(c.order, last)
		}
	}
	if c.Overloaded {
		return c.holdPricedOut(ctx, p.pricedOut)
	}
	return nil
}
