package index

import (
	"cmp"
	"context"
	"maps"
	"slices"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/calendar"
	"github.com/cosmos-timers/timers/x/timers/merge"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// admissions are the timers that a block admits, until WriteAdmissions writes those that are still there. A crowd without
// funds is admitted, tried and set aside in one block: it costs the index no write.
//
// Invariant: the store has no entries of these timers, whatever their records say.
type admissions struct {
	// timers in the order of their admission, those dropped without one, and where each is by its place in the queue, which is
	// looked up, never ranged over.
	timers []admission
	places map[calendar.Key]int
	// entries of all timers in the order of the store, but for the fresh ones, which inOrder puts there.
	entries, fresh []merge.Entry
}

// fewFresh are put in order one by one. More of them are sorted with the rest.
const fewFresh = 16

// admission is a timer as it was admitted, and its placement.
type admission struct {
	timer *types.Timer
	at    Placement
}

func (a *admissions) clone() *admissions {
	if a == nil {
		return nil
	}
	return &admissions{slices.Clone(a.timers), maps.Clone(a.places), slices.Clone(a.entries), slices.Clone(a.fresh)}
}

// of returns the admission of the timer at a place in the queue; nil if the block did not admit it.
func (a *admissions) of(key calendar.Key) *admission {
	if a == nil {
		return nil
	}
	if at, found := a.places[key]; found {
		return &a.timers[at]
	}
	return nil
}

func (a *admissions) add(t *types.Timer, at Placement, entries []merge.Entry) {
	a.places[state.KeyOf(t.Due, t.Seq)] = len(a.timers)
	a.timers = append(a.timers, admission{t, at})
	a.fresh = append(a.fresh, entries...)
}

// drop forgets a timer that was set aside, so that nobody looks for it when the admissions are written. A crowd without funds is
// admitted and set aside in one block. If that is undone, the timer is quarantined.
func (a *admissions) drop(key calendar.Key) {
	if dropped := a.of(key); dropped != nil {
		dropped.timer = nil
		delete(a.places, key)
	}
}

// replace gives a timer another placement.
func (a *admissions) replace(t *types.Timer, at Placement, before, after []merge.Entry) {
	for _, entry := range before {
		if i, found := slices.BinarySearchFunc(a.inOrder(), entry, compareEntries); found {
			a.entries = slices.Delete(a.entries, i, i+1)
		}
	}
	a.of(state.KeyOf(t.Due, t.Seq)).at = at
	a.fresh = append(a.fresh, after...)
}

// inOrder returns the entries in the order of the store.
func (a *admissions) inOrder() []merge.Entry {
	if a == nil {
		return nil
	}
	if len(a.fresh) > fewFresh {
		a.entries = append(a.entries, a.fresh...)
		slices.SortFunc(a.entries, compareEntries)
	} else {
		for _, entry := range a.fresh {
			at, _ := slices.BinarySearchFunc(a.entries, entry, compareEntries)
			a.entries = slices.Insert(a.entries, at, entry)
		}
	}
	a.fresh = a.fresh[:0]
	return a.entries
}

// from are the entries of a list and those after it, upTo those of the lists before.
func (a *admissions) from(list merge.List) []merge.Entry { return a.inOrder()[a.search(list):] }
func (a *admissions) upTo(list merge.List) []merge.Entry { return a.inOrder()[:a.search(list)] }

// within are the entries of a list.
func (a *admissions) within(list merge.List) []merge.Entry {
	entries := a.from(list)
	end, _ := slices.BinarySearchFunc(entries, list+1, func(e merge.Entry, list merge.List) int { return cmp.Compare(e.List, list) })
	return entries[:end]
}

func (a *admissions) search(list merge.List) int {
	at, _ := slices.BinarySearchFunc(a.inOrder(), list, func(e merge.Entry, list merge.List) int { return cmp.Compare(e.List, list) })
	return at
}

// after are the entries of the entry's list that come after it.
func (a *admissions) after(entry merge.Entry) []merge.Entry {
	list := a.upTo(entry.List + 1)
	at, found := slices.BinarySearchFunc(list, entry, compareEntries)
	if found {
		at++
	}
	return list[at:]
}

// compareEntries is the order of the store: by list, price descending, due and seq.
func compareEntries(a, b merge.Entry) int {
	return cmp.Or(
		cmp.Compare(a.List, b.List), b.Price.BigIntMut().Cmp(a.Price.BigIntMut()), cmp.Compare(a.Due, b.Due), cmp.Compare(a.Seq, b.Seq),
	)
}

// mergeEntries returns the first n of two lists in the order of the store.
func mergeEntries(a, b []merge.Entry, n int) []merge.Entry {
	if len(b) == 0 {
		return a
	}
	merged := make([]merge.Entry, 0, min(n, len(a)+len(b)))
	for len(merged) < n && len(a)+len(b) > 0 {
		if len(b) == 0 || len(a) > 0 && compareEntries(a[0], b[0]) < 0 {
			merged, a = append(merged, a[0]), a[1:]
		} else {
			merged, b = append(merged, b[0]), b[1:]
		}
	}
	return merged
}

// Unwritten is how many timers were admitted and are not yet written.
func (c *Changes) Unwritten() uint64 {
	if c.admissions == nil {
		return 0
	}
	return uint64(len(c.admissions.timers))
}

// admissionOf is that of a timer by the block in which the context runs; nil if there is none.
func admissionOf(ctx context.Context, t *types.Timer) *admission {
	return admissionsOf(ctx).of(state.KeyOf(t.Due, t.Seq))
}

// admissionsOf are those of the block in which the context runs.
func admissionsOf(ctx context.Context) *admissions {
	if c := changesOf(ctx); c != nil {
		return c.admissions
	}
	return nil
}

// IsAdmitted reports whether a timer of the queue is in the index.
func (x *Index) IsAdmitted(ctx context.Context, t *types.Timer) bool {
	return t.AdmittedWeight > 0 || admissionOf(ctx, t) != nil
}

// InQueue reads the timer at a place in the queue, with the placement that the block has given it.
func (x *Index) InQueue(ctx context.Context, key calendar.Key) (types.Timer, bool, error) {
	admitted := admissionsOf(ctx).of(key)
	if admitted == nil {
		return x.records.InQueue(ctx, key)
	}
	t, found, err := *admitted.timer, true, error(nil)
	if x.records.Queue().MayDiffer(ctx, &t) {
		t, found, err = x.records.InQueue(ctx, key)
	}
	admitted.at.place(&t)
	return t, found, err
}

// Recall gives a timer that was read elsewhere the placement that the block has given it.
func (x *Index) Recall(ctx context.Context, t *types.Timer) {
	if admitted := admissionOf(ctx, t); admitted != nil {
		admitted.at.place(t)
	}
}

// WriteAdmissions writes the timers that the block has admitted, or given another placement, and that are still ready. What
// is read of the index afterwards lacks them.
func (x *Index) WriteAdmissions(ctx sdk.Context) error {
	c := ownChanges(ctx)
	if c == nil || c.admissions == nil {
		return nil
	}
	c.inUse = true
	admitted := c.admissions.timers
	placed := make([]types.Timer, 0, len(admitted))
	for i := range admitted {
		if admitted[i].timer == nil {
			continue
		}
		t, found, err := x.InQueue(ctx, state.KeyOf(admitted[i].timer.Due, admitted[i].timer.Seq))
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		if err := x.addEntries(ctx, &t, admitted[i].at); err != nil {
			return err
		}
		placed = append(placed, t)
		c.Admitted++
	}
	c.admissions = nil
	return x.records.Queue().Place(ctx, placed)
}
