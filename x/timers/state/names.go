package state

import (
	"context"
	"slices"

	"cosmossdk.io/collections"
	"cosmossdk.io/core/store"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/logmap"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Names finds timers by their names: of an actor, and of who scheduled them. A timer without a name has nothing here. An entry
// states the name's hash and the beginning of the id, and nothing that changes while the timer lives; who asks reads the record. So
// a timer that has expired leaves its entry until it is removed, beside that of another one that has the name by then.
//
// Invariant: every timer with a name has one entry, and every entry has its timer.
type Names struct {
	// entries: hash of actor, scheduler and name, beginning of the id → nothing.
	entries *LogMap
}

// What a name costs in cycles, beside what reading timers takes: a look-up, and the entry and its removal.
const (
	nameLookupCycles = 8_000
	nameAddCycles    = 10_000
)

// newNames adds the collection to the schema.
func newNames(sb *collections.SchemaBuilder, service store.KVStoreService) Names {
	return Names{NewLogMap(sb, service, types.PrefixNames, "names", logmap.Options{Range: HashRange})}
}

// hashOfName is the beginning of the keys of a name. What is hashed has one reading: an address is shorter than 256 bytes.
func hashOfName(actor, scheduler sdk.AccAddress, name string) []byte {
	if scheduler.Equals(actor) {
		scheduler = nil
	}
	text := slices.Concat([]byte{byte(len(actor))}, actor, []byte{byte(len(scheduler))}, scheduler, []byte(name))
	return HashOf(text)
}

// nameKey is the key of the entry of a timer with a name.
func nameKey(t *types.Timer) []byte {
	return append(hashOfName(t.Actor, t.Scheduler, t.Spec.Name), t.Id[:IDStartBytes]...)
}

// claim returns ErrNameTaken if another timer that can still fire has the name that a timer states.
func (r *Records) claim(ctx context.Context, t *types.Timer) error {
	charge(ctx, nameAddCycles)
	found, err := r.withName(ctx, t.Owner(), t.Principal(), t.Spec.Name)
	if err != nil {
		return err
	}
	if len(found) > 0 {
		return types.ErrNameTaken.Wrapf("timer %s has the name %q: update that one, or state another name", found[0].IDHex(), t.Spec.Name)
	}
	// An owner can make ids whose beginnings are alike: no two of them have a name in common.
	_, alike, err := r.names.entries.Get(ctx, nameKey(t))
	if err == nil && alike {
		err = types.ErrNameTaken.Wrapf("timer %x, which has ended, has the name %q until it is removed: state another name", t.Id[:IDStartBytes], t.Spec.Name)
	}
	return err
}

// enter writes the entry of a timer's name.
func (r *Records) enter(ctx context.Context, t *types.Timer) error {
	key := nameKey(t)
	chargeCells(ctx, len(key))
	return r.names.entries.Apply(ctx, logmap.Inserted(key, nil))
}

// disclaim drops the entry of a timer's name.
func (r *Records) disclaim(ctx context.Context, t *types.Timer) error {
	return r.names.entries.Apply(ctx, logmap.Deleted(nameKey(t)))
}

// rename moves the entry of a timer to its name.
func (r *Records) rename(ctx context.Context, before, t *types.Timer) error {
	if before.Spec.Name == t.Spec.Name {
		return nil
	}
	if before.Spec.Name != "" {
		if err := r.disclaim(ctx, before); err != nil {
			return err
		}
	}
	if t.Spec.Name == "" {
		return nil
	}
	if err := r.claim(ctx, t); err != nil {
		return err
	}
	return r.enter(ctx, t)
}

// withName are the timers of an actor that a scheduler has given a name, and that can still fire.
func (r *Records) withName(ctx context.Context, actor, scheduler sdk.AccAddress, name string) (found []types.Timer, err error) {
	charge(ctx, nameLookupCycles)
	hash := hashOfName(actor, scheduler, name)
	entries, err := r.names.entries.Page(ctx, hash, after(hash), 1<<30)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		timers, err := r.owners.candidates(ctx, actor, entry.Key[HashBytes:])
		if err != nil {
			return nil, err
		}
		for _, at := range timers {
			t, err := r.Load(ctx, at)
			if err != nil {
				return nil, err
			}
			if t.Spec.Name == name && t.Owner().Equals(actor) && t.Principal().Equals(scheduler) && !t.ExpiredAt(types.MomentOf(ctx)) {
				found = append(found, t)
			}
		}
	}
	return found, nil
}

// Named returns the live timer of an actor that a scheduler has given a name. It is ErrTimerNotFound if there is none that can still
// fire, and ErrAmbiguousTimerID if one that had expired was given a later end when its name had been taken.
func (r *Records) Named(ctx context.Context, actor, scheduler sdk.AccAddress, name string) (types.Timer, error) {
	found, err := r.withName(ctx, actor, scheduler, name)
	switch {
	case err != nil:
		return types.Timer{}, err
	case len(found) == 0:
		return types.Timer{}, types.ErrTimerNotFound.Wrapf("%s has no live timer with the name %.80q", actor, name)
	case len(found) > 1:
		return types.Timer{}, types.ErrAmbiguousTimerID.Wrapf("%d timers have the name %.80q, %s and %s among them: state an id",
			len(found), name, found[0].IDHex(), found[1].IDHex())
	}
	return found[0], nil
}
