// Package index keeps the ready index: the timers that compete in a storm, in lists that their policies order.
package index

import (
	"context"
	"fmt"
	"maps"

	"cosmossdk.io/collections"
	"cosmossdk.io/core/store"
	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/calendar"
	"github.com/cosmos-timers/timers/x/timers/logmap"
	"github.com/cosmos-timers/timers/x/timers/merge"
	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/state/logstore"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Index is the ready index: the timers that compete under overload, in lists that their policies order. A record states
// the weight under which it is indexed, so that the entries of a timer are found from its record. The policies define
// what the lists mean, and register with Own.
//
// Invariant: an admitted timer has exactly the entries that the owner of its weight makes of its record; there are no
// others, and `admitted` counts the timers. If `bounds` is complete, it has every list that is not empty, with a place at or
// before its entries, and with a price at or above theirs where its owner wants one.
type Index struct {
	state.NoCompanion
	// ready: (list, complement of the price, due, seq) → the other stated price. Timers that wait in a storm.
	ready *logmap.Map
	// admitted is the number of timers in ready; absent for none, once nothing waits to be merged.
	admitted collections.Item[uint64]
	// bounds: page of lists → of each list what no entry is before, and a price that none is above. Incomplete without the
	// entry of allPages.
	bounds collections.Map[uint32, []byte]

	records *state.Records
	owners  []ListOwner
}

var (
	_ state.Component   = (*Index)(nil)
	_ state.TimerReader = (*Index)(nil)
	_ state.Companion   = (*Index)(nil)
	_ merge.Summary     = (*Index)(nil)
)

// ListOwner is a policy that keeps timers in the index.
type ListOwner interface {
	// Owns reports whether timers with this indexed weight are the owner's. No two owners share a weight.
	Owns(weight uint32) bool
	// Summarized reports whether the index keeps a bound on the prices of a list.
	Summarized(list merge.List) bool
	// Entries are those of an indexed timer, by its record.
	Entries(t *types.Timer) []merge.Entry
	// Relocated is the placement of an indexed timer that was changed where it is stored, by a transaction or a handler
	// that does not know the weights and the prices of the block. Before is the timer as it was.
	Relocated(at Placement, before, t *types.Timer) Placement
	// Check returns what is wrong with the placement that a record of the owner's states.
	Check(ctx context.Context, t *types.Timer) error
}

// Placement is where in the index a timer is: under a weight, with a score where the list orders by one, with what
// its agent answered, and with what its max_charge left at the chain's prices. Of weight 0 it is not in the index.
type Placement struct {
	Weight  uint32
	Score   []byte
	Quote   *types.AgentQuote
	Ceiling *math.LegacyDec
}

// HasCeiling reports whether the placement is one with this ceiling; nil for none.
func (p Placement) HasCeiling(ceiling *math.LegacyDec) bool {
	if p.Ceiling == nil || ceiling == nil {
		return p.Ceiling == ceiling
	}
	return p.Ceiling.Equal(*ceiling)
}

// PlacementOf is the placement that the record states.
func PlacementOf(t *types.Timer) Placement {
	return Placement{t.AdmittedWeight, t.AdmittedScore, t.Quote, t.AdmittedCeiling}
}

// place states the placement in a record.
func (p Placement) place(t *types.Timer) {
	t.AdmittedWeight, t.AdmittedScore, t.Quote, t.AdmittedCeiling = p.Weight, p.Score, p.Quote, p.Ceiling
}

// New adds the component's collections to the schema.
func New(sb *collections.SchemaBuilder, service store.KVStoreService, records *state.Records) *Index {
	return &Index{
		ready:    logmap.New(logstore.New(sb, service, types.PrefixReady, "ready"), readyOptions),
		admitted: collections.NewItem(sb, types.PrefixAdmitted, "admitted", collections.Uint64Value),
		bounds:   collections.NewMap(sb, types.PrefixBounds, "bounds", collections.Uint32Key, collections.BytesValue),
		records:  records,
	}
}

// Own registers a policy that keeps timers in the index.
func (x *Index) Own(owner ListOwner) { x.owners = append(x.owners, owner) }

// ownerOf returns the owner of a weight. A weight without an owner can only come from a genesis file.
func (x *Index) ownerOf(weight uint32) (ListOwner, error) {
	for _, owner := range x.owners {
		if owner.Owns(weight) {
			return owner, nil
		}
	}
	return nil, types.ErrInternal.Wrapf("admitted_weight %d belongs to no policy of this chain", weight)
}

// Admit adds a timer of the queue to the index. What is admitted is written and counted by WriteAdmissions.
func (x *Index) Admit(ctx context.Context, t *types.Timer, at Placement) error {
	c := changesOf(ctx)
	if c.admissions == nil {
		c.admissions = &admissions{places: map[calendar.Key]int{}}
	}
	entries, err := x.enter(ctx, t, at)
	if err == nil {
		c.admissions.add(t, at, entries)
	}
	return err
}

// Reindex gives an admitted timer another placement, as if it were admitted again.
func (x *Index) Reindex(ctx context.Context, t *types.Timer, at Placement) error {
	if admitted := admissionOf(ctx, t); admitted != nil {
		before, err := x.EntriesAt(t, admitted.at)
		if err != nil {
			return err
		}
		after, err := x.enter(ctx, t, at)
		if err == nil {
			admissionsOf(ctx).replace(t, at, before, after)
		}
		return err
	}
	if err := x.Deindex(ctx, t); err != nil {
		return err
	}
	return x.Admit(ctx, t, at)
}

// Deindex takes a timer out of the index, if it is there. The record must be written or removed afterwards.
func (x *Index) Deindex(ctx context.Context, t *types.Timer) error {
	if admissionOf(ctx, t) != nil {
		Placement{}.place(t)
		return nil
	}
	if t.AdmittedWeight == 0 {
		return nil
	}
	if err := x.removeEntries(ctx, t); err != nil {
		return err
	}
	return x.Count(ctx, -1)
}

// EntriesOf are the entries of an admitted timer.
func (x *Index) EntriesOf(t *types.Timer) ([]merge.Entry, error) {
	owner, err := x.ownerOf(t.AdmittedWeight)
	if err != nil {
		return nil, err
	}
	return owner.Entries(t), nil
}

// EntriesAt are the entries that a timer would have under another placement.
func (x *Index) EntriesAt(t *types.Timer, at Placement) ([]merge.Entry, error) {
	moved := *t
	at.place(&moved)
	return x.EntriesOf(&moved)
}

// addEntries adds a timer that is in the queue. The record must be written and the timer counted afterwards.
func (x *Index) addEntries(ctx context.Context, t *types.Timer, at Placement) error {
	entries, err := x.enter(ctx, t, at)
	if err != nil {
		return err
	}
	changes := make([]logmap.Change, len(entries))
	for i, entry := range entries {
		changes[i] = logmap.Inserted(keyOf(entry), valueOf(entry))
	}
	return x.apply(ctx, changes)
}

// enter gives a timer a placement, and raises the bounds of the lists that it is in. It returns its entries.
func (x *Index) enter(ctx context.Context, t *types.Timer, at Placement) ([]merge.Entry, error) {
	owner, err := x.ownerOf(at.Weight)
	if err != nil {
		return nil, err
	}
	at.place(t)
	entries := owner.Entries(t)
	for _, entry := range entries {
		if err := x.raise(ctx, entry, owner.Summarized(entry.List)); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

// removeEntries takes an admitted timer out. The record must be written or removed, and the timer no longer counted,
// afterwards.
func (x *Index) removeEntries(ctx context.Context, t *types.Timer) error {
	entries, err := x.EntriesOf(t)
	if err != nil {
		return err
	}
	Placement{}.place(t)
	changes := make([]logmap.Change, len(entries))
	for i, entry := range entries {
		key := keyOf(entry)
		changes[i] = logmap.Deleted(key)
		if c := collecting(ctx); c != nil {
			c.leave(key)
		}
	}
	return x.apply(ctx, changes)
}

// Inserted implements state.Companion: a timer from genesis may be admitted already.
func (x *Index) Inserted(ctx context.Context, t *types.Timer) error {
	if t.AdmittedWeight == 0 {
		return nil
	}
	if err := x.addEntries(ctx, t, PlacementOf(t)); err != nil {
		return err
	}
	return x.Count(ctx, 1)
}

// Detached implements state.Companion.
func (x *Index) Detached(ctx context.Context, t *types.Timer) error { return x.Deindex(ctx, t) }

// Moved implements state.Companion: one that was admitted and stays due stays admitted, since admission does not come
// by again.
func (x *Index) Moved(ctx context.Context, before, t *types.Timer) error {
	at := PlacementOf(before)
	if admitted := admissionOf(ctx, before); admitted != nil {
		at = admitted.at
	}
	if at.Weight == 0 || t.SetAside != types.NotSetAside || t.Due != before.Due {
		if c := ownChanges(ctx); c != nil {
			c.admissions.drop(state.KeyOf(before.Due, before.Seq))
		}
		return nil
	}
	owner, err := x.ownerOf(at.Weight)
	if err != nil {
		return err
	}
	at = owner.Relocated(at, before, t)
	if err := x.addEntries(ctx, t, at); err != nil {
		return err
	}
	return x.Count(ctx, 1)
}

// Changes are what the steps of one block change of the index: its entries, their number, and the summary. They are written
// once, with Flush.
type Changes struct {
	Admitted int64
	// admissions are not yet among the changes and not counted; nil for none.
	admissions *admissions
	// changes of entries, and the keys of those that are removed. These are looked up, never ranged over; a removal that was
	// undone stays there: its timer is quarantined.
	changes []logmap.Change
	gone    map[string]struct{}
	// reader of the entries, as long as no handler merges any; nil if none is open.
	reader *logmap.Reader
	// inUse: there are timers in the index, or there is something to merge.
	inUse bool
	// summary as the block has it; nil until it is needed.
	summary *summary
	// raised: a handler may have raised bounds since they were last absorbed.
	raised bool
	// nested: they are those of a block that a handler or an agent looks at.
	nested bool
	// flushed: what comes later is written at once.
	flushed bool
}

// leave notes that an entry is removed.
func (c *Changes) leave(key []byte) {
	if c.gone == nil {
		c.gone = map[string]struct{}{}
	}
	c.gone[string(key)] = struct{}{}
}

type changesKey struct{}

// WithChanges marks the context of the end of a block. A handler or an agent that asks what the next block will do begins with
// a copy of what the block that calls it has not written yet: its summary, admissions and removals.
func WithChanges(ctx sdk.Context, c *Changes) sdk.Context {
	if outer := changesOf(ctx); outer != nil {
		c.summary, c.raised, c.admissions = outer.summary.clone(), outer.raised, outer.admissions.clone()
		c.gone, c.nested = maps.Clone(outer.gone), true
	}
	return ctx.WithValue(changesKey{}, c)
}

// Copies is how many things WithChanges copies for a handler or an agent; 0 for whoever asks between blocks.
func Copies(ctx context.Context) uint64 {
	c := changesOf(ctx)
	if c == nil {
		return 0
	}
	n := len(c.gone)
	if c.admissions != nil {
		n += len(c.admissions.timers) + len(c.admissions.entries) + len(c.admissions.fresh)
	}
	if c.summary != nil {
		for i := range c.summary.pages {
			n += 1 + len(c.summary.pages[i].bounds)
		}
	}
	return uint64(n)
}

// changesOf are those of the block at whose end the context is; nil for transactions and queries.
func changesOf(ctx context.Context) *Changes {
	if c, _ := ctx.Value(changesKey{}).(*Changes); c != nil && !c.flushed {
		return c
	}
	return nil
}

// ownChanges are those of the block whose own steps run under the context; nil for handlers, and for what they look at.
func ownChanges(ctx context.Context) *Changes {
	if c := changesOf(ctx); c != nil && !sandbox.IsWithinFire(ctx) {
		return c
	}
	return nil
}

// collecting are the changes to which steps add what they change; nil if it is written at once. What a handler changes may be
// undone without them.
func collecting(ctx context.Context) *Changes {
	if c := changesOf(ctx); c != nil && (c.nested || !sandbox.IsWithinFire(ctx)) {
		return c
	}
	return nil
}

// Count changes the number of timers in the index. What transactions and handlers change may be undone with them, and
// is written at once; what a block's own steps change is summed up.
func (x *Index) Count(ctx context.Context, change int64) error {
	if c := collecting(ctx); c != nil {
		c.Admitted += change
		return nil
	}
	return x.change(ctx, change, false)
}

// Flush writes what a block changed, and merges a bounded part of it. When its own steps have emptied the index, it forgets
// the summary.
func (x *Index) Flush(ctx sdk.Context, c *Changes) error {
	if c.raised {
		if _, err := x.summary(ctx, c); err != nil {
			return err
		}
	}
	c.flushed = true
	if !c.inUse && len(c.changes) == 0 {
		return nil
	}
	if err := x.ready.Apply(types.Unmetered(ctx), c.changes...); err != nil {
		return err
	}
	idle, err := x.ready.Maintain(types.Unmetered(ctx), types.HeightOf(ctx))
	if err != nil {
		return err
	}
	if err := x.change(ctx, c.Admitted, idle); err != nil {
		return err
	}
	if c.Admitted != 0 {
		admitted, err := x.Admitted(ctx)
		if err != nil {
			return err
		}
		if admitted == 0 {
			return x.forgetSummary(ctx)
		}
	}
	if c.summary == nil {
		return nil
	}
	return x.writeSummary(ctx, c.summary)
}

// change changes the number of timers in the index. Once there is none, and the map is idle, the number is forgotten.
func (x *Index) change(ctx context.Context, change int64, idle bool) error {
	before, found, err := state.FindItem(ctx, x.admitted)
	if err != nil {
		return err
	}
	after := before + uint64(change)
	switch {
	case after == 0 && idle:
		if !found {
			return nil
		}
		return x.admitted.Remove(ctx)
	case found && change == 0:
		return nil
	default:
		return x.admitted.Set(ctx, after)
	}
}

// Admitted is the number of timers in the index, without the changes of a block whose steps are running.
func (x *Index) Admitted(ctx context.Context) (uint64, error) {
	admitted, found, err := state.FindItem(ctx, x.admitted)
	if c := changesOf(ctx); c != nil {
		c.inUse = c.inUse || found
	}
	return admitted, err
}

// InitGenesis implements state.Component: the entries are derived as timers are inserted.
func (x *Index) InitGenesis(context.Context, *types.GenesisState) error { return nil }

// ReadTimers implements state.TimerReader: it merges what the timers have added.
func (x *Index) ReadTimers(ctx context.Context, _ *types.GenesisState) state.TimerReading {
	return state.TimerReading{
		Timer: func(int, *types.Timer) error { return nil },
		Done:  func() error { return logstore.Settle(ctx, x.ready) },
	}
}

// ExportGenesis implements state.Component: the records hold all.
func (x *Index) ExportGenesis(context.Context, *types.GenesisState) error { return nil }

// CheckInvariants implements state.Component: every admitted timer has its entries, there are no others, and their
// number is right.
func (x *Index) CheckInvariants(ctx context.Context) error {
	want, admitted, err := x.wanted(ctx)
	if err != nil {
		return err
	}
	all, err := x.all(ctx)
	if err != nil {
		return err
	}
	for _, entry := range all {
		name := nameOf(entry)
		if !want[name] {
			return fmt.Errorf("the ready index has an entry (%d, %d) of no timer", entry.Due, entry.Seq)
		}
		delete(want, name)
	}
	if err := x.checkSummary(ctx, all); err != nil {
		return err
	}
	counted, err := x.Admitted(ctx)
	switch {
	case err != nil:
		return err
	case len(want) > 0:
		return fmt.Errorf("the ready index lacks %d entries", len(want))
	case counted != admitted:
		return fmt.Errorf("%d timers are admitted, %d are counted", admitted, counted)
	}
	return nil
}

// wanted names the entries that there must be, and counts the admitted timers.
func (x *Index) wanted(ctx context.Context) (want map[string]bool, admitted uint64, err error) {
	timers, err := x.records.All(ctx)
	if err != nil {
		return nil, 0, err
	}
	want = map[string]bool{}
	for i := range timers {
		t := &timers[i]
		if t.AdmittedWeight == 0 {
			if len(t.AdmittedScore) > 0 || t.Quote != nil || t.AdmittedCeiling != nil {
				return nil, 0, fmt.Errorf("timer %s has a score, a quote or a ceiling and is not admitted", t.IDHex())
			}
			continue
		}
		owner, err := x.ownerOf(t.AdmittedWeight)
		if err == nil {
			err = owner.Check(ctx, t)
		}
		if err != nil {
			return nil, 0, fmt.Errorf("timer %s: %w", t.IDHex(), err)
		}
		admitted++
		for _, entry := range owner.Entries(t) {
			want[nameOf(entry)] = true
		}
	}
	return want, admitted, nil
}
