package state

import (
	"context"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/logmap"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/schedule"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// IndexView is the index as the end of one block, or what looks at the next one, sees and changes it. Nothing is stored before Close:
// a view that is dropped has changed nothing.
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

// Close writes what was changed, each key once, and lets the entries merge by a bounded amount of work. When the index is empty, its
// summary is forgotten.
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
