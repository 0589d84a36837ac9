// Package index keeps the ready index: the timers that compete in a storm, in lists that their policies order.
package index

import (
	"context"
	"fmt"
	"math/big"

	"cosmossdk.io/collections"
	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/calendar"
	"github.com/cosmos-timers/timers/x/timers/merge"
	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Index is the ready index: the timers that compete under overload, in lists that their policies order. A record states
// the weight under which it is indexed, so that the entries of a timer are found from its record. The policies define
// what the lists mean, and register with Own.
//
// Invariant: an admitted timer has exactly the entries that the owner of its weight makes of its record; there are no
// others, and `admitted` counts the timers. If `bounds` is complete, it has every list of which its owner wants a bound and
// that is not empty, with a price at or above its entries'.
type Index struct {
	state.NoCompanion
	// ready: (list, complement of the price, due, seq) → the other stated price. Timers that wait in a storm.
	ready collections.Map[indexKey, math.LegacyDec]
	// admitted is the number of timers in ready; absent for none.
	admitted collections.Item[uint64]
	// bounds: page of lists → of each list a price that no entry is above. Incomplete without the entry of allPages.
	bounds collections.Map[uint32, []byte]

	records *state.Records
	owners  []ListOwner
}

var (
	_ state.Component = (*Index)(nil)
	_ state.Companion = (*Index)(nil)
	_ merge.Summary   = (*Index)(nil)
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

// indexKey is (list, complement of the price, due, seq): entries of a list are stored by price descending, then by age.
type indexKey = collections.Quad[uint32, []byte, uint64, uint64]

var indexKeyCodec = collections.QuadKeyCodec(collections.Uint32Key, collections.BytesKey, collections.Uint64Key, collections.Uint64Key)

// New adds the component's collections to the schema.
func New(sb *collections.SchemaBuilder, records *state.Records) *Index {
	return &Index{
		ready:    collections.NewMap(sb, types.PrefixReady, "ready", indexKeyCodec, sdk.LegacyDecValue),
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

// complement turns a price into bytes whose order is descending, and back.
func complement(bz []byte) []byte {
	for i := range bz {
		bz[i] = ^bz[i]
	}
	return bz
}

func indexKeyOf(e merge.Entry) indexKey {
	price := complement(e.Price.BigInt().FillBytes(make([]byte, e.List.PriceBytes())))
	return collections.Join4(uint32(e.List), price, e.Due, e.Seq)
}

func entryAt(key indexKey, other math.LegacyDec) merge.Entry {
	price := new(big.Int).SetBytes(complement(append([]byte(nil), key.K2()...)))
	return merge.Entry{
		List: merge.List(key.K1()), Price: math.LegacyNewDecFromBigIntWithPrec(price, math.LegacyPrecision), Other: other,
		Due: key.K3(), Seq: key.K4(),
	}
}

func listPrefix(list merge.List) indexKey {
	return collections.QuadPrefix[uint32, []byte, uint64, uint64](uint32(list))
}

// First implements merge.Store.
func (x *Index) First(ctx context.Context, from merge.List) (merge.Entry, bool, error) {
	entries, err := x.From(ctx, from, 1)
	if err != nil || len(entries) == 0 {
		return merge.Entry{}, false, err
	}
	return entries[0], true, nil
}

// After implements merge.Store.
func (x *Index) After(ctx context.Context, entry merge.Entry, n int) ([]merge.Entry, error) {
	ranger := new(collections.Range[indexKey]).StartExclusive(indexKeyOf(entry)).EndExclusive(listPrefix(entry.List + 1))
	return x.read(ctx, ranger, n, admissionsOf(ctx).after(entry))
}

// From reads at most n entries of the named list and those after it.
func (x *Index) From(ctx context.Context, list merge.List, n int) ([]merge.Entry, error) {
	return x.read(ctx, new(collections.Range[indexKey]).StartInclusive(listPrefix(list)), n, admissionsOf(ctx).from(list))
}

// Before reads at most n entries of the lists before the named one.
func (x *Index) Before(ctx context.Context, list merge.List, n int) ([]merge.Entry, error) {
	return x.read(ctx, new(collections.Range[indexKey]).EndExclusive(listPrefix(list)), n, admissionsOf(ctx).upTo(list))
}

// read reads an interval of the store, and of what the block has admitted.
func (x *Index) read(
	ctx context.Context, ranger *collections.Range[indexKey], n int, admitted []merge.Entry,
) (entries []merge.Entry, err error) {
	err = x.ready.Walk(ctx, ranger, func(key indexKey, other math.LegacyDec) (bool, error) {
		entries = append(entries, entryAt(key, other))
		return len(entries) == n, nil
	})
	return mergeEntries(entries, admitted, n), err
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

// Reindex gives an admitted timer another placement and writes its record.
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
	if err := x.removeEntries(ctx, t); err != nil {
		return err
	}
	return x.write(ctx, t, at)
}

// write adds a timer to the store and writes its record.
func (x *Index) write(ctx context.Context, t *types.Timer, at Placement) error {
	if err := x.addEntries(ctx, t, at); err != nil {
		return err
	}
	return x.records.Put(ctx, t)
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
	for _, entry := range entries {
		if err := x.ready.Set(ctx, indexKeyOf(entry), entry.Other); err != nil {
			return err
		}
	}
	return nil
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
		if !owner.Summarized(entry.List) {
			continue
		}
		if err := x.raise(ctx, entry); err != nil {
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
	for _, entry := range entries {
		if err := x.ready.Remove(ctx, indexKeyOf(entry)); err != nil {
			return err
		}
	}
	Placement{}.place(t)
	return nil
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

// Changes are what one block changes of what the index says of itself: its number of timers, by the block's own steps, and
// the summary. They are written once, with Flush.
type Changes struct {
	Admitted int64
	// admissions are not yet written and not counted; nil for none.
	admissions *admissions
	// summary as the block has it; nil until it is needed.
	summary *summary
	// flushed: what comes later is written at once.
	flushed bool
}

type changesKey struct{}

// WithChanges marks the context of the end of a block. A handler or an agent that asks what the next block will do shares
// the summary of the block that calls it, and begins with its admissions: what that has not written yet is known there alone.
// Both are within a fire, so that they raise bounds and lower none.
func WithChanges(ctx sdk.Context, c *Changes) sdk.Context {
	if outer := changesOf(ctx); outer != nil {
		c.summary, c.admissions = outer.summary, outer.admissions.clone()
	}
	return ctx.WithValue(changesKey{}, c)
}

// changesOf are those of the block at whose end the context is; nil for transactions and queries.
func changesOf(ctx context.Context) *Changes {
	if c, _ := ctx.Value(changesKey{}).(*Changes); c != nil && !c.flushed {
		return c
	}
	return nil
}

// ownChanges are those of the block whose own steps run under the context; nil for handlers too.
func ownChanges(ctx context.Context) *Changes {
	if c := changesOf(ctx); c != nil && !sandbox.IsWithinFire(ctx) {
		return c
	}
	return nil
}

// Count changes the number of timers in the index. What transactions and handlers change may be undone with them, and
// is written at once; what a block's own steps change is summed up.
func (x *Index) Count(ctx context.Context, change int64) error {
	if c := ownChanges(ctx); c != nil {
		c.Admitted += change
		return nil
	}
	return x.change(ctx, change)
}

// Flush writes what a block changed. When its own steps have emptied the index, it forgets the summary.
func (x *Index) Flush(ctx context.Context, c *Changes) error {
	c.flushed = true
	if err := x.change(ctx, c.Admitted); err != nil {
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

func (x *Index) change(ctx context.Context, change int64) error {
	if change == 0 {
		return nil
	}
	admitted, err := x.Admitted(ctx)
	if err != nil {
		return err
	}
	if admitted += uint64(change); admitted == 0 {
		return x.admitted.Remove(ctx)
	}
	return x.admitted.Set(ctx, admitted)
}

// Admitted is the number of timers in the index, without the changes of a block whose steps are running.
func (x *Index) Admitted(ctx context.Context) (uint64, error) {
	admitted, _, err := state.FindItem(ctx, x.admitted)
	return admitted, err
}

// InitGenesis implements state.Component: the entries are derived as timers are inserted.
func (x *Index) InitGenesis(context.Context, *types.GenesisState) error { return nil }

// ExportGenesis implements state.Component: the records hold all.
func (x *Index) ExportGenesis(context.Context, *types.GenesisState) error { return nil }

// CheckInvariants implements state.Component: every admitted timer has its entries, there are no others, and their
// number is right.
func (x *Index) CheckInvariants(ctx context.Context) error {
	want, admitted, err := x.wanted(ctx)
	if err != nil {
		return err
	}
	err = x.ready.Walk(ctx, nil, func(key indexKey, other math.LegacyDec) (bool, error) {
		name := indexKeyCodec.Stringify(key) + other.String()
		if !want[name] {
			return true, fmt.Errorf("the ready index has an entry (%d, %d) of no timer", key.K3(), key.K4())
		}
		delete(want, name)
		return false, nil
	})
	if err != nil {
		return err
	}
	if err := x.checkSummary(ctx); err != nil {
		return err
	}
	counted, found, err := state.FindItem(ctx, x.admitted)
	switch {
	case err != nil:
		return err
	case len(want) > 0:
		return fmt.Errorf("the ready index lacks %d entries", len(want))
	case counted != admitted || found != (admitted > 0):
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
			want[indexKeyCodec.Stringify(indexKeyOf(entry))+entry.Other.String()] = true
		}
	}
	return want, admitted, nil
}
