package index

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"cosmossdk.io/collections"
	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/logmap/wire"
	"github.com/cosmos-timers/timers/x/timers/merge"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// The summary has a bound for each list, so that a block opens only lists that can still win, and where its entries begin. A
// list is read from there: what was removed before is passed over once. It is made when a block first reads the index, and
// then kept: a bound is raised when an entry is added above it, and lowered when a list is opened. It says nothing of what was
// removed, so that leaving the index costs nothing more.
//
// The end of a block reads the summary once and writes what it changed once, with Flush.

const (
	// pageBits is the part of a list's name below its page. Lists of one weight that differ by a few powers of two in
	// their prices share a page, so that a block reads one or two pages for each weight in use.
	pageBits = 8
	// allPages is the key that says that the summary is complete. No page has this number.
	allPages = ^uint32(0)
	// raisedPages is added to the number of a page for the bounds that handlers raise. Page numbers are below it.
	raisedPages = uint32(1) << (32 - pageBits)
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

// bound is what no entry of a list is before: by its price, if the policy wants to know that, and in the order of the list.
type bound struct {
	list merge.List
	// price is one that no entry is above; nil if it is not kept.
	price math.LegacyDec
	// begin is at or before the first entry. Only what a list is ordered by is set.
	begin merge.Entry
}

func pageOf(list merge.List) uint32 { return uint32(list) >> pageBits }

func (p *page) find(list merge.List) (at int, found bool) {
	return slices.BinarySearchFunc(p.bounds, list, func(b bound, list merge.List) int { return cmp.Compare(b.list, list) })
}

// add lifts the bound of an entry's list to it, if the list had a lower one or none.
func (p *page) add(entry merge.Entry, priced bool) {
	added := bound{list: entry.List, begin: entry}
	if priced {
		added.price = entry.Price
	}
	p.lift(added)
}

// lift lifts the bound of a list to another one, if the list had a lower one or none.
func (p *page) lift(to bound) {
	at, found := p.find(to.list)
	if !found {
		p.bounds, p.changed = slices.Insert(p.bounds, at, to), true
		return
	}
	b := &p.bounds[at]
	if compareEntries(to.begin, b.begin) < 0 {
		b.begin, p.changed = to.begin, true
	}
	if !to.price.IsNil() && (b.price.IsNil() || b.price.LT(to.price)) {
		b.price, p.changed = to.price, true
	}
}

// drop forgets a list.
func (p *page) drop(list merge.List) {
	if at, found := p.find(list); found {
		p.bounds, p.changed = slices.Delete(p.bounds, at, at+1), true
	}
}

// encode is, for each bound, the list's last byte, and where it begins: its price, due and seq; then its bound, if there is
// one. A price is its length in bytes, one more where it is a bound and 0 for none, and its digits.
func (p *page) encode() []byte {
	bz := make([]byte, 0, 32*len(p.bounds))
	for _, b := range p.bounds {
		begin := b.begin.Price.BigIntMut().Bytes()
		bz = append(append(bz, byte(b.list), byte(len(begin))), begin...)
		bz = binary.AppendUvarint(binary.AppendUvarint(bz, b.begin.Due), b.begin.Seq)
		if b.price.IsNil() {
			bz = append(bz, 0)
			continue
		}
		digits := b.price.BigIntMut().Bytes()
		bz = append(append(bz, byte(len(digits)+1)), digits...)
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
		b := bound{list: merge.List(number<<pageBits | uint32(name[0]))}
		b.begin = merge.Entry{List: b.list, Price: decimalOf(d.Bytes(uint64(name[1]))), Due: d.Uvarint(), Seq: d.Uvarint()}
		if length := d.Bytes(1); len(length) == 1 && length[0] > 0 {
			b.price = decimalOf(d.Bytes(uint64(length[0] - 1)))
		}
		p.bounds = append(p.bounds, b)
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

// beginOf is where a list begins at the earliest, as far as the block knows.
func (s *summary) beginOf(list merge.List) (merge.Entry, bool) {
	if s == nil || !s.complete {
		return merge.Entry{}, false
	}
	p := s.page(list)
	at, found := p.find(list)
	if !found {
		return merge.Entry{}, false
	}
	return p.bounds[at].begin, true
}

// clone returns a summary that can be changed without this one.
func (s *summary) clone() *summary {
	if s == nil {
		return nil
	}
	copied := *s
	copied.pages = slices.Clone(s.pages)
	for i := range copied.pages {
		copied.pages[i].bounds = slices.Clone(copied.pages[i].bounds)
	}
	return &copied
}

// raise lifts the bound of an entry's list. Until there is a summary, nothing needs to be kept up. The end of a block lifts it in
// memory. A handler may be undone without that: what it raises goes to pages of its own in the store, which the block absorbs.
func (x *Index) raise(ctx context.Context, entry merge.Entry, priced bool) error {
	c := changesOf(ctx)
	if c == nil {
		return x.raiseStored(ctx, pageOf(entry.List), entry, priced)
	}
	if collecting(ctx) == nil {
		c.raised = true
		return x.raiseStored(types.Unmetered(ctx), raisedPages+pageOf(entry.List), entry, priced)
	}
	s, err := x.summary(ctx, c)
	if err == nil && s.complete {
		s.page(entry.List).add(entry, priced)
	}
	return err
}

// raiseStored lifts a bound in a page of the store. A block that has made the summary has not stored yet that it is complete.
func (x *Index) raiseStored(ctx context.Context, number uint32, entry merge.Entry, priced bool) error {
	bz, found, err := state.Find(ctx, x.bounds, number)
	if err != nil {
		return err
	}
	if !found {
		c := changesOf(ctx)
		complete := c != nil && c.summary != nil && c.summary.complete
		if !complete {
			if complete, err = x.bounds.Has(ctx, allPages); err != nil || !complete {
				return err
			}
		}
	}
	p, err := decodePage(number, bz)
	if err != nil {
		return err
	}
	if p.add(entry, priced); !p.changed {
		return nil
	}
	return x.bounds.Set(ctx, number, p.encode())
}

// absorb takes the bounds that handlers have raised out of their pages.
func (x *Index) absorb(ctx context.Context, c *Changes) error {
	if !c.raised {
		return nil
	}
	c.raised = false
	var raised []page
	within := new(collections.Range[uint32]).StartInclusive(raisedPages).EndExclusive(allPages)
	err := x.bounds.Walk(ctx, within, func(number uint32, bz []byte) (bool, error) {
		p, err := decodePage(number-raisedPages, bz)
		raised = append(raised, p)
		return false, err
	})
	for _, p := range raised {
		for _, b := range p.bounds {
			c.summary.page(b.list).lift(b)
		}
		err = errors.Join(err, x.bounds.Remove(ctx, raisedPages+p.number))
	}
	return err
}

// summary is the block's, read when it is first needed, with what handlers have raised since.
func (x *Index) summary(ctx context.Context, c *Changes) (*summary, error) {
	s, free := c.summary, types.Unmetered(ctx)
	if s == nil {
		var err error
		if s, err = x.readSummary(free); err != nil {
			return s, err
		}
	}
	if collecting(ctx) != c {
		return s, nil
	}
	c.summary = s
	return s, x.absorb(free, c)
}

func (x *Index) readSummary(ctx context.Context) (*summary, error) {
	s := &summary{}
	err := x.bounds.Walk(ctx, nil, func(number uint32, bz []byte) (bool, error) {
		if s.complete = number == allPages; s.complete {
			return true, nil
		}
		if number >= raisedPages {
			return false, nil // They are absorbed.
		}
		p, err := decodePage(number, bz)
		s.pages = append(s.pages, p)
		return false, err
	})
	return s, err
}

// Bounds implements merge.Summary. It makes the summary if there is none.
func (x *Index) Bounds(ctx context.Context, fn func(merge.List, math.LegacyDec)) error {
	s, err := x.madeSummary(ctx)
	if err != nil {
		return err
	}
	for _, p := range s.pages {
		for _, b := range p.bounds {
			if !b.price.IsNil() {
				fn(b.list, b.price)
			}
		}
	}
	return nil
}

// madeSummary is the block's. It is made if there is none; what is made outside of a block is forgotten.
func (x *Index) madeSummary(ctx context.Context) (*summary, error) {
	c := changesOf(ctx)
	if c == nil {
		c = &Changes{}
	}
	s, err := x.summary(ctx, c)
	if err == nil && !s.complete {
		if s, err = x.makeSummary(ctx); err == nil && c == collecting(ctx) {
			c.summary = s
		}
	}
	return s, err
}

// makeSummary reads the head of every list.
func (x *Index) makeSummary(ctx context.Context) (*summary, error) {
	s := &summary{complete: true, made: true}
	for from := merge.List(0); ; {
		heads, err := x.From(ctx, from, 1)
		if err != nil || len(heads) == 0 {
			return s, err
		}
		head := heads[0]
		owner, err := x.ownerOf(head.List.Weight())
		if err != nil {
			return nil, err
		}
		s.page(head.List).add(head, owner.Summarized(head.List))
		from = head.List + 1
	}
}

// First implements merge.Store: it is false for an empty list. It reads from where the list begins, and notes where that is
// now.
func (x *Index) First(ctx context.Context, list merge.List) (head merge.Entry, found bool, err error) {
	s, err := x.madeSummary(ctx)
	if err != nil {
		return head, false, err
	}
	from := listKey(list)
	if begin, known := s.beginOf(list); known {
		from = keyOf(begin)
	}
	admitted := admissionsOf(ctx).within(list)
	if c := ownChanges(ctx); c != nil && c.summary != nil {
		if err := x.noteBegin(ctx, c, list, from, admitted); err != nil {
			return head, false, err
		}
	}
	entries, err := x.read(ctx, from, listKey(list+1), 1, admitted)
	if err != nil || len(entries) == 0 {
		return head, false, err
	}
	return entries[0], true, nil
}

// noteBegin notes where a list begins now. What the block itself has removed is still there.
func (x *Index) noteBegin(ctx context.Context, c *Changes, list merge.List, from []byte, admitted []merge.Entry) error {
	stored, err := x.page(ctx, c, from, listKey(list+1), 1)
	if err != nil {
		return err
	}
	heads := make([]merge.Entry, 0, 1)
	for _, found := range stored {
		head, err := parseEntry(found)
		if err != nil {
			return err
		}
		heads = append(heads, head)
	}
	p := c.summary.page(list)
	switch heads = mergeEntries(heads, admitted, 1); {
	case len(heads) == 0:
		p.drop(list)
	default:
		if at, known := p.find(list); known && compareEntries(p.bounds[at].begin, heads[0]) < 0 {
			p.bounds[at].begin, p.changed = heads[0], true
		}
	}
	return nil
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
		c.summary.page(list).drop(list)
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
		p := s.page(entry.List)
		at, found := p.find(entry.List)
		if !found || compareEntries(entry, p.bounds[at].begin) < 0 {
			return fmt.Errorf("list %d of the ready index has the entry (%d, %d) before it begins", entry.List, entry.Due, entry.Seq)
		}
		if bound := p.bounds[at].price; owner.Summarized(entry.List) && (bound.IsNil() || bound.LT(entry.Price)) {
			return fmt.Errorf("list %d of the ready index has price %s, which is above its bound", entry.List, entry.Price)
		}
	}
	return nil
}
