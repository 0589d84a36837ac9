package keeper

import (
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/calendar"
	"github.com/cosmos-timers/timers/x/timers/policy/fifo"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Where the queue is the policy's order, what lies behind the last fire of a block need not be read: a backlog is read a page
// at a time while the lane has room, to the end of the window. What fires is the same as if all of it were read at once,
// but that a nearly full lane reads no further page for one that fits when maxPassedOver did not.

// queuePage is how many timers are read at once: more than a block of the default lane fires.
const queuePage = 128

// inQueueOrder tells whether the queue's order is that in which timers are tried.
func (b *block) inQueueOrder() bool {
	_, inOrder := b.policy.(fifo.Rules)
	return inOrder
}

// readInPages makes the block read no more of the window than it needs, where the policy allows it.
func (b *block) readInPages() {
	if b.inQueueOrder() {
		b.page = min(b.page, queuePage)
	}
}

// pages says what of the window is still to be read.
type pages struct {
	// live and expired timers that may still be read: as many of each as the window holds.
	live, expired uint32
	// end is the insertion number that no timer had reached when the end of the block began. One that a handler updates
	// goes to the back of its bucket, where a later page must not meet it.
	end uint64
}

// executeQueue tries the timers of the first page, and reads on.
func (k *Keeper) executeQueue(ctx sdk.Context, b *block) error {
	end, err := k.state.seq.Peek(ctx)
	if err != nil {
		return err
	}
	window := b.config.CandidateWindow
	left := pages{live: window - min(window, b.page), expired: window, end: end}
	for {
		if err := k.executeWindow(ctx, b); err != nil {
			return err
		}
		full := !b.lane.Fits(b.config.FireBaseCycles) || b.passedOver > maxPassedOver
		if full || b.unread == nil || left.live == 0 || left.expired == 0 {
			return nil
		}
		if err := k.readOn(ctx, b, &left); err != nil {
			return err
		}
	}
}

// readOn reads the next page into ready and order. Timers that have expired are left to the sweep, those that the config
// can't run are set aside.
func (k *Keeper) readOn(ctx sdk.Context, b *block, left *pages) error {
	onPage := min(b.page, left.live)
	found, next, complete, err := k.calendar.Page(ctx, *b.unread, b.height, func(e calendar.Entry[types.Timer]) calendar.Verdict {
		switch {
		case e.Value.ExpiredAt(b.height) && left.expired > 0:
			left.expired--
			return calendar.Pass
		case e.Value.ExpiredAt(b.height) || onPage == 0:
			return calendar.Stop
		case e.Key.Seq >= left.end:
			return calendar.Pass
		default:
			onPage--
			left.live--
			return calendar.Take
		}
	})
	if err != nil {
		return err
	}
	b.unread = &next
	if complete {
		b.unread = nil
	}
	b.order = b.order[:0]
	for i := range found {
		t := &found[i].Value
		if !b.config.Runnable(b.height, t.GasLimit) {
			k.setUnrunnableAside(ctx, b, t)
			continue
		}
		b.order = append(b.order, len(b.ready))
		b.ready = append(b.ready, *t)
	}
	return nil
}
