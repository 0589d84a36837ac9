package index

import (
	"context"
	"fmt"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/merge"
	"github.com/cosmos-timers/timers/x/timers/state"
)

// The summary has a bound for each list, so that a block opens only lists that can still win. It is made when a block
// first asks for it, and then kept: raised when an entry is added above its bound, lowered when a list is opened and its
// bound is found to be far too high. It says nothing of what was removed, so that leaving the index costs nothing more.

const (
	// allLists is the key that says that the summary is complete. No list has this name: wide ones have kind 0.
	allLists = ^uint32(0)
	// forgottenAtOnce bounds the bounds that a block removes after the index was emptied. What stays is of empty lists.
	forgottenAtOnce = 256
)

// raise lifts the bound of an entry's list to its price, if the list had a lower one or none.
func (x *Index) raise(ctx context.Context, entry merge.Entry) error {
	own := ownChanges(ctx)
	if own != nil {
		if own.unsummarized {
			return nil
		}
		if bound, known := own.bounded[entry.List]; known && bound.GTE(entry.Price) {
			return nil
		}
	}
	bound, found, err := state.Find(ctx, x.bounds, uint32(entry.List))
	if err != nil {
		return err
	}
	if found && bound.GTE(entry.Price) {
		own.know(entry.List, bound)
		return nil
	}
	if !found {
		// Until there is a summary, nothing needs to be kept up.
		complete, err := x.bounds.Has(ctx, allLists)
		if err != nil || !complete {
			if own != nil {
				own.unsummarized = err == nil
			}
			return err
		}
	}
	return x.bounds.Set(ctx, uint32(entry.List), entry.Price)
}

// know remembers a bound that was read. What a step has just written is not remembered: it may be undone with the step.
func (c *Changes) know(list merge.List, bound math.LegacyDec) {
	if c == nil {
		return
	}
	if c.bounded == nil {
		c.bounded = map[merge.List]math.LegacyDec{}
	}
	c.bounded[list] = bound
}

// forget drops what is known of a list whose bound is lowered or removed.
func (c *Changes) forget(list merge.List) {
	if c != nil {
		delete(c.bounded, list)
	}
}

// Bounds implements merge.Summary. It makes the summary if there is none.
func (x *Index) Bounds(ctx context.Context, fn func(merge.List, math.LegacyDec)) error {
	complete, err := x.readBounds(ctx, fn)
	if err != nil || complete {
		return err
	}
	if err := x.makeBounds(ctx); err != nil {
		return err
	}
	_, err = x.readBounds(ctx, fn)
	return err
}

// readBounds passes the bounds to fn if they are complete. Without the last of them there is none.
func (x *Index) readBounds(ctx context.Context, fn func(merge.List, math.LegacyDec)) (complete bool, err error) {
	err = x.bounds.Walk(ctx, nil, func(list uint32, price math.LegacyDec) (bool, error) {
		if complete = list == allLists; !complete {
			fn(merge.List(list), price)
		}
		return false, nil
	})
	return complete, err
}

// makeBounds reads the head of every list.
func (x *Index) makeBounds(ctx context.Context) error {
	if own := ownChanges(ctx); own != nil {
		own.unsummarized = false
	}
	for from := merge.List(0); ; {
		head, found, err := x.First(ctx, from)
		if err != nil {
			return err
		}
		if !found || head.List.Wide() {
			return x.bounds.Set(ctx, allLists, math.LegacyZeroDec())
		}
		owner, err := x.ownerOf(head.List.Weight())
		if err != nil {
			return err
		}
		if owner.Summarized(head.List) {
			if err := x.bounds.Set(ctx, uint32(head.List), head.Price); err != nil {
				return err
			}
		}
		from = head.List + 1
	}
}

// Lower implements merge.Summary.
func (x *Index) Lower(ctx context.Context, list merge.List, price math.LegacyDec) error {
	ownChanges(ctx).forget(list)
	return x.bounds.Set(ctx, uint32(list), price)
}

// Drop implements merge.Summary.
func (x *Index) Drop(ctx context.Context, list merge.List) error {
	ownChanges(ctx).forget(list)
	return x.bounds.Remove(ctx, uint32(list))
}

// forgetBounds removes bounds in order, so that the one which says that they are complete goes last.
func (x *Index) forgetBounds(ctx context.Context) error {
	old := make([]uint32, 0, 8)
	err := x.bounds.Walk(ctx, nil, func(list uint32, _ math.LegacyDec) (bool, error) {
		old = append(old, list)
		return len(old) == forgottenAtOnce, nil
	})
	if err != nil {
		return err
	}
	for _, list := range old {
		if err := x.bounds.Remove(ctx, list); err != nil {
			return err
		}
	}
	return nil
}

// checkBounds checks that a complete summary bounds every entry, and that one that is not complete is empty.
func (x *Index) checkBounds(ctx context.Context) error {
	bounds := map[merge.List]math.LegacyDec{}
	complete, err := x.readBounds(ctx, func(list merge.List, price math.LegacyDec) { bounds[list] = price })
	if err != nil {
		return err
	}
	if !complete {
		if len(bounds) > 0 {
			return fmt.Errorf("the summary of the ready index has %d lists and is not complete", len(bounds))
		}
		return nil
	}
	return x.ready.Walk(ctx, nil, func(key indexKey, other math.LegacyDec) (bool, error) {
		entry := entryAt(key, other)
		owner, err := x.ownerOf(entry.List.Weight())
		if err != nil || !owner.Summarized(entry.List) {
			return err != nil, err
		}
		if bound, found := bounds[entry.List]; !found || bound.LT(entry.Price) {
			return true, fmt.Errorf("list %d of the ready index has price %s, its bound is %s", entry.List, entry.Price, bound)
		}
		return false, nil
	})
}
