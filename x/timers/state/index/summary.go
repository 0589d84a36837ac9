package index

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"slices"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/logmap/wire"
	"github.com/cosmos-timers/timers/x/timers/merge"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// The summary has a bound for each list, so that a block opens only lists that can still win. It is made when a block
// first asks for it, and then kept: raised when an entry is added above its bound, lowered when a list is opened. It says
// nothing of what was removed, so that leaving the index costs nothing more.
//
// The end of a block reads the summary once and writes what it changed once, with Flush. A bound that was raised for an
// entry whose fire was undone is still a bound.

const (
	// pageBits is the part of a list's name below its page. Lists of one weight that differ by a few powers of two in
	// their prices share a page, so that a block reads one or two pages for each weight in use.
	pageBits = 8
	// allPages is the key that says that the summary is complete. No page has this number.
	allPages = ^uint32(0)
	// forgottenAtOnce bounds the pages that a block removes after the index was emptied. What stays is of empty lists.
	forgottenAtOnce = 256
)

// present is a value that says nothing but that it is there.
var present = []byte{1}

// page has the bounds of lists whose names differ in their last bits, by name.
type page struct {
	number uint32
	bounds []bound
	// changed since it was read.
	changed bool
}

// bound is a price that no entry of the list is above.
type bound struct {
	list  merge.List
	price math.LegacyDec
}

func pageOf(list merge.List) uint32 { return uint32(list) >> pageBits }

func (p *page) find(list merge.List) (at int, found bool) {
	return slices.BinarySearchFunc(p.bounds, list, func(b bound, list merge.List) int { return cmp.Compare(b.list, list) })
}

// raise lifts the bound of a list to a price, if the list had a lower one or none.
func (p *page) raise(list merge.List, price math.LegacyDec) {
	at, found := p.find(list)
	switch {
	case !found:
		p.bounds = slices.Insert(p.bounds, at, bound{list, price})
	case p.bounds[at].price.LT(price):
		p.bounds[at].price = price
	default:
		return
	}
	p.changed = true
}

// encode is the list's last byte, the length of the price and its digits, for each bound.
func (p *page) encode() []byte {
	bz := make([]byte, 0, 16*len(p.bounds))
	for _, b := range p.bounds {
		digits := b.price.BigInt().Bytes()
		bz = append(bz, byte(b.list), byte(len(digits)))
		bz = append(bz, digits...)
	}
	return bz
}

func decodePage(number uint32, bz []byte) (page, error) {
	p, d := page{number: number}, wire.NewDecoder(bz)
	for d.More() {
		name := d.Bytes(2)
		if len(name) < 2 {
			break
		}
		price := new(big.Int).SetBytes(d.Bytes(uint64(name[1])))
		p.bounds = append(p.bounds, bound{
			merge.List(number<<pageBits | uint32(name[0])), math.LegacyNewDecFromBigIntWithPrec(price, math.LegacyPrecision),
		})
	}
	return p, d.Err()
}

// summary is all pages, by number, or none if it is not complete.
type summary struct {
	complete bool
	pages    []page
	// made by this block.
	made bool
}

// page returns the page of a list, an empty one if there is none.
func (s *summary) page(list merge.List) *page {
	number := pageOf(list)
	at, found := slices.BinarySearchFunc(s.pages, number, func(p page, number uint32) int { return cmp.Compare(p.number, number) })
	if !found {
		s.pages = slices.Insert(s.pages, at, page{number: number})
	}
	return &s.pages[at]
}

// raise lifts the bound of an entry's list to its price. Until there is a summary, nothing needs to be kept up.
func (x *Index) raise(ctx context.Context, entry merge.Entry) error {
	if c := changesOf(ctx); c != nil {
		s, err := x.summary(ctx, c)
		if err == nil && s.complete {
			s.page(entry.List).raise(entry.List, entry.Price)
		}
		return err
	}
	number := pageOf(entry.List)
	bz, found, err := state.Find(ctx, x.bounds, number)
	if err != nil {
		return err
	}
	if !found {
		if complete, err := x.bounds.Has(ctx, allPages); err != nil || !complete {
			return err
		}
	}
	p, err := decodePage(number, bz)
	if err != nil {
		return err
	}
	if p.raise(entry.List, entry.Price); !p.changed {
		return nil
	}
	return x.bounds.Set(ctx, number, p.encode())
}

// summary is the block's, read when it is first needed.
func (x *Index) summary(ctx context.Context, c *Changes) (*summary, error) {
	if c.summary != nil {
		return c.summary, nil
	}
	s, err := x.readSummary(types.Unmetered(ctx))
	if err == nil {
		c.summary = s
	}
	return s, err
}

func (x *Index) readSummary(ctx context.Context) (*summary, error) {
	s := &summary{}
	err := x.bounds.Walk(ctx, nil, func(number uint32, bz []byte) (bool, error) {
		if s.complete = number == allPages; s.complete {
			return true, nil
		}
		p, err := decodePage(number, bz)
		s.pages = append(s.pages, p)
		return false, err
	})
	return s, err
}

// Bounds implements merge.Summary. It makes the summary if there is none.
func (x *Index) Bounds(ctx context.Context, fn func(merge.List, math.LegacyDec)) (err error) {
	c := changesOf(ctx)
	if c == nil {
		c = &Changes{}
	}
	s, err := x.summary(ctx, c)
	if err == nil && !s.complete {
		if s, err = x.makeSummary(ctx); err == nil && c == ownChanges(ctx) {
			c.summary = s
		}
	}
	if err != nil {
		return err
	}
	for _, p := range s.pages {
		for _, b := range p.bounds {
			fn(b.list, b.price)
		}
	}
	return nil
}

// makeSummary reads the head of every list.
func (x *Index) makeSummary(ctx context.Context) (*summary, error) {
	s := &summary{complete: true, made: true}
	for from := merge.List(0); ; {
		head, found, err := x.First(ctx, from)
		if err != nil || !found || head.List.Wide() {
			return s, err
		}
		owner, err := x.ownerOf(head.List.Weight())
		if err != nil {
			return nil, err
		}
		if owner.Summarized(head.List) {
			s.page(head.List).raise(head.List, head.Price)
		}
		from = head.List + 1
	}
}

// Lower implements merge.Summary. Only a block's own steps change bounds: what a handler or a query sees may be undone.
func (x *Index) Lower(ctx context.Context, list merge.List, price math.LegacyDec) error {
	if c := ownChanges(ctx); c != nil && c.summary != nil {
		p := c.summary.page(list)
		if at, found := p.find(list); found {
			p.bounds[at].price, p.changed = price, true
		}
	}
	return nil
}

// Drop implements merge.Summary.
func (x *Index) Drop(ctx context.Context, list merge.List) error {
	if c := ownChanges(ctx); c != nil && c.summary != nil {
		p := c.summary.page(list)
		if at, found := p.find(list); found {
			p.bounds, p.changed = slices.Delete(p.bounds, at, at+1), true
		}
	}
	return nil
}

// writeSummary writes the pages that the block changed.
func (x *Index) writeSummary(ctx context.Context, s *summary) error {
	for i := range s.pages {
		switch p := &s.pages[i]; {
		case !p.changed:
		case len(p.bounds) == 0:
			if err := x.bounds.Remove(ctx, p.number); err != nil {
				return err
			}
		default:
			if err := x.bounds.Set(ctx, p.number, p.encode()); err != nil {
				return err
			}
		}
	}
	if !s.made {
		return nil
	}
	return x.bounds.Set(ctx, allPages, present)
}

// forgetSummary removes pages in order, so that what says that they are complete goes last.
func (x *Index) forgetSummary(ctx context.Context) error {
	old := make([]uint32, 0, 8)
	err := x.bounds.Walk(ctx, nil, func(number uint32, _ []byte) (bool, error) {
		old = append(old, number)
		return len(old) == forgottenAtOnce, nil
	})
	if err != nil {
		return err
	}
	for _, number := range old {
		if err := x.bounds.Remove(ctx, number); err != nil {
			return err
		}
	}
	return nil
}

// checkSummary checks that a complete summary bounds every entry, and that one that is not complete is empty.
func (x *Index) checkSummary(ctx context.Context, all []merge.Entry) error {
	s, err := x.readSummary(ctx)
	if err != nil {
		return err
	}
	if !s.complete {
		if len(s.pages) > 0 {
			return fmt.Errorf("the summary of the ready index has %d pages and is not complete", len(s.pages))
		}
		return nil
	}
	for _, entry := range all {
		owner, err := x.ownerOf(entry.List.Weight())
		if err != nil {
			return err
		}
		if !owner.Summarized(entry.List) {
			continue
		}
		p := s.page(entry.List)
		if at, found := p.find(entry.List); !found || p.bounds[at].price.LT(entry.Price) {
			return fmt.Errorf("list %d of the ready index has price %s, which is above its bound", entry.List, entry.Price)
		}
	}
	return nil
}
