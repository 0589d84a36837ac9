package state

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/logmap"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/schedule"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// IndexView is the index as the end of one block, or what looks at the next one, sees and changes it. Nothing is stored before
// Close: a view that is dropped has changed nothing.
type IndexView struct {
	x *Index
	// ctx pays for what is read, free does not.
	ctx     sdk.Context
	free    context.Context
	session *logmap.Session
	// size is how many places there are, inUse whether there were any.
	size  uint64
	inUse bool
	// filed are the places that the view has filed timers at, in their order, some more than once.
	filed []schedule.Key
	// summary is nil until it is needed.
	summary *summary
	// Stale is how many entries the block has dropped that it did not meet in their order.
	Stale int
}

func (x *Index) view(ctx context.Context) *IndexView {
	return &IndexView{x: x, ctx: sdk.UnwrapSDKContext(ctx), free: types.Unmetered(ctx), session: logmap.NewSession()}
}

// Open begins a view.
func (x *Index) Open(ctx context.Context) (*IndexView, error) {
	v := x.view(ctx)
	isNew, err := x.ready.Stored().IsNew(v.free)
	if err != nil || isNew {
		return v, err
	}
	v.inUse = true
	v.size, err = v.session.Count(v.free, x.ready.Stored(), listKey(placeList), listKey(placeList+1))
	return v, err
}

// Size is how many timers are in the index at most: those that left the queue are counted until they are met.
func (v *IndexView) Size() uint64 { return v.size }

// Filed are the places of the timers that were filed, some more than once.
func (v *IndexView) Filed() []schedule.Key { return v.filed }

// At is the first entry of the timer at a place; false if the index has none.
func (v *IndexView) At(at schedule.Key) (first market.ListEntry, found bool, err error) {
	if v.size == 0 {
		return first, false, nil
	}
	v.charge(entryCycles)
	key := indexKey(at)
	value, found, err := v.session.Get(v.free, v.x.ready.Stored(), key)
	if !found || err != nil {
		return first, false, err
	}
	first, err = parseIndexKey(logmap.Entry{Key: key, Value: value})
	return first, err == nil, err
}

// File puts a timer where its first entry says, and takes it out of where it was.
func (v *IndexView) File(first market.ListEntry) error {
	at := KeyOf(first.Due, first.Seq)
	if err := v.Remove(at); err != nil {
		return err
	}
	changes, err := v.x.insertions(first)
	if err != nil {
		return err
	}
	v.session.Apply(v.x.ready.Stored(), changes...)
	v.size, v.filed = v.size+1, append(v.filed, at)
	return v.raise(first)
}

// Remove takes the timer at a place out of the index, if it is there.
func (v *IndexView) Remove(at schedule.Key) error {
	first, found, err := v.At(at)
	if !found || err != nil {
		return err
	}
	changes, err := v.x.removals(first)
	if err != nil {
		return err
	}
	v.session.Apply(v.x.ready.Stored(), changes...)
	v.size--
	return nil
}

// Places are at most n of those from a place on and before another one.
func (v *IndexView) Places(from, to schedule.Key, n int) ([]schedule.Key, error) {
	firsts, err := v.places(from, to, n)
	keys := make([]schedule.Key, len(firsts))
	for i := range firsts {
		keys[i] = KeyOf(firsts[i].Due, firsts[i].Seq)
	}
	return keys, err
}

func (v *IndexView) places(from, to schedule.Key, n int) ([]market.ListEntry, error) {
	return v.page(indexKey(from), indexKey(to), n, parseIndexKey)
}

// Outside reads at most n entries of lists that do not lie from one on and before another one.
func (v *IndexView) Outside(from, to market.List, n int) ([]market.ListEntry, error) {
	before, err := v.page(listKey(firstList), listKey(from), n, parseIndexEntry)
	if err != nil || len(before) == n {
		return before, err
	}
	after, err := v.page(listKey(to), nil, n-len(before), parseIndexEntry)
	return append(before, after...), err
}

// First implements market.ListStore: it is false for an empty list. It reads from where the list begins, and notes where that is
// now.
func (v *IndexView) First(_ context.Context, list market.List) (head market.ListEntry, found bool, err error) {
	s, err := v.madeSummary()
	if err != nil {
		return head, false, err
	}
	from := listKey(list)
	p := s.page(list)
	at, known := p.find(list)
	if known {
		from = keyOf(p.bounds[at].begin)
	}
	heads, err := v.page(from, listKey(list+1), 1, parseIndexEntry)
	if err != nil || len(heads) == 0 {
		p.drop(list)
		return head, false, err
	}
	if known && compareEntries(p.bounds[at].begin, heads[0]) < 0 {
		p.bounds[at].begin, p.changed = heads[0], true
	}
	return heads[0], true, nil
}

// After implements market.ListStore.
func (v *IndexView) After(_ context.Context, entry market.ListEntry, n int) ([]market.ListEntry, error) {
	return v.page(append(keyOf(entry), 0), listKey(entry.List+1), n, parseIndexEntry)
}

// Bounds implements market.ListSummary. It makes the summary if there is none.
func (v *IndexView) Bounds(_ context.Context, fn func(market.List, math.LegacyDec)) error {
	s, err := v.madeSummary()
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

// Lower implements market.ListSummary.
func (v *IndexView) Lower(_ context.Context, list market.List, price math.LegacyDec) error {
	p := v.summary.page(list)
	if at, found := p.find(list); found {
		p.bounds[at].price, p.changed = price, true
	}
	return nil
}

// Drop implements market.ListSummary.
func (v *IndexView) Drop(_ context.Context, list market.List) error {
	v.summary.page(list).drop(list)
	return nil
}

// page reads at most n of an interval of keys, and charges for them.
func (v *IndexView) page(from, to []byte, n int, parse func(logmap.Entry) (market.ListEntry, error)) ([]market.ListEntry, error) {
	found, err := v.session.Page(v.free, v.x.ready.Stored(), from, to, n)
	if err != nil {
		return nil, err
	}
	v.charge(pageCycles + entryCycles*uint64(len(found)))
	entries := make([]market.ListEntry, len(found))
	for i := range found {
		if entries[i], err = parse(found[i]); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

func (v *IndexView) charge(cycles uint64) {
	v.ctx.GasMeter().ConsumeGas(cycles, "ready index")
}

// Close writes what was changed, each key once, and lets the entries merge by a bounded amount of work. When the index is empty,
// its summary is forgotten.
func (v *IndexView) Close() error {
	if !v.inUse && len(v.filed) == 0 {
		return nil
	}
	changes := v.session.Net(v.x.ready.Stored())
	if err := v.x.ready.Stored().Apply(v.free, changes...); err != nil {
		return err
	}
	if err := v.x.ready.Maintain(v.free, types.HeightOf(v.ctx)); err != nil {
		return err
	}
	switch {
	case v.size > 0 && v.summary != nil:
		return v.x.writeSummary(v.free, v.summary)
	case v.size == 0 && (v.inUse || len(changes) > 0):
		return v.x.forgetSummary(v.free)
	default:
		return nil
	}
}

// The summary has a bound for each list, so that a block opens only lists that can still win, and where its entries begin. A
// list is read from there: what was removed before is passed over once. It is made when a block first reads the index, and
// then kept: a bound is raised when an entry is added above it, and lowered when a list is opened. It says nothing of what was
// removed, so that leaving the index costs nothing more.
//
// A view reads the summary once and writes what it changed once.

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

// bound is what no entry of a list is before: by its price, if the policy wants to know that, and in the order of the list.
type bound struct {
	list market.List
	// price is one that no entry is above; nil if it is not kept.
	price math.LegacyDec
	// begin is at or before the first entry. Only what a list is ordered by is set.
	begin market.ListEntry
}

func pageOf(list market.List) uint32 { return uint32(list) >> pageBits }

func (p *page) find(list market.List) (at int, found bool) {
	return slices.BinarySearchFunc(p.bounds, list, func(b bound, list market.List) int { return cmp.Compare(b.list, list) })
}

// add lifts the bound of an entry's list to it, if the list had a lower one or none.
func (p *page) add(entry market.ListEntry, priced bool) {
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
func (p *page) drop(list market.List) {
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
	p, d := page{number: number}, logmap.NewDecoder(bz)
	for d.More() {
		name := d.Bytes(2)
		if len(name) < 2 {
			break
		}
		b := bound{list: market.List(number<<pageBits | uint32(name[0]))}
		b.begin = market.ListEntry{List: b.list, Price: decimalOf(d.Bytes(uint64(name[1]))), Due: d.Uvarint(), Seq: d.Uvarint()}
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
func (s *summary) page(list market.List) *page {
	number := pageOf(list)
	at, found := slices.BinarySearchFunc(s.pages, number, func(p page, number uint32) int { return cmp.Compare(p.number, number) })
	if !found {
		s.pages = slices.Insert(s.pages, at, page{number: number})
	}
	return &s.pages[at]
}

// raise lifts the bounds of the lists that a timer was filed in. Until there is a summary, nothing needs to be kept up.
func (v *IndexView) raise(first market.ListEntry) error {
	s, err := v.readSummary()
	if err != nil || !s.complete {
		return err
	}
	owner, err := v.x.ownerOf(first.List)
	if err != nil {
		return err
	}
	for _, entry := range owner.Entries(first) {
		s.page(entry.List).add(entry, owner.Summarized(entry.List))
	}
	return nil
}

// readSummary is what is stored, read when it is first needed.
func (v *IndexView) readSummary() (_ *summary, err error) {
	if v.summary == nil {
		v.summary, err = v.x.readSummary(v.free)
	}
	return v.summary, err
}

// madeSummary is made from the head of every list if there is none.
func (v *IndexView) madeSummary() (*summary, error) {
	s, err := v.readSummary()
	if err != nil || s.complete {
		return s, err
	}
	s = &summary{complete: true, made: true}
	for from := firstList; ; {
		heads, err := v.page(listKey(from), nil, 1, parseIndexEntry)
		if err != nil {
			return nil, err
		}
		if len(heads) == 0 {
			v.summary = s
			return s, nil
		}
		owner, err := v.x.ownerOf(heads[0].List)
		if err != nil {
			return nil, err
		}
		s.page(heads[0].List).add(heads[0], owner.Summarized(heads[0].List))
		from = heads[0].List + 1
	}
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
func (x *Index) checkSummary(ctx context.Context, all []market.ListEntry) error {
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
		owner, err := x.ownerOf(entry.List)
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
