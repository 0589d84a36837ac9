package state

import (
	"context"
	"slices"

	"cosmossdk.io/collections"

	"github.com/cosmos/cosmos-sdk/codec"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// An actor's record is one page for most actors: the number of its timers and the place of each. An entry that does not
// fit on page 0 is on the page that its id selects. So finding, adding and removing read at most two pages, however
// many timers the actor has.
const (
	// FirstPageEntries bounds page 0: small, because every schedule rewrites it and pays for its bytes.
	FirstPageEntries = 16
	// OverflowPages is the number of further pages.
	OverflowPages = 64
	// OverflowPageEntries bounds a further page: four times what it holds on average when an actor has its default
	// 1,024 timers. Ids are hashes, so that only a deliberate search for collisions fills one.
	OverflowPageEntries = 64
)

// Unlimited is a number of timers that no actor reaches.
const Unlimited = ^uint32(0)

// pageKey is (owner, page).
type pageKey = collections.Pair[sdk.AccAddress, uint16]

// Actors holds all that a block needs to know of an actor at one random key: the number and places of its timers, the
// number of its fires within the fairness window, and its default agent.
//
// Invariant: no page is empty.
type Actors struct {
	// pages: (owner, page) → page.
	pages collections.Map[pageKey, types.ActorPage]
}

// NewActors adds the component's collection to the schema.
func NewActors(cdc codec.BinaryCodec, sb *collections.SchemaBuilder) *Actors {
	return &Actors{collections.NewMap(sb, types.PrefixActors, "actors",
		collections.PairKeyCodec(sdk.AccAddressKey, collections.Uint16Key), codec.CollValue[types.ActorPage](cdc))}
}

func overflowPage(idPrefix uint64) uint16 { return uint16(1 + idPrefix%OverflowPages) }

// Page reads a page; one that does not exist is empty.
func (a *Actors) Page(ctx context.Context, actor sdk.AccAddress, page uint16) (types.ActorPage, error) {
	value, _, err := Find(ctx, a.pages, collections.Join(actor, page))
	return value, err
}

// SetPage writes a page, or removes it when it is empty.
func (a *Actors) SetPage(ctx context.Context, actor sdk.AccAddress, page uint16, value types.ActorPage) error {
	key := collections.Join(actor, page)
	if isEmpty(value) {
		return a.pages.Remove(ctx, key)
	}
	return a.pages.Set(ctx, key, value)
}

func isEmpty(page types.ActorPage) bool {
	return page.Timers == 0 && len(page.Entries) == 0 && page.Recent == 0 && len(page.Agent) == 0
}

// Walk passes every page to fn, by actor and number.
func (a *Actors) Walk(ctx context.Context, fn func(actor sdk.AccAddress, number uint16, page types.ActorPage) error) error {
	return a.pages.Walk(ctx, nil, func(key pageKey, page types.ActorPage) (bool, error) {
		return false, fn(key.K1(), key.K2(), page)
	})
}

// Entries returns all entries of the actor by (due, seq), those set aside first. The config bounds their number.
func (a *Actors) Entries(ctx context.Context, actor sdk.AccAddress) (all []types.ActorEntry, err error) {
	ranger := collections.NewPrefixedPairRange[sdk.AccAddress, uint16](actor)
	err = a.pages.Walk(ctx, ranger, func(_ pageKey, page types.ActorPage) (bool, error) {
		all = append(all, page.Entries...)
		return false, nil
	})
	slices.SortFunc(all, func(a, b types.ActorEntry) int {
		return KeyOf(a.Due, a.Seq).Compare(KeyOf(b.Due, b.Seq))
	})
	return all, err
}

// AddEntry records a new timer of the actor, of which it may have maxTimers.
func (a *Actors) AddEntry(ctx context.Context, actor sdk.AccAddress, entry types.ActorEntry, maxTimers uint32) error {
	first, err := a.Page(ctx, actor, 0)
	if err != nil {
		return err
	}
	if first.Timers >= maxTimers {
		return types.ErrTooManyTimers.Wrapf("the actor has %d live timers, the most allowed is %d", first.Timers, maxTimers)
	}
	first.Timers++
	if len(first.Entries) < FirstPageEntries {
		first.Entries = append(first.Entries, entry)
		return a.SetPage(ctx, actor, 0, first)
	}
	page := overflowPage(entry.IdPrefix)
	further, err := a.Page(ctx, actor, page)
	if err != nil {
		return err
	}
	if len(further.Entries) >= OverflowPageEntries {
		return types.ErrActorPageFull.Wrapf("page %d holds %d entries; change the height or the payload", page, len(further.Entries))
	}
	further.Entries = append(further.Entries, entry)
	if err := a.SetPage(ctx, actor, page, further); err != nil {
		return err
	}
	return a.SetPage(ctx, actor, 0, first)
}

// moveEntry records a timer's new place.
func (a *Actors) moveEntry(ctx context.Context, actor sdk.AccAddress, from, to types.ActorEntry) error {
	page, number, at, err := a.findEntry(ctx, actor, from)
	if err != nil {
		return err
	}
	page.Entries[at] = to
	return a.SetPage(ctx, actor, number, page)
}

// removeEntry drops a timer's entry.
func (a *Actors) removeEntry(ctx context.Context, actor sdk.AccAddress, entry types.ActorEntry) error {
	page, number, at, err := a.findEntry(ctx, actor, entry)
	if err != nil {
		return err
	}
	page.Entries = slices.Delete(page.Entries, at, at+1)
	if number != 0 {
		if err := a.SetPage(ctx, actor, number, page); err != nil {
			return err
		}
		if page, err = a.Page(ctx, actor, 0); err != nil {
			return err
		}
	}
	page.Timers--
	return a.SetPage(ctx, actor, 0, page)
}

// findEntry finds the page that holds the entry, and where. An entry that is missing is a broken invariant.
func (a *Actors) findEntry(
	ctx context.Context, actor sdk.AccAddress, entry types.ActorEntry,
) (page types.ActorPage, number uint16, at int, err error) {
	for _, number := range []uint16{0, overflowPage(entry.IdPrefix)} {
		page, err := a.Page(ctx, actor, number)
		if err != nil {
			return page, number, 0, err
		}
		if at := slices.Index(page.Entries, entry); at >= 0 {
			return page, number, at, nil
		}
	}
	return page, 0, 0, types.ErrInternal.Wrapf("actor %s has no entry for seq %d", actor, entry.Seq)
}

// candidates passes the entries whose ids may have the prefix to fn, until fn has found what it looks for.
func (a *Actors) candidates(
	ctx context.Context, actor sdk.AccAddress, idPrefix uint64, fn func(types.ActorEntry) (found bool, err error),
) error {
	for _, number := range []uint16{0, overflowPage(idPrefix)} {
		page, err := a.Page(ctx, actor, number)
		if err != nil {
			return err
		}
		for _, entry := range page.Entries {
			if entry.IdPrefix != idPrefix {
				continue
			}
			if found, err := fn(entry); found || err != nil {
				return err
			}
		}
	}
	return nil
}

// EntryOf is how the actor's record names the timer.
func EntryOf(t *types.Timer) types.ActorEntry {
	entry := types.ActorEntry{IdPrefix: types.IDPrefix64(t.Id), Due: t.Due, Seq: t.Seq}
	if t.SetAside != types.NotSetAside {
		entry.Due = 0
	}
	return entry
}

// FirstPages caches the first pages that a block has read. A block uses of them the fires before it and the default
// agent, as they were when it first read them.
type FirstPages struct {
	actors *Actors
	known  map[string]types.ActorPage
}

// FirstPages returns an empty cache.
func (a *Actors) FirstPages() *FirstPages {
	return &FirstPages{actors: a, known: map[string]types.ActorPage{}}
}

// Get returns an actor's first page.
func (p *FirstPages) Get(ctx context.Context, actor sdk.AccAddress) (types.ActorPage, error) {
	if page, known := p.known[string(actor)]; known {
		return page, nil
	}
	page, err := p.actors.Page(ctx, actor, 0)
	if err == nil {
		p.known[string(actor)] = page
	}
	return page, err
}
