package keeper

import (
	"context"
	"slices"

	"cosmossdk.io/collections"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// An actor's record is one page for most actors: the number of its timers and where each lies. What does not fit on
// page 0 goes to the page that its id picks, so that finding, adding and removing read two pages at most, however many
// timers the actor has.
const (
	// firstPageEntries bounds page 0: small, because every schedule rewrites it and pays for its bytes.
	firstPageEntries = 16
	// overflowPages is the number of further pages.
	overflowPages = 64
	// overflowPageEntries bounds a further page: four times what it holds on average when an actor has its default 1,024
	// timers. Ids are hashes, so that only a deliberate search for collisions fills one.
	overflowPageEntries = 64
)

func overflowPage(idPrefix uint64) uint16 { return uint16(1 + idPrefix%overflowPages) }

// actorPage reads a page; one that does not exist is empty.
func (k *Keeper) actorPage(ctx context.Context, actor sdk.AccAddress, page uint16) (types.ActorPage, error) {
	value, _, err := find(ctx, k.state.actors, collections.Join(actor, page))
	return value, err
}

// setActorPage writes a page, or removes it when it says nothing any more.
func (k *Keeper) setActorPage(ctx context.Context, actor sdk.AccAddress, page uint16, value types.ActorPage) error {
	key := collections.Join(actor, page)
	if saysNothing(value) {
		return k.state.actors.Remove(ctx, key)
	}
	return k.state.actors.Set(ctx, key, value)
}

func saysNothing(page types.ActorPage) bool {
	return page.Timers == 0 && len(page.Entries) == 0 && page.Recent == 0 && len(page.Agent) == 0
}

// addEntry records a new timer of the actor, of which it may have maxTimers.
func (k *Keeper) addEntry(ctx context.Context, actor sdk.AccAddress, entry types.ActorEntry, maxTimers uint32) error {
	first, err := k.actorPage(ctx, actor, 0)
	if err != nil {
		return err
	}
	if first.Timers >= maxTimers {
		return types.ErrTooManyTimers.Wrapf("the actor has %d live timers, the most allowed is %d", first.Timers, maxTimers)
	}
	first.Timers++
	if len(first.Entries) < firstPageEntries {
		first.Entries = append(first.Entries, entry)
		return k.setActorPage(ctx, actor, 0, first)
	}
	page := overflowPage(entry.IdPrefix)
	further, err := k.actorPage(ctx, actor, page)
	if err != nil {
		return err
	}
	if len(further.Entries) >= overflowPageEntries {
		return types.ErrActorPageFull.Wrapf("page %d holds %d entries; change the height or the payload", page, len(further.Entries))
	}
	further.Entries = append(further.Entries, entry)
	if err := k.setActorPage(ctx, actor, page, further); err != nil {
		return err
	}
	return k.setActorPage(ctx, actor, 0, first)
}

// moveEntry records a timer's new place.
func (k *Keeper) moveEntry(ctx context.Context, actor sdk.AccAddress, from, to types.ActorEntry) error {
	page, number, at, err := k.findEntry(ctx, actor, from)
	if err != nil {
		return err
	}
	page.Entries[at] = to
	return k.setActorPage(ctx, actor, number, page)
}

// removeEntry forgets a timer.
func (k *Keeper) removeEntry(ctx context.Context, actor sdk.AccAddress, entry types.ActorEntry) error {
	page, number, at, err := k.findEntry(ctx, actor, entry)
	if err != nil {
		return err
	}
	page.Entries = slices.Delete(page.Entries, at, at+1)
	if number != 0 {
		if err := k.setActorPage(ctx, actor, number, page); err != nil {
			return err
		}
		if page, err = k.actorPage(ctx, actor, 0); err != nil {
			return err
		}
	}
	page.Timers--
	return k.setActorPage(ctx, actor, 0, page)
}

// findEntry finds the page that holds the entry, and where. An entry that is missing is a broken invariant.
func (k *Keeper) findEntry(
	ctx context.Context, actor sdk.AccAddress, entry types.ActorEntry,
) (page types.ActorPage, number uint16, at int, err error) {
	for _, number := range []uint16{0, overflowPage(entry.IdPrefix)} {
		page, err := k.actorPage(ctx, actor, number)
		if err != nil {
			return page, number, 0, err
		}
		if at := slices.Index(page.Entries, entry); at >= 0 {
			return page, number, at, nil
		}
	}
	return page, 0, 0, types.ErrInternal.Wrapf("actor %s has no entry for seq %d", actor, entry.Seq)
}

// entryOf is how the actor's record names the timer.
func entryOf(t *types.Timer) types.ActorEntry {
	entry := types.ActorEntry{IdPrefix: types.IDPrefix64(t.Id), Due: t.Due, Seq: t.Seq}
	if t.SetAside != types.NotSetAside {
		entry.Due = 0
	}
	return entry
}

// lookup returns a live timer of the actor by its whole id, or ErrTimerNotFound.
func (k *Keeper) lookup(ctx context.Context, actor sdk.AccAddress, id []byte) (types.Timer, error) {
	prefix := types.IDPrefix64(id)
	for _, number := range []uint16{0, overflowPage(prefix)} {
		page, err := k.actorPage(ctx, actor, number)
		if err != nil {
			return types.Timer{}, err
		}
		for _, entry := range page.Entries {
			if entry.IdPrefix != prefix {
				continue
			}
			timer, err := k.load(ctx, entry)
			if err != nil || slices.Equal(timer.Id, id) {
				return timer, err
			}
		}
	}
	return types.Timer{}, types.ErrTimerNotFound.Wrapf("actor %s has no live timer %x", actor, id)
}

// load returns the timer that an entry names.
func (k *Keeper) load(ctx context.Context, entry types.ActorEntry) (types.Timer, error) {
	if entry.Due == 0 {
		timer, waits, err := find(ctx, k.state.watching, entry.Seq)
		if waits || err != nil {
			return timer, err
		}
		return k.state.setAside.Get(ctx, entry.Seq)
	}
	return k.state.queue.Get(ctx, collections.Join(entry.Due, entry.Seq))
}

// entries returns all entries of the actor by (due, seq), those set aside first. The config bounds their number.
func (k *Keeper) entries(ctx context.Context, actor sdk.AccAddress) (all []types.ActorEntry, err error) {
	ranger := collections.NewPrefixedPairRange[sdk.AccAddress, uint16](actor)
	err = k.state.actors.Walk(ctx, ranger, func(_ collections.Pair[sdk.AccAddress, uint16], page types.ActorPage) (bool, error) {
		all = append(all, page.Entries...)
		return false, nil
	})
	slices.SortFunc(all, func(a, b types.ActorEntry) int {
		return keyOf(a.Due, a.Seq).Compare(keyOf(b.Due, b.Seq))
	})
	return all, err
}
